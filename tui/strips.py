"""Puts pieces of styled text into a row of a given width: padded, or cut with an ellipsis, never too wide."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

ELLIPSIS = "…"


class Part(NamedTuple):
    """A text on one line, safe to show, and the style class that it is drawn in (empty for the row's own)."""

    text: str
    style: str = ""


def cut(text: str, width: int) -> str:
    """A text that is too wide, cut and ended with an ellipsis."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + ELLIPSIS if width > 0 else ""


def pad(text: str, width: int) -> str:
    """A text in exactly this many cells."""
    return set_cell_size(cut(text, width), width)


def width_of(parts: Iterable[Part]) -> int:
    """How many cells parts take."""
    return sum(cell_len(part.text) for part in parts)


def fitted(parts: Sequence[Part], width: int) -> list[Part]:
    """Parts as far as they fit; the one that does not is cut with an ellipsis."""
    kept, left = list[Part](), width
    for part in parts:
        taken = cell_len(part.text)
        if taken > left:
            kept.append(Part(cut(part.text, left), part.style))
            break
        kept.append(part)
        left -= taken
    return kept


def row(left: Sequence[Part], right: Sequence[Part], width: int, base: Style, styles: dict[str, Style]) -> Strip:
    """One row: some parts at its left end, some at its right, which are left out where they would take it all."""
    at_right = width_of(right)
    if at_right > width - 8:
        right, at_right = (), 0
    kept = fitted(left, max(width - at_right - (1 if right else 0), 0))
    gap = max(width - width_of(kept) - at_right, 0)
    segments = [Segment(part.text, base + styles.get(part.style, Style.null())) for part in kept if part.text]
    segments.append(Segment(" " * gap, base))
    segments += [Segment(part.text, base + styles.get(part.style, Style.null())) for part in right]
    return Strip(segments, width_of(kept) + gap + at_right)
