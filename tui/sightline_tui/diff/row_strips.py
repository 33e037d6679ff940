"""Draws the rows of a comparison: numbers, marks and text of both sides, side by side or one below the other."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.cache import FIFOCache
from textual.strip import Strip

from sightline.light.named_tuple import NamedTuple
from sightline.search.diff.word_diff import WordSpan
from sightline_tui.common.line_painter import expanded
from sightline_tui.common.phrases import counted
from sightline_tui.common.strips import pad
from sightline_tui.common.visible_text import pieces
from sightline_tui.diff.comparison import ComparisonResult
from sightline_tui.diff.diff_rows import DiffRow, DiffRows, RowKind
from sightline_tui.diff.side_text import Pairs, SideTexts, Spans

Styles = dict[str, Style]


def line_strip(text: str, spans: Sequence[WordSpan], base: Style, word: Style, styles: Styles) -> Strip:
    """Draw a line with some stretches of it marked.

    Args:
        text: the text, cleaned.
        spans: the stretches that differ.
        base: style of the line.
        word: style to lay over a change.
        styles: ``control`` for marks of what cannot be shown as itself, ``ignored`` for ignored differences.
    """
    return Strip(_segments(_runs(text, spans, base, word, styles["ignored"]), base + styles["control"]))


def cells(text: str) -> int:
    """Return the width of a drawn line."""
    null = Style.null()
    return sum(cell_len(segment.text) for segment in _segments([(text, null)], null))


def _runs(
    text: str, spans: Sequence[WordSpan], base: Style, word: Style, ignored: Style
) -> Iterator[tuple[str, Style]]:
    at = 0
    for span in spans:
        yield text[at : span.start], base
        yield text[span.start : span.end], base + (ignored if span.ignored else word)
        at = span.end
    yield text[at:], base


def _segments(runs: Iterable[tuple[str, Style]], control: Style) -> Iterator[Segment]:
    column = 0
    for run, style in runs:
        for text, marked in pieces(run):
            if "\t" in text:
                text = expanded(text, column)
            column += cell_len(text)
            yield Segment(text, control if marked else style)


_MIN_DIGITS = 3
_KEPT_STRIPS = 300
_NO_SPANS: Spans = ((), ())
_MARKS = ("-", "+")
_GOES_ON = "›"  # at the edge of a line that continues
_PARTS = ("removed", "added")


class RowLook(NamedTuple):
    """How to draw a row.

    Attributes:
        width: cells of the row.
        column: first visible column of the text.
        base: style of plain text.
        styles: by part, see `DiffView.PARTS`.
        own: part for the numbers on the cursor's side; the other side has ``gutter``.
        right: whether the cursor is on the right side.
        marked: lays the hits of a search over a line: (side, line, text).
    """

    width: int
    column: int
    base: Style
    styles: Styles
    own: str
    right: bool
    marked: Callable[[int, int, Strip], Strip] | None = None


class RowStrips:
    """Draws the rows of one comparison."""

    def __init__(self, compared: ComparisonResult, rows: DiffRows, *, unified: bool) -> None:
        self.rows = rows
        self.pairs = Pairs(SideTexts(compared.left), SideTexts(compared.right), compared.ignore)
        self._unified = unified
        self._sees_same = not any(compared.ignore)
        most = max(compared.comparison.left_lines, compared.comparison.right_lines)
        self._digits = max(len(str(most)) + 1, _MIN_DIGITS)
        self._drawn: FIFOCache[tuple[int, int, int], Strip] = FIFOCache(_KEPT_STRIPS)

    def forget(self) -> None:
        """Forget the drawn rows, because they would look different now."""
        self._drawn.clear()

    def lines(self, row: DiffRow) -> tuple[int, int]:
        """Return the lines on a row, left and right, 0 for none. Raises what reading the sides raises."""
        if row.kind is RowKind.CHANGE:
            return self.pairs.beside(self.rows.hunk(row.part), row.at)
        return row.left, row.right

    def room(self, width: int) -> int:
        """Return the cells for the text of a line."""
        if self._unified:
            return max(width - 2 * self._digits - 5, 0)
        return max((width - 1) // 2 - self._digits - 4, 0)

    def longest(self, row: DiffRow) -> int:
        """Return the cells that the texts of a row take. Raises what reading the sides raises."""
        if row.kind is RowKind.FOLD:
            return 0
        lines = zip(self.pairs.texts, self.lines(row), strict=True)
        return max(cells(texts[line]) for texts, line in lines if line)

    def draw(self, row: DiffRow, look: RowLook) -> Strip:
        """Draw a row. Raises what reading the sides raises."""
        if row.kind is RowKind.FOLD:
            return self._fold(row, look)
        return self._one_column(row, look) if self._unified else self._two_columns(row, look)

    def _fold(self, row: DiffRow, look: RowLook) -> Strip:
        style = look.base + look.styles["fold"]
        own = style + look.styles[look.own] if look.own != "gutter" else style
        lead = "⋯".rjust(self._digits + 1)
        words = pad(f"  {counted(row.hidden, 'equal line')}", max(look.width - self._digits - 1, 0))
        return Strip([Segment(lead, own), Segment(words, style)], look.width)

    def _two_columns(self, row: DiffRow, look: RowLook) -> Strip:
        lines = self.lines(row)
        left_width = (look.width - 1) // 2
        halves = []
        for side, width in enumerate((left_width, look.width - 1 - left_width)):
            own = look.own if look.right == bool(side) else "gutter"
            halves.append(self._half(row, lines, side, width, own, look))
        return Strip.join([halves[0], Strip([Segment("│", look.base + look.styles["gutter"])], 1), halves[1]])

    def _half(self, row: DiffRow, lines: tuple[int, int], side: int, width: int, own: str, look: RowLook) -> Strip:
        line = lines[side]
        if not line:
            style = look.base + look.styles["blank"]
            number = Segment(" " * (self._digits + 1), style + look.styles[own] if own != "gutter" else style)
            return Strip([number, Segment(" " * max(width - self._digits - 1, 0), style)], width).crop(0, width)
        changed, base = row.kind is RowKind.CHANGE, _base(row, side, look)
        gutter = Strip(
            [
                Segment(f"{line:>{self._digits}} ", base + look.styles[own]),
                Segment(f"{_MARKS[side]} " if changed else "  ", base + look.styles["mark"]),
            ],
            self._digits + 3,
        )
        return self._with_text(gutter, self._marked(row, lines, side, base, look), width, base, look)

    def _one_column(self, row: DiffRow, look: RowLook) -> Strip:
        side = int(row.kind is not RowKind.REMOVED)
        base, mark = _base(row, side, look), " " if row.kind is RowKind.EQUAL else _MARKS[side]
        numbers = [str(line or "").rjust(self._digits) + " " for line in (row.left, row.right)]
        gutter = Strip(
            [
                Segment("".join(numbers), base + look.styles[look.own]),
                Segment(f"{mark} ", base + look.styles["mark"]),
            ],
            2 * self._digits + 4,
        )
        lines = self._compared_lines(row)
        return self._with_text(gutter, self._marked(row, lines, side, base, look), look.width, base, look)

    def _compared_lines(self, row: DiffRow) -> tuple[int, int]:
        """Return a row's single line, and the line of the other side that it is compared with."""
        if row.kind is RowKind.REMOVED:
            return row.left, self.pairs.partner(self.rows.hunk(row.part), left=row.left)
        if row.kind is RowKind.ADDED:
            return self.pairs.partner(self.rows.hunk(row.part), right=row.right), row.right
        return row.left, row.right

    def texts(self, row: DiffRow, look: RowLook) -> dict[tuple[int, int], Strip]:
        """Return the texts of a row, by (side, line). Raises what reading the sides raises."""
        if row.kind is RowKind.FOLD:
            return {}
        if self._unified:
            side = int(row.kind is not RowKind.REMOVED)
            lines, sides = self._compared_lines(row), [side]
        else:
            lines, sides = self.lines(row), [0, 1]
        return {
            (side, lines[side]): self._text(row, lines, side, _base(row, side, look), look)
            for side in sides
            if lines[side]
        }

    def _marked(self, row: DiffRow, lines: tuple[int, int], side: int, base: Style, look: RowLook) -> Strip:
        text = self._text(row, lines, side, base, look)
        return look.marked(side, lines[side], text) if look.marked else text

    def _with_text(self, gutter: Strip, text: Strip, width: int, base: Style, look: RowLook) -> Strip:
        room = max(width - gutter.cell_length, 0)
        seen = text.crop_extend(look.column, look.column + room, base)
        if text.cell_length > look.column + room and room:
            seen = Strip.join([seen.crop(0, room - 1), Strip([Segment(_GOES_ON, base + look.styles["gutter"])], 1)])
        return Strip.join([gutter, seen]).crop(0, width)

    def _text(self, row: DiffRow, lines: tuple[int, int], side: int, base: Style, look: RowLook) -> Strip:
        """Draw the text of one side of a row, with its differences marked."""
        key = lines[0], lines[1], side
        strip = self._drawn.get(key)
        if strip is None:
            spans = self._spans(row, lines)
            word = look.styles[f"{_PARTS[side]}-word"]
            strip = line_strip(self.pairs.texts[side][lines[side]], spans[side], base, word, look.styles)
            self._drawn[key] = strip
        return strip

    def _spans(self, row: DiffRow, lines: tuple[int, int]) -> Spans:
        equal = row.kind is RowKind.EQUAL
        if not all(lines) or (equal and self._sees_same):
            return _NO_SPANS
        return self.pairs.spans(*lines, equal=equal) or _NO_SPANS


def _base(row: DiffRow, side: int, look: RowLook) -> Style:
    """Return the style of a line of a side."""
    return look.base if row.kind is RowKind.EQUAL else look.base + look.styles[_PARTS[side]]
