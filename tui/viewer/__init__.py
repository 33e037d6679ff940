"""The viewer: one output, with what is selected, looked for, failed and seen in it.

What it adds to an output is named here, and loaded when it is first wanted.
"""

from typing import TYPE_CHECKING

from sightline.late_names import late_names

if TYPE_CHECKING:
    from sightline.tui.viewer.audit import ViewerAudit as ViewerAudit
    from sightline.tui.viewer.failures import ViewerFailures as ViewerFailures
    from sightline.tui.viewer.search import ViewerSearch as ViewerSearch
else:
    __getattr__ = late_names(
        __name__,
        audit=("ViewerAudit",),  # 4 ms
        failures=("ViewerFailures",),  # 40 ms, with the rules of all tools
        search=("ViewerSearch",),  # 20 ms
    )

__all__ = ["ViewerAudit", "ViewerFailures", "ViewerSearch"]
