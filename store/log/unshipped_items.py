"""What a fleet still lacks, and what it is to purge: a shipper takes note of both when it looks next."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping

from sightline.private_files import make_folder, open_private, write_all
from sightline.store import Store

QUEUE_FOLDER, QUEUE_FILE = "fleet", "queue.sqlite"
"""Below the root: what a shipper keeps. Its table ``known`` names what was queued, ``logs`` up to which byte each log
was, ``items`` what has not gone yet."""


PURGES_FILE = "purges"
"""Likewise: the names of all outputs that were purged here, a line each."""


def ask_for_purge(store: Store, names: Iterable[str]) -> bool:
    """Have what was shipped of some outputs purged there, too; False where no fleet is set.

    Raises:
        OSError: it could not be noted.
    """
    wanted = sorted(names)
    if not store.settings.fleet.db or not wanted:
        return False
    folder = os.path.join(store.root, QUEUE_FOLDER)
    make_folder(folder)
    fd = open_private(os.path.join(folder, PURGES_FILE), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        write_all(fd, "".join(f"{name}\n" for name in wanted).encode())
    finally:
        os.close(fd)
    return True


def unshipped(store: Store, names: Iterable[str]) -> set[str]:
    """Those of some buffers that would be lost to the fleet if they went now; none where no fleet is set.

    What a person has left out of the fleet is not waited for. Where no shipper has looked yet, all of them wait.
    """
    wanted = set(names)
    return wanted - _queued(
        store,
        "SELECT value FROM json_each(?) WHERE value IN (SELECT name FROM left_out) OR"
        " (value IN (SELECT name FROM known)"
        " AND NOT EXISTS (SELECT 1 FROM items WHERE items.name = value AND kind = 'buffer'))",
        sorted(wanted),
    )


def unshipped_logs(store: Store, sizes: Mapping[str, int]) -> set[str]:
    """Those of some sessions whose log has lines that the fleet lacks; none where no fleet is set.

    Args:
        store: the store.
        sizes: how many bytes the log of each session has. One that was changed since a shipper looked waits for it.
    """
    return sizes.keys() - _queued(
        store,
        "SELECT key FROM json_each(?) JOIN logs ON session = key AND at = value"
        " WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.name = key AND kind = 'log')",
        sizes,
    )


def _queued(store: Store, query: str, wanted: list[str] | Mapping[str, int]) -> set[str]:
    """What a query finds of some names in the queue: those that need not wait; all of them where no fleet is set."""
    if not store.settings.fleet.db or not wanted:
        return set(wanted)
    path = os.path.join(store.root, QUEUE_FOLDER, QUEUE_FILE)
    if not os.path.exists(path):
        return set()
    address = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True, timeout=5)) as queue:
            return {row[0] for row in queue.execute(query, (json.dumps(wanted),))}
    except sqlite3.Error:  # it is being made, or was damaged: the next shipper makes it anew
        return set()
