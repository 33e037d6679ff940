"""Which buffers a fleet still lacks: what waits to be shipped is not evicted, however long no network is there."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable

from sightline.store import Store

QUEUE_FOLDER, QUEUE_FILE = "fleet", "queue.sqlite"
"""Below the root: what a shipper keeps. Its table ``known`` names what was queued, ``items`` what has not gone yet."""


def unshipped(store: Store, names: Iterable[str]) -> set[str]:
    """Those of some buffers that would be lost to the fleet if they went now; none where no fleet is set.

    What a person has left out of the fleet is not waited for. Where no shipper has looked yet, all of them wait.
    """
    wanted = set(names)
    if not store.settings.fleet.db or not wanted:
        return set()
    path = os.path.join(store.root, QUEUE_FOLDER, QUEUE_FILE)
    if not os.path.exists(path):
        return wanted
    address = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True, timeout=5)) as queue:
            rows = queue.execute(
                "SELECT value FROM json_each(?) WHERE value IN (SELECT name FROM left_out) OR"
                " (value IN (SELECT name FROM known)"
                " AND NOT EXISTS (SELECT 1 FROM items WHERE items.name = value AND kind = 'buffer'))",
                (json.dumps(sorted(wanted)),),
            )
            return wanted - {row[0] for row in rows}
    except sqlite3.Error:  # it is being made, or was damaged: the next shipper makes it anew
        return wanted
