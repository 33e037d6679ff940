"""Which shares of the buffers in sight were seen, for the list: asked for once they stand there, a little later."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.tui.errand import Errand
from sightline.tui.listing.ordering import SEEN
from sightline.tui.listing.seen import Answer, Seen, SeenReader
from textual.timer import Timer

if TYPE_CHECKING:
    from sightline.tui.widgets.buffer_list import BufferList

FIRST_SECONDS = 0.6  # after the first screen: what is read loads the rules of all tools, which would be felt
SOON_SECONDS = 0.25  # after the last change: rows come in bursts while one scrolls or types
PATIENCE_SECONDS = 1.0  # where changes never end
_KEPT = 2_000


class ListSeen:
    """What is known of the buffers in the list."""

    def __init__(self, buffers: "BufferList") -> None:
        self._list = buffers
        self._reader = SeenReader(buffers.store)
        self._known = dict[str, Seen]()
        self._timer: Timer | None = None
        self._begun = False
        self._asked = 0.0
        self._reads: Errand[Answer] = Errand(buffers, self._plan, self._take)

    def of(self, name: str) -> Seen | None:
        """What is known of a buffer."""
        return self._known.get(name)

    def ask(self) -> None:
        """Have it read what has come into sight, or changed, soon."""
        now = time.monotonic()
        if self._timer is None:
            self._asked = now
            self._timer = self._list.set_timer(SOON_SECONDS if self._begun else FIRST_SECONDS, self._read)
        elif self._begun and now - self._asked < PATIENCE_SECONDS:
            self._timer.reset()

    def _read(self) -> None:
        self._timer, self._begun = None, True
        self._reads.ask()

    def _plan(self) -> Callable[[], Answer] | None:
        buffers = [record for record in self._list.records_in_sight() if record.state != "evicted"]
        everything = self._list.rows.order.sort == SEEN
        if not buffers and not everything:
            return None
        return lambda: self._reader.read(buffers, everything=everything)

    def _take(self, answer: Answer) -> None:
        self._known.update(answer.seen)
        for name in list(self._known)[: max(len(self._known) - _KEPT, 0)]:
            del self._known[name]
        self._list.seen_changed(answer.lines)
        if not answer.done:
            self._reads.ask()
