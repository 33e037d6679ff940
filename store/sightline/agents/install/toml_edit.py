"""Changes to TOML settings: one table of ours is put in, changed or taken out, the rest stays.

tomlkit writes our table. It is given only the piece from our header to the next one, since in a whole file it moves
tables of one parent together where an array of tables stands between them. What is written is read back, and has to
mean what was meant: where it does not, as in a file that has our table in a form that nobody writes, nothing changes.
"""

import re
import tomllib
from collections.abc import Iterator

import tomlkit
import tomlkit.items

from sightline.agents.install.json_edit import Keys, NoPlace
from sightline.light.typing_names import Any

_OPENING = re.compile(r"(?m)^[ \t]*\[")
_BYTE_ORDER_MARK = "\ufeff"


class NotToml(ValueError):
    """The text is no TOML; the message says where."""


def table_at(text: str, keys: Keys) -> dict[str, Any] | None:
    """The content of a table; None where there is no such table. Raises NotToml, NoPlace."""
    found: Any = _read(text)
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
        keys: the names that lead to the table, one for each level.
        values: texts, numbers, booleans, lists of them, and tables of them.

    Raises:
        NotToml: the text is not TOML.
        NoPlace: the name has another kind of value, or the table is written in one line with others.
    """
    there = table_at(text, keys)
    meant = _with(_read(text), keys, {**(there or {}), **values})
    newline = "\r\n" if "\r\n" in text else "\n"
    if there is None:
        lead = "" if not text else newline if text.endswith("\n") else newline * 2
        header = f"[{'.'.join(tomlkit.key(key).as_string() for key in keys)}]\n"
        return _checked(text + lead + _changed(header.replace("\n", newline), keys, values, newline), meant, keys)
    changes = {key: value for key, value in values.items() if there.get(key) != value}
    pieces = (_changed(piece, keys, changes, newline) if header == keys else piece for header, piece in _pieces(text))
    return _checked("".join(pieces), meant, keys)


def remove_table(text: str, keys: Keys) -> str:
    """The text without a table and those within it; as it is where there is none. Raises NotToml, NoPlace."""
    if table_at(text, keys) is None:
        return text
    rest, was_set_off = "", False
    for header, piece in reversed(list(_pieces(text))):
        if was_set_off:
            piece = re.sub(r"(\n)\r?\n\Z", r"\1", piece)  # the empty line that stood before our table
        is_ours = header[: len(keys)] == keys
        rest = (_behind_last_key(piece, header) if is_ours else piece) + rest
        was_set_off = is_ours and rest[:1] in ("", "\r", "\n")
    return _checked(rest, _without(_read(text), keys), keys)


def _pieces(text: str) -> Iterator[tuple[Keys, str]]:
    """The document in pieces, each from its header on, with the header's names; lines above the first are left out.

    A bracket opens a header only where the text before it is a whole document; in a list or a string it does not.
    """
    starts = [found.start() for found in _OPENING.finditer(text) if _is_toml(text[: found.start()])]
    for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
        yield _names(text[start:end]) if start in starts else (), text[start:end]


def _names(piece: str) -> Keys:
    """The names in a piece's header."""
    table: Any = _read(piece.partition("\n")[0] + "\n")
    names: list[str] = []
    while table:
        if isinstance(table, list):
            table = table[0]
            continue
        names.append(next(iter(table)))
        table = table[names[-1]]
    return tuple(names)


def _changed(piece: str, keys: Keys, values: dict[str, Any], newline: str) -> str:
    """A piece with other values for some keys; new lines end in ``newline``."""
    document = tomlkit.parse(piece)
    table: Any = document
    for key in keys:
        table = table[key]
    for key, value in values.items():
        item = tomlkit.item(value)
        if isinstance(value, dict):  # as an inline table, since a header would begin another piece
            item = tomlkit.inline_table()
            item.update(value)
        item.trivia.trail = newline
        table[key] = item
    return tomlkit.dumps(document)


def _behind_last_key(piece: str, header: Keys) -> str:
    """What follows the last key of a piece: empty lines, and comments on the next piece."""
    table: Any = tomlkit.parse(piece)
    for key in header:
        table = table[key]
        table = table[0] if isinstance(table, tomlkit.items.AoT) else table
    behind = ""
    for key, item in reversed(table.value.body):
        if key is not None:
            break
        behind = item.as_string() + behind
    return behind


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(_BYTE_ORDER_MARK))
    except tomllib.TOMLDecodeError as error:
        raise NotToml(str(error)) from error


def _is_toml(text: str) -> bool:
    try:
        _read(text)
    except NotToml:
        return False
    return True


def _with(data: dict[str, Any], keys: Keys, value: Any) -> Any:
    return {**data, keys[0]: _with(data.get(keys[0], {}), keys[1:], value)} if keys else value


def _without(data: dict[str, Any], keys: Keys) -> dict[str, Any]:
    if len(keys) > 1:
        return {**data, keys[0]: _without(data[keys[0]], keys[1:])}
    return {key: value for key, value in data.items() if key != keys[0]}


def _checked(text: str, meant: dict[str, Any], keys: Keys) -> str:
    """The text, if it parses to the data that is meant; a table that became empty may be missing. Raises NoPlace."""
    if not _is_toml(text) or _filled(_read(text)) != _filled(meant):
        raise NoPlace(keys, "table of its own")
    return text


def _filled(value: Any) -> Any:
    """The data without empty tables."""
    if not isinstance(value, dict):
        return value
    inner = {key: _filled(one) for key, one in value.items()}
    return {key: one for key, one in inner.items() if one != {}}
