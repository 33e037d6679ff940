"""What is known of an output, the replies that showed it, and claims: loaded when one of these screens is opened."""

from sightline.light.late_imports import late_names

with late_names(globals()):
    from sightline_tui.evidence.claims_screen import ClaimsScreen as ClaimsScreen
    from sightline_tui.evidence.info_screen import InfoScreen as InfoScreen
    from sightline_tui.evidence.info_screen import open_view as open_view
    from sightline_tui.evidence.shown_screen import LinesWanted as LinesWanted
    from sightline_tui.evidence.shown_screen import ShownScreen as ShownScreen
