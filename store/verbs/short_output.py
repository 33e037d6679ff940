"""Which outputs are short: given whole, without ref or hint, by the measure of the profile."""

from typing import Any

from sightline.profile import DEFAULT, Profile
from sightline.shape.budgets import HARD_LIMIT_BYTES, ROOMY, Room
from sightline.shape.segments import Shaped, join_segments
from sightline.shape.source import Source
from sightline.verbs import late
from sightline.verbs.reply import serialised_bytes

_MAY_BE_SHORT_BYTES = 1 << 18  # cleaning and folding can make much of a progress bar vanish, but not of more than this


def clean(source: Source, profile: Profile) -> Source:
    """The source as the profile's rule for views reads it."""
    if profile.cleaning.views == DEFAULT.cleaning.views:
        return source
    return late.cleaned(source, profile.cleaning.views)


def cut_to_lines_only(profile: Profile, out: Source, err: Source) -> bool:
    """Whether an output is within the limit for short ones of a profile that cuts even such to so many lines."""
    return profile.short.cut_lines and out.byte_count + err.byte_count <= profile.short.limit_bytes


def short_body(
    profile: Profile, fields: dict[str, Any], out: Source, err: Source, budget: int | None, room: Room = ROOMY
) -> Shaped | None:
    """The whole output, where it is short; else None.

    Args:
        profile: the limit, and what it measures.
        fields: what the reply has beside the body.
        out: standard output.
        err: standard error.
        budget: bytes of the body that an explicit mode allows; None for as many as the limit does.
        room: how large a reply may be.
    """
    short = profile.short
    raw_bytes = out.byte_count + err.byte_count
    if not raw_bytes:
        return Shaped((), 0, 0, 0, 0, truncated=False)
    if raw_bytes > _MAY_BE_SHORT_BYTES or (short.measure in ("streams", "both") and raw_bytes > short.limit_bytes):
        return None
    limit = short.limit_bytes if short.measure in ("reply", "both") else HARD_LIMIT_BYTES
    shaped = None
    if not short.cut_lines and profile.cleaning.views == DEFAULT.cleaning.views:
        shaped = late.whole(out, err, limit)
    if shaped is None:
        shaped = late.shape_as(profile.cut, out, err, budget=limit, failed=False, short=short.cut_lines)
    body = join_segments(shaped.segments)
    if shaped.truncated or (budget is not None and len(body.encode()) > budget):
        return None
    size = serialised_bytes(fields, body)
    return shaped if size <= limit and room.excess(size, body.count("\n")) <= 1 else None
