"""Reads both streams of a buffer in order of arrival, line by line.

A line's place is where its newline arrived, so no line is torn; unfinished last lines come at the end.
"""

import os
from collections.abc import Iterator
from itertools import islice

from sightline.base.private_files import open_private, remove_file, write_all
from sightline.disk.line_index import Checkpoint, Checkpoints
from sightline.disk.order import last_arrival, read_arrivals
from sightline.disk.streams import StreamReader
from sightline.light.named_tuple import NamedTuple
from sightline.shape.source import LINE_LIMIT, Line

_WINDOW_BYTES = 1 << 16
_COPY_BYTES = 1 << 20
_NEWLINES = {"out": 2, "err": 4}  # index of the count in a checkpoint


class StreamRun(NamedTuple):
    """Consecutive lines of one stream.

    Attributes:
        number: number of the first one among the lines of both streams, from 1.
        stream: ``out`` or ``err``.
        first: number of the first one in its stream.
        length: number of lines.
        time: when the last of them was complete, in nanoseconds since the capture began; 0 if that is not known.
    """

    number: int
    stream: str
    first: int
    length: int
    time: int = 0


class MergedReader:
    """Reads lines of two streams in order of arrival. It closes the readers that it was given."""

    def __init__(self, ref: str, out: StreamReader, err: StreamReader, checkpoints: Checkpoints, order_fd: int) -> None:
        self.ref = ref
        self._readers = {"out": out, "err": err}
        self._checkpoints = checkpoints
        self._order_fd = order_fd

    def close(self) -> None:
        """Close all files."""
        for reader in self._readers.values():
            reader.close()
        self._checkpoints.close()
        if self._order_fd >= 0:
            os.close(self._order_fd)
            self._order_fd = -1

    def refresh(self) -> bool:
        """Take in what has been written since, and return whether there was anything."""
        grown = [reader.refresh() for reader in self._readers.values()]  # refreshes both, whatever the first returns
        return any(grown)

    def source(self, stream: str) -> StreamReader:
        """Return one of the two, ``out`` or ``err``."""
        return self._readers[stream]

    @property
    def single(self) -> str:
        """The only stream that has bytes; empty if both have."""
        out, err = self._readers.values()
        return "" if out.byte_count and err.byte_count else ("err" if err.byte_count else "out")

    @property
    def byte_count(self) -> int:
        """Number of bytes of both streams."""
        return sum(reader.byte_count for reader in self._readers.values())

    @property
    def line_count(self) -> int:
        """Number of lines of both streams."""
        return sum(reader.line_count for reader in self._readers.values())

    def lines(self, first: int, last: int, limit: int = LINE_LIMIT) -> Iterator[tuple[str, Line]]:
        """Yield (stream, line) for lines first to last of both, inclusive; each line keeps its number in its stream."""
        following: dict[str, Iterator[Line]] = {}
        for run in self.runs(first, last):
            if run.stream not in following:  # runs of one stream follow each other, so it is read straight on
                end = run.first + last - first
                following[run.stream] = self._readers[run.stream].lines(run.first, end, limit)
            for line in islice(following[run.stream], run.length):
                yield run.stream, line

    def runs(self, first: int, last: int) -> Iterator[StreamRun]:
        """Yield which lines of which stream are lines first to last of both."""
        if self.single:
            count = min(last, self._readers[self.single].line_count) - first + 1
            if count > 0:
                yield StreamRun(first, self.single, first, count)
            return
        for run in joined(self._runs_from(self._checkpoints.last_before(_newlines, first))):
            skip = max(first - run.number, 0)
            count = min(run.length - skip, last - run.number - skip + 1)
            if count > 0:
                yield StreamRun(run.number + skip, run.stream, run.first + skip, count)
            if run.number + run.length > last:
                return

    def before(self, number: int) -> dict[str, int]:
        """Return how many lines of each stream stand before a line of both."""
        if self.single:
            return {stream: number - 1 if stream == self.single else 0 for stream in self._readers}
        start = self._checkpoints.last_before(_newlines, number)
        standing = {"out": start.out_newlines, "err": start.err_newlines}
        for run in self._runs_from(start):
            if run.number >= number:
                break
            standing[run.stream] += min(run.length, number - run.number)
        return standing

    def number_of(self, stream: str, line: int) -> int:
        """Return the number among both streams' lines of one stream's line; for a line past the end, of its last."""
        if self.single:
            return min(line, self.line_count)
        at = _NEWLINES[stream]
        for run in self._runs_from(self._checkpoints.last_before(lambda point: point[at], line)):
            if run.stream == stream and run.first + run.length > line:
                return run.number + max(line - run.first, 0)
        return self.line_count

    def times(self, first: int, last: int, stream: str = "") -> Iterator[int]:
        """Yield when lines first to last were complete, in nanoseconds since the capture began, as far as recorded.

        Args:
            first: first line, counted through both streams, or in one that is given.
            last: last line, inclusive.
            stream: ``out`` or ``err``; both by default.

        Returns:
            A time for each line that exists; nothing if no times were recorded.
        """
        if self._order_fd < 0:
            return
        at = _NEWLINES.get(stream)
        start = self._checkpoints.last_before(_newlines if at is None else lambda point: point[at], first)
        for run in self._runs_from(start):
            if stream and run.stream != stream:
                continue
            number = run.first if stream else run.number
            for _ in range(max(number, first), min(number + run.length - 1, last) + 1):
                yield run.time
            if number + run.length > last:
                return

    def copy_to(self, path: str) -> None:
        """Write all lines of both to a file, atomically; a line without a newline gets one if another follows."""
        temporary = f"{path}.{os.getpid():x}.{os.urandom(3).hex()}.tmp"
        fd = open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            for piece in self._pieces():
                write_all(fd, piece)
            os.replace(temporary, path)
        except BaseException:
            remove_file(temporary)
            raise
        finally:
            os.close(fd)

    def _pieces(self) -> Iterator[bytes]:
        """Yield all lines as they stand in a file, in pieces of bounded size."""
        held: list[bytes] = []
        size = 0
        unended = False
        open_ends = {
            stream: reader.line_count for stream, reader in self._readers.items() if not reader.ends_with_newline
        }
        for stream, line in self.lines(1, self.line_count, _COPY_BYTES):
            if unended:
                held.append(b"\n")
            unended = line.number == open_ends.get(stream)
            if line.whole:
                held.append(line.data if unended else line.data + b"\n")
                size += line.length + 1
            else:
                yield b"".join(held)
                held, size = [], 0
                yield from self._long_line(self._readers[stream], line, b"" if unended else b"\n")
            if size >= _COPY_BYTES:
                yield b"".join(held)
                held, size = [], 0
        yield b"".join(held)

    def _long_line(self, reader: StreamReader, line: Line, ending: bytes) -> Iterator[bytes]:
        start = reader.offset_of_line(line.number)
        for offset in range(start, start + line.length, _COPY_BYTES):
            yield reader.read(offset, min(_COPY_BYTES, start + line.length - offset))
        yield ending

    def _runs_from(self, start: Checkpoint) -> Iterator[StreamRun]:
        number = start.out_newlines + start.err_newlines + 1
        windows = {
            "out": _Window(self._readers["out"], start.out_bytes),
            "err": _Window(self._readers["err"], start.err_bytes),
        }
        following = {"out": start.out_newlines + 1, "err": start.err_newlines + 1}
        latest = last_arrival(self._order_fd)
        for arrival in read_arrivals(self._order_fd, start.records) if self._order_fd >= 0 else ():
            latest, stream = arrival, arrival.stream
            newlines = windows[stream].count(arrival.length)
            if newlines:
                yield StreamRun(number, stream, following[stream], newlines, arrival.time)
                number += newlines
                following[stream] += newlines
        for stream in ("err", "out") if latest.stream == "out" else ("out", "err"):
            rest = self._readers[stream].line_count - following[stream] + 1
            if rest > 0:
                yield StreamRun(number, stream, following[stream], rest, latest.time)
                number += rest


def _newlines(point: Checkpoint) -> int:
    return point.out_newlines + point.err_newlines


class _Window:
    """Counts newlines of a stream forwards, in pieces of any length, and reads larger ones."""

    def __init__(self, reader: StreamReader, offset: int) -> None:
        self._reader = reader
        self._offset = offset
        self._data = b""
        self._at = 0

    def count(self, length: int) -> int:
        newlines = 0
        while length > 0:
            if self._at == len(self._data):
                self._data = self._reader.read(self._offset, _WINDOW_BYTES)
                self._offset += len(self._data)
                self._at = 0
                if not self._data:
                    break
            take = min(length, len(self._data) - self._at)
            newlines += self._data.count(b"\n", self._at, self._at + take)
            self._at += take
            length -= take
        return newlines


def joined(runs: Iterator[StreamRun]) -> Iterator[StreamRun]:
    """Join neighbouring runs of one stream."""
    held: StreamRun | None = None
    for run in runs:
        if held and held.stream == run.stream:
            held = held._replace(length=held.length + run.length, time=run.time)
            continue
        if held:
            yield held
        held = run
    if held:
        yield held
