"""Works out which rows of an output are visible if long lines take several: where the window begins, and how it moves.

The number of rows of an output is not known, because counting them would mean to read all of it. Places are found by
walking from another one, over as many lines as the screen has rows.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.strip import Strip

from sightline.light.named_tuple import NamedTuple


class RowPlace(NamedTuple):
    """A row of an output.

    Attributes:
        line: number of the line, from 1.
        row: index of the row within the line, from 0.
    """

    line: int
    row: int = 0


START = RowPlace(1)


@lru_cache(maxsize=256)
def _folds_of(text: str, width: int) -> tuple[int, ...]:
    starts, row_cells = [0], 0
    for at, char in enumerate(text):
        cells = get_character_cell_size(char)
        if cells and row_cells and row_cells + cells > width:  # a character without width stays with the one before
            starts.append(at)
            row_cells = 0
        row_cells += cells
    return tuple(starts)


def folds(strip: Strip, width: int) -> tuple[int, ...]:
    """Return the index of the first character of each row of a line.

    Args:
        strip: the line.
        width: cells of a row, at least 1.
    """
    if strip.cell_length <= width:
        return (0,)
    text = strip.text
    return tuple(range(0, len(text), width)) if text.isascii() else _folds_of(text, width)


def fold(strip: Strip, width: int, row: int) -> Strip:
    """Return one row of a line; past its last row, an empty one."""
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
        """Prepare to walk.

        Args:
            count: number of lines.
            height: returns the rows of a line, called only for lines on the way; without it each line is one row.
        """
        self._count = count
        self._height = height or (lambda _: 1)
        self._even = height is None

    def on(self, place: RowPlace, rows: int) -> RowPlace:
        """Return the place this many rows further down, or up if negative, not past either end."""
        if self._even:
            return self.held(RowPlace(place.line + rows))
        return self._down(place, rows) if rows >= 0 else self._up(place, -rows)

    def held(self, place: RowPlace) -> RowPlace:
        """Return the nearest place that exists."""
        line = max(1, min(place.line, self._count))
        return RowPlace(line, max(0, min(place.row, self._height(line) - 1 if self._count else 0)))

    def last(self, rows: int) -> RowPlace:
        """Return where a screen of this many rows begins that ends with the last row."""
        if not self._count:
            return START
        return self.on(RowPlace(self._count, self._height(self._count) - 1), 1 - rows)

    def shown(self, top: RowPlace, rows: int) -> list[RowPlace]:
        """Return the places on a screen of this many rows; fewer if the output ends before."""
        places, line, row = list[RowPlace](), *top
        while line <= self._count and len(places) < rows:
            height = self._height(line)
            places += [RowPlace(line, at) for at in range(row, min(height, row + rows - len(places)))]
            line, row = line + 1, 0
        return places

    def _down(self, place: RowPlace, rows: int) -> RowPlace:
        line, row = place
        row += rows
        while line < self._count and row >= (height := self._height(line)):
            row -= height
            line += 1
        return self.held(RowPlace(line, row))

    def _up(self, place: RowPlace, rows: int) -> RowPlace:
        line, row = place
        row -= rows
        while line > 1 and row < 0:
            line -= 1
            row += self._height(line)
        return RowPlace(line, max(row, 0))


class ShownLines:
    """The lines of an output that are shown, where some are hidden; each has a rank among them, from 1.

    Attributes:
        count: how many are shown.
    """

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        """Take the lines as ascending (first, last), inclusive."""
        self._spans = spans
        self._sums = [0, *accumulate(last - first + 1 for first, last in spans)]
        self.count = self._sums[-1]

    def rank(self, number: int) -> int:
        """Return the rank of a line; of a hidden one, that of the next shown one, which may be one past the last."""
        at = bisect_left(self._spans, number, key=lambda span: span[1])
        if at == len(self._spans):
            return self.count + 1
        return self._sums[at] + max(number - self._spans[at][0], 0) + 1

    def number(self, rank: int) -> int:
        """Return the line with a rank."""
        at = bisect_left(self._sums, rank) - 1
        return self._spans[at][0] + rank - self._sums[at] - 1

    def holds(self, number: int) -> bool:
        """Return whether a line is shown."""
        rank = self.rank(number)
        return rank <= self.count and self.number(rank) == number


_FAR_ROWS = 2_000  # longer ways go by lines, because each row on the way would have to be read


class Window:
    """A screenful of rows.

    Attributes:
        count: number of lines of the output.
        rows: rows of the screen; 0 before that is known.
        wraps: whether long lines take several rows.
        top: the topmost visible row.
        only: the lines that are shown; None if all are.
    """

    def __init__(self, height: Callable[[int], int]) -> None:
        """Make the window; `height` gives the rows of a line, if long lines take several."""
        self.count = self.rows = 0
        self.wraps = False
        self.top = START
        self.only: ShownLines | None = None
        self._height = height

    def _walk(self) -> Walk:
        """Walk over all lines; where some are hidden, over the ranks of the others."""
        only = self.only
        if only is None:
            return Walk(self.count, self._height if self.wraps else None)
        return Walk(only.count, (lambda rank: self._height(only.number(rank))) if self.wraps else None)

    def _ranked(self, place: RowPlace) -> RowPlace:
        """Return a place as the walk has it; the place of a hidden line is the next shown one."""
        if self.only is None:
            return place
        row = place.row if self.only.holds(place.line) else 0
        return RowPlace(min(self.only.rank(place.line), max(self.only.count, 1)), row)

    def _placed(self, ranked: RowPlace) -> RowPlace:
        """Return a place of the walk as one of the output."""
        if self.only is None or not self.only.count:
            return ranked
        return RowPlace(self.only.number(ranked.line), ranked.row)

    def _lowest(self) -> RowPlace:
        return self._walk().last(max(self.rows, 1))

    @property
    def end(self) -> RowPlace:
        """The lowest top: there the last row stands at the bottom."""
        return self._placed(self._lowest())

    @property
    def at_end(self) -> bool:
        """Whether the last row is visible."""
        return self.top >= self.end

    def places(self) -> list[RowPlace]:
        """The visible rows."""
        return [self._placed(place) for place in self._walk().shown(self._ranked(self.top), self.rows)]

    def on_screen(self, number: int) -> bool:
        """Return whether the beginning of a line is visible."""
        places = self.places()
        return bool(places) and places[0] <= RowPlace(number) <= places[-1]

    def move_to(self, place: RowPlace) -> None:
        """Make a row the top, or the nearest row that still fills the screen."""
        self._go(self._ranked(place))

    def _go(self, ranked: RowPlace) -> None:
        self.top = self._placed(max(START, min(self._walk().held(ranked), self._lowest())))

    def move_by(self, rows: int) -> None:
        """Move down, or up if negative."""
        top = self._ranked(self.top)
        self._go(RowPlace(top.line + rows) if abs(rows) > _FAR_ROWS else self._walk().on(top, rows))

    def show(self, place: RowPlace, above: int) -> None:
        """Show a place with this many rows above it."""
        self._go(self._walk().on(self._ranked(place), -above))

    def bring_in(self, number: int) -> None:
        """Move just far enough to show a line, above all its beginning."""
        if number <= self.top.line:
            self.move_to(RowPlace(number))
            return
        walk, line = self._walk(), self._ranked(RowPlace(number)).line
        is_last = number >= self.count if self.only is None else line >= self.only.count
        bottom = walk.last(1) if is_last else walk.on(RowPlace(line + 1), -1)
        if (places := self.places()) and bottom > self._ranked(places[-1]):
            self._go(min(walk.on(bottom, 1 - self.rows), RowPlace(line)))

    def place_from(self, number: int) -> RowPlace:
        """Return the beginning of a line, or of the next one that is shown."""
        return self._placed(self._ranked(RowPlace(number)))

    def further(self, number: int, lines: int) -> int:
        """Return the line that stands so many shown lines after another one, or before it if negative."""
        if self.only is None:
            return max(1, min(number + lines, self.count))
        return self.only.number(max(1, min(self.only.rank(number) + lines, self.only.count))) if self.only.count else 0
