"""Calls and sessions, and the replay of one: loaded when the first of their screens is opened."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.tui.timeline.screen import SessionsScreen as SessionsScreen
    from sightline.tui.timeline.screen import TimelineScreen as TimelineScreen
else:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from sightline.tui.timeline import screen as loaded  # 90 ms

        return getattr(loaded, name)


__all__ = ["SessionsScreen", "TimelineScreen"]
