"""What is known of an output and the replies in which it was shown: loaded when the first of these is opened."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.tui.evidence.info_screen import InfoScreen as InfoScreen
    from sightline.tui.evidence.info_screen import open_view as open_view
    from sightline.tui.evidence.shown_screen import Located as Located
    from sightline.tui.evidence.shown_screen import ShownScreen as ShownScreen
else:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from sightline.tui.evidence import info_screen, shown_screen  # 30 ms

        return getattr(info_screen if hasattr(info_screen, name) else shown_screen, name)


__all__ = ["InfoScreen", "Located", "ShownScreen", "open_view"]
