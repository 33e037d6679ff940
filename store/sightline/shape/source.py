"""The interface that shaping reads through: a stream's lines and bytes by range, wherever they lie."""

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Iterator, Protocol

LINE_LIMIT = 1 << 16
"""Bytes of one line that are read at most: of a longer one, its two ends."""

BLOCK_BYTES = 1 << 18
"""The size of a block of whole lines, about."""

BLOCK_END_BYTES = 1 << 12
"""Bytes at the end of a line longer than a block that its block has."""


class CutLine(NamedTuple):
    """A raw line of which a text shows only a part.

    Attributes:
        line: number of the line, from 1.
        length: bytes of the line, without its newline.
        seen: the bytes that the text shows, (first, last), from 1, inclusive, in order; fewer if cleaning leaves open
            which they are.
    """

    line: int
    length: int
    seen: tuple[tuple[int, int], ...]


class LineSpan(NamedTuple):
    """The lines to which some bytes of a stream belong.

    Attributes:
        first: the first line with any of them, from 1.
        last: the last one, inclusive; below ``first`` if the bytes are only newlines of other lines.
        cuts: those of the two that have other bytes, too.
    """

    first: int
    last: int
    cuts: tuple[CutLine, ...] = ()


class Line(NamedTuple):
    """One raw line, without its newline.

    Attributes:
        number: number of the line, from 1, in the raw stream split at ``\\n``.
        data: the bytes; if the line is longer than the limit for reading, the first and the last half of
            that limit.
        length: the real length of the line, in bytes.
        raw_length: the length of the raw line, if a profile's rule has cleaned this one; else -1.
        raw_start: offset of this one in the raw line then; -1 if it does not stand there unchanged.
    """

    number: int
    data: bytes
    length: int
    raw_length: int = -1
    raw_start: int = 0

    @property
    def whole(self) -> bool:
        """Whether ``data`` is the whole line."""
        return len(self.data) == self.length

    def cut(self, *ranges: tuple[int, int]) -> CutLine:
        """Return the line with only some of its bytes shown: from each offset to another, exclusive."""
        length = self.length if self.raw_length < 0 else self.raw_length
        if self.raw_start < 0:
            return CutLine(self.number, length, ())
        seen = []
        for start, end in sorted(ranges):
            first = self.raw_start + start + 1 if start else 1
            last = self.raw_start + end if end < self.length else length
            if start < end:
                seen.append((first, last))
        return CutLine(self.number, length, tuple(seen))


class Source(Protocol):
    """A stream for shaping. Lines end at ``\\n``; a last line without one counts."""

    @property
    def ref(self) -> str:
        """The name of the stream in markers: ``@cmd_a1b2c3`` or ``@cmd_a1b2c3.err``."""

    @property
    def line_count(self) -> int:
        """Number of lines."""

    @property
    def byte_count(self) -> int:
        """Number of bytes."""

    def lines(self, first: int, last: int, limit: int = LINE_LIMIT) -> Iterator[Line]:
        """Yield lines first to last, inclusive, as far as they exist."""

    def blocks(self, first: int = 1) -> Iterator[tuple[int, bytes]]:
        """Yield (number of the first line, bytes) for blocks from a line on; a block ends at a line's end.

        For a line longer than BLOCK_BYTES, a block has this many, and a newline: the line's last BLOCK_END_BYTES, and
        before these its beginning.
        """

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes from an offset on, as far as they exist."""
