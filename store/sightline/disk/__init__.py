"""What lies on disk: layout, streams with their line index, the index, the one writer, recovery, changes.

What only few commands need is named here, and loaded at its first use.
"""

from sightline.light.late_names import late_names
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.disk.changes import Changes as Changes
    from sightline.disk.index_filling import fill_index as fill_index
    from sightline.disk.index_filling import refill_index as refill_index
    from sightline.disk.pretty import facts_of as facts_of
    from sightline.disk.pretty import open_pretty as open_pretty
    from sightline.disk.pretty import pretty_path as pretty_path
    from sightline.disk.recording import Recording as Recording
    from sightline.disk.recording import new_buffer as new_buffer
    from sightline.disk.recording import reserve as reserve
    from sightline.disk.recovery import adopt as adopt
    from sightline.disk.recovery import adopt_dead as adopt_dead
    from sightline.disk.recovery import amend_waiting as amend_waiting
    from sightline.disk.recovery import take_in_sealed as take_in_sealed
    from sightline.disk.recovery import waiting_for_index as waiting_for_index
    from sightline.disk.ref_lookup import RefLookup as RefLookup
    from sightline.disk.seals import SEALED_STATES as SEALED_STATES
    from sightline.disk.seals import UNKNOWN as UNKNOWN
    from sightline.disk.seals import compared as compared
    from sightline.disk.seals import sealed_files as sealed_files
    from sightline.disk.seals import standing as standing
    from sightline.disk.seals import suspects as suspects
    from sightline.disk.seals import unsettled as unsettled
    from sightline.disk.sorter import with_sorter as with_sorter
    from sightline.disk.stand_ins import WantedRef as WantedRef
    from sightline.disk.stand_ins import stand_in_bytes as stand_in_bytes
    from sightline.disk.stand_ins import sweep_stand_ins as sweep_stand_ins
    from sightline.disk.stand_ins import take_stand_ins as take_stand_ins
    from sightline.disk.stream_files import content_path as content_path
    from sightline.disk.stream_files import open_merged as open_merged
    from sightline.disk.stream_files import open_stream as open_stream
    from sightline.disk.stream_files import stream_path as stream_path
    from sightline.disk.stream_files import take_bytes as take_bytes
    from sightline.disk.stream_files import with_progress as with_progress
    from sightline.disk.tombstones import gone as gone
    from sightline.disk.tombstones import gone_names as gone_names
    from sightline.disk.tombstones import read_tombstone as read_tombstone
else:
    __getattr__ = late_names(
        __name__,
        changes=("Changes",),  # 5 ms
        ref_lookup=("RefLookup",),
        pretty=("facts_of", "open_pretty", "pretty_path"),  # 4 ms, which only results need
        recording=("Recording", "new_buffer", "reserve"),  # 1 ms, which whoever only reads does not need
        index_filling=("fill_index", "refill_index"),
        recovery=("adopt", "adopt_dead", "amend_waiting", "take_in_sealed", "waiting_for_index"),
        seals=("SEALED_STATES", "UNKNOWN", "compared", "sealed_files", "standing", "suspects", "unsettled"),
        sorter=("with_sorter",),  # 4 ms, which only lost views need
        stand_ins=("WantedRef", "stand_in_bytes", "sweep_stand_ins", "take_stand_ins"),  # 1 ms, for refs in commands
        stream_files=(
            "content_path",
            "open_merged",
            "open_stream",
            "stream_path",
            "take_bytes",
            "with_progress",
        ),  # 1 ms, which lists do not need
        tombstones=("gone", "gone_names", "read_tombstone"),
    )

__all__ = [
    "SEALED_STATES",
    "UNKNOWN",
    "Changes",
    "Recording",
    "RefLookup",
    "WantedRef",
    "adopt",
    "adopt_dead",
    "amend_waiting",
    "compared",
    "content_path",
    "facts_of",
    "fill_index",
    "gone",
    "gone_names",
    "new_buffer",
    "open_merged",
    "open_pretty",
    "open_stream",
    "pretty_path",
    "read_tombstone",
    "refill_index",
    "reserve",
    "sealed_files",
    "stand_in_bytes",
    "standing",
    "stream_path",
    "suspects",
    "sweep_stand_ins",
    "take_bytes",
    "take_in_sealed",
    "take_stand_ins",
    "unsettled",
    "waiting_for_index",
    "with_progress",
    "with_sorter",
]
