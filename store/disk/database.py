"""One SQLite file shared by any number of processes: opening, transactions, and starting over when it is broken.

Reading it takes writing beside it, as SQLite does it. Where nothing can be written it is opened in another way.
"""

import _thread
import contextlib
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sightline.disk import schema
from sightline.private_files import open_private, refuse_all_but_file, remove_file

BUSY_SECONDS = 60.0  # a writer holds the lock for well under a second; this is for machines that stall
HURRIED_SECONDS = 2.0  # for what is better left than waited for
STATEMENTS_KEPT = 64
_SUFFIXES = ("", "-wal", "-shm", "-journal")
WAL_KEPT_BYTES = 4 << 20  # what SQLite lets it grow to by itself; it grows on while somebody reads, and would stay so
_MANY_CACHE_KIB = 16_384  # rows with hashes fall on pages all over, which SQLite's 2 MiB would not hold
_MANY_WAL_PAGES = 4_096  # 16 MiB


class Database:
    """A connection that several threads may share. Its rows are plain tuples.

    Attributes:
        is_newer: whether a newer version has migrated the tables.
        unwritable: why nothing can be written, empty where it can.
        identity: which file it is, as `identity_of`; None where it has none. It is no other's while it is open.
    """

    def __init__(
        self, path: str, *, durable: bool = False, patience: float = BUSY_SECONDS, unwritable: str = ""
    ) -> None:
        """Open, making or migrating the tables as needed.

        Args:
            path: the file.
            durable: whether power loss must not undo what was written.
            patience: seconds that a statement waits for another process that writes.
            unwritable: why nothing can be written to its folder, where that is so. It is then opened for reading; one
                that cannot be read is left alone, and an empty one made in memory in its place.

        Raises:
            UnsafeStore: the file, or one that SQLite keeps beside it, is a symbolic link, or no file.
            sqlite3.DatabaseError: it cannot be read; see `errors.is_broken`.
        """
        self.path = path
        self.is_newer = False
        self.unwritable = unwritable
        self._patience = patience
        self._lock = _thread.RLock()
        for suffix in _SUFFIXES:  # SQLite opens these by itself, and would wait for the end of a pipe
            refuse_all_but_file(path + suffix)
        if unwritable:
            found = _connected_to_read(path, patience)
            self._connection = found or _connected(":memory:", patience)
            self.identity = identity_of(path) if found else None
            if found:
                return
        else:
            if not os.path.exists(path):
                os.close(open_private(path, os.O_RDWR | os.O_CREAT))
            self._connection = _connected(path, patience)
            self.identity = identity_of(path)
        try:
            self._prepare(durable)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, durable: bool) -> None:
        version = self._version()
        self.is_newer = version > schema.VERSION
        if version == 0:
            self._patiently("PRAGMA journal_mode = WAL")
        self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self._connection.execute(f"PRAGMA journal_size_limit = {WAL_KEPT_BYTES}")
        if version < schema.VERSION:
            with self.writing():
                self._upgrade(self._version())

    def _version(self) -> int:
        return int(self._patiently("PRAGMA user_version")[0][0])

    def _patiently(self, statement: str) -> list[Any]:
        """For statements that answer "locked" at once, whatever the busy timeout (switching to WAL does)."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._connection.execute(statement).fetchall()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.005)

    def _upgrade(self, version: int) -> None:
        if version >= schema.VERSION:
            return  # another process was first
        steps = [schema.MIGRATIONS[step] for step in range(version, schema.VERSION)] if version else [schema.CREATE]
        for statement in (statement for script in steps for statement in _statements(script)):
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA user_version = {schema.VERSION}")

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction that takes the write lock at once, so that it never has to give up half-way."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.rollback()
                raise

    @contextlib.contextmanager
    def hurried(self) -> Iterator[None]:
        """Wait for other processes that write for a moment only."""
        with self._lock:
            self._connection.execute(f"PRAGMA busy_timeout = {min(self._patience, HURRIED_SECONDS) * 1000:.0f}")
            try:
                yield
            finally:
                self._connection.execute(f"PRAGMA busy_timeout = {self._patience * 1000:.0f}")

    def execute(self, statement: str, parameters: Any = ()) -> int:
        """Run one statement; how many rows it changed."""
        with self._lock:
            return self._connection.execute(statement, parameters).rowcount

    def execute_all(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each of several rows."""
        with self._lock:
            self._connection.executemany(statement, rows)

    def expect_many(self) -> None:
        """Many rows will be written: more pages stay in memory, and the write-ahead file is folded in less often."""
        with self._lock:
            self._connection.execute(f"PRAGMA cache_size = -{_MANY_CACHE_KIB}")
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {_MANY_WAL_PAGES}")

    def rows(self, statement: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self._lock:
            return self._connection.execute(statement, parameters).fetchall()

    def row(self, statement: str, parameters: Any = ()) -> tuple[Any, ...] | None:
        """The first row of a query, None where there is none."""
        with self._lock:
            row: tuple[Any, ...] | None = self._connection.execute(statement, parameters).fetchone()
            return row

    def data_version(self) -> int:
        """A number that changes when another process has written."""
        with self._lock:
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close; the last process to do so folds the write-ahead file into the database."""
        with self._lock:
            self._connection.close()


def _connected(address: str, patience: float) -> sqlite3.Connection:
    return sqlite3.connect(
        address,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=STATEMENTS_KEPT,
        uri=address.startswith("file:"),
    )


def _connected_to_read(path: str, patience: float) -> sqlite3.Connection | None:
    """The file as it is, nothing being written beside it; None where it is missing, broken, old or not complete."""
    address = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    # Without the write-ahead file's own index only a file that has all in itself can be read.
    is_all = not os.path.exists(path + "-wal") or not os.path.getsize(path + "-wal")
    for how in ("mode=ro", "immutable=1") if is_all else ("mode=ro",):
        try:
            connection = _connected(f"{address}?{how}", patience)
        except sqlite3.OperationalError:  # it is not there
            continue
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version >= schema.VERSION and connection.execute("SELECT views_stale FROM totals").fetchone() == (0,):
                return connection
        except sqlite3.DatabaseError:
            pass
        connection.close()
    return None


def identity_of(path: str) -> tuple[int, int] | None:
    """Which file lies there, as (device, inode); None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def set_aside(path: str) -> str:
    """Move a broken database out of the way; where it lies now."""
    aside = f"{path}.broken-{int(time.time())}"
    os.replace(path, aside)
    for suffix in ("-wal", "-shm"):
        remove_file(path + suffix)
    return aside


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
