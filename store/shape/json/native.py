"""JSON by the C scanner of the standard library: fast, and only for what lies in memory and is not too deep for it."""

import json
from collections.abc import Callable
from typing import Any, NoReturn

_MARK = "7777777777777777"  # a whole number is written in one way only
_OPENING = "[{"
_NO_BRACKETS = bytes({*range(256)} - {*b"[]{}"})
_USUAL_DEPTH = 64  # pairs within pairs, each looked for in one pass


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are Python's own


def _decoder(**options: Any) -> Any:
    return json.JSONDecoder(parse_constant=_refuse, **options)  # the types of its scanners are told wrongly


scan: Callable[[str, int], tuple[Any, int]] = _decoder().scan_once
scan_pairs: Callable[[str, int], tuple[Any, int]] = _decoder(object_pairs_hook=len).scan_once
_scan_string: Callable[[str, int, bool], tuple[str, int]] = _decoder().parse_string
FAILURES = (StopIteration, ValueError, RecursionError)


def cost(failure: BaseException, size: int) -> int:
    """About how many bytes a failing attempt looked at."""
    if isinstance(failure, RecursionError):
        return min(size, 1 << 14)
    return size


def may_be_deep(text: str, limit: int) -> bool:
    """Whether brackets may be nested deeper than a limit; those in strings count, too.

    How deep the C scanner goes is another depth on each Python, and on 3.14 as deep as the thread's stack.
    """
    limit -= _USUAL_DEPTH  # so deep is what is taken away
    if text.count("[") + text.count("{") <= limit:
        return False
    left = text.encode("latin-1").translate(None, _NO_BRACKETS)
    for _ in range(_USUAL_DEPTH):
        left = left.replace(b"[]", b"").replace(b"{}", b"")
        if len(left) <= limit:
            return False
    return left.count(b"[") + left.count(b"{") > limit


def string_end(text: str, start: int) -> int:
    """Past the closing quote of a string, from within it; 0 where there is none, or what comes before it is no JSON."""
    try:
        return _scan_string(text, start, True)[1]
    except ValueError:
        return 0


def parsed(text: str) -> Any:
    """A value as `json.loads` gives it, None where the C scanner does not take it."""
    try:
        return scan(text, 0)[0]
    except FAILURES:
        return None


def lines_of(text: str) -> tuple[list[Any], int]:
    """The containers that lines hold, one each, as far as that goes; and how many characters that is."""
    if (values := _all_lines(text)) is not None:
        return values, len(text) + 1
    values, size = [], 0
    for line in text.split("\n"):
        if stripped := line.strip(" \t\r"):
            if stripped[0] not in _OPENING:
                break
            try:
                value, end = scan(stripped, 0)
            except FAILURES:
                break
            if end != len(stripped):
                break
            values.append(value)
        size += len(line) + 1
    return values, size


def _all_lines(text: str) -> list[Any] | None:
    """The containers of all lines, parsed at once with a mark at each newline; None where that does not do."""
    if _MARK in text:
        return None
    joined = f"[{text.replace(chr(10), f',{_MARK},')}]"
    try:
        found, end = scan(joined, 0)
    except FAILURES:
        return None
    count, marks = text.count("\n"), found[1::2]
    if end != len(joined) or len(found) != 2 * count + 1 or marks != [int(_MARK)] * count:
        return None
    if not set(map(type, marks)) <= {int}:
        return None
    values: list[Any] = found[::2]
    return values if set(map(type, values)) <= {dict, list} else None
