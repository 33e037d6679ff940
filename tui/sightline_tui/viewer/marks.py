"""The marks beside the lines of one output: which lines were seen, asked about, overlooked, or have a note.

A line is given by its stream and its number there, independent of what the screen shows. `Marks` is pure; `gather`
reads the store, which is slow for large outputs, so it never runs in the UI's thread.
"""

from collections.abc import Iterable, Iterator, Mapping

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.buffer_failures import Failure, Unjudged, failures_if_quick, failures_of, judgement_of, unjudged_of
from sightline.audit.coverage import Coverage, GradedLines, PartSeen
from sightline.audit.held_lines import HeldCoverage, counts_told, held_of, is_told
from sightline.audit.line_spans import NONE, Span, Spans, holds, union
from sightline.base.errors import SightlineError
from sightline.base.records import Buffer, Gap, Note
from sightline.light.named_tuple import NamedTuple
from sightline.log.notes import list_notes
from sightline.store import Reading
from sightline_tui.common.output_reader import open_reader
from sightline_tui.common.sessions import session_name

EXACT, MATCHED, CUT, ASKED, UNSEEN = "exact", "matched", "cut", "asked", ""
GONE, UNSURE = "gone", "unsure"
"""Of a line that was seen: no context has it any more; or nobody tells whether any has it, or whether this is the line.
One that is held is neither."""


class Remark(NamedTuple):
    """A note, and the lines that it is about: the first and last one by stream."""

    note: Note
    places: Mapping[str, Span]

    def is_on(self, stream: str, line: int) -> bool:
        """Return whether the note is about a line."""
        first, last = self.places.get(stream, (1, 0))
        return first <= line <= last


class Sight(NamedTuple):
    """Who was shown a line, and how.

    Attributes:
        grade: the best grade for anyone: `EXACT`, `MATCHED`, `CUT` if all replies together showed only a part of it,
            `ASKED`, or `UNSEEN` if nobody was shown it.
        views: number of replies in which it stood; for `ASKED`, of those that were made from it.
        sessions: the sessions that got these replies, in the order of their first.
        part: the shown part of a `CUT` line.
    """

    grade: str
    views: int
    sessions: tuple[str, ...]
    part: PartSeen | None = None


class Marks:
    """What the audit knows of one output, as seen by everyone or by one session.

    Attributes:
        whole: what everyone was shown.
        session: name of the only session that counts; empty for all.
        coverage: what the sessions that count were shown.
        failures: what failed; None if nothing was searched for.
        overlooked: those failures that stood in no reply to a session that counts.
        overlooked_lines: the lines that tell of these, by stream.
        failure_lines: the lines that tell of any failure, by stream.
        remarks: the notes, oldest first.
        names: what to call sessions, by name.
        unjudged: lines that look like failures and are not judged; None if they were not searched for.
        why_not: why nothing of the output is judged; empty if it is.
        held: which lines contexts still have; None if nothing is told of any context.
        altered: the streams that were changed after the capture, so that other lines may stand where lines were seen.
    """

    def __init__(
        self,
        whole: Coverage,
        session: str = "",
        failures: tuple[Failure, ...] | None = None,
        remarks: tuple[Remark, ...] = (),
        names: Mapping[str, str] | None = None,
        unjudged: Unjudged | None = None,
        why_not: str = "",
        gaps: Iterable[Gap] = (),
        held: HeldCoverage | None = None,
        altered: frozenset[str] = frozenset(),
    ) -> None:
        """Derive the lines of failures and notes from these."""
        self.whole = whole
        self.session = session
        self.coverage = whole.of_session(session) if session else whole
        self.failures = failures
        self.overlooked = tuple(one for one in failures or () if not one.is_seen(self.coverage))
        self.remarks = remarks
        self.names = names or {}
        self.unjudged = unjudged
        self.why_not = why_not
        self.held = held
        self.altered = altered
        streams = self.coverage.streams
        self._changed = {name: union(streams[name].seen, streams[name].cut) for name in altered & streams.keys()}
        self.gaps = dict[str, Spans]()
        for gap in gaps:
            at = max(gap.after, 1)
            self.gaps[gap.stream] = union(self.gaps.get(gap.stream, NONE), ((at, at),))
        self.overlooked_lines = _telling(self.overlooked)
        self.failure_lines = _telling(failures or ())
        self._grades = [
            (name, {stream: getattr(one.lines, name) for stream, one in self.coverage.streams.items()})
            for name in (EXACT, MATCHED)
        ]
        self._grades.append((CUT, {stream: one.cut for stream, one in self.coverage.streams.items()}))
        self._grades.append((ASKED, {stream: one.lines.asked for stream, one in self.coverage.streams.items()}))

    def __eq__(self, other: object) -> bool:
        """Return whether the other has the same marks."""
        return isinstance(other, Marks) and self._told() == other._told()

    __hash__ = None  # type: ignore[assignment]  # it is compared, and never kept by its worth

    def _told(self) -> tuple[object, ...]:
        told = self.whole, self.session, self.failures, self.remarks, self.names
        return *told, self.unjudged, self.why_not, self.gaps, self.held, self.altered

    @property
    def is_thorough(self) -> bool:
        """Whether failures were searched for, and lines that look like one if there are none."""
        return bool(self.failures) or (self.failures is not None and self.unjudged is not None)

    def grade(self, stream: str, line: int) -> str:
        """Return how a line was seen: `EXACT`, `MATCHED`, `CUT`, `ASKED`, or `UNSEEN`."""
        for name, spans in self._grades:
            if holds(spans.get(stream, NONE), line):
                return name
        return UNSEEN

    def is_unseen(self, stream: str, line: int) -> bool:
        """Return whether a line stood in no reply; it may have been asked about."""
        return bool(line) and self.grade(stream, line) in (UNSEEN, ASKED)

    def fate(self, stream: str, line: int) -> str:
        """Return `GONE` or `UNSURE` for a line that was seen; empty if it is held, or nothing is told."""
        gone, unsure = self.lost(stream)
        return GONE if holds(gone, line) else UNSURE if holds(unsure, line) else ""

    def lost(self, stream: str) -> tuple[Spans, Spans]:
        """Return the lines of a stream that are `GONE`, and those that are `UNSURE`."""
        if stream in self._changed:
            return NONE, self._changed[stream]
        lines = self.held.streams.get(stream) if self.held else None
        return (lines.before, lines.unknown) if lines else (NONE, NONE)

    @property
    def held_told(self) -> str:
        """Say how many lines are held, and how many were seen before; empty if nothing is told of any context."""
        return counts_told(self.held, never=False) if self.held else ""

    def overlooks(self, stream: str, line: int) -> bool:
        """Return whether a line tells of a failure that stood in no reply."""
        return holds(self.overlooked_lines.get(stream, NONE), line)

    def remarks_on(self, stream: str, line: int) -> tuple[Remark, ...]:
        """Return the notes about a line."""
        return tuple(one for one in self.remarks if one.is_on(stream, line))

    def sight(self, stream: str, line: int) -> Sight:
        """Return how often and to whom a line was shown."""
        grade = self.grade(stream, line)
        if grade == UNSEEN:
            return Sight(grade, 0, ())
        counts = _asked if grade == ASKED else _shows
        views = [
            part.view
            for part in self.coverage.contributions
            if (lines := part.streams.get(stream)) and counts(lines, line)
        ]
        sessions = tuple(dict.fromkeys(view.session for view in views))
        return Sight(grade, len(views), sessions, self.coverage.streams[stream].lines.cut.get(line))

    @property
    def seen(self) -> dict[str, Spans]:
        """The lines that were seen whole, by stream."""
        return {name: one.seen for name, one in self.coverage.streams.items()}

    @property
    def remarked(self) -> dict[str, Spans]:
        """The lines that notes are about, by stream."""
        found: dict[str, Spans] = {}
        for remark in self.remarks:
            for stream, span in remark.places.items():
                found[stream] = union(found.get(stream, NONE), (span,))
        return found

    def called(self, session: str) -> str:
        """Return what to call a session."""
        return self.names.get(session) or session


def _shows(lines: GradedLines, line: int) -> bool:
    return holds(lines.exact, line) or holds(lines.matched, line) or line in lines.cut


def _asked(lines: GradedLines, line: int) -> bool:
    return holds(lines.asked, line)


def _telling(failures: tuple[Failure, ...]) -> dict[str, Spans]:
    found: dict[str, list[Spans]] = {}
    for failure in failures:
        for place in failure.places:
            found.setdefault(place.stream, []).append(place.telling)
    return {stream: union(*spans) for stream, spans in found.items()}


Failures = tuple[Failure, ...] | None


def gather(
    store: Reading, buffer: Buffer, session: str = "", *, known: Failures = None, thorough: bool = False
) -> Marks:
    """Gather the marks for a buffer as it is now.

    Args:
        store: the store.
        buffer: its record.
        session: the only session that counts; empty for all.
        known: failures that were found before; while the buffer is written, these are not searched for again.
        thorough: whether to search for failures even in a large buffer, or one that is still written.

    Raises:
        ExpiredRef, StoreFailed: bytes are needed that are gone.
    """
    buffer = store.with_progress(buffer)
    whole = coverage_of(store, buffer)
    unjudged = None
    if thorough:
        failures: Failures = failures_of(store, buffer)
        unjudged = None if failures else unjudged_of(store, buffer)
    elif buffer.state == "running":
        failures = known
    else:
        try:
            failures = failures_if_quick(store, buffer)
        except SightlineError:  # it is gone, which the caller reports
            failures = None
    remarks = tuple(_remarks(store, buffer))
    names = {name: session_name(store, name) for name in (*whole.sessions, *((session,) if session else ()))}
    why_not = judgement_of(buffer).why_not
    altered = frozenset(filter(buffer.is_altered, buffer.streams))
    counting = whole.of_session(session) if session else whole
    held = held_of(store, buffer, counting) if is_told(store, counting.sessions) else None
    return Marks(whole, session, failures, remarks, names, unjudged, why_not, buffer.gaps, held, altered)


def _remarks(store: Reading, buffer: Buffer) -> Iterator[Remark]:
    for note in list_notes(store, buffer=buffer.name):
        if note.text is None:
            continue  # the text was blanked
        try:
            target = store.resolve(note.ref)
        except SightlineError:
            continue  # the text is gone, too
        first, last = target.first or 1, target.last or target.first or 1  # on a whole stream, it stands first
        if target.stream == "all":
            yield Remark(note, _by_stream(store, buffer, first, last))
        else:
            yield Remark(note, {target.stream: (first, last)})


def _by_stream(store: Reading, buffer: Buffer, first: int, last: int) -> dict[str, Span]:
    reading = open_reader(store, buffer)
    try:
        start, end = reading.before(first), reading.before(last + 1)
    finally:
        reading.close()
    return {name: (start[name] + 1, end[name]) for name in start if end[name] > start[name]}
