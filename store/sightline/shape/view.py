"""Makes the view of one stream: chooses which of its lines stand in a body of a given size.

Each chosen line is counted by an upper bound of what it and its markers take, so that a body never exceeds its size.
"""

from bisect import bisect
from collections.abc import Iterator
from itertools import islice

from sightline.base.profile import DEFAULT
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING
from sightline.shape import markers
from sightline.shape.repeated_lines import (
    EqualLines,
    IsError,
    Span,
    WrittenText,
    clip,
    free_spans,
    read_rows,
    spans_of,
    take,
    text_bytes,
    write_runs,
)
from sightline.shape.segments import Segment, join_segments, terminated
from sightline.shape.source import Source

if TYPE_CHECKING:
    from sightline.shape.failure.examination import Examination
    from sightline.shape.failure.failure_scan import Failures
    from sightline.shape.failure.picker import Picker

QUIET_PERCENT = 40
"""Share of lines in the output of a success which say that something failed, at most."""

REGIONS_PERCENT = 99
"""Share of error regions at most; the rest is for the output's end, which says how everything went."""

FEWEST_FILES = 6
"""If fewer files have errors that are not shown, these are not listed by place."""

PLACES_PERCENT, PLACE_BYTES = 30, 32
"""Bytes for the places of errors that are not shown, at most; about what one error takes."""

NUMBERS_PERCENT = 10
"""Share of the line numbers of errors that are not shown, if the lines themselves take all they can."""

SMALL_BYTES = 2048
"""A body up to this size counts the errors that are not shown; it lists their numbers only if room is left."""

REFILLS = 2  # rounds in which room that markers left is filled with more lines
WORTH_BYTES = 40
REWRITTEN_BYTES, REWRITTEN_LINES = 1 << 18, 4000  # of each end, which is searched for overwritten lines
FILL_LINES = 3  # a shorter gap is filled if its lines take no more than its marker


class StreamView(NamedTuple):
    """The part of a stream in a body.

    Attributes:
        segments: the text, in order.
        size: number of its bytes.
        shown: number of lines that it shows, whole or in part.
        truncated: whether anything was left out; a fold does not count.
        errors_elided: number of error lines that it counts, but does not show.
        is_open: whether it ends without a newline, so that a later text needs one first.
    """

    segments: tuple[Segment, ...]
    size: int
    shown: int
    truncated: bool
    errors_elided: int = 0
    is_open: bool = False


class _Picked:
    """The lines to show, and the picker that adds more if their markers took less than was set aside."""

    def __init__(self, runs: list[EqualLines], picker: "Picker | None" = None) -> None:
        self.runs = runs
        self._picker = picker

    def widen(self, room: int) -> bool:
        """Pick more lines for these bytes, and return whether there were any."""
        if self._picker is None or room < WORTH_BYTES:
            return False
        before = self._picker.used
        self._picker.pick(before + room)
        self.runs = self._picker.runs
        return self._picker.used > before


class StreamViewer:
    """Makes views of one stream.

    Attributes:
        whole: the view that shows everything, if it fits; else None.
    """

    def __init__(
        self, source: Source, *, examination: "Examination | None", room: int, short: bool = False, failed: bool = True
    ) -> None:
        """Read as much as is needed to know whether all of the stream fits.

        Args:
            source: the stream.
            examination: finds the failure lines, which then come first; None if nothing failed.
            room: bytes of the whole body, the most that can be asked of a view.
            short: whether markers are short, because the ref stands above the view.
            failed: whether the command failed; else few lines are failures, and the ends of the output matter more.
        """
        self._source = source
        self._ref = source.ref
        self._short = short and bool(source.ref)
        self._failed = failed
        self._count = source.line_count
        self._terminated = terminated(source)
        first = 10 ** (len(str(self._count)) - 1)  # as wide as any line's number
        self._gap_bytes = text_bytes(self._elision(first, 2 * first)) + len(f"{self._count:,}") + 1
        self._fold_bytes = text_bytes(self._fold(first, 2 * first)) + len(f"{self._count:,}") + 1
        self._examination = examination
        self._failures: Failures | None = None
        self._is_error: IsError | None = None
        self._gone = self._left_out()
        self._gone_lines = sum(last - first + 1 for first, last in self._gone)
        self.whole = self._view_whole(max(room, self._gap_bytes))

    @property
    def is_open(self) -> bool:
        """Whether the view that shows everything ends without a newline."""
        return bool(self.whole and self.whole.is_open)

    @property
    def floor(self) -> int:
        """Bytes of the smallest honest view."""
        self._find_errors()
        size = text_bytes(self._nothing()) + 1
        return min(size, self.whole.size) if self.whole else size

    def view(self, room: int, *, head_percent: int = DEFAULT.cut.head_percent) -> StreamView:
        """Make the view for a number of bytes; the smallest one if even that takes more.

        Args:
            room: the bytes available.
            head_percent: share of the head in the bytes that error regions leave; the tail gets the rest.
        """
        if self.whole and (self.whole.size <= room or self.whole.size <= self.floor):
            return self.whole
        self._find_errors()
        picked = self._pick(room, head_percent)
        view = self._made(picked.runs, room)
        for _ in range(REFILLS):
            if not picked.widen(room - view.size - self._gap_bytes):
                break
            wider = self._made(picked.runs, room)
            if wider.size > room:
                break
            view = wider
        return view

    def _made(self, runs: list[EqualLines], room: int) -> StreamView:
        """Make the view that shows these lines."""
        if not runs:
            errors = self._failures.total if self._failures else 0
            text = self._nothing() + "\n"
            return StreamView((Segment(text),), text_bytes(text), 0, True, errors)
        runs = self._fill(runs)
        segments, is_open = self._write(runs)
        errors = self._failures.total - sum(run.lines for run in runs if run.error) if self._failures else 0
        if errors:
            if is_open:
                segments += (Segment("\n"),)
                is_open = False
            left = room - text_bytes(join_segments(segments)) - 1
            most = min(left, room * NUMBERS_PERCENT // 100) if self._lists_places() else left
            text = markers.more_errors(self._ref, errors, self._hidden_errors(runs), most, short=self._short)
            segments += (Segment(text + "\n"),)
            if self._lists_places():
                segments += self._places(runs, left - text_bytes(text) - 1)
        shown = sum(run.lines for run in runs if not run.gone)
        truncated = sum(run.lines for run in runs) < self._count or any(run.clipped for run in runs)
        return StreamView(segments, text_bytes(join_segments(segments)), shown, truncated, errors, is_open)

    def _view_whole(self, room: int) -> StreamView | None:
        rows = read_rows(self._source, [(1, self._count)], None, gone=self._gone)
        taken = take(rows, room + (not self._terminated), self._fold_bytes)
        if sum(run.lines for run in taken.runs) < self._count:
            return None
        segments, is_open = self._write(taken.runs)
        size = text_bytes(join_segments(segments))
        shown = self._count - self._gone_lines
        return StreamView(segments, size, shown, False, is_open=is_open) if size <= room else None

    def _write(self, runs: list[EqualLines]) -> WrittenText:
        return write_runs(runs, self._source, ended=self._terminated, short=self._short)

    def _left_out(self) -> tuple[Span, ...]:
        """The lines that a terminal would no longer show, except those that tell of a failure."""
        gone = _rewritten(self._source)
        if gone:
            self._find_errors()
        errors = self._failures.spans if self._failures else ()
        left: list[Span] = []
        for first, last in gone:
            near = max(0, bisect(errors, (first,)) - 1)
            left += free_spans(islice(errors, near, None), first, last)
        return tuple(left)

    def _find_errors(self) -> None:
        """Find the failure lines, once, and only for a cut view after a failure."""
        if self._failures or not self._examination:
            return
        self._failures = self._examination.failures(self._source)
        self._is_error = self._examination.is_failure

    def _nothing(self) -> str:
        return self._elision(1, self._count, self._failures.total if self._failures else 0)

    def _elision(self, first: int, last: int, errors: int = 0) -> str:
        return markers.elision(self._ref, first, last, errors, short=self._short)

    def _fold(self, first: int, last: int) -> str:
        return markers.fold(self._ref, first, last, short=self._short)

    def _pick(self, room: int, head_percent: int) -> "_Picked":
        """Pick the lines to show, in order."""
        spare = room - self._gap_bytes - self._reserve(room)
        if spare <= 0:
            return _Picked([])
        if not self._failures or not (self._failures.total or self._failed):
            return _Picked(sorted(self._pick_ends([], spare, spare, head_percent)[0]))
        assert self._examination is not None
        picker = self._examination.picker(
            self._source, gap_bytes=self._gap_bytes, fold_bytes=self._fold_bytes, short=self._short
        )
        picker.pick(spare * (REGIONS_PERCENT if self._failed else QUIET_PERCENT) // 100)
        ends, left = self._pick_ends(picker.blocks, spare - picker.used, spare, head_percent)
        picker.include(ends, spare - left - picker.used)
        if not self._failed:
            return _Picked(picker.runs)
        picker.pick(spare)
        return _Picked(picker.runs, picker)

    def _reserve(self, room: int) -> int:
        """Return the bytes to reserve for the marker that counts the errors not shown."""
        if not self._failures or not self._failures.total:
            return 0
        numbers = len(self._failures.spans) * (2 * len(str(self._count)) + 3) if room > SMALL_BYTES else 0
        shortest = markers.more_errors(self._ref, max(2, self._failures.total), (), 0, short=self._short)
        size = text_bytes(shortest) + 2 + min(numbers, room * NUMBERS_PERCENT // 100)
        if self._lists_places():
            size += min(PLACE_BYTES * (self._failures.files - FEWEST_FILES + 1), room * PLACES_PERCENT // 100)
        return size

    def _lists_places(self) -> bool:
        """Whether the errors that are not shown are in enough files to be worth listing."""
        return self._short and self._failures is not None and self._failures.files >= FEWEST_FILES

    def _places(self, runs: list[EqualLines], room: int) -> tuple[Segment, ...]:
        """Return where the errors are that no run shows, as far as there is room."""
        assert self._examination is not None
        text = markers.error_places(self._examination.places(self._source, spans_of(runs)), room)
        return (Segment(text + "\n"),) if text else ()

    def _pick_ends(self, blocks: list[Span], left: int, spare: int, head_percent: int) -> tuple[list[EqualLines], int]:
        """Pick whole lines from the head and the tail, and return the bytes they leave.

        The next line is clipped if it alone would leave much room unused.
        """
        share = left * head_percent // 100
        rows = read_rows(self._source, free_spans(blocks, 1, self._count), self._is_error, gone=self._gone)
        head = take(rows, share, self._fold_bytes)
        runs, left, misfit = head.runs, left - head.cost, head.misfit
        if head_percent < 100:
            after = runs[-1].last + 1 if runs else 1
            spans = free_spans(blocks, after, self._count)[::-1]
            rows = read_rows(self._source, spans, self._is_error, backward=True, gone=self._gone)
            tail = take(rows, left, self._fold_bytes, backward=True)
            runs, left, misfit = runs + tail.runs, left - tail.cost, tail.misfit
        if misfit and not misfit.gone and (left >= spare // 8 or not (runs or blocks)):
            clipped = clip(misfit, self._ref, left, short=self._short)
            if clipped:
                return [*runs, clipped], left - text_bytes(clipped.text) - 1
        return runs, left

    def _fill(self, runs: list[EqualLines]) -> list[EqualLines]:
        """Show the lines of short gaps whose markers would take as much."""
        more: list[EqualLines] = []
        for first, last in free_spans(spans_of(runs), 1, self._count):
            if last - first >= FILL_LINES:
                continue
            room = text_bytes(self._elision(first, last)) + 1
            taken = take(read_rows(self._source, [(first, last)], self._is_error), room, room)
            if not taken.misfit:
                more += taken.runs
        return sorted(runs + more)

    def _hidden_errors(self, runs: list[EqualLines]) -> Iterator[Span]:
        """Yield the error lines that no run shows, as far as they are known."""
        blocks = spans_of(runs)
        for first, last in self._failures.spans if self._failures else ():
            yield from free_spans(blocks, first, last)


def _rewritten(source: Source) -> tuple[Span, ...]:
    """Return the lines that a terminal would no longer show; of a large stream, those near its ends."""
    size, count = source.byte_count, source.line_count
    ends = source.read(0, REWRITTEN_BYTES), source.read(max(0, size - REWRITTEN_BYTES), REWRITTEN_BYTES)
    if not any(b"\x1b" in data for data in ends):
        return ()
    from sightline.shape.redraws import rewritten  # 2 ms, and most outputs are plain text

    if size <= 2 * REWRITTEN_BYTES or count <= 2 * REWRITTEN_LINES:
        return rewritten(source)
    return rewritten(source, 1, REWRITTEN_LINES) + rewritten(source, count - REWRITTEN_LINES)
