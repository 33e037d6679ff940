"""Reads runs of equal lines by ranges, counts the bytes that they take, and writes them as segments of a body.

It never reads more of a stream than is asked for, and at most READ_BYTES or READ_LINES at once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from sightline.light.named_tuple import NamedTuple
from sightline.shape import markers
from sightline.shape.clean import clean_line
from sightline.shape.line_cut import cut_at_ends
from sightline.shape.segments import Segment
from sightline.shape.source import LINE_LIMIT, CutLine, Line, Source

READ_BYTES = 1 << 20
"""Raw bytes read from one end, at most; only output that folds, or cleans away to little, needs that much."""

READ_LINES = 30_000
"""The same in lines, for very short ones: about 0.1 s."""

BACK_LINES = 256  # lines that are read together from the end, so at most that many long lines are in memory
_JOINED_LINES = 256  # equal lines that are read as one run, at most, since there may be room for the first ones only
CLIP_KEEPS_BYTES = 24  # the least that a clipped line must keep to say anything

Span = tuple[int, int]
"""Lines (first, last), inclusive."""

IsError = Callable[[bytes], bool]
"""Returns whether a raw line is an error line."""


class EqualLines(NamedTuple):
    """Neighbouring lines that are equal; usually just one.

    Attributes:
        first: number of the first line.
        last: number of the last line, inclusive.
        text: the cleaned text of each line, without a newline.
        error: whether they are error lines.
        clipped: whether the middle of the text is cut out.
        unread: bytes of the line that were not even read, before ``tail``; such a run can only be clipped.
        tail: the text after the unread part.
        gone: whether a terminal would no longer show these lines; the text is then the marker that says so.
        ends: for a clipped line, the text before and after the marker.
    """

    first: int
    last: int
    text: str
    error: bool = False
    clipped: bool = False
    unread: int = 0
    tail: str = ""
    gone: bool = False
    ends: tuple[str, str] = ("", "")

    @property
    def lines(self) -> int:
        """Number of lines."""
        return self.last - self.first + 1


class Taken(NamedTuple):
    """The runs that fitted.

    Attributes:
        runs: the runs, in the given order.
        cost: an upper bound of the bytes that they take in a body.
        misfit: the line that did not fit; None if all lines fitted.
    """

    runs: list[EqualLines]
    cost: int
    misfit: EqualLines | None


def text_bytes(text: str) -> int:
    """Return the size of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def read_rows(
    source: Source,
    spans: Iterable[Span],
    judge: IsError | None,
    *,
    backward: bool = False,
    gone: Sequence[Span] = (),
) -> Iterator[EqualLines]:
    """Yield the lines of some spans as runs, up to READ_BYTES or READ_LINES; backward, each span from its end.

    Args:
        source: the stream.
        spans: the lines.
        judge: returns whether a line is an error line; None if that does not matter.
        backward: whether to read each span from its end.
        gone: lines, in order, that get a marker instead.
    """
    left, lines_left = READ_BYTES, READ_LINES
    for first, last, is_gone in _split(spans, gone, backward=backward):
        if is_gone:
            yield EqualLines(first, last, markers.rewritten(source.ref, first, last), gone=True)
            continue
        known, run, lines = None, None, 0
        for line in lines_backward(source, first, last) if backward else source.lines(first, last):
            if run is not None and line.data == known and line.whole and lines < _JOINED_LINES:
                lines += 1  # a repeated line is judged and cleaned once
            else:
                if run is not None:
                    yield _several(run, lines, backward=backward)
                run, lines = _row(line, judge), 1
                known = line.data if line.whole else None
            left -= len(line.data) + 1
            lines_left -= 1
            if left <= 0 or not lines_left:
                break
        if run is not None:
            yield _several(run, lines, backward=backward)
        if left <= 0 or not lines_left:
            return


def _several(run: EqualLines, lines: int, *, backward: bool) -> EqualLines:
    """Return this many lines of which the first one that was read is known."""
    if lines == 1:
        return run
    return run._replace(first=run.first - lines + 1) if backward else run._replace(last=run.last + lines - 1)


def _split(spans: Iterable[Span], gone: Sequence[Span], *, backward: bool) -> Iterator[tuple[int, int, bool]]:
    """Split the spans into parts that are gone and parts that are not."""
    for first, last in spans:
        parts = [(start, end, False) for start, end in free_spans(gone, first, last)]
        parts += [(max(first, start), min(last, end), True) for start, end in gone if start <= last and end >= first]
        yield from sorted(parts, reverse=backward)


def singles(run: EqualLines) -> Iterator[EqualLines]:
    """Yield the lines of a run, first to last, as runs of one."""
    if run.first == run.last:
        yield run
    else:
        yield from (run._replace(first=line, last=line) for line in range(run.first, run.last + 1))


def take(rows: Iterable[EqualLines], room: int, fold_bytes: int, *, backward: bool = False) -> Taken:
    """Take as many lines as fit, from the first on, and join equal ones into one run.

    Args:
        rows: runs of lines in order, or in reverse order.
        room: the bytes available.
        fold_bytes: most bytes of the marker for a folded run, with its newline.
        backward: whether they are in reverse order.
    """
    runs: list[EqualLines] = []
    used = last_cost = 0
    for row in rows:
        joined = join_runs(runs[-1], row) if runs else None
        cost = _cost(joined or row, fold_bytes)
        before = last_cost if joined else 0
        misfit = None
        if row.unread or used - before + cost > room:
            fitting, misfit = _split_to_fit(row, joined, room - used + before, backward=backward)
            if fitting is None:
                return Taken(runs, used, misfit)
            row = fitting
            joined = join_runs(runs[-1], row) if joined else None
            cost = _cost(joined or row, fold_bytes)
        if joined:
            runs[-1] = joined
        else:
            runs.append(row)
        used += cost - before
        last_cost = cost
        if misfit:
            return Taken(runs, used, misfit)
    return Taken(runs, used, None)


def _split_to_fit(
    row: EqualLines, joined: EqualLines | None, room: int, *, backward: bool
) -> tuple[EqualLines | None, EqualLines]:
    """Return those lines of a run for which there is room, which do not fold then, and the first one that is too much.

    Args:
        row: the lines, for all of which there is no room.
        joined: the same with those that were taken before, if these are equal.
        room: bytes for both.
        backward: whether the last line comes first.
    """
    taken = joined.lines - row.lines if joined else 0
    fit = 0 if row.gone or row.unread else max(room // (text_bytes(row.text) + 1) - taken, 0)
    edge = row.last - fit if backward else row.first + fit
    misfit = row if row.gone else row._replace(first=edge, last=edge)
    if not fit:
        return None, misfit
    return (row._replace(first=edge + 1) if backward else row._replace(last=edge - 1)), misfit


def join_runs(one: EqualLines, other: EqualLines) -> EqualLines | None:
    """Join two neighbouring runs of the same text, given in either order; None if they differ."""
    if one.last + 1 != other.first and other.last + 1 != one.first:
        return None
    if one.gone or other.gone:
        return None
    if one.text != other.text or one.error != other.error or one.clipped or other.clipped or one.unread or other.unread:
        return None
    return EqualLines(min(one.first, other.first), max(one.last, other.last), one.text, one.error)


def clip(run: EqualLines, ref: str, limit: int, *, short: bool = False) -> EqualLines | None:
    """Cut out the middle of a line so that it fits, and that this saves enough; None if nothing would be left.

    The marker counts bytes of the cleaned text, or raw ones if the line was not read whole.
    """
    head = run.text.encode()
    tail = run.tail.encode() if run.unread else head
    whole = run.unread + len(head) + (len(tail) if run.unread else 0)
    marked = text_bytes(markers.clipping(ref, run.first, whole, short=short))
    room = min(limit - 1, whole - markers.SAVED_BYTES) - marked
    if room < CLIP_KEEPS_BYTES:
        return None
    start = head[: room - room // 2].decode("utf-8", "ignore")
    end = tail[-(room // 2) :].decode("utf-8", "ignore")
    elided = whole - text_bytes(start) - text_bytes(end)
    marker = markers.clipping(ref, run.first, elided, short=short)
    return run._replace(text=start + marker + end, clipped=True, unread=0, tail="", ends=(start, end))


def free_spans(taken: Iterable[Span], first: int, last: int) -> list[Span]:
    """Return the parts of a span that none of the taken spans covers; these must be in order."""
    free: list[Span] = []
    for start, end in taken:
        if end < first:
            continue
        if start > last:
            break
        if start > first:
            free.append((first, start - 1))
        first = end + 1
    if first <= last:
        free.append((first, last))
    return free


def spans_of(runs: Iterable[EqualLines]) -> list[Span]:
    """Return the lines of some runs, in order, neighbours joined."""
    spans: list[Span] = []
    for run in sorted(runs):
        if spans and spans[-1][1] + 1 == run.first:
            spans[-1] = (spans[-1][0], run.last)
        else:
            spans.append((run.first, run.last))
    return spans


def _cost(run: EqualLines, fold_bytes: int) -> int:
    one = text_bytes(run.text) + 1
    return one if run.gone else one + min(one * (run.lines - 1), fold_bytes)


def _row(line: Line, judge: IsError | None) -> EqualLines:
    error = judge is not None and judge(line.data)
    if line.whole:
        return EqualLines(line.number, line.number, clean_line(line.data), error)
    half = len(line.data) // 2
    if b"\r" in line.data[half:].rstrip(b"\r"):
        text = _last_state(line.data[:half], line.data[half:])
        return EqualLines(line.number, line.number, text, error, clipped=True, ends=("", text))
    head, tail = _whole_characters(line.data[:half], line.data[half:])
    unread = line.length - len(head) - len(tail)
    return EqualLines(line.number, line.number, clean_line(head), error, unread=unread, tail=clean_line(tail))


def _last_state(head: bytes, tail: bytes) -> str:
    """Return the last state of a line that carriage returns overwrote, from its two ends."""
    return clean_line(head[: head.rfind(b"\r") + 1] + tail[tail.find(b"\r") + 1 :])


def _whole_characters(head: bytes, tail: bytes) -> tuple[bytes, bytes]:
    """Return the two ends of a line without the characters that the cut between them splits."""
    for back in range(1, min(3, len(head)) + 1):
        lead = head[-back]
        if lead >= 0xC0:
            if (2 if lead < 0xE0 else 3 if lead < 0xF0 else 4) > back:
                head = head[:-back]
            break
        if lead < 0x80:
            break
    skip = 0
    while skip < min(3, len(tail)) and 0x80 <= tail[skip] < 0xC0:
        skip += 1
    return head, tail[skip:]


def lines_backward(source: Source, first: int, last: int, limit: int = LINE_LIMIT) -> Iterator[Line]:
    """Yield lines last to first, inclusive, each up to the limit of bytes."""
    while last >= first:
        start = max(first, last - BACK_LINES + 1)
        yield from reversed(list(source.lines(start, last, limit)))
        last = start - 1


class WrittenText(NamedTuple):
    """The text that lines of a stream were written as.

    Attributes:
        segments: the text, in order.
        is_open: whether the text ends without a newline, so that a later text needs one first.
    """

    segments: tuple[Segment, ...]
    is_open: bool


def write_runs(runs: Iterable[EqualLines], source: Source, *, ended: bool, short: bool = False) -> WrittenText:
    """Write some lines of a stream as segments, and markers for all others.

    Args:
        runs: the lines, in order.
        source: the stream; without a ref, all segments are literal.
        ended: whether its last line ends with a newline.
        short: whether markers are short.
    """
    ref, line_count = source.ref, source.line_count
    segments: list[Segment] = []
    plain: list[Segment] = []
    for piece in _pieces(runs, source, short=short):
        if piece.first and not piece.partial:
            plain.append(piece)
            continue
        if plain:
            segments.append(_merged(plain, ref))
            plain = []
        segments.append(piece if ref else Segment(piece.text))
    if not plain:
        return WrittenText(tuple(segments), False)
    last = _merged(plain, ref)
    is_open = not ended and plain[-1].last == line_count
    segments.append(last._replace(text=last.text[:-1]) if is_open else last)
    return WrittenText(tuple(segments), is_open)


def _pieces(runs: Iterable[EqualLines], source: Source, *, short: bool) -> Iterator[Segment]:
    """Yield the runs, and markers for what is missing between them."""
    ref, line_count, line = source.ref, source.line_count, 1
    for run in _joined(runs):
        if line < run.first:
            yield Segment(markers.elision(ref, line, run.first - 1, short=short) + "\n")
        yield from _run_pieces(run, source, short=short)
        line = run.last + 1
    if line <= line_count:
        yield Segment(markers.elision(ref, line, line_count, short=short) + "\n")


def _run_pieces(run: EqualLines, source: Source, *, short: bool) -> Iterator[Segment]:
    ref, text = source.ref, run.text + "\n"
    if run.gone:
        yield Segment(text)
        return
    if run.clipped:
        yield Segment(text, ref, run.first, run.last, True, (_cut(run, source),))
        return
    marker = markers.fold(ref, run.first + 1, run.last, short=short) + "\n"
    if run.lines > 1 and text_bytes(marker) < text_bytes(text) * (run.lines - 1):
        yield Segment(text, ref, run.first, run.first)
        yield Segment(marker, ref, run.first + 1, run.last, True)
    else:
        yield Segment(text * run.lines, ref, run.first, run.last)


def _cut(run: EqualLines, source: Source) -> CutLine:
    """Return how much of a clipped line its text shows; the line is read again, because only such lines need it."""
    line = next(iter(source.lines(run.first, run.first)), None)
    return cut_at_ends(line, *run.ends) if line else CutLine(run.first, 1, ())


def _joined(runs: Iterable[EqualLines]) -> Iterator[EqualLines]:
    """Join neighbouring runs with the same text."""
    pending: EqualLines | None = None
    for run in runs:
        joined = join_runs(pending, run) if pending else None
        if pending and not joined:
            yield pending
        pending = joined or run
    if pending:
        yield pending


def _merged(plain: list[Segment], ref: str) -> Segment:
    """Join neighbouring plain segments."""
    text = "".join([segment.text for segment in plain])
    return Segment(text, ref, plain[0].first, plain[-1].last) if ref else Segment(text)
