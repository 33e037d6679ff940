"""Reads lines that may be slow to come, as those of other hosts, outside the UI's thread: the last wanted first."""

import threading
import time
from collections.abc import Callable

from textual.widget import Widget

from sightline_tui.common.output_reader import OutputReader
from sightline_tui.common.store_read import StoreRead
from sightline_tui.viewer.line_strips import Chunk, LineStrips

WAIT_SECONDS = 0.3
"""A wait that is shorter is not told of."""

REST_SECONDS = 5.0
"""After a failure, this passes before another try."""

_MOST_WANTED = 4  # chunks; what was wanted before that has left the screen

_Read = tuple[LineStrips, int, Chunk]


class _Source:
    """An output that is opened, read and closed in other threads, one at a time."""

    def __init__(self, opens: Callable[[], OutputReader]) -> None:
        self._opens = opens
        self._reading: OutputReader | None = None
        self._is_over = False
        self._lock = threading.Lock()

    def chunk(self, read: Callable[[OutputReader], Chunk]) -> Chunk:
        """Return what is read of it."""
        with self._lock:
            try:
                if self._reading is None:
                    self._reading = self._opens()
                return read(self._reading)
            finally:
                self._close_if_over()

    def close(self) -> None:
        """Close it, at once or after what is being read."""
        self._is_over = True
        if self._lock.acquire(blocking=False):
            self._close_if_over()
            self._lock.release()

    def _close_if_over(self) -> None:
        if self._is_over and self._reading is not None:
            self._reading.close()
            self._reading = None


class AwaitedLines:
    """The lines for which one widget waits."""

    def __init__(self, widget: Widget, came: Callable[[], None]) -> None:
        """Prepare to read; ``came`` is called whenever lines have come, and after a wait that has to be told of."""
        self._widget, self._came = widget, came
        self._reads: StoreRead[_Read] = StoreRead(widget, self._plan, self._take, self._cannot)
        self._strips: LineStrips | None = None
        self._source: _Source | None = None
        self._wanted: list[int] = []
        self._since = self._not_before = 0.0

    @property
    def are_late(self) -> bool:
        """Whether somebody has waited for so long that it has to be told, or waits for another try."""
        now = time.monotonic()
        return 0.0 < self._since < now - WAIT_SECONDS or now < self._not_before

    def of(self, opens: Callable[[], OutputReader]) -> Callable[[LineStrips, int], None]:
        """Begin with another output; return what has a chunk of it read, and put where it is drawn.

        Args:
            opens: opens the output once more, in another thread.
        """
        self.close()
        self._source = _Source(opens)
        return self._want

    def close(self) -> None:
        """Wait for nothing any more."""
        if self._source is not None:
            self._source.close()
        self._source, self._wanted = None, []
        self._since = self._not_before = 0.0

    def _want(self, strips: LineStrips, place: int) -> None:
        if time.monotonic() < self._not_before:
            return
        self._strips = strips
        self._wanted = [*(one for one in self._wanted if one != place), place][-_MOST_WANTED:]
        self._wait()

    def _wait(self) -> None:
        if not self._since:
            self._since = time.monotonic()
            self._widget.set_timer(WAIT_SECONDS * 1.1, self._came)
        self._reads.ask()

    def _plan(self) -> Callable[[], _Read] | None:
        strips, source = self._strips, self._source
        if strips is None or source is None or not self._wanted:
            return None
        place = self._wanted[-1]
        read = strips.to_read(place)
        return lambda: (strips, place, source.chunk(read))

    def _take(self, read: _Read) -> None:
        strips, place, chunk = read
        strips.put(place, chunk)
        if strips is not self._strips or self._source is None:
            return
        self._wanted = [one for one in self._wanted if one != place]
        self._since = 0.0
        if self._wanted:
            self._wait()
        self._came()

    def _cannot(self) -> None:
        """Try no more for a while, since each drawing would ask again; then have what is on the screen drawn again."""
        self._wanted, self._since = [], 0.0
        self._not_before = time.monotonic() + REST_SECONDS
        self._widget.set_timer(REST_SECONDS * 1.1, self._came)
        self._came()
