"""Notes on lines: loaded when the first one is written, or when they are listed."""

from typing import TYPE_CHECKING

from sightline.light.late_names import late_names

if TYPE_CHECKING:
    from sightline_tui.notes.screen import NotesScreen as NotesScreen
    from sightline_tui.notes.screen import Passage as Passage
    from sightline_tui.notes.screen import write_on as write_on
else:
    __getattr__ = late_names(__name__, screen=("NotesScreen", "Passage", "write_on"))  # 25 ms

__all__ = ["NotesScreen", "Passage", "write_on"]
