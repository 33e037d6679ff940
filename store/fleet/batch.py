"""A batch: what goes with one announcement, rows and packs; and the spool, where it waits for a network.

States: *packed*, when its rows and its last pack lie in the spool; *stored*, when all packs are in the object store;
*announced*, when the database has its rows. Killed at any of them, the next shipper goes on from the one before.
"""

import datetime
import json
import os
from collections.abc import Callable
from typing import Any

from sightline.fleet.content import Content, Damaged, Rows
from sightline.fleet.pack import Pack, Packer
from sightline.fleet.queue import Item, Queue
from sightline.named_tuple import NamedTuple
from sightline.private_files import make_folder, read_file, remove_file, write_atomically
from sightline.store import Store

MOST_ITEMS = 2_000
BATCH_BYTES = 8 << 20
"""Of frames: a batch ends with the item that brings it here."""

_BATCH, _PACK_ENDING, _STORED_ENDING = "batch.json", ".pack", ".stored"


class Cursor(NamedTuple):
    """How far a host's queue is announced: the last item's number, and its mark."""

    seq: int
    mark: str


class PackRow(NamedTuple):
    """What is announced of a pack: its hash (hex), its day, its bytes, and those of the streams in it."""

    sha256: str
    day: str
    bytes: int
    raw: int


class Batch(NamedTuple):
    """What one announcement tells.

    Attributes:
        begin: the cursor that it follows.
        end: the cursor that it leads to.
        rules: by what it was made; with other settings it is made anew.
        packs: what it stores.
        rows: what it tells.
        places: of each stream where it is, as `Queue.put_places` takes it.
    """

    begin: Cursor
    end: Cursor
    rules: str
    packs: list[PackRow]
    rows: Rows
    places: list[Any]


class Spool:
    """The folder where packs lie until they are stored, and a batch until it is announced.

    Where it cannot be written to, as on a full disk, what it was to keep is made again when it is needed.
    """

    def __init__(self, folder: str) -> None:
        self.folder = os.path.join(folder, "spool")

    def put_pack(self, pack: Pack) -> bool:
        """Keep a pack; False where that cannot be."""
        return self._write(pack.sha256 + _PACK_ENDING, pack.data)

    def put_batch(self, batch: Batch) -> None:
        """Keep a batch that is packed, and all of whose packs are kept or stored."""
        self._write(_BATCH, json.dumps(batch).encode())

    def _write(self, name: str, data: bytes) -> bool:
        try:
            make_folder(self.folder)
            write_atomically(os.path.join(self.folder, name), data)
        except OSError:
            return False
        return True

    def pack(self, sha256: str) -> bytes | None:
        """A pack that is yet to be stored."""
        try:
            return read_file(os.path.join(self.folder, sha256 + _PACK_ENDING))
        except FileNotFoundError:
            return None

    def note_stored(self, pack: PackRow) -> None:
        """A pack is stored: it need not be kept, and is not stored again should its batch be made anew."""
        self._write(pack.day + pack.sha256 + _STORED_ENDING, b"")
        remove_file(os.path.join(self.folder, pack.sha256 + _PACK_ENDING))

    def is_stored(self, pack: PackRow) -> bool:
        """Whether that was noted."""
        return os.path.exists(os.path.join(self.folder, pack.day + pack.sha256 + _STORED_ENDING))

    def batch(self, begin: Cursor, rules: str) -> Batch | None:
        """The batch that follows a cursor and was made by these rules; without one, what is there is dropped: None."""
        try:
            fields = json.loads(read_file(os.path.join(self.folder, _BATCH)))
            first, last, made_by, packs, rows, places = fields
            batch = Batch(Cursor(*first), Cursor(*last), made_by, [PackRow(*row) for row in packs], Rows(*rows), places)
        except (FileNotFoundError, ValueError, TypeError):
            batch = None
        if batch is not None and (batch.begin, batch.rules) == (begin, rules):
            return batch
        self.clear()
        return None

    def clear(self, *, announced: bool = False) -> None:
        """No batch in it is of use any more; what is stored is known on, until it is announced."""
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return
        for name in sorted(names, key=lambda name: name != _BATCH):  # a batch never stands there without its packs
            if announced or not name.endswith(_STORED_ENDING):
                remove_file(os.path.join(self.folder, name))


class Making(NamedTuple):
    """By what, and for whom, a batch is made.

    Attributes:
        store: where the bytes are.
        queue: what is to go.
        rules: by what is decided and hidden.
        may_ship: whether what ran in a folder goes.
        spool: is given each pack, and in the end the batch.
        take: is given each pack, to store it: the last one when the spool has the batch.
        most_items: of the queue.
        alive: called again and again.
    """

    store: Store
    queue: Queue
    rules: str
    may_ship: Callable[[str], bool]
    spool: Spool
    take: Callable[[PackRow, bytes], None]
    most_items: int = MOST_ITEMS
    alive: Callable[[], object] = lambda: None


class _Unreadable(Exception):
    """An item can never be shipped: then it is left out, and the others go."""

    def __init__(self, item: Item, why: str) -> None:
        super().__init__(why)
        self.item, self.why = item, why


def make_batch(making: Making, begin: Cursor) -> Batch | None:
    """Pack what follows a cursor, about 8 MiB or as much more as its last buffer has; None where nothing waits."""
    while True:
        try:
            return _made(making, begin)
        except _Unreadable as unreadable:
            making.spool.clear()
            with making.queue.changing():
                making.queue.drop(unreadable.item)
                making.queue.leave_out(unreadable.item.name, unreadable.why, unreadable.item.bytes)


def _made(making: Making, begin: Cursor) -> Batch | None:
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
        content = Content(making.store, making.queue, packer, making.may_ship, making.alive)
        end, count = begin, 0
        for item in making.queue.items(begin.seq, making.most_items):
            try:
                content.add(item)
            except Damaged as damaged:
                raise _Unreadable(item, damaged.message) from damaged
            end, count = Cursor(item.seq, item.mark), count + 1
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
