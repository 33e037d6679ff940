"""A shipper that ends itself by SIGKILL: ``python -m tests.store.fleet.ending STATE ROOT``."""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from sightline.fleet import announcement, presence, shipper
from sightline.fleet.batch import PackSpool
from sightline.fleet.objects import Objects
from sightline.fleet.queue import Queue
from sightline.light.json_text import dumps
from sightline.log import notes
from sightline.store import Store

BEFORE: dict[str, tuple[Any, str]] = {
    "queued": (shipper, "make_batch"),
    "pack made": (PackSpool, "put_batch"),
    "packed": (Objects, "put"),
    "stored": (PackSpool, "note_stored"),
    "all stored": (shipper, "announce"),
    "noted": (Queue, "put_places"),
    "remark fetched": (presence, "write_note"),
    "remark written": (presence, "send_note"),
    "sending of it logged": (notes, "write_atomically"),
}
"""By state, the name of what comes next, and where that is."""

AFTER: dict[str, tuple[Any, str]] = {"announced": (shipper, "announce"), "remark sent": (presence, "send_note")}
"""By state, the name of what led to it, and where that is."""

OF_REMARKS = ("remark fetched", "remark written", "sending of it logged", "remark sent")
STATES = tuple(state for state in (*BEFORE, *AFTER, "announcing") if state not in OF_REMARKS)


def die(*_: object, **__: object) -> None:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def end_at(state: str) -> None:
    """Have this process end where a state is reached."""
    if state == "announcing":  # all rows are sent, and nothing is committed
        insert = announcement._INSERTS
        insert["sessions"] = insert["entries"] = "SELECT pg_sleep(0), %s, %s"
        announcement.dumps = _Dying()  # type: ignore[assignment]
    elif state in AFTER:
        where, name = AFTER[state]
        do: Callable[..., object] = getattr(where, name)
        setattr(where, name, lambda *given: (do(*given), die()))
    else:
        setattr(*BEFORE[state], die)


class _Dying:
    """Stands in for what makes JSON in the announcement: the third text that it makes is the last."""

    count = 0

    def __call__(self, value: Any) -> str:
        self.count += 1
        if self.count == 3:
            die()
        return dumps(value)


if __name__ == "__main__":
    end_at(sys.argv[1])
    with Store(sys.argv[2]) as store, shipper.Shipper(store) as ships:
        ships.drain()
