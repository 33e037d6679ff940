"""Keeps the hunks of a comparison, up to millions, in little memory."""

from array import array
from collections.abc import Iterator, Sequence

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import overload


class Hunk(NamedTuple):
    """A run of lines that replaces another one.

    Attributes:
        left: number of its first left line, from 1; without any, of the line before which they would stand.
        left_count: number of its left lines.
        right: the same on the right.
        right_count: the same on the right.
    """

    left: int
    left_count: int
    right: int
    right_count: int

    @property
    def left_end(self) -> int:
        """Number of the line after its last on the left."""
        return self.left + self.left_count

    @property
    def right_end(self) -> int:
        """Number of the line after its last on the right."""
        return self.right + self.right_count


class Hunks(Sequence[Hunk]):
    """Hunks in ascending order, of 32 bytes each; between them, both sides are equal.

    Attributes:
        removed: number of their left lines.
        added: number of their right lines.
    """

    def __init__(self) -> None:
        self._columns = tuple(array("Q") for _ in Hunk._fields)
        self.removed = 0
        self.added = 0

    def __len__(self) -> int:
        return len(self._columns[0])

    @overload
    def __getitem__(self, at: int) -> Hunk: ...

    @overload
    def __getitem__(self, at: slice) -> list[Hunk]: ...

    def __getitem__(self, at: int | slice) -> Hunk | list[Hunk]:
        if isinstance(at, slice):
            return [Hunk(*values) for values in zip(*(column[at] for column in self._columns), strict=True)]
        return Hunk(*(column[at] for column in self._columns))

    def __iter__(self) -> Iterator[Hunk]:
        return map(Hunk._make, zip(*self._columns, strict=True))

    def append(self, hunk: Hunk) -> None:
        """Append a hunk; if it begins at the end of the last one, the two are joined."""
        if not hunk.left_count and not hunk.right_count:
            return
        self.removed += hunk.left_count
        self.added += hunk.right_count
        if self and (last := self[-1]).left_end == hunk.left and last.right_end == hunk.right:
            hunk = Hunk(last.left, last.left_count + hunk.left_count, last.right, last.right_count + hunk.right_count)
            for column, value in zip(self._columns, hunk, strict=True):
                column[-1] = value
            return
        for column, value in zip(self._columns, hunk, strict=True):
            column.append(value)

    def extend_flat(self, numbers: Sequence[int], left: int, right: int) -> None:
        """Append many separate hunks.

        Args:
            numbers: for each hunk the lines before it and in it on the left, then on the right.
            left: number of the first line that is counted on the left.
            right: the same on the right.
        """
        for at, (column, shift) in enumerate(zip(self._columns, (left, 0, right, 0), strict=True)):
            column.extend([number + shift for number in numbers[at::4]] if shift else array("Q", numbers[at::4]))
        self.removed += sum(numbers[1::4])
        self.added += sum(numbers[3::4])

    def extend(self, others: "Hunks", count: int) -> None:
        """Append the first ``count`` of other hunks, which come after these."""
        if count:
            self.append(others[0])
            for column, more in zip(self._columns, others._columns, strict=True):
                column.extend(more[1:count])
            self.removed += sum(others._columns[1][1:count])
            self.added += sum(others._columns[3][1:count])

    @property
    def columns(self) -> Sequence[Sequence[int]]:
        """Return the numbers of all hunks, a sequence for each field of `Hunk`."""
        return self._columns

    def starts(self, *, right: bool = False) -> Sequence[int]:
        """Return the first line of each hunk on one side."""
        return self._columns[2 if right else 0]
