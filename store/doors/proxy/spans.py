"""Where the values of a JSON text stand in it, so that a part can be replaced while the rest stays as it was written.

The interpreter's own scanner reads the values; only the objects and arrays that are asked for are walked here.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

Reader = Callable[[str, int], tuple[Any, int]]
"""Takes a text and the place where a value begins; gives the value, and the place past it."""

SPACE = " \t\r\n"
"""What may stand between values."""


class NotPlain(ValueError):
    """The text is no JSON that is read here, or a key stands twice in an object, so that readers may differ on it."""


class Span(NamedTuple):
    """A value in a text.

    Attributes:
        key: where the member begins with its key; an element's is ``start``.
        start: where the value begins.
        end: past it.
        value: what it says: plain Python, or members and elements as spans again where they were walked into.
    """

    key: int
    start: int
    end: int
    value: Any


plain: Reader = json.JSONDecoder().raw_decode
"""Reads any value to plain Python."""


def object_of(**within: Reader) -> Reader:
    """Reads an object to ``{key: Span}``, some of its members in their own way; what is no object plainly."""

    def read(text: str, at: int) -> tuple[Any, int]:
        return _members(text, at + 1, within) if text[at] == "{" else plain(text, at)

    return read


def array_of(element: Reader) -> Reader:
    """Reads an array to ``[Span]``; what is no array plainly."""

    def read(text: str, at: int) -> tuple[Any, int]:
        return _elements(text, at + 1, element) if text[at] == "[" else plain(text, at)

    return read


RESULT = {"content": array_of(plain)}
"""How the members of a tool's result are read that are not read plainly."""


def parse(text: str, reader: Reader) -> Any:
    """The value of a whole text. Raises NotPlain."""
    try:
        value, end = reader(text, _past(text, 0))
    except (IndexError, RecursionError, ValueError) as error:  # ValueError: no JSON, or a number of thousands of digits
        raise NotPlain("not JSON, nested too deeply, or a number too long") from error
    if text[end:].strip(SPACE):
        raise NotPlain("something follows the value")
    return value


def replaced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """The text with other words in some places: (start, end, instead), in order."""
    pieces: list[str] = []
    at = 0
    for start, end, instead in changes:
        pieces += (text[at:start], instead)
        at = end
    return "".join([*pieces, text[at:]])


def without(text: str, whole: Span, members: dict[str, Span], key: str) -> str:
    """An object's text without one of its members; all others as they were written."""
    kept = [text[span.key : span.end] for name, span in members.items() if name != key]
    return "{" + ",".join(kept) + "}" if key in members else text[whole.start : whole.end]


def _members(text: str, at: int, within: dict[str, Reader]) -> tuple[dict[str, Span], int]:
    members: dict[str, Span] = {}
    at = _past(text, at)
    if text[at] == "}":
        return members, at + 1
    while True:
        if text[at] != '"':
            raise NotPlain("a key is no string")
        key_at = at
        key, at = plain(text, at)
        at = _past(text, at)
        if text[at] != ":" or key in members:
            raise NotPlain("no colon, or a key twice")
        start = _past(text, at + 1)
        value, end = within.get(key, plain)(text, start)
        members[key] = Span(key_at, start, end, value)
        at = _past(text, end)
        if text[at] == "}":
            return members, at + 1
        at = _comma(text, at)


def _elements(text: str, at: int, element: Reader) -> tuple[list[Span], int]:
    elements: list[Span] = []
    at = _past(text, at)
    if text[at] == "]":
        return elements, at + 1
    while True:
        value, end = element(text, at)
        elements.append(Span(at, at, end, value))
        at = _past(text, end)
        if text[at] == "]":
            return elements, at + 1
        at = _comma(text, at)


def _comma(text: str, at: int) -> int:
    if text[at] != ",":
        raise NotPlain("no comma")
    return _past(text, at + 1)


def _past(text: str, at: int) -> int:
    """Past the space that may stand there. Raises IndexError at the text's end."""
    while text[at] in SPACE:
        at += 1
    return at
