"""Reads the colours that a command wrote: lines as runs of text, each with the pen it was written with.

Of all escape sequences only SGR (colours, bold and the like) is obeyed, without the codes that hide or blink. Together
the runs are the cleaned line, so the text in colour is the same as without.
"""

import re
from functools import lru_cache

from rich.color import Color
from rich.style import Style
from rich.terminal_theme import TerminalTheme

from sightline.light.named_tuple import NamedTuple

Colour = int | tuple[int, int, int]
"""A colour: one of the terminal's 256, or red, green and blue."""

LEAST_CONTRAST = 1.3
"""The least ratio of luminances that can be read; text with less contrast is given other colours."""

_SGR = re.compile(r"(?:\x1b\[|\x9b)([0-9;:]*)m")
_SGR_BYTES = re.compile(rb"(?:\x1b\[|\xc2\x9b)[0-9;:]*m")
_MOST_PARAMETERS = 64
_SWITCHES = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike", 21: "underline"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}


_DARK = [(0, 0, 0), (170, 0, 0), (0, 170, 0), (170, 85, 0), (0, 0, 170), (170, 0, 170), (0, 170, 170), (170, 170, 170)]
_BRIGHT = [(red + 85, 255 if green == 85 else green + 85, blue + 85) for red, green, blue in _DARK]
SIXTEEN = TerminalTheme(_DARK[0], _DARK[7], _DARK, _BRIGHT)
"""The sixteen colours of a terminal as a theme, in which each is drawn as itself."""


class Pen(NamedTuple):
    """What text is written with; the defaults are the terminal's own."""

    fg: Colour | None = None
    bg: Colour | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False


PLAIN = Pen()
Run = tuple[str, Pen]


def pen_after(data: bytes, pen: Pen) -> Pen:
    """Return the pen after a raw line, without looking at its text."""
    for match in _SGR_BYTES.finditer(data):
        pen = changed(pen, match[0].decode())
    return pen


@lru_cache(maxsize=256)
def changed(pen: Pen, sequence: str) -> Pen:
    """Return the pen after a control character or sequence; most of them change nothing."""
    match = _SGR.fullmatch(sequence)
    if not match:
        return pen
    words = match[1].split(";")[:_MOST_PARAMETERS]
    at = 0
    while at < len(words):
        if ":" in words[at]:
            parameters, taken = [_number(word) for word in words[at].split(":") if word], 1
            if parameters[:1] == [4]:  # kinds of underline; 4:0 is no underline
                parameters = [24 if parameters[1:2] == [0] else 4]
            elif parameters[1:2] == [2] and len(parameters) > 5:  # a colour space stands before red, green and blue
                parameters = [*parameters[:2], *parameters[-3:]]
        else:
            parameters = [_number(word) for word in words[at : at + 5]]
            taken = {5: 3, 2: 5}.get(parameters[1], 1) if parameters[0] in (38, 48, 58) and len(parameters) > 1 else 1
        at += taken
        pen = _with(pen, parameters)
    return pen


def _number(word: str) -> int:
    return int(word[:4] or 0)


def _with(pen: Pen, parameters: list[int]) -> Pen:
    """Return the pen after one attribute; a colour takes its parameters from the list."""
    code = parameters[0] if parameters else 0
    if code == 0:
        return PLAIN
    if code in _SWITCHES:
        return pen._replace(**{_SWITCHES[code]: True})
    if code in _OFF:
        return pen._replace(**dict.fromkeys(_OFF[code], False))
    if code in (38, 48):
        colour = _colour(parameters[1:])
        return pen if colour is None else _filled(pen, code, colour)
    if code in (39, 49):
        return _filled(pen, code, None)
    if 30 <= code <= 37 or 40 <= code <= 47:
        return _filled(pen, code, code % 10)
    if 90 <= code <= 97 or 100 <= code <= 107:
        return _filled(pen, code, code % 10 + 8)
    return pen


def _filled(pen: Pen, code: int, colour: Colour | None) -> Pen:
    """Return the pen with another colour: codes 3x and 9x set the text's, 4x and 10x the background's."""
    return pen._replace(fg=colour) if code // 10 in (3, 9) else pen._replace(bg=colour)


def _colour(parameters: list[int]) -> Colour | None:
    if len(parameters) >= 2 and parameters[0] == 5 and parameters[1] < 256:
        return parameters[1]
    if len(parameters) >= 4 and parameters[0] == 2 and max(parameters[1:4]) < 256:
        return parameters[1], parameters[2], parameters[3]
    return None


@lru_cache(maxsize=1024)
def style_of(pen: Pen, base: Style, theme: TerminalTheme | None) -> Style:
    """Return a pen as a style on top of the viewer's own.

    Args:
        pen: the pen.
        base: the style of plain text, with both colours.
        theme: the terminal's sixteen colours; None to draw without colours.
    """
    fg, bg = base.color, base.bgcolor
    if theme is not None:
        fg, bg = _rich(pen.fg, theme) or fg, _rich(pen.bg, theme) or bg
        if fg and bg and (pen.fg is not None or pen.bg is not None) and _contrast(fg, bg, theme) < LEAST_CONTRAST:
            fg = max((base.color or fg, base.bgcolor or bg), key=lambda colour: _contrast(colour, bg, theme))
    return base + Style(
        color=fg,
        bgcolor=bg,
        bold=pen.bold or None,
        dim=pen.dim or None,
        italic=pen.italic or None,
        underline=pen.underline or None,
        reverse=pen.reverse or None,
        strike=pen.strike or None,
    )


def _rich(colour: Colour | None, theme: TerminalTheme) -> Color | None:
    if colour is None:
        return None
    if isinstance(colour, tuple):
        return Color.from_rgb(*colour)
    if colour < 16:
        return Color.from_triplet(theme.ansi_colors[colour])
    return Color.from_ansi(colour)


def _contrast(one: Color, other: Color, theme: TerminalTheme) -> float:
    """Return the contrast ratio of two colours by WCAG 2."""
    light, dark = sorted((_luminance(one, theme), _luminance(other, theme)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color, theme: TerminalTheme) -> float:
    shares = [channel / 255 for channel in colour.get_truecolor(theme)]
    red, green, blue = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
