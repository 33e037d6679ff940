"""A modal list: a line to type in above the rows that it finds. All lists to choose from share this."""

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

from sightline_tui.common.row_view import RowView
from sightline_tui.common.theme import load_style

T = TypeVar("T")
Answer = TypeVar("Answer")


class ChoiceRows(RowView, Generic[T], can_focus=False):
    """What is offered, with one row under the cursor. A subclass draws a row.

    Attributes:
        offered: what the rows stand for.
    """

    def __init__(self) -> None:
        super().__init__(id="choices")
        self.offered: Sequence[T] = ()

    def offer(self, offered: Sequence[T]) -> None:
        """Offer other rows, and put the cursor on the first."""
        self.offered = offered
        self.set_rows(len(offered), cursor=0)

    def choose(self) -> None:
        """Choose the row that was double-clicked."""
        self.call_later(self.run_action, "screen.choose")


class Choice(ModalScreen[Answer | None], Generic[T, Answer]):
    """Answers with what is chosen; None if it is closed. A subclass says what is offered, and what a text finds."""

    TITLE_TEXT: ClassVar[str]
    HINT: ClassVar[str]
    CSS_PATH = os.path.join(os.path.dirname(__file__), "choice.tcss")  # each subclass would resolve a relative path
    AUTO_FOCUS = "#choice-line"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back"),
        Binding("down,ctrl+n", "move(1)", "Down", show=False, priority=True),
        Binding("up,ctrl+p", "move(-1)", "Up", show=False, priority=True),
    ]

    def __init__(self, rows: ChoiceRows[T]) -> None:
        super().__init__()
        self._rows = rows

    @abstractmethod
    def offer(self, text: str) -> None:
        """Offer what a text finds; for the empty text, everything."""

    @abstractmethod
    def answer(self, chosen: T) -> Answer:
        """Return the answer for the row under the cursor."""

    def compose(self) -> ComposeResult:
        """Lay out the line and the rows."""
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
        """Choose the row under the cursor, at Enter."""
        self.action_choose()

    def action_choose(self) -> None:
        """Close, and answer with the row under the cursor."""
        offered = self._rows.offered
        self.dismiss(self.answer(offered[self._rows.cursor]) if offered else None)

    def action_move(self, rows: int) -> None:
        """Move the cursor by rows."""
        self._rows.action_move(rows)

    def on_click(self, event: events.Click) -> None:
        """Close at a click outside the list."""
        if event.widget is self:
            self.dismiss(None)
