"""How far behind the fleet a store is, as far as this machine knows: nothing is asked of the network."""

import time

from sightline.fleet.queue import Queue
from sightline.fleet.selection import DIRECTORY, SIZE, Selection
from sightline.named_tuple import NamedTuple
from sightline.shape.summary import human_bytes
from sightline.store import Store


class ShipStatus(NamedTuple):
    """What is known here.

    Attributes:
        host: what the fleet calls this store; empty before the first contact.
        buffers: that wait.
        items: that wait, of all kinds: buffers, what became of some, pieces of logs.
        bytes: about how many those have.
        behind_seconds: since the oldest of them was done, 0 where none waits.
        contact: when the fleet was reached last, seconds since the epoch; 0 if never.
        left_out: how many buffers do not go, by why.
        left_out_bytes: of these.
        error: what went wrong last, empty since it went well.
    """

    host: str
    buffers: int
    items: int
    bytes: int
    behind_seconds: float
    contact: float
    left_out: dict[str, int]
    left_out_bytes: int
    error: str


def ship_status(store: Store) -> ShipStatus:
    """Look at what is done and at what was shipped."""
    queue = Queue(store.root)
    try:
        Selection(store, queue).look(whole=True)
        waiting, left_out = queue.waiting(), queue.left_out()
        counts: dict[str, int] = {}
        for why, _ in left_out.values():
            counts[why] = counts.get(why, 0) + 1
        return ShipStatus(
            host=queue.fact("host"),
            buffers=waiting.buffers,
            items=waiting.items,
            bytes=waiting.bytes,
            behind_seconds=max(0.0, time.time() - waiting.oldest) if waiting.items else 0.0,
            contact=float(queue.fact("contact") or 0.0),
            left_out=counts,
            left_out_bytes=sum(size for _, size in left_out.values()),
            error=queue.fact("error"),
        )
    finally:
        queue.close()


def in_words(status: ShipStatus, database: str) -> str:
    """The status, a sentence a line; ``database`` is its address."""
    if not database:
        return "no fleet is set: nothing leaves this machine"
    lines = [f"{status.host or 'this store'} ships to {database}"]
    if status.items:
        lines.append(
            f"behind by {status.buffers:,} outputs and {status.items - status.buffers:,} other items, "
            f"{human_bytes(status.bytes)}, the oldest for {_span(status.behind_seconds)}"
        )
    else:
        lines.append("all that is done is shipped")
    lines.append(f"last contact {_span(time.time() - status.contact)} ago" if status.contact else "no contact yet")
    words = {DIRECTORY: "of folders that are not shipped", SIZE: "larger than max_buffer_bytes"}
    lines += [f"left out: {count:,} {words.get(why, why)}" for why, count in status.left_out.items()]
    if status.error:
        lines.append(f"last error: {status.error}")
    return "\n".join(lines)


def _span(passed: float) -> str:
    for size, unit_of_time in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if passed >= size:
            return f"{passed / size:.0f} {unit_of_time}"
    return f"{max(passed, 0):.0f} s"
