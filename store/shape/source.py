"""What shaping reads: a stream's lines and bytes by range, wherever they lie."""

from collections.abc import Iterator
from typing import Protocol

from sightline.named_tuple import NamedTuple

LINE_LIMIT = 1 << 16
"""Bytes of one line that are read at most; of a longer one, its two ends."""

BLOCK_BYTES = 1 << 18
"""About how much a block of whole lines holds."""

BLOCK_END_BYTES = 1 << 12
"""Bytes at the end of a line longer than a block that the block holds."""


class CutLine(NamedTuple):
    """A raw line of which only a part stands in a text.

    Attributes:
        line: its number, 1-based.
        length: bytes that it has, its newline left out.
        seen: the bytes of it that stand there, (first, last), 1-based and inclusive, in order; fewer rather than more
            where cleaning leaves open which they are.
    """

    line: int
    length: int
    seen: tuple[tuple[int, int], ...]


class LineSpan(NamedTuple):
    """The lines that some bytes of a stream make up.

    Attributes:
        first: the first line that has any of them, 1-based.
        last: the last, inclusive; below ``first`` where the bytes are newlines of other lines alone.
        cuts: those of the two that have others, too.
    """

    first: int
    last: int
    cuts: tuple[CutLine, ...] = ()


class Line(NamedTuple):
    """One raw line, without its newline.

    Attributes:
        number: 1-based, in the raw stream split at ``\\n``.
        data: the bytes; where the line is longer than the limit it was asked with, the first and the last half of
            that limit.
        length: how long the line really is, in bytes.
        raw_length: the same of the raw line, where a profile's rule has cleaned this one; else -1.
        raw_start: where this one then begins in the raw line; -1 where it does not stand there as it is.
    """

    number: int
    data: bytes
    length: int
    raw_length: int = -1
    raw_start: int = 0

    @property
    def whole(self) -> bool:
        """Whether ``data`` is all of it."""
        return len(self.data) == self.length

    def cut(self, *ranges: tuple[int, int]) -> CutLine:
        """The line with only some of its bytes shown: from each place to before another, counted from 0 in the line."""
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
    """A stream as shaping sees it. Lines end at ``\\n``; a last line without one counts."""

    @property
    def ref(self) -> str:
        """How markers name the stream: ``@cmd_a1b2c3`` or ``@cmd_a1b2c3.err``."""

    @property
    def line_count(self) -> int:
        """How many lines the stream has."""

    @property
    def byte_count(self) -> int:
        """How many bytes the stream has."""

    def lines(self, first: int, last: int, limit: int = LINE_LIMIT) -> Iterator[Line]:
        """Lines first to last, inclusive, as far as they exist."""

    def blocks(self, first: int = 1) -> Iterator[tuple[int, bytes]]:
        """From a line on, (number of the block's first line, its bytes); a block ends at a line's end.

        Of a line longer than BLOCK_BYTES a block holds so many, ended by a newline: its last BLOCK_END_BYTES, and the
        rest from its start.
        """

    def read(self, offset: int, length: int) -> bytes:
        """Bytes from an offset on, as far as they exist."""
