"""Reads and draws the lines of one output as they are needed.

Lines are read in chunks at fixed places, so that a line looks the same from wherever a person came to it; they are
drawn one by one. The memory for them does not depend on the size of the output.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

from rich.segment import Segment
from textual.cache import FIFOCache
from textual.strip import Strip

from sightline.base.records import Buffer
from sightline.light.late_imports import late_modules
from sightline.light.named_tuple import NamedTuple
from sightline.shape.source import Line
from sightline_tui.common.hexdump import draw_row
from sightline_tui.common.line_painter import LOOKS, Paint, Spans, character_at, draw, plain_text
from sightline_tui.common.long_line import Middle, middle_of
from sightline_tui.common.output_reader import OutputReader
from sightline_tui.common.pens import PLAIN, Pen, pen_after

with late_modules(globals()):
    from sightline.shape import markers  # 2 ms: few outputs have gaps

LINE_BYTES = 1 << 14  # read of one line at most, half from each end; few scroll to column 8,000
CHUNK_LINES = 32
LEAD_LINES = 32  # lines before a chunk, because syntax can depend on them
_PENS_LINES = 200  # lines before a chunk that are searched for a colour still in force
_KEPT_CHUNKS = 16
_KEPT_STRIPS = 300  # several screens; with what Textual keeps beside it, each takes 2 KB


Lines = list[tuple[str, Line]]
"""Consecutive lines as (stream, line)."""


class Highlighter(Protocol):
    """Finds the syntax of lines.

    Attributes:
        by_line: whether the syntax of a line is independent of the lines before it.
    """

    by_line: bool

    def spans(self, texts: list[str]) -> list[Spans]:
        """Return what stands where in each of some consecutive lines."""


NO_GAPS: Mapping[tuple[str, int], str] = MappingProxyType({})


class DrawnLine(NamedTuple):
    """A line as it is shown.

    Attributes:
        stream: stream of the line.
        line: number of the line in that stream.
        strip: the drawn text.
    """

    stream: str
    line: int
    strip: Strip


NOTHING = DrawnLine("out", 0, Strip([], 0))
AWAITED = DrawnLine("out", 0, Strip([Segment("…")]))
"""Stands for a line that is still being read."""


class Chunk:
    """Raw lines that were read together.

    Attributes:
        lines: (stream, line) of each.
        pens: the colours in force at the beginning of each.
        after: the colours in force at the beginning of the next chunk, by stream.
    """

    def __init__(
        self, lead: list[tuple[str, Line]], lines: list[tuple[str, Line]], begun: dict[str, Pen] | None
    ) -> None:
        self.lines = lines
        pens = dict(begun or {})
        for stream, line in lead if begun is None else ():
            pens[stream] = pen_after(line.data, pens.get(stream, PLAIN))
        self.pens = list[Pen]()
        for stream, line in lines:
            pen = pens.get(stream, PLAIN)
            self.pens.append(pen)
            pens[stream] = pen_after(line.data, pen)
        self.after = pens
        self._spans: list[Spans] = []
        self._lead = lead[-LEAD_LINES:]

    def spans_of(self, at: int, highlighter: Highlighter) -> Spans:
        """Return the syntax of one of its lines."""
        if highlighter.by_line:
            return highlighter.spans([_text(self.lines[at][1])])[0]
        if not self._spans:
            texts = [_text(line) for _, line in (*self._lead, *self.lines)]
            self._spans = highlighter.spans(texts)[len(self._lead) :]
        return self._spans[at]


def _text(line: Line) -> str:
    return plain_text(line) if line.whole else ""


def gap_markers(buffer: Buffer) -> dict[tuple[str, int], str]:
    """Return words for each gap, by stream and the line after which they stand; for a gap at the start, line 1."""
    if not buffer.gaps:
        return {}
    found: dict[tuple[str, int], str] = {}
    for gap in buffer.gaps:
        marker = markers.missing(gap.amount, f"before this line, {buffer.partial}" if not gap.after else buffer.partial)
        key = gap.stream, max(gap.after, 1)
        found[key] = f"{found[key]}  {marker}" if key in found else marker
    return found


def read_middle(reading: OutputReader, stream: str, line: Line, offset: int) -> Middle | None:
    """Return the part of a long line around a byte, from the line's start; see `middle_of`. In any thread."""
    source = reading.source(stream)
    begin = source.offset_of_line(line.number)
    return middle_of(line, offset, lambda at, count: source.read(begin + at, count))


class LineStrips:
    """The drawn lines of one output.

    Attributes:
        look: how they are drawn: one of ``LOOKS``, or ``hex`` for rows of bytes.
    """

    def __init__(
        self,
        reading: OutputReader,
        paint: Callable[[], Paint],
        look: str = LOOKS[0],
        highlighter: Highlighter | None = None,
        gaps: Mapping[tuple[str, int], str] = NO_GAPS,
        elsewhere: "Callable[[LineStrips, int], None] | None" = None,
    ) -> None:
        """Prepare to draw.

        Args:
            reading: the lines.
            paint: returns the present colours.
            look: how lines are drawn.
            highlighter: finds their syntax; None for none.
            gaps: markers of what is missing, by stream and the line after which each stands.
            elsewhere: called with the place of a chunk that is needed, where reading may take long: it is read in
                another thread, and `put` takes it. By default chunks are read here.
        """
        self.look = look
        self._elsewhere = elsewhere
        self._gaps = gaps
        self._reading = reading
        self._paint = paint
        self._highlighter = highlighter
        # Those used last would be kept longer by Textual's other cache, whose entries hold each other: they would stay
        # in memory until garbage is collected, and a live list opens an output each second.
        self._chunks: FIFOCache[int, Chunk] = FIFOCache(_KEPT_CHUNKS)
        self._strips: FIFOCache[int, DrawnLine] = FIFOCache(_KEPT_STRIPS)
        self._inside: tuple[int, Middle | None] = (0, None)  # a line too long to be read whole, and its shown part

    @property
    def reads_elsewhere(self) -> bool:
        """Whether lines are read in another thread, and awaited."""
        return self._elsewhere is not None

    def forget(self, reading: OutputReader | None = None) -> None:
        """Draw all lines again, because the output has grown or the theme has changed; from a new reading if given."""
        self._reading = reading or self._reading
        self._chunks.clear()
        self._strips.clear()

    def highlight(self, highlighter: Highlighter | None) -> None:
        """Draw the syntax, too, from now on."""
        self._highlighter = highlighter
        self.forget()

    def line(self, number: int) -> DrawnLine:
        """Return a drawn line by its number in the reading, from 1; an empty one if there is no such line."""
        drawn = self._strips.get(number)
        if drawn is None:
            if not self._is_here(number):
                return AWAITED
            drawn = self._strips[number] = self._drawn(number)
        return drawn

    def _is_here(self, number: int) -> bool:
        """Return whether a line can be had at once; otherwise have its chunk read."""
        place = (number - 1) // CHUNK_LINES
        if self._elsewhere is None or place in self._chunks:
            return True
        self._elsewhere(self, place)
        return False

    def raw(self, number: int) -> tuple[str, Line] | None:
        """Return (stream, line) as it was read; None if there is none, or if it is still being read."""
        if not self._is_here(number):
            return None
        place, at = divmod(number - 1, CHUNK_LINES)
        chunk = self._chunk(place)
        return chunk.lines[at] if 0 <= at < len(chunk.lines) else None

    def _drawn(self, number: int) -> DrawnLine:
        place, at = divmod(number - 1, CHUNK_LINES)
        chunk = self._chunk(place)
        if not 0 <= at < len(chunk.lines):
            return NOTHING
        stream, line = chunk.lines[at]
        if self.look == "hex":
            return DrawnLine(stream, line.number, draw_row(line, self._paint()))
        spans = chunk.spans_of(at, self._highlighter) if self._highlighter and self.look == LOOKS[0] else ()
        middle = self._middle(number, line)
        strip = draw(line, self.look, self._paint(), chunk.pens[at], spans, middle)
        if marker := self._gaps.get((stream, line.number)):
            strip = Strip([*strip, Segment("  "), Segment(marker, self._paint().base + self._paint().syntax("gap"))])
        return DrawnLine(stream, line.number, strip)

    def look_inside(self, number: int, offset: int, middle: Middle | None) -> int:
        """Show a part around a byte in a line too long to be read whole; return that byte's character's index there.

        Args:
            number: number of the line.
            offset: the byte, from the line's start.
            middle: the part, as `read_middle` returns it.
        """
        self._inside = number, middle
        self._strips.clear()
        raw = self.raw(number)
        if raw is None:
            return 0
        _, line = raw
        return character_at(line, self.look, self._paint(), self._middle(number, line), offset)

    def _middle(self, number: int, line: Line) -> Middle | None:
        inside, middle = self._inside
        return None if line.whole or number != inside else middle

    def _chunk(self, place: int) -> Chunk:
        chunk = self._chunks.get(place)
        if chunk is None:
            chunk = self._chunks[place] = self.to_read(place)(self._reading)
        return chunk

    def to_read(self, place: int) -> Callable[[OutputReader], Chunk]:
        """Return a function that reads a chunk, in any thread."""
        first = place * CHUNK_LINES + 1
        before = self._chunks.get(place - 1)
        begin = max(first - (LEAD_LINES if before else _PENS_LINES), 1)

        def read(reading: OutputReader) -> Chunk:
            lines = list(reading.lines(begin, first + CHUNK_LINES - 1, LINE_BYTES))
            lead = min(first - begin, len(lines))
            return Chunk(lines[:lead], lines[lead:], before.after if before else None)

        return read

    def put(self, place: int, chunk: Chunk) -> None:
        """Take a chunk that was read in another thread."""
        self._chunks[place] = chunk
