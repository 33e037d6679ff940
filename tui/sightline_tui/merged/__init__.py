"""Two or more outputs side by side in time, loaded when they are first opened."""

from sightline.light.late_imports import late_names

with late_names(globals()):
    from sightline_tui.merged.screen import MergedScreen as MergedScreen  # 15 ms
