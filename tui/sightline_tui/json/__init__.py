"""The JSON of an output as a tree: loaded when the first one is opened."""

from typing import TYPE_CHECKING

from sightline.light.late_names import late_names

if TYPE_CHECKING:
    from sightline_tui.json.screen import open_json as open_json
else:
    __getattr__ = late_names(__name__, screen=("open_json",))  # 20 ms

__all__ = ["open_json"]
