"""Style sheets of widgets that are made only when they are asked for: the first screen does not wait for them."""

import os

from textual.app import App

_FOLDER = os.path.dirname(os.path.dirname(__file__))


def load_style(app: App[object], name: str) -> None:
    """Take in a sheet by its place below ``tui/``, such as ``common/row_view``, once."""
    path = os.path.join(_FOLDER, f"{name}.tcss")
    if not app.stylesheet.has_source(path, ""):
        app.stylesheet.read(path)
        app.stylesheet.reparse()
