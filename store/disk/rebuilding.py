"""The index made anew from the folders and tombstones, in memory that does not depend on how many there are."""

import errno
import json
import os
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from sightline.disk.index import Index
from sightline.disk.layout import Layout
from sightline.disk.live import writer_alive
from sightline.disk.meta import decode_buffer, read_meta
from sightline.disk.sorting import Sorter, with_sorter
from sightline.errors import OfNewerVersion, UnsafeStore
from sightline.private_files import read_file, remove_folder
from sightline.records import Buffer


class Rebuilt(NamedTuple):
    """What `rebuild_buffers` did.

    Attributes:
        buffers: how many records were put into the index.
        unreadable: names of folders without a readable record.
    """

    buffers: int
    unreadable: list[str]


def rebuild_buffers(layout: Layout, index: Index) -> Rebuilt:
    """Fill an index from the folders and tombstones alone, in order of creation."""

    def fill(found: Sorter[Buffer]) -> Rebuilt:
        unreadable: list[str] = []
        index.forget_buffers()  # an older version may have put some into one that is not filled
        for buffer in chain(_on_disk(layout, unreadable), _evicted(layout)):
            found.put(buffer.created, buffer)
        for buffer in found:
            index.put_buffer(buffer)
        index.set_views_stale(bool(os.listdir(layout.audit)))
        return Rebuilt(found.count, unreadable)

    with index.transaction():  # or a record might be older than what another process puts meanwhile
        return with_sorter(fill)


def _on_disk(layout: Layout, unreadable: list[str]) -> Iterator[Buffer]:
    rest = []
    for name in _names_in(layout.buffers):
        try:
            if os.path.lexists(layout.tombstone(name)):
                rest.append(name)  # its remover died before it had removed all
            else:
                yield _used(layout, read_meta(layout, name))
        except (FileNotFoundError, NotADirectoryError, ValueError, UnsafeStore, OfNewerVersion):
            if not writer_alive(layout, name):
                unreadable.append(name)
    for name in rest:  # while a folder is read nothing may go, or it may skip something
        _remove_rest(layout, name)


def _names_in(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry.name


def _remove_rest(layout: Layout, name: str) -> None:
    try:
        remove_folder(layout.folder(name))
    except OSError as error:
        if error.errno != errno.EROFS:
            raise


def _used(layout: Layout, buffer: Buffer) -> Buffer:
    """The record with its last use as far as it is known: what was imported was not used when it was captured."""
    if not buffer.artifact:
        return buffer
    return buffer._replace(accessed=os.lstat(layout.meta(buffer.name)).st_mtime)


def _evicted(layout: Layout) -> Iterator[Buffer]:
    for file in _names_in(layout.tombstones):
        try:
            data = read_file(os.path.join(layout.tombstones, file))
            tombstone = json.loads(data)
            if isinstance(tombstone, dict) and tombstone.get("reason") == "evicted":
                buffer = decode_buffer(data)
                if file == os.path.basename(layout.tombstone(buffer.name)):
                    yield buffer
        except (ValueError, UnsafeStore, OfNewerVersion):
            continue
