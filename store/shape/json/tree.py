"""The top of a JSON text as a tree: the children that a sample may show, their places, and how many more there are.

All of the text is read, and judged, once; of what lies below, only numbers and keys are kept.
"""

from typing import NamedTuple

from sightline.shape.json.element_tally import ElementTally
from sightline.shape.json.sampling import Detail, Sampling
from sightline.shape.json.scan import WINDOW_BYTES, NotJson, Scanner, kind_of
from sightline.shape.source import Source

KEPT_NODES = 20_000  # 5 MB; no budget shows as many lines
KEPT_MEMBERS = 2_000  # of one object
SMALL_REST = 32  # elements past those of a sample, kept too: a marker may take more room than they do


class Node(NamedTuple):
    """A value. Places are offsets in bytes.

    Attributes:
        kind: ``object``, ``array``, ``string``, ``number``, ``boolean`` or ``null``; ``lines`` for a text of several
            values, each on a new line.
        key: where it begins with its key; an element's is ``start``.
        start: where it begins.
        end: past it.
        total: children of a container.
        children: the first of them.
    """

    kind: str
    key: int
    start: int
    end: int
    total: int = 0
    children: tuple["Node", ...] = ()

    @property
    def is_container(self) -> bool:
        """Whether it has children, or could."""
        return self.kind in ("object", "array", "lines")


def children_shown(node: Node, depth: int, detail: Detail) -> int:
    """How many of a container's children stand in a sample."""
    if depth > detail.depth:
        return 0
    return min(detail.members if node.kind == "object" else detail.items, len(node.children))


def children_end(node: Node, shown: int) -> int:
    """Past the last of so many children."""
    return node.children[shown - 1].end if shown else node.start + (node.kind != "lines")


class Document(NamedTuple):
    """A JSON text.

    Attributes:
        root: the value, or all of them.
        tally: what the elements of an array, or the lines, are.
        several: how many of the values of a ``lines`` root span several lines.
    """

    root: Node
    tally: ElementTally
    several: int = 0


def read_document(source: Source, sampling: Sampling, window: int = WINDOW_BYTES) -> Document | None:
    """A stream's JSON, None where it is none: one value, or several containers each of which begins on a new line.

    Args:
        source: the stream.
        sampling: how much of it may be shown.
        window: bytes that are looked at together.
    """
    scanner = Scanner(source, window)
    try:
        return _Builder(scanner, sampling).document()
    except NotJson:
        return None


class _Builder:
    def __init__(self, scanner: Scanner, sampling: Sampling) -> None:
        self._scanner = scanner
        self._sampling = sampling
        self._left = KEPT_NODES

    def document(self) -> Document:
        scanner = self._scanner
        tally = ElementTally()
        start = scanner.start()
        root = self._value(start, start, 1, tally)
        following = scanner.space(root.end)
        if following >= scanner.size:
            return Document(root, tally)
        return self._lines(root)

    def _lines(self, first: Node) -> Document:
        """All values, the first of which is known."""
        scanner, tally = self._scanner, ElementTally()
        kept: list[Node] = []
        several, at = 0, first.start
        while at < scanner.size and len(kept) < self._sampling.array_items + SMALL_REST:
            node = self._value(at, at, 2, None) if kept else first
            if not node.is_container:
                raise NotJson(at)
            kept.append(node)
            tally.large(at)
            several += scanner.spans_lines(at, node.end)
            at = scanner.next_line(node.end)
        more, several_more = scanner.lines(at, tally)
        root = Node("lines", first.start, first.start, scanner.size, len(kept) + more, tuple(kept))
        return Document(root, tally, several + several_more)

    def _value(self, key: int, start: int, depth: int, tally: ElementTally | None) -> Node:
        scanner = self._scanner
        self._left -= 1
        char = scanner.char(start)
        kind = kind_of(char)
        if kind not in ("object", "array"):
            return Node(kind, key, start, scanner.value_end(start))
        closing = "}" if kind == "object" else "]"
        children: list[Node] = []
        more, at = scanner.opened(start)
        while more and self._keeps(kind, len(children), depth):
            is_extra = kind == "array" and len(children) >= self._sampling.array_items
            value = scanner.key(at)[1] if kind == "object" else at
            child = self._value(at, value, self._sampling.depth + 1 if is_extra else depth + 1, None)
            if tally and kind == "array":
                tally.large(value)
            children.append(child)
            more, at = scanner.step(child.end, closing)
        count = len(children)
        if more:
            rest, at = scanner.rest(at, closing, tally if kind == "array" else None)
            count += rest
        return Node(kind, key, start, at, count, tuple(children))

    def _keeps(self, kind: str, count: int, depth: int) -> bool:
        """Whether another child of a container is kept."""
        if self._left <= 0 or depth > self._sampling.depth:
            return False
        return count < (KEPT_MEMBERS if kind == "object" else self._sampling.array_items + SMALL_REST)
