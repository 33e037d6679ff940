"""A line to type in above the rows that it finds, over the screen: what all modal lists have in common."""

import os
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from sightline.tui.common.row_view import RowView
from sightline.tui.common.theme import load_style

T = TypeVar("T")
Answer = TypeVar("Answer")


class ChoiceRows(RowView, Generic[T], can_focus=False):
    """What is offered, one of it under the cursor. A subclass draws a row.

    Attributes:
        offered: what the rows are of.
    """

    def __init__(self) -> None:
        super().__init__(id="choices")
        self.offered: Sequence[T] = ()

    def offer(self, offered: Sequence[T]) -> None:
        """Offer something else, the first of it chosen."""
        self.offered = offered
        self.set_rows(len(offered), cursor=0)

    def choose(self) -> None:
        """It was clicked on twice."""
        self.call_later(self.run_action, "screen.choose")


class Choice(ModalScreen[Answer | None], Generic[T, Answer]):
    """Answers with what is chosen, None where it is left. A subclass says what there is, and what a text finds."""

    TITLE_TEXT: ClassVar[str]
    HINT: ClassVar[str]
    CSS_PATH = os.path.join(os.path.dirname(__file__), "choice.tcss")  # of a relative one Textual asks each subclass
    AUTO_FOCUS = "#choice-line"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close"),
        Binding("down,ctrl+n", "move(1)", "Down", show=False, priority=True),
        Binding("up,ctrl+p", "move(-1)", "Up", show=False, priority=True),
    ]

    def __init__(self, rows: ChoiceRows[T]) -> None:
        super().__init__()
        self._rows = rows

    @abstractmethod
    def offer(self, text: str) -> None:
        """Offer what a text finds; everything for the empty one."""

    @abstractmethod
    def answer(self, chosen: T) -> Answer:
        """What it answers with, of what is under the cursor."""

    def compose(self) -> ComposeResult:
        """The line, and what it finds."""
        load_style(self.app, "common/row_view")
        with Vertical(id="choice") as panel:
            panel.border_title = self.TITLE_TEXT
            line = Input(placeholder=self.HINT, id="choice-line", compact=True)
            line.cursor_blink = False
            yield line
            yield self._rows

    def on_mount(self) -> None:
        """Offer everything."""
        self.offer("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Offer what the text finds."""
        self.offer(event.value)

    def on_input_submitted(self) -> None:
        """Enter: that one."""
        self.action_choose()

    def action_choose(self) -> None:
        """Close, and answer with the one under the cursor."""
        offered = self._rows.offered
        self.dismiss(self.answer(offered[self._rows.cursor]) if offered else None)

    def action_move(self, rows: int) -> None:
        """Move among what is offered."""
        self._rows.action_move(rows)

    def on_click(self, event: events.Click) -> None:
        """A click beside it closes it."""
        if event.widget is self:
            self.dismiss(None)
