"""What the viewer reads: a buffer's lines, both streams in order of arrival, or a result's blocks one after another."""

from collections.abc import Iterator
from typing import Protocol

from sightline.store.disk.streams import StreamReader
from sightline.store.records import Buffer
from sightline.store.shape.source import Line
from sightline.store.store import Store, Target


class Reading(Protocol):
    """An open output."""

    @property
    def line_count(self) -> int:
        """How many lines it has."""

    def lines(self, first: int, last: int, limit: int) -> Iterator[tuple[str, Line]]:
        """(stream, line) for lines first to last, as far as they exist; of each line at most its two ends."""

    def close(self) -> None:
        """Close its files."""


class Blocks:
    """The blocks of a result, one after another."""

    def __init__(self, parts: dict[str, StreamReader]) -> None:
        self._parts = parts

    @property
    def line_count(self) -> int:
        """Lines of all blocks."""
        return sum(part.line_count for part in self._parts.values())

    def lines(self, first: int, last: int, limit: int) -> Iterator[tuple[str, Line]]:
        """Lines first to last, counted through all blocks."""
        before = 0
        for stream, part in self._parts.items():
            count = part.line_count
            start, end = max(first - before, 1), min(last - before, count)
            if start <= end:
                for line in part.lines(start, end, limit):
                    yield stream, line
            before += count

    def close(self) -> None:
        """Close all files."""
        for part in self._parts.values():
            part.close()


def open_reading(store: Store, buffer: Buffer) -> Reading:
    """Open a buffer as it stands now."""
    blocks = [stream for stream in buffer.streams if stream.startswith("part.")]
    if blocks:
        blocks.sort(key=lambda stream: int(stream.removeprefix("part.")))
        return Blocks({stream: store.open_text(Target(buffer, stream)) for stream in blocks})
    return store.open_merged(buffer)
