"""Small changes to the text of JSON settings; everything else, comments included, stays as it is.

Removing what was added gives back the same text as before.
"""

import json
import re

from sightline.agents.install.jsonc import JsoncItem, JsoncNode, find, parse
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

Keys = tuple[str, ...]

_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)?")
_BLANK_LINE_END = re.compile(r"[ \t]*(?:\r?\n|\Z)")
_INDENT = re.compile(r"\n([ \t]+)\S")


class NoPlace(ValueError):
    """The value at a place has another type than the change needs.

    Attributes:
        keys: the names that lead to the value.
        kind: the type that the value must have.
    """

    def __init__(self, keys: Keys, kind: str) -> None:
        super().__init__(f"{'.'.join(keys) or 'the whole'} is no {kind}")
        self.keys = keys
        self.kind = kind


class _Style(NamedTuple):
    indent: str
    newline: str
    compact: bool


def put(text: str, keys: Keys, value: Any) -> str:
    """The text with a value under these names; objects on the way are made. Raises NotJson, NoPlace."""
    root = parse(text)
    if (there := find(root, keys)) is not None:
        return _cut(text, [(there.start, there.end, _dumped(value, _style(text), _indent_at(text, there.start)))])
    depth = max(at for at in range(len(keys)) if find(root, keys[:at]) is not None)
    container = find(root, keys[:depth])
    if container is None or container.kind != "object":
        raise NoPlace(keys[:depth], "object")
    for key in reversed(keys[depth + 1 :]):
        value = {key: value}
    return _insert(text, container, keys[depth], value)


def append(text: str, keys: Keys, value: Any) -> str:
    """The text with one more element in an array, which is made where it is missing. Raises NotJson, NoPlace."""
    array = find(parse(text), keys)
    if array is None:
        return put(text, keys, [value])
    if array.kind != "array":
        raise NoPlace(keys, "array")
    return _insert(text, array, None, value)


def remove(text: str, keys: Keys) -> str:
    """The text without a member; as it is where there is none. Raises NotJson."""
    container = find(parse(text), keys[:-1])
    item = container.at(keys[-1]) if container is not None and container.kind == "object" else None
    return text if container is None or item is None else remove_item(text, container, item)


def remove_item(text: str, container: JsoncNode, item: JsoncItem) -> str:
    """The text without an item that was found in a container."""
    place = container.items.index(item)
    before = container.items[place - 1] if place else None
    line_start = text.rfind("\n", 0, item.start) + 1
    own_line = not text[line_start : item.start].strip(" \t")
    if item.comma >= 0:
        end = item.comma + 1
        blank = _BLANK_LINE_END.match(text, end)
        if own_line and blank:
            return _cut(text, [(line_start, blank.end(), "")])
        if before is not None and item is container.items[-1] and not text[before.comma + 1 : item.start].strip():
            return _cut(text, [(before.comma + 1, end, "")])
        if blank and before is not None:  # the next item stands on a line of its own
            return _cut(text, [(before.comma + 1, end, "")])
        if not own_line:
            end += len(text[end:]) - len(text[end:].lstrip(" "))
        return _cut(text, [(item.start, end, "")])
    end = item.node.end
    if before is None:
        inner = text[container.start + 1 : item.start] + text[end : container.end - 1]
        if not inner.strip():
            return _cut(text, [(container.start + 1, container.end - 1, "")])
    start = item.start
    if own_line and line_start > container.start:
        start = line_start - (2 if text[line_start - 2 : line_start] == "\r\n" else 1)
    elif before is not None and not text[before.comma + 1 : item.start].strip():
        start = before.comma + 1
    cuts = [(start, end, "")]
    if before is not None:
        cuts.insert(0, (before.comma, before.comma + 1, ""))
    return _cut(text, cuts)


def _insert(text: str, container: JsoncNode, key: str | None, value: Any) -> str:
    """The text with one more item at a container's end."""
    style, outer = _style(text), _indent_at(text, container.start)
    if not container.items:
        return _insert_first(text, container, key, value)
    last = container.items[-1]
    behind = last.comma + 1 if last.comma >= 0 else last.node.end
    own = "" if last.comma < 0 else ","
    if "\n" not in text[container.start : last.start]:
        lead = "" if last.comma >= 0 else ","
        return _cut(text, [(behind, behind, f"{lead} {_item(key, json.dumps(value, ensure_ascii=False))}{own}")])
    line_start = text.rfind("\n", 0, last.start) + 1
    lead = text[line_start : last.start]
    indent = outer + style.indent if lead.strip(" \t") else lead
    rest = _REST_OF_LINE.match(text, behind)
    at = rest.end() if rest else behind
    new = f"{style.newline}{indent}{_item(key, _dumped(value, style, indent))}{own}"
    if last.comma >= 0:
        return _cut(text, [(at, at, new)])
    return _cut(text, [(behind, behind, ","), (at, at, new)])


def _insert_first(text: str, container: JsoncNode, key: str | None, value: Any) -> str:
    style, outer = _style(text), _indent_at(text, container.start)
    inner = text[container.start + 1 : container.end - 1].rstrip()
    if style.compact and not inner:
        new = _item(key, json.dumps(value, ensure_ascii=False))
    else:
        indent = outer + style.indent
        new = f"{inner}{style.newline}{indent}{_item(key, _dumped(value, style, indent))}{style.newline}{outer}"
    return _cut(text, [(container.start + 1, container.end - 1, new)])


def _item(key: str | None, value: str) -> str:
    return value if key is None else f"{json.dumps(key, ensure_ascii=False)}: {value}"


def _dumped(value: Any, style: _Style, indent: str) -> str:
    if style.compact:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=style.indent).split("\n")
    return f"{style.newline}{indent}".join(lines)


def _style(text: str) -> _Style:
    found = _INDENT.search(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    compact = "\n" not in text.strip() and bool(re.search(r"\w", text))
    return _Style(found.group(1) if found else "  ", newline, compact)


def _indent_at(text: str, offset: int) -> str:
    """The indentation of the line in which an offset lies."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _cut(text: str, cuts: list[tuple[int, int, str]]) -> str:
    """The text with pieces replaced. The pieces come in order and do not touch."""
    parts, at = [], 0
    for start, end, new in cuts:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])
