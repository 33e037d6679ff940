"""The comparison of two outputs: loaded when the first diff is opened."""

from typing import TYPE_CHECKING

from sightline.light.late_names import late_names

if TYPE_CHECKING:
    from sightline_tui.diff.screen import open_diff as open_diff
else:
    __getattr__ = late_names(__name__, screen=("open_diff",))  # 45 ms

__all__ = ["open_diff"]
