"""Cuts a body in the style of a profile: in the middle, or to some lines from either end.

Neither style looks for failures; an output of a failure that is too large is cut by ``cut``, which does.
"""

from sightline.base.profile import Cut
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING
from sightline.shape import markers
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.clean import clean_line
from sightline.shape.cut import ERR_PERCENT, shape
from sightline.shape.line_cut import cut_at_ends
from sightline.shape.repeated_lines import lines_backward, text_bytes
from sightline.shape.segments import Segment, Shaped, join_segments, terminated
from sightline.shape.source import LINE_LIMIT, CutLine, Line, Source
from sightline.shape.whole_body import SEPARATOR

if TYPE_CHECKING:
    from sightline.shape.failure.examination import Examination

WHOLE_BYTES = 1 << 20
"""A stream with more raw bytes is assumed not to fit a body after cleaning."""

FOLDED_BYTES = 1 << 20
"""Raw bytes of a stream up to which ``ends`` folds repeated lines, for which it has to read all of it."""


class CutPart(NamedTuple):
    """The shown part of one stream.

    Attributes:
        segments: the text, in order.
        shown: number of lines that stand in it, whole or in part.
        truncated: whether anything was left out, even if every line stands in it.
    """

    segments: tuple[Segment, ...]
    shown: int
    truncated: bool = False


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
    """Make the body of an output in a profile's style; see ``shape`` for the other arguments.

    Args:
        cut: the style and its numbers.
        short: whether the output is within the limit for short ones, and only its lines are counted.
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
        short_markers=cut.markers == "short",
    )


def _middle(cut: Cut, out: Source, err: Source, room: int) -> Shaped:
    """Cut both streams in the middle; standard error gets what standard output leaves, and at least its share."""
    if not err.line_count:
        return _shaped(_fitted(cut, out, room), out, CutPart((), 0), err)
    if not out.line_count:
        return _shaped(CutPart((), 0), out, _fitted(cut, err, room - len(SEPARATOR.text)), err)
    room -= len(SEPARATOR.text) + 1
    out_whole, err_whole = whole_part(out, room), whole_part(err, room)
    left = max(room * ERR_PERCENT // 100, room - _size(out_whole) if out_whole else 0)
    err_part = err_whole if err_whole and _size(err_whole) <= left else cut_middle(err, left, cut)
    left = room - min(_size(err_part), left)
    out_part = out_whole if out_whole and _size(out_whole) <= left else cut_middle(out, left, cut)
    return _shaped(out_part, out, err_part, err)


def _fitted(cut: Cut, source: Source, room: int) -> CutPart:
    return whole_part(source, room) or cut_middle(source, room, cut)


def _ends(cut: Cut, out: Source, err: Source, room: int) -> Shaped | None:
    """Cut both streams to lines from either end; None if that takes more than the room."""
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


def _end_lines(cut: Cut, source: Source, room: int) -> CutPart | None:
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
    part = CutPart(tuple(segments if source.ref else [Segment(segment.text) for segment in segments]), shown)
    return part if _size(part) <= room else None


def _rows(source: Source, first: int, last: int, *, room: int) -> list[Segment] | None:
    """Return lines as a segment each; None if they take more than the room, or one is too long to be read whole."""
    rows = []
    for line in source.lines(first, last):
        text = clean_line(line.data) + "\n"
        room -= text_bytes(text)
        if room < 0 or not line.whole:
            return None
        rows.append(Segment(text, source.ref, line.number, line.number))
    return rows


def _folded(rows: list[Segment], marker: str) -> list[Segment]:
    """Replace rows that repeat the one before by a marker, if that is shorter."""
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
    """Cut the rows to those at either end, with a marker for the lines between; return also how many are shown."""
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


def _size(part: CutPart) -> int:
    return text_bytes(join_segments(part.segments))


def _shaped(out_part: CutPart, out: Source, err_part: CutPart, err: Source) -> Shaped:
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


# the middle of a stream: so many bytes from either end, and a marker that counts those between


def split_bytes(text: str, head_bytes: int, tail_bytes: int) -> tuple[str, str]:
    """Return the first and last bytes of a text in UTF-8, without the characters that the cuts split.

    >>> split_bytes("a€b", 2, 3)
    ('a', 'b')
    """
    data = text.encode()
    head = data[:head_bytes].decode("utf-8", "ignore")
    tail = data[max(len(data) - tail_bytes, 0) :].decode("utf-8", "ignore")
    return head, tail


def whole_part(source: Source, room: int) -> CutPart | None:
    """Return all of a stream, cleaned; None if it takes more than the room."""
    if source.byte_count > WHOLE_BYTES:
        return None
    texts = []
    left = room + (not terminated(source))
    for line in source.lines(1, source.line_count):
        texts.append(clean_line(line.data) + "\n")
        left -= text_bytes(texts[-1])
        if left < 0 or not line.whole:
            return None
    text = "".join(texts)
    text = text if terminated(source) else text[:-1]
    return CutPart((_range(source, text, 1, source.line_count),) if source.line_count else (), source.line_count)


def cut_middle(source: Source, room: int, cut: Cut) -> CutPart:
    """Return the two ends of a stream that is larger than the room.

    Args:
        source: the stream.
        room: bytes of the part.
        cut: the shares, and the marker, which counts the stream's raw bytes less those that are shown.
    """
    inner = room - cut.marker_bytes
    if inner <= 0:
        marker, _ = split_bytes(_marker(cut, source.byte_count).strip("\n"), max(room, 0), 0)
        return CutPart((Segment(marker),), 0, True)
    head = _Head(source, inner * cut.head_percent // 100)
    if head.last == source.line_count:
        return CutPart(head.segments, head.shown)
    tail = _Tail(source, inner - inner * cut.head_percent // 100, head)
    shown = text_bytes(join_segments((*head.segments, *tail.segments)))
    marker = _marker(cut, max(source.byte_count - shown, 0))
    return CutPart((*head.segments, Segment(marker), *tail.segments), head.shown + tail.shown, True)


def _marker(cut: Cut, count: int) -> str:
    return cut.bytes_marker.replace("{count}", str(count))


class _Head:
    """The first bytes of a stream's text.

    Attributes:
        segments: the text.
        last: number of the last line that it shows whole; 0 for none.
        part: the shown beginning of the line after that; empty for none.
        shown: number of lines that stand in it, whole or in part.
    """

    def __init__(self, source: Source, room: int) -> None:
        count, ended = source.line_count, terminated(source)
        self.last = 0
        self.part = ""
        cut: CutLine | None = None
        texts = []
        for line in source.lines(1, count, max(LINE_LIMIT, 2 * room)):
            text = _ends_of(line)[0] + ("\n" if ended or line.number < count else "")
            if text_bytes(text) > room or not line.whole:
                self.part, _ = split_bytes(text, room, 0)
                cut = cut_at_ends(line, self.part.removesuffix("\n"), "")
                break
            texts.append(text)
            room -= text_bytes(text)
            self.last = line.number
        whole = [_range(source, "".join(texts), 1, self.last)] if texts else []
        rest = [_partial(source, self.part, cut)] if self.part and cut else []
        self.segments = (*whole, *rest)
        self.shown = self.last + bool(self.part)


class _Tail:
    """The last bytes of a stream's text, for lines that its head does not show whole; attributes as for ``_Head``."""

    def __init__(self, source: Source, room: int, head: _Head) -> None:
        count, ended = source.line_count, terminated(source)
        part = ""
        cut: CutLine | None = None
        first = count + 1
        texts: list[str] = []
        for line in lines_backward(source, head.last + 1, count, max(LINE_LIMIT, 2 * room)):
            text = _ends_of(line)[1] + ("\n" if ended or line.number < count else "")
            in_head = head.part if line.number == head.last + 1 else ""
            if in_head or not line.whole or text_bytes(text) > room:
                left = text_bytes(text) - (text_bytes(in_head) if line.whole else 0)
                _, part = split_bytes(text, 0, min(room, left))
                cut = cut_at_ends(line, "", part.removesuffix("\n"))
                break
            texts.append(text)
            room -= text_bytes(text)
            first = line.number
        whole = [_range(source, "".join(reversed(texts)), first, count)] if texts else []
        shared = bool(head.part) and first == head.last + 2  # a line with one end on either side counts once
        rest = [_partial(source, part, cut)] if part and cut else []
        self.segments = (*rest, *whole)
        self.shown = count - first + 1 + (bool(part) and not shared)


def _ends_of(line: Line) -> tuple[str, str]:
    """Return the cleaned text of a line, twice; for a line not read whole, of its first half and of its last."""
    if line.whole:
        text = clean_line(line.data)
        return text, text
    half = len(line.data) // 2
    return clean_line(line.data[:half]), clean_line(line.data[half:])


def _range(source: Source, text: str, first: int, last: int) -> Segment:
    return Segment(text, source.ref, first, last) if source.ref else Segment(text)


def _partial(source: Source, text: str, cut: CutLine) -> Segment:
    return Segment(text, source.ref, cut.line, cut.line, True, (cut,)) if source.ref else Segment(text)
