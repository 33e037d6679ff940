"""An output at a step of a session: which lines had been seen, long runs of those that had not being folded.

Pure functions of spans.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from sightline.audit.coverage import Lines
from sightline.audit.line_spans import NONE, Spans, common, minus, size, spans_of, union
from sightline.named_tuple import NamedTuple

NOW, BEFORE, CUT, ASKED, UNSEEN, MISSED = "now", "before", "cut", "asked", "unseen", "missed"
"""How a line stands: shown by this call, or an earlier one; in part; only counted; not shown; telling of an unseen
failure."""

FOLDED_LINES = 4
"""A longer run of lines that nobody was shown takes one row."""


class Standing(NamedTuple):
    """One stream at a step.

    Attributes:
        stream: its name.
        total: lines that it has.
        now: lines that this call showed.
        before: lines that earlier ones showed.
        asked: lines that answers were made of.
        telling: lines that tell of failures.
        cut: lines of which only a part was shown so far.
        cut_weight: what these come to, in lines.
        unsure: whether any line that counts as shown may have been cut.
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

    @property
    def seen(self) -> Spans:
        """Lines that were shown so far."""
        return union(self.now, self.before)

    @property
    def missed(self) -> Spans:
        """Lines that tell of failures and were not shown so far."""
        return minus(self.telling, self.seen)


class Run(NamedTuple):
    """Neighbouring lines of a stream that stand alike; folded ones take one row, and so does a heading (no lines)."""

    stream: str
    first: int
    last: int
    how: str
    folded: bool = False

    @property
    def height(self) -> int:
        """How many rows it takes."""
        return 1 if self.folded or not self.first else self.last - self.first + 1


def standing(stream: str, total: int, now: Lines | None, so_far: Lines, telling: Spans) -> Standing:
    """A stream at a step.

    Args:
        stream: its name.
        total: lines that it has.
        now: what this call adds; None where it adds nothing.
        so_far: lines by grade after the call.
        telling: lines that tell of failures nobody was shown by then.
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


def runs_of(streams: Sequence[Standing], *, folds: bool) -> list[Run]:
    """All lines, stream after stream; where there are several, each below a heading."""
    shown = [one for one in streams if one.total]
    found = list[Run]()
    for one in shown:
        if len(shown) > 1:
            found.append(Run(one.stream, 0, 0, UNSEEN))
        found += _runs(one, folds)
    return found


def _runs(one: Standing, folds: bool) -> Iterator[Run]:
    cut = minus(one.cut, one.missed)
    asked = minus(minus(one.asked, one.missed), cut)
    rest = minus(minus(minus(minus(((1, one.total),), one.seen), one.missed), cut), asked)
    kinds = ((NOW, one.now), (BEFORE, one.before), (MISSED, one.missed), (CUT, cut), (ASKED, asked), (UNSEEN, rest))
    for first, last, how in sorted((*span, how) for how, spans in kinds for span in spans):
        folded = folds and how in (ASKED, UNSEEN) and last - first + 1 > FOLDED_LINES
        yield Run(one.stream, first, last, how, folded)


class Rows:
    """Runs as rows: which run and line a row is, found by bisection."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs
        self._ends = list[int]()
        at = 0
        for run in runs:
            at += run.height
            self._ends.append(at)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def at(self, row: int) -> tuple[Run, int]:
        """(run, line) of a row; the first line of what is folded, 0 of a heading."""
        place = bisect_right(self._ends, row)
        run = self.runs[place]
        start = self._ends[place] - run.height
        return run, run.first if run.folded or not run.first else run.first + row - start

    def first_of(self, *kinds: str) -> int:
        """The first row of a run of one of these kinds, the first kind that there is; 0 where there is none."""
        for kind in kinds:
            for run, end in zip(self.runs, self._ends, strict=True):
                if run.how == kind and run.first:
                    return end - run.height
        return 0

    def row_of(self, stream: str, line: int) -> int:
        """The row that a line stands in, or is folded into."""
        for run, end in zip(self.runs, self._ends, strict=True):
            if run.stream == stream and run.first <= line <= run.last:
                return end - run.height + (0 if run.folded else line - run.first)
        return 0


def map_cells(streams: Sequence[Standing], cells: int) -> list[str]:
    """The whole output in so many cells: how the lines of each stand, by what is most worth seeing among them."""
    total = sum(one.total for one in streams)
    if not total or cells <= 0:
        return []
    made = [UNSEEN] * cells
    for how in (ASKED, CUT, BEFORE, NOW, MISSED):  # the later ones take the place of the earlier
        before = 0
        for one in streams:
            for first, last in getattr(one, how):
                start, end = (before + first - 1) * cells // total, ((before + last) * cells - 1) // total
                made[start : end + 1] = [how] * (end + 1 - start)
            before += one.total
    return made


def counts(streams: Sequence[Standing]) -> tuple[int, int, int]:
    """(lines that were seen so far, of them by this call, all)."""
    seen = sum(size(one.seen) for one in streams)
    return seen, sum(size(one.now) for one in streams), sum(one.total for one in streams)
