"""Puts the query bar and the pane of results into the inspector's screen when they are first wanted."""

from sightline.store.records import Buffer
from sightline.store.store import Store
from sightline.tui.asking.asked import Asked, Place, meant_ref
from sightline.tui.messages import PlaceMeant
from sightline.tui.stylesheets import load_style
from sightline.tui.widgets.key_bar import KeyBar
from sightline.tui.widgets.query_bar import QueryBar
from sightline.tui.widgets.result_pane import ResultPane
from sightline.tui.widgets.viewer import Viewer
from textual.screen import Screen


def open_bar(screen: Screen[None], store: Store, buffer: Buffer | None) -> None:
    """Open the query bar above the keys; what names no ref means what is shown of this buffer."""
    bar = screen.query_one_optional(QueryBar)
    if bar is None:
        load_style(screen.app, "query_bar")
        bar = QueryBar(store, lambda asked: carry_out(screen, store, asked))
        screen.mount(bar, before=screen.query_one(KeyBar))
        bar.fill()
    bar.open(meant_ref(buffer, screen.query_one(Viewer).stream))


def carry_out(screen: Screen[None], store: Store, asked: Asked) -> None:
    """Go to a place in the viewer; have a question answered below it."""
    if isinstance(asked, Place):
        screen.post_message(PlaceMeant(asked.text))
        return
    pane = screen.query_one_optional(ResultPane)
    if pane is None:
        load_style(screen.app, "row_view")
        load_style(screen.app, "result_pane")
        pane = ResultPane(store)
        screen.query_one("#right").mount(pane)
        pane.fill()
    pane.display = True
    screen.set_focus(pane.lines)
    pane.ask(asked)
