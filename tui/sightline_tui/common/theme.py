"""The themes dark, light and the terminal's own, and the style sheets that are loaded when needed."""

import os
from dataclasses import replace

from textual.app import App
from textual.theme import BUILTIN_THEMES, Theme

DARK = Theme(
    name="sightline-dark",
    primary="#5cc8d7",
    secondary="#9db4d0",
    accent="#f2b65a",
    foreground="#d7dde5",
    background="#10151c",
    surface="#171e27",
    panel="#222c38",
    success="#8ccf7e",
    warning="#e5c76b",
    error="#ef7e83",
    dark=True,
    variables={
        "unseen": "#2b2413",  # background of lines no agent saw
        "focused": "#1d3b47",  # background of the title of the focused pane
    },
)

LIGHT = Theme(
    name="sightline-light",
    primary="#0b7285",
    secondary="#3b5b82",
    accent="#a85b00",
    foreground="#1f2933",
    background="#fbfcfd",
    surface="#eff2f5",
    panel="#dfe5eb",
    success="#2b7a2b",
    warning="#8a6100",
    error="#b3262e",
    dark=False,
    variables={
        "unseen": "#fbf0cd",
        "focused": "#c4e4ea",
        "panel-lighten-1": "#b3bfcb",
    },  # colours of text must stand out from the background
)

_ANSI = BUILTIN_THEMES["ansi-dark"]
TERMINAL = replace(
    _ANSI,
    name="sightline-terminal",
    primary="ansi_cyan",
    secondary="ansi_bright_cyan",  # not blue, the cursor row's background
    accent="ansi_yellow",
    variables={
        **_ANSI.variables,
        "unseen": "ansi_default",
        "focused": "ansi_blue",
        "primary-muted": "ansi_blue",
        "secondary-muted": "ansi_bright_black",
        "success-muted": "ansi_bright_black",
        "panel-lighten-1": "ansi_bright_black",
    },
)

THEMES = (DARK, LIGHT, TERMINAL)
"""In the order in which a key goes through them."""


_FOLDER = os.path.dirname(os.path.dirname(__file__))


def load_style(app: App[object], name: str) -> None:
    """Load a sheet once, by its place below ``tui/``, such as ``common/row_view``."""
    path = os.path.join(_FOLDER, f"{name}.tcss")
    if not app.stylesheet.has_source(path, ""):
        app.stylesheet.read(path)
        app.stylesheet.parse()
