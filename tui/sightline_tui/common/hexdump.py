"""Shows binary output as rows of bytes: offset, hexadecimal digits, and characters."""

from collections.abc import Iterator

from rich.segment import Segment
from textual.strip import Strip

from sightline.base.records import Buffer
from sightline.shape.source import Line
from sightline.store import Reading, StreamReader, Target
from sightline_tui.common.line_painter import Paint
from sightline_tui.common.output_reader import OutputReader, streams_of

ROW_BYTES = 16
_LOOKED_AT = 8_000  # bytes at a stream's start; a NUL among them means that it is not text, as for git
_SHOWN = bytes(code if 0x20 <= code < 0x7F else 0x2E for code in range(256))


class Dump:
    """The bytes of streams, one stream after another, in rows."""

    def __init__(self, parts: dict[str, StreamReader]) -> None:
        self._parts = parts
        self.streams = tuple(parts)

    @property
    def line_count(self) -> int:
        """Number of rows of all streams."""
        return sum(map(_rows, self._parts.values()))

    def lines(self, first: int, last: int, limit: int) -> Iterator[tuple[str, Line]]:  # noqa: ARG002 (as every reading)
        """Yield rows first to last, each with its number in its stream."""
        standing = 0
        for stream, part in self._parts.items():
            count = _rows(part)
            start, end = max(first - standing, 1), min(last - standing, count)
            if start <= end:
                data = part.read((start - 1) * ROW_BYTES, (end - start + 1) * ROW_BYTES)
                for row in range(start, end + 1):
                    at = (row - start) * ROW_BYTES
                    yield stream, Line(row, data[at : at + ROW_BYTES], len(data[at : at + ROW_BYTES]))
            standing += count

    def source(self, stream: str) -> StreamReader:
        """Return one stream."""
        return self._parts[stream]

    def offsets(self, number: int) -> dict[str, int]:
        """Return how many bytes of each stream stand before a row."""
        found, left = dict[str, int](), number - 1
        for stream, part in self._parts.items():
            found[stream] = min(max(left, 0) * ROW_BYTES, part.byte_count)
            left -= _rows(part)
        return found

    def number_at(self, stream: str, offset: int) -> int:
        """Return the row in which a byte stands."""
        standing = 0
        for name, part in self._parts.items():
            if name == stream:
                return standing + min(offset // ROW_BYTES + 1, max(_rows(part), 1))
            standing += _rows(part)
        return 1

    def times(self, first: int, last: int) -> Iterator[int]:  # noqa: ARG002
        """Yield nothing, because the bytes of a row need not have come together."""
        return iter(())

    def close(self) -> None:
        """Close all files."""
        for part in self._parts.values():
            part.close()


def _rows(part: StreamReader) -> int:
    return -(-part.byte_count // ROW_BYTES)


def open_dump(store: Reading, buffer: Buffer, stream: str = "") -> Dump:
    """Open the raw bytes of a buffer's streams, or of one of them."""
    return Dump({name: store.open(Target(buffer, name)) for name in ([stream] if stream else streams_of(buffer))})


def is_binary(reading: OutputReader) -> bool:
    """Return whether the shown streams are binary."""
    return any(b"\0" in reading.source(stream).read(0, _LOOKED_AT) for stream in reading.streams)


def offset_text(line: int) -> str:
    """Write the offset at which a row begins."""
    return f"{(line - 1) * ROW_BYTES:08x}"


def draw_row(line: Line, paint: Paint) -> Strip:
    """Draw a row of bytes."""
    halves = [line.data[at : at + ROW_BYTES // 2].hex(" ") for at in (0, ROW_BYTES // 2)]
    shown = line.data.translate(_SHOWN).decode("ascii")
    dim = paint.base + paint.parts["dim"]
    return Strip(
        [
            Segment(f"{halves[0]:<23}  {halves[1]:<23} ", paint.base),
            Segment("│", dim),
            Segment(shown, paint.base + paint.syntax("text")),
            Segment("│", dim),
        ]
    )
