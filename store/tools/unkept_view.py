"""What an agent is shown where nothing was kept: the output itself, and why there is no ref to it."""

from typing import Any

from sightline.store.audit.views import Shows
from sightline.store.capture.command import Unkept
from sightline.store.errors import StoreFailed
from sightline.store.shape.budgets import HARD_LIMIT_BYTES
from sightline.store.shape.cut import shape
from sightline.store.shape.memory import BytesSource
from sightline.store.shape.segments import Segment, join_segments
from sightline.store.tools.command_view import Ending, counts_of
from sightline.store.tools.reply import Reply, fitting, in_order


def warning_of(error: StoreFailed) -> str:
    """What a reply says where storing failed."""
    return f"{error.message}; nothing was kept. {error.hint}".strip()


def unkept_reply(unkept: Unkept, ending: Ending, *, verb: str, request: dict[str, Any]) -> Reply:
    """The reply where nothing was kept: the output itself, and a plain warning. Never a ref that does not resolve."""
    out, err = BytesSource(unkept.out), BytesSource(unkept.err)
    why = warning_of(unkept.error) if unkept.error else None
    off = None if unkept.error else "nothing is kept in this folder (capture = off)"
    full = [name for name, data in (("stdout", unkept.out), ("stderr", unkept.err)) if len(data) >= HARD_LIMIT_BYTES]
    dropped = f"what came after the first 64 KiB of {' and of '.join(full)} is lost and not counted" if full else None
    redacted = f"redacted: {unkept.redacted:,}" if unkept.redacted else None
    notes = "; ".join(filter(None, (off, dropped, redacted))) or None
    fields = in_order(
        {"exit_code": ending.exit_code, "timed_out": ending.timed_out or None, "warning": why, "note": notes}
    )
    shaped = fitting(
        fields,
        HARD_LIMIT_BYTES,
        lambda limit: shape(out, err, budget=None, failed=False, limit=limit),
        lambda shaped: join_segments(shaped.segments),
    )
    counts = counts_of(shaped) if shaped.truncated else {}
    for name in full:  # a total would be that of what memory held
        counts.pop(f"{name}_total", None)
    fields = in_order(fields | counts | ({"truncated": True} if full else {}))
    body = tuple(Segment(segment.text) for segment in shaped.segments)
    shows = Shows(verb, request, exit_code=ending.exit_code, truncated=shaped.truncated)
    return Reply(fields, body, shows, missing=True, exit_code=ending.process_code)
