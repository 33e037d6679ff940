"""Most answers: one short text. They are read in one go, since whatever they say, they pass as they came."""

import json
from typing import Any

from sightline.doors.proxy.spans import SPACE


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice: readers may differ on it")
    return members


_read = json.JSONDecoder(object_pairs_hook=_distinct).raw_decode


def one_text(line: bytes) -> tuple[Any, str] | None:
    """The id of an answer whose result is one text and no error, and that text; None for any other line."""
    try:
        line_text = line.decode()
        message, end = _read(line_text)
        result = message["result"]
        (block,) = result["content"]
        text = block["text"]
        if block["type"] != "text" or "structuredContent" in result or result.get("isError") or "method" in message:
            return None
        number = message["id"]
    except (KeyError, RecursionError, TypeError, ValueError):
        return None
    return (number, text) if isinstance(text, str) and not line_text[end:].strip(SPACE) else None
