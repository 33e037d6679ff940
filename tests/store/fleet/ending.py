"""A shipper that ends itself by SIGKILL: ``python -m tests.store.fleet.ending STATE ROOT``."""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from sightline.fleet import announcement, shipper
from sightline.fleet.batch import Spool
from sightline.fleet.objects import Objects
from sightline.fleet.queue import Queue
from sightline.store import Store

BEFORE: dict[str, tuple[Any, str]] = {
    "queued": (shipper, "make_batch"),
    "pack made": (Spool, "put_batch"),
    "packed": (Objects, "put"),
    "stored": (Spool, "note_stored"),
    "all stored": (shipper, "announce"),
    "announced": (Queue, "waiting"),
    "noted": (Queue, "put_places"),
}
"""By state, the name of what comes next, and where that is."""

STATES = (*BEFORE, "announcing")


def die(*_: object, **__: object) -> None:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def end_before(state: str) -> None:
    """Have this process end where a state is reached."""
    if state == "announcing":  # all rows are sent, and nothing is committed
        insert = announcement._INSERTS
        insert["sessions"] = insert["entries"] = "SELECT pg_sleep(0), %s, %s"
        announcement.json = _Dying()  # type: ignore[assignment]
        return
    where, name = BEFORE[state]
    if state == "announced":
        announce: Callable[..., None] = shipper.announce

        def announced(*given: Any) -> None:
            announce(*given)
            die()

        shipper.announce = announced  # type: ignore[assignment]
    else:
        setattr(where, name, die)


class _Dying:
    """Stands in for `json` in the announcement: the third text that it makes is the last."""

    count = 0

    def dumps(self, value: Any) -> str:
        import json

        self.count += 1
        if self.count == 3:
            die()
        return json.dumps(value)


if __name__ == "__main__":
    end_before(sys.argv[1])
    with Store(sys.argv[2]) as store, shipper.Shipper(store) as ships:
        ships.drain()
