"""Reads JSON with comments and trailing commas, which `shape.json` does not, and keeps the place of each value."""

import functools
import re

from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*[\s\S]*?\*/)*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_OTHER = re.compile(r"(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)\b")
_DEEPEST = 200  # levels; real settings have about ten


class NotJsonc(ValueError):
    """The text is no JSON.

    Attributes:
        what: what is wrong.
        line: the line of the error, from 1.
        column: its column, from 1.
    """

    def __init__(self, what: str, text: str, offset: int) -> None:
        self.what = what
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        super().__init__(f"line {self.line}, column {self.column}: {what}")


class JsoncNode(NamedTuple):
    """A value, and its place in the text.

    Attributes:
        kind: ``object``, ``array`` or ``scalar``.
        start: offset of its first character.
        end: offset behind its last one.
        value: the value of a scalar.
        items: the members or elements of a container.
    """

    kind: str
    start: int
    end: int
    value: Any = None
    items: tuple["JsoncItem", ...] = ()

    def at(self, key: str) -> "JsoncItem | None":
        """The member of an object with this name; of several the last, which every reader takes."""
        return next((item for item in reversed(self.items) if item.key == key), None)


class JsoncItem(NamedTuple):
    """An object's member, or an array's element.

    Attributes:
        key: its name; empty in an array.
        start: offset of its name, else of its value.
        node: its value.
        comma: offset of the comma behind it; -1 where there is none.
    """

    key: str
    start: int
    node: JsoncNode
    comma: int


@functools.lru_cache(maxsize=2)  # one change reads its text many times, and some settings have megabytes
def parse(text: str) -> JsoncNode:
    """The value that a text holds. Raises NotJson."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    node = _value(text, start, 0)
    if (rest := _skip(text, node.end)) != len(text):
        raise NotJsonc("something follows the value", text, rest)
    return node


def plain(node: JsoncNode) -> Any:
    """The value as plain Python data, without places."""
    if node.kind == "object":
        return {item.key: plain(item.node) for item in node.items}
    if node.kind == "array":
        return [plain(item.node) for item in node.items]
    return node.value


def find(node: JsoncNode, keys: tuple[str, ...]) -> JsoncNode | None:
    """The value that these names lead to through objects; None where there is none."""
    for key in keys:
        item = node.at(key) if node.kind == "object" else None
        if item is None:
            return None
        node = item.node
    return node


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> JsoncNode:
    if depth > _DEEPEST:
        raise NotJsonc(f"it is nested deeper than {_DEEPEST} levels", text, at)
    opening = text[at : at + 1]
    if opening == "{":
        return _container(text, at, depth, "object", "}")
    if opening == "[":
        return _container(text, at, depth, "array", "]")
    found = _STRING.match(text, at) if opening == '"' else _OTHER.match(text, at)
    if not found:
        what = "a value is missing" if opening in ("", ",", "}", "]") else f"{opening!r} does not begin a value"
        raise NotJsonc(what, text, at)
    return JsoncNode("scalar", at, found.end(), _scalar(text, found))


def _scalar(text: str, found: re.Match[str]) -> Any:
    try:
        return loads(found.group())
    except ValueError as error:
        raise NotJsonc("a value is written wrongly", text, found.start()) from error


def _container(text: str, start: int, depth: int, kind: str, closing: str) -> JsoncNode:
    items: list[JsoncItem] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != closing:
        if items and items[-1].comma < 0:
            raise NotJsonc(f"a comma or {closing!r} is missing", text, at)
        begin, key = at, ""
        if kind == "object":
            key, at = _key(text, at)
        node = _value(text, at, depth + 1)
        at = _skip(text, node.end)
        comma = at if text[at : at + 1] == "," else -1
        items.append(JsoncItem(key, begin, node, comma))
        if comma >= 0:
            at = _skip(text, at + 1)
    return JsoncNode(kind, start, at + 1, items=tuple(items))


def _key(text: str, at: int) -> tuple[str, int]:
    """A member's name, and where its value begins."""
    found = _STRING.match(text, at)
    if not found:
        raise NotJsonc("a name in double quotes is missing", text, at)
    colon = _skip(text, found.end())
    if text[colon : colon + 1] != ":":
        raise NotJsonc("a colon is missing", text, colon)
    return str(_scalar(text, found)), _skip(text, colon + 1)
