"""Reads lines from descriptors up to a limit, passes them on as they come, and writes them whole from any thread."""

import fcntl
import os
import select
import sys
import termios
import threading
import time

from sightline.light.typing_names import Callable, Iterator

LINE_LIMIT_BYTES = 64 << 20
"""The longest line that is read as a message."""

_READ_BYTES = 1 << 16  # what a pipe holds; more memory at once comes only from the system
SHORT_BYTES = select.PIPE_BUF
"""The longest line that a pipe with room takes at once."""

_PIECES_FROM_BYTES = 1 << 16  # a longer line is passed on in pieces if nobody must parse it

LEFT_SECONDS = 0.5
"""How long to read on after a server has ended: processes that it left behind may still write."""


class LineTooLong(Exception):
    """A line was longer than the limit and was skipped.

    Attributes:
        size: its length in bytes, without the newline.
    """

    def __init__(self, size: int) -> None:
        super().__init__(f"a line of {size:,} bytes")
        self.size = size


class LineWriter:
    """Writes whole lines to a file descriptor, from any thread.

    Args:
        fd: the descriptor to write to; the caller closes it.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()
        self._is_within_line = False
        self._room = select.poll()
        self._room.register(fd, select.POLLOUT)

    @property
    def is_cut_off(self) -> bool:
        """Whether the other side is closed."""
        room = select.poll()  # a poll of its own, since two threads may not share one
        room.register(self._fd, select.POLLOUT)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in room.poll(0))

    def write_now(self, data: bytes) -> bool:
        """Write bytes with their newlines, at most ``select.PIPE_BUF``; False, and nothing written, if that would wait.

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
        """Write a line and a newline, and a newline before it if the last line was not ended.

        All of it is one piece, since a reader is woken by each.

        Raises:
            BrokenPipeError: the other side has gone.
        """
        with self._lock:
            self._write(b"\n" * self._is_within_line + line + b"\n")

    def write_pieces(self, pieces: Iterator[bytes]) -> None:
        """Write pieces with their newlines, and nothing of another thread between them.

        Only the last line of all may lack its newline.
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
            except BlockingIOError:  # another process that shares it has made it non-blocking
                self._room.poll()


class PassingLines:
    """Lines of a descriptor, each with its newline, so that what is passed on is what came.

    Args:
        fd: what is read; it stays the caller's to close.
        is_read: tells whether the incoming line must come whole, because someone parses it; called again as it grows.
        limit: size in bytes of the longest line that is handed out whole.
        wait: called before each reading, until which it may wait; what it raises passes.
        ended: a descriptor that becomes readable once the writer has ended, even if others keep the pipe open. What
            is there then is read, and what comes within `LEFT_SECONDS` after it; that is the end.
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
        self._owed: int | None = None  # bytes that were there when the writer ended; unknown before
        self._until = 0.0
        self._either = select.poll()
        for one in (fd, ended) if ended is not None else ():
            self._either.register(one, select.POLLIN)

    @property
    def has_held(self) -> bool:
        """Whether something was read and not handed out yet."""
        return bool(self._held)

    @property
    def has_more(self) -> bool:
        """Whether something can be handed out, read already or not."""
        return self.has_held or bool(self._more.poll(0))

    def short(self) -> bytes | None:
        """The one short line that can be read now; None if there is more or less than that, so that `next` is needed.

        To be called only if the descriptor is readable: then it does not wait.

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
        """A line, or its pieces, all of which must be taken before the next call; None at the end.

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
        """The bytes that have come, or come next; empty at the end, and ever after."""
        data = os.read(self._fd, _READ_BYTES) if not self._is_over and self._comes() else b""
        self._is_over = not data
        if self._owed:
            self._owed -= len(data)
        return data

    def _comes(self) -> bool:
        """Whether to read on, since something is there or may come; waits where that is uncertain."""
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
    """Lines of a descriptor without their newlines; lines that are too long are skipped.

    Args:
        fd: what is read; it stays the caller's to close.
        limit: size in bytes of the longest line that is handed out; not much more is held in memory.
        wait: called before each reading, until which it may wait; what it raises passes.
    """

    def __init__(self, fd: int, *, limit: int = LINE_LIMIT_BYTES, wait: Callable[[int], None] | None = None) -> None:
        self._limit = limit
        self._lines = PassingLines(fd, lambda: True, limit=limit, wait=wait)

    def read(self) -> bytes | None:
        """The next line, which ends with a newline or with the input; None at the end.

        Raises:
            LineTooLong: the line was skipped; the next call gives the one after it.
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
