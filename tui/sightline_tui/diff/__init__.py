"""The comparison of two outputs: loaded when the first diff is opened."""

from sightline.light.late_imports import late_names

with late_names(globals()):
    from sightline_tui.diff.screen import open_diff as open_diff  # 45 ms
