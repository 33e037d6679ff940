"""Compares two outputs of any size: small ones at once, others window by window, so that memory stays bounded.

A window ends after a stretch in which both sides are equal, and the next one begins there. So the hunks are always
true and, if changes are shorter than a window, the same as from a comparison of the whole.
"""

from collections.abc import Callable, Sequence
from functools import partial

from sightline.light.named_tuple import NamedTuple
from sightline.search.diff.engines import ENGINES, DiffWindow, Ignore, engine_of, run_engine
from sightline.search.diff.hunks import Hunk, Hunks
from sightline.search.diff.sides import Side
from sightline.search.processes import Cancel

WINDOW_BYTES = 1 << 26  # of each side; GNU diff then takes about 200 MB
WINDOW_LINES = 1_000_000
MOST_GROWTH = 4  # of a window without equal lines, up to which GNU diff stays under its limit of 1 GiB
MOST_HUNKS = 1_000_000  # 32 MB; everything after that is one hunk
_FIRM_LINES = 16  # equal lines that ensure that two windows end at the same place


class Comparison(NamedTuple):
    """The result of a comparison.

    Attributes:
        hunks: the parts in which the sides differ.
        left_lines: number of lines of the left side.
        right_lines: number of lines of the right side.
        capped: whether there were more hunks than are kept, so that the last one stands for the rest.
    """

    hunks: Hunks
    left_lines: int
    right_lines: int
    capped: bool = False


class ComparisonLimits(NamedTuple):
    """How much is compared at once: bytes and lines of each side, how often that may double, and the hunks kept."""

    window_bytes: int = WINDOW_BYTES
    window_lines: int = WINDOW_LINES
    growth: int = MOST_GROWTH
    hunks: int = MOST_HUNKS


DEFAULT_LIMITS = ComparisonLimits()


def compare(
    left: Side,
    right: Side,
    ignore: Ignore = Ignore(),  # noqa: B008 (a tuple)
    *,
    cancel: Cancel | None = None,
    progress: Callable[[float], None] = lambda _: None,
    engines: Sequence[str] = ENGINES,
    limits: ComparisonLimits = DEFAULT_LIMITS,
) -> Comparison:
    """Compare two sides line by line.

    Args:
        left: the older side.
        right: the newer side.
        ignore: the differences to ignore.
        cancel: cancels it from another thread.
        progress: called after each window with the part done, from 0 to 1.
        engines: the engines that may be used; the first one on this machine is.
        limits: how much to compare at once.

    Raises:
        CompareFailed: memory or time was not enough, there is no engine, or it failed.
        Cancelled: ``cancel`` was used.
    """
    return _Comparing(left, right, ignore, engine_of(engines), cancel or Cancel(), limits).run(progress)


class _Comparing:
    """One running comparison."""

    def __init__(
        self, left: Side, right: Side, ignore: Ignore, engine: str, cancel: Cancel, limits: ComparisonLimits
    ) -> None:
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
                if not advanced:  # nothing here is equal, so all of it is a change
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
        """Compare a window, and return its hunks, numbered as in the whole."""
        paths = (self._left.whole_path, self._right.whole_path)
        whole = (left, right) == (1, 1) and ends == self._lines and all(paths)
        window = DiffWindow(
            self._left.pieces(left, ends[0]),
            self._right.pieces(right, ends[1]),
            paths if whole else None,
            (self._left.folders, self._right.folders),
        )
        found = Hunks()
        run_engine(self._engine, window, self._ignore, partial(found.extend_flat, left=left, right=right), self._cancel)
        return found

    def _rest(self, left: int, right: int) -> Hunk:
        """Return everything from here on as one hunk."""
        return Hunk(left, self._lines[0] + 1 - left, right, self._lines[1] + 1 - right)

    def _capped(self, found: Hunks) -> Comparison:
        """Return as many hunks as may be kept, the last one with everything that follows."""
        fitting = self._limits.hunks - len(self._hunks) - 1
        self._hunks.extend(found, fitting)
        following = found[fitting]
        self._hunks.append(self._rest(following.left, following.right))
        return self._result(capped=True)

    def _result(self, *, capped: bool = False) -> Comparison:
        return Comparison(self._hunks, *self._lines, capped)


class _Cut(NamedTuple):
    """Where a window ends: how many of its hunks come before, and the lines at which the next one begins."""

    hunks: int
    left: int
    right: int


def _cut(found: Hunks, first: tuple[int, int], ends: tuple[int, int]) -> _Cut:
    """Return where a window that is not the last may end: after the last long stretch of equal lines, else after any.

    Later lines of one side may seem changed only because their counterpart is outside the window on the other.
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
