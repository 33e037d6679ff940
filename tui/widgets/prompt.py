"""A line to type in that is there when it is needed: the filter above the list, "go to line" below the viewer."""

from typing import ClassVar

from sightline.tui.messages import PromptAnswered, PromptTyped
from textual import events
from textual.binding import Binding, BindingType
from textual.widgets import Input


class Prompt(Input):
    """A hidden input. Opening and leaving it move the focus at once, so that keys typed ahead go where they should."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Cancel"),
        Binding("enter", "submit", "Done"),
    ]

    def __init__(self, placeholder: str, *, id: str, back: str, keeps: bool = False) -> None:  # noqa: A002
        """Make it.

        Args:
            placeholder: what to type there.
            id: its name in messages.
            back: selector of the widget that the keys go to afterwards.
            keeps: whether its text is still there when it is opened again.
        """
        super().__init__(placeholder=placeholder, id=id, compact=True, select_on_focus=False)
        self._back = back
        self._keeps = keeps
        self.cursor_blink = False  # an idle screen is never drawn anew
        self.display = False

    def open(self) -> None:
        """Show it and take the keys, the very next one included."""
        self.display = True
        self.screen.set_focus(self)

    def _close(self) -> None:
        self.screen.set_focus(self.screen.query_one(self._back))
        self.display = False

    async def _on_key(self, event: events.Key) -> None:
        if self.display and event.key not in ("enter", "escape"):
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        if not self.display:
            # Sent here before the key that closed it was looked at: its turn comes again, elsewhere.
            self.app.post_message(events.Key(event.key, event.character))
        elif event.key == "enter":
            await self.action_submit()  # at once: by way of the binding, the next letters would come first
        else:
            self.action_leave()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass the text on as it is typed."""
        event.stop()
        self.post_message(PromptTyped(self.id or "", event.value))

    async def action_submit(self) -> None:
        """Enter: the text is meant."""
        text = self.value
        if not self._keeps:
            self.clear()
        self._close()
        self.post_message(PromptAnswered(self.id or "", text))

    def action_leave(self) -> None:
        """Escape: never mind."""
        self.clear()
        self._close()
