"""One comparison as the screen wants it: run off the UI's thread, watched and ended from there."""

from collections.abc import Callable

from sightline.named_tuple import NamedTuple
from sightline.search.diff.comparison import Comparison, compare
from sightline.search.diff.engines import Ignore
from sightline.search.diff.sides import Side, open_side
from sightline.search.errors import Cancelled
from sightline.search.processes import Cancel
from sightline.store import Reading, Target


class ComparisonResult(NamedTuple):
    """What was compared, and what was found. Whoever has it closes the sides.

    Attributes:
        left: what was.
        right: what is.
        ignore: what made no difference.
        comparison: what was found.
        open_sides: opens both once more, for who reads them in another thread. Raises as opening buffers does.
    """

    left: Side
    right: Side
    ignore: Ignore
    comparison: Comparison
    open_sides: Callable[[], tuple[Side, Side]]

    def close(self) -> None:
        """Close both sides."""
        self.left.close()
        self.right.close()


class ComparisonJob:
    """A comparison under way.

    Attributes:
        done: how much is done, from 0 to 1.
    """

    def __init__(self, store: Reading, left: Target, right: Target, ignore: Ignore) -> None:
        self._store = store
        self._targets = left, right
        self._ignore = ignore
        self._cancel = Cancel()
        self.done = 0.0

    def cancel(self) -> None:
        """End it, now."""
        self._cancel.cancel()

    def run(self) -> ComparisonResult | None:
        """Compare; None where it was cancelled. Raises as opening buffers and comparing them do."""
        left, right = self._open_sides()
        try:
            found = compare(left, right, self._ignore, cancel=self._cancel, progress=self._progress)
        except BaseException as error:
            left.close()
            right.close()
            if isinstance(error, Cancelled):
                return None
            raise
        return ComparisonResult(left, right, self._ignore, found, self._open_sides)

    def _open_sides(self) -> tuple[Side, Side]:
        left = open_side(self._store, self._targets[0])
        try:
            return left, open_side(self._store, self._targets[1])
        except BaseException:
            left.close()
            raise

    def _progress(self, done: float) -> None:
        self.done = done
