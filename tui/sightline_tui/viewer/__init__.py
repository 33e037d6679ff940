"""The viewer: shows one output, and in it what is selected, searched for, failed and seen.

The parts that add something to an output are named here, and loaded at their first use.
"""

from typing import TYPE_CHECKING

from sightline.light.late_names import late_names

if TYPE_CHECKING:
    from sightline_tui.viewer.audit import ViewerAudit as ViewerAudit
    from sightline_tui.viewer.error_regions import ViewerFailures as ViewerFailures
    from sightline_tui.viewer.levels import ViewerLevels as ViewerLevels
    from sightline_tui.viewer.search import ViewerSearch as ViewerSearch
else:
    __getattr__ = late_names(
        __name__,
        audit=("ViewerAudit",),  # 4 ms
        error_regions=("ViewerFailures",),  # 40 ms, since it loads the rules of all tools
        levels=("ViewerLevels",),  # 40 ms, likewise
        search=("ViewerSearch",),  # 20 ms
    )

__all__ = ["ViewerAudit", "ViewerFailures", "ViewerLevels", "ViewerSearch"]
