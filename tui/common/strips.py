"""Puts pieces of styled text into a row of a given width: padded, or cut with an ellipsis, never too wide."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from sightline.named_tuple import NamedTuple

ELLIPSIS = "…"
LEAST_LEFT = 8  # cells of a row that what stands at its right never takes


class Part(NamedTuple):
    """A text on one line, safe to show, and the style class that it is drawn in (empty for the row's own)."""

    text: str
    style: str = ""


class Ink(NamedTuple):
    """What a part is drawn in.

    Attributes:
        style: with the row's own below it.
        is_bare: whether a blank looks the same in it as in none.
    """

    style: Style
    is_bare: bool


class Inks(dict[str, Ink]):
    """Inks by style class, on one row's own style; made when they are first asked for."""

    def __init__(self, base: Style, styles: Mapping[str, Style]) -> None:
        super().__init__()
        self._base, self._styles = base, styles

    def __missing__(self, name: str) -> Ink:
        own = self._styles.get(name)
        ink = Ink(self._base, True) if own is None else Ink(self._base + own, _is_bare(own))
        self[name] = ink
        return ink


def _is_bare(style: Style) -> bool:
    return not (style.bgcolor or style.underline or style.underline2 or style.strike or style.overline or style.reverse)


class PartStyles(dict[str, Style]):
    """Styles by class, without a background unless they set one; keeps what comes of them on the rows' own."""

    def __init__(self, styles: Mapping[str, Style]) -> None:
        super().__init__(styles)
        self._inks: dict[Style, Inks] = {}

    def __setitem__(self, name: str, style: Style) -> None:
        super().__setitem__(name, style)
        self._inks.clear()

    def on(self, base: Style) -> Inks:
        """On rows of this style."""
        if base not in self._inks:
            self._inks[base] = Inks(base, self)
        return self._inks[base]

    def without(self, names: Collection[str]) -> "PartStyles":
        """But for these, which come out in the row's own."""
        return PartStyles({name: style for name, style in self.items() if name not in names})


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


def row(left: Sequence[Part], right: Sequence[Part], width: int, base: Style, styles: PartStyles) -> Strip:
    """One row: some parts at its left end, some at its right, which are left out where they would take it all."""
    at_right = width_of(right)
    if at_right > width - LEAST_LEFT:
        right, at_right = (), 0
    at_left, room = width_of(left), max(width - at_right - (1 if right else 0), 0)
    if at_left > room:
        left = fitted(left, room)
        at_left = width_of(left)
    gap = max(width - at_left - at_right, 0)
    return Strip(_segments([*left, Part(" " * gap), *right], styles.on(base)), at_left + gap + at_right)


def _segments(parts: Iterable[Part], inks: Inks) -> list[Segment]:
    """Neighbours that look the same in one piece, blanks with what stands beside them: each costs on its way out."""
    made, text, ink, is_blank = list[Segment](), "", inks[""], True
    for added, name in parts:
        if not added:
            continue
        own, blank = inks[name], added.isspace()
        if own is ink or (own.is_bare and ink.is_bare and (blank or is_blank)):
            text, ink = text + added, ink if blank else own
        else:
            if text:
                made.append(Segment(text, ink.style))
            text, ink, is_blank = added, own, True
        is_blank = is_blank and blank
    return [*made, Segment(text, ink.style)] if text else made
