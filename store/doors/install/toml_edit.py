"""Small changes to the text of TOML settings: one table of ours is put in, changed or taken out, the rest stays.

The standard library reads TOML and does not write it. What is written here is read back, and has to mean what was
meant: where it does not, as in a file that has our table in a form that nobody writes, nothing is changed.
"""

import json
import re
import tomllib
from typing import Any, NamedTuple

from sightline.doors.install.json_edit import Keys, NoPlace

_STRINGS = re.compile(
    r'"""(?:[^\\"]|\\[\s\S]|"{1,2}(?!"))*"""+'
    r"|'''(?:[^']|'{1,2}(?!'))*'''+"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class NotToml(ValueError):
    """The text is no TOML; the message says where."""


class _Statement(NamedTuple):
    """A header, or a key with its value: the text from ``start`` to ``end``, which is behind its line's end.

    Attributes:
        start: offset of its first character.
        end: offset behind its line's end.
        header: the names of the table that it begins; None of a key with its value.
    """

    start: int
    end: int
    header: Keys | None


def read_toml(text: str) -> dict[str, Any]:
    """The document. Raises NotToml."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise NotToml(str(error)) from error


def table_at(text: str, keys: Keys) -> dict[str, Any] | None:
    """What a table holds; None where there is none. Raises NotToml, NoPlace."""
    found: Any = read_toml(text)
    for place, key in enumerate(keys):
        if not isinstance(found, dict):
            raise NoPlace(keys[:place], "table")
        if key not in found:
            return None
        found = found[key]
    if not isinstance(found, dict):
        raise NoPlace(keys, "table")
    return found


def put_table(text: str, keys: Keys, values: dict[str, Any]) -> str:
    """The text with a table in which these keys have these values; others that it has stay.

    Args:
        text: the document.
        keys: the table's names, one a level.
        values: texts, numbers, booleans, lists of them, and tables of them.

    Raises:
        NotToml: the text is none.
        NoPlace: something else stands there, or the table is written in one line with others.
    """
    there = table_at(text, keys)
    meant = _with(read_toml(text), keys, {**(there or {}), **values})
    newline = "\r\n" if "\r\n" in text else "\n"
    if there is None:
        lines = [f"[{'.'.join(map(_key, keys))}]", *(_line(key, value) for key, value in values.items())]
        lead = "" if not text else newline if text.endswith("\n") else newline * 2
        made = f"{text}{lead}{newline.join(lines)}{newline}"
        return _checked(made, meant, keys)
    for key, value in values.items():
        if there.get(key) != value:
            text = _set(text, keys, key, value, newline)
    return _checked(text, meant, keys)


def remove_table(text: str, keys: Keys) -> str:
    """The text without a table and those within it; as it is where there is none. Raises NotToml, NoPlace."""
    if table_at(text, keys) is None:
        return text
    meant = _without(read_toml(text), keys)
    for start, end in reversed(_sections(text, keys)):
        alone = end == len(text) or text[end:].startswith(("\n", "\r\n"))
        if alone and text[:start].endswith(("\n\n", "\r\n\r\n")):
            start -= 2 if text[:start].endswith("\r\n") else 1  # the empty line that set it off
        text = text[:start] + text[end:]
    return _checked(text, meant, keys)


def _set(text: str, keys: Keys, key: str, value: Any, newline: str) -> str:
    """The text with one key of a table set."""
    line = _line(key, value)
    within = False
    behind = None
    for statement in _statements(text):
        if statement.header is not None:
            within = statement.header == keys
            behind = statement.end if within else behind
        elif within:
            behind = statement.end
            if next(iter(read_toml(text[statement.start : statement.end]))) == key:
                ending = newline if text[: statement.end].endswith("\n") else ""
                return text[: statement.start] + line + ending + text[statement.end :]
    if behind is None:
        raise NoPlace(keys, "table of its own")
    lead = "" if text[:behind].endswith("\n") else newline
    return text[:behind] + lead + line + newline + text[behind:]


def _sections(text: str, keys: Keys) -> list[tuple[int, int]]:
    """Where a table, and each within it, stands: from its header to behind its last key."""
    sections: list[tuple[int, int]] = []
    within = False
    for statement in _statements(text):
        if statement.header is not None:
            within = statement.header[: len(keys)] == keys
            if within:
                sections.append((statement.start, statement.end))
        elif within:
            sections[-1] = (sections[-1][0], statement.end)
    return sections


def _statements(text: str) -> list[_Statement]:
    """All headers and keys of a document that is TOML."""
    found: list[_Statement] = []
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
        elif text[at] == "#":
            at = _line_end(text, at)
        else:
            end = _statement_end(text, at)
            found.append(_Statement(at, end, _header(text[at:end])))
            at = end
    return found


def _statement_end(text: str, at: int) -> int:
    """Behind the line on which a statement ends: brackets and strings may span lines."""
    depth = 0
    while at < len(text):
        char = text[at]
        if char in "\"'":
            string = _STRINGS.match(text, at)
            at = string.end() if string else at + 1
            continue
        if char == "#":
            at = _line_end(text, at) - 1 if depth == 0 else _line_end(text, at)
            if depth == 0:
                return at + 1
            continue
        depth += (char in "[{") - (char in "]}")
        at += 1
        if char == "\n" and depth == 0:
            return at
    return len(text)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _header(statement: str) -> Keys | None:
    if not statement.startswith("["):
        return None
    table: Any = read_toml(statement)
    keys: list[str] = []
    while isinstance(table, list | dict) and table:
        if isinstance(table, list):
            table = table[0]
            continue
        keys.append(next(iter(table)))
        table = table[keys[-1]]
    return tuple(keys)


def _line(key: str, value: Any) -> str:
    return f"{_key(key)} = {_value(value)}"


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(_line(key, one) for key, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    # JSON's texts are TOML's, but for DEL, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _with(data: dict[str, Any], keys: Keys, value: Any) -> dict[str, Any]:
    if not keys:
        return value  # type: ignore[no-any-return]
    return {**data, keys[0]: _with(data.get(keys[0], {}), keys[1:], value)}


def _without(data: dict[str, Any], keys: Keys) -> dict[str, Any]:
    rest = dict(data)
    if len(keys) == 1:
        rest.pop(keys[0])
    else:
        rest[keys[0]] = _without(data[keys[0]], keys[1:])
    return rest


def _checked(text: str, meant: dict[str, Any], keys: Keys) -> str:
    """The text, if it says what is meant; a table that has become empty may be gone. Raises NoPlace."""
    try:
        said = read_toml(text)
    except NotToml:
        raise NoPlace(keys, "table of its own") from None
    if _filled(said) != _filled(meant):
        raise NoPlace(keys, "table of its own")
    return text


def _filled(value: Any) -> Any:
    """The data without empty tables."""
    if not isinstance(value, dict):
        return value
    inner = {key: _filled(one) for key, one in value.items()}
    return {key: one for key, one in inner.items() if one != {}}
