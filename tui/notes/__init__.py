"""Remarks on lines: loaded when the first one is written, or they are listed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.tui.notes.screen import NotesScreen as NotesScreen
    from sightline.tui.notes.screen import Passage as Passage
    from sightline.tui.notes.screen import write_on as write_on
else:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from sightline.tui.notes import screen as loaded  # 25 ms

        return getattr(loaded, name)


__all__ = ["NotesScreen", "Passage", "write_on"]
