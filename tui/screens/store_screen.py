"""A screen over the main one that shows something of the store, and learns of its changes."""

from abc import abstractmethod

from sightline.tui.messages import StoreChanged
from textual.screen import Screen, ScreenResultType
from textual.timer import Timer

SETTLE_SECONDS = 0.15  # changes come in bursts; one read follows many of them


class StoreScreen(Screen[ScreenResultType]):
    """Has what it shows read again after changes, soon and not for each of them."""

    _settling: Timer | None = None

    @abstractmethod
    def read(self) -> None:
        """Read again what may have changed."""

    def store_changed(self, message: StoreChanged) -> None:
        """The store has told; what merely grows is no matter here."""
        if message.index and self._settling is None and self.is_attached:
            self._settling = self.set_timer(SETTLE_SECONDS, self._settled)

    def _settled(self) -> None:
        self._settling = None
        self.read()

    def on_screen_resume(self) -> None:
        """It may have changed while another screen was above."""
        if self.is_mounted:
            self.read()
