"""The store's changes as messages: the one place where they enter the inspector."""

from sightline.store.disk.changes import Change, Changes
from sightline.store.store import Store
from sightline.tui.messages import PollingBegun, StoreChanged
from textual.message_pump import MessagePump


class Feed:
    """Posts a `StoreChanged` to one receiver for each burst of changes, from `start` until `close`."""

    def __init__(self, store: Store, receiver: MessagePump) -> None:
        self._receiver = receiver
        self._changes = Changes(store.layout, lambda: store.index.data_version(), self._tell, polls=self._polls)

    def start(self) -> None:
        """Begin; loads what watches, so not before there is something on the screen."""
        self._changes.start()

    def close(self) -> None:
        """End."""
        self._changes.close()

    def _tell(self, change: Change) -> None:
        self._receiver.post_message(StoreChanged(change.records, change.live))

    def _polls(self, reason: str) -> None:
        self._receiver.post_message(PollingBegun(reason))
