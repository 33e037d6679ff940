"""Maps a whole output onto a few rows: how much of each part was seen, and what must not be missed there. Pure.

Nothing vanishes, however many lines a row stands for: any seen line shows, a part looks whole only if all of it was
seen, and an overlooked failure has precedence over all else.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from math import ceil
from typing import Protocol

from sightline.audit.line_spans import NONE, Spans
from sightline.light.named_tuple import NamedTuple
from sightline_tui.viewer.marks import GONE, UNSURE, Marks

OVERLOOKED, MISSING, NOTED, FAILED = "overlooked", "gap", "note", "failure"
EIGHTHS = 8
PARTLY = "partly"


class Counting(Protocol):
    """A reading by lines, reduced to what maps its numbers to lines."""

    @property
    def streams(self) -> Sequence[str]:
        """The streams in the reading."""

    @property
    def line_count(self) -> int:
        """Number of lines in the reading."""

    def before(self, number: int) -> dict[str, int]:
        """Return how many lines of each stream stand before a number."""

    def number_of(self, stream: str, line: int) -> int:
        """Return the number of a stream's line."""


class Cell(NamedTuple):
    """One row of the overview.

    Attributes:
        first: number of its first line.
        last: number of its last line.
        eighths: how much of it was seen, 0 to 8; 8 only if all was, at least 1 if any was.
        is_exact: whether a reply showed any of it exactly.
        is_asked: whether any of it was asked about.
        fate: what became of what was seen of it: `GONE` if no context has any of it, `UNSURE` if that is not known of
            any of it, `PARTLY` if some of it is held and some is not; empty if all of it is held, or nothing is told.
        holds: the first of `OVERLOOKED`, `MISSING`, `NOTED` and `FAILED` that occurs in it; empty for none.
        place: number of the line with that; 0 for none.
    """

    first: int
    last: int
    eighths: int
    is_exact: bool
    is_asked: bool
    fate: str
    holds: str
    place: int


class LineTally:
    """Counts the lines of a set up to any line, by bisection."""

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        self._firsts = [first for first, _ in spans]
        self._sums = [0, *accumulate(last - first + 1 for first, last in spans)]

    def up_to(self, line: int) -> int:
        """Return how many lines of the set come up to and with a line."""
        at = bisect_right(self._firsts, line)
        if not at:
            return 0
        return self._sums[at] - max(self._spans[at - 1][1] - line, 0)

    def among(self, after: int, last: int) -> int:
        """Return how many lines of the set come after one line and up to another."""
        return self.up_to(last) - self.up_to(after)


def bounds(count: int, rows: int) -> list[int]:
    """Return how many lines stand before each row, and before the end; with few lines, each has a row of its own."""
    rows = min(rows, count)
    return [count * row // rows for row in range(rows + 1)] if rows else [0]


def cells_of(marks: Marks, text: Counting, count: int, rows: int) -> tuple[Cell, ...]:
    """Map an output onto rows.

    Args:
        marks: what is known of its lines.
        text: maps its numbers to lines.
        count: number of lines.
        rows: number of rows; no more are used than there are lines.
    """
    streams = marks.coverage.streams
    seen = {name: LineTally(one.seen) for name, one in streams.items()}
    cut = {name: LineTally(one.cut) for name, one in streams.items() if one.lines.cut}
    exact = {name: LineTally(one.lines.exact) for name, one in streams.items()}
    asked = {name: LineTally(one.lines.asked) for name, one in streams.items()}
    lost = {name: marks.lost(name) for name in streams} if marks.held or marks.altered else {}
    gone, unsure = ({name: LineTally(spans[at]) for name, spans in lost.items()} for at in (0, 1))
    events = (
        (OVERLOOKED, marks.overlooked_lines),
        (MISSING, marks.gaps),
        (NOTED, marks.remarked),
        (FAILED, marks.failure_lines),
    )
    limits = bounds(count, rows)
    standing = [text.before(limit + 1) for limit in limits]
    cells = []
    for row, (start, end) in enumerate(pairwise(standing)):
        lines = limits[row + 1] - limits[row]
        found, place = _event(events, text, start, end)
        cells.append(
            Cell(
                limits[row] + 1,
                limits[row + 1],
                max(eighths(_among(seen, start, end), lines), bool(cut and _among(cut, start, end))),
                bool(_among(exact, start, end)),
                bool(_among(asked, start, end)),
                _fate(_among(seen, start, end), _among(gone, start, end), _among(unsure, start, end)),
                found,
                place,
            )
        )
    return tuple(cells)


def _fate(seen: int, gone: int, unsure: int) -> str:
    """Return what became of lines of which this many were seen, are gone, and are not known."""
    if not gone and not unsure:
        return ""
    return PARTLY if gone + unsure < seen else GONE if gone else UNSURE


def eighths(part: int, whole: int) -> int:
    """Round a share to eighths: 0 only for nothing, 8 only for all."""
    if part >= whole:
        return EIGHTHS if whole else 0
    return min(ceil(part * EIGHTHS / whole), EIGHTHS - 1)


def _among(tallies: Mapping[str, LineTally], start: Mapping[str, int], end: Mapping[str, int]) -> int:
    return sum(tally.among(start[stream], end[stream]) for stream, tally in tallies.items() if end.get(stream, 0))


def _event(
    events: Sequence[tuple[str, Mapping[str, Spans]]], text: Counting, start: Mapping[str, int], end: Mapping[str, int]
) -> tuple[str, int]:
    """Return what is marked in a range of lines, and the number of the first line with that."""
    for name, regions in events:
        found = [
            text.number_of(stream, line)
            for stream in end
            if (line := first_in(regions.get(stream, NONE), start[stream] + 1, end[stream]))
        ]
        if found:
            return name, min(found)
    return "", 0


def first_in(spans: Spans, first: int, last: int) -> int:
    """Return the first line of a set in a range; 0 for none."""
    at = bisect_left(spans, first, key=lambda span: span[1])
    if at == len(spans):
        return 0
    line = max(spans[at][0], first)
    return line if line <= last else 0
