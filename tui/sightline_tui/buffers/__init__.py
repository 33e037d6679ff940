"""The list of buffers. Deletion and the search through all of them are loaded at their first use."""

from sightline.light.late_imports import late_names

with late_names(globals()):
    from sightline_tui.buffers.contents_search import Contents as Contents  # 20 ms
    from sightline_tui.buffers.ending import end as end
    from sightline_tui.buffers.removal import Removals as Removals  # 20 ms
    from sightline_tui.buffers.removal import pin as pin
