"""Long lines on several rows: where each begins, and how one walks over rows of lines whose heights are not known.

Nothing here knows how many rows an output has: that would mean to look at all of it. Places are found by walking from
another one, over as many lines as the screen is high.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.strip import Strip


class Place(NamedTuple):
    """A row of an output.

    Attributes:
        line: number of the line, from 1.
        row: which of its rows, from 0.
    """

    line: int
    row: int = 0


START = Place(1)


@lru_cache(maxsize=256)
def _folds_of(text: str, width: int) -> tuple[int, ...]:
    starts, row_cells = [0], 0
    for at, char in enumerate(text):
        cells = get_character_cell_size(char)
        if cells and row_cells and row_cells + cells > width:  # what has no width stays with what it joins
            starts.append(at)
            row_cells = 0
        row_cells += cells
    return tuple(starts)


def folds(strip: Strip, width: int) -> tuple[int, ...]:
    """The characters with which the rows of a line begin.

    Args:
        strip: the line.
        width: cells of a row, at least 1.
    """
    if strip.cell_length <= width:
        return (0,)
    text = strip.text
    return tuple(range(0, len(text), width)) if text.isascii() else _folds_of(text, width)


def fold(strip: Strip, width: int, row: int) -> Strip:
    """One row of a line; what is past its last row is empty."""
    starts = folds(strip, width)
    if len(starts) == 1 and not row:
        return strip
    if row >= len(starts):
        return Strip([], 0)
    first, last = starts[row], starts[row + 1] if row + 1 < len(starts) else len(strip.text)
    segments, at = list[Segment](), 0
    for text, style, _ in strip:
        if piece := text[max(first - at, 0) : max(last - at, 0)]:
            segments.append(Segment(piece, style))
        at += len(text)
    return Strip(segments)


class Walk:
    """Walks over the rows of lines."""

    def __init__(self, count: int, height: Callable[[int], int] | None = None) -> None:
        """Prepare.

        Args:
            count: how many lines there are.
            height: rows of a line; asked only for lines that one comes by. Without it each line is one row.
        """
        self._count = count
        self._height = height or (lambda _: 1)
        self._even = height is None

    def on(self, place: Place, rows: int) -> Place:
        """So many rows further down, or up where they are negative; not past either end."""
        if self._even:
            return self.held(Place(place.line + rows))
        return self._down(place, rows) if rows >= 0 else self._up(place, -rows)

    def held(self, place: Place) -> Place:
        """The nearest place that exists."""
        line = max(1, min(place.line, self._count))
        return Place(line, max(0, min(place.row, self._height(line) - 1 if self._count else 0)))

    def last(self, rows: int) -> Place:
        """Where a screen of so many rows begins that ends with the last one."""
        if not self._count:
            return START
        return self.on(Place(self._count, self._height(self._count) - 1), 1 - rows)

    def shown(self, top: Place, rows: int) -> list[Place]:
        """The places on a screen of so many rows; fewer where the output ends."""
        places, line, row = list[Place](), *top
        while line <= self._count and len(places) < rows:
            height = self._height(line)
            places += [Place(line, at) for at in range(row, min(height, row + rows - len(places)))]
            line, row = line + 1, 0
        return places

    def _down(self, place: Place, rows: int) -> Place:
        line, row = place
        row += rows
        while line < self._count and row >= (height := self._height(line)):
            row -= height
            line += 1
        return self.held(Place(line, row))

    def _up(self, place: Place, rows: int) -> Place:
        line, row = place
        row -= rows
        while line > 1 and row < 0:
            line -= 1
            row += self._height(line)
        return Place(line, max(row, 0))
