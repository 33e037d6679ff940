"""Works out which lines of an output had been seen at a step of a session, and folds long runs of unseen ones.

Pure functions of spans.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from sightline.audit.coverage import GradedLines
from sightline.audit.line_spans import NONE, Spans, common, minus, size, spans_of, union
from sightline.light.named_tuple import NamedTuple

NOW, BEFORE, CUT, ASKED, UNSEEN, MISSED = "now", "before", "cut", "asked", "unseen", "missed"
GONE, UNSURE = "gone", "unsure"
"""The states of a line: shown by this call; shown by an earlier one; shown in part; only counted; not shown; not shown
although it tells of a failure; shown by an earlier call and then no longer held; or nobody tells whether held."""

FOLDED_LINES = 4
"""A longer run of lines that no agent was shown is folded into one row."""


class Standing(NamedTuple):
    """One stream of an output at a step.

    Attributes:
        stream: name of the stream.
        total: number of its lines.
        now: lines that the call of this step showed.
        before: lines that earlier calls showed.
        asked: lines from which answers were made that do not show them.
        telling: lines that tell of failures.
        cut: lines of which only a part has been shown so far.
        cut_weight: the shown parts of these, summed up in lines.
        unsure: whether a harness may have cut lines that count as shown.
        gone: lines that earlier calls showed and that the context no longer had.
        open: lines that earlier calls showed, if nobody tells whether the context still had them.
        is_told: whether anything is told of the context.
    """

    stream: str
    total: int
    now: Spans = NONE
    before: Spans = NONE
    asked: Spans = NONE
    telling: Spans = NONE
    cut: Spans = NONE
    cut_weight: float = 0.0
    unsure: bool = False
    gone: Spans = NONE
    open: Spans = NONE
    is_told: bool = False

    @property
    def seen(self) -> Spans:
        """Lines that have been shown so far."""
        return union(self.now, self.before)

    @property
    def missed(self) -> Spans:
        """Lines that tell of failures and have not been shown so far."""
        return minus(self.telling, self.seen)


class StateRun(NamedTuple):
    """Neighbouring lines of a stream in the same state; a fold takes one row, and so does a heading (no lines)."""

    stream: str
    first: int
    last: int
    how: str
    folded: bool = False

    @property
    def height(self) -> int:
        """Number of rows that it takes."""
        return 1 if self.folded or not self.first else self.last - self.first + 1


def standing(stream: str, total: int, now: GradedLines | None, so_far: GradedLines, telling: Spans) -> Standing:
    """Work out a stream at a step.

    Args:
        stream: name of the stream.
        total: number of its lines.
        now: lines that this call adds; None if it adds none.
        so_far: lines by grade after the call.
        telling: lines that tell of failures that no agent was shown by then.
    """
    there: Spans = ((1, total),) if total else NONE
    shown = common(now.seen, there) if now else NONE
    before = minus(common(so_far.seen, there), shown)
    asked = union(so_far.asked, now.asked if now else NONE)
    return Standing(
        stream,
        total,
        shown,
        before,
        minus(common(asked, there), so_far.seen),
        common(telling, there),
        spans_of((line, line) for line in so_far.cut),
        sum(one.share for one in so_far.cut.values()),
    )


def runs_of(streams: Sequence[Standing], *, folds: bool) -> list[StateRun]:
    """Return all lines as runs, stream after stream, with a heading for each if there are several."""
    shown = [one for one in streams if one.total]
    found = list[StateRun]()
    for one in shown:
        if len(shown) > 1:
            found.append(StateRun(one.stream, 0, 0, UNSEEN))
        found += _runs(one, folds)
    return found


def _runs(one: Standing, folds: bool) -> Iterator[StateRun]:
    cut = minus(one.cut, one.missed)
    asked = minus(minus(one.asked, one.missed), cut)
    rest = minus(minus(minus(minus(((1, one.total),), one.seen), one.missed), cut), asked)
    held = minus(minus(one.before, one.gone), one.open)
    shown = ((NOW, one.now), (BEFORE, held), (GONE, one.gone), (UNSURE, one.open))
    kinds = (*shown, (MISSED, one.missed), (CUT, cut), (ASKED, asked), (UNSEEN, rest))
    for first, last, how in sorted((*span, how) for how, spans in kinds for span in spans):
        folded = folds and how in (ASKED, UNSEEN) and last - first + 1 > FOLDED_LINES
        yield StateRun(one.stream, first, last, how, folded)


class StepRows:
    """Runs as rows; the run and the line of a row are found by bisection."""

    def __init__(self, runs: Sequence[StateRun]) -> None:
        self.runs = runs
        self._ends = list[int]()
        at = 0
        for run in runs:
            at += run.height
            self._ends.append(at)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def at(self, row: int) -> tuple[StateRun, int]:
        """Return (run, line) of a row: the first line of a fold, 0 for a heading."""
        place = bisect_right(self._ends, row)
        run = self.runs[place]
        start = self._ends[place] - run.height
        return run, run.first if run.folded or not run.first else run.first + row - start

    def first_of(self, *kinds: str) -> int:
        """Return the first row of the first of these kinds that occurs; 0 if none does."""
        for kind in kinds:
            for run, end in zip(self.runs, self._ends, strict=True):
                if run.how == kind and run.first:
                    return end - run.height
        return 0

    def row_of(self, stream: str, line: int) -> int:
        """Return the row that shows a line, or the fold that contains it."""
        for run, end in zip(self.runs, self._ends, strict=True):
            if run.stream == stream and run.first <= line <= run.last:
                return end - run.height + (0 if run.folded else line - run.first)
        return 0


def map_cells(streams: Sequence[Standing], cells: int) -> list[str]:
    """Map the whole output onto this many cells, each with the most noteworthy state of its lines."""
    total = sum(one.total for one in streams)
    if not total or cells <= 0:
        return []
    made = [UNSEEN] * cells
    fields = {UNSURE: "open"}
    for how in (ASKED, CUT, BEFORE, UNSURE, GONE, NOW, MISSED):  # later states replace earlier ones
        before = 0
        for one in streams:
            for first, last in getattr(one, fields.get(how, how)):
                start, end = (before + first - 1) * cells // total, ((before + last) * cells - 1) // total
                made[start : end + 1] = [how] * (end + 1 - start)
            before += one.total
    return made


def counts(streams: Sequence[Standing]) -> tuple[int, int, int]:
    """Return (lines seen so far, lines seen by this call, all lines)."""
    seen = sum(size(one.seen) for one in streams)
    return seen, sum(size(one.now) for one in streams), sum(one.total for one in streams)
