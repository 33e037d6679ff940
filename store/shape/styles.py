"""Cuts a body in the style of a profile: in the middle, or to so many lines from either end.

Neither looks for failures: what has failed, and is too large, is cut by ``cut``, which does.
"""

from typing import TYPE_CHECKING

from sightline.profile import Cut
from sightline.shape import markers
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.clean import clean_line
from sightline.shape.cut import ERR_PERCENT, shape
from sightline.shape.middle import Part, cut_middle, whole_part
from sightline.shape.runs import text_bytes
from sightline.shape.segments import Segment, Shaped, join_segments, terminated
from sightline.shape.source import Source
from sightline.shape.whole import SEPARATOR

if TYPE_CHECKING:
    from sightline.shape.failure.examination import Examination

FOLDED_BYTES = 1 << 20
"""Raw bytes of a stream whose repeated lines ``ends`` still folds: it has to read all of it for that."""


def shape_as(
    cut: Cut,
    out: Source,
    err: Source,
    *,
    budget: int | None,
    failed: bool,
    examination: "Examination | None" = None,
    short: bool = False,
    limit: int = HARD_LIMIT_BYTES,
) -> Shaped:
    """The body for an output in a profile's style; arguments as ``shape``.

    Args:
        cut: the style and its numbers.
        short: whether the output is within the limit for short ones, and is cut to lines only.
    """
    if budget is not None:
        room = min(budget, limit)
        if short or cut.style == "ends":
            shaped = _ends(cut, out, err, room)
            if shaped is not None and not (failed and shaped.truncated):
                return shaped
        if cut.style == "middle" and not failed:
            return _middle(cut, out, err, room)
    return shape(
        out,
        err,
        budget=budget,
        failed=failed,
        examination=examination,
        limit=limit,
        head_percent=cut.head_percent,
    )


def _middle(cut: Cut, out: Source, err: Source, room: int) -> Shaped:
    """Both streams cut in the middle; standard error gets what standard output leaves, and at least its share."""
    if not err.line_count:
        return _shaped(_fitted(cut, out, room), out, Part((), 0), err)
    if not out.line_count:
        return _shaped(Part((), 0), out, _fitted(cut, err, room - len(SEPARATOR.text)), err)
    room -= len(SEPARATOR.text) + 1
    out_whole, err_whole = whole_part(out, room), whole_part(err, room)
    left = max(room * ERR_PERCENT // 100, room - _size(out_whole) if out_whole else 0)
    err_part = err_whole if err_whole and _size(err_whole) <= left else cut_middle(err, left, cut)
    left = room - min(_size(err_part), left)
    out_part = out_whole if out_whole and _size(out_whole) <= left else cut_middle(out, left, cut)
    return _shaped(out_part, out, err_part, err)


def _fitted(cut: Cut, source: Source, room: int) -> Part:
    return whole_part(source, room) or cut_middle(source, room, cut)


def _ends(cut: Cut, out: Source, err: Source, room: int) -> Shaped | None:
    """Both streams cut to lines from either end; None where that takes more than there is room."""
    parts = []
    for source in (out, err):
        part = _end_lines(cut, source, room)
        if part is None:
            return None
        room -= _size(part)
        parts.append(part)
    if err.line_count:
        room -= len(SEPARATOR.text) + 1
    return _shaped(parts[0], out, parts[1], err) if room >= 0 else None


def _end_lines(cut: Cut, source: Source, room: int) -> Part | None:
    count = source.line_count
    fold = bool(cut.repeats_marker) and source.byte_count <= FOLDED_BYTES
    if fold:
        rows = _rows(source, 1, count, room=FOLDED_BYTES)
        rows = _folded(rows, cut.repeats_marker) if rows is not None else None
    elif count <= cut.head_lines + cut.tail_lines:
        rows = _rows(source, 1, count, room=room)
    else:
        head = _rows(source, 1, cut.head_lines, room=room)
        tail = _rows(source, count - cut.tail_lines + 1, count, room=room)
        rows = [*head, *tail] if head is not None and tail is not None else None
    if rows is None:
        return None
    segments, shown = _with_marker(cut, rows, source.ref, count)
    if segments and not terminated(source) and segments[-1].last == count:
        segments[-1] = segments[-1]._replace(text=segments[-1].text[:-1])
    part = Part(tuple(segments if source.ref else [Segment(segment.text) for segment in segments]), shown)
    return part if _size(part) <= room else None


def _rows(source: Source, first: int, last: int, *, room: int) -> list[Segment] | None:
    """Lines as segments of one; None where they take more than there is room, or one of them is not even read whole."""
    rows = []
    for line in source.lines(first, last):
        text = clean_line(line.data) + "\n"
        room -= text_bytes(text)
        if room < 0 or not line.whole:
            return None
        rows.append(Segment(text, source.ref, line.number, line.number))
    return rows


def _folded(rows: list[Segment], marker: str) -> list[Segment]:
    """Rows with a marker for those that repeat the one before them, where that is shorter."""
    folded: list[Segment] = []
    at = 0
    while at < len(rows):
        row = rows[at]
        end = at + 1
        while end < len(rows) and rows[end].text == row.text:
            end += 1
        text = marker.replace("{count}", str(end - at - 1)) + "\n"
        if text_bytes(text) < text_bytes(row.text) * (end - at - 1):
            folded += [row, Segment(text, row.ref, row.first + 1, rows[end - 1].last, True)]
        else:
            folded += rows[at:end]
        at = end
    return folded


def _with_marker(cut: Cut, rows: list[Segment], ref: str, count: int) -> tuple[list[Segment], int]:
    """The rows cut to those at either end, with a marker for the lines between; and how many lines are shown."""
    if len(rows) > cut.head_lines + cut.tail_lines:
        rows = rows[: cut.head_lines] + rows[len(rows) - cut.tail_lines :]
    segments: list[Segment] = []
    line = 1
    for row in rows:
        if row.first > line:
            segments.append(_lines_marker(cut, ref, line, row.first - 1))
        previous = segments[-1] if segments else None
        if previous and previous.first and previous.last + 1 == row.first and not (previous.partial or row.partial):
            segments[-1] = previous._replace(text=previous.text + row.text, last=row.last)
        else:
            segments.append(row)
        line = row.last + 1
    if line <= count:
        segments.append(_lines_marker(cut, ref, line, count))
    return segments, sum(row.last - row.first + 1 for row in rows)


def _lines_marker(cut: Cut, ref: str, first: int, last: int) -> Segment:
    ours = markers.elision(ref, first, last)
    return Segment((cut.lines_marker.replace("{count}", str(last - first + 1)) or ours) + "\n")


def _size(part: Part) -> int:
    return text_bytes(join_segments(part.segments))


def _shaped(out_part: Part, out: Source, err_part: Part, err: Source) -> Shaped:
    segments = out_part.segments
    if err.line_count:
        ended = () if not segments or segments[-1].text.endswith("\n") else (Segment("\n"),)
        segments = (*segments, *ended, SEPARATOR, *err_part.segments)
    truncated = out_part.truncated or err_part.truncated or out_part.shown < out.line_count
    return Shaped(
        segments,
        out_part.shown,
        out.line_count,
        err_part.shown,
        err.line_count,
        truncated or err_part.shown < err.line_count,
    )
