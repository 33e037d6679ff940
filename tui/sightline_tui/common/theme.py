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
        "dim": "#9aa5b1",  # text beside the text that matters; readable on each background
        "rule": "#5d6f82",  # lines between panes
        "unseen": "#41350f",  # background of lines no agent saw
        "focused": "#1b3843",  # background of the title of the focused pane
        "primary-muted": "#1a3641",  # background of the cursor's row
        "success-muted": "#203722",
    },
)

LIGHT = Theme(
    name="sightline-light",
    primary="#075a69",
    secondary="#3b5b82",
    accent="#854700",
    foreground="#1f2933",
    background="#fbfcfd",
    surface="#eff2f5",
    panel="#dfe5eb",
    success="#1c6120",
    warning="#6b4b00",
    error="#951922",
    dark=False,
    variables={
        "dim": "#55606b",
        "rule": "#7c8a98",
        "unseen": "#f3d988",
        "focused": "#c4e4ea",
        "primary-muted": "#cfe9ee",
        "success-muted": "#d8efd8",
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
        "dim": "ansi_bright_black",
        "rule": "ansi_bright_black",
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
