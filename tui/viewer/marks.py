"""What is marked beside the lines of one output: which were seen, asked about, overlooked, remarked on.

A line is meant by its stream and its number there, whatever of the output is on the screen. `Marks` is pure; `gather`
reads the store, which is slow for large outputs: never in the UI's thread.
"""

from collections.abc import Iterable, Iterator, Mapping

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.coverage import Coverage, Lines, PartSeen
from sightline.audit.failures import Failure, Unjudged, failures_if_quick, failures_of, judgement_of, unjudged_of
from sightline.audit.held_lines import held_of, may_have_lost
from sightline.audit.line_spans import NONE, Span, Spans, holds, union
from sightline.errors import SightlineError
from sightline.log.notes import list_notes
from sightline.named_tuple import NamedTuple
from sightline.records import Buffer, Gap, Note
from sightline.store import Reading
from sightline.tui.common.output_reader import open_reader
from sightline.tui.common.sessions import session_name

EXACT, MATCHED, CUT, ASKED, UNSEEN = "exact", "matched", "cut", "asked", ""


class Remark(NamedTuple):
    """A note, and the lines that it is about: by stream, first and last."""

    note: Note
    places: Mapping[str, Span]

    def is_on(self, stream: str, line: int) -> bool:
        """Whether it is about a line."""
        first, last = self.places.get(stream, (1, 0))
        return first <= line <= last


class Sight(NamedTuple):
    """Who was shown a line.

    Attributes:
        grade: the best in which anyone was: `EXACT`, `MATCHED`, `CUT` where all of them together were shown only a part
            of it, `ASKED`, or `UNSEEN` where nobody was.
        views: in how many replies it stood; of an `ASKED` one, how many were made of it.
        sessions: whose replies, in the order in which they first got one.
        part: of a `CUT` one, what was shown.
    """

    grade: str
    views: int
    sessions: tuple[str, ...]
    part: PartSeen | None = None


class Marks:
    """What the audit knows of one output, as everyone has seen it or as one session has.

    Attributes:
        whole: what everyone was shown.
        session: name of the only session that counts, empty for all.
        coverage: what those that count were shown.
        failures: what failed; None where that was not looked for.
        overlooked: those failures that stood in no reply to whoever counts.
        overlooked_lines: by stream, the lines that tell of these.
        failure_lines: by stream, the lines that tell of any failure.
        remarks: the notes, oldest first.
        names: what to call sessions, by name.
        unjudged: lines that look like failures and are not judged; None where these were not looked for.
        why_not: why nothing of the output is judged; empty where it is.
        gone: by stream, the lines that were seen before, and that no context has any more.
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
        gone: Mapping[str, Spans] | None = None,
    ) -> None:
        """Work out what follows from these."""
        self.whole = whole
        self.session = session
        self.coverage = whole.of_session(session) if session else whole
        self.failures = failures
        self.overlooked = tuple(one for one in failures or () if not one.is_seen(self.coverage))
        self.remarks = remarks
        self.names = names or {}
        self.unjudged = unjudged
        self.why_not = why_not
        self.gone = gone or {}
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
        """Whether the other says the same."""
        return isinstance(other, Marks) and self._told() == other._told()

    __hash__ = None  # type: ignore[assignment]  # it is compared, and never kept by its worth

    def _told(self) -> tuple[object, ...]:
        told = self.whole, self.session, self.failures, self.remarks, self.names
        return *told, self.unjudged, self.why_not, self.gaps, self.gone

    @property
    def is_thorough(self) -> bool:
        """Whether failures were looked for, and where there are none, what looks like one."""
        return bool(self.failures) or (self.failures is not None and self.unjudged is not None)

    def grade(self, stream: str, line: int) -> str:
        """How a line was seen: `EXACT`, `MATCHED`, `CUT`, `ASKED`, or `UNSEEN`."""
        for name, spans in self._grades:
            if holds(spans.get(stream, NONE), line):
                return name
        return UNSEEN

    def is_unseen(self, stream: str, line: int) -> bool:
        """Whether a line stood in none of the replies, though perhaps it was asked about."""
        return bool(line) and self.grade(stream, line) in (UNSEEN, ASKED)

    def is_gone(self, stream: str, line: int) -> bool:
        """Whether a line was seen before, and no context has it any more."""
        return holds(self.gone.get(stream, NONE), line)

    def overlooks(self, stream: str, line: int) -> bool:
        """Whether a line tells of a failure that stood in none of the replies."""
        return holds(self.overlooked_lines.get(stream, NONE), line)

    def remarks_on(self, stream: str, line: int) -> tuple[Remark, ...]:
        """The notes about a line."""
        return tuple(one for one in self.remarks if one.is_on(stream, line))

    def sight(self, stream: str, line: int) -> Sight:
        """How often a line was shown, and to whom."""
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
        """By stream, the lines all of which was seen."""
        return {name: one.seen for name, one in self.coverage.streams.items()}

    @property
    def remarked(self) -> dict[str, Spans]:
        """By stream, the lines that notes are about."""
        found: dict[str, Spans] = {}
        for remark in self.remarks:
            for stream, span in remark.places.items():
                found[stream] = union(found.get(stream, NONE), (span,))
        return found

    def called(self, session: str) -> str:
        """What to call a session."""
        return self.names.get(session) or session


def _shows(lines: Lines, line: int) -> bool:
    return holds(lines.exact, line) or holds(lines.matched, line) or line in lines.cut


def _asked(lines: Lines, line: int) -> bool:
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
    """What is marked beside the lines of a buffer as it is now.

    Args:
        store: the store.
        buffer: its record.
        session: the only session that counts; empty for all.
        known: failures that were found before, which are not looked for again while it is still written.
        thorough: whether failures are looked for however large it is, and although it is still written.

    Raises:
        ExpiredRef, StoreFailed: its bytes are needed, and gone.
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
        except SightlineError:  # it is gone, which whoever shows it says
            failures = None
    remarks = tuple(_remarks(store, buffer))
    names = {name: session_name(store, name) for name in (*whole.sessions, *((session,) if session else ()))}
    why_not = judgement_of(buffer).why_not
    gone = _gone(store, buffer, whole.of_session(session) if session else whole)
    return Marks(whole, session, failures, remarks, names, unjudged, why_not, buffer.gaps, gone)


def _gone(store: Reading, buffer: Buffer, coverage: Coverage) -> dict[str, Spans]:
    """By stream, the lines that were seen before; of most sessions nothing ever went from the context."""
    if not may_have_lost(store, coverage.sessions):
        return {}
    return {name: lines.before for name, lines in held_of(store, buffer, coverage).streams.items() if lines.before}


def _remarks(store: Reading, buffer: Buffer) -> Iterator[Remark]:
    for note in list_notes(store, buffer=buffer.name):
        if note.text is None:
            continue  # blanked
        try:
            target = store.resolve(note.ref)
        except SightlineError:
            continue  # likewise
        first, last = target.first or 1, target.last or target.first or 1  # on a whole stream: at its beginning
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
