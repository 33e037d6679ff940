"""What shaping reads: a stream's lines and bytes by range, wherever they lie."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

LINE_LIMIT = 1 << 16
"""Bytes of one line that are read at most; of a longer one, its two ends."""

BLOCK_BYTES = 1 << 18
"""About how much a block of whole lines holds."""


class Line(NamedTuple):
    """One raw line, without its newline.

    Attributes:
        number: 1-based, in the raw stream split at ``\\n``.
        data: the bytes; where the line is longer than the limit it was asked with, the first and the last half of
            that limit.
        length: how long the line really is, in bytes.
    """

    number: int
    data: bytes
    length: int

    @property
    def whole(self) -> bool:
        """Whether ``data`` is all of it."""
        return len(self.data) == self.length


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

        Of a line longer than BLOCK_BYTES a block holds the first BLOCK_BYTES only, ended by a newline.
        """

    def read(self, offset: int, length: int) -> bytes:
        """Bytes from an offset on, as far as they exist."""
