"""Describes a JSON text: in a line, ``[{id, name, data}] (2000 items)``, or as a recursive skeleton.

All elements count if they differ: ``[{id, note?}] (12 items)`` if not all have a note, ``[number | string]``. In a
skeleton, each value is its type's name, and one element stands for all of an array. A key that some of them lack ends
with ``?``, different types are joined (``"string | null"``), and an array of both containers and others lists one of
each.
"""

import json
from collections.abc import Iterable

from sightline.base.profile import DEFAULT, Sampling
from sightline.light.typing_names import Any
from sightline.shape.json.scanner import MEMBERS_LOOKED_AT, NotJson, Scanner, keys_of, kind_of, parsed
from sightline.shape.json.strings import read_key
from sightline.shape.json.tree import Document, ElementTally
from sightline.shape.source import Source

OBJECT_KEYS = 10
"""Keys that are named of one object, as in gh-aw's compact schema."""

TEXT = "text content"
"""The description of anything that is not JSON."""


def describe(document: Document | None, source: Source, sampling: Sampling = DEFAULT.results) -> str:
    """Describe a text in a line.

    Args:
        document: its JSON; None if it is not JSON.
        source: the text.
        sampling: the name of null, and whether all elements are described or the first.
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
    """Describe the elements of an array, or the lines; there is at least one."""
    tally, root = document.tally, document.root
    if not sampling.mark_mixed:
        tally = ElementTally()
        tally.large(root.start if root.kind == "lines" else Scanner(source).opened(root.start)[1])
    return tally.told(source, sampling.null_name)


SHOWN_KEYS = 100
"""Keys shown of one object; an object with more keeps data in its keys, so these are counted."""

_DEPTH = 24
_WHOLE_BYTES = 1 << 16  # containers up to this size are parsed at once
_NAMES = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}
_ORDER = ("string", "number", "boolean", "null")


class Shape:
    """What some values have in common."""

    __slots__ = ("_flat", "element", "has_array", "keys", "more_keys", "objects", "scalars")

    def __init__(self) -> None:
        self.scalars: set[str] = set()
        self.objects = 0
        self.keys: dict[str, tuple[Shape, list[int]]] = {}  # each key's shape, and in how many objects it occurs
        self.more_keys = 0
        self.has_array = False
        self.element: Shape | None = None
        self._flat: dict[tuple[Any, ...], list[int]] = {}

    def add(self, value: Any, depth: int = 0) -> None:
        """Take in a value from `json.loads`, whose text was read as latin-1."""
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
        """The shape of an array's elements; there is at least one."""
        self.has_array = True
        if self.element is None:
            self.element = Shape()
        return self.element

    def member(self, key: str) -> "Shape | None":
        """Return the shape at a key, and count it once more; None past the keys that are shown."""
        found = self.keys.get(key)
        if found is None:
            if len(self.keys) >= SHOWN_KEYS:
                self.more_keys += 1
                return None
            found = self.keys[key] = (Shape(), [0])
        found[1][0] += 1
        return found[0]

    def _add_object(self, value: dict[str, Any], depth: int) -> None:
        """Count an object; objects with equal keys and equal types of scalars are only counted."""
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
        """Add to the keys what was only counted."""
        for signature, counts in self._flat.items():
            for key in signature[: len(signature) // 2]:
                self.keys[key][1][0] += counts[0]
            counts[0] = 0

    def told(self) -> Any:
        """Return the skeleton as JSON values."""
        alternatives = self.alternatives()
        if len(alternatives) == 1:
            return alternatives[0]
        return {"one of": alternatives} if alternatives else "…"

    def alternatives(self) -> list[Any]:
        """Return the skeletons of each sort of these values: objects, arrays, and the types of all others joined."""
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
    """Takes elements that a scanner skips."""

    def __init__(self, shape: Shape, depth: int) -> None:
        self.places: list[int] = []
        self._shape = shape
        self._depth = depth

    def values(self, found: list[Any]) -> None:
        self._shape.add_all(found, self._depth)

    def large(self, start: int) -> None:
        self.places.append(start)


def skeleton(source: Source) -> str | None:
    """Return the skeleton of a stream's JSON as indented JSON; None if it is not JSON.

    For JSON lines it is the skeleton of any line.
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
    """Take in values on new lines, after one that ended here."""
    lines = _Elements(shape, 0)
    scanner.lines(scanner.next_line(end), lines)
    for start in lines.places:
        _add(scanner, start, shape, 0)


def _add(scanner: Scanner, start: int, shape: Shape, depth: int) -> int:
    """Take in the value of any size that begins here, and return the offset past it."""
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
