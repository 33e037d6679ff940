"""Finds the lines of text after JSON, such as an exit code that a shell printed, and the stream without them."""

from collections.abc import Iterator

from sightline.shape.source import LINE_LIMIT, Line, Source

MOST_LINES = 5
_READ_BYTES = 4096


def before_trailing(source: Source) -> Source | None:
    """Return a stream without its last few lines, if these stand after one that may end a JSON value; else None."""
    data = source.read(max(0, source.byte_count - _READ_BYTES), _READ_BYTES)
    lines = data.removesuffix(b"\n").split(b"\n")
    for count in range(1, min(MOST_LINES + 1, len(lines))):
        if lines[-count].lstrip().startswith((b"{", b"[")):
            return None  # another value
        if lines[-count - 1].rstrip().endswith((b"}", b"]")):
            trailing = sum(len(line) + 1 for line in lines[-count:]) - (not data.endswith(b"\n"))
            return _Head(source, source.line_count - count, source.byte_count - trailing)
    return None


class _Head:
    """The first lines of a stream."""

    def __init__(self, source: Source, line_count: int, byte_count: int) -> None:
        self._source = source
        self.ref = source.ref
        self.line_count = line_count
        self.byte_count = byte_count

    def lines(self, first: int, last: int, limit: int = LINE_LIMIT) -> Iterator[Line]:
        """Yield lines first to last, inclusive, as far as they exist."""
        return self._source.lines(first, min(last, self.line_count), limit)

    def blocks(self, first: int = 1) -> Iterator[tuple[int, bytes]]:
        """Yield (number of the first line, bytes) for blocks from a line on."""
        for number, block in self._source.blocks(first):
            left = self.line_count - number + 1
            if left <= 0:
                return
            yield number, b"".join(block.splitlines(keepends=True)[:left]) if block.count(b"\n") > left else block

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes from an offset on, as far as they exist."""
        return self._source.read(offset, max(0, min(length, self.byte_count - offset)))
