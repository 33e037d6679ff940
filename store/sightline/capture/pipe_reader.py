"""Moves bytes from pipes to their recorder as they come, without waking up for every line.

All captures use it: for a command's two streams, for standard input, and for the pipe that a hook puts into a shell's
pipeline. It stops when the writers end: as processes that they left may hold a pipe open for ever, it reads on only
until the pipe is quiet for a moment, as after ``> >(tee log)``. It also stops when the reader of its output ends.
"""

import fcntl
import os
import select
import time

from sightline.capture.child import PIPE_BYTES
from sightline.light.typing_names import Callable, Collection, Mapping

READ_BYTES = 1 << 19  # above this, no gain was measured
COALESCE_SECONDS = 0.0005  # small writes build up this long, while they come fast on one stream alone
FAST_SECONDS = 0.005  # reads that are closer together count as fast
QUIET_SECONDS = 0.5  # after so much quiet, nothing more is expected from what a writer left behind
_LINGER_SECONDS = 2.0  # the longest time to read that
LINGER_BYTES = 1 << 24  # the most bytes to read of that
_USUAL_BYTES = 1 << 16  # bytes in a pipe, if the system does not tell
_SMALL_PART = 16  # a read of less than this part of a pipe was not worth its wake-up

Sink = Callable[[str, memoryview], None]
"""Takes (stream, bytes); the bytes are only valid during the call."""


class PipeReader:
    """Reads streams until they or their writers have ended. It closes nothing.

    Attributes:
        at_end: whether all streams were read to their ends.
        writers_ended: whether all known writers have ended.
        reader_left: whether nobody reads any more what is passed on.
    """

    def __init__(
        self, streams: Mapping[int, str], sink: Sink, *, writers: Collection[int] | None = None, pass_to: int = -1
    ) -> None:
        """Prepare to read; nothing is read yet.

        Args:
            streams: descriptors, and names for what is read from them.
            sink: gets what is read.
            writers: descriptors of the writing processes, each readable once its process has ended; None if they are
                not known.
            pass_to: descriptor that gets everything before the sink does; none by default.
        """
        self._sink = sink
        self._open = dict(streams)
        self._writers = set(writers or ())
        self._pass_to = pass_to
        self.at_end = False
        self.writers_ended = writers is not None and not self._writers
        self.reader_left = False
        self._buffer = bytearray(READ_BYTES)
        self._view = memoryview(self._buffer)
        self._small_bytes = {fd: _capacity(fd) // _SMALL_PART for fd in streams}
        self._last_read = dict.fromkeys(streams, 0.0)
        self._poll = select.poll()
        for fd in (*self._open, *self._writers):
            self._poll.register(fd, select.POLLIN)
        if pass_to >= 0:
            self._poll.register(pass_to, 0)  # it reports only that nobody reads any more

    def run(self) -> None:
        """Read until the streams, their writers or the reader have ended, and then what is left in the pipes."""
        while not (self.at_end or self.writers_ended or self.reader_left):
            self.turn()
        self.take_rest()

    def turn(self, wait_ms: float | None = None) -> None:
        """Wait at most this long for bytes or an end, None for any time, and read what has come."""
        pause = False
        for fd, _ in self._poll.poll(wait_ms):
            if fd in self._open:
                pause = self._read(fd) or pause
            elif fd in self._writers:
                self._poll.unregister(fd)
                self._writers.remove(fd)
                self.writers_ended = not self._writers
            elif fd == self._pass_to:
                self.reader_left = True
        if pause and not self.writers_ended:
            time.sleep(COALESCE_SECONDS)

    def take_rest(self) -> None:
        """Read what is in the pipes now, and what processes that the writers left behind write, until they are quiet.

        Time and bytes are limited, because a process that writes without end must not hold us up. `at_end` then tells
        whether nobody can write any more.
        """
        self._take_waiting()
        until, left = time.monotonic() + _LINGER_SECONDS, LINGER_BYTES
        while self.writers_ended and not (self.at_end or self.reader_left) and left > 0:
            wait = min(QUIET_SECONDS, until - time.monotonic())
            if wait <= 0 or not (ready := self._poll.poll(wait * 1000)):
                return
            for fd, _ in ready:
                if fd in self._open:
                    left -= max(self._take(fd), 0)
                elif fd == self._pass_to:
                    self.reader_left = True

    def _take_waiting(self) -> None:
        """Read what is in the pipes now, and no more than a pipe can hold."""
        for fd in list(self._open):
            ready = select.poll()
            ready.register(fd, select.POLLIN)
            left = PIPE_BYTES
            while left > 0 and ready.poll(0) and (got := self._take(fd)) > 0:
                left -= got

    def _read(self, fd: int) -> bool:
        """Read once, and return whether it is worth letting more build up first."""
        got = self._take(fd)
        if got <= 0:
            return False
        now = time.monotonic()
        fast = now - self._last_read[fd] < FAST_SECONDS
        self._last_read[fd] = now
        alone = all(now - last > FAST_SECONDS for other, last in self._last_read.items() if other != fd)
        return fast and alone and got < self._small_bytes[fd]

    def _take(self, fd: int) -> int:
        """Pass to the sink what is there; return the number of bytes, 0 at the end, -1 if there is nothing yet."""
        try:
            got = os.readv(fd, [self._buffer])
        except BlockingIOError:
            return -1
        if got:
            data = self._view[:got]
            if self._pass_to >= 0 and not self.reader_left:
                self.reader_left = not pass_on(self._pass_to, data)
            self._sink(self._open[fd], data)
        else:
            self._poll.unregister(fd)
            del self._open[fd]
            self.at_end = not self._open
        return got


def pass_on(fd: int, data: bytes | memoryview) -> bool:
    """Write all of it, and return whether somebody still reads it."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except OSError:  # the reader has left, or the disk of a file is full
        return False
    return True


def _capacity(fd: int) -> int:
    """Return the bytes that a pipe can hold; 0 for anything else."""
    if not hasattr(fcntl, "F_GETPIPE_SZ"):
        return _USUAL_BYTES
    try:
        return fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ)
    except OSError:
        return 0
