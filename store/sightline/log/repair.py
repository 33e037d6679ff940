"""Checks captures as they lie on disk, and mends them, for a check of the store."""

import os

from sightline import disk
from sightline.base.records import Buffer
from sightline.disk.index_place import network_disk as network_disk
from sightline.disk.index_place import warning as index_warning
from sightline.disk.layout import DERIVED as DERIVED
from sightline.disk.layout import SEALED_MODE as SEALED_MODE
from sightline.disk.live import marker_names, writer_alive
from sightline.disk.meta import read_meta, salvaged, write_meta
from sightline.disk.record_check import is_buffer_name as is_buffer_name
from sightline.disk.recording import new_buffer
from sightline.disk.recovery import Adopted, close_interrupted, stream_files
from sightline.log.log_index import rebuild_views
from sightline.store import Store


def misplaced_index(store: Store) -> str:
    """Return what is wrong with where the index lies; empty if nothing is."""
    return index_warning(store.layout)


def has_writer(store: Store, name: str) -> bool:
    """Return whether the process that captures a buffer is alive."""
    return writer_alive(store.layout, name)


def dead_captures(store: Store) -> list[str]:
    """Return the names of captures whose writer died, and that are not marked interrupted yet."""
    return [name for name in marker_names(store.layout) if not writer_alive(store.layout, name)]


def end_dead_captures(store: Store) -> Adopted:
    """Mark captures as interrupted whose writer died, and return what became of each."""
    return disk.adopt_dead(store.layout, store.index)


def rebuild_index(store: Store) -> tuple[int, int]:
    """Make the index anew from the folders and the log; return how many buffers and views it has then."""
    store.access.start_anew()
    return disk.refill_index(store.layout, store.index).buffers, rebuild_views(store)


def record_on_disk(store: Store, name: str) -> Buffer:
    """Return a buffer's record from its folder.

    Raises:
        FileNotFoundError, NotADirectoryError: there is no record.
        ValueError: it is damaged.
        OfNewerVersion: a newer version wrote it. SightlineError: it must not be read.
    """
    return read_meta(store.layout, name)


def write_record(store: Store, buffer: Buffer) -> None:
    """Write a buffer's record into its folder. Raises OSError."""
    write_meta(store.layout, buffer, durable=store.settings.durable)


def is_folder_of_buffer(store: Store, name: str) -> bool:
    """Return whether there is a folder that can be a buffer's."""
    folder = store.layout.folder(name)
    return is_buffer_name(name) and os.path.isdir(folder) and not os.path.islink(folder)


def has_streams(store: Store, name: str) -> bool:
    """Return whether anything was captured into a buffer's folder."""
    return next(stream_files(store.layout, name), None) is not None


def make_record(store: Store, name: str) -> None:
    """Make a record for streams that have lost theirs, and list it; what can be read of the lost one stays."""
    lost = new_buffer(name, name.partition("_")[0], "(its record was lost)", store.root, "", note="record lost")
    lost = salvaged(store.layout, lost)
    store.index.put_buffer(close_interrupted(store.layout, lost._replace(state="running")))
