"""Lines of descriptors: read within a bound, passed on as they come, and written whole from any thread."""

import fcntl
import os
import select
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator

LINE_LIMIT_BYTES = 64 << 20
"""The longest line that is read as a message."""

_READ_BYTES = 1 << 16  # what a pipe holds; the allocator hands out more at once only from the system
SHORT_BYTES = select.PIPE_BUF
"""A line that a pipe with room takes at once."""

_PIECES_FROM_BYTES = 1 << 16  # a line this long is passed on in pieces where nobody must read it

LEFT_SECONDS = 0.5
"""For how long to read on behind what a server has left: for what processes add that it has left, too."""


class LineTooLong(Exception):
    """A line was longer than the limit, and has been skipped.

    Attributes:
        size: its length in bytes, without the newline.
    """

    def __init__(self, size: int) -> None:
        super().__init__(f"a line of {size:,} bytes")
        self.size = size


class LineWriter:
    """Writes whole lines to a file descriptor, from any thread.

    Args:
        fd: what is written to; it stays the caller's to close.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()
        self._is_within_line = False
        self._room = select.poll()
        self._room.register(fd, select.POLLOUT)

    @property
    def is_cut_off(self) -> bool:
        """Whether nobody reads the other side any more."""
        room = select.poll()  # of its own: two threads may not ask the same one
        room.register(self._fd, select.POLLOUT)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in room.poll(0))

    def write_now(self, data: bytes) -> bool:
        """Write what already has its newlines, up to ``select.PIPE_BUF`` bytes; False where that had to wait.

        Raises:
            BrokenPipeError: the other side has gone.
        """
        if len(data) > select.PIPE_BUF or not self._lock.acquire(blocking=False):
            return False
        try:
            if not self._room.poll(0):
                return False
            self._write(data)
            return True
        finally:
            self._lock.release()

    def write(self, line: bytes) -> None:
        """Write a line; the newline is added, and one before it where the line there was never ended.

        Raises:
            BrokenPipeError: the other side has gone.
        """
        with self._lock:
            if self._is_within_line:
                self._write(b"\n")
            self._write(line)
            self._write(b"\n")

    def write_pieces(self, pieces: Iterator[bytes]) -> None:
        """Write what already has its newlines, with nothing of another thread between its pieces.

        The last words of all may have none.
        """
        with self._lock:
            for piece in pieces:
                self._write(piece)

    def _write(self, data: bytes) -> None:
        if data:
            self._is_within_line = not data.endswith(b"\n")
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._fd, view) :]
            except BlockingIOError:  # who shares it has made it so
                self._room.poll()


class PassingLines:
    """Lines of a descriptor, each with its newline, so that what is passed on is what came.

    Args:
        fd: what is read; it stays the caller's to close.
        is_read: whether the line that is coming in must be whole, because someone reads it; asked again as it grows.
        limit: bytes of the longest line that is handed out whole.
        wait: called before each reading, until which it may wait; what it raises passes.
        ended: a descriptor that becomes readable once who writes has ended, though others may still hold theirs. What
            is there then is read, what comes within `LEFT_SECONDS` after that, too, and that is the end.
    """

    def __init__(
        self,
        fd: int,
        is_read: Callable[[], bool],
        *,
        limit: int = LINE_LIMIT_BYTES,
        wait: Callable[[int], None] | None = None,
        ended: int | None = None,
    ) -> None:
        self._fd = fd
        self._is_read = is_read
        self._limit = limit
        self._wait = wait
        self._held = bytearray()
        self._is_over = False
        self._more = select.poll()
        self._more.register(fd, select.POLLIN)
        self._ended = ended
        self._owed: int | None = None  # bytes of what was there when it ended; unknown before
        self._until = 0.0
        self._either = select.poll()
        for one in (fd, ended) if ended is not None else ():
            self._either.register(one, select.POLLIN)

    @property
    def has_held(self) -> bool:
        """Whether something has been read that was not handed out."""
        return bool(self._held)

    @property
    def has_more(self) -> bool:
        """Whether something is there, read or not, that was not handed out."""
        return self.has_held or bool(self._more.poll(0))

    def short(self) -> bytes | None:
        """The line that can be read now, where it is one short line and there is nothing else; None to ask `next`.

        To be asked only where the descriptor is readable: it does not wait then.

        Raises:
            OSError: the descriptor cannot be read.
        """
        if not self._held:
            data = os.read(self._fd, _READ_BYTES)
            if 0 < len(data) <= SHORT_BYTES and data.find(b"\n") == len(data) - 1:
                return data
            self._is_over = not data
            self._held += data
        return None

    def next(self) -> bytes | Iterator[bytes] | None:
        """A line; the pieces of one, all of which must be taken before the next is asked for; None at the end.

        Raises:
            OSError: the descriptor cannot be read.
        """
        searched = 0
        while True:
            at = self._held.find(b"\n", searched)
            if at >= 0:
                return self._cut(at + 1)
            searched = len(self._held)
            if searched >= self._limit or (searched >= _PIECES_FROM_BYTES and not self._is_read()):
                return self._pieces()
            data = self._read()
            if not data:
                return self._cut(searched) or None
            if not searched and data.find(b"\n") == len(data) - 1:
                return data  # one line came alone, as most do
            self._held += data

    def _read(self) -> bytes:
        """What has come, or comes next; empty at the end, and ever after."""
        data = os.read(self._fd, _READ_BYTES) if not self._is_over and self._comes() else b""
        self._is_over = not data
        if self._owed:
            self._owed -= len(data)
        return data

    def _comes(self) -> bool:
        """Whether there is something to read, or will be; waits for it where it may come to nothing."""
        if self._wait:
            self._wait(self._fd)
        if self._ended is None:
            return True
        ready = dict(self._either.poll())
        if self._ended not in ready:
            return True
        now = time.monotonic()
        if self._owed is None:
            self._owed, self._until = _bytes_in(self._fd), now + LEFT_SECONDS
        if self._owed > 0 and self._fd in ready:
            self._until = now + LEFT_SECONDS
            return True
        return now < self._until and bool(self._more.poll((self._until - now) * 1000))

    def _cut(self, end: int) -> bytes:
        line = bytes(memoryview(self._held)[:end])
        del self._held[:end]
        return line

    def _pieces(self) -> Iterator[bytes]:
        yield self._cut(len(self._held))
        while data := self._read():
            end = data.find(b"\n") + 1
            if end:
                self._held += memoryview(data)[end:]
                yield data[:end]
                return
            yield data


class LineReader:
    """Lines of a descriptor without their newlines, those that are too long skipped.

    Args:
        fd: what is read; it stays the caller's to close.
        limit: bytes of the longest line that is handed out; not much more is held in memory.
        wait: called before each reading, until which it may wait; what it raises passes.
    """

    def __init__(self, fd: int, *, limit: int = LINE_LIMIT_BYTES, wait: Callable[[int], None] | None = None) -> None:
        self._limit = limit
        self._lines = PassingLines(fd, lambda: True, limit=limit, wait=wait)

    def read(self) -> bytes | None:
        """The next line, be it ended by a newline or by the end of input; None when there is no more.

        Raises:
            LineTooLong: it has been skipped; the next call gives the one after it.
            OSError: the descriptor cannot be read.
        """
        line = self._lines.next()
        if line is None:
            return None
        kept, size, last = b"", 0, b""
        for piece in (line,) if isinstance(line, bytes) else line:
            kept = kept + piece if size <= self._limit else b""
            size, last = size + len(piece), piece
        size -= last.endswith(b"\n")
        if size > self._limit:
            raise LineTooLong(size)
        return kept[:size]


def _bytes_in(pipe: int) -> int:
    """How many bytes can be read of a pipe at once."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)
