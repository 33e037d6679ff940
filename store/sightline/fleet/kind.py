"""The fleet as a kind of store: opens the shared place, and knows what it still lacks, or is to purge.

It needs nothing of the extra ``fleet`` but to open one; a shipper reads what is noted here when it next runs.
"""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping

from sightline.base.errors import UsageError
from sightline.base.private_files import make_folder, open_private, remove_file, write_all
from sightline.fleet import PURGES_FILE, QUEUE_FILE, QUEUE_FOLDER, ExtraMissing
from sightline.light.json_text import dumps
from sightline.light.typing_names import TYPE_CHECKING, cast
from sightline.log.store_kinds import StoreKind
from sightline.store import Reading, Store

if TYPE_CHECKING:
    from sightline.base.check_result import CheckResult
    from sightline.fleet.reader.store import SharedStore

_SPOOL, _STORED = "spool", ".stored"
"""A shipper's folder of what it sends next, which it makes again, and the ending of its empty files."""

_WORD = "fleet"
"""Stands in place of an address for the one in ``[fleet] store`` of the settings."""


class Fleet(StoreKind):
    """A database and an object store into which many machines ship, read as one store."""

    def open(self, local: Store, address: str, *, offline: bool = False) -> Reading:
        """Open the shared place.

        Raises:
            ExtraMissing: its clients are not installed.
            UsageError: the settings name none, or it is not an address.
            StoreFailed: nothing can be kept below the local store.
        """
        try:
            from sightline.fleet.reader.store import SharedStore  # loads the clients of a database and an object store
        except ImportError as error:
            raise ExtraMissing(error) from error
        return SharedStore(local, self.full_address(local, address), offline=offline)

    def full_address(self, local: Store, address: str) -> str:
        """Return an address, or that of the settings for the word ``fleet``. Raises UsageError if these have none."""
        if address != _WORD:
            return address
        if not local.settings.fleet.store:
            raise UsageError(
                "the settings name no shared place to read",
                f'write [fleet] store = "postgresql://reader@host/db" into {local.layout.config}, or give the address',
            )
        return local.settings.fleet.store

    def look(self, opened: Reading) -> None:
        """Take in a first page of outputs."""
        cast("SharedStore", opened).take_in_newest()

    def lacks(self, store: Store, names: Iterable[str]) -> set[str]:
        """Return those buffers that the fleet would lose.

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

    def lacks_logs(self, store: Store, sizes: Mapping[str, int]) -> set[str]:
        """Return those sessions whose log the fleet lacks in part. One that a shipper has not seen so waits for it."""
        return sizes.keys() - _queued(
            store,
            "SELECT key FROM json_each(?) JOIN logs ON session = key AND at = value"
            " WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.name = key AND kind = 'log')",
            sizes,
        )

    def ask_for_purge(self, store: Store, names: Iterable[str]) -> None:
        """Note which outputs the fleet is to purge."""
        wanted = sorted(names)
        if not wanted:
            return
        folder = os.path.join(store.root, QUEUE_FOLDER)
        make_folder(folder)
        fd = open_private(os.path.join(folder, PURGES_FILE), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)  # many names are written in several pieces
            write_all(fd, "".join(["\n", *(f"{name}\n" for name in wanted)]).encode())
        finally:
            os.close(fd)

    def scrub(self, root: str) -> None:
        """Remove what a shipper sends next."""
        folder = os.path.join(root, QUEUE_FOLDER, _SPOOL)
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(folder):
                if not name.endswith(_STORED):
                    remove_file(os.path.join(folder, name))

    def examine(self, store: Store) -> "Iterator[CheckResult]":
        """Check how far shipping is behind, without asking the network."""
        from sightline.base.check_result import CheckResult  # a doctor has it
        from sightline.fleet.status import in_words, ship_status  # few stores ship to a fleet

        status = ship_status(store)
        level = "problem" if status.error else "note" if status.items or status.left_out else "ok"
        yield CheckResult(level, in_words(status, store.settings.fleet.db).replace("\n", "; "))


def _queued(store: Store, query: str, wanted: list[str] | Mapping[str, int]) -> set[str]:
    """Return the names in the queue that a query finds, which need not wait."""
    path = os.path.join(store.root, QUEUE_FOLDER, QUEUE_FILE)
    if not wanted or not os.path.exists(path):
        return set()
    address = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True, timeout=5)) as queue:
            return {row[0] for row in queue.execute(query, (dumps(wanted),))}
    except sqlite3.Error:  # it is being made, or is damaged, and the next shipper makes it anew
        return set()


FLEET = Fleet()
