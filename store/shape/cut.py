"""Cuts a command's output down to a body of so many bytes, and marks every cut.

The one place that knows of both streams; what is shown of one stream is for ``view`` to decide.
"""

from typing import TYPE_CHECKING

from sightline.profile import DEFAULT
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.segments import Segment, Shaped
from sightline.shape.source import Source
from sightline.shape.view import StreamViewer, View
from sightline.shape.whole import SEPARATOR

if TYPE_CHECKING:
    from sightline.shape.failure.examination import Examination

ERR_PERCENT = 25
"""What standard error gets where both streams are too large: warnings, most often."""

ERR_PERCENT_FAILED = 50
"""The same after a failure, which standard error is there to explain."""


def shape(
    out: Source,
    err: Source,
    *,
    budget: int | None,
    failed: bool,
    examination: "Examination | None" = None,
    limit: int = HARD_LIMIT_BYTES,
    head_percent: int = DEFAULT.cut.head_percent,
    short_markers: bool = False,
) -> Shaped:
    """The body for an output: all of it where it fits, else head and tail, after a failure what explains it first.

    Args:
        out: standard output.
        err: standard error; where it is not empty it follows a line ``[stderr]``.
        budget: bytes of the body, markers included; None for as much of the head as the limit lets through.
        failed: whether the command failed.
        examination: what is known of the output; by default, after a failure, it is examined without knowing the
            command. Of what went well a quiet one tells the lines that say otherwise.
        limit: bytes of the body that no budget exceeds: the hard limit, less what the rest of the reply takes.
        head_percent: what the head gets of the bytes that error regions leave.
        short_markers: whether the command's ref stands above the body, so that markers need not repeat it.
    """
    limit = min(limit, HARD_LIMIT_BYTES)
    room = limit if budget is None else min(budget, limit)
    share = 100 if budget is None else head_percent
    if failed and examination is None:
        from sightline.shape.failure.examination import Examination  # 12 ms: most outputs are of what went well

        examination = Examination(out, err)
    known = examination if failed or (examination and examination.quiet) else None
    if not err.line_count:
        return _shaped(_view(out, known, room, share, short_markers, failed), out, _NOTHING, err)
    if not out.line_count:
        view = _view(err, known, room - len(SEPARATOR.text), share, short_markers, failed)
        return _shaped(_NOTHING, out, view, err)
    room -= len(SEPARATOR.text)
    out_viewer = StreamViewer(out, examination=known, room=room, short=short_markers, failed=failed)
    err_viewer = StreamViewer(err, examination=known, room=room, short=short_markers, failed=failed)
    err_view = err_viewer.view(_err_room(out_viewer, err_viewer, room, failed), head_percent=share)
    out_view = out_viewer.view(room - err_view.size - out_viewer.is_open, head_percent=share)
    return _shaped(out_view, out, err_view, err)


_NOTHING = View((), 0, 0, False)


def _view(source: Source, examination: "Examination | None", room: int, share: int, short: bool, failed: bool) -> View:
    if not source.line_count:
        return _NOTHING
    viewer = StreamViewer(source, examination=examination, room=room, short=short, failed=failed)
    return viewer.view(room, head_percent=share)


def _err_room(out: StreamViewer, err: StreamViewer, room: int, failed: bool) -> int:
    """What standard error gets: all it needs, if that is little or is left over, else its share."""
    share = room * (ERR_PERCENT_FAILED if failed else ERR_PERCENT) // 100
    out_size = out.whole.size + out.is_open if out.whole else room + 1
    if err.whole and (err.whole.size <= min(share, room - out.floor) or err.whole.size + out_size <= room):
        return err.whole.size
    if out_size <= room - share:
        share = room - out_size
    return max(err.floor, min(share, room - out.floor))


def _shaped(out_view: View, out: Source, err_view: View, err: Source) -> Shaped:
    segments = out_view.segments
    if err.line_count:
        ended = (Segment("\n"),) if out_view.is_open else ()
        segments = (*segments, *ended, SEPARATOR, *err_view.segments)
    return Shaped(
        segments,
        out_view.shown,
        out.line_count,
        err_view.shown,
        err.line_count,
        out_view.truncated or err_view.truncated,
        out_view.errors_elided + err_view.errors_elided,
    )
