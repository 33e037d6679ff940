"""Two outputs compared: loaded when the first diff is opened."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.tui.diff.screen import open_diff as open_diff
else:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from sightline.tui.diff import screen as loaded  # 45 ms

        return getattr(loaded, name)


__all__ = ["open_diff"]
