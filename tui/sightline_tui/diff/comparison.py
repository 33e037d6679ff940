"""Runs one comparison for the screen in another thread, from where its progress is read and it can be cancelled."""

from collections.abc import Callable

from sightline.audit.failure_changes import FailureChanges, known_changes
from sightline.light.named_tuple import NamedTuple
from sightline.search.diff.comparison import Comparison, compare
from sightline.search.diff.engines import Ignore
from sightline.search.diff.sides import Side, open_side
from sightline.search.errors import Cancelled
from sightline.search.processes import Cancel
from sightline.store import Reading, Target


class ComparisonResult(NamedTuple):
    """What was compared, and the result. Whoever has it closes the sides.

    Attributes:
        left: the older side.
        right: the newer side.
        ignore: the differences that were ignored.
        comparison: the result.
        changes: which failures differ; None if that is not known.
        open_sides: opens both sides again, for a reader in another thread. Raises what opening buffers raises.
    """

    left: Side
    right: Side
    ignore: Ignore
    comparison: Comparison
    changes: FailureChanges | None
    open_sides: Callable[[], tuple[Side, Side]]

    def close(self) -> None:
        """Close both sides."""
        self.left.close()
        self.right.close()


class ComparisonJob:
    """A comparison that is running.

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
        """Cancel it at once."""
        self._cancel.cancel()

    def run(self) -> ComparisonResult | None:
        """Compare; None if it was cancelled. Raises what opening buffers and comparing them raise."""
        left, right = self._open_sides()
        try:
            found = compare(left, right, self._ignore, cancel=self._cancel, progress=self._progress)
            changes = known_changes(self._store, *(target.buffer for target in self._targets))
        except BaseException as error:
            left.close()
            right.close()
            if isinstance(error, Cancelled):
                return None
            raise
        return ComparisonResult(left, right, self._ignore, found, changes, self._open_sides)

    def _open_sides(self) -> tuple[Side, Side]:
        left = open_side(self._store, self._targets[0])
        try:
            return left, open_side(self._store, self._targets[1])
        except BaseException:
            left.close()
            raise

    def _progress(self, done: float) -> None:
        self.done = done
