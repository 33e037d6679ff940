"""TOML as `tomllib` reads it, which is loaded only for what is not written plainly: it takes as long as a command.

Plain are lines of a bare key and a text without escapes, a whole number, true or false; and headers of tables.
"""

from sightline.light.typing_names import Any

_DIGITS = frozenset("0123456789")
_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_") | _DIGITS
_WORDS = {"true": True, "false": False}
_SPACES = " \t"


class _NotPlain(Exception):
    """Only `tomllib` can tell what this means, or what is wrong with it."""


def loads(text: str) -> dict[str, Any]:
    """Return what a text holds. Raises `tomllib.TOMLDecodeError`, a ValueError that names line and column."""
    try:
        return _plain(text)
    except _NotPlain:
        import tomllib  # 10 ms, which plain lines do not need

        return tomllib.loads(text)


def _plain(text: str) -> dict[str, Any]:
    """Return what plain lines hold. Raises _NotPlain."""
    table: dict[str, Any] = {}
    top = table
    for line in text.split("\n"):
        line = line.strip(_SPACES)
        if not line.replace("\t", " ").isprintable():
            raise _NotPlain
        if not line or line[0] == "#":
            continue
        if line[0] == "[":
            table = {}
            _put(top, line[1:-1] if line[-1] == "]" else "", table)
            continue
        key, _, value = line.partition("=")
        _put(table, key.rstrip(_SPACES), _value(value.lstrip(_SPACES)))
    return top


def _put(table: dict[str, Any], key: str, value: object) -> None:
    if not key or not _BARE.issuperset(key) or key in table:
        raise _NotPlain
    table[key] = value


def _value(text: str) -> str | int | bool:
    if text[:1] in ('"', "'"):
        content, ends, rest = text[1:].partition(text[0])
        rest = rest.lstrip(_SPACES)
        if not ends or rest[:1] not in ("", "#") or (text[0] == '"' and "\\" in content):
            raise _NotPlain
        return content
    word = text.partition("#")[0].rstrip(_SPACES)
    if word in _WORDS:
        return _WORDS[word]
    digits = word.removeprefix("-")
    # A first zero is no number in TOML, and too many digits are slow to convert.
    if not 0 < len(digits) < 20 or not _DIGITS.issuperset(digits) or digits[0] == "0":
        raise _NotPlain
    return int(word)
