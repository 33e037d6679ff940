"""Chooses what is shown of a line that is too long to be read whole: its two ends, and a part in between."""

from collections.abc import Callable

from sightline.light.named_tuple import NamedTuple
from sightline.shape.source import Line

MIDDLE_BYTES = 1 << 13
_BEFORE_BYTES = 1 << 10  # bytes of that part that stand before the place
_CONTINUED = range(0x80, 0xC0)  # bytes that continue a character of UTF-8


class Middle(NamedTuple):
    """A part of a line between its two ends.

    Attributes:
        at: byte at which it begins, from the line's start.
        data: its bytes.
    """

    at: int
    data: bytes

    @property
    def end(self) -> int:
        """Byte at which it ends, from the line's start."""
        return self.at + len(self.data)


def middle_of(line: Line, offset: int, read: Callable[[int, int], bytes]) -> Middle | None:
    """Return the part of a line around a place; None if that stands in one of the two ends.

    Args:
        line: the line, of which the two ends have been read.
        offset: byte of the place, from the line's start.
        read: returns bytes of the line, given the first and how many.
    """
    half = len(line.data) // 2
    if line.whole or not half <= offset < line.length - half:
        return None
    at = max(offset - _BEFORE_BYTES, half)
    data = read(at, min(MIDDLE_BYTES, line.length - half - at))
    most = min(3, offset - at) if at > half else 0  # right after the head, a character that it cuts continues
    skip = next((skip for skip in range(most) if data[skip] not in _CONTINUED), 0)
    return Middle(at + skip, data[skip:])


def pieces_of(line: Line, middle: Middle | None) -> list[tuple[int, bytes]]:
    """Return the shown parts of a line, each with the byte at which it begins, from the line's start."""
    if line.whole:
        return [(0, line.data)]
    half = len(line.data) // 2
    between = [(middle.at, middle.data)] if middle is not None else []
    return [(0, line.data[:half]), *between, (line.length - half, line.data[half:])]
