"""The head of a reply, as the command line writes its fields, and how short it is where a budget is small.

Every door measures a budget by it: a budget counts the head and the body as they stand on a terminal.
"""

import json
from collections.abc import Callable
from typing import Any

SMALL_BYTES = 2048
"""A budget up to this size has a short head: what failed stands there before any hint."""

HEAD_BYTES = 300
"""What the head of a small budget takes at most, and never more than half of it."""

ROOMY_HEAD_BYTES = 1024
"""The same of a larger budget."""

ON_TOP = ("note", "notes", "warning", "hint", "partial")
"""Fields that no budget counts: what must be said beside a view."""

_COUNTS = ("stdout_shown", "stdout_total", "stderr_shown", "stderr_total", "total_bytes")
_SPARED = ("next", "total_bytes", "stdout_shown", "stdout_total", "stderr_shown", "stderr_total", "description")
"""Fields that a head with too little room goes without, the first one first: markers tell as much."""

_LEAST_SUMMARY_BYTES = 24


def head_line(fields: dict[str, Any]) -> str:
    """The fields on one line: ``[output_id=@cmd_a1b2c3 exit_code=1 summary="…" next="…"]``."""
    return "[" + " ".join(f"{name}={_value(value)}" for name, value in fields.items()) + "]\n"


def _value(value: Any) -> str:
    if isinstance(value, str):
        plain = value and all(char.isalnum() or char in "@_.:~+/-," for char in value)
        return value if plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, separators=(",", ":"))


def head_bytes(fields: dict[str, Any]) -> int:
    """What the fields take of a budget."""
    counted = {name: value for name, value in fields.items() if name not in ON_TOP}
    return len(head_line(counted).encode(errors="surrogateescape"))


def fitted_head(fields: dict[str, Any], budget: int, *, failed: bool, summary: Callable[[int], str]) -> dict[str, Any]:
    """The fields, as many and as short as a budget has room for.

    Args:
        fields: all of them, in order; those without a value left out.
        budget: bytes of the whole reply.
        failed: whether a failure is told: in a small budget its lines are worth more than hints and counts.
        summary: the summary in at most so many bytes.
    """
    small = budget <= SMALL_BYTES
    room = min(HEAD_BYTES if small else ROOMY_HEAD_BYTES, budget // 2)
    spared = ("next", *_COUNTS) if small and failed else ()
    fitted = {name: value for name, value in fields.items() if name not in spared}
    for name in _SPARED:
        if head_bytes(fitted) <= room or not small:
            break
        fitted.pop(name, None)
    excess = head_bytes(fitted) - room
    if excess > 0 and fitted.get("summary"):
        told = len(str(fitted["summary"]).encode())
        fitted["summary"] = summary(max(_LEAST_SUMMARY_BYTES, told - excess))
    return fitted
