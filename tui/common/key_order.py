"""Keys are dealt with one after another: each only when the one before has had its effect, however fast they come.

Textual looks at a key's priority bindings when it comes in, and hands it to the widget that has the focus at that
moment; what that widget makes of it comes later. Of keys typed ahead, ``/git⏎⏎:42⏎``, the colon would so be looked at
while the filter still had the focus.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from textual import events
from textual.app import App
from textual.message_pump import MessagePump

from sightline.tui.common.textual_internals import is_stopped, parent_of

PATIENCE_SECONDS = 1.0
"""After this a key counts as dealt with: its widget may have been taken away with it, or wait for something."""

Typed = events.Key | events.Paste


class KeyOrder:
    """Lets an application's keys, and what is pasted between them, through one at a time."""

    def __init__(self, app: App[None], deal: Callable[[Typed], Awaitable[None]]) -> None:
        """Prepare.

        Args:
            app: whose keys they are.
            deal: what the application does with a key that has just come in.
        """
        self._app = app
        self._deal = deal
        self._waiting = deque[Typed]()
        self._under_way: Typed | None = None
        self._impatience: asyncio.TimerHandle | None = None

    async def take(self, typed: Typed) -> None:
        """Deal with a key now, or when those before it have been dealt with. To be called in the application's task."""
        self._waiting.append(typed)
        await self._go_on()

    async def _go_on(self) -> None:
        while self._waiting and self._under_way is None:
            screen = self._app.screen
            if not screen.is_attached:  # the application is being left: nothing can be opened in it any more
                self._waiting.clear()
                return
            typed = self._under_way = self._waiting.popleft()
            receiver = self._app.focused or self._app.screen
            await self._deal(typed)
            if typed.is_forwarded:
                loop = asyncio.get_running_loop()
                self._impatience = loop.call_later(PATIENCE_SECONDS, self._dealt_with, typed)
                self._follow(typed, receiver)
            else:  # a binding with priority has had its effect by now
                self._under_way = None

    def _follow(self, typed: Typed, receiver: MessagePump) -> None:
        """Be called back by a receiver when it is done with a key, which stands in its queue already."""
        if not receiver.call_later(self._passed, typed, receiver):
            self._dealt_with(typed)

    def _passed(self, typed: Typed, receiver: MessagePump) -> None:
        above = parent_of(receiver)
        if typed is not self._under_way:
            return
        if not (is_stopped(typed) or above is None):
            self._follow(typed, above)
        elif not self._app.screen.call_later(
            self._dealt_with, typed
        ):  # what it had a widget tell the screen comes first
            self._dealt_with(typed)

    def _dealt_with(self, typed: Typed) -> None:
        if typed is not self._under_way:
            return
        self._under_way = None
        if self._impatience is not None:
            self._impatience.cancel()
        self._app.call_later(self._go_on)
