"""The head of a reply, its fields on one line as the command line writes them, shortened for a small budget.

Every door measures budgets by it: a budget counts the head and the body as a terminal would show them.
"""

from sightline.light.json_text import dumps
from sightline.light.typing_names import Any, Callable, TypeVar
from sightline.shape.segments import Segment
from sightline.verbs.reply import Reply

_Made = TypeVar("_Made")

SMALL_BYTES = 2048
"""A budget up to this size has a short head, because failures have precedence over hints there."""

HEAD_BYTES = 300
"""Bytes of the head in a small budget at most; it also takes at most half of the budget."""

ROOMY_HEAD_BYTES = 1024
"""Bytes of the head in a larger budget at most."""

ON_TOP = ("note", "notes", "warning", "hint", "partial", "altered")
"""Fields that count towards no budget, because they must be said beside any view."""

_COUNTS = ("stdout_shown", "stdout_total", "stderr_shown", "stderr_total", "total_bytes")
_SPARED = (
    "next",
    "total_bytes",
    "stdout_shown",
    "stdout_total",
    "stderr_shown",
    "stderr_total",
    "total_lines",
    "description",
)
"""Fields that a head with too little room drops, in this order, because markers say the same."""

_LEAST_SUMMARY_BYTES = 24


def head_line(fields: dict[str, Any]) -> str:
    """Write the fields on one line: ``[output_id=@cmd_a1b2c3 exit_code=1 summary="…" next="…"]``."""
    return "[" + " ".join(f"{name}={_value(value)}" for name, value in fields.items()) + "]\n"


def _value(value: Any) -> str:
    if isinstance(value, str):
        plain = value and all(char.isalnum() or char in "@_.:~+/-," for char in value)
        return value if plain else dumps(value, ensure_ascii=False)
    return dumps(value, compact=True)


def head_bytes(fields: dict[str, Any]) -> int:
    """Return the bytes of the fields in a budget."""
    counted = {name: value for name, value in fields.items() if name not in ON_TOP}
    return len(head_line(counted).encode(errors="surrogateescape"))


def fitted_head(fields: dict[str, Any], budget: int, *, failed: bool, summary: Callable[[int], str]) -> dict[str, Any]:
    """Return as many fields, as short, as a budget has room for.

    Args:
        fields: all fields, in order, without those that have no value.
        budget: bytes of the whole reply.
        failed: whether it is about a failure, whose lines have precedence over hints and counts in a small budget.
        summary: returns the summary in at most this many bytes.
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


def with_paid_head(
    budget: int,
    guess: int,
    make: Callable[[int], _Made],
    text: Callable[[_Made], str],
    head: Callable[[_Made], dict[str, Any]],
) -> tuple[_Made, dict[str, Any]]:
    """A body and the fields above it, which together take no more than a budget; the smallest where even that does.

    Args:
        budget: bytes of the whole reply.
        guess: bytes that the head will take, for all that is known before there is a body.
        make: makes the body for so many bytes.
        text: the text of what was made.
        head: the fields above it.
    """
    body = budget - guess
    while True:
        made = make(max(body, 0))
        above = head(made)
        over = head_bytes(above) + len(text(made).encode()) - budget
        if over <= 0 or body <= 0:
            return made, above
        body -= over


def render_text(reply: Reply) -> tuple[Segment, ...]:
    """Render the body alone if nothing is missing, else the head line and the body."""
    if not reply.missing:
        return reply.body
    return (Segment(head_line(reply.fields)), *reply.body)
