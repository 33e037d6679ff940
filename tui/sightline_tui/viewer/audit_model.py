"""The model of the viewer's audit: finds the next region of lines, words what is known of them, and reads the audit.

A region is a run of unseen lines as they stand on the screen; a seen line of any stream between two parts them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping

from sightline.audit.coverage import told_share
from sightline.audit.line_spans import NONE, Span, Spans, size
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading
from sightline_tui.common.output_reader import open_reader
from sightline_tui.common.phrases import counted
from sightline_tui.common.strips import StripPart
from sightline_tui.common.visible_text import title
from sightline_tui.viewer.marks import ASKED, CUT, GONE, UNSEEN, UNSURE, Failures, Marks, gather
from sightline_tui.viewer.opened_output import OpenOutput
from sightline_tui.viewer.overview import Cell, Counting, cells_of


class Destination(NamedTuple):
    """The end of a step, and the marks that it was made with: a number or 0, and what to say there."""

    marks: Marks
    number: int
    text: str


_FAR = 1 << 62


class UnseenRun(NamedTuple):
    """The first and the last number of a run of unseen lines."""

    first: int
    last: int


class UnseenRegions:
    """The regions of a reading. Each question costs a few look-ups per stream, however many regions there are.

    Only lines known as seen count as seen, so lines that were written later are unseen.
    """

    def __init__(self, seen: Mapping[str, Spans], text: Counting, count: int | None = None) -> None:
        """Prepare to find regions.

        Args:
            seen: the lines that were seen whole, by stream.
            text: maps its numbers to lines.
            count: the last number to look at; by default the last of all.
        """
        self._seen = seen
        self._text = text
        self._count = text.line_count if count is None else min(count, text.line_count)
        self._ends = text.before(self._count + 1)

    def below(self, number: int) -> UnseenRun | None:
        """Return the first region that begins below a number."""
        first = self._next(number + 1, seen=False)
        if first == number + 1 and number and self._next(number, seen=False) == number:  # it stands in that region
            first = self._next(self._next(first, seen=True), seen=False)
        return self._from(first) if first <= self._count else None

    def above(self, number: int) -> UnseenRun | None:
        """Return the last region that begins above a number, which may stand in that region."""
        last = self._last_before(number, seen=False)
        return self._from(self._last_before(last, seen=True) + 1) if last else None

    def around(self, number: int) -> UnseenRun | None:
        """Return the region in which a number stands."""
        if not 0 < number <= self._count or self._next(number, seen=False) != number:
            return None
        return self._from(self._last_before(number, seen=True) + 1)

    def _from(self, first: int) -> UnseenRun:
        return UnseenRun(first, self._next(first, seen=True) - 1)

    def _next(self, number: int, *, seen: bool) -> int:
        """Return the first number from the given one on whose line was seen, or unseen; one past the last if none."""
        found, standing = self._count + 1, self._text.before(number)
        for stream, end in self._ends.items():
            line = standing.get(stream, 0) + 1
            spans = self._seen.get(stream, NONE)
            at = bisect_right(spans, (line, _FAR)) - 1
            inside = at >= 0 and spans[at][1] >= line
            if inside != seen:
                line = spans[at][1] + 1 if inside else spans[at + 1][0] if at + 1 < len(spans) else end + 1
            if line <= end:
                found = min(found, self._text.number_of(stream, line))
        return found

    def _last_before(self, number: int, *, seen: bool) -> int:
        """Return the last number before the given one whose line was seen or unseen as asked; 0 if none is."""
        found, standing = 0, self._text.before(min(number, self._count + 1))
        for stream, line in standing.items():
            spans = self._seen.get(stream, NONE)
            at = bisect_left(spans, (line + 1, 0)) - 1
            inside = at >= 0 and spans[at][1] >= line
            if inside != seen:
                line = spans[at][0] - 1 if inside else spans[at][1] if at >= 0 else 0
            if line > 0:
                found = max(found, self._text.number_of(stream, line))
        return found


def destination(
    marks: Marks, text: Counting, number: int, to: str, *, back: bool = False, count: int | None = None
) -> tuple[int, str]:
    """Find where a step leads, and what to say there.

    Args:
        marks: what is known of the lines.
        text: maps its numbers to lines.
        number: the number where the step starts; 0, for a step down, is before the first line.
        to: ``unseen`` for the next region of unseen lines; ``overlooked`` for the next failure that stood in no reply,
            which after the last is the first again.
        back: whether to go upwards, for ``unseen``.
        count: the last number that a step can reach; by default the last of all.

    Returns:
        (number, words): the number reached, or 0 if there is nothing to go to, and then the words say why.
    """
    if to == "overlooked":
        numbers = _numbers_of(marks, text)
        if not numbers:
            return 0, none_overlooked(marks)
        nth = bisect_right(numbers, number) % len(numbers)
        return numbers[nth], overlooked_text(marks, nth + 1, len(numbers))
    regions = UnseenRegions(marks.seen, text, count)
    region = regions.above(number) if back else regions.below(number)
    if region is not None:
        return region.first, unseen_text(*region)
    here = None if back else regions.around(number)
    return 0, none_unseen(marks, here, back=back)


def _numbers_of(marks: Marks, text: Counting) -> list[int]:
    """Return where each overlooked failure begins, ascending, without those of streams that are not shown."""
    told = {
        next((place.stream, place.telling[0][0]) for place in failure.places if place.stream in text.streams)
        for failure in marks.overlooked
        if any(place.stream in text.streams for place in failure.places)
    }
    return sorted({text.number_of(stream, line) for stream, line in told})


NOTE_MARK = "✎"
_FATES = {GONE: " · seen before, no longer held", UNSURE: " · whether it is still held is not known"}
_NAMED_SESSIONS = 2


def of_output(marks: Marks) -> list[StripPart]:
    """Say how much of the output was seen, what was overlooked, and how many replies were cut."""
    coverage = marks.coverage
    parts = _who(marks)
    if not coverage.contributions:
        parts += [StripPart("shown to nobody" if not marks.session else "shown nothing of it", "interrupted")]
    else:
        style = "ok" if coverage.share == 1 else "accent" if coverage.share else "interrupted"
        seen = f"seen {told_share(coverage, 0)}" if coverage.total else "shown, empty,"
        parts += [StripPart(seen, style)]
        replies = len(coverage.contributions)
        parts += [StripPart(f" in {counted(replies, 'view')}", "dim")]
        if cut := sum(one.view.truncated for one in coverage.contributions):
            parts += [
                StripPart(", cut" if cut == replies == 1 else ", all cut" if cut == replies else f", {cut} cut", "dim")
            ]
    if told := marks.held_told:
        parts += [
            StripPart(" · ", "dim"),
            StripPart(told, "interrupted" if marks.held and marks.held.count("before") else "dim"),
        ]
    if marks.overlooked:
        unseen = f"{counted(len(marks.overlooked), 'failure')} {_nobody(marks)} saw"
        parts += [StripPart(" · ", "dim"), StripPart(unseen, "failed")]
    elif marks.failures:
        parts += [StripPart(" · ", "dim"), StripPart(f"{counted(len(marks.failures), 'failure')} seen", "ok")]
    elif marks.why_not:
        parts += [StripPart(" · ", "dim"), StripPart("not judged", "dim")]
    return [*parts, StripPart(" ")]


def _who(marks: Marks) -> list[StripPart]:
    return [StripPart(f"only {title(marks.called(marks.session))}: ", "accent")] if marks.session else []


def _nobody(marks: Marks) -> str:
    return f"{title(marks.called(marks.session))} never" if marks.session else "no agent"


def of_line(marks: Marks, stream: str, line: int) -> list[StripPart]:
    """Say how often and by whom a line was seen, and what notes say of it."""
    sight = marks.sight(stream, line)
    parts = list[StripPart]()
    if sight.grade in (ASKED, UNSEEN):
        style = "failed" if marks.overlooks(stream, line) else "interrupted"
        parts += [StripPart(f"line {line:,}: {_nobody(marks)} saw it", style)]
    else:
        style, shown = ("accent", "seen in part") if sight.grade == CUT else ("ok", "seen")
        parts += [StripPart(f"{shown} {sight.views:,}×", style), StripPart(f" by {_named(marks, sight.sessions)}")]
        in_part = f"{size(sight.part.seen):,} of {sight.part.length:,} B" if sight.part else ""
        parts.append(StripPart(f" ({in_part or sight.grade})", "dim"))
        if stream in marks.altered:
            parts.append(StripPart(" · changed since, so whether it was this line is not known", "interrupted"))
        elif told := _FATES.get(marks.fate(stream, line), " · held" if marks.held else ""):
            parts.append(StripPart(told, "interrupted" if marks.fate(stream, line) == GONE else "dim"))
    for remark in marks.remarks_on(stream, line):
        parts += [StripPart(" · ", "dim"), StripPart(f"{NOTE_MARK} {title(remark.note.text or '')}", "accent")]
    if sight.grade == ASKED:
        parts.append(StripPart(f" · asked about {sight.views:,}× by {_named(marks, sight.sessions)}", "dim"))
    return [*parts, StripPart(" ")]


def _named(marks: Marks, sessions: tuple[str, ...]) -> str:
    named = ", ".join(title(marks.called(name)) for name in sessions[:_NAMED_SESSIONS])
    more = len(sessions) - _NAMED_SESSIONS
    return f"{named} and {more} more" if more > 0 else named


def unseen_text(first: int, last: int) -> str:
    """Name the region of unseen lines that a step has reached, by its numbers on the screen."""
    return f"unseen {first:,}-{last:,}" if last > first else f"unseen {first:,}"


def none_unseen(marks: Marks, here: Span | None, *, back: bool) -> str:
    """Say why there is no unseen region to go to.

    Args:
        marks: what is known of the lines.
        here: the region in which the step started, by its numbers on the screen; None for none.
        back: whether the step went upwards.
    """
    if marks.coverage.seen_lines == marks.coverage.total and here is None:
        return f"All {'that reached us' if marks.coverage.partial else 'of it'} was seen{_by(marks)}"
    if not marks.coverage.contributions:
        return f"Nothing of it was shown{_to(marks)}: it is one unseen region"
    if here is not None:
        first, last = here
        many = f"Lines {first:,}-{last:,}, here, are the last unseen ones"
        return many if last > first else f"Line {first:,}, here, is the last unseen one"
    return f"Nothing unseen {'above' if back else 'below'}"


def none_overlooked(marks: Marks) -> str:
    """Say why there is no overlooked failure to go to."""
    if not marks.failures:
        told = marks.unjudged.told(marks.coverage) if marks.unjudged else ""
        if told or not marks.why_not:
            return told or "No failure here: nothing to overlook"
        return f"Nothing here reads like an error; not judged, since {marks.why_not}"
    if len(marks.failures) == 1:
        return f"Its failure was seen{_by(marks)}"
    return f"All {len(marks.failures):,} failures were seen{_by(marks)}"


def overlooked_text(marks: Marks, nth: int, count: int) -> str:
    """Name the overlooked failure that a step has reached."""
    return f"{nth:,} of {count:,} that {_nobody(marks)} saw"


def _by(marks: Marks) -> str:
    return f" by {title(marks.called(marks.session))}" if marks.session else ""


def _to(marks: Marks) -> str:
    return f" to {title(marks.called(marks.session))}" if marks.session else " to anyone"


class AuditReader:
    """Reads the audit of outputs for a viewer, and words it. It is slow for large outputs, so it runs in a thread."""

    def __init__(self, store: Reading) -> None:
        self._store = store

    def read(self, opened: OpenOutput, session: str, rows: int, known: Failures) -> tuple[Marks, tuple[Cell, ...]]:
        """Read the marks, and draw the overview on this many rows.

        Args:
            opened: the output that is shown.
            session: the only session that counts; empty for all.
            rows: rows of the overview; 0 if bytes are shown, which have no overview.
            known: failures that were found before; see `gather`.

        Raises:
            ExpiredRef, StoreFailed: raised by `gather`.
        """
        marks = gather(self._store, opened.buffer, session, known=known)
        if not rows:
            return marks, ()
        reading = open_reader(self._store, opened.buffer, opened.stream)
        try:
            return marks, cells_of(marks, reading, reading.line_count, rows)
        finally:
            reading.close()

    def step(
        self, opened: OpenOutput, session: str, known: Marks | None, to: str, number: int, *, back: bool
    ) -> Destination:
        """Find where a step leads (see `destination`), with the known marks or, if these are not enough, new ones."""
        marks, overlooked = known, to == "overlooked"
        if marks is None or marks.session != session or (overlooked and not marks.is_thorough):
            marks = gather(self._store, opened.buffer, session, thorough=overlooked)
        reading = open_reader(self._store, opened.buffer, opened.stream)
        try:  # a growing output may have more lines by now than the screen shows
            return Destination(marks, *destination(marks, reading, number, to, back=back, count=opened.line_count))
        finally:
            reading.close()

    def told(self, marks: Marks, about: tuple[str, int] | None) -> list[StripPart]:
        """Word what is known of a line, given by its stream and number there; without a line, of all lines."""
        return of_line(marks, *about) if about else of_output(marks)
