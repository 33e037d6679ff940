"""Makes a command's output a body: by its structure if standard output has one, else by cutting."""

from sightline.base.profile import Profile
from sightline.light.typing_names import TYPE_CHECKING
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.cut import ERR_PERCENT, ERR_PERCENT_FAILED, shape
from sightline.shape.cut_styles import shape_as
from sightline.shape.json.result import Structured, may_have_structure, shape_result
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import Segment, Shaped, join_segments
from sightline.shape.source import Source
from sightline.shape.table import describe_text

if TYPE_CHECKING:
    from sightline.shape.failure.examination import Examination


def shape_output(
    profile: Profile,
    out: Source,
    err: Source,
    *,
    budget: int | None,
    failed: bool,
    examination: "Examination | None" = None,
    short: bool = False,
    limit: int = HARD_LIMIT_BYTES,
) -> Structured:
    """Make the body of both streams, with a description if it is a sample.

    Args:
        profile: the way of cutting, and of sampling.
        out: standard output.
        err: standard error, which is always cut.
        budget: bytes of the body; None for as much as the limit allows.
        failed: whether the command failed.
        examination: what is known of the output; None if it was not examined.
        short: whether the output is within the limit for short ones, and is cut to lines only.
        limit: most bytes of the body with any budget.
    """
    room = None if budget is None else min(budget, limit)
    if room is not None and may_have_structure(out):
        made = _structured(profile, out, err, room, failed, examination)
        if made:
            return made
    shaped = shape_as(
        profile.cut,
        out,
        err,
        budget=budget,
        failed=failed,
        examination=examination,
        short=short,
        limit=limit,
    )
    described = not failed and shaped.truncated and out.line_count
    return Structured(shaped, describe_text(out) if described else "")


def _structured(
    profile: Profile, out: Source, err: Source, room: int, failed: bool, examination: "Examination | None"
) -> Structured | None:
    """Make the body of an output that has a structure; None if it has none, or fits."""
    sampling = profile.results
    if not err.line_count:
        return shape_result(out, budget=room, failed=failed, examination=examination, sampling=sampling)
    share = room * (ERR_PERCENT_FAILED if failed else ERR_PERCENT) // 100
    err_view = shape(BytesSource(b""), err, budget=share, failed=failed, examination=examination)
    left = room - len(join_segments(err_view.segments).encode()) - 1  # a newline may have to stand between them
    made = shape_result(out, budget=left, failed=failed, examination=examination, sampling=sampling)
    return made._replace(shaped=_with_err(made.shaped, err_view)) if made else None


def _with_err(out: Shaped, err: Shaped) -> Shaped:
    """Append the body of standard error, which begins with its own line."""
    ended = () if not out.segments or out.segments[-1].text.endswith("\n") else (Segment("\n"),)
    return out._replace(
        segments=(*out.segments, *ended, *err.segments),
        err_shown=err.err_shown,
        err_total=err.err_total,
        truncated=out.truncated or err.truncated,
        errors_elided=out.errors_elided + err.errors_elided,
    )
