"""Shows a JSON text as a tree that folds. The content of a container is read when it is shown, a page at a time."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import ClassVar, cast

from rich.segment import Segment
from rich.style import Style
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.strip import Strip

from sightline.search.engine import SearchPattern
from sightline.shape.json.scanner import NotJson
from sightline.shape.summary import human_bytes
from sightline.store import Reading, StreamReader, Target
from sightline_tui.common.keys import named
from sightline_tui.common.messages import State
from sightline_tui.common.pane_search import PaneSearch
from sightline_tui.common.row_view import RowView
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.stream_search import StreamSearch
from sightline_tui.common.visible_text import pieces, visible
from sightline_tui.json.node_rows import JsonRows
from sightline_tui.json.nodes import NEAR_BYTES, NextChildren, NobodyWaits, TreeNode, read_children, read_root, towards

MOST_ON_THE_WAY = 50_000
"""Values of a container that are read and kept to reach one behind them."""

_BRACKETS = {"object": "{}", "array": "[]", "lines": "  "}
_VALUE_STYLES = {"string": "string", "number": "number", "boolean": "number", "null": "number"}
_NOUNS = {"object": "key", "array": "item", "lines": "value"}
_INDENT = "  "
_READ_SECONDS = 0.25  # the longest that the next key waits for what this one opens
_PREVIEW_CHARACTERS = 200

Loaded = tuple[TreeNode | None, NextChildren | None]


class JsonView(RowView):
    """Rows of nodes."""

    PARTS = (*RowView.PARTS, "string", "number", "control", "failed", "match", "here")
    BINDINGS: ClassVar[list[BindingType]] = named(
        "json",
        [
            Binding("enter,space", "fold", "Open or fold", key_display="Enter"),
            Binding("right,l", "open", "Unfold, or go in", show=False),
            Binding("left,h", "leave", "Fold, or go out", show=False),
            Binding("n", "search_on(False)", "Next hit of the search", show=False),
            Binding("N", "search_on(True)", "Hit before", show=False),
            Binding("escape", "forget", "Forget the search", show=False),
        ],
    )

    @dataclass(eq=False, repr=False)
    class Moved(State):
        """The cursor has moved, or more is known of its node or of the search."""

        node: TreeNode
        notes: str = ""

    def __init__(self, store: Reading, target: Target, *, id: str | None = None) -> None:  # noqa: A002
        """Make the widget.

        Args:
            store: the store.
            target: the stream.
            id: id of the widget.
        """
        super().__init__(id=id)
        self._store = store
        self._target = target
        self._tree: JsonRows | None = None
        self._is_left = False
        self._sought: int | None = None  # the byte to which the cursor is still on its way
        self._search: JsonPaneSearch | None = None
        self._reads: StoreRead[Loaded] = StoreRead(self, self._plan, self._take)

    def on_unmount(self) -> None:
        """Cancel the search when the widget goes."""
        self._is_left = True
        if self._search is not None:
            self._search.clear()

    @property
    def node(self) -> TreeNode | None:
        """The node under the cursor."""
        return self._tree.rows[self.cursor] if self._tree is not None else None

    def show(self, root: TreeNode) -> None:
        """Show a text from its root, which `read_root` gives."""
        self._tree = JsonRows(root)
        self._redraw(0)

    def _redraw(self, cursor: int) -> None:
        if self._tree is not None:
            if self._search is not None:
                self._search.shown_otherwise(same=True)
            self.set_rows(len(self._tree), cursor=cursor)
            self._reads.ask()

    def _plan(self) -> Callable[[], Loaded] | None:
        if self._tree is None:
            return None
        top = self.scroll_offset.y
        height = self.size.height or self.app.size.height  # it is read before the layout is done
        node = self._on_the_way(self._tree) or self._tree.wanted(top, top + height)
        if node is None:
            return None

        def read() -> Loaded:
            with self._store.open(self._target) as source:
                try:
                    return node, read_children(source, node, is_left=lambda: self._is_left)
                except NobodyWaits:
                    return None, None

        return read

    def _take(self, loaded: Loaded) -> None:
        node, batch = loaded
        if self._tree is None or node is None or batch is None:
            return
        at, added = self._tree.take(node, batch)
        self._redraw(self.cursor + added if self.cursor > at else self.cursor)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Read what comes into sight."""
        super().watch_scroll_y(old_value, new_value)
        self._reads.ask()

    def on_resize(self) -> None:
        """Read what comes into sight, since there may be more room."""
        self._reads.ask()

    def cursor_moved(self) -> None:
        """Post the cursor's place."""
        if (node := self.node) is not None:
            notes = self._search.notes() if self._search is not None else []
            self.post_message(self.Moved(node, " ".join(notes)))

    # for its search

    @property
    def search(self) -> "JsonPaneSearch":
        """The search in this tree; made with the first search."""
        if self._search is None:
            self._search = JsonPaneSearch(self, self._store, self._target)
        return self._search

    def is_at(self, offset: int) -> bool:
        """Return whether the cursor stands on the node of a byte."""
        return self._tree is not None and towards(self._tree.rows[0], offset) == (self.node, True)

    def go_to_byte(self, offset: int) -> None:
        """Put the cursor on the node of a byte, as soon as what stands before it is read."""
        self._sought = offset
        self._reads.ask()

    def _on_the_way(self, tree: JsonRows) -> TreeNode | None:
        """Return the container of which more must be read to reach the byte; None once it is reached or given up."""
        offset, self._sought = self._sought, None
        if offset is None:
            return None
        node, is_there = towards(tree.rows[0], offset)
        if is_there:
            self.show_node(node)
        elif len(node.children) >= MOST_ON_THE_WAY:
            told = f"Byte {offset:,} lies behind more than {MOST_ON_THE_WAY:,} values: look for it in the output itself"
            self.notify(told, severity="warning", markup=False)
        else:
            self._sought = offset
            return node
        return None

    def show_node(self, node: TreeNode) -> None:
        """Put the cursor on a node, and unfold the containers around it."""
        if self._tree is None:
            return
        above = list[TreeNode]()
        while (parent := (above[-1] if above else node).parent) is not None:
            above.append(parent)
        for parent in reversed(above):
            if not parent.is_open:
                self._tree.toggle(self._tree.rows.index(parent))
        self._redraw(self._tree.rows.index(node))

    def texts_on_screen(self) -> dict[Hashable, str]:
        """Return the texts in the visible rows that may be marked."""
        top, texts = self.scroll_offset.y, dict[Hashable, str]()
        for at in range(top, min(top + self.size.height, self.row_count)):
            for part, segments in enumerate(self._segments(at, self.columns)):
                texts[at, part] = "".join(segment.text for segment in segments)
        return texts

    def tell(self) -> None:
        """Post the cursor's place and the state of the search."""
        self.cursor_moved()

    # drawing

    def draw(self, at: int, width: int) -> Strip:
        """Draw a node: its key or place, and its value, or what is known of its content."""
        assert self._tree is not None  # rows exist only with a tree
        node = self._tree.rows[at]
        base, styles = self.own_style, self.part_styles
        segments = [Segment(" " + _INDENT * node.depth, base)]
        if node.kind == "more":
            return Strip([*segments, Segment("  … reading", base + styles["dim"])])
        if node.kind == "broken":
            told = f"  from byte {node.start:,} on this is no JSON, or no part of what stands before"
            return Strip([*segments, Segment(told, base + styles["failed"])])
        mark = ("▾ " if node.is_open else "▸ ") if node.is_container and node.count != 0 else "  "
        segments.append(Segment(mark, base + styles["dim"]))
        name, text = (self._with_hits(at, part, found) for part, found in enumerate(self._segments(at, width)))
        if name:
            segments += [*name, Segment(": ", base + styles["dim"])]
        return Strip([*segments, *(self._facts(node) if node.is_container else ()), *text])

    def _segments(self, at: int, width: int) -> tuple[list[Segment], list[Segment]]:
        """Return the part of a row that stands in the text itself, key or place and value, and the rest."""
        assert self._tree is not None
        node, base, styles = self._tree.rows[at], self.own_style, self.part_styles
        name = [Segment(visible(_name(node)), base + styles["key"])] if _name(node) else []
        if node.is_container:
            text = "" if node.is_open or node.count == 0 else node.text[:_PREVIEW_CHARACTERS]
            return name, [Segment(visible(text.replace("\t", " ")), base + styles["dim"])] if text else []
        style = base + styles[_VALUE_STYLES.get(node.kind, "dim")]
        shown = pieces(node.text[: width * 4].replace("\t", " "))
        return name, [Segment(text, base + styles["control"] if marked else style) for text, marked in shown]

    def _with_hits(self, at: int, part: int, segments: list[Segment]) -> list[Segment]:
        if self._search is None or not segments:
            return segments
        return list(self._search.drawn((at, part), Strip(segments), here=at == self.cursor))

    def _facts(self, node: TreeNode) -> list[Segment]:
        """Describe a container: its brackets, and how much is in it."""
        base, dim = self.own_style, self.own_style + self.part_styles["dim"]
        brackets = _BRACKETS[node.kind]
        size = human_bytes(node.end - node.start) if node.end else ""
        noun = _NOUNS[node.kind]
        count = "" if node.count is None else f"{node.count:,} {noun}{'' if node.count == 1 else 's'}"
        told = [Segment(f"{brackets[0]}…{brackets[1]}" if node.count != 0 else brackets, base)]
        facts = ", ".join(filter(None, (count, size))) or _least(node)
        told.append(Segment(f" {facts} ", dim))
        return told

    # keys

    def choose(self) -> None:
        """Fold or unfold a container; a plain value, or one that is still read, stays as it is."""
        if self._tree is not None:
            self._tree.toggle(self.cursor)
            self._redraw(self.cursor)

    async def action_fold(self) -> None:
        """Show or hide the content of the container. The next key acts on that content."""
        self.choose()
        await self.settled()

    async def settled(self) -> None:
        """Wait until what is on the screen is read, unless that takes long."""
        await self._reads.settled(_READ_SECONDS)

    def action_search_on(self, back: bool) -> None:
        """Go to the next hit or the previous one."""
        self.search.step(back=back)

    def action_forget(self) -> None:
        """Drop the search, and where it was going; if there is none, leave the key to others."""
        self._sought = None
        if self._search is None or not self._search.clear():
            raise SkipAction
        self.refresh()
        self.tell()

    async def action_open(self) -> None:
        """Unfold a container, or go into an unfolded one."""
        node = self.node
        if node is not None and node.is_open:
            self.move_to(self.cursor + 1)
        else:
            await self.action_fold()

    async def action_leave(self) -> None:
        """Fold a container; from any other node, go to the container around it."""
        node = self.node
        if self._tree is None or node is None:
            return
        if node.is_open and node.depth:
            await self.action_fold()
        else:
            self.move_to(self._tree.parent_of(self.cursor))


def _name(node: TreeNode) -> str:
    if node.parent is None:
        return ""
    if node.parent.kind == "lines":
        return str(node.place + 1)
    return f"[{node.place}]" if node.key is None else node.key


def json_target(store: Reading, streams: list[Target]) -> tuple[Target, TreeNode] | None:
    """Return the first of some streams that is JSON, and its root; None if none is. Raises what `Store.open` raises."""
    for target in streams:
        with store.open(target) as source:
            try:
                return target, read_root(source)
            except NotJson:
                continue
    return None


def _least(node: TreeNode) -> str:
    """Say what is certain of a container whose end is not read yet."""
    if node.children:
        return f"at least {len(node.children):,} {_NOUNS[node.kind]}s"
    return f"more than {human_bytes(NEAR_BYTES)}" if node.parent is not None else ""


class _Bytes:
    """A stream byte by byte, as the search reads it."""

    def __init__(self, reader: StreamReader, stream: str) -> None:
        self._reader = reader
        self.streams = (stream,)
        self.line_count = reader.byte_count
        self.close = reader.close

    def source(self, stream: str) -> StreamReader:  # noqa: ARG002 (as of every reading)
        return self._reader

    def offsets(self, number: int) -> dict[str, int]:
        return {self.streams[0]: min(number - 1, self.line_count)}

    def number_at(self, stream: str, offset: int) -> int:  # noqa: ARG002
        return offset + 1


class JsonPaneSearch(PaneSearch[StreamSearch]):
    """The search of a tree."""

    def __init__(self, view: JsonView, store: Reading, target: Target) -> None:
        super().__init__(view)
        self._view = view
        self._store = store
        self._target = target

    def _place(self) -> object:
        return self._view.node

    def _back_to(self, place: object) -> None:
        if place is not None:
            self._view.show_node(cast(TreeNode, place))

    def _here(self, *, back: bool = False) -> tuple[int, bool]:
        node, step = self._view.node, self._step
        if node is None:
            return 1, False
        hit = step.number if step is not None and self._view.is_at(step.number - 1) else node.start + 1
        if back:
            return min(hit, node.start + 1), True
        # A text with many hits is one step.
        return max(hit, node.start + 1 if node.is_container else node.end), True

    def _begins_at(self) -> int:
        node = self._view.node
        return node.start + 1 if node is not None else 1

    def _engine(self) -> Callable[[SearchPattern, int], StreamSearch] | None:
        store, target = self._store, self._target
        return lambda pattern, number: StreamSearch(
            pattern,
            lambda: _Bytes(store.open(target), target.stream),
            lambda _: store.local_copy(target, raw=True),
            number,
            matches=True,
        )

    def _go_to(self, number: int) -> None:
        self._view.go_to_byte(number - 1)

    def _on_screen(self) -> Mapping[Hashable, str]:
        return self._view.texts_on_screen()

    def _style(self, part: str) -> Style:
        return self._view.part_styles[part]

    def _tell(self) -> None:
        self._view.tell()

    def _redraw(self) -> None:
        self._view.refresh()
        self._view.tell()
