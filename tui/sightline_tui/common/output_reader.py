"""Reads for the viewer the lines of a buffer: both streams in order of arrival, one stream, or the blocks of a result.

A *number* counts the lines of a reading; a *line* counts those of one stream, and an *offset* is a byte of one.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.shape.source import Line
from sightline.store import MergedReader, Reading, StreamReader, Target


class OutputReader(Protocol):
    """An open output."""

    @property
    def line_count(self) -> int:
        """Number of lines."""

    @property
    def streams(self) -> Sequence[str]:
        """The streams in the reading."""

    def lines(self, first: int, last: int, limit: int) -> Iterator[tuple[str, Line]]:
        """Yield (stream, line) for numbers first to last, as far as they exist; of a long line only its two ends."""

    def source(self, stream: str) -> StreamReader:
        """Return one of the streams."""

    def offsets(self, number: int) -> dict[str, int]:
        """Return how many bytes of each stream stand before a number."""

    def number_at(self, stream: str, offset: int) -> int:
        """Return the number for a byte of a stream; for a stream that is not shown, the number of what came next."""

    def times(self, first: int, last: int) -> Iterator[int]:
        """Yield when each line came, in nanoseconds since the capture began; nothing if that is not known."""

    def close(self) -> None:
        """Close its files."""


class ReadingText(Protocol):
    """A reading by lines."""

    @property
    def streams(self) -> Sequence[str]:
        """The streams in the reading."""

    def source(self, stream: str) -> StreamReader:
        """Return one of the streams."""

    def before(self, number: int) -> dict[str, int]:
        """Return how many lines of each stream stand before a number."""

    def number_of(self, stream: str, line: int) -> int:
        """Return the number of a stream's line."""


class _ByLines:
    """Answers questions about bytes for a reading by lines."""

    def offsets(self: ReadingText, number: int) -> dict[str, int]:
        """Return the offset in each stream of its first line that does not stand before a number."""
        return {stream: self.source(stream).offset_of_line(line + 1) for stream, line in self.before(number).items()}

    def number_at(self: ReadingText, stream: str, offset: int) -> int:
        """Return the number of the line in which a byte stands."""
        return self.number_of(stream, self.source(stream).line_at(offset))


class MergedLines(_ByLines):
    """Both streams of a buffer, in order of arrival."""

    streams = ("out", "err")

    def __init__(self, merged: MergedReader) -> None:
        self._merged = merged
        self.source = merged.source
        self.before = merged.before
        self.number_of = merged.number_of
        self.close = merged.close

    @property
    def line_count(self) -> int:
        """Number of lines of both streams."""
        return self._merged.line_count

    def lines(self, first: int, last: int, limit: int) -> Iterator[tuple[str, Line]]:
        """Yield lines of both streams."""
        return self._merged.lines(first, last, limit)

    def times(self, first: int, last: int) -> Iterator[int]:
        """Yield when the lines came."""
        return self._merged.times(first, last)


class StreamLines(_ByLines):
    """One stream of a buffer."""

    def __init__(self, merged: MergedReader, stream: str) -> None:
        self.streams = (stream,)
        self._merged = merged
        self._stream = stream
        self.source = merged.source
        self.close = merged.close

    @property
    def line_count(self) -> int:
        """Number of lines of the stream."""
        return self._merged.source(self._stream).line_count

    def lines(self, first: int, last: int, limit: int) -> Iterator[tuple[str, Line]]:
        """Yield lines of the stream."""
        for line in self._merged.source(self._stream).lines(first, last, limit):
            yield self._stream, line

    def before(self, number: int) -> dict[str, int]:
        """Return the lines before a number, which are all of this stream."""
        return {self._stream: number - 1}

    def number_of(self, stream: str, line: int) -> int:
        """Return the line as its own number; for a line of another stream, the line of this one that came next."""
        if stream == self._stream:
            return line
        return min(self._merged.before(self._merged.number_of(stream, line))[self._stream] + 1, max(self.line_count, 1))

    def times(self, first: int, last: int) -> Iterator[int]:
        """Yield when the lines came."""
        return self._merged.times(first, last, self._stream)


class Blocks(_ByLines):
    """The blocks of a result, one after another."""

    def __init__(self, parts: dict[str, StreamReader]) -> None:
        self._parts = parts
        self.streams = tuple(parts)

    @property
    def line_count(self) -> int:
        """Number of lines of all blocks."""
        return sum(part.line_count for part in self._parts.values())

    def lines(self, first: int, last: int, limit: int) -> Iterator[tuple[str, Line]]:
        """Yield lines first to last, counted through all blocks."""
        standing = 0
        for stream, part in self._parts.items():
            count = part.line_count
            start, end = max(first - standing, 1), min(last - standing, count)
            if start <= end:
                for line in part.lines(start, end, limit):
                    yield stream, line
            standing += count

    def source(self, stream: str) -> StreamReader:
        """Return one block."""
        return self._parts[stream]

    def before(self, number: int) -> dict[str, int]:
        """Return how many lines of each block stand before a number; earlier blocks stand before it whole."""
        standing, left = dict[str, int](), number - 1
        for stream, part in self._parts.items():
            standing[stream] = min(max(left, 0), part.line_count)
            left -= standing[stream]
        return standing

    def number_at(self, stream: str, offset: int) -> int:
        """Return the number of the line in which a byte stands; for a block that is not shown, the first number."""
        return super().number_at(stream, offset) if stream in self._parts else 1

    def number_of(self, stream: str, line: int) -> int:
        """Return the number of a block's line, after all lines of earlier blocks."""
        standing = 0
        for name, part in self._parts.items():
            if name == stream:
                return standing + line
            standing += part.line_count
        return 1

    def times(self, first: int, last: int) -> Iterator[int]:  # noqa: ARG002 (as every reading)
        """Yield nothing, because a result comes all at once."""
        return iter(())

    def close(self) -> None:
        """Close all files."""
        for part in self._parts.values():
            part.close()


def streams_of(buffer: Buffer) -> list[str]:
    """Return the streams of a buffer that can be shown alone, in order; for a running command both, even if empty."""
    blocks = [stream for stream in buffer.streams if stream.startswith("part.")]
    if blocks:
        return sorted(blocks, key=lambda stream: int(stream.removeprefix("part.")))
    return [stream for stream in ("out", "err") if buffer.state == "running" or buffer.stream(stream).bytes]


def open_reader(store: Reading, buffer: Buffer, stream: str = "") -> MergedLines | StreamLines | Blocks:
    """Open a buffer as it is now, or only one of its streams."""
    blocks = [block for block in streams_of(buffer) if block.startswith("part.")]
    if blocks:
        wanted = [stream] if stream else blocks
        return Blocks({block: store.open_text(Target(buffer, block)) for block in wanted})
    merged = store.open_merged(buffer)
    return StreamLines(merged, stream) if stream else MergedLines(merged)


def shown_ref(buffer: Buffer | None, stream: str = "") -> str:
    """Return the ref of all that the viewer shows of a buffer, with the viewer's line numbers; empty for none.

    Args:
        buffer: the buffer.
        stream: the only stream that is shown; empty if all are.
    """
    if buffer is None or buffer.state == "evicted":
        return ""
    if stream:
        return format_ref(buffer.name, stream)
    if buffer.kind == "tool" or not buffer.stream("err").bytes:
        return buffer.ref
    return f"{buffer.ref}.{'all' if buffer.stream('out').bytes else 'err'}"


def refs_of(buffer: Buffer, reading: ReadingText, first: int, last: int) -> str:
    """Return the ref for a range of lines; for a range over several blocks, one ref for each."""
    shown = [stream for stream in reading.streams if reading.source(stream).byte_count]
    if isinstance(reading, MergedLines) and len(shown) > 1:
        return format_ref(buffer.name, "all", first, last)
    start, end = reading.before(first), reading.before(last + 1)
    ranges = ((stream, start[stream] + 1, end[stream]) for stream in reading.streams)
    return " ".join(format_ref(buffer.name, stream, top, bottom) for stream, top, bottom in ranges if top <= bottom)
