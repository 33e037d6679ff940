"""Lines on their way through: whole where someone must read them, else in pieces as they come."""

import os
import select
from collections.abc import Callable, Iterator

from sightline.store.doors.mcp.wire import LINE_LIMIT_BYTES

_READ_BYTES = 1 << 16  # what a pipe holds; the allocator hands out more at once only from the system
SHORT_BYTES = select.PIPE_BUF
"""A line that a pipe with room takes at once."""

_PIECES_FROM_BYTES = 1 << 16  # a line this long is passed on in pieces where nobody must read it


class PassingLines:
    """Lines of a descriptor, each with its newline, so that what is passed on is what came.

    Args:
        fd: what is read; it stays the caller's to close.
        is_read: whether the line that is coming in must be whole, because someone reads it; asked again as it grows.
        limit: bytes of the longest line that is handed out whole.
    """

    def __init__(self, fd: int, is_read: Callable[[], bool], *, limit: int = LINE_LIMIT_BYTES) -> None:
        self._fd = fd
        self._is_read = is_read
        self._limit = limit
        self._held = bytearray()
        self._is_over = False
        self._more = select.poll()
        self._more.register(fd, select.POLLIN)

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
            data = b"" if self._is_over else os.read(self._fd, _READ_BYTES)
            if not data:
                return self._cut(searched) or None
            if not searched and data.find(b"\n") == len(data) - 1:
                return data  # one line came alone, as most do
            self._held += data

    def begun(self) -> bytes:
        """Take what was read of a line whose end has not come; for one who waits for it no longer."""
        return self._cut(len(self._held))

    def _cut(self, end: int) -> bytes:
        line = bytes(memoryview(self._held)[:end])
        del self._held[:end]
        return line

    def _pieces(self) -> Iterator[bytes]:
        yield self._cut(len(self._held))
        while data := os.read(self._fd, _READ_BYTES):
            end = data.find(b"\n") + 1
            if end:
                self._held += memoryview(data)[end:]
                yield data[:end]
                return
            yield data
