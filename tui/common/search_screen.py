"""A screen with one pane that can be searched: the line to type in, and what becomes of it."""

from abc import abstractmethod
from typing import Any, ClassVar

from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Input

from sightline.tui.common.key_bar import KeyBar
from sightline.tui.common.messages import PromptAnswered
from sightline.tui.common.pane_search import PaneSearch
from sightline.tui.common.prompt import PROMPTS, SearchPrompt

SEARCH_KEY = Binding("slash", "search", "Search", key_display="/", priority=True)
"""To be among a screen's keys; with priority: what is typed behind it is meant for the prompt."""


class SearchScreen(Screen[None]):
    """Has the prompt above the keys."""

    SEARCHED: ClassVar[str]
    """Selector of the pane that is searched."""

    @property
    @abstractmethod
    def search(self) -> PaneSearch[Any]:
        """The search of that pane."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The key that opens the prompt is a letter like any other while one is open."""
        if action == "search":
            return not isinstance(self.focused, Input)
        return super().check_action(action, parameters)

    def action_search(self) -> None:
        """Take what is searched for."""
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
        """Letters match in another way."""
        self.search.switch_case()
