"""What is shown of a line that is too long to be read whole: its two ends, and a part around a place in between."""

from collections.abc import Callable

from sightline.named_tuple import NamedTuple
from sightline.shape.source import Line

MIDDLE_BYTES = 1 << 13
_BEFORE_BYTES = 1 << 10  # of those, so many stand before the place
_CONTINUED = range(0x80, 0xC0)  # bytes that begin no character of UTF-8


class Middle(NamedTuple):
    """A part of a line between its two ends.

    Attributes:
        at: where it begins, in bytes from the line's start.
        data: its bytes.
    """

    at: int
    data: bytes

    @property
    def end(self) -> int:
        """Where it ends, in bytes from the line's start."""
        return self.at + len(self.data)


def middle_of(line: Line, offset: int, read: Callable[[int, int], bytes]) -> Middle | None:
    """The part of a line around a place; None where that stands in one of its two ends.

    Args:
        line: of which the two ends have been read.
        offset: of the place, in bytes from the line's start.
        read: gives bytes of the line, from a place in it on so many.
    """
    half = len(line.data) // 2
    if line.whole or not half <= offset < line.length - half:
        return None
    at = max(offset - _BEFORE_BYTES, half)
    data = read(at, min(MIDDLE_BYTES, line.length - half - at))
    most = min(3, offset - at) if at > half else 0  # right behind the head, whatever it ends within goes on
    skip = next((skip for skip in range(most) if data[skip] not in _CONTINUED), 0)
    return Middle(at + skip, data[skip:])


def pieces_of(line: Line, middle: Middle | None) -> list[tuple[int, bytes]]:
    """The parts of a line that are shown, each with where it begins, in bytes from the line's start."""
    if line.whole:
        return [(0, line.data)]
    half = len(line.data) // 2
    between = [(middle.at, middle.data)] if middle is not None else []
    return [(0, line.data[:half]), *between, (line.length - half, line.data[half:])]
