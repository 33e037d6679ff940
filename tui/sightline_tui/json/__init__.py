"""The JSON of an output as a tree: loaded when the first one is opened."""

from sightline.light.late_imports import late_names

with late_names(globals()):
    from sightline_tui.json.screen import open_json as open_json  # 20 ms
