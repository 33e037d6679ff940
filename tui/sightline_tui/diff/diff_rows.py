"""Works out which lines of a comparison stand on which rows, with equal parts folded. It has numbers only, no text.

A row is found by bisection, so their number does not matter.
"""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from enum import Enum
from itertools import accumulate, chain
from operator import add, sub

from sightline.light.named_tuple import NamedTuple
from sightline.search.diff.comparison import Comparison
from sightline.search.diff.hunks import Hunk

CONTEXT_LINES = 3
"""Equal lines that are shown before and after a hunk."""


class RowKind(Enum):
    """What a row shows: an equal line, a fold of several, lines side by side, or a line of one side."""

    EQUAL = "equal"
    FOLD = "fold"
    CHANGE = "change"
    REMOVED = "removed"
    ADDED = "added"


class DiffRow(NamedTuple):
    """The content of a row.

    Attributes:
        kind: what it shows.
        part: index of the hunk, or of the equal part; equal part N comes before hunk N.
        at: index of the row in that part, from 0.
        left: number of the left line, 0 if there is none; of a fold its first line, of a change not known.
        right: the same for the right side.
        hidden: number of lines that a fold hides.
    """

    kind: RowKind
    part: int
    at: int
    left: int = 0
    right: int = 0
    hidden: int = 0


class DiffRows:
    """The rows of one comparison."""

    def __init__(self, comparison: Comparison, *, unified: bool, context: int = CONTEXT_LINES) -> None:
        """Lay out the rows.

        Args:
            comparison: the comparison.
            unified: whether the lines of a hunk stand one below the other instead of side by side.
            context: equal lines to show before and after a hunk.
        """
        self._comparison = comparison
        self._hunks = comparison.hunks
        self._unified = unified
        self._context = context
        self._folds = True
        self._opened = set[int]()
        self._starts: Sequence[int] = ()
        self._lay_out()

    # what there is

    @property
    def comparison(self) -> Comparison:
        """The comparison."""
        return self._comparison

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def folds(self) -> bool:
        """Whether equal parts are folded, except those that were opened one by one."""
        return self._folds

    def __getitem__(self, y: int) -> DiffRow:
        """Return a row by its index. Raises IndexError past the last."""
        if not 0 <= y < len(self):
            raise IndexError(y)
        place = bisect_right(self._starts, y) - 1
        at, part = y - self._starts[place], place // 2
        if place % 2 == 0:
            return self._equal_row(part, at)
        hunk = self._hunks[part]
        if not self._unified:
            return DiffRow(RowKind.CHANGE, part, at)
        if at < hunk.left_count:
            return DiffRow(RowKind.REMOVED, part, at, left=hunk.left + at)
        return DiffRow(RowKind.ADDED, part, at, right=hunk.right + at - hunk.left_count)

    def hunk(self, part: int) -> Hunk:
        """Return a hunk by its index."""
        return self._hunks[part]

    @property
    def hunk_count(self) -> int:
        """Number of hunks."""
        return len(self._hunks)

    def height_of_hunk(self, part: int) -> int:
        """Return the number of rows of a hunk."""
        return self._starts[2 * part + 2] - self._starts[2 * part + 1]

    def row_of_hunk(self, part: int) -> int:
        """Return the first row of a hunk."""
        return self._starts[2 * part + 1]

    def hunk_near(self, y: int) -> int:
        """Return the index of the hunk that a row stands in or behind; -1 before the first."""
        place = bisect_right(self._starts, y) - 1
        return min((place - 1) // 2 if place else -1, len(self._hunks) - 1)

    def next_hunk(self, y: int) -> int | None:
        """Return the index of the first hunk that begins below a row."""
        part = self.hunk_near(y) + 1
        return part if part < len(self._hunks) else None

    def previous_hunk(self, y: int) -> int | None:
        """Return the index of the last hunk that begins above a row; within a hunk, that one."""
        part = self.hunk_near(y)
        if part >= 0 and self.row_of_hunk(part) >= y:
            part -= 1
        return part if part >= 0 else None

    def row_of_line(self, number: int, *, right: bool) -> int:
        """Return the row that shows a line of one side, or the fold that hides it."""
        starts = self._hunks.starts(right=right)
        part = bisect_right(starts, number) - 1
        if part >= 0:
            hunk = self._hunks[part]
            first, count = (hunk.right, hunk.right_count) if right else (hunk.left, hunk.left_count)
            if number < first + count:
                before = hunk.left_count if right and self._unified else 0
                return self.row_of_hunk(part) + before + number - first
        left, other, lines = self._equal(part + 1)
        return self._row_of_equal(part + 1, number - (other if right else left), lines)

    def row_like(self, row: DiffRow) -> int:
        """Return the row that shows what a row of another folding shows; for a fold, its first line."""
        if row.kind in (RowKind.EQUAL, RowKind.FOLD):
            return self.row_of_line(row.right, right=True)
        return self.row_of_hunk(row.part) + row.at

    # folding

    def open(self, part: int) -> None:
        """Show all lines of an equal part."""
        self._opened.add(part)
        self._lay_out()

    def fold(self, folds: bool) -> None:
        """Fold all equal parts, or none."""
        self._folds = folds
        self._opened.clear()
        self._lay_out()

    def _lay_out(self) -> None:
        lefts, counts, _, right_counts = self._hunks.columns
        before = map(sub, lefts, chain((1,), map(add, lefts, counts)))
        equal = [*before, self._equal(len(self._hunks))[2]]
        heights = map(add if self._unified else max, counts, right_counts)
        folded = self._folded(equal) if self._folds else equal
        interleaved = chain.from_iterable(zip(folded, heights, strict=False))
        self._starts = array("Q", accumulate(chain(interleaved, folded[-1:]), initial=0))

    def _folded(self, equal: list[int]) -> list[int]:
        """Return the number of rows of each equal part."""
        inner = 2 * self._context + 1
        rows = [lines if lines <= inner else inner for lines in equal]
        for part in {0, len(equal) - 1}:
            rows[part] = min(equal[part], sum(self._shown(part)) + 1)
        for part in self._opened:
            rows[part] = equal[part]
        return rows

    def _shown(self, part: int) -> tuple[int, int]:
        """Return how many lines of an equal part are shown above and below its fold."""
        return self._context if part else 0, self._context if part < len(self._hunks) else 0

    def _equal(self, part: int) -> tuple[int, int, int]:
        """Return (first left line, first right line, number of lines) of an equal part."""
        left, right = (self._hunks[part - 1].left_end, self._hunks[part - 1].right_end) if part else (1, 1)
        if part < len(self._hunks):
            return left, right, self._hunks[part].left - left
        compared = self._comparison
        return left, right, max(min(compared.left_lines + 1 - left, compared.right_lines + 1 - right), 0)

    def _equal_row(self, part: int, at: int) -> DiffRow:
        left, right, lines = self._equal(part)
        above, below = self._shown(part)
        hidden = lines - (self._starts[2 * part + 1] - self._starts[2 * part] - 1)
        if hidden > 1:
            if at == above:
                return DiffRow(RowKind.FOLD, part, at, left + at, right + at, hidden)
            if at > above:
                at = lines - below + at - above - 1
        return DiffRow(RowKind.EQUAL, part, at, left + at, right + at)

    def _row_of_equal(self, part: int, at: int, lines: int) -> int:
        start = self._starts[2 * part]
        above, below = self._shown(part)
        hidden = lines - (self._starts[2 * part + 1] - start - 1)
        if hidden <= 1 or at < above:
            return start + at
        return start + (above if at < lines - below else at - hidden + 1)
