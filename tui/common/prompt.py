"""A line to type in that is there when it is needed: the filter above the list, "go to line" below the viewer."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input

from sightline.tui.common.messages import PromptAnswered
from sightline.tui.common.prompts import Asks
from sightline.tui.common.styled import KeptStyles
from sightline.tui.common.textual_internals import KeysFirst


class Prompt(KeptStyles, KeysFirst):
    """A hidden input. Opening and leaving it move the focus at once, so that keys typed ahead go where they should.

    Attributes:
        back: selector of the widget that the keys go to afterwards.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Cancel"),
        Binding("enter", "submit", "Done"),
    ]

    # Each letter changes it; as Textual has it, the whole screen would be laid out and painted anew with each.
    virtual_size: Reactive[Size] = Reactive(Size(0, 0))

    def __init__(
        self,
        asks: Asks,
        *,
        id: str,  # noqa: A002
        typed: Callable[[str], None],
        settled: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Make it.

        Args:
            asks: what for, and where the keys go afterwards.
            id: its name in messages.
            typed: called with the text whenever it has changed, at once: no message, whose effect would be drawn a
                frame after the letter.
            settled: waits until what was typed has had its effect; the keys behind Enter count on that.
        """
        super().__init__(placeholder=asks.hint, id=id, compact=True, select_on_focus=False)
        self._keeps = asks.keeps
        self.back = asks.back
        self._typed = typed
        self._settled = settled
        self._told = ""
        self.cursor_blink = False  # an idle screen is never drawn anew
        self.display = False

    def open(self) -> None:
        """Show it and take the keys, the very next one included."""
        self.display = True
        self.screen.set_focus(self)

    def _close(self) -> None:
        self.screen.set_focus(self.screen.query_one(self.back))
        self.display = False

    async def key_came(self, event: events.Key) -> None:
        """Enter is taken here, so that the next key waits for what it does."""
        if event.key in ("enter", "ctrl+j"):  # a line feed, as it is pasted, or typed in less
            event.stop()
            event.prevent_default()
            await self.action_submit()  # in this widget's task: while it waits, the application goes on

    def watch_value(self, value: str) -> None:
        """Tell at once: the next key may be on its way."""
        if value != self._told:
            self._told = value
            self._typed(value)

    def on_input_changed(self, event: Input.Changed) -> None:
        """It has been told."""
        event.stop()

    async def action_submit(self) -> None:
        """Enter: the text is meant."""
        text = self.value
        if self._settled is not None:
            await self._settled()
        if not self._keeps:
            self.clear()
        self._close()
        self.screen.post_message(PromptAnswered(self.id or "", text))

    def action_leave(self) -> None:
        """Escape: never mind."""
        self.clear()
        self._close()
