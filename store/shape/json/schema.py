"""Says what a JSON text is: in a line, ``[{id, name, data}] (2000 items)``, or as a recursive skeleton.

Of elements that differ all is told: ``[{id, note?}] (12 items)`` where not all have a note, ``[number | string]``. In a
skeleton each value is its type's name, each array one element that stands for all, a key that not all of them have ends
with ``?``, types that differ are joined (``"string | null"``), and an array of both containers and others lists one of
each.
"""

import json
from collections.abc import Iterable
from typing import Any

from sightline.shape.json.sampling import DEFAULT, Sampling
from sightline.shape.json.scanner import MEMBERS_LOOKED_AT, NotJson, Scanner, keys_of, kind_of, parsed
from sightline.shape.json.strings import read_key
from sightline.shape.json.tree import Document, ElementTally
from sightline.shape.source import Source

OBJECT_KEYS = 10
"""Keys that are named of one object, as gh-aw's compact schema does."""

TEXT = "text content"
"""What is said of anything that is no JSON."""


def describe(document: Document | None, source: Source, sampling: Sampling = DEFAULT) -> str:
    """What a text is, in a line.

    Args:
        document: its JSON, None where it is none.
        source: the text.
        sampling: what null is called, and whether all elements are told of or the first.
    """
    if document is None:
        return TEXT
    root = document.root
    if root.kind == "lines":
        what = "values" if document.several else "lines"
        return f"JSON {what}: {_elements(document, source, sampling)} ({root.total} {what})"
    if root.kind == "array":
        return f"[{_elements(document, source, sampling)}] ({root.total} items)" if root.total else "[]"
    if root.kind != "object":
        return sampling.null_name if root.kind == "null" else root.kind
    names = [read_key(key) for key in dict.fromkeys(keys_of(Scanner(source), root.start, OBJECT_KEYS + 1))]
    if len(names) > OBJECT_KEYS or root.total > MEMBERS_LOOKED_AT:
        return "{" + ", ".join(names[:OBJECT_KEYS]) + f", ...}} ({root.total} keys)"
    return "{" + ", ".join(names) + "}"


def _elements(document: Document, source: Source, sampling: Sampling) -> str:
    """What the elements of an array are, or the lines; none is empty."""
    tally, root = document.tally, document.root
    if not sampling.mark_mixed:
        tally = ElementTally()
        tally.large(root.start if root.kind == "lines" else Scanner(source).opened(root.start)[1])
    return tally.told(source, sampling.null_name)


SHOWN_KEYS = 100
"""Keys of one object; more are counted: such an object keeps data in its keys."""

_DEPTH = 24
_WHOLE_BYTES = 1 << 16  # containers up to this are parsed at once
_NAMES = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}
_ORDER = ("string", "number", "boolean", "null")


class Shape:
    """What some values have in common."""

    __slots__ = ("_flat", "element", "has_array", "keys", "more_keys", "objects", "scalars")

    def __init__(self) -> None:
        self.scalars: set[str] = set()
        self.objects = 0
        self.keys: dict[str, tuple[Shape, list[int]]] = {}  # what stands there, and in how many of the objects
        self.more_keys = 0
        self.has_array = False
        self.element: Shape | None = None
        self._flat: dict[tuple[Any, ...], list[int]] = {}

    def add(self, value: Any, depth: int = 0) -> None:
        """Take in a value as `json.loads` gives it, its text read as latin-1."""
        kind = type(value)
        if kind is dict:
            self._add_object(value, depth)
        elif kind is list:
            self.elements().add_all(value, depth + 1)
        else:
            self.scalars.add(_NAMES[kind])

    def add_all(self, values: Iterable[Any], depth: int) -> None:
        """Take in several values."""
        if depth <= _DEPTH:
            for value in values:
                self.add(value, depth)

    def elements(self) -> "Shape":
        """What an array's elements have in common; there is one."""
        self.has_array = True
        if self.element is None:
            self.element = Shape()
        return self.element

    def member(self, key: str) -> "Shape | None":
        """What stands at a key, of which there is one more; None past the keys that are shown."""
        found = self.keys.get(key)
        if found is None:
            if len(self.keys) >= SHOWN_KEYS:
                self.more_keys += 1
                return None
            found = self.keys[key] = (Shape(), [0])
        found[1][0] += 1
        return found[0]

    def _add_object(self, value: dict[str, Any], depth: int) -> None:
        """Objects of the same keys and the same types of scalars are told apart by nothing: they are only counted."""
        self.objects += 1
        if depth >= _DEPTH:
            return
        signature = (*value, *map(type, value.values()))
        counts = self._flat.get(signature)
        if counts is None:
            is_new = len(self._flat) < SHOWN_KEYS and not any(type(one) in (dict, list) for one in value.values())
            members = [(key, self.member(key)) for key in value]
            for (_, shape), one in zip(members, value.values(), strict=True):
                if shape:
                    shape.add(one, depth + 1)
            if is_new and not self.more_keys:
                self._flat[signature] = [0]
        else:
            counts[0] += 1

    def _settle(self) -> None:
        """Bring what was only counted to the keys."""
        for signature, counts in self._flat.items():
            for key in signature[: len(signature) // 2]:
                self.keys[key][1][0] += counts[0]
            counts[0] = 0

    def told(self) -> Any:
        """The skeleton, as JSON values."""
        alternatives = self.alternatives()
        if len(alternatives) == 1:
            return alternatives[0]
        return {"one of": alternatives} if alternatives else "…"

    def alternatives(self) -> list[Any]:
        """The skeletons of each sort of these values: the objects, the arrays, and the types of all others as one."""
        self._settle()
        parts: list[Any] = []
        if self.objects:
            parts.append(self._object())
        if self.has_array:
            parts.append(self.element.alternatives() if self.element else [])
        if self.scalars:
            parts.append(" | ".join(name for name in _ORDER if name in self.scalars))
        return parts

    def _object(self) -> dict[str, Any]:
        told = {
            read_key(key) + ("" if counts[0] >= self.objects else "?"): shape.told()
            for key, (shape, counts) in self.keys.items()
        }
        return {**told, "…": "more keys"} if self.more_keys else told


class _Elements:
    """Takes elements as a scanner leaps over them."""

    def __init__(self, shape: Shape, depth: int) -> None:
        self.places: list[int] = []
        self._shape = shape
        self._depth = depth

    def values(self, found: list[Any]) -> None:
        self._shape.add_all(found, self._depth)

    def large(self, start: int) -> None:
        self.places.append(start)


def skeleton(source: Source) -> str | None:
    """The skeleton of a stream's JSON as indented JSON, None where it is none.

    Of JSON lines it is that of any line.
    """
    scanner = Scanner(source)
    shape = Shape()
    try:
        start = scanner.start()
        end = _add(scanner, start, shape, 0)
        following = scanner.space(end)
        if following < scanner.size:
            _add_lines(scanner, scanner.line_value(start)[0], shape)
    except NotJson:
        return None
    return json.dumps(shape.told(), ensure_ascii=False, indent=2)


def _add_lines(scanner: Scanner, end: int, shape: Shape) -> None:
    """Values on new lines, after one that ended here."""
    lines = _Elements(shape, 0)
    scanner.lines(scanner.next_line(end), lines)
    for start in lines.places:
        _add(scanner, start, shape, 0)


def _add(scanner: Scanner, start: int, shape: Shape, depth: int) -> int:
    """Take in the value that begins here, of any size; past it."""
    kind = kind_of(scanner.char(start))
    end = scanner.value_end(start)
    if kind not in ("object", "array"):
        shape.scalars.add(kind)
    elif end - start <= _WHOLE_BYTES and (value := parsed(scanner.raw(start, end).decode("latin-1"))) is not None:
        shape.add(value, depth)
    elif depth < _DEPTH:
        (_add_array if kind == "array" else _add_members)(scanner, start, shape, depth)
    return end


def _add_array(scanner: Scanner, start: int, shape: Shape, depth: int) -> None:
    elements = _Elements(shape.elements(), depth + 1)
    more, at = scanner.opened(start)
    if more:
        scanner.rest(at, "]", elements)
    for place in elements.places:
        _add(scanner, place, shape.elements(), depth + 1)


def _add_members(scanner: Scanner, start: int, shape: Shape, depth: int) -> None:
    shape.objects += 1
    more, at = scanner.opened(start)
    while more:
        end, value = scanner.key(at)
        member = shape.member(scanner.raw(at + 1, end - 1).decode("latin-1"))
        end = _add(scanner, value, member, depth + 1) if member else scanner.value_end(value)
        more, at = scanner.step(end, "}")
