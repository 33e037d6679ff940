"""A line to type in what is searched for in the viewer."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from sightline.tui.common.messages import CaseSwitched, PromptLeft
from sightline.tui.common.prompt import Prompt


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
