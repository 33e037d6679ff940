"""Cuts a command's output down to a body of a given size, and marks every cut.

Only this module knows of both streams; ``view`` decides what is shown of one.
"""

from sightline.base.profile import DEFAULT
from sightline.light.typing_names import TYPE_CHECKING
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.segments import Segment, Shaped
from sightline.shape.source import Source
from sightline.shape.view import StreamView, StreamViewer
from sightline.shape.whole_body import SEPARATOR

if TYPE_CHECKING:
    from sightline.shape.failure.examination import Examination

ERR_PERCENT = 25
"""The share of standard error if both streams are too large, because it is mostly warnings."""

ERR_PERCENT_FAILED = 50
"""The same after a failure, which standard error is meant to explain."""


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
    """Make the body of an output: all of it if it fits, else head and tail; after a failure, first what explains it.

    Args:
        out: standard output.
        err: standard error; unless it is empty, it follows a line ``[stderr]``.
        budget: bytes of the body, with markers; None for as much of the head as the limit allows.
        failed: whether the command failed.
        examination: what is known of the output. By default, an output after a failure is examined without knowing
            the command. A quiet examination, of a success, finds the lines that say otherwise.
        limit: most bytes of the body with any budget: the hard limit, less what the rest of the reply takes.
        head_percent: share of the head in the bytes that error regions leave.
        short_markers: whether the command's ref stands above the body, so that markers can leave it out.
    """
    limit = min(limit, HARD_LIMIT_BYTES)
    room = limit if budget is None else min(budget, limit)
    share = 100 if budget is None else head_percent
    if failed and examination is None:
        from sightline.shape.failure.examination import Examination  # 12 ms: most outputs come from successes

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


_NOTHING = StreamView((), 0, 0, False)


def _view(
    source: Source, examination: "Examination | None", room: int, share: int, short: bool, failed: bool
) -> StreamView:
    if not source.line_count:
        return _NOTHING
    viewer = StreamViewer(source, examination=examination, room=room, short=short, failed=failed)
    return viewer.view(room, head_percent=share)


def _err_room(out: StreamViewer, err: StreamViewer, room: int, failed: bool) -> int:
    """Return the bytes for standard error: all it needs if that is little or left over, else its share."""
    share = room * (ERR_PERCENT_FAILED if failed else ERR_PERCENT) // 100
    out_size = out.whole.size + out.is_open if out.whole else room + 1
    if err.whole and (err.whole.size <= min(share, room - out.floor) or err.whole.size + out_size <= room):
        return err.whole.size
    if out_size <= room - share:
        share = room - out_size
    return max(err.floor, min(share, room - out.floor))


def _shaped(out_view: StreamView, out: Source, err_view: StreamView, err: Source) -> Shaped:
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
