"""Moving a command's bytes from its pipes into a sink as they come, without a wake-up for every line."""

import os
import select
import time
from collections.abc import Callable

from sightline.capture.spawn import PIPE_BYTES, Child
from sightline.disk.lines import newlines_in

READ_BYTES = 1 << 19  # above this no gain was measured
COALESCE_SECONDS = 0.0005  # let small writes build up this long, while they come fast on one stream only
LARGE_READ_BYTES = 1 << 16  # a read of this size was worth its wake-up
FAST_SECONDS = 0.005  # reads closer together than this are "fast"
_WAKE_MS = 250  # how soon a stop that another thread asked for is noticed

Sink = Callable[[str, memoryview, int], None]
"""Takes (stream, bytes, newlines in them); the bytes are only valid during the call."""


class Pump:
    """Reads a child's streams until it has ended.

    The end of the child is what counts, not the end of its streams: a grandchild may hold them open for ever. What is
    in the pipes when the child ends is still read.

    Attributes:
        ended: whether the child has ended and been waited for.
    """

    def __init__(self, child: Child, sink: Sink) -> None:
        self._child = child
        self._sink = sink
        self.ended = False
        self._buffer = bytearray(READ_BYTES)
        self._view = memoryview(self._buffer)
        self._open = {child.out: "out", child.err: "err"}
        self._poll = select.poll()
        for fd in (*self._open, child.ended):
            self._poll.register(fd, select.POLLIN)
        self._last_read = {child.out: 0.0, child.err: 0.0}

    def run(self, tick: Callable[[], float | None]) -> int:
        """Pump until the child ends; its status, as `os.waitpid` gives it. The streams stay open until `finish`.

        Args:
            tick: called at each turn; gives the seconds until it must be called again, None for whenever.
        """
        while True:
            wait = tick()
            if self.turn(_WAKE_MS if wait is None else min(_WAKE_MS, max(wait, 0.0) * 1000 + 1)):
                self._poll.unregister(self._child.ended)
                self.ended = True
                return self._child.wait()

    def turn(self, wait_ms: float) -> bool:
        """Read what has come, waiting for it at most this long; whether the child has ended."""
        ended = pause = False
        for fd, _ in self._poll.poll(wait_ms):
            if fd == self._child.ended:
                ended = True
            else:
                pause = self._read(fd) or pause
        if pause and not ended:
            time.sleep(COALESCE_SECONDS)
        return ended

    def finish(self) -> None:
        """Read what was in the pipes when the child ended, and close them.

        No more than a pipe can hold: a grandchild that writes without end must not hold up ours.
        """
        for fd in list(self._open):
            left = PIPE_BYTES
            while left > 0 and (got := self._take(fd)) > 0:
                left -= got
        self.close()

    def _read(self, fd: int) -> bool:
        """Read once; whether it pays to let more build up first."""
        got = self._take(fd)
        if got <= 0:
            return False
        now = time.monotonic()
        fast = now - self._last_read[fd] < FAST_SECONDS
        self._last_read[fd] = now
        alone = all(now - last > FAST_SECONDS for other, last in self._last_read.items() if other != fd)
        return fast and alone and got < LARGE_READ_BYTES

    def _take(self, fd: int) -> int:
        """Give the sink what is there; how many bytes, 0 at the stream's end and -1 where nothing is there yet."""
        try:
            got = os.readv(fd, [self._buffer])
        except BlockingIOError:
            return -1
        if got:
            self._sink(self._open[fd], self._view[:got], newlines_in(self._view[:got]))
        else:
            self._poll.unregister(fd)
            os.close(fd)
            del self._open[fd]
        return got

    def close(self) -> None:
        """Close what is still open."""
        for fd in list(self._open):
            self._poll.unregister(fd)
            os.close(fd)
        self._open.clear()
