"""What lies on disk: layout, streams with their line index, the index, the one writer, recovery, changes.

What only few commands need is named here, and loaded at its first use.
"""

from sightline.late_names import late_names
from sightline.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.disk.changes import Changes as Changes
    from sightline.disk.pretty import facts_of as facts_of
    from sightline.disk.pretty import open_pretty as open_pretty
    from sightline.disk.pretty import pretty_path as pretty_path
    from sightline.disk.recording import Recording as Recording
    from sightline.disk.recording import new_buffer as new_buffer
    from sightline.disk.recording import reserve as reserve
    from sightline.disk.recovery import adopt as adopt
    from sightline.disk.recovery import adopt_dead as adopt_dead
    from sightline.disk.recovery import amend_waiting as amend_waiting
    from sightline.disk.recovery import fill_index as fill_index
    from sightline.disk.recovery import refill_index as refill_index
    from sightline.disk.recovery import waiting_for_index as waiting_for_index
    from sightline.disk.ref_lookup import RefLookup as RefLookup
    from sightline.disk.sorter import with_sorter as with_sorter
else:
    __getattr__ = late_names(
        __name__,
        changes=("Changes",),  # 5 ms
        ref_lookup=("RefLookup",),
        pretty=("facts_of", "open_pretty", "pretty_path"),  # 4 ms, which only results need
        recording=("Recording", "new_buffer", "reserve"),  # 1 ms, which whoever only reads does not need
        recovery=("adopt", "adopt_dead", "amend_waiting", "fill_index", "refill_index", "waiting_for_index"),
        sorter=("with_sorter",),  # 4 ms, which only lost views need
    )

__all__ = [
    "Changes",
    "Recording",
    "RefLookup",
    "adopt",
    "adopt_dead",
    "amend_waiting",
    "facts_of",
    "fill_index",
    "new_buffer",
    "open_pretty",
    "pretty_path",
    "refill_index",
    "reserve",
    "waiting_for_index",
    "with_sorter",
]
