"""Puts pieces of styled text into a row of a given width: padded, or cut with an ellipsis, never too wide."""

from collections.abc import Callable, Collection, Iterable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from sightline.light.named_tuple import NamedTuple

ELLIPSIS = "…"
LEAST_LEFT = 8  # cells of a row that the parts at the right must leave


class StripPart(NamedTuple):
    """A text on one line, safe to show, and its style class (empty for the row's own style)."""

    text: str
    style: str = ""


class Ink(NamedTuple):
    """A style, prepared for drawing.

    Attributes:
        style: the style on top of the row's own.
        is_bare: whether a blank looks the same with it as without.
    """

    style: Style
    is_bare: bool


class Inks(dict[str, Ink]):
    """Inks by style class, on top of one row's own style; each is made at its first use."""

    def __init__(self, base: Style, styles: "PartStyles") -> None:
        super().__init__()
        self._base, self._styles = base, styles

    def __missing__(self, name: str) -> Ink:
        own = self._styles.found(name)
        ink = Ink(self._base, True) if own is None else Ink(self._base + own, _is_bare(own))
        self[name] = ink
        return ink


def _is_bare(style: Style) -> bool:
    return not (style.bgcolor or style.underline or style.underline2 or style.strike or style.overline or style.reverse)


class PartStyles(dict[str, Style]):
    """Styles by class, without a background unless they set one; each is found at its first use.

    It keeps the inks for each row style.
    """

    def __init__(self, find: Callable[[str], Style | None]) -> None:
        """Make it; `find` returns the style of a class, and None for what is none."""
        super().__init__()
        self._find = find
        self._inks: dict[Style, Inks] = {}

    def __missing__(self, name: str) -> Style:
        if (style := self._find(name)) is None:
            raise KeyError(name)
        self[name] = style
        return style

    def found(self, name: str) -> Style | None:
        """Return the style of a class; None for what is none."""
        try:
            return self[name]
        except KeyError:
            return None

    def on(self, base: Style) -> Inks:
        """Return the inks for rows of this style."""
        if base not in self._inks:
            self._inks[base] = Inks(base, self)
        return self._inks[base]

    def without(self, names: Collection[str]) -> "PartStyles":
        """Return the styles without these classes, whose parts then have the row's own style."""
        return PartStyles(lambda name: None if name in names else self.found(name))


def _cells(text: str) -> int:
    """Return the cells of a safe text; the quick way for ASCII matters, because rows ask several times."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, width: int) -> str:
    """Cut a text that is too wide, with an ellipsis at its end."""
    if _cells(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + ELLIPSIS if width > 0 else ""


def pad(text: str, width: int) -> str:
    """Pad or cut a text to exactly this many cells."""
    return set_cell_size(cut(text, width), width)


def width_of(parts: Iterable[StripPart]) -> int:
    """Return the cells that parts take."""
    return sum([len(text) if text.isascii() else cell_len(text) for text, _ in parts])


def filled(parts: Sequence[StripPart], width: int) -> list[StripPart]:
    """Pad or cut parts to exactly this many cells."""
    left = width - width_of(parts)
    if left < 0:
        parts = fitted(parts, width)
        left = width - width_of(parts)
    return [*parts, StripPart(" " * left)] if left else list(parts)


def fitted(parts: Sequence[StripPart], width: int) -> list[StripPart]:
    """Return the parts that fit; the first one that does not is cut with an ellipsis."""
    left = width
    for at, (text, style) in enumerate(parts):
        taken = _cells(text)
        if taken > left:
            if left:
                return [*parts[:at], StripPart(cut(text, left), style)]
            return _ended(parts[:at]) if any(part.text.strip() for part in parts[at:]) else list(parts[:at])
        left -= taken
    return list(parts)


def _ended(parts: Sequence[StripPart]) -> list[StripPart]:
    """End parts that fill a row with an ellipsis, because there is more."""
    kept = [part for part in parts if part.text]
    if kept:
        text, style = kept.pop()
        kept.append(StripPart(set_cell_size(text, _cells(text) - 1).rstrip() + ELLIPSIS, style))
    return kept


def row(left: Sequence[StripPart], right: Sequence[StripPart], width: int, base: Style, styles: PartStyles) -> Strip:
    """Make one row with parts at both ends; those at the right are left out if they would take too much."""
    at_right = width_of(right)
    if at_right > width - LEAST_LEFT:
        right, at_right = (), 0
    at_left, room = width_of(left), max(width - at_right - (1 if right else 0), 0)
    if at_left > room:
        left = fitted(left, room)
        at_left = width_of(left)
    gap = max(width - at_left - at_right, 0)
    return Strip(_segments([*left, StripPart(" " * gap), *right], styles.on(base)), at_left + gap + at_right)


def _segments(parts: Iterable[StripPart], inks: Inks) -> list[Segment]:
    """Join neighbours that look alike, and blanks with their neighbours, because each segment costs time."""
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
