"""Lays out below a row of the timeline what it folds into one line: words, or the diff of an edit. Pure functions."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, chop_cells

from sightline.audit.conversation import Said
from sightline.audit.file_trail import changes_of
from sightline.audit.timeline import Call
from sightline.light.named_tuple import NamedTuple
from sightline_tui.common.strips import StripPart
from sightline_tui.common.visible_text import TAB_STOP, visible
from sightline_tui.timeline.call_reader import Row
from sightline_tui.timeline.edit_parts import edit_rows

_LEAD = " │  "
_LEAST_CELLS = 10


class UnfoldedLine(NamedTuple):
    """A line below an unfolded row: the row to which it belongs, and its parts."""

    row: Row
    parts: Sequence[StripPart]


def can_unfold(row: Row | None) -> bool:
    """Return whether a row has more to show below itself."""
    return bool(row.text) if isinstance(row, Said) else isinstance(row, Call) and bool(changes_of(row))


def unfolded(row: Row, width: int) -> list[UnfoldedLine]:
    """Return the lines below a row that is unfolded, no wider than this many cells."""
    lead = StripPart(_LEAD, "dim")
    if isinstance(row, Call):
        return [UnfoldedLine(row, (lead, *parts)) for parts in edit_rows(row)]
    if isinstance(row, Said):
        return [UnfoldedLine(row, (lead, StripPart(line))) for line in said_lines(row, width)]
    return []


def said_lines(said: Said, width: int) -> Iterator[str]:
    """Yield the words as safe lines that fit behind their lead into so many cells; Markdown stays as it is."""
    for line in (said.text or "").rstrip().splitlines():
        yield from wrapped(line, width - len(_LEAD))
    if said.cut:
        yield "… the rest was not kept"


def wrapped(text: str, width: int) -> Iterator[str]:
    """Yield a line, made safe, in pieces of at most this many cells, broken at blanks where there are any."""
    left, width = visible(text.expandtabs(TAB_STOP)).rstrip(), max(width, _LEAST_CELLS)
    while cell_len(left) > width:
        piece = chop_cells(left, width)[0]
        blank = piece.rfind(" ")
        if piece[:blank].strip():
            piece = piece[: blank + 1]
        yield piece.rstrip()
        left = left[len(piece) :].lstrip()
    yield left
