"""The JSON screen: shows an output as a tree, with the path of the node under the cursor."""

import asyncio
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType

from sightline.base.records import Buffer
from sightline.store import Reading, Target
from sightline_tui.common.bar import Bar
from sightline_tui.common.clipboard import copy
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.phrases import name_of
from sightline_tui.common.search_screen import SEARCH_KEY, SearchScreen
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import is_whole
from sightline_tui.common.strips import StripPart
from sightline_tui.common.theme import load_style
from sightline_tui.common.visible_text import visible
from sightline_tui.json.json_view import JsonPaneSearch, JsonView, json_target
from sightline_tui.json.nodes import TreeNode


class JsonScreen(SearchScreen):
    """Shows which output it is, the path, and the tree."""

    CSS_PATH = "json.tcss"
    SEARCHED = "#json"
    BINDINGS: ClassVar[list[BindingType]] = named(
        "json",
        [
            Binding("escape,q,J", "dismiss", "Back", key_display="Esc"),
            Binding("y", "copy_path", "Copy path"),
            SEARCH_KEY,
        ],
    )

    def __init__(self, store: Reading, target: Target, root: TreeNode) -> None:
        """Make the screen.

        Args:
            store: the store.
            target: the stream that is JSON.
            root: the root, which `read_root` gives.
        """
        super().__init__()
        self._store = store
        self._target = target
        self._root = root

    @property
    def search(self) -> JsonPaneSearch:
        """The search of the tree."""
        return self.query_one(JsonView).search

    def compose(self) -> ComposeResult:
        """Head, tree, keys."""
        load_style(self.app, "common/row_view")
        yield Bar(id="json-head")
        yield JsonView(self._store, self._target, id="json")
        yield KeyBar()

    def on_mount(self) -> None:
        """Show the tree."""
        self.query_one(JsonView).show(self._root)

    def on_json_view_moved(self, message: JsonView.Moved) -> None:
        """Show the path of the node."""
        node = message.node
        named = [StripPart(f" {self._target.ref}", "strong"), StripPart(f"  {name_of(self._target.buffer)}", "dim")]
        line = f"value {node.line:,}  " if node.line else ""
        self.query_one("#json-head", Bar).say(
            (named, [StripPart(f"{message.notes} ", "accent")] if message.notes else ()),
            (
                [StripPart(f" {line}", "dim"), StripPart(visible(node.path), "accent")],
                [StripPart(f"{node.kind} ", "dim")],
            ),
        )

    def action_copy_path(self) -> None:
        """Copy the path of the node under the cursor."""
        node = self.query_one(JsonView).node
        if node is not None:
            copy(self.app, node.path)
            self.notify(f"Copied {visible(node.path)}", markup=False)


async def open_json(app: App[None], store: Reading, buffer: Buffer, shown: str = "") -> None:
    """Show a buffer's JSON as a tree, or say that it has none.

    Args:
        app: the app that shows it.
        store: the store.
        buffer: the buffer.
        shown: the only stream to look at; empty for the first that is JSON.
    """
    streams = [shown] if shown else sorted(buffer.streams, key=lambda stream: (stream == "err", len(stream), stream))
    try:
        found = await asyncio.to_thread(json_target, store, [Target(buffer, stream) for stream in streams])
    except STORE_ERRORS as error:
        tell(app, error)
        return
    if found is None:
        app.notify(f"{buffer.ref} is no JSON object, array or lines of these", severity="warning", markup=False)
    else:
        screen = JsonScreen(store, *found)
        await app.push_screen(screen)
        if is_whole(screen):
            await screen.query_one(JsonView).settled()
