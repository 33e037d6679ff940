"""The top of a JSON text as a tree: the children that a sample may show, their places, and how many more there are.

All of the text is read, and judged, once; of what lies below, only numbers and keys are kept: what the elements of an
array are, and which keys their objects have.
"""

from collections import Counter
from typing import Any

from sightline.named_tuple import NamedTuple
from sightline.shape.json.sampling import DEFAULT, Detail, Sampling
from sightline.shape.json.scanner import WINDOW_BYTES, NotJson, Scanner, keys_of, kind_of
from sightline.shape.json.strings import read_key
from sightline.shape.source import Source

ELEMENT_KEYS = 50
"""Keys that are named of an array's objects; gh-aw names all of the first, however many."""

_COUNTED_KEYS = 10_000  # different ones; past these a text keeps data in its keys
_KINDS = {dict: "object", list: "array", str: "string", bool: "boolean", int: "number", float: "number"}
_ORDER = ("object", "array", "string", "number", "boolean", "null")


class ElementTally:
    """What the elements of an array are: how many of each type, and which keys the objects have."""

    def __init__(self) -> None:
        self._types: Counter[str] = Counter()
        self._keys: Counter[str] = Counter()
        self._places: list[int] = []

    def values(self, found: list[Any]) -> None:
        """Elements as `json.loads` gives them, their text read as latin-1."""
        for kind, count in Counter(map(type, found)).items():
            self._types[_KINDS.get(kind, "null")] += count
        objects = found if self._types.keys() == {"object"} else [one for one in found if type(one) is dict]
        for keys, count in Counter(map(tuple, objects)).items():
            for key in keys:
                self._count_key(key, count)

    def large(self, start: int) -> None:
        """An element that begins here and is looked at only when it is asked for."""
        self._places.append(start)

    def told(self, source: Source, null_name: str = DEFAULT.null_name) -> str:
        """The types of the elements, with the keys of the objects: ``{id, name, note?} | null``."""
        scanner = Scanner(source)
        places, self._places = self._places, []
        for start in places:
            self._look_at(scanner, start)
        parts = [self._objects() if kind == "object" else kind for kind in _ORDER if self._types[kind]]
        return " | ".join(null_name if part == "null" else part for part in parts)

    def _look_at(self, scanner: Scanner, start: int) -> None:
        kind = kind_of(scanner.char(start))
        self._types[kind] += 1
        if kind == "object":
            for key in dict.fromkeys(keys_of(scanner, start, _COUNTED_KEYS)):
                self._count_key(key, 1)

    def _count_key(self, key: str, count: int) -> None:
        if key in self._keys or len(self._keys) < _COUNTED_KEYS:
            self._keys[key] += count

    def _objects(self) -> str:
        of_all = self._types["object"]
        named = [read_key(key) + ("" if count >= of_all else "?") for key, count in self._keys.items()]
        if len(named) > ELEMENT_KEYS:
            named[ELEMENT_KEYS:] = ["..."]
        return "{" + ", ".join(named) + "}"


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
