"""Searches both sides of a comparison. Its numbers are rows of the unfolded layout, from 1."""

from collections.abc import Callable

from sightline.search.diff.comparison import Comparison
from sightline.search.diff.engines import Ignore
from sightline.search.diff.sides import Side
from sightline.search.engine import SearchPattern
from sightline.store import StreamReader
from sightline_tui.common.stream_search import HitStep, StreamSearch
from sightline_tui.diff.diff_rows import DiffRows, RowKind
from sightline_tui.diff.side_text import Pairs, SideTexts


class SideReading:
    """The lines of a side, for a search."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self.streams = tuple(map(str, range(len(side.parts))))
        self.close = side.close

    @property
    def line_count(self) -> int:
        """Number of lines of all its parts."""
        return self._side.line_count

    def source(self, stream: str) -> StreamReader:
        """Return one part."""
        return self._side.parts[int(stream)].reader

    def offsets(self, number: int) -> dict[str, int]:
        """Return how many bytes of each part stand before a line."""
        found, before = dict[str, int](), 0
        for stream in self.streams:
            reader = self.source(stream)
            found[stream] = reader.offset_of_line(min(max(number - before, 1), reader.line_count + 1))
            before += reader.line_count
        return found

    def number_at(self, stream: str, offset: int) -> int:
        """Return the line in which a byte of a part stands."""
        before = sum(self.source(str(at)).line_count for at in range(int(stream)))
        return before + self.source(stream).line_at(offset)


class SearchRows:
    """Maps the lines of both sides to rows of the unfolded layout."""

    def __init__(self, comparison: Comparison, *, unified: bool) -> None:
        self.rows = DiffRows(comparison, unified=unified)
        self.rows.fold(False)

    def number(self, pairs: Pairs, line: int, *, right: bool) -> int:
        """Return the number of the row that shows a line. Raises what reading the sides raises."""
        at = self.rows.row_of_line(line, right=right)
        if at >= len(self.rows):
            return 0  # it was written after the comparison
        row = self.rows[at]
        if row.kind is not RowKind.CHANGE:
            return at + 1
        hunk = self.rows.hunk(row.part)
        own, other = (hunk.right, hunk.left) if right else (hunk.left, hunk.right)
        partner = pairs.partner(hunk, right=line) if right else pairs.partner(hunk, left=line)
        few = hunk.right_count < hunk.left_count if right else hunk.left_count <= hunk.right_count
        return self.rows.row_of_hunk(row.part) + (partner - other if few else line - own) + 1

    def line_from(self, pairs: Pairs, number: int, *, right: bool) -> int:
        """Return the first line of a side in a row or below it; one past the last line if there is none."""
        for at in range(number - 1, len(self.rows)):
            row = self.rows[at]
            lines = (
                pairs.beside(self.rows.hunk(row.part), row.at) if row.kind is RowKind.CHANGE else (row.left, row.right)
            )
            if lines[right]:
                return lines[right]
        return self._past_end[right]

    @property
    def _past_end(self) -> tuple[int, int]:
        compared = self.rows.comparison
        return compared.left_lines + 1, compared.right_lines + 1


class DiffSearch:
    """One search for one pattern in both sides.

    Attributes:
        pattern: the pattern.
    """

    def __init__(
        self,
        pattern: SearchPattern,
        open_sides: Callable[[], tuple[Side, Side]],
        places: SearchRows,
        ignore: Ignore,
        number: int,
    ) -> None:
        """Prepare to search. Raises what opening the sides raises.

        Args:
            pattern: the pattern.
            open_sides: opens the sides, as often as needed.
            places: maps their lines to rows.
            ignore: the differences that the comparison ignored.
            number: the row from which hits are wanted first.
        """
        self.pattern = pattern
        self._open_sides = open_sides
        self._places = places
        self._ignore = ignore
        left, right = open_sides()
        try:
            pairs = Pairs(SideTexts(left), SideTexts(right), ignore)
            lines = [places.line_from(pairs, number, right=side) for side in (False, True)]
            self._paths = [[part.path for part in side.parts] for side in (left, right)]
        finally:
            left.close()
            right.close()
        self.sides = self._search(0, lines[0]), self._search(1, lines[1])

    def _search(self, at: int, line: int) -> StreamSearch:
        def open_it() -> SideReading:
            sides = self._open_sides()
            sides[1 - at].close()
            return SideReading(sides[at])

        return StreamSearch(self.pattern, open_it, lambda name: self._paths[at][int(name)], line)

    @property
    def complete(self) -> bool:
        """Whether everything has been searched."""
        return all(side.complete for side in self.sides)

    @property
    def total(self) -> int:
        """Number of lines with hits found so far, in both sides."""
        return sum(side.total for side in self.sides)

    def cancel(self) -> None:
        """End the search."""
        for side in self.sides:
            side.cancel()

    def run(self, tell: Callable[[], None]) -> None:
        """Search both sides. Raises what `Search.run` raises."""
        for side in self.sides:
            side.run(tell)

    def run_on(self, tell: Callable[[], None]) -> None:
        """Do nothing: lines written since were not compared."""

    def step(self, number: int, *, back: bool = False, here: bool = False) -> HitStep | None:
        """Return the next row with a hit; None if it is not known yet. Raises what `Search.step` and reading raise."""
        number += not (here or back)
        left, right = self._open_sides()
        try:
            pairs = Pairs(SideTexts(left), SideTexts(right), self._ignore)
            found = list[HitStep]()
            for at, search in enumerate(self.sides):
                step = search.step(self._places.line_from(pairs, number, right=bool(at)), back=back, here=not back)
                if step is None:
                    return None
                row = self._places.number(pairs, step.number, right=bool(at)) if step.number else 0
                if row:
                    found.append(HitStep(row, step.wrapped))
        finally:
            left.close()
            right.close()
        return min(found, key=lambda step: (step.wrapped, -step.number if back else step.number), default=HitStep(0))
