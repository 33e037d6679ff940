"""Searching in a JSON tree: in the text that it is made of. Its numbers are bytes of that, from 1."""

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, cast

from rich.style import Style
from sightline.store.disk.streams import StreamReader
from sightline.store.query.hits import Pattern
from sightline.store.store import Store, Target
from sightline.tui.json_tree.nodes import Node
from sightline.tui.output.searching import Search
from sightline.tui.widgets.searching import Searching

if TYPE_CHECKING:
    from sightline.tui.widgets.json_view import JsonView


class _Bytes:
    """A stream byte by byte, as a search reads it."""

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


class JsonSearching(Searching[Search]):
    """The search of a tree."""

    def __init__(self, view: "JsonView", store: Store, target: Target) -> None:
        super().__init__(view)
        self._view = view
        self._store = store
        self._target = target

    def _place(self) -> object:
        return self._view.node

    def _back_to(self, place: object) -> None:
        if place is not None:
            self._view.show_node(cast(Node, place))

    def _here(self, *, back: bool = False) -> tuple[int, bool]:
        node, step = self._view.node, self._step
        if node is None:
            return 1, False
        hit = step.number if step is not None and self._view.is_at(step.number - 1) else node.start + 1
        if back:
            return min(hit, node.start + 1), True
        # A text in which there are many is one step.
        return max(hit, node.start + 1 if node.is_container else node.end), True

    def _begins_at(self) -> int:
        node = self._view.node
        return node.start + 1 if node is not None else 1

    def _engine(self) -> Callable[[Pattern, int], Search] | None:
        store, target = self._store, self._target
        return lambda pattern, number: Search(
            pattern,
            lambda: _Bytes(store.open(target), target.stream),
            lambda _: store.path(target),
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
