"""Checks the fields of an entry of the log when it is read, so that no reader meets a wrong type or a huge number.

A field has one type in all kinds of entries. Fields that are not named here are of a newer version, or are only shown.
"""

from sightline.light.json_text import encoder
from sightline.light.typing_names import Any, Callable, Mapping

_INTEGER = 1 << 63  # SQLite's integers are below
_FAR_SECONDS = 1e12  # seconds since the epoch that no clock shows
_SURROGATE = b"\\u"  # JSON can spell half a surrogate pair only so, or as bytes that are no UTF-8; texts may have it


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < _FAR_SECONDS


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < _INTEGER


def _is_code(value: Any) -> bool:
    return value is None or (type(value) is int and -_INTEGER <= value < _INTEGER)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(map(_is_text, value)))


def _are_ranges(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_range, value))


def _is_range(value: Any) -> bool:
    if not isinstance(value, list) or len(value) < 4:
        return False
    return _is_text(value[0]) and _is_text(value[1]) and all(map(_is_size, value[2:4]))


def _are_parts(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(map(_is_part, value)))


def _is_part(value: Any) -> bool:
    if not isinstance(value, list) or len(value) < 5 or not (_is_text(value[0]) and _is_text(value[1])):
        return False
    spans = value[4]
    return all(map(_is_size, value[2:4])) and isinstance(spans, list) and all(map(_is_span, spans))


def _is_span(value: Any) -> bool:
    return isinstance(value, list) and len(value) >= 2 and all(map(_is_size, value[:2]))


def _is_piece(value: Any) -> bool:
    return isinstance(value, str | list | dict)  # a newer version may have other forms


def _is_content(value: Any) -> bool:
    return value is None or isinstance(value, str) or (isinstance(value, list) and all(map(_is_piece, value)))


def _is_session(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    texts = ("name", "harness", "harness_id", "client", "cwd")
    return all(_is_text(value.get(name, "")) for name in texts) and _is_time(value.get("started", 0.0))


def _are_hashes(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(streams, dict) and all(map(_is_text, streams.values())) for streams in value.values()
    )


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("verb", "text_sha256", "ref", "note", "to", "title", "unknown", "kind", "prev", "hash"), _is_text),
    **dict.fromkeys(("event", "trigger", "id", "told"), _is_text),
    **dict.fromkeys(("n", "of", "lines_shown", "lines_total", "bytes_shown", "bytes_total", "remark"), _is_size),
    **dict.fromkeys(("exit_code", "before", "after"), _is_code),
    **dict.fromkeys(("truncated", "failed", "whole", "cut", "by_agent"), _is_flag),
    **dict.fromkeys(("refs", "kept", "lost"), _are_texts),
    **dict.fromkeys(("shown", "asked", "matched"), _are_ranges),
    "parts": _are_parts,
    "time": _is_time,
    "request": lambda value: isinstance(value, dict),
    "session": _is_session,
    "sealed": _are_hashes,
    "text": _is_content,
}

_TOLD = ("note", "message", "prompt", "about", "context")
"""Kinds whose text is one piece."""


def checked_entry(entry: Any, line: bytes) -> dict[str, Any]:
    """Return an entry of the log. Raises ValueError if a version that this one knows could not have written it.

    Args:
        entry: the value of the line.
        line: the line.
    """
    if not isinstance(entry, dict):
        raise ValueError("not an entry")
    for name, value in entry.items():
        check = _TYPES.get(name)
        if check is not None and not check(value):
            raise ValueError(f"{name} has a wrong type")
    kind = entry.get("kind", "")
    if kind in _TOLD and not isinstance(entry.get("text"), str | None):
        raise ValueError("text has a wrong type")
    if not line.isascii() or _SURROGATE in line:
        rest = {name: value for name, value in entry.items() if name not in ("text", "request")}
        _dumps(rest).encode()  # raises UnicodeEncodeError, a ValueError
    return entry


_dumps = encoder(ensure_ascii=False)
