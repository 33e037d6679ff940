"""Compares two outputs of any size: at once where they are small, else window by window, so that memory stays bounded.

A window ends where both sides were seen to be equal for a while, and the next begins there. So the hunks are always
true, and where changes are shorter than a window, they are those that a comparison of the whole would find.
"""

from collections.abc import Callable, Sequence
from functools import partial

from sightline.named_tuple import NamedTuple
from sightline.search.diff.engines import ENGINES, Ignore, Window, engine_of, run_engine
from sightline.search.diff.hunks import Hunk, Hunks
from sightline.search.diff.sides import Side
from sightline.search.processes import Cancel

WINDOW_BYTES = 1 << 26  # of each side: GNU diff then takes about 200 MB
WINDOW_LINES = 1_000_000
MOST_GROWTH = 4  # of a window in which nothing is equal; at this GNU diff stays under its limit of 1 GiB
MOST_HUNKS = 1_000_000  # 32 MB; all that follows is then one hunk
_FIRM_LINES = 16  # equal lines that make sure that two windows do not end askew


class Comparison(NamedTuple):
    """What a comparison found.

    Attributes:
        hunks: where the sides differ.
        left_lines: lines of the left side.
        right_lines: lines of the right side.
        engine: what compared, one of ``ENGINES``.
        capped: whether there were more hunks than are kept, the last one standing for the rest.
    """

    hunks: Hunks
    left_lines: int
    right_lines: int
    engine: str
    capped: bool = False


class Limits(NamedTuple):
    """How much is compared at a time: bytes and lines of each side, how often that may double, and hunks kept."""

    window_bytes: int = WINDOW_BYTES
    window_lines: int = WINDOW_LINES
    growth: int = MOST_GROWTH
    hunks: int = MOST_HUNKS


DEFAULT_LIMITS = Limits()


def compare(
    left: Side,
    right: Side,
    ignore: Ignore = Ignore(),  # noqa: B008 (a tuple)
    *,
    cancel: Cancel | None = None,
    progress: Callable[[float], None] = lambda _: None,
    engines: Sequence[str] = ENGINES,
    limits: Limits = DEFAULT_LIMITS,
) -> Comparison:
    """Compare two sides line by line.

    Args:
        left: what was.
        right: what is.
        ignore: what makes no difference.
        cancel: ends it from another thread.
        progress: told how much is done, from 0 to 1, after each window.
        engines: which engines may be used; the first that this machine has is.
        limits: how much is compared at a time.

    Raises:
        CompareFailed: memory or time was not enough, no engine is here, or it broke off.
        Cancelled: ``cancel`` was used.
    """
    return _Comparing(left, right, ignore, engine_of(engines), cancel or Cancel(), limits).run(progress)


class _Comparing:
    """One comparison under way."""

    def __init__(self, left: Side, right: Side, ignore: Ignore, engine: str, cancel: Cancel, limits: Limits) -> None:
        self._left, self._right = left, right
        self._lines = left.line_count, right.line_count
        self._ignore = ignore
        self._engine = engine
        self._cancel = cancel
        self._limits = limits
        self._hunks = Hunks()

    def run(self, progress: Callable[[float], None]) -> Comparison:
        left, right, growth = 1, 1, 1
        while left <= self._lines[0] and right <= self._lines[1]:
            ends = self._last(self._left, left, growth), self._last(self._right, right, growth)
            found = self._window(left, right, ends)
            if ends == self._lines:
                cut = _Cut(len(found), ends[0] + 1, ends[1] + 1)
            else:
                cut = _cut(found, (left, right), ends)
                advanced = max(cut.left - left, cut.right - right)
                if growth < self._limits.growth and advanced * 2 < max(ends[0] - left, ends[1] - right):
                    growth *= 2
                    continue
                if not advanced:  # nothing here is equal: all of it is a change
                    found = Hunks()
                    found.append(Hunk(left, ends[0] + 1 - left, right, ends[1] + 1 - right))
                    cut = _Cut(1, ends[0] + 1, ends[1] + 1)
            if len(self._hunks) + cut.hunks > self._limits.hunks:
                return self._capped(found)
            self._hunks.extend(found, cut.hunks)
            _, left, right = cut
            growth = 1
            progress((left + right - 2) / sum(self._lines))
        self._hunks.append(self._rest(left, right))
        return self._result()

    def _last(self, side: Side, first: int, growth: int) -> int:
        return side.last_within(first, self._limits.window_bytes * growth, self._limits.window_lines * growth)

    def _window(self, left: int, right: int, ends: tuple[int, int]) -> Hunks:
        """The hunks of a window, their lines counted as in the whole."""
        paths = (self._left.whole_path, self._right.whole_path)
        whole = (left, right) == (1, 1) and ends == self._lines and all(paths)
        window = Window(self._left.pieces(left, ends[0]), self._right.pieces(right, ends[1]), paths if whole else None)
        found = Hunks()
        run_engine(self._engine, window, self._ignore, partial(found.extend_flat, left=left, right=right), self._cancel)
        return found

    def _rest(self, left: int, right: int) -> Hunk:
        """All from here on, as one hunk."""
        return Hunk(left, self._lines[0] + 1 - left, right, self._lines[1] + 1 - right)

    def _capped(self, found: Hunks) -> Comparison:
        """As many hunks as may be kept, the last one all that follows."""
        fitting = self._limits.hunks - len(self._hunks) - 1
        self._hunks.extend(found, fitting)
        following = found[fitting]
        self._hunks.append(self._rest(following.left, following.right))
        return self._result(capped=True)

    def _result(self, *, capped: bool = False) -> Comparison:
        return Comparison(self._hunks, *self._lines, self._engine, capped)


class _Cut(NamedTuple):
    """Where a window ends: how many of its hunks stand before that, and the lines at which the next one begins."""

    hunks: int
    left: int
    right: int


def _cut(found: Hunks, first: tuple[int, int], ends: tuple[int, int]) -> _Cut:
    """Where a window that is not the last may end: behind the last lines that were firmly equal, else behind any.

    What follows on one side may only look changed because its counterpart lies beyond the window on the other.
    """
    left, right = ends[0] + 1, ends[1] + 1
    softer = _Cut(0, *first)
    for at in range(len(found), -1, -1):
        equal = left - (found[at - 1].left_end if at else first[0])
        if equal >= _FIRM_LINES:
            return _Cut(at, left, right)
        if equal and not softer.hunks:
            softer = _Cut(at, left, right)
        if at:
            left, right = found[at - 1].left, found[at - 1].right
    return softer
