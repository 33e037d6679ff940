"""Decides which outputs are short, by the measure of the profile; they are given whole, without ref or hint."""

from sightline.base.profile import DEFAULT, Profile
from sightline.light.late_imports import late_modules
from sightline.light.typing_names import Any
from sightline.shape.budgets import HARD_LIMIT_BYTES, ROOMY, Room
from sightline.shape.segments import Shaped, join_segments
from sightline.shape.source import Source
from sightline.verbs.reply import serialised_bytes

with late_modules(globals()):
    from sightline.shape import (
        cut_styles,  # 5 ms: a short output is not cut
        variants,  # 2 ms, not for views of the default profile
        whole_body,  # 1 ms: no output, no body
    )

_MAY_BE_SHORT_BYTES = 1 << 18  # cleaning and folding can shrink a smaller output enough, as for a progress bar


def clean(source: Source, profile: Profile) -> Source:
    """Return the source for reading by the profile's rule for views."""
    if profile.cleaning.views == DEFAULT.cleaning.views:
        return source
    return variants.cleaned(source, profile.cleaning.views)


def cut_to_lines_only(profile: Profile, out: Source, err: Source) -> bool:
    """Return whether an output is short for a profile that cuts even short ones to some lines."""
    return profile.short.cut_lines and out.byte_count + err.byte_count <= profile.short.limit_bytes


def short_body(
    profile: Profile, fields: dict[str, Any], out: Source, err: Source, budget: int | None, room: Room = ROOMY
) -> Shaped | None:
    """Return the whole output if it is short; else None.

    Args:
        profile: the limit, and its unit.
        fields: fields of the reply.
        out: standard output.
        err: standard error.
        budget: most bytes of the body for an explicit mode; None for the limit.
        room: the size that a reply may have.
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
        shaped = whole_body.whole(out, err, limit)
    if shaped is None:
        shaped = cut_styles.shape_as(profile.cut, out, err, budget=limit, failed=False, short=short.cut_lines)
    body = join_segments(shaped.segments)
    if shaped.truncated or (budget is not None and len(body.encode()) > budget):
        return None
    size = serialised_bytes(fields, body)
    return shaped if size <= limit and room.excess(size, body.count("\n")) <= 1 else None
