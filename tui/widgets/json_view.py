"""A JSON text as a tree that folds. What a container holds is read when it is shown, a page at a time."""

from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from sightline.store.shape.structured.json_scan import NotJson
from sightline.store.shape.summary import human_bytes
from sightline.store.store import Store, Target
from sightline.tui.errand import Errand
from sightline.tui.json_nodes import NEAR_BYTES, Batch, Left, Node, read_children, read_root
from sightline.tui.json_rows import JsonRows
from sightline.tui.keys import named
from sightline.tui.safe import pieces, visible
from sightline.tui.widgets.row_view import RowView
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

_BRACKETS = {"object": "{}", "array": "[]", "lines": "  "}
_VALUE_STYLES = {"string": "string", "number": "number", "boolean": "number", "null": "number"}
_NOUNS = {"object": "key", "array": "item", "lines": "value"}
_INDENT = "  "
_PREVIEW_CHARACTERS = 200

Loaded = tuple[Node | None, Batch | None]


class JsonView(RowView):
    """Rows of nodes."""

    PARTS = (*RowView.PARTS, "string", "number", "control", "failed")
    COMPONENT_CLASSES: ClassVar = {f"row-view--{part}" for part in PARTS}
    BINDINGS: ClassVar[list[BindingType]] = named(
        "json",
        [
            Binding("enter,space", "fold", "Fold or unfold", key_display="Enter"),
            Binding("right,l", "open", "Unfold, or go in", show=False),
            Binding("left,h", "leave", "Fold, or go out", show=False),
        ],
    )

    class Moved(Message):
        """The cursor stands on a node, or more is known of it."""

        def __init__(self, node: Node) -> None:
            super().__init__()
            self.node = node

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, JsonView.Moved)

    def __init__(self, store: Store, target: Target, *, id: str | None = None) -> None:  # noqa: A002
        """Make it.

        Args:
            store: the store.
            target: the stream.
            id: of the widget.
        """
        super().__init__(id=id)
        self._store = store
        self._target = target
        self._tree: JsonRows | None = None
        self._is_left = False
        self._reads: Errand[Loaded] = Errand(self, self._plan, self._take)

    def on_unmount(self) -> None:
        """Nothing goes on without it."""
        self._is_left = True

    @property
    def node(self) -> Node | None:
        """The node under the cursor."""
        return self._tree.rows[self.cursor] if self._tree is not None else None

    def show(self, root: Node) -> None:
        """Show a text from its root on, as `read_root` gives it."""
        self._tree = JsonRows(root)
        self._redraw(0)

    def _redraw(self, cursor: int) -> None:
        if self._tree is not None:
            self.set_rows(len(self._tree), cursor=cursor)
            self._reads.ask()

    def _plan(self) -> Callable[[], Loaded] | None:
        if self._tree is None:
            return None
        top = self.scroll_offset.y
        node = self._tree.wanted(top, top + self.size.height)
        if node is None:
            return None

        def read() -> Loaded:
            with self._store.open(self._target) as source:
                try:
                    return node, read_children(source, node, is_left=lambda: self._is_left)
                except Left:
                    return None, None

        return read

    def _take(self, loaded: Loaded) -> None:
        node, batch = loaded
        if self._tree is None or node is None or batch is None:
            return
        at, added = self._tree.take(node, batch)
        self._redraw(self.cursor + added if self.cursor > at else self.cursor)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """What comes into sight is read."""
        super().watch_scroll_y(old_value, new_value)
        self._reads.ask()

    def on_resize(self) -> None:
        """More may be in sight."""
        self._reads.ask()

    def cursor_moved(self) -> None:
        """Tell where it stands."""
        if (node := self.node) is not None:
            self.post_message(self.Moved(node))

    # drawing

    def draw(self, at: int, width: int) -> Strip:
        """A node: its key or place, and its value, or what is known of what it holds."""
        assert self._tree is not None  # there are rows only with it
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
        if name := _name(node):
            segments += [Segment(visible(name), base + styles["key"]), Segment(": ", base + styles["dim"])]
        if node.is_container:
            return Strip([*segments, *self._container(node)])
        style = base + styles[_VALUE_STYLES[node.kind]]
        for text, marked in pieces(node.text[: width * 4].replace("\t", " ")):
            segments.append(Segment(text, base + styles["control"] if marked else style))
        return Strip(segments)

    def _container(self, node: Node) -> list[Segment]:
        base, dim = self.own_style, self.own_style + self.part_styles["dim"]
        brackets = _BRACKETS[node.kind]
        size = human_bytes(node.end - node.start) if node.end else ""
        noun = _NOUNS[node.kind]
        count = "" if node.count is None else f"{node.count:,} {noun}{'' if node.count == 1 else 's'}"
        told = [Segment(f"{brackets[0]}…{brackets[1]}" if node.count != 0 else brackets, base)]
        facts = ", ".join(filter(None, (count, size))) or _least(node)
        told.append(Segment(f" {facts} ", dim))
        if not node.is_open and node.text and node.count != 0:
            told.append(Segment(visible(node.text[:_PREVIEW_CHARACTERS].replace("\t", " ")), dim))
        return told

    # keys

    def choose(self) -> None:
        """Fold or unfold."""
        self.action_fold()

    def action_fold(self) -> None:
        """Show or hide what is in the container; of a value, or of what is still read, nothing."""
        if self._tree is not None:
            self._tree.toggle(self.cursor)
            self._redraw(self.cursor)

    def action_open(self) -> None:
        """Unfold a container; go into one that is unfolded."""
        node = self.node
        if node is not None and node.is_open:
            self.move_to(self.cursor + 1)
        else:
            self.action_fold()

    def action_leave(self) -> None:
        """Fold a container; from anything else go to the one around it."""
        node = self.node
        if self._tree is None or node is None:
            return
        if node.is_open and node.depth:
            self.action_fold()
        else:
            self.move_to(self._tree.parent_of(self.cursor))


def _name(node: Node) -> str:
    if node.parent is None:
        return ""
    if node.parent.kind == "lines":
        return str(node.place + 1)
    return f"[{node.place}]" if node.key is None else node.key


def json_target(store: Store, streams: list[Target]) -> tuple[Target, Node] | None:
    """The first of some streams that is JSON, and its root; None where none is. Raises as `Store.open`."""
    for target in streams:
        with store.open(target) as source:
            try:
                return target, read_root(source)
            except NotJson:
                continue
    return None


def _least(node: Node) -> str:
    """What is certain of a container whose end has not been read."""
    if node.children:
        return f"at least {len(node.children):,} {_NOUNS[node.kind]}s"
    return f"more than {human_bytes(NEAR_BYTES)}" if node.parent is not None else ""
