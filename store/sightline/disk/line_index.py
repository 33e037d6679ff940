"""The sparse line index: finds a line's offset by its number in a file of any size, without reading the file.

A *checkpoint* is written about every CHECKPOINT_BYTES of capture. It holds, for both streams at once, the bytes and
newlines so far, and the number of their order records. So any line of either stream, or of both in order of arrival,
lies between two neighbouring checkpoints, which are found by bisection on a column that only grows.
"""

import errno
import os
import struct
from bisect import bisect_left

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Callable

CHECKPOINT_BYTES = 1 << 16  # 1 GB gives 16,000 checkpoints (640 KB), and any line is one small read away
_CHECKPOINT = struct.Struct("<5Q")
_COUNT_BYTES = 1 << 16
_SAMPLE_BYTES = 512
_LONG_LINE_BYTES = 32


class Checkpoint(NamedTuple):
    """The state of a capture at some moment.

    Attributes:
        records: number of order records written.
        out_bytes: bytes of the out stream, out_newlines their newlines; err_bytes and err_newlines are for err.
    """

    records: int
    out_bytes: int
    out_newlines: int
    err_bytes: int
    err_newlines: int


START = Checkpoint(0, 0, 0, 0, 0)


def pack_checkpoint(point: Checkpoint) -> bytes:
    """Encode a checkpoint as a record of fixed size."""
    return _CHECKPOINT.pack(*point)


class Checkpoints:
    """The checkpoints of a buffer, read from its ``lines`` file as they are needed."""

    def __init__(self, fd: int) -> None:
        """Take over the descriptor; -1 stands for a buffer without the file."""
        self._fd = fd

    def __len__(self) -> int:
        """Number of checkpoints now, with the start."""
        return 1 + (os.fstat(self._fd).st_size // _CHECKPOINT.size if self._fd >= 0 else 0)

    def __getitem__(self, at: int) -> Checkpoint:
        """Return a checkpoint; 0 is the start of the capture."""
        if at == 0:
            return START
        data = os.pread(self._fd, _CHECKPOINT.size, (at - 1) * _CHECKPOINT.size)
        if len(data) < _CHECKPOINT.size:
            raise IndexError(at)
        return Checkpoint(*_CHECKPOINT.unpack(data))

    def last_before(self, key: Callable[[Checkpoint], int], value: int) -> Checkpoint:
        """Return the last checkpoint whose key is below a value; the start if there is none."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if key(self[middle]) < value:
                low = middle + 1
            else:
                high = middle
        return self[max(low - 1, 0)]

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def scan_checkpoints(read: Callable[[int, int], bytes]) -> list[tuple[int, int]]:
    """Return (bytes, newlines) about every CHECKPOINT_BYTES of a stream that has no index.

    Args:
        read: takes an offset and a length, and returns the stream's bytes there.
    """
    points = [(0, 0)]
    offset = newlines = 0
    while data := read(offset, CHECKPOINT_BYTES):
        offset += len(data)
        newlines += data.count(b"\n")
        points.append((offset, newlines))
    return points


def newlines_in(block: bytes | memoryview) -> int:
    """Return the number of newlines in a block.

    On long lines, a copy without newlines hops from one to the next by memchr and takes 0.13 s a GB, while
    `bytes.count` looks at each byte and takes 0.31 s. The copies are small, because the allocator returns large ones
    to the system each time, and getting them again costs more than counting.
    """
    if len(block) <= _COUNT_BYTES:
        return _newlines_in(bytes(block))
    view = memoryview(block)
    return sum(_newlines_in(bytes(view[start : start + _COUNT_BYTES])) for start in range(0, len(view), _COUNT_BYTES))


def _newlines_in(data: bytes) -> int:
    if data.count(b"\n", 0, _SAMPLE_BYTES) * _LONG_LINE_BYTES > min(len(data), _SAMPLE_BYTES):
        return data.count(b"\n")
    return len(data) - len(data.replace(b"\n", b""))


def count_newlines(fd: int, start: int, end: int) -> int:
    """Return the number of newlines in a file's bytes from start to end."""
    newlines = 0
    while start < end and (data := os.pread(fd, min(_COUNT_BYTES, end - start), start)):
        newlines += _newlines_in(data)
        start += len(data)
    return newlines


def nth_newline(data: bytes, nth: int) -> int:
    """Return the index of the nth newline, from 1; -1 if there are fewer.

    It halves the block by counting before it steps, because stepping alone takes 20 ms in a block of empty lines.
    """
    low, high = 0, len(data)
    while high - low > 512:
        middle = (low + high) // 2
        here = data.count(b"\n", low, middle)
        if here >= nth:
            high = middle
        else:
            nth -= here
            low = middle
    position = low - 1
    for _ in range(nth):
        position = data.find(b"\n", position + 1, high)
        if position < 0:
            return -1
    return position


class StreamIndex:
    """One stream's column of the checkpoints: pairs (bytes, newlines), both ascending."""

    def __init__(self, checkpoints: Checkpoints, stream: str) -> None:
        self._checkpoints = checkpoints
        self._bytes, self._newlines = (3, 4) if stream == "err" else (1, 2)

    def before_newline(self, nth: int) -> tuple[int, int]:
        """Return the last point with fewer than nth newlines."""
        return self._pair(self._checkpoints.last_before(lambda point: point[self._newlines], nth))

    def before_byte(self, offset: int) -> tuple[int, int]:
        """Return the last point below an offset."""
        return self._pair(self._checkpoints.last_before(lambda point: point[self._bytes], offset))

    def close(self) -> None:
        """Close the checkpoints' file."""
        self._checkpoints.close()

    def _pair(self, point: Checkpoint) -> tuple[int, int]:
        return point[self._bytes], point[self._newlines]


def _closed(_offset: int, _length: int) -> bytes:
    raise OSError(errno.EBADF, "the stream is closed")  # as the descriptor would say


class ScannedIndex:
    """A line index for a stream without one on disk, made by a scan at its first use (0.4 s a GB)."""

    def __init__(self, read: Callable[[int, int], bytes]) -> None:
        self._read = read
        self._points: list[tuple[int, int]] = []

    def before_newline(self, nth: int) -> tuple[int, int]:
        """Return the last point with fewer than nth newlines."""
        return self._before(lambda point: point[1], nth)

    def before_byte(self, offset: int) -> tuple[int, int]:
        """Return the last point below an offset."""
        return self._before(lambda point: point[0], offset)

    def close(self) -> None:
        """Forget the reader, which holds this index: neither then has to wait for the garbage collector."""
        self._read = _closed

    def _before(self, key: Callable[[tuple[int, int]], int], value: int) -> tuple[int, int]:
        if not self._points:
            self._points = scan_checkpoints(self._read)
        return self._points[max(bisect_left(self._points, value, key=key) - 1, 0)]
