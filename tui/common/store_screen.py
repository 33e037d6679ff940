"""A screen over the main one that shows something of the store, and learns of its changes and of its own size."""

import asyncio
from abc import abstractmethod
from typing import Any

from textual.screen import Screen, ScreenResultType
from textual.timer import Timer

from sightline.store import Reading
from sightline.tui.common.messages import LineChosen, StoreChanged
from sightline.tui.common.store_errors import STORE_ERRORS, tell
from sightline.tui.common.store_read import is_whole

SETTLE_SECONDS = 0.15  # changes come in bursts; one read follows many of them


class StoreScreen(Screen[ScreenResultType]):
    """Has what it shows read again after changes, soon and not for each of them."""

    _settling: Timer | None = None

    @abstractmethod
    def read(self) -> None:
        """Read again what may have changed."""

    @abstractmethod
    def tell(self) -> None:
        """Say how things stand in the rows around what it shows."""

    def store_changed(self, message: StoreChanged) -> None:
        """Read again after a change in the store, except mere growth of outputs."""
        if message.index and self._settling is None and self.is_mounted:
            self._settling = self.set_timer(SETTLE_SECONDS, self._settled)

    def _settled(self) -> None:
        self._settling = None
        self.read()

    def on_resize(self) -> None:
        """It is told to another width, once the columns have moved."""
        self.call_after_refresh(self._tell_again)

    def _tell_again(self) -> None:
        if is_whole(self):  # it is called once a screen was drawn, which may be the one below
            self.tell()

    def on_screen_resume(self) -> None:
        """It may have changed while another screen was above."""
        if self.is_mounted:
            self.read()


async def go_to(screen: Screen[Any], store: Reading, ref: str) -> None:
    """Go to the lines that a ref names, on the main screen; say what has become of them where they are gone."""
    try:
        target = await asyncio.to_thread(store.resolve, ref)
    except STORE_ERRORS as error:
        tell(screen.app, error)
        return
    screen.app.post_message(LineChosen(target.buffer, target.stream or "out", target.first or 1, target.last))
