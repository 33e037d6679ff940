"""A line to type in that is there when it is needed: the filter above the list, the search below the viewer."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import Reactive
from textual.suggester import Suggester
from textual.widgets import Input

from sightline.named_tuple import NamedTuple
from sightline.tui.common.messages import CaseSwitched, PromptAnswered, PromptLeft
from sightline.tui.common.part_styles import KeptStyles
from sightline.tui.common.textual_internals import KeysFirst


class Asks(NamedTuple):
    """One prompt.

    Attributes:
        hint: what to type there, told while it is empty.
        pane: selector of the pane that it stands in.
        above: selector of the widget that it stands above; at the pane's bottom where it is empty.
        back: selector of the widget that the keys go to afterwards.
        keeps: whether its text is still there when it is opened again.
    """

    hint: str
    pane: str
    above: str
    back: str
    keeps: bool = False


PROMPTS = {
    "filter": Asks(
        "filter: text, exit:!0 seen:<50 is:running ! …; / searches outputs", "#left", "#buffers", "#buffers", keeps=True
    ),
    "search": Asks("search: text or regex, small letters match either case", "#right", "", "#viewer"),
}


class Completer(Suggester):
    """Shows what a text may become."""

    def __init__(self, completed: Callable[[str], str | None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._completed = completed

    async def get_suggestion(self, value: str) -> str | None:
        """What stands there in full, None for nothing."""
        return self._completed(value)


class Prompt(KeptStyles, KeysFirst):
    """A hidden input. Opening and leaving it move the focus at once, so that keys typed ahead go where they should.

    Attributes:
        back: selector of the widget that the keys go to afterwards.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Cancel"),
        Binding("enter", "submit", "Done"),
        Binding("tab", "complete", "Complete"),
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
        completed: Callable[[str], str | None] | None = None,
    ) -> None:
        """Make the widget.

        Args:
            asks: what for, and where the keys go afterwards.
            id: its name in messages.
            typed: called with the text whenever it has changed, at once: no message, whose effect would be drawn a
                frame after the letter.
            settled: waits until what was typed has had its effect; the keys behind Enter count on that.
            completed: what a text may become, which Tab takes; None for nothing.
        """
        suggester = Completer(completed) if completed else None
        super().__init__(placeholder=asks.hint, id=id, suggester=suggester, compact=True, select_on_focus=False)
        self._keeps = asks.keeps
        self.back = asks.back
        self._typed = typed
        self._settled = settled
        self._told = ""
        self.cursor_blink = False  # an idle screen is never drawn anew
        self.display = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where nothing is completed, that key means what it means elsewhere."""
        return self.suggester is not None if action == "complete" else super().check_action(action, parameters)

    def action_complete(self) -> None:
        """Take what the text may become."""
        self.action_end()
        self.action_cursor_right()

    def open(self) -> None:
        """Show it and take the keys, the very next one included."""
        self.display = True
        self.screen.set_focus(self)

    def close(self) -> None:
        """Hide it, with its text; the keys go back."""
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
        """Enter: take the text."""
        text = self.value
        if self._settled is not None:
            await self._settled()
        if not self._keeps:
            self.clear()
        self.close()
        self.screen.post_message(PromptAnswered(self.id or "", text))

    def action_leave(self) -> None:
        """Escape: never mind."""
        self.clear()
        self.close()


class SearchPrompt(Prompt):
    """A prompt that tells when it is left, and has a key for the case of letters."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+c,ctrl+t", "switch_case", "Match case", key_display="alt+c"),
    ]

    def action_switch_case(self) -> None:
        """Match letters in another way."""
        self.post_message(CaseSwitched())

    def action_leave(self) -> None:
        """Escape: never mind."""
        self.post_message(PromptLeft(self.id or ""))
        super().action_leave()
