"""The viewer: shows one output, and in it what is selected, searched for, failed and seen.

The parts that add something to an output are named here, and loaded at their first use.
"""

from sightline.light.late_imports import late_names

with late_names(globals()):
    from sightline_tui.viewer.audit import ViewerAudit as ViewerAudit  # 4 ms
    from sightline_tui.viewer.error_regions import (
        ViewerFailures as ViewerFailures,  # 40 ms, since it loads the rules of all tools
    )
    from sightline_tui.viewer.levels import ViewerLevels as ViewerLevels  # 40 ms, likewise
    from sightline_tui.viewer.search import ViewerSearch as ViewerSearch  # 20 ms
