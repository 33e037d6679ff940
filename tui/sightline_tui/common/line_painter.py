"""Turns a line's text into segments for the screen: safe, with tabs expanded, in one of three looks."""

from collections.abc import Callable, Iterable, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.strip import Strip

from sightline.light.named_tuple import NamedTuple
from sightline.shape.clean import clean_line
from sightline.shape.source import Line
from sightline.shape.summary import human_bytes
from sightline_tui.common.long_line import Middle, pieces_of
from sightline_tui.common.pens import PLAIN, Pen, Run, style_of
from sightline_tui.common.visible_text import TAB_STOP, lone_controls_shown, pieces

LOOKS = ("colours", "cleaned", "raw")
"""The command's own colours, or else those of its syntax; plain text; or every byte, with escapes made visible."""

Spans = Sequence[tuple[int, int, str]]
"""(start, end, part) for stretches of a text with a style of their own, ascending, without overlaps."""


class Paint(NamedTuple):
    """The styles for drawing.

    Attributes:
        base: style of plain text.
        parts: styles by part, see `Viewer.PARTS`.
        theme: the terminal's sixteen colours; None to draw without colours.
        syntax: returns the style of a part of the syntax, called only for parts that occur.
    """

    base: Style
    parts: dict[str, Style]
    theme: TerminalTheme | None
    syntax: Callable[[str], Style]


def plain_text(line: Line) -> str:
    """Return a raw line as text: cleaned, with stray control characters as pictures."""
    return clean_line(lone_controls_shown(line.data))


def draw(
    line: Line, look: str, paint: Paint, pen: Pen = PLAIN, spans: Spans = (), middle: Middle | None = None
) -> Strip:
    """Draw the text of a raw line.

    Args:
        line: the line; of a very long one only the two ends.
        look: one of ``LOOKS``.
        paint: the styles.
        pen: the pen with which the line begins.
        spans: the syntax of its cleaned text, unless the line has colours of its own.
        middle: a part between the two ends of a very long line.
    """
    if line.whole:
        return Strip(_segments(line.data, look, paint, pen, spans))
    segments, at = list[Segment](), 0
    for begin, data in pieces_of(line, middle):
        if begin > at:
            segments.append(Segment(_gap(begin - at), paint.base + paint.parts["dim"]))
        segments += _segments(data, look, paint, pen, ())
        at = begin + len(data)
    return Strip(segments)


def _gap(count: int) -> str:
    return f" ⋯ {human_bytes(count)} not read ⋯ "


def character_at(line: Line, look: str, paint: Paint, middle: Middle | None, offset: int) -> int:
    """Return the index of the drawn character for a byte of the line; for a byte not shown, the next one that is."""
    characters, at = 0, 0
    for begin, data in pieces_of(line, middle):
        if begin > at:
            characters += len(_gap(begin - at))
        if offset < begin + len(data):
            return characters + _characters(data[: max(offset - begin, 0)], look, paint)
        characters += _characters(data, look, paint)
        at = begin + len(data)
    return characters


def _characters(data: bytes, look: str, paint: Paint) -> int:
    return sum(len(segment.text) for segment in _segments(data, look, paint, PLAIN, ()))


def _segments(data: bytes, look: str, paint: Paint, pen: Pen, spans: Spans) -> Iterable[Segment]:
    if look == "raw":
        return _safe([(data.decode("utf-8", "surrogateescape"), paint.base)], paint)
    data = lone_controls_shown(data)
    if look == "cleaned":
        return _safe([(clean_line(data), paint.base)], paint)
    runs, _ = coloured(data, pen)
    if spans and all(run_pen == PLAIN for _, run_pen in runs):
        return _safe(_highlighted("".join(text for text, _ in runs), spans, paint), paint)
    return _safe([(text, style_of(run_pen, paint.base, paint.theme)) for text, run_pen in runs], paint)


def coloured(data: bytes, pen: Pen) -> tuple[list[Run], Pen]:
    """Split a raw line without its newline into runs, and return the pen with which its stream's next line begins."""
    if b"\x1b" not in data and b"\xc2\x9b" not in data:
        text = clean_line(data)
        return ([(text, pen)] if text else []), pen
    from sightline_tui.common.escaped_line import runs_of  # 3 ms: most lines have no escapes

    return runs_of(data.rstrip(b"\r").decode("utf-8", "replace"), pen)


def _highlighted(text: str, spans: Spans, paint: Paint) -> Iterable[tuple[str, Style]]:
    at = 0
    for start, end, part in spans:
        if start > at:
            yield text[at:start], paint.base
        yield text[start:end], paint.base + paint.syntax(part)
        at = end
    yield text[at:], paint.base


def _safe(runs: Iterable[tuple[str, Style]], paint: Paint) -> Iterable[Segment]:
    """Turn runs of text into segments that cannot act on a terminal."""
    column = 0
    for run, style in runs:
        for text, marked in pieces(run):
            if "\t" in text:
                text = expanded(text, column)
            column += cell_len(text)
            yield Segment(text, paint.base + paint.parts["control"] if marked else style)


def expanded(text: str, column: int) -> str:
    """Replace tabs by spaces up to the next stop, counted in cells rather than characters."""
    runs = text.split("\t")
    expanded = runs[0]
    column += cell_len(runs[0])
    for run in runs[1:]:
        gap = TAB_STOP - column % TAB_STOP
        expanded += " " * gap + run
        column += gap + cell_len(run)
    return expanded


def restyled(strip: Strip, ranges: Iterable[tuple[int, int]], style: Style) -> Strip:
    """Give some ranges of a strip's text, (start, end) in characters, a style on top of their own."""
    cuts = sorted({edge for start, end in ranges for edge in (start, end)})
    inside = {start for start, _ in ranges}
    segments, position, marked = list[Segment](), 0, False
    left = iter([*cuts, len(strip.text)])
    cut = next(left)
    for text, own, _ in strip:
        at = 0
        while at < len(text):
            while cut <= position:
                marked = cut in inside
                cut = next(left, position + len(text) + 1)
            take = min(len(text) - at, cut - position)
            piece = text[at : at + take]
            segments.append(Segment(piece, (own or Style.null()) + style if marked else own))
            at += take
            position += take
    return Strip(segments, strip.cell_length)
