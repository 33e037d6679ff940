"""Calls and sessions, and the replay of a session: loaded when the first of their screens is opened."""

from typing import TYPE_CHECKING

from sightline.light.late_names import late_names

if TYPE_CHECKING:
    from sightline_tui.timeline.screen import SessionsScreen as SessionsScreen
    from sightline_tui.timeline.screen import TimelineScreen as TimelineScreen
else:
    __getattr__ = late_names(__name__, screen=("SessionsScreen", "TimelineScreen"))  # 90 ms

__all__ = ["SessionsScreen", "TimelineScreen"]
