"""Knows what a fleet still lacks, and notes what it is to purge; a shipper reads that when it next runs."""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterable, Mapping

from sightline.base.private_files import make_folder, open_private, write_all
from sightline.light.json_text import dumps
from sightline.store import Store

QUEUE_FOLDER, QUEUE_FILE = "fleet", "queue.sqlite"
"""File of a shipper, below the root. Its table ``known`` has the queued names, ``logs`` the queued bytes of logs, and
``items`` what is not shipped yet."""


PURGES_FILE = "purges"
"""File below the root with the names of all outputs that were purged here, one on each line. Each request begins with
an empty line, so that one before it that was broken off ends there."""


def ask_for_purge(store: Store, names: Iterable[str]) -> bool:
    """Ask the fleet to purge what was shipped of some outputs; return False if no fleet is set.

    Raises:
        OSError: the request could not be noted.
    """
    wanted = sorted(names)
    if not store.settings.fleet.db or not wanted:
        return False
    folder = os.path.join(store.root, QUEUE_FOLDER)
    make_folder(folder)
    fd = open_private(os.path.join(folder, PURGES_FILE), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)  # many names are written in several pieces
        write_all(fd, "".join(["\n", *(f"{name}\n" for name in wanted)]).encode())
    finally:
        os.close(fd)
    return True


def unshipped(store: Store, names: Iterable[str]) -> set[str]:
    """Return those buffers that the fleet would lose if they were removed now; none if no fleet is set.

    Nothing waits that a person has excluded from the fleet. Before a shipper has looked, all buffers wait.
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
    """Return those sessions whose log has lines that the fleet lacks; none if no fleet is set.

    Args:
        store: the store.
        sizes: bytes of each session's log. A log that has changed since a shipper looked waits for it.
    """
    return sizes.keys() - _queued(
        store,
        "SELECT key FROM json_each(?) JOIN logs ON session = key AND at = value"
        " WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.name = key AND kind = 'log')",
        sizes,
    )


def _queued(store: Store, query: str, wanted: list[str] | Mapping[str, int]) -> set[str]:
    """Return the names in the queue that a query finds, which need not wait; all of them if no fleet is set."""
    if not store.settings.fleet.db or not wanted:
        return set(wanted)
    path = os.path.join(store.root, QUEUE_FOLDER, QUEUE_FILE)
    if not os.path.exists(path):
        return set()
    address = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True, timeout=5)) as queue:
            return {row[0] for row in queue.execute(query, (dumps(wanted),))}
    except sqlite3.Error:  # it is being made, or is damaged, and the next shipper makes it anew
        return set()
