"""The way from the command line to the inspector; no other function of the store knows the screen."""

from types import ModuleType


def inspector() -> ModuleType:
    """Import the inspector: `run` opens it in this terminal, `serve` in a browser."""
    import sightline_tui as tui  # imported inside a function, so that no other command loads it

    return tui
