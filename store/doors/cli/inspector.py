"""The way from the command line into the inspector: no other function of the store knows the screen."""

from types import ModuleType


def inspector() -> ModuleType:
    """What opens the inspector: `run` in this terminal, `serve` in a browser."""
    import sightline.tui as tui  # from inside a function, so that no command but these loads anything of it

    return tui
