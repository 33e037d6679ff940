"""Tells a failing comparison of large values in a line: pytest compares their lines letter by letter, for hours."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from _pytest.assertion import util  # no hook replaces what it does: each one that there is runs

LARGE = 20_000
"""Characters, bytes and items, of both sides and of what they hold."""

_AROUND = 30


def tell_briefly() -> None:
    """From now on pytest tells large values so."""
    in_full = util.assertrepr_compare

    def compared(config: Any, op: str, left: object, right: object, **more: Any) -> Any:
        return told(op, left, right) or in_full(config, op, left, right, **more)

    util.assertrepr_compare = compared


def told(op: str, left: object, right: object) -> list[str] | None:
    """Where two values differ, in a line; None where they are small."""
    room = _left_of(_left_of(LARGE, left), right)
    return [f"{_shown(left)} {op} {_shown(right)}{_difference(left, right)}"] if room < 0 else None


def _left_of(room: int, value: object) -> int:
    """What is left of a room by a value; below zero, no more of it is looked at."""
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    if isinstance(value, Collection):
        room -= len(value)
        for item in value if not isinstance(value, str | bytes | bytearray | memoryview | range) else ():
            if room < 0:
                break
            room = _left_of(room, item)
    return room


def _shown(value: object) -> str:
    if not isinstance(value, Collection):
        return repr(value)[:_AROUND]
    return f"<{type(value).__name__} of {len(value):,}>"


def _difference(left: object, right: object) -> str:
    if not isinstance(left, Sequence) or not isinstance(right, Sequence):
        return ""
    pairs = enumerate(zip(left, right, strict=False))
    at = next((number for number, (one, other) in pairs if one != other), min(len(left), len(right)))
    return f", from {at:,} on: {_part(left, at)} and {_part(right, at)}"


def _part(value: Any, at: int) -> str:
    part = repr(value[at : at + _AROUND] if isinstance(value, str | bytes) else value[at : at + 1])
    return part if len(part) <= 4 * _AROUND else part[: 4 * _AROUND] + "…"
