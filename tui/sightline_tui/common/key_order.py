"""Handles keys one after another: each waits until the one before has had its effect, however fast they come.

Textual checks a key against priority bindings when it comes in, and passes it to the widget that has the focus at that
moment; the widget acts on it later. In keys typed ahead, such as ``/git⏎⏎:42⏎``, the colon would be checked while the
filter still had the focus.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from textual import events
from textual.app import App
from textual.message_pump import MessagePump

from sightline_tui.common.textual_internals import is_stopped, parent_of

PATIENCE_SECONDS = 1.0
"""After this time a key counts as handled, because its widget may be gone, or wait for something else."""

Typed = events.Key | events.Paste


class KeyOrder:
    """Passes an application's keys, and text pasted between them, on one at a time."""

    def __init__(self, app: App[None], deal: Callable[[Typed], Awaitable[None]]) -> None:
        """Prepare to handle keys.

        Args:
            app: the application whose keys these are.
            deal: handles a key as the application does when it comes in.
        """
        self._app = app
        self._deal = deal
        self._waiting = deque[Typed]()
        self._under_way: Typed | None = None
        self._impatience: asyncio.TimerHandle | None = None

    async def take(self, typed: Typed) -> None:
        """Handle a key now, or after the keys before it. It must be called in the application's task."""
        self._waiting.append(typed)
        await self._go_on()

    async def _go_on(self) -> None:
        while self._waiting and self._under_way is None:
            screen = self._app.screen
            if not screen.is_attached:  # the application is ending, so no key can open anything
                self._waiting.clear()
                return
            typed = self._under_way = self._waiting.popleft()
            receiver = self._app.focused or self._app.screen
            await self._deal(typed)
            if typed.is_forwarded:
                loop = asyncio.get_running_loop()
                self._impatience = loop.call_later(PATIENCE_SECONDS, self._dealt_with, typed)
                self._follow(typed, receiver)
            else:  # a priority binding has acted by now
                self._under_way = None

    def _follow(self, typed: Typed, receiver: MessagePump) -> None:
        """Have a receiver call back when it has handled a key that is in its queue already."""
        if not receiver.call_later(self._passed, typed, receiver):
            self._dealt_with(typed)

    def _passed(self, typed: Typed, receiver: MessagePump) -> None:
        above = parent_of(receiver)
        if typed is not self._under_way:
            return
        if not (is_stopped(typed) or above is None):
            self._follow(typed, above)
        elif not self._app.screen.call_later(self._dealt_with, typed):  # messages that it had a widget send come first
            self._dealt_with(typed)

    def _dealt_with(self, typed: Typed) -> None:
        if typed is not self._under_way:
            return
        self._under_way = None
        if self._impatience is not None:
            self._impatience.cancel()
        self._app.call_later(self._go_on)
