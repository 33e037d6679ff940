"""Puts pieces of styled text into a row of a given width: padded, or cut with an ellipsis, never too wide."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

ELLIPSIS = "…"
LEAST_LEFT = 8  # cells of a row that what stands at its right never takes


class Part(NamedTuple):
    """A text on one line, safe to show, and the style class that it is drawn in (empty for the row's own)."""

    text: str
    style: str = ""


def _cells(text: str) -> int:
    """How many cells a text takes that is safe to show: most are ASCII, and each is asked for several times a row."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, width: int) -> str:
    """A text that is too wide, cut and ended with an ellipsis."""
    if _cells(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + ELLIPSIS if width > 0 else ""


def pad(text: str, width: int) -> str:
    """A text in exactly this many cells."""
    return set_cell_size(cut(text, width), width)


def width_of(parts: Iterable[Part]) -> int:
    """How many cells parts take."""
    return sum([len(text) if text.isascii() else cell_len(text) for text, _ in parts])


def filled(parts: Sequence[Part], width: int) -> list[Part]:
    """Parts in exactly this many cells."""
    left = width - width_of(parts)
    if left < 0:
        parts = fitted(parts, width)
        left = width - width_of(parts)
    return [*parts, Part(" " * left)] if left else list(parts)


def fitted(parts: Sequence[Part], width: int) -> list[Part]:
    """Parts as far as they fit; the one that does not is cut with an ellipsis."""
    left = width
    for at, (text, style) in enumerate(parts):
        taken = _cells(text)
        if taken > left:
            if left:
                return [*parts[:at], Part(cut(text, left), style)]
            return _ended(parts[:at]) if any(part.text.strip() for part in parts[at:]) else list(parts[:at])
        left -= taken
    return list(parts)


def _ended(parts: Sequence[Part]) -> list[Part]:
    """Parts that fill a row, ended with an ellipsis: there is more than they say."""
    kept = [part for part in parts if part.text]
    if kept:
        text, style = kept.pop()
        kept.append(Part(set_cell_size(text, _cells(text) - 1).rstrip() + ELLIPSIS, style))
    return kept


def row(left: Sequence[Part], right: Sequence[Part], width: int, base: Style, styles: dict[str, Style]) -> Strip:
    """One row: some parts at its left end, some at its right, which are left out where they would take it all."""
    at_right = width_of(right)
    if at_right > width - LEAST_LEFT:
        right, at_right = (), 0
    at_left, room = width_of(left), max(width - at_right - (1 if right else 0), 0)
    if at_left > room:
        left = fitted(left, room)
        at_left = width_of(left)
    gap = max(width - at_left - at_right, 0)
    runs = _runs([*left, Part(" " * gap), *right])
    segments = [Segment(text, base + styles[style] if style in styles else base) for text, style in runs]
    return Strip(segments, at_left + gap + at_right)


def _runs(parts: Sequence[Part]) -> list[Part]:
    """Parts of which neighbours in the same style are one: each costs time on its way to the terminal."""
    made, text, style = list[Part](), "", parts[0].style
    for part in parts:
        if part.style != style and part.text:
            if text:
                made.append(Part(text, style))
            text, style = "", part.style
        text += part.text
    return [*made, Part(text, style)] if text else made
