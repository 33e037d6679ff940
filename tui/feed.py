"""The store's changes as messages: the one place where they enter the inspector."""

import threading
from typing import TYPE_CHECKING

from textual.message_pump import MessagePump

from sightline.errors import SightlineError
from sightline.store import Store
from sightline.tui.common.messages import PollingBegun, StoreChanged

if TYPE_CHECKING:
    from sightline.store import Change

_LOOK_SECONDS = 1.0  # between two looks at what harnesses have written down since, which mostly is one listing


class Feed:
    """Posts a `StoreChanged` to one receiver for each burst of changes, from `start` until `close`."""

    def __init__(self, store: Store, receiver: MessagePump) -> None:
        self._receiver = receiver
        self._store = store
        self._stop = threading.Event()
        self._looking: threading.Thread | None = None
        self._changes = store.changes(self._tell, polls=self._polls)

    def start(self) -> None:
        """Begin; loads what watches, so not before there is something on the screen."""
        self._changes.start()
        self._looking = threading.Thread(target=self._look, name="sightline-transcripts", daemon=True)
        self._looking.start()

    def close(self) -> None:
        """End."""
        self._stop.set()
        self._changes.close()
        if self._looking is not None:
            self._looking.join()
            self._looking = None

    def _look(self) -> None:
        """Have views logged that wait for what a harness writes down, which nothing else may tell of for long."""
        while True:
            if self._store.layout.waiting_sessions():
                from sightline.imports.live_transcript import catch_up  # few stores ever need it

                try:
                    with Store(self._store.root, self._store.settings) as own:  # what it changes is told as by another
                        catch_up(own)
                except SightlineError:
                    pass  # the store cannot be written: it is still read
            if self._stop.wait(_LOOK_SECONDS):
                return

    def _tell(self, change: "Change") -> None:
        self._receiver.post_message(StoreChanged(change.records, change.live))

    def _polls(self, reason: str) -> None:
        self._receiver.post_message(PollingBegun(reason))
