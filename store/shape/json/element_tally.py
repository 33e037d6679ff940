"""What the elements of an array are, and which keys their objects have: counted while the text is read."""

import re
from collections import Counter
from typing import Any

from sightline.shape.json.sampling import Sampling
from sightline.shape.json.scan import Scanner, kind_of
from sightline.shape.source import Source

ELEMENT_KEYS = 50
"""Keys that are named of an array's objects; gh-aw names all of the first, however many."""

DEFAULT = Sampling()

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


MEMBERS_LOOKED_AT = 1 << 14


def keys_of(scanner: Scanner, start: int, most: int) -> list[str]:
    """The different keys of the object that begins here, in order, as far as so many; their text read as latin-1.

    Of the first MEMBERS_LOOKED_AT members: a key may be there a million times.
    """
    found: dict[str, None] = {}
    more, at = scanner.opened(start)
    looked_at = 0
    while more and len(found) < most and looked_at < MEMBERS_LOOKED_AT:
        looked_at += 1
        end, value = scanner.key(at)
        found[scanner.raw(at + 1, end - 1).decode("latin-1")] = None
        more, at = scanner.step(scanner.value_end(value), "}")
    return list(found)


_NOT_ASCII = re.compile(r"[\x80-\xff]+")


def read_key(text: str) -> str:
    """A key whose UTF-8 was read as latin-1, fit for a line: long ones are cut, breaks are spaces."""
    text = _NOT_ASCII.sub(lambda match: _utf8(match[0]), text)
    text = " ".join(text.split())
    return text if len(text) <= _KEY_CHARACTERS else text[:_KEY_CHARACTERS] + "…"


_KEY_CHARACTERS = 60


def _utf8(text: str) -> str:
    try:
        return text.encode("latin-1").decode()
    except UnicodeDecodeError:
        return text  # it was spelled as an escape
