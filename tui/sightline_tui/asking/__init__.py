"""Questions and their answers: loaded when the first one is to be typed."""

from sightline.light.late_imports import late_names

with late_names(globals()):
    from sightline_tui.asking.query_bar import FORMS as FORMS  # 40 ms
    from sightline_tui.asking.query_bar import open_bar as open_bar
