"""A stream in memory, for outputs that could not be stored, and for tests."""

from collections.abc import Iterator
from io import BytesIO
from itertools import accumulate

from sightline.shape.source import BLOCK_BYTES, BLOCK_END_BYTES, LINE_LIMIT, Line


class BytesSource:
    """A ``Source`` over bytes.

    Attributes:
        ref: name of the stream in markers; empty if no ref leads to it.
    """

    def __init__(self, data: bytes, ref: str = "") -> None:
        self.ref = ref
        self._data = data
        self._starts = list(accumulate(map(len, BytesIO(data)), initial=0))
        self._starts.pop()  # the end of the last line

    @property
    def line_count(self) -> int:
        """Number of lines."""
        return len(self._starts)

    @property
    def byte_count(self) -> int:
        """Number of bytes."""
        return len(self._data)

    def lines(self, first: int, last: int, limit: int = LINE_LIMIT) -> Iterator[Line]:
        """Yield lines first to last, inclusive, as far as they exist."""
        for number in range(max(1, first), min(last, self.line_count) + 1):
            start, end = self._span(number)
            if end - start <= limit:
                yield Line(number, self._data[start:end], end - start)
            else:
                half = limit // 2
                yield Line(number, self._data[start : start + half] + self._data[end - half : end], end - start)

    def blocks(self, first: int = 1) -> Iterator[tuple[int, bytes]]:
        """Yield (number of the first line, bytes) for blocks from a line on."""
        if first > self.line_count:
            return
        number, start = max(1, first), self._starts[max(1, first) - 1]
        while start < len(self._data):
            end = start + BLOCK_BYTES
            if end < len(self._data):
                end = self._data.rfind(b"\n", start, end) + 1
            if end > start:
                block = self._data[start:end]
                yield number, block
                number += block.count(b"\n")
                start += len(block)
            else:
                _, stop = self._span(number)
                head = self._data[start : start + BLOCK_BYTES - BLOCK_END_BYTES]
                yield number, head + self._data[stop - BLOCK_END_BYTES : stop] + b"\n"
                number += 1
                start = self._starts[number - 1] if number <= self.line_count else len(self._data)

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes from an offset on, as far as they exist."""
        return self._data[offset : offset + length]

    def _span(self, number: int) -> tuple[int, int]:
        """Return the offsets of a line's first byte and of its end, without the newline."""
        start = self._starts[number - 1]
        if number < self.line_count:
            return start, self._starts[number] - 1
        return start, len(self._data) - self._data.endswith(b"\n")
