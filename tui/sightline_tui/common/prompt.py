"""A line to type in that appears when it is needed: the filter above the list, the search below the viewer."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import Reactive
from textual.suggester import Suggester
from textual.widgets import Input

from sightline.light.named_tuple import NamedTuple
from sightline_tui.common.messages import CaseSwitched, PromptAnswered, PromptLeft
from sightline_tui.common.part_styles import KeptStyles
from sightline_tui.common.textual_internals import KeysFirst


class Asks(NamedTuple):
    """What one prompt asks for.

    Attributes:
        hint: what to type, shown while it is empty.
        pane: selector of the pane in which it stands.
        above: selector of the widget above which it stands; empty for the bottom of the pane.
        back: selector of the widget that gets the focus afterwards.
        keeps: whether its text is kept until it is opened again.
    """

    hint: str
    pane: str
    above: str
    back: str
    keeps: bool = False


PROMPTS = {
    "filter": Asks(
        "filter: text, is:failed yesterday seen:<50 ! …; / searches outputs",
        "#left",
        "#buffers",
        "#buffers",
        keeps=True,
    ),
    "save": Asks("folder to save copies in", "#left", "#buffers", "#buffers", keeps=True),
    "search": Asks("search: text or regex, small letters match either case", "#right", "", "#viewer"),
}


class Completer(Suggester):
    """Suggests a completion of the text."""

    def __init__(self, completed: Callable[[str], str | None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._completed = completed

    async def get_suggestion(self, value: str) -> str | None:
        """Return the completed text; None for no suggestion."""
        return self._completed(value)


class Prompt(KeptStyles, KeysFirst, Input):
    """A hidden input. Opening and closing it move the focus at once, so that keys typed ahead reach the right widget.

    Attributes:
        back: selector of the widget that gets the focus afterwards.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Cancel"),
        Binding("enter", "submit", "Done"),
        Binding("tab", "complete", "Complete"),
    ]

    # Each letter changes it; Textual would lay out and paint the whole screen for that.
    virtual_size: Reactive[Size] = Reactive(Size(0, 0))

    def __init__(
        self,
        asks: Asks,
        *,
        id: str,  # noqa: A002
        typed: Callable[[str], None],
        settled: Callable[[], Awaitable[None]] | None = None,
        completed: Callable[[str], str | None] | None = None,
    ) -> None:
        """Make the widget.

        Args:
            asks: what it asks for, and where the focus goes afterwards.
            id: its name in messages.
            typed: called with the text at once when it has changed; a message would be drawn a frame after the
                letter.
            settled: waits until the typed text has had its effect, on which the keys after Enter rely.
            completed: returns a completion of the text, which Tab takes; None for nothing.
        """
        suggester = Completer(completed) if completed else None
        super().__init__(placeholder=asks.hint, id=id, suggester=suggester, compact=True, select_on_focus=False)
        self._keeps = asks.keeps
        self.back = asks.back
        self._typed = typed
        self._settled = settled
        self._told = ""
        self.cursor_blink = False  # an idle screen is not redrawn
        self.display = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the completion key to others if there is nothing to complete."""
        return self.suggester is not None if action == "complete" else super().check_action(action, parameters)

    def action_complete(self) -> None:
        """Take the completion."""
        self.action_end()
        self.action_cursor_right()

    def open(self) -> None:
        """Show the prompt, and take the focus for the very next key."""
        self.display = True
        self.screen.set_focus(self)

    def close(self) -> None:
        """Hide the prompt with its text, and give the focus back."""
        self.screen.set_focus(self.screen.query_one(self.back))
        self.display = False

    async def key_came(self, event: events.Key) -> None:
        """Handle Enter here, so that the next key waits for its effect."""
        if event.key in ("enter", "ctrl+j"):  # a line feed comes from pasting, or from less
            event.stop()
            event.prevent_default()
            await self.action_submit()  # in this widget's task, so that the application goes on meanwhile

    def watch_value(self, value: str) -> None:
        """Call `typed` at once, because the next key may be on its way."""
        if value != self._told:
            self._told = value
            self._typed(value)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Stop the message, because `typed` was called already."""
        event.stop()

    async def action_submit(self) -> None:
        """Take the text, at Enter."""
        text = self.value
        if self._settled is not None:
            await self._settled()
        if not self._keeps:
            self.clear()
        self.close()
        self.screen.post_message(PromptAnswered(self.id or "", text))

    def action_leave(self) -> None:
        """Close without taking the text, at Escape."""
        self.clear()
        self.close()


class SearchPrompt(Prompt):
    """A prompt that reports when it is closed, and has a key for the case of letters."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+c,ctrl+t", "switch_case", "Match case", key_display="alt+c"),
    ]

    def action_switch_case(self) -> None:
        """Switch how capital and small letters match."""
        self.post_message(CaseSwitched())

    def action_leave(self) -> None:
        """Close, and report it, at Escape."""
        self.post_message(PromptLeft(self.id or ""))
        super().action_leave()
