"""The Info panel: shows beside the main screen all that is known of a buffer, and the texts of its views."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, ClassVar

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.strip import Strip

from sightline.base.records import IndexedView
from sightline.log.view_text import view_text
from sightline.store import Reading
from sightline_tui.common.answer_text import AnswerText
from sightline_tui.common.bar import Bar
from sightline_tui.common.clipboard import copy
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.messages import ViewChosen
from sightline_tui.common.row_view import RowView
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import is_whole
from sightline_tui.common.strips import StripPart
from sightline_tui.common.text_rows import TextRows
from sightline_tui.common.theme import load_style
from sightline_tui.common.visible_text import title, visible
from sightline_tui.evidence.dossier import Fact, facts_of, read_dossier, view_told, view_when

_LABEL_CELLS = 15


class FactRows(RowView):
    """Rows of facts."""

    PARTS = (*RowView.PARTS, "command", "running", "ok", "failed", "unknown", "interrupted", "evicted")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "Open")]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._facts = list[Fact]()
        self._rows = list[tuple[Fact, str, str]]()

    def show(self, facts: list[Fact]) -> None:
        """Show these facts."""
        self._facts = facts
        self._fold()

    @property
    def fact(self) -> Fact | None:
        """The fact under the cursor."""
        return self._rows[self.cursor][0] if self._rows else None

    def on_resize(self) -> None:
        """Wrap the facts at the new width."""
        self._fold()

    def _fold(self) -> None:
        width = max(self.columns - _LABEL_CELLS - 1, 10)
        self._rows = []
        for fact in self._facts:
            if fact.is_heading and self._rows:
                self._rows.append((Fact(" ", ""), "", ""))
            self._rows += [(fact, label, text) for label, text in folded(fact, width)]
        self.set_rows(len(self._rows))

    def draw(self, at: int, width: int) -> Strip:  # noqa: ARG002 (the strip is cut to it)
        """Draw a row: the label at the left, the text at the right."""
        fact, label, text = self._rows[at]
        base, styles = self.own_style, self.part_styles
        style = base + styles[fact.style] if fact.style else base
        if fact.is_heading:
            return Strip([Segment(f" {text}", style)])
        return Strip([Segment(f" {label:<{_LABEL_CELLS}}", base + styles["dim"]), Segment(text, style)])

    def choose(self) -> None:
        """Open the view that the row is about."""
        if self.fact is not None and self.fact.view is not None:
            self.app.post_message(ViewChosen(self.fact.view))


def folded(fact: Fact, width: int) -> list[tuple[str, str]]:
    """Wrap a fact into rows, (label, text) each."""
    rows = list[tuple[str, str]]()
    for line in fact.text.split("\n") or [""]:
        shown = visible(line.replace("\t", "    ").rstrip("\r"))
        pieces = chop_cells(shown, width) if cell_len(shown) > width else [shown]
        rows += [(fact.label if not rows and not at else "", piece) for at, piece in enumerate(pieces)]
    return rows


_EMPTY_TEXT = "(nothing: the reply had no text)"


class InfoScreen(ModalScreen[None]):
    """A panel of facts at the right side."""

    CSS_PATH = "info.tcss"
    BINDINGS: ClassVar[list[BindingType]] = named(
        "info",
        [
            Binding("escape,q,i", "dismiss", "Back", key_display="Esc"),
            Binding("y", "copy", "Copy the row"),
        ],
    )

    def __init__(self, store: Reading, name: str, *, clock: Callable[[], float] = time.time) -> None:
        """Make the screen.

        Args:
            store: the store.
            name: name of the buffer.
            clock: the time to which a running capture's duration is counted.
        """
        super().__init__()
        self._store = store
        self._buffer_name = name
        self._clock = clock

    def compose(self) -> ComposeResult:
        """Lay out the panel and its keys."""
        load_style(self.app, "common/row_view")
        with Vertical(id="info-panel"):
            yield FactRows(id="facts")
            yield KeyBar()

    async def on_mount(self) -> None:
        """Read the facts outside the UI's thread."""
        self.run_worker(self._read())

    async def _read(self) -> None:
        try:
            dossier = await asyncio.to_thread(read_dossier, self._store, self._buffer_name)
        except STORE_ERRORS as error:
            tell(self.app, error)
            if self.is_current:
                self.dismiss()
            return
        if is_whole(self):
            self.query_one(FactRows).show(facts_of(dossier, self._clock()))

    def action_copy(self) -> None:
        """Copy the text of the row."""
        fact = self.query_one(FactRows).fact
        if fact is not None:
            told = fact.view.view.id if fact.view else fact.text
            copy(self.app, told)
            self.notify(f"Copied {title(told)[:60]}", markup=False)


async def open_view(app: App[Any], store: Reading, view: IndexedView) -> None:
    """Show the exact text of a view."""
    try:
        text = await asyncio.to_thread(view_text, store, view)
    except STORE_ERRORS as error:
        tell(app, error)
    else:
        app.push_screen(ViewScreen(view, text))


class ViewScreen(Screen[None]):
    """The exact text of a view, as it was sent."""

    CSS_PATH = "info.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Back", key_display="Esc")]

    def __init__(self, indexed: IndexedView, text: str) -> None:
        super().__init__()
        self._view = indexed.view
        self._text = text or _EMPTY_TEXT

    def compose(self) -> ComposeResult:
        """Lay out head, text and keys."""
        load_style(self.app, "common/row_view")
        yield Bar(id="view-head")
        yield TextRows(id="view-text", leads=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Fill in the head and the text."""
        view = self._view
        named = [StripPart(f" {view.id}", "strong"), StripPart(f"  {view_when(view)}", "dim")]
        self.query_one("#view-head", Bar).say((named, ()), ([StripPart(f" {title(view_told(view))}", "dim")], ()))
        self.query_one(TextRows).show(AnswerText(self._text))
