"""Finds lines that a terminal would no longer show, because a progress display moved the cursor up and overwrote them.

Each raw line keeps its number and its text; this only tells which ones were overwritten. It is careful: a line counts
as shown if anything of it might still be seen on a screen of any size. Each line is assumed to fill one row; if one may
have filled more, nothing above it counts as overwritten.
"""

import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator

from sightline.shape.clean import MOVES_UP
from sightline.shape.source import Source
from sightline.shape.terminal import TOKEN

WINDOW_ROWS = 512
"""Rows that are kept; rows further up have certainly scrolled away."""

LONGEST_MOVE_ROWS = 128
"""A longer move up means "to the top", whose place depends on the screen."""

SCREEN_ROWS = 50
"""Rows between two moves to the top-left corner that are taken for one screen, overwritten by the second."""

NARROW_COLUMNS = 80
"""A row up to this width fills one row on any screen."""

_WIDEST_COLUMNS = 4096
_NOWHERE = 1 << 62
_KEPT = 1 << 16  # line numbers that are gathered before they are merged into ranges

Range = tuple[int, int]
"""First and last line, from 1, inclusive."""


def rewritten(source: Source, first: int = 1, last: int = 0) -> tuple[Range, ...]:
    """Return the lines that a terminal would no longer show, because later ones overwrote or erased them, in order.

    If ``first`` and ``last`` are given, only lines from first to about last count; 0 means the end.

    A move to the top-left corner, as by ``watch`` and ``clear``, begins a screen. The next such move overwrites it, if
    that fitted on SCREEN_ROWS rows. Lines before the first such move are never overwritten by one.
    """
    gone = _Ranges()
    screen: _Screen | None = None
    for number, block in source.blocks(first):
        if last and number > last:
            break
        if b"\x1b" in block and MOVES_UP.search(block):
            if screen is None:
                screen = _Screen(gone)
                for line in source.lines(max(first, number - LONGEST_MOVE_ROWS), number - 1):
                    screen.feed(line.number, line.data)
        elif screen is not None and block.count(b"\n") >= WINDOW_ROWS:
            screen = None  # everything that could be overwritten has scrolled away
        if screen is not None:
            *lines, rest = block.split(b"\n")
            for at, data in enumerate(lines):
                screen.feed(number + at, data)
            if rest:
                screen.feed(number + len(lines), rest, ended=False)
    return gone.merged()


class _Ranges:
    """Gathers line numbers as ranges."""

    def __init__(self) -> None:
        self._ranges: list[Range] = []
        self._numbers: list[int] = []

    def add(self, number: int) -> None:
        self._numbers.append(number)
        if len(self._numbers) >= _KEPT:
            self._ranges = list(self.merged())

    def merged(self) -> tuple[Range, ...]:
        single: Iterable[Range] = ((number, number) for number in self._numbers)
        result: list[Range] = []
        for first, last in sorted([*self._ranges, *single]):
            if result and first <= result[-1][1] + 1:
                result[-1] = (result[-1][0], max(last, result[-1][1]))
            else:
                result.append((first, last))
        self._ranges, self._numbers = result, []
        return tuple(result)


class _Row:
    """One row of the screen.

    Attributes:
        cells: the line that wrote each cell; 0 for none.
        ended_by: the last line that ended on it; 0 for none.
    """

    __slots__ = ("cells", "ended_by")

    def __init__(self) -> None:
        self.cells: list[int] = []
        self.ended_by = 0


class _Screen:
    """The last rows of a terminal, and the cursor. Rows are counted from the first one ever written."""

    def __init__(self, gone: _Ranges) -> None:
        self._gone = gone
        self._rows: deque[_Row] = deque([_Row()])
        self._top = 0  # number of the first row that is kept
        self._floor = 0  # the cursor goes no higher
        self._known = _NOWHERE  # from this row on everything came after a move up, which shows that rows are lines
        self._home: int | None = None
        self._saved: tuple[int, int, int] | None = None
        self._row = self._column = 0
        self._line = 0
        self._seen: dict[int, int] = {}  # cells that each kept line has left
        self._blank: set[int] = set()  # lines that wrote nothing; they are gone once another one ends on their row

    def feed(self, number: int, data: bytes, *, ended: bool = True) -> None:
        """Write one raw line, and its newline if it has one."""
        self._line = number
        text = data.rstrip(b"\r").decode("utf-8", "replace")
        if text.isascii() and text.isprintable():
            self._write(text)
        else:
            for part in _parts(text):
                if isinstance(part, str):
                    self._write(part)
                else:
                    self._obey(*part)
        if not self._seen.get(number):
            self._seen.pop(number, None)
            self._blank.add(number)
        if ended:
            self._newline()

    @property
    def _last(self) -> int:
        return self._top + len(self._rows) - 1

    def _at(self, row: int) -> _Row:
        return self._rows[row - self._top]

    def _newline(self) -> None:
        row = self._at(self._row)
        if row.ended_by in self._blank:
            self._blank.remove(row.ended_by)
            self._gone.add(row.ended_by)
        row.ended_by = self._line
        self._column = 0
        self._down(1)

    def _down(self, count: int) -> None:
        self._row += count
        while self._row > self._last:
            self._rows.append(_Row())
            if len(self._rows) > WINDOW_ROWS:
                passed = self._rows.popleft()
                self._top += 1
                self._blank.discard(passed.ended_by)
                for line in set(passed.cells):
                    self._seen.pop(line, None)  # some of it will stay visible

    def _write(self, text: str) -> None:
        kept = text.rstrip(" ")
        width = len(kept) if kept.isascii() else sum(map(_width, kept))
        self._put([self._line] * width + [0] * (len(text) - len(kept)))

    def _put(self, new: list[int]) -> None:
        """Write cells at the cursor, and move it behind them."""
        if self._column + len(new) > _WIDEST_COLUMNS:
            self._begin_anew()
            new = new[:_WIDEST_COLUMNS]
        cells = self._at(self._row).cells
        start, end = self._column, self._column + len(new)
        if start > len(cells):
            cells.extend([0] * (start - len(cells)))
        self._lose(cells[start:end])
        cells[start:end] = new
        self._column = end
        if written := new.count(self._line):
            self._seen[self._line] = self._seen.get(self._line, 0) + written

    def _lose(self, cells: list[int]) -> None:
        """Remove cells that are no longer shown; a line that has lost its last one is gone."""
        for line in set(cells):
            if line not in self._seen:
                continue
            self._seen[line] -= cells.count(line)
            if not self._seen[line] and line != self._line:
                del self._seen[line]
                self._gone.add(line)

    def _erase(self, row: int, start: int = 0, end: int | None = None) -> None:
        cells = self._at(row).cells
        self._lose(cells[start:end])
        cells[start:end] = [0] * len(cells[start:end]) if end is not None else []

    def _obey(self, control: str, parameters: str, final: str) -> None:
        count = min(int(parameters[:6]), 1 << 16) if parameters.isdecimal() else 0
        match final or control:
            case "\r":
                self._column = 0
            case "\b" | "D":
                self._column = max(0, self._column - max(1, count))
            case "\t":
                self._column += 8 - self._column % 8
            case "C":
                self._column = min(self._column + max(1, count), _WIDEST_COLUMNS)
            case "G":
                self._column = min(max(1, count), _WIDEST_COLUMNS) - 1
            case "A" | "F":
                self._up(max(1, count))
                self._column = 0 if final == "F" else self._column
            case "B" | "E":
                if self._row + max(1, count) > self._last:
                    self._begin_anew()  # whether there is a row depends on the screen
                else:
                    self._row += max(1, count)
                self._column = 0 if final == "E" else self._column
            case "\x1bM":
                if self._row <= max(self._floor, self._top):
                    self._begin_anew()  # at the top of a screen, all of it moves down
                else:
                    self._up(1)
            case "K":
                self._erase_in_line(count)
            case "J":
                self._erase_on_screen(count)
            case "H" | "f":
                if parameters.strip("1;"):
                    self._begin_anew()  # a place on a screen of unknown height
                else:
                    self._go_home()
            case "\x1bc":
                self._go_home()
                self._erase_on_screen(2)
            case "\x1b7" | "s":
                self._saved = self._row, self._column, self._last
            case "\x1b8" | "u":
                self._restore()
            case "L" | "M" | "S" | "T" | "r":
                self._begin_anew()  # rows change places
            case "h" | "l" if parameters in ("?1049", "?1047", "?47"):
                self._begin_anew()  # another screen

    def _up(self, count: int) -> None:
        target = min(self._row, max(self._row - count, self._floor, self._top))
        unknown = range(target, min(self._row, self._known))
        if count > LONGEST_MOVE_ROWS or any(len(self._at(row).cells) > NARROW_COLUMNS for row in unknown):
            self._floor = target = self._row
            self._known = target
        self._row = target
        self._known = min(self._known, target)

    def _erase_in_line(self, kind: int) -> None:
        if kind == 0:
            self._erase(self._row, self._column)
        elif kind == 1:
            self._erase(self._row, 0, self._column + 1)
        elif kind == 2:
            self._erase(self._row)

    def _erase_on_screen(self, kind: int) -> None:
        if kind == 0:
            self._erase(self._row, self._column)
            first = self._row + 1
        elif kind == 2 and self._home is not None and self._is_screen(self._home):
            first = self._home
        else:
            return
        for row in range(first, self._last + 1):
            self._erase(row)

    def _is_screen(self, home: int) -> bool:
        return home >= max(self._floor, self._top) and self._last - home <= SCREEN_ROWS

    def _go_home(self) -> None:
        if self._home is None or not self._is_screen(self._home):
            self._begin_anew()
            self._floor = self._home = self._row
        self._row, self._column = self._home, 0
        self._known = min(self._known, self._row)

    def _begin_anew(self) -> None:
        """Start below everything, because the cursor's real place is unknown until a screenful has been written."""
        self._row, self._column = self._last, 0
        if self._at(self._row).cells or self._at(self._row).ended_by:
            self._down(1)
        self._floor = self._row + SCREEN_ROWS
        self._known = _NOWHERE
        self._home = self._saved = None

    def _restore(self) -> None:
        row, column, last = self._saved or (0, 0, -1)
        if last != self._last:
            self._begin_anew()  # the screen may have moved up since, but the place stays
            return
        self._up(max(0, self._row - row))
        self._row, self._column = row, column


def _parts(text: str) -> Iterator[str | tuple[str, str, str]]:
    """Yield runs of plain text, and between them (control, parameters, final character) of what a terminal obeys."""
    position = 0
    for token in TOKEN.finditer(text):
        if plain := text[position : token.start()]:
            yield from _tabbed(plain)
        position = token.end()
        yield token[0], token[1] or "", token[2] or ""
    if plain := text[position:]:
        yield from _tabbed(plain)


def _tabbed(plain: str) -> Iterator[str | tuple[str, str, str]]:
    for at, run in enumerate(plain.split("\t")):
        if at:
            yield "\t", "", ""
        if run:
            yield run


def _width(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
