"""Calls and sessions, and the replay of a session: loaded when the first of their screens is opened."""

from sightline.light.late_imports import late_names

with late_names(globals()):
    from sightline_tui.timeline.screen import SessionsScreen as SessionsScreen  # 90 ms
    from sightline_tui.timeline.screen import TimelineScreen as TimelineScreen
