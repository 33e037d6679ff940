"""Reads a stream of any size by lines and bytes, in bounded memory, also while it is being written.

It reads with `pread`, never through a map: if another process cut the file short, a map would kill the reader.
"""

import os

from sightline.disk.line_index import ScannedIndex, count_newlines, nth_newline
from sightline.disk.seals import Status, status_of
from sightline.light.typing_names import Iterator, Protocol
from sightline.shape.source import BLOCK_BYTES, BLOCK_END_BYTES, LINE_LIMIT, CutLine, Line, LineSpan

_SMALL_READ_BYTES = 1 << 16
_MANY_LINES = 500  # from this many lines on, large reads pay
_NEAR_LINES = 256  # up to so many lines on from the last one found, counting them costs less than asking the index
_NEAR_READ_BYTES = 1 << 14  # looked through for that


class LineIndex(Protocol):
    """Points of a stream from which its lines are counted: pairs (bytes, newlines), both ascending."""

    def before_newline(self, nth: int) -> tuple[int, int]:
        """Return the last point with fewer than nth newlines."""

    def before_byte(self, offset: int) -> tuple[int, int]:
        """Return the last point below an offset."""

    def close(self) -> None:
        """Close what is open."""


class StreamReader:
    """One stream as it was when it was opened, or last refreshed; it is a `Source` for shaping.

    It must be closed, or used as a context manager.
    """

    def __init__(self, fd: int, ref: str, index: LineIndex | None = None, *, most: int | None = None) -> None:
        """Take over the descriptor and the index.

        Args:
            fd: the stream's file; -1 stands for an empty stream, which has none.
            ref: the name of the stream for markers.
            index: finds its lines.
            most: the size of a complete stream: what a file has beyond that is not read. None if it may grow.
        """
        self._fd = fd
        self._most = most
        self._ref = ref
        self._index: LineIndex = index or ScannedIndex(lambda offset, length: self.read(offset, length))
        self._size, self._status = 0, (0, 0)
        self._counted = (0, 0)
        self._found_last = (0, 0)  # newlines before a line, and where it begins: who reads around lines asks close by
        self.refresh()

    def __enter__(self) -> "StreamReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        self._index.close()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def refresh(self) -> bool:
        """Take in what has been written since, and return whether there was anything."""
        if self._fd < 0:
            return False
        before = self._size
        self._status = status_of(os.fstat(self._fd))
        self._size = self._status[0] if self._most is None else min(self._status[0], self._most)
        return self._size != before

    @property
    def status(self) -> Status:
        """Size and modification time of the file when it was opened, or last refreshed."""
        return self._status

    @property
    def ref(self) -> str:
        """The name of the stream for markers."""
        return self._ref

    @property
    def byte_count(self) -> int:
        """Size in bytes."""
        return self._size

    @property
    def may_wait(self) -> bool:
        """Whether reading may wait for a network: never for a file."""
        return False

    @property
    def newline_count(self) -> int:
        """Number of newlines in the stream."""
        counted, newlines = self._counted
        if counted != self._size:
            start, before = self._index.before_byte(self._size + 1) if self._size else (0, 0)
            if start < counted <= self._size:
                start, before = counted, newlines
            newlines = before + self._newlines_in(start, self._size)
            self._counted = (self._size, newlines)
        return newlines

    def _newlines_in(self, start: int, end: int) -> int:
        return count_newlines(self._fd, start, end)

    @property
    def line_count(self) -> int:
        """Number of lines; a last one without a newline counts."""
        return self.newline_count + (not self.ends_with_newline)

    @property
    def ends_with_newline(self) -> bool:
        """Whether the stream is empty or ends with a newline."""
        return not self._size or self.read(self._size - 1, 1) == b"\n"

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes from an offset on, as far as they exist."""
        length = min(length, self._size - offset)
        if length <= 0:
            return b""
        data = os.pread(self._fd, length, offset)
        if len(data) == length or not data:
            return data
        return data + self.read(offset + len(data), length - len(data))

    def offset_of_line(self, number: int) -> int:
        """Return where a line begins; for a line past the last, the stream's size."""
        wanted = number - 1
        if wanted <= 0:
            return 0
        if (near := self._offset_nearby(wanted)) is not None:
            return near
        start, newlines = self._index.before_newline(wanted)
        left = wanted - newlines
        while data := self.read(start, _SMALL_READ_BYTES):  # empty if a file was cut short from outside
            here = data.count(b"\n")
            if here >= left:
                self._found_last = (wanted, start + nth_newline(data, left) + 1)
                return self._found_last[1]
            left -= here
            start += len(data)
        return self._size

    def _offset_nearby(self, newlines: int) -> int | None:
        """Return the offset after so many newlines if it is a little behind the last one found, else None."""
        known, start = self._found_last
        if newlines == known:
            return start
        if not known < newlines <= known + _NEAR_LINES:
            return None
        at = nth_newline(self.read(start, _NEAR_READ_BYTES), newlines - known)
        return None if at < 0 else start + at + 1

    def line_at(self, offset: int) -> int:
        """Return the number of the line in which a byte stands."""
        offset = min(max(offset, 0), self._size)
        start, newlines = self._index.before_byte(offset)
        return newlines + self._newlines_in(start, offset) + 1 if offset else 1

    def line_span(self, start: int, end: int) -> LineSpan:
        """Return the lines of which the bytes from start to before end, at least one, hold more than the newline."""
        first, last = self.line_at(start), self.line_at(end - 1)
        cuts: list[CutLine] = []
        for number in dict.fromkeys((first, last)):
            begin = self.offset_of_line(number)
            stop = self._end_of_line(number)
            seen = max(start, begin) - begin + 1, min(end, stop) - begin
            if start <= begin and end >= stop:
                continue
            if seen[0] <= seen[1]:
                cuts.append(CutLine(number, stop - begin, (seen,)))
            elif number == first:  # the page begins with the line's newline
                first += 1
        return LineSpan(first, last, tuple(cuts))

    def lines(self, first: int, last: int, limit: int = LINE_LIMIT) -> Iterator[Line]:
        """Yield lines first to last, inclusive, as far as they exist."""
        number, offset = max(first, 1), self.offset_of_line(first)
        size = BLOCK_BYTES if last - first > _MANY_LINES else _SMALL_READ_BYTES
        while number <= last and offset < self._size:
            data = self.read(offset, size)
            end = data.rfind(b"\n")
            if end < 0 and offset + len(data) < self._size:
                line_end = self._end_of_line(number)
                yield self._long_line(number, offset, line_end, limit)
                number, offset = number + 1, line_end + 1
                continue
            whole = data[:end] if end >= 0 else data
            for part in whole.split(b"\n", last - number + 1):
                if number > last:
                    return
                length = len(part)
                yield Line(number, part, length) if length <= limit else _clipped(number, part, limit)
                number += 1
            offset += len(whole) + 1

    def _end_of_line(self, number: int) -> int:
        following = self.offset_of_line(number + 1)
        return following - 1 if following < self._size or self.ends_with_newline else self._size

    def _long_line(self, number: int, start: int, end: int, limit: int) -> Line:
        length = end - start
        if length <= limit:
            return Line(number, self.read(start, length), length)
        half = limit // 2
        return Line(number, self.read(start, half) + self.read(end - half, half), length)

    def blocks(self, first: int = 1) -> Iterator[tuple[int, bytes]]:
        """Yield (number of the first line, bytes) for blocks from a line on; a block ends at the end of a line."""
        number, offset = max(first, 1), self.offset_of_line(first)
        while offset < self._size:
            data = self.read(offset, BLOCK_BYTES)
            end = data.rfind(b"\n")
            if end >= 0:
                data = data[: end + 1]
                yield number, data
                number += data.count(b"\n")
                offset += len(data)
                continue
            stop = self._end_of_line(number)
            if stop - offset > BLOCK_BYTES:
                data = data[:-BLOCK_END_BYTES] + self.read(stop - BLOCK_END_BYTES, BLOCK_END_BYTES)
            yield number, data + b"\n"
            offset = stop + 1
            number += 1


def _clipped(number: int, data: bytes, limit: int) -> Line:
    half = limit // 2
    return Line(number, data[:half] + data[len(data) - half :], len(data))
