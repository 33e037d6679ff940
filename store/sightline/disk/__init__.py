"""What lies on disk: layout, streams with their line index, the index, the one writer, recovery, changes.

What only few commands need is named here, and loaded at its first use.
"""

from sightline.light.late_imports import late_names

with late_names(globals()):
    from sightline.disk.changes import Changes as Changes  # 5 ms
    from sightline.disk.index_filling import refill_index as refill_index
    from sightline.disk.pretty import open_pretty as open_pretty  # 4 ms, which only results need
    from sightline.disk.pretty import pretty_path as pretty_path
    from sightline.disk.progress import with_progress as with_progress
    from sightline.disk.recording import Recording as Recording  # 1 ms, which whoever only reads does not need
    from sightline.disk.recording import new_buffer as new_buffer
    from sightline.disk.recording import reserve as reserve
    from sightline.disk.recovery import adopt as adopt
    from sightline.disk.recovery import adopt_dead as adopt_dead
    from sightline.disk.recovery import amend_waiting as amend_waiting
    from sightline.disk.recovery import waiting_for_index as waiting_for_index
    from sightline.disk.ref_lookup import RefLookup as RefLookup
    from sightline.disk.removal import Removal as Removal
    from sightline.disk.seals import SEALED_STATES as SEALED_STATES
    from sightline.disk.seals import UNKNOWN as UNKNOWN
    from sightline.disk.seals import compared as compared
    from sightline.disk.seals import sealed_files as sealed_files
    from sightline.disk.seals import standing as standing
    from sightline.disk.seals import suspects as suspects
    from sightline.disk.seals import unsettled as unsettled
    from sightline.disk.sorter import with_sorter as with_sorter  # 4 ms, which only lost views need
    from sightline.disk.stand_ins import WantedRef as WantedRef  # 1 ms, for refs in commands
    from sightline.disk.stand_ins import sweep_stand_ins as sweep_stand_ins
    from sightline.disk.stand_ins import take_stand_ins as take_stand_ins
    from sightline.disk.stream_files import content_path as content_path  # 1 ms, which lists do not need
    from sightline.disk.stream_files import open_merged as open_merged
    from sightline.disk.stream_files import open_stream as open_stream
    from sightline.disk.stream_files import stream_path as stream_path
    from sightline.disk.tombstones import gone as gone
    from sightline.disk.tombstones import gone_names as gone_names
    from sightline.disk.tombstones import read_tombstone as read_tombstone
