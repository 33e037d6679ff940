"""A screen over the main one that shows something of the store, and learns of its changes."""

import asyncio
from abc import abstractmethod
from typing import Any

from textual.screen import Screen, ScreenResultType
from textual.timer import Timer

from sightline.store import Reading
from sightline_tui.common.messages import LineChosen, StoreChanged
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import StoreRead, is_whole

SETTLE_SECONDS = 0.15  # changes come in bursts, so one read follows many


class StoreScreen(Screen[ScreenResultType]):
    """Reads again after changes, soon but not for each of them."""

    _settling: Timer | None = None
    _reads: StoreRead[Any]

    def read(self) -> None:
        """Read again what may have changed."""
        self._reads.ask()

    @abstractmethod
    def tell(self) -> None:
        """Update the rows around the content."""

    def store_changed(self, message: StoreChanged) -> None:
        """Read again after a change in the store, except mere growth of outputs."""
        if message.index and self._settling is None and self.is_mounted:
            self._settling = self.set_timer(SETTLE_SECONDS, self._settled)

    def _settled(self) -> None:
        self._settling = None
        self.read()

    def on_resize(self) -> None:
        """Update the rows at the new width, after the layout."""
        self.call_after_refresh(self._tell_again)

    def _tell_again(self) -> None:
        if is_whole(self):  # the callback may come for the screen below
            self.tell()

    def on_screen_resume(self) -> None:
        """Read again, because the store may have changed while another screen was on top."""
        if self.is_mounted:
            self.read()


async def go_to(screen: Screen[Any], store: Reading, ref: str) -> None:
    """Go to a ref's lines in the main screen; if they are gone, say what became of them."""
    try:
        target = await asyncio.to_thread(store.resolve, ref)
    except STORE_ERRORS as error:
        tell(screen.app, error)
        return
    screen.app.post_message(LineChosen(target.buffer, target.stream or "out", target.first or 1, target.last))
