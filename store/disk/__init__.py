"""What lies on disk: layout, streams with their line index, the index, the one writer, recovery, changes.

What only few commands need is named here, and loaded at its first use.
"""

from typing import TYPE_CHECKING

from sightline.late_names import late_names

if TYPE_CHECKING:
    from sightline.disk.changes import Changes as Changes
    from sightline.disk.finder import Finder as Finder
    from sightline.disk.pretty import facts_of as facts_of
    from sightline.disk.pretty import open_pretty as open_pretty
    from sightline.disk.pretty import pretty_path as pretty_path
    from sightline.disk.recovery import adopt as adopt
    from sightline.disk.recovery import adopt_dead as adopt_dead
    from sightline.disk.recovery import rebuild_buffers as rebuild_buffers
    from sightline.disk.sorter import with_sorter as with_sorter
else:
    __getattr__ = late_names(
        __name__,
        changes=("Changes",),  # 5 ms
        finder=("Finder",),
        pretty=("facts_of", "open_pretty", "pretty_path"),  # 4 ms, which only results need
        recovery=("adopt", "adopt_dead", "rebuild_buffers"),
        sorter=("with_sorter",),  # 4 ms, which only a lost index needs
    )

__all__ = [
    "Changes",
    "Finder",
    "adopt",
    "adopt_dead",
    "facts_of",
    "open_pretty",
    "pretty_path",
    "rebuild_buffers",
    "with_sorter",
]
