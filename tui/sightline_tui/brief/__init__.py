"""The brief on a screen, loaded when it is first opened."""

from typing import TYPE_CHECKING

from sightline.light.late_names import late_names

if TYPE_CHECKING:
    from sightline_tui.brief.screen import BriefScreen as BriefScreen
else:
    __getattr__ = late_names(__name__, screen=("BriefScreen",))  # 60 ms

__all__ = ["BriefScreen"]
