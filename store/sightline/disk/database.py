"""One SQLite file that any number of processes share: opening, transactions, and starting over if it is broken.

Even reading it needs writing beside it, as SQLite works. Where nothing can be written, it is opened in another way.
"""

import _thread
import os
import time

from sightline.base.private_files import open_private, refuse_all_but_file, remove_file
from sightline.disk import schema
from sightline.disk.sqlite import sqlite3
from sightline.light.library import contextmanager
from sightline.light.typing_names import Any, Iterable, Iterator, Sequence

BUSY_SECONDS = 60.0  # a writer holds the lock for well under a second; this is for machines that stall
HURRIED_SECONDS = 2.0  # for work that may be left undone
HARDLY_SECONDS = 0.05  # for work that was left undone, and is tried again
STATEMENTS_KEPT = 64
_SUFFIXES = ("", "-wal", "-shm", "-journal")
WAL_KEPT_BYTES = 4 << 20  # SQLite's usual size; a reader can make it grow, and it would stay so
_MANY_CACHE_KIB = 16_384  # rows with hashes fall on pages all over, for which SQLite's 2 MiB are too few
_ALL_CACHE_KIB = 65_536  # the pages of 20,000 rows all over an index of a million, each of which is written once then
_MANY_WAL_PAGES = 4_096  # 16 MiB
_WAL_LEFT_BYTES = 1 << 20  # of some twenty captures; whoever opens the database next reads it in 0.4 ms
_NOT_UTF_8 = "Could not decode to UTF-8"
_left: list[sqlite3.Connection] = []


class Database:
    """A connection that several threads may share. Its rows are plain tuples.

    Attributes:
        is_newer: whether a newer version has migrated the tables.
        unwritable: why nothing can be written; empty if it can.
        identity: which file it is, see `identity_of`; None without a file. While open, no other file has it.
    """

    def __init__(
        self,
        path: str,
        *,
        durable: bool = False,
        patience: float = BUSY_SECONDS,
        unwritable: str = "",
        is_anothers: bool = False,
    ) -> None:
        """Open the file, and make or migrate its tables as needed.

        Args:
            path: path of the file.
            durable: whether power loss must not undo what was written.
            patience: seconds that a statement waits for another process that writes.
            unwritable: why nothing can be written to its folder, if so. It is then opened for reading; if that is not
                possible, the file is left alone, and an empty database is made in memory.
            is_anothers: whether it is unwritable because it is another's: then SQLite could write beside it, and must
                not.

        Raises:
            UnsafeStore: the file, or one that SQLite keeps beside it, is a symbolic link or not a file.
            sqlite3.DatabaseError: it cannot be read; see `errors.is_broken`.
        """
        self.path = path
        self.is_newer = False
        self.unwritable = unwritable
        self._patience = patience
        self._waits_for = patience  # seconds, as long as nobody is hurried
        self._lock = _thread.RLock()
        for suffix in _SUFFIXES:  # SQLite opens these by itself, and a pipe among them would block it
            refuse_all_but_file(path + suffix)
        if unwritable:
            found = _connected_to_read(path, patience, is_anothers=is_anothers)
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
        except BaseException as error:
            self._connection.close()
            if isinstance(error, UnicodeDecodeError):  # SQLite's own message quotes bytes of the file
                raise sqlite3.DatabaseError("malformed database schema") from error
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

    def has_others(self) -> bool:
        """Return whether another program has added what acts on our statements, or removed what keeps the totals."""
        rows = self.rows("SELECT type, sql FROM sqlite_master WHERE type IN ('trigger', 'view', 'index') AND sql <> ''")
        triggers = sum(kind == "trigger" for kind, _ in rows)
        return triggers < schema.TRIGGERS or not all(schema.is_ours(sql) for _, sql in rows)

    def _version(self) -> int:
        return int(self._patiently("PRAGMA user_version")[0][0])

    def _patiently(self, statement: str) -> list[Any]:
        """Repeat a statement that answers "locked" at once, whatever the busy timeout, as switching to WAL does."""
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

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Begin a transaction that takes the write lock at once, so that it never has to give up half-way."""
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

    @contextmanager
    def writing_apart(self) -> Iterator[bool]:
        """Begin such a transaction, and give True; give False within one of this thread, whose fate it would share."""
        with self._lock:
            if self._connection.in_transaction:
                yield False
                return
            with self.writing():
                yield True

    @contextmanager
    def hurried(self, *, very: bool = False, patient: bool = False) -> Iterator[None]:
        """Wait only a moment for other processes that write, ``very``: hardly at all, ``patient``: as long as usual."""
        with self._lock:
            before = self._waits_for  # shorter than usual within such a block
            self._wait_for(before if patient else min(before, HARDLY_SECONDS if very else HURRIED_SECONDS))
            try:
                yield
            finally:
                self._wait_for(before)

    def _wait_for(self, seconds: float) -> None:
        self._waits_for = seconds
        self._connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")

    def execute(self, statement: str, parameters: Any = ()) -> int:
        """Run one statement, and return the number of changed rows."""
        with self._lock:
            return self._connection.execute(statement, parameters).rowcount

    def execute_all(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each of several rows."""
        with self._lock:
            self._connection.executemany(statement, rows)

    @contextmanager
    def beside(self, *, in_memory: bool = False) -> Iterator[None]:
        """A nameless database of this connection's own, ``beside``: filling it keeps nobody from the one they share.

        Args:
            in_memory: not in a file where temporary ones go.
        """
        with self._lock:
            self._connection.execute("ATTACH ? AS beside", (":memory:" if in_memory else "",))
            self._connection.execute("PRAGMA beside.journal_mode = OFF")
        try:
            yield
        finally:
            with self._lock:
                self._connection.execute("DETACH beside")

    def gather(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement that changes only what lies beside, for each of many rows, which may come slowly."""
        with self._lock:
            self._connection.execute("BEGIN")
            try:
                self._connection.executemany(statement, rows)
            finally:
                self._connection.execute("COMMIT")

    def expect_many(self, *, is_all: bool = False) -> None:
        """Prepare for many rows: keep more pages in memory, and checkpoint the write-ahead file less often.

        Args:
            is_all: whether the rows are all there are, perhaps millions.
        """
        self.checkpoint_seldom()
        with self._lock:
            self._connection.execute(f"PRAGMA cache_size = -{_ALL_CACHE_KIB if is_all else _MANY_CACHE_KIB}")

    def checkpoint_seldom(self) -> None:
        """Let the write-ahead file grow to four times its usual size, for a process that writes little and often.

        Some call has to wait for the 5 ms in which it is copied into the database. Of a page that has changed many
        times, only the last state is copied, so it takes little longer if it is done less often.
        """
        with self._lock:
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {_MANY_WAL_PAGES}")

    def rows(self, statement: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self._lock:
            try:
                return self._connection.execute(statement, parameters).fetchall()
            except sqlite3.OperationalError as error:
                if _NOT_UTF_8 not in str(error):
                    raise
            self._connection.text_factory = _lenient_text
            try:
                return self._connection.execute(statement, parameters).fetchall()
            finally:
                self._connection.text_factory = str

    def row(self, statement: str, parameters: Any = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query; None if there is none."""
        with self._lock:
            try:
                row: tuple[Any, ...] | None = self._connection.execute(statement, parameters).fetchone()
                return row
            except sqlite3.OperationalError as error:
                if _NOT_UTF_8 not in str(error):
                    raise
            return next(iter(self.rows(statement, parameters)), None)

    def scrub(self) -> None:
        """Leave nothing of what was deleted or replaced in the file, or in its write-ahead file.

        Raises:
            sqlite3.OperationalError: another process kept reading or writing.
        """
        with self._lock:
            self._connection.execute("PRAGMA temp_store = MEMORY")  # else a copy of all would lie in another file
            self._patiently("VACUUM")
            deadline = time.monotonic() + self._patience
            while self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > deadline:
                    raise sqlite3.OperationalError("database is locked")
                time.sleep(0.005)

    def data_version(self) -> int:
        """A number that changes when another process has written."""
        with self._lock:
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close; the last process to do so checkpoints the write-ahead file."""
        with self._lock:
            self._connection.close()

    def leave(self) -> None:
        """Leave it open for the system to close, since the process ends now; close it if much has been written.

        Whoever closes a database last copies its write-ahead file and removes it, and whoever comes next makes a new
        one: they wait for the disk four times. Nobody else ever shortens a file that processes leave one by one.
        """
        try:
            is_small = os.path.getsize(self.path + "-wal") < _WAL_LEFT_BYTES
        except OSError:  # there is none
            is_small = False
        if is_small:
            _left.append(self._connection)  # Python would close what nobody holds
        else:
            self.close()


def _lenient_text(data: bytes) -> str:
    """Read a text that none of ours can be, so that whoever checks the row can leave it out."""
    return data.decode(errors="surrogateescape")


def _connected(address: str, patience: float) -> sqlite3.Connection:
    return sqlite3.connect(
        address,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=STATEMENTS_KEPT,
        uri=address.startswith("file:"),
    )


def _connected_to_read(path: str, patience: float, *, is_anothers: bool) -> sqlite3.Connection | None:
    """Open the file without writing beside it; None if it is missing, broken, of an old version or incomplete."""
    address = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    # Without the write-ahead file's own index, only a file that has all in itself can be read.
    is_all = not os.path.exists(path + "-wal") or not os.path.getsize(path + "-wal")
    # In another's store, SQLite must neither make what lies beside the file nor mark in it who reads.
    looking = "mode=ro"
    if is_anothers:
        is_there = os.path.exists(path + "-wal") and os.path.exists(path + "-shm")
        looking = "mode=ro&readonly_shm=1" if is_there else ""
    for how in filter(None, (looking, "mode=ro&immutable=1" if is_all else "")):
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
    """Return a file's identity, (device, inode); None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def set_aside(path: str) -> str:
    """Move a broken database out of the way, and return its new path."""
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
