"""Writes picked lines as the segments of a body, with a marker wherever lines are left out or folded."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sightline.shape import markers
from sightline.shape.line_cut import cut_at_ends
from sightline.shape.runs import Run, join_runs, text_bytes
from sightline.shape.segments import Segment
from sightline.shape.source import CutLine, Source


class Written(NamedTuple):
    """What a stream's lines were written as.

    Attributes:
        segments: the text, in order.
        is_open: whether the text ends with an unterminated line, so that whatever follows needs a newline first.
    """

    segments: tuple[Segment, ...]
    is_open: bool


def write_runs(runs: Iterable[Run], source: Source, *, ended: bool) -> Written:
    """The segments for some lines of a stream, and markers for all others.

    Args:
        runs: the lines, in order.
        source: the stream; without a ref, all segments are literal.
        ended: whether its last line ends with a newline.
    """
    ref, line_count = source.ref, source.line_count
    segments: list[Segment] = []
    plain: list[Segment] = []
    for piece in _pieces(runs, source):
        if piece.first and not piece.partial:
            plain.append(piece)
            continue
        if plain:
            segments.append(_merged(plain, ref))
            plain = []
        segments.append(piece if ref else Segment(piece.text))
    if not plain:
        return Written(tuple(segments), False)
    last = _merged(plain, ref)
    is_open = not ended and plain[-1].last == line_count
    segments.append(last._replace(text=last.text[:-1]) if is_open else last)
    return Written(tuple(segments), is_open)


def _pieces(runs: Iterable[Run], source: Source) -> Iterator[Segment]:
    """The runs, and the markers of what is missing between them."""
    ref, line_count, line = source.ref, source.line_count, 1
    for run in _joined(runs):
        if line < run.first:
            yield Segment(markers.elision(ref, line, run.first - 1) + "\n")
        yield from _run_pieces(run, source)
        line = run.last + 1
    if line <= line_count:
        yield Segment(markers.elision(ref, line, line_count) + "\n")


def _run_pieces(run: Run, source: Source) -> Iterator[Segment]:
    ref, text = source.ref, run.text + "\n"
    if run.gone:
        yield Segment(text)
        return
    if run.clipped:
        yield Segment(text, ref, run.first, run.last, True, (_cut(run, source),))
        return
    marker = markers.fold(ref, run.first + 1, run.last) + "\n"
    if run.lines > 1 and text_bytes(marker) < text_bytes(text) * (run.lines - 1):
        yield Segment(text, ref, run.first, run.first)
        yield Segment(marker, ref, run.first + 1, run.last, True)
    else:
        yield Segment(text * run.lines, ref, run.first, run.last)


def _cut(run: Run, source: Source) -> CutLine:
    """How far a clipped line stands in its text: the line is read again, since only such lines need it."""
    line = next(iter(source.lines(run.first, run.first)), None)
    return cut_at_ends(line, *run.ends) if line else CutLine(run.first, 1, ())


def _joined(runs: Iterable[Run]) -> Iterator[Run]:
    """The runs, with neighbours that read the same made one."""
    pending: Run | None = None
    for run in runs:
        joined = join_runs(pending, run) if pending else None
        if pending and not joined:
            yield pending
        pending = joined or run
    if pending:
        yield pending


def _merged(plain: list[Segment], ref: str) -> Segment:
    """Neighbouring plain segments as one."""
    text = "".join([segment.text for segment in plain])
    return Segment(text, ref, plain[0].first, plain[-1].last) if ref else Segment(text)
