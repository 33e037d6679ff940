"""Draws lines of an output: the gutter with number and stream, then the text, made safe, tabs expanded, long ones cut.

Keeps what it has drawn lately; what it keeps does not depend on how large the output is.
"""

from collections.abc import Iterable

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from sightline.store.shape.clean import clean_line
from sightline.store.shape.source import Line
from sightline.store.shape.summary import human_bytes
from sightline.tui.reading import Reading
from sightline.tui.safe import TAB_STOP, lone_controls_shown, pieces
from textual.cache import LRUCache
from textual.strip import Strip

LINE_BYTES = 1 << 14  # read of one line at most: its two ends; scrolling to column 8,000 is rare enough
_KEPT_STRIPS = 1_000
_READ_AHEAD = 40  # lines beyond the wanted one that are read with it: a screenful costs one read

STREAM_MARKS = {"err": "▌"}
"""What stands between number and text; the other streams have nothing there."""


class LineStrips:
    """The drawn lines of one output."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._drawn: LRUCache[int, tuple[str, Strip]] = LRUCache(_KEPT_STRIPS)

    def forget(self, reading: Reading) -> None:
        """Go on with the same output opened anew, after it has grown: its last lines may be others now."""
        self._reading = reading
        self._drawn.clear()

    def line(self, number: int, ahead: int, base: Style, styles: dict[str, Style]) -> tuple[str, Strip]:
        """(stream, drawn text) of a line.

        Args:
            number: counted through both streams, from 1.
            ahead: lines that are wanted next.
            base: style of plain text.
            styles: by part, see `Viewer.PARTS`.
        """
        drawn = self._drawn.get(number)
        if drawn is None:
            last = number + min(max(ahead, 0), _READ_AHEAD)
            for at, (stream, line) in enumerate(self._reading.lines(number, last, LINE_BYTES), number):
                self._drawn[at] = stream, draw(line, base, styles)
            drawn = self._drawn.get(number) or ("out", Strip([], 0))
        return drawn


def draw(line: Line, base: Style, styles: dict[str, Style]) -> Strip:
    """The text of a raw line."""
    if line.whole:
        return Strip(_segments(line.data, base, styles))
    half = len(line.data) // 2
    gap = f" ⋯ {human_bytes(line.length - len(line.data))} not read ⋯ "
    head, tail = _segments(line.data[:half], base, styles), _segments(line.data[half:], base, styles)
    return Strip([*head, Segment(gap, base + styles["dim"]), *tail])


def _segments(data: bytes, base: Style, styles: dict[str, Style]) -> Iterable[Segment]:
    column = 0
    for text, marked in pieces(clean_line(lone_controls_shown(data))):
        if "\t" in text:
            text = _expanded(text, column)
        column += cell_len(text)
        yield Segment(text, base + styles["control"] if marked else base)


def _expanded(text: str, column: int) -> str:
    """Tabs as spaces up to the next stop, by cells and not by characters."""
    runs = text.split("\t")
    expanded = runs[0]
    column += cell_len(runs[0])
    for run in runs[1:]:
        gap = TAB_STOP - column % TAB_STOP
        expanded += " " * gap + run
        column += gap + cell_len(run)
    return expanded
