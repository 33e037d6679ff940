"""The Info panel: all that is known of a buffer, beside what the main screen shows; and the texts of its views."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen

from sightline.log.view_text import view_text
from sightline.records import IndexedView
from sightline.store import Store
from sightline.tui.common.answer_text import Text
from sightline.tui.common.bar import Bar
from sightline.tui.common.clipboard import copy
from sightline.tui.common.key_bar import KeyBar
from sightline.tui.common.keys import named
from sightline.tui.common.store_errors import STORE_ERRORS, tell
from sightline.tui.common.store_read import is_whole
from sightline.tui.common.strips import Part
from sightline.tui.common.text_rows import TextRows
from sightline.tui.common.theme import load_style
from sightline.tui.common.visible_text import title
from sightline.tui.evidence.dossier import facts_of, read_dossier, view_told, view_when
from sightline.tui.evidence.fact_rows import FactRows

_EMPTY_TEXT = "(nothing: the reply had no text)"


class InfoScreen(ModalScreen[None]):
    """Rows of facts at the right."""

    CSS_PATH = "info.tcss"
    BINDINGS: ClassVar[list[BindingType]] = named(
        "info",
        [
            Binding("escape,q,i", "dismiss", "Close", key_display="Esc"),
            Binding("y", "copy", "Copy the row"),
        ],
    )

    def __init__(self, store: Store, name: str, *, clock: Callable[[], float] = time.time) -> None:
        """Make it.

        Args:
            store: the store.
            name: of the buffer.
            clock: what a running capture's duration is counted to.
        """
        super().__init__()
        self._store = store
        self._buffer_name = name
        self._clock = clock

    def compose(self) -> ComposeResult:
        """The panel, and its keys."""
        load_style(self.app, "common/row_view")
        with Vertical(id="info-panel"):
            yield FactRows(id="facts")
            yield KeyBar()

    async def on_mount(self) -> None:
        """Read it off the UI's thread."""
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
        """Put what the row tells on the clipboard."""
        fact = self.query_one(FactRows).fact
        if fact is not None:
            told = fact.view.view.id if fact.view else fact.text
            copy(self.app, told)
            self.notify(f"Copied {title(told)[:60]}", markup=False)


async def open_view(app: App[Any], store: Store, view: IndexedView) -> None:
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
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Close", key_display="Esc")]

    def __init__(self, indexed: IndexedView, text: str) -> None:
        super().__init__()
        self._view = indexed.view
        self._text = text or _EMPTY_TEXT

    def compose(self) -> ComposeResult:
        """Which view it is, its text, the keys."""
        load_style(self.app, "common/row_view")
        yield Bar(id="view-head")
        yield TextRows(id="view-text", leads=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Fill them."""
        view = self._view
        named = [Part(f" {view.id}", "strong"), Part(f"  {view_when(view)}", "dim")]
        self.query_one("#view-head", Bar).say((named, ()), ([Part(f" {title(view_told(view))}", "dim")], ()))
        self.query_one(TextRows).show(Text(self._text))
