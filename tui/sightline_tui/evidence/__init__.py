"""What is known of an output, the replies that showed it, and claims: loaded when one of these screens is opened."""

from typing import TYPE_CHECKING

from sightline.light.late_names import late_names

if TYPE_CHECKING:
    from sightline_tui.evidence.claims_screen import ClaimsScreen as ClaimsScreen
    from sightline_tui.evidence.info_screen import InfoScreen as InfoScreen
    from sightline_tui.evidence.info_screen import open_view as open_view
    from sightline_tui.evidence.shown_screen import LinesWanted as LinesWanted
    from sightline_tui.evidence.shown_screen import ShownScreen as ShownScreen
else:
    __getattr__ = late_names(
        __name__,
        claims_screen=("ClaimsScreen",),
        info_screen=("InfoScreen", "open_view"),
        shown_screen=("LinesWanted", "ShownScreen"),
    )  # 30 ms

__all__ = ["ClaimsScreen", "InfoScreen", "LinesWanted", "ShownScreen", "open_view"]
