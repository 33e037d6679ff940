"""Puts the query bar and the pane of results into the inspector's screen when they are first wanted."""

from textual.screen import Screen

from sightline.records import Buffer
from sightline.store import Store
from sightline.tui.asking.asked import Asked, Place
from sightline.tui.asking.query_bar import QueryBar
from sightline.tui.asking.result_pane import ResultPane
from sightline.tui.common.key_bar import KeyBar
from sightline.tui.common.messages import PlaceMeant
from sightline.tui.common.reading import shown_ref
from sightline.tui.common.theme import load_style
from sightline.tui.viewer.viewer import Viewer


def open_bar(screen: Screen[None], store: Store, buffer: Buffer | None) -> None:
    """Open the query bar above the keys; what names no ref means what is shown of this buffer."""
    bar = screen.query_one_optional(QueryBar)
    if bar is None:
        load_style(screen.app, "asking/query_bar")
        bar = QueryBar(store, lambda asked: carry_out(screen, store, asked))
        screen.mount(bar, before=screen.query_one(KeyBar))
        bar.fill()
    bar.open(shown_ref(buffer, screen.query_one(Viewer).stream))


def carry_out(screen: Screen[None], store: Store, asked: Asked) -> None:
    """Go to a place in the viewer; have a question answered below it."""
    if isinstance(asked, Place):
        screen.post_message(PlaceMeant(asked.text))
        return
    pane = screen.query_one_optional(ResultPane)
    if pane is None:
        load_style(screen.app, "common/row_view")
        load_style(screen.app, "asking/result_pane")
        pane = ResultPane(store)
        screen.query_one("#right").mount(pane)
        pane.fill()
    pane.display = True
    screen.set_focus(pane.lines)
    pane.ask(asked)
