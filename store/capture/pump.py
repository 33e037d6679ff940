"""Moving a command's bytes from its pipes into a sink as they come, without a wake-up for every line."""

import os
import select
import time
from collections.abc import Callable

from sightline.store.capture.spawn import Child

READ_BYTES = 1 << 18  # above this no gain was measured
COALESCE_SECONDS = 0.0005  # let small writes build up this long, while they come fast on one stream only
FAST_SECONDS = 0.005  # reads closer together than this are "fast"
_WAKE_MS = 250  # how soon a stop that another thread asked for is noticed

Sink = Callable[[str, memoryview, int], None]
"""Takes (stream, bytes, newlines in them); the bytes are only valid during the call."""


class Pump:
    """Reads a child's streams until it has ended.

    The end of the child is what counts, not the end of its streams: a grandchild may hold them open for ever. What is in the
    pipes when the child ends is still read.
    """

    def __init__(self, child: Child, sink: Sink) -> None:
        self._child = child
        self._sink = sink
        self._buffer = bytearray(READ_BYTES)
        self._view = memoryview(self._buffer)
        self._open = {child.out: "out", child.err: "err"}
        self._poll = select.poll()
        for fd in (*self._open, child.ended):
            self._poll.register(fd, select.POLLIN)
        self._last_read = {child.out: 0.0, child.err: 0.0}

    def run(self, tick: Callable[[], float | None]) -> int:
        """Pump until the child ends; its status, as `os.waitpid` gives it.

        Args:
            tick: called at each turn; gives the seconds until it must be called again, None for whenever.
        """
        ended = False
        while not ended:
            wait = tick()
            ready = self._poll.poll(_WAKE_MS if wait is None else min(_WAKE_MS, max(wait, 0.0) * 1000 + 1))
            pause = False
            for fd, _ in ready:
                if fd == self._child.ended:
                    ended = True
                else:
                    pause = self._read(fd) or pause
            if pause and not ended:
                time.sleep(COALESCE_SECONDS)
        self._drain()
        return self._child.wait()

    def _read(self, fd: int) -> bool:
        """Read once; whether it pays to let more build up first."""
        try:
            got = os.readv(fd, [self._buffer])
        except BlockingIOError:
            return False
        if not got:
            self._poll.unregister(fd)
            os.close(fd)
            del self._open[fd]
            return False
        self._sink(self._open[fd], self._view[:got], self._buffer.count(b"\n", 0, got))
        now = time.monotonic()
        fast = now - self._last_read[fd] < FAST_SECONDS
        self._last_read[fd] = now
        alone = all(now - last > FAST_SECONDS for other, last in self._last_read.items() if other != fd)
        return fast and alone and got < READ_BYTES

    def _drain(self) -> None:
        for fd in list(self._open):
            while fd in self._open:
                before = self._last_read[fd]
                self._read(fd)
                if fd in self._open and self._last_read[fd] == before:
                    os.close(fd)
                    del self._open[fd]

    def close(self) -> None:
        """Close what is still open, after a failure."""
        for fd in list(self._open):
            os.close(fd)
        self._open.clear()
