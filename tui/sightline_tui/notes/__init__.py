"""Notes on lines: loaded when the first one is written, or when they are listed."""

from sightline.light.late_imports import late_names

with late_names(globals()):
    from sightline_tui.notes.screen import NotesScreen as NotesScreen  # 25 ms
    from sightline_tui.notes.screen import Passage as Passage
    from sightline_tui.notes.screen import write_on as write_on
