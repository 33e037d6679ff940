"""Themes that people use elsewhere, from Textual's own, with colours that stand out as ours do; loaded when wanted."""

from collections.abc import Sequence
from dataclasses import replace

from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

POPULAR = (
    *("nord", "gruvbox", "dracula", "tokyo-night", "catppuccin-mocha", "solarized-dark", "monokai", "rose-pine"),
    *("catppuccin-latte", "solarized-light", "rose-pine-dawn", "atom-one-light"),
)
"""Their names; the dark ones first."""

_TEXT, _SIGN, _TINT = 4.6, 3.1, 1.35  # a little over what WCAG 2.2 asks for, as colours are rounded
_WORDS = 0.3  # of the colour in the ground of words that a diff has added or removed
_STEPS = 40


def popular_theme(name: str) -> Theme:
    """Return one of `POPULAR`, its colours made lighter, or in a light theme darker, until they stand out."""
    own = BUILTIN_THEMES[name]
    ground = Color.parse(own.background or "")
    edge = Color.parse("#ffffff" if own.dark else "#000000")
    primary, success, warning, error = (
        Color.parse(one or "") for one in (own.primary, own.success, own.warning, own.error)
    )
    unseen = _apart(ground, warning, [ground], _TINT)
    muted = {
        "focused": ground.blend(primary, 0.22),
        "primary-muted": ground.blend(primary, 0.16),
        "success-muted": ground.blend(success, 0.14),
    }
    surface, panel = (ground.blend(Color.parse(one or ""), 0.5) for one in (own.surface, own.panel))
    plain = [ground, surface, panel, unseen, *muted.values()]
    success, error = (_apart(one, edge, plain, _TEXT) for one in (success, error))
    grounds = [*plain, *(ground.blend(one, _WORDS) for one in (success, error))]

    def text(color: Color) -> str:
        return _apart(color, edge, grounds, _TEXT).hex

    foreground = Color.parse(own.foreground or edge.hex)
    return replace(
        own,
        primary=text(primary),
        secondary=text(Color.parse(own.secondary or own.primary)),
        accent=text(Color.parse(own.accent or own.primary)),
        foreground=text(foreground),
        background=ground.hex,
        surface=surface.hex,
        panel=panel.hex,
        success=success.hex,
        warning=text(warning),
        error=error.hex,
        variables={
            **own.variables,
            **{called: color.hex for called, color in muted.items()},
            "unseen": unseen.hex,
            "dim": text(foreground.blend(ground, 0.4)),
            "rule": _apart(ground, edge, [ground, surface], _SIGN).hex,
            "panel-lighten-1": panel.blend(edge, 0.2).hex,
        },
    )


def contrast(one: Color, other: Color) -> float:
    """Return the contrast of two opaque colours, 1 to 21 (WCAG 2.2, relative luminance)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _apart(color: Color, towards: Color, grounds: Sequence[Color], least: float) -> Color:
    """Blend a color towards another, as little as it takes to stand out from all grounds."""
    for step in range(_STEPS):
        blended = color.blend(towards, step / _STEPS)
        if all(contrast(blended, ground) >= least for ground in grounds):
            return blended
    return towards
