"""Names that the features of the inspector need only to read something, loaded at their first use."""

from typing import TYPE_CHECKING

from sightline.light.late_names import late_names

if TYPE_CHECKING:
    from sightline.audit.buffer_coverage import first_unseen as first_unseen
    from sightline.audit.kept_facts import facts_for as facts_for
    from sightline.audit.kept_facts import facts_so_far as facts_so_far
    from sightline.audit.kept_facts import share_in as share_in
    from sightline.audit.overlooked_places import missed_in as missed_in
    from sightline.audit.overlooked_places import places_in as places_in
    from sightline.audit.verdict import Scope as Scope
    from sightline.audit.verdict import VerdictReader as VerdictReader
    from sightline.shape.markers import missing as missing
    from sightline_tui.common.histogram import histogram_parts as histogram_parts
    from sightline_tui.common.outside_program import Copies as Copies
    from sightline_tui.common.outside_program import ViewerState as ViewerState
    from sightline_tui.common.outside_program import leave_for as leave_for
    from sightline_tui.common.syntax import syntax_of as syntax_of
else:
    __getattr__ = late_names(
        "",
        **{
            "sightline.audit.kept_facts": ("facts_for", "facts_so_far", "share_in"),  # 45 ms, in the thread that reads
            "sightline.audit.buffer_coverage": ("first_unseen",),  # loaded with audit.verdict
            "sightline.audit.overlooked_places": ("missed_in", "places_in"),  # likewise
            "sightline.audit.verdict": ("Scope", "VerdictReader"),  # 45 ms, in the same thread
            "sightline.shape.markers": ("missing",),  # 2 ms: few outputs have gaps
            "sightline_tui.common.histogram": ("histogram_parts",),  # 1 ms: for a row that few ask for
            "sightline_tui.common.outside_program": ("Copies", "ViewerState", "leave_for"),  # 3 ms
            "sightline_tui.common.syntax": ("syntax_of",),  # 60 ms, for Pygments
        },
    )
