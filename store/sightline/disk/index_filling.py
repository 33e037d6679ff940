"""Makes a lost index anew from what lies in the folders, read by several processes where that is much.

Opening and decoding a million small files takes most of the time of that, and one process uses one processor. Memory
does not depend on how many there are.
"""

import errno
import gc
import marshal
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from itertools import chain, islice

from sightline.base.errors import OfNewerVersion, StoreFailed, UnsafeStore
from sightline.base.private_files import opened_folder, read_file, remove_folder
from sightline.base.records import Buffer
from sightline.base.threads import available_processors
from sightline.disk.database import BUSY_SECONDS
from sightline.disk.index import GatheringFailed, Index, row_of
from sightline.disk.layout import Layout
from sightline.disk.live import writer_alive
from sightline.disk.meta import decode_buffer, read_meta
from sightline.disk.rows import Row
from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import BinaryIO

MANY = 2_000
"""Buffers; reading fewer takes a third of a second, for which no process is started."""

_MOST_PROCESSES = 4
_ROWS_AT_ONCE = 250
_LENGTH_BYTES = 8
_PIPE_BYTES = 1 << 20  # so that a process may be several steps ahead, however the system divides their time
_SEND = "import sys; from sightline.disk.index_filling import send_rows; send_rows(*sys.argv[1:])"
_FILL = "import os, sys; os.fork() and os._exit(0); from sightline.store import Store; Store(sys.argv[1]).index"
"""It leaves the work to a child of its own, which is nobody's to wait for."""


class Rebuilt(NamedTuple):
    """The result of `rebuild_buffers`.

    Attributes:
        buffers: number of records that were put into the index.
        unreadable: names of folders without a readable record.
    """

    buffers: int
    unreadable: list[str]


Filled = Callable[[int, int], None]
"""Gets how many outputs of how many are read."""


def _unheard(_done: int, _total: int) -> None:
    pass


def fill_index(layout: Layout, index: Index, *, patience: float, waits: bool, filled: Filled = _unheard) -> list[str]:
    """Fill a new index from the folders, unless another process does so already.

    It returns the names of folders without a readable record, if it has filled the index.

    Args:
        layout: where these lie.
        index: one that is not filled.
        patience: seconds for which another process that fills it is waited for.
        waits: whether the caller needs what the index holds. A caller that only adds to it does not wait for another
            process, and leaves the index of a large store to a process of its own.
        filled: is called as it goes on.

    Raises:
        StoreFailed: another process still fills it.
    """
    if index.unwritable:  # it is in memory, and nobody else's
        return rebuild_buffers(layout, index, filled).unreadable
    if not _entries(layout.buffers, 1) and not _entries(layout.tombstones, 1):
        with index.transaction():
            if index.is_unfilled():
                index.set_views_stale(bool(os.listdir(layout.audit)))
        return []
    with layout.filling(patience if waits else 0) as is_ours:
        if index.is_unfilled() and is_ours and (waits or _entries(layout.buffers, MANY) < MANY):
            return rebuild_buffers(layout, index, filled).unreadable
    if index.is_unfilled():
        if waits:
            raise _being_filled(layout)
        if is_ours:
            _fill_elsewhere(layout)
    return []


def refill_index(layout: Layout, index: Index) -> Rebuilt:
    """Fill an index anew, whatever it holds. Raises StoreFailed if another process fills it for too long."""
    with layout.filling(BUSY_SECONDS) as is_ours:
        if not is_ours:
            raise _being_filled(layout)
        return rebuild_buffers(layout, index)


def _being_filled(layout: Layout) -> StoreFailed:
    what = f"the index of the store at {layout.root} was lost, and another process is making it anew"
    return StoreFailed(what, "try again in a minute; outputs that come meanwhile are kept")


def _fill_elsewhere(layout: Layout) -> None:
    import subprocess  # 8 ms that only a lost index of a large store costs

    words = (sys.executable, "-E", "-P", "-c", _FILL, layout.root)
    nowhere = subprocess.DEVNULL
    with suppress(OSError):  # the next who needs the index fills it
        subprocess.run(words, check=False, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)


def rebuild_buffers(layout: Layout, index: Index, filled: Filled = _unheard) -> Rebuilt:
    """Fill an index from the folders and tombstones alone, in order of creation.

    ``filled`` is called as it goes on.

    Records that other processes put into it meanwhile are newer, and stay. Only one process may fill it at a time.
    """
    unreadable: list[str] = []
    index.forget_buffers()  # a process that filled it before may have died half-way
    try:
        count = index.fill(_counted(layout, chain(rows_on_disk(layout, unreadable), _evicted(layout)), filled))
    except (GatheringFailed, ReadersEnded) as error:
        unreadable.clear()
        rows = chain(rows_read_here(layout, unreadable), _evicted(layout))
        count = index.fill(rows, in_memory=isinstance(error, GatheringFailed))
    index.set_views_stale(bool(os.listdir(layout.audit)))
    return Rebuilt(count, unreadable)


def _counted(layout: Layout, rows: Iterator[Row], filled: Filled) -> Iterator[Row]:
    total = (
        0 if filled is _unheard else sum(1 for folder in (layout.buffers, layout.tombstones) for _ in _names_in(folder))
    )
    for done, row in enumerate(rows):
        if not done % _ROWS_AT_ONCE:
            filled(done, total)
        yield row
    filled(total, total)


class ReadersEnded(Exception):
    """A process that reads records could not be started, or ended before it had read all of its share."""


def rows_on_disk(layout: Layout, unreadable: list[str]) -> Iterator[Row]:
    """Yield the rows of all records, in any order, and add the names of folders without a readable one to a list.

    Raises:
        ReadersEnded: other processes were to read them, and did not; `rows_read_here` can do without.
    """
    processes = min(available_processors(), _MOST_PROCESSES)
    if processes > 1 and _entries(layout.buffers, MANY) == MANY:
        return _rows_read_elsewhere(layout, unreadable, processes)
    return rows_read_here(layout, unreadable)


def rows_read_here(layout: Layout, unreadable: list[str], share: int = 0, shares: int = 1) -> Iterator[Row]:
    """Do what `rows_on_disk` does for one of so many shares, without another process."""
    rest = []
    with (
        opened_folder(layout.buffers) as buffers,
        opened_folder(layout.tombstones) as tombstones,
        os.scandir(layout.buffers) as found,
    ):
        known = _few_tombstones(layout)
        for entry in found:
            name = entry.name
            if shares > 1 and ord(name[-1]) % shares != share:  # the last digit of a name is by chance
                continue
            try:
                if _exists(f"{name}.json", tombstones) if known is None else f"{name}.json" in known:
                    rest.append(name)  # the remover died before it had removed all
                else:
                    buffer = read_meta(layout, name, is_folder=entry.is_dir(follow_symlinks=False), buffers=buffers)
                    yield row_of(_used(layout, buffer))
            except (FileNotFoundError, NotADirectoryError, ValueError, UnsafeStore, OfNewerVersion):
                if not writer_alive(layout, name):
                    unreadable.append(name)
    for name in rest:  # removing while a folder is listed might skip entries
        _remove_rest(layout, name)


def _few_tombstones(layout: Layout) -> frozenset[str] | None:
    """Return the names of the tombstones, None if they are many: a search for one takes as long as reading a record."""
    names = frozenset(islice(_names_in(layout.tombstones), MANY))
    return names if len(names) < MANY else None


def _exists(name: str, folder: int) -> bool:
    """Return whether a folder, of which there is a descriptor, has an entry; from there the way is short."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _used(layout: Layout, buffer: Buffer) -> Buffer:
    """Return the record with its last known use; an import was not used when it was captured."""
    if not buffer.artifact:
        return buffer
    return buffer._replace(accessed=os.lstat(layout.meta(buffer.name)).st_mtime)


def _remove_rest(layout: Layout, name: str) -> None:
    try:
        remove_folder(layout.folder(name))
    except OSError as error:
        if error.errno != errno.EROFS:
            raise


def _rows_read_elsewhere(layout: Layout, unreadable: list[str], processes: int) -> Iterator[Row]:
    import subprocess  # 8 ms that only a lost index of a large store costs

    with ExitStack() as started:
        senders = []
        for share in range(processes):
            words = (sys.executable, "-E", "-P", "-c", _SEND, layout.root, str(share), str(processes))
            try:
                process = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    pipesize=_PIPE_BYTES,
                )
            except OSError as error:
                raise ReadersEnded from error
            started.enter_context(process)
            assert process.stdout
            senders.append(process.stdout)
        while senders:
            for sender in tuple(senders):
                rows, left = _received(sender.read)
                yield from rows
                if left is not None:
                    unreadable += left
                    senders.remove(sender)


def send_rows(root: str, share: str, shares: str) -> None:
    """Write one of so many shares of the rows to standard output, for the process that started this one."""
    gc.disable()  # records form no cycles
    layout, unreadable = Layout(root), list[str]()
    rows = rows_read_here(layout, unreadable, int(share), int(shares))
    with os.fdopen(1, "wb") as out:
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            _send(out, some, None)
        _send(out, [], unreadable)


def _send(out: BinaryIO, rows: list[Row], unreadable: list[str] | None) -> None:
    data = marshal.dumps((rows, unreadable))
    out.write(len(data).to_bytes(_LENGTH_BYTES, "little") + data)
    out.flush()


def _received(read: Callable[[int], bytes]) -> tuple[list[Row], list[str] | None]:
    """Return some rows of a share, and with the last of it the names of unreadable folders. Raises ReadersEnded."""
    size = int.from_bytes(read(_LENGTH_BYTES), "little")
    data = read(size)
    if not size or len(data) < size:
        raise ReadersEnded
    rows, unreadable = marshal.loads(data)  # noqa: S302 - from our own process, by a pipe that nobody else has
    return rows, unreadable


def _evicted(layout: Layout) -> Iterator[Row]:
    for file in _names_in(layout.tombstones):
        try:
            data = read_file(os.path.join(layout.tombstones, file))
            tombstone = loads(data)
            if isinstance(tombstone, dict) and tombstone.get("reason") == "evicted":
                buffer = decode_buffer(data)
                if file == os.path.basename(layout.tombstone(buffer.name)):
                    yield row_of(buffer)
        except (ValueError, UnsafeStore, OfNewerVersion):
            continue


def _names_in(folder: str) -> Iterator[str]:
    with os.scandir(folder) as found:
        for entry in found:
            yield entry.name


def _entries(folder: str, most: int) -> int:
    """Return how many entries a folder has, as far as that many."""
    return sum(1 for _ in islice(_names_in(folder), most))
