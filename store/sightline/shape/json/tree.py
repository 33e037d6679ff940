"""Reads the top of a JSON text as a tree: the children that a sample may show, their places, and the number of others.

All of the text is read and checked once. Of what lies deeper, only numbers and keys are kept: the types of an array's
elements, and the keys of its objects.
"""

from collections import Counter

from sightline.base.profile import DEFAULT, Sampling
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.shape.json.sampling import Detail
from sightline.shape.json.scanner import WINDOW_BYTES, NotJson, Scanner, keys_of, kind_of
from sightline.shape.json.strings import read_key
from sightline.shape.source import Source

ELEMENT_KEYS = 50
"""Keys that are named of an array's objects; gh-aw names all of the first, however many."""

_COUNTED_KEYS = 10_000  # distinct ones; a text with more keeps data in its keys
_KINDS = {dict: "object", list: "array", str: "string", bool: "boolean", int: "number", float: "number"}
_ORDER = ("object", "array", "string", "number", "boolean", "null")


class ElementTally:
    """The types of an array's elements, and the keys of its objects."""

    def __init__(self) -> None:
        self._types: Counter[str] = Counter()
        self._keys: Counter[str] = Counter()
        self._places: list[int] = []

    def values(self, found: list[Any]) -> None:
        """Take elements from `json.loads`, whose text was read as latin-1."""
        for kind, count in Counter(map(type, found)).items():
            self._types[_KINDS.get(kind, "null")] += count
        objects = found if self._types.keys() == {"object"} else [one for one in found if type(one) is dict]
        for keys, count in Counter(map(tuple, objects)).items():
            for key in keys:
                self._count_key(key, count)

    def large(self, start: int) -> None:
        """Take an element that begins here, and look at it only if it is needed."""
        self._places.append(start)

    def told(self, source: Source, null_name: str = DEFAULT.results.null_name) -> str:
        """Write the types of the elements, with the keys of the objects: ``{id, name, note?} | null``."""
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


KEPT_NODES = 20_000  # 5 MB; no budget shows that many lines
KEPT_MEMBERS = 2_000  # of one object
SMALL_REST = 32  # elements past those of a sample that are kept, too, because a marker may take more room


class Node(NamedTuple):
    """A value. Places are offsets in bytes.

    Attributes:
        kind: ``object``, ``array``, ``string``, ``number``, ``boolean`` or ``null``; ``lines`` for a text of several
            values, each on a new line.
        key: offset of its key; for an element, of its start.
        start: offset of its beginning.
        end: offset of its end, exclusive.
        total: number of children of a container.
        children: its first children.
    """

    kind: str
    key: int
    start: int
    end: int
    total: int = 0
    children: tuple["Node", ...] = ()

    @property
    def is_container(self) -> bool:
        """Whether it has, or could have, children."""
        return self.kind in ("object", "array", "lines")


def children_shown(node: Node, depth: int, detail: Detail) -> int:
    """Return how many of a container's children a sample shows."""
    if depth > detail.depth:
        return 0
    return min(detail.members if node.kind == "object" else detail.items, len(node.children))


def children_end(node: Node, shown: int) -> int:
    """Return the offset past the last of this many children."""
    return node.children[shown - 1].end if shown else node.start + (node.kind != "lines")


class Document(NamedTuple):
    """A parsed JSON text.

    Attributes:
        root: the value, or all of them.
        tally: the types of an array's elements, or of the lines.
        several: number of a ``lines`` root's values that span several lines.
    """

    root: Node
    tally: ElementTally
    several: int = 0


def read_document(source: Source, sampling: Sampling, window: int = WINDOW_BYTES) -> Document | None:
    """Parse a stream: one value, or several containers, each of which begins on a new line; None if it is not JSON.

    Args:
        source: the stream.
        sampling: how much of it may be shown.
        window: number of bytes that are looked at together.
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
        """Read all values, after the first."""
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
        """Return whether another child of a container is kept."""
        if self._left <= 0 or depth > self._sampling.depth:
            return False
        return count < (KEPT_MEMBERS if kind == "object" else self._sampling.array_items + SMALL_REST)
