"""The brief on a screen, loaded when it is first opened."""

from sightline.light.late_imports import late_names

with late_names(globals()):
    from sightline_tui.brief.screen import BriefScreen as BriefScreen  # 60 ms
