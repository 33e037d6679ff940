"""A line to type in that is there when it is needed: the filter above the list, "go to line" below the viewer."""

from typing import ClassVar

from sightline.tui.messages import PromptAnswered, PromptTyped
from sightline.tui.prompts import Asks
from textual.binding import Binding, BindingType
from textual.widgets import Input


class Prompt(Input):
    """A hidden input. Opening and leaving it move the focus at once, so that keys typed ahead go where they should."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Cancel"),
        Binding("enter", "submit", "Done"),
    ]

    def __init__(self, asks: Asks, *, id: str) -> None:  # noqa: A002
        """Make it.

        Args:
            asks: what for, and where the keys go afterwards.
            id: its name in messages.
        """
        super().__init__(placeholder=asks.hint, id=id, compact=True, select_on_focus=False)
        self._asks = asks
        self.cursor_blink = False  # an idle screen is never drawn anew
        self.display = False

    def open(self) -> None:
        """Show it and take the keys, the very next one included."""
        self.display = True
        self.screen.set_focus(self)

    def _close(self) -> None:
        self.screen.set_focus(self.screen.query_one(self._asks.back))
        self.display = False

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass the text on as it is typed."""
        event.stop()
        self.post_message(PromptTyped(self.id or "", event.value))

    async def action_submit(self) -> None:
        """Enter: the text is meant."""
        text = self.value
        if not self._asks.keeps:
            self.clear()
        self._close()
        self.post_message(PromptAnswered(self.id or "", text))

    def action_leave(self) -> None:
        """Escape: never mind."""
        self.clear()
        self._close()
