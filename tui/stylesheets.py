"""Style sheets of widgets that are made only when they are asked for: the first screen does not wait for them."""

import os

from textual.app import App

_FOLDER = os.path.join(os.path.dirname(__file__), "widgets")


def load_style(app: App[object], name: str) -> None:
    """Take in ``widgets/NAME.tcss``, once."""
    path = os.path.join(_FOLDER, f"{name}.tcss")
    if not app.stylesheet.has_source(path, ""):
        app.stylesheet.read(path)
        app.stylesheet.reparse()
