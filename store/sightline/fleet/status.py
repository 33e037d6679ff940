"""How far behind the fleet a store is, as far as this machine knows, without asking the network."""

import time

from sightline.fleet.collector import DIRECTORY, SIZE, Collector
from sightline.fleet.queue import Queue
from sightline.light.named_tuple import NamedTuple
from sightline.shape.summary import counted, human_bytes
from sightline.store import Store


class ShipStatus(NamedTuple):
    """The known status.

    Attributes:
        host: the fleet's name for this store; empty before the first contact.
        buffers: number of buffers that wait.
        items: number of items of all kinds that wait: buffers, changes, parts of logs.
        bytes: their size, about.
        behind_seconds: seconds since the oldest of them was done; 0 if none waits.
        contact: when the fleet was last reached, seconds since the epoch; 0 for never.
        left_out: number of buffers that are not shipped, by reason.
        left_out_bytes: their bytes.
        error: what went wrong last; empty once it has worked again.
        error_at: when that was, seconds since the epoch; 0 if nothing did.
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
    error_at: float


def ship_status(store: Store) -> ShipStatus:
    """Compare what is done with what was shipped."""
    queue = Queue(store.root)
    try:
        Collector(store, queue).look(whole=True)
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
            error=(error := queue.fact("error")),
            error_at=float(queue.fact("error_at") or 0.0) if error else 0.0,
        )
    finally:
        queue.close()


def in_words(status: ShipStatus, database: str) -> str:
    """Return the status, a sentence on each line; ``database`` is its address."""
    if not database:
        return "no fleet is set: nothing leaves this machine"
    lines = [f"{status.host or 'this store'} ships to {database}"]
    if status.items:
        lines.append(
            f"behind by {counted(status.buffers, 'output')} and"
            f" {counted(status.items - status.buffers, 'other item')}, "
            f"{human_bytes(status.bytes)}, the oldest for {_span(status.behind_seconds)}"
        )
    else:
        lines.append("all that is done is shipped")
    lines.append(f"last contact {_span(time.time() - status.contact)} ago" if status.contact else "no contact yet")
    words = {DIRECTORY: "of folders that are not shipped", SIZE: "larger than max_buffer_bytes"}
    lines += [f"left out: {count:,} {words.get(why, why)}" for why, count in status.left_out.items()]
    if status.error:
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(status.error_at))
        lines.append(f"last error, at {at}, {_span(time.time() - status.error_at)} ago: {status.error}")
    return "\n".join(lines)


def _span(passed: float) -> str:
    for size, unit_of_time in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if passed >= size:
            return f"{passed / size:.0f} {unit_of_time}"
    return f"{max(passed, 0):.0f} s"
