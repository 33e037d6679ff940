"""A batch: the rows and packs of one announcement; and the spool, where it waits for a network.

It is *packed* when its rows and its last pack are in the spool, *stored* when all packs are in the object store, and
*announced* when the database has its rows. If a shipper is killed in any state, the next one goes on from there.
"""

import datetime
import os
from collections.abc import Callable

from sightline.base.private_files import make_folder, read_file, remove_file, write_atomically
from sightline.fleet.content import BatchContent, BatchRows, Damaged
from sightline.fleet.pack import Pack, Packer
from sightline.fleet.queue import Queue, QueueItem
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.store import Store

MOST_ITEMS = 2_000
BATCH_BYTES = 8 << 20
"""Bytes of frames with which a batch is full; it ends with the item that reaches them."""

_BATCH, _PACK_ENDING, _STORED_ENDING = "batch.json", ".pack", ".stored"


class QueueCursor(NamedTuple):
    """How far a host's queue is announced: the last item's number, and its mark."""

    seq: int
    mark: str


class PackRow(NamedTuple):
    """The announced facts of a pack: its hash (hex), its day, its bytes, and those of the streams in it."""

    sha256: str
    day: str
    bytes: int
    raw: int


class Batch(NamedTuple):
    """The content of one announcement.

    Attributes:
        begin: the cursor before it.
        end: the cursor after it.
        rules: the settings by which it was made; with other settings it is made again.
        packs: the packs to store.
        rows: the rows to announce.
        places: where each stream is, for `Queue.put_places`.
    """

    begin: QueueCursor
    end: QueueCursor
    rules: str
    packs: list[PackRow]
    rows: BatchRows
    places: list[Any]


class PackSpool:
    """The folder where packs wait to be stored, and a batch to be announced.

    If it cannot be written to, as on a full disk, the batch is made again when it is needed.
    """

    def __init__(self, folder: str) -> None:
        self.folder = os.path.join(folder, "spool")

    def put_pack(self, pack: Pack) -> bool:
        """Keep a pack, and return False if that is not possible."""
        return self._write(pack.sha256 + _PACK_ENDING, pack.data)

    def put_batch(self, batch: Batch) -> None:
        """Keep a packed batch, all of whose packs are kept or stored."""
        self._write(_BATCH, dumps(batch).encode())

    def _write(self, name: str, data: bytes) -> bool:
        try:
            make_folder(self.folder)
            write_atomically(os.path.join(self.folder, name), data)
        except OSError:
            return False
        return True

    def pack(self, sha256: str) -> bytes | None:
        """Return a pack that is not stored yet."""
        try:
            return read_file(os.path.join(self.folder, sha256 + _PACK_ENDING))
        except FileNotFoundError:
            return None

    def note_stored(self, pack: PackRow) -> None:
        """Note that a pack is stored, so that it is neither kept nor stored again, even if its batch is made again."""
        self._write(pack.day + pack.sha256 + _STORED_ENDING, b"")
        remove_file(os.path.join(self.folder, pack.sha256 + _PACK_ENDING))

    def is_stored(self, pack: PackRow) -> bool:
        """Return whether that was noted."""
        return os.path.exists(os.path.join(self.folder, pack.day + pack.sha256 + _STORED_ENDING))

    def batch(self, begin: QueueCursor, rules: str) -> Batch | None:
        """Return the batch after a cursor, made by these rules; if there is none, drop what is there: None."""
        try:
            fields = loads(read_file(os.path.join(self.folder, _BATCH)))
            first, last, made_by, packs, rows, places = fields
            batch = Batch(
                QueueCursor(*first),
                QueueCursor(*last),
                made_by,
                [PackRow(*row) for row in packs],
                BatchRows(*rows),
                places,
            )
        except (FileNotFoundError, ValueError, TypeError):
            batch = None
        if batch is not None and (batch.begin, batch.rules) == (begin, rules):
            return batch
        self.clear()
        return None

    def clear(self, *, announced: bool = False) -> None:
        """Drop all batches; what was stored is remembered until it is announced."""
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return
        for name in sorted(names, key=lambda name: name != _BATCH):  # a batch is never there without its packs
            if announced or not name.endswith(_STORED_ENDING):
                remove_file(os.path.join(self.folder, name))


class Making(NamedTuple):
    """What a batch is made from.

    Attributes:
        store: the store that has the bytes.
        queue: the queue.
        rules: the settings that decide what is shipped and hidden.
        may_ship: returns whether what ran in a folder is shipped.
        spool: keeps each pack, and at the end the batch.
        take: stores each pack; the last one once the spool has the batch.
        most_items: most items of the queue to take.
        alive: called again and again.
    """

    store: Store
    queue: Queue
    rules: str
    may_ship: Callable[[str], bool]
    spool: PackSpool
    take: Callable[[PackRow, bytes], None]
    most_items: int = MOST_ITEMS
    alive: Callable[[], object] = lambda: None


class _Unreadable(Exception):
    """An item can never be shipped; it is left out, and the others go."""

    def __init__(self, item: QueueItem, why: str) -> None:
        super().__init__(why)
        self.item, self.why = item, why


def make_batch(making: Making, begin: QueueCursor) -> Batch | None:
    """Pack what follows a cursor, about 8 MiB, or more if its last buffer is large; None if nothing waits."""
    while True:
        try:
            return _made(making, begin)
        except _Unreadable as unreadable:
            making.spool.clear()
            with making.queue.changing():
                making.queue.drop(unreadable.item)
                making.queue.leave_out(unreadable.item.name, unreadable.why, unreadable.item.bytes)


def _made(making: Making, begin: QueueCursor) -> Batch | None:
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    packs: list[PackRow] = []
    last: list[bytes] = []
    is_kept = True

    def took(pack: Pack) -> None:
        nonlocal is_kept
        if last:
            making.take(packs[-1], last.pop())
        packs.append(PackRow(pack.sha256, day, len(pack.data), pack.raw))
        last.append(pack.data)
        is_kept = making.spool.put_pack(pack)

    packer = Packer(took)
    try:
        content = BatchContent(making.store, making.queue, packer, making.may_ship, making.alive)
        end, count = begin, 0
        for item in making.queue.items(begin.seq, making.most_items):
            try:
                content.add(item)
            except Damaged as damaged:
                raise _Unreadable(item, damaged.message) from damaged
            end, count = QueueCursor(item.seq, item.mark), count + 1
            making.alive()
            if packer.stored >= BATCH_BYTES:
                break
        if not count:
            return None
        packer.finish()
    finally:
        packer.close()
    rows, places = content.finish(lambda number: packs[number].sha256)
    batch = Batch(begin, end, making.rules, packs, rows, places)
    if is_kept:
        making.spool.put_batch(batch)
    if last:
        making.take(packs[-1], last.pop())
    return batch
