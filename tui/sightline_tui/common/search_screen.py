"""A screen with one pane that can be searched, and the prompt for that."""

from abc import abstractmethod
from typing import Any, ClassVar

from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Input

from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.messages import PromptAnswered
from sightline_tui.common.pane_search import PaneSearch
from sightline_tui.common.prompt import PROMPTS, SearchPrompt

SEARCH_KEY = Binding("slash", "search", "Search", key_display="/", priority=True)
"""The search key for a screen's bindings; it has priority, because the keys after it are meant for the prompt."""


class SearchScreen(Screen[None]):
    """Has the prompt above the keys."""

    SEARCHED: ClassVar[str]
    """Selector of the pane that is searched."""

    @property
    @abstractmethod
    def search(self) -> PaneSearch[Any]:
        """The search of that pane."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the key to an open prompt, as a letter."""
        if action == "search":
            return not isinstance(self.focused, Input)
        return super().check_action(action, parameters)

    def action_search(self) -> None:
        """Open the prompt for the search."""
        prompt = self.query_one_optional(SearchPrompt)
        if prompt is None:
            asks = PROMPTS["search"]._replace(back=self.SEARCHED)
            prompt = SearchPrompt(asks, id="search", typed=self._typed)
            self.mount(prompt, before=self.query_one(KeyBar))
        self.search.opened()
        prompt.open()

    def _typed(self, text: str) -> None:
        self.search.typed(text)

    def on_prompt_answered(self, message: PromptAnswered) -> None:
        """Search for the typed text."""
        self.search.answered(message.text)

    def on_prompt_left(self) -> None:
        """Cancel the search."""
        self.search.left()

    def on_case_switched(self) -> None:
        """Switch how capital and small letters match."""
        self.search.switch_case()
