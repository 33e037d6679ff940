"""The queue of what is to be shipped, in order: a small database beside the store.

Its numbers continue those of the fleet's cursor. Each item has a mark, a hash of all items up to it, and the cursor has
the mark of the last announced one. This reveals a queue that was lost, or comes from a backup; it is made again, and
the fleet leaves what it gets a second time as it is.
"""

import contextlib
import fcntl
import hashlib
import math
import os
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sightline.base.private_files import make_folder, open_private, read_file, remove_file, write_atomically
from sightline.fleet import QUEUE_FILE, QUEUE_FOLDER
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

_DEDUPLICATED_SECONDS = 7 * 86_400
"""How long a stream that is shipped again is found at its place; objects are kept a day longer."""

_TABLES = """
CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS items (
    seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    at INTEGER NOT NULL, bytes INTEGER NOT NULL, queued REAL NOT NULL, mark TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS items_by_name ON items (name);
CREATE TABLE IF NOT EXISTS known (name TEXT PRIMARY KEY, digest TEXT NOT NULL, created REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS left_out (name TEXT PRIMARY KEY, why TEXT NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS logs (
    session TEXT PRIMARY KEY, next INTEGER NOT NULL, at INTEGER NOT NULL, hash TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unjudged (
    kind TEXT NOT NULL, name TEXT NOT NULL, since REAL NOT NULL, last REAL NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS told_facts (name TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS places (
    sha256 TEXT PRIMARY KEY, time REAL NOT NULL, packs TEXT NOT NULL, frames TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS frame_hashes (
    sha256 TEXT PRIMARY KEY, time REAL NOT NULL, hashes TEXT NOT NULL
) WITHOUT ROWID;
"""


class QueueItem(NamedTuple):
    """An item to be shipped.

    Attributes:
        seq: its number.
        kind: ``buffer``; ``change``, for one that was queued before; ``log``, for lines of a session's log.
        name: name of the buffer or the session.
        first: number of the first line; 0 unless it is a log.
        last: number of the last line, inclusive.
        at: byte of the log at which the first line began when it was queued.
        bytes: its size, about.
        queued: when it was queued, seconds since the epoch.
        mark: the hash of all items up to it.
    """

    seq: int
    kind: str
    name: str
    first: int
    last: int
    at: int
    bytes: int
    queued: float
    mark: str


class Backlog(NamedTuple):
    """How far behind the fleet is: buffers, items of all kinds, bytes, and when the oldest was queued (0: none)."""

    buffers: int
    items: int
    bytes: int
    oldest: float


class LogEnd(NamedTuple):
    """How far a log is queued: the number of the next line, the byte at which it begins, the previous line's hash."""

    next: int
    at: int
    hash: str


class Queue:
    """One store's queue. Several processes may have it open; those that ship take turns by `turn`."""

    def __init__(self, root: str) -> None:
        """Open the queue, and make it if it is missing. Raises sqlite3.Error, OSError."""
        self.folder = os.path.join(root, QUEUE_FOLDER)
        make_folder(self.folder)
        path = os.path.join(self.folder, QUEUE_FILE)
        with self.turn("opening"):  # SQLite does not wait where two make the same file
            os.close(open_private(path, os.O_RDWR | os.O_CREAT))
            try:
                self._db = self._opened(path)
            except sqlite3.OperationalError:  # it was locked for long, or the disk is full
                raise
            except sqlite3.DatabaseError:  # damaged; a new one does not match the fleet's cursor, which is noticed
                for suffix in ("", "-wal", "-shm"):
                    remove_file(path + suffix)
                self._db = self._opened(path)

    def _opened(self, path: str) -> sqlite3.Connection:
        db = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            for statement in filter(str.strip, _TABLES.split(";")):
                db.execute(statement)
        except BaseException:
            db.close()
            raise
        return db

    @contextlib.contextmanager
    def turn(self, of: str = "turn", *, waits: bool = True) -> Iterator[bool]:
        """Let only one process at a time ship, or do something else that has a name; the value says whether it is ours.

        Args:
            of: the name.
            waits: whether to wait while another process has its turn.
        """
        fd = open_private(os.path.join(self.folder, of), os.O_RDWR | os.O_CREAT)
        try:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(fd)

    def close(self) -> None:
        """Close it."""
        self._db.close()

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Make several changes one; transactions nest."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            self._db.rollback()
            raise

    def fact(self, key: str) -> str:
        """Return a fact that is kept beside the items; empty if it is not."""
        row = self._db.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def put_fact(self, key: str, value: str) -> None:
        """Keep a fact."""
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))

    @property
    def store_id(self) -> str:
        """Return the id by which the fleet knows this store, in hex; it is made at its first use."""
        path = os.path.join(self.folder, "store")
        with self.changing():
            try:
                return uuid.UUID(read_file(path).decode().strip()).hex
            except (FileNotFoundError, ValueError):
                write_atomically(path, (made := uuid.uuid4().hex).encode())
                return made

    # the order of items

    def _end(self) -> tuple[int, str]:
        row = self._db.execute("SELECT seq, mark FROM items ORDER BY seq DESC LIMIT 1").fetchone()
        return (int(row[0]), str(row[1])) if row else self.base

    @property
    def base(self) -> tuple[int, str]:
        """Return number and mark of the last item that is known to be announced."""
        return int(self.fact("base_seq") or 0), self.fact("base_mark")

    def put(self, kind: str, name: str, size: int, *, first: int = 0, last: int = 0, at: int = 0) -> None:
        """Add an item, within `changing`."""
        seq, mark = self._end()
        text = dumps([mark, kind, name, first, last, at, size])
        mark = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
        row = (seq + 1, kind, name, first, last, at, size, time.time(), mark)
        self._db.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def items(self, after: int, limit: int) -> list[QueueItem]:
        """Return items after a number, in order."""
        rows = self._db.execute("SELECT * FROM items WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit))
        return [QueueItem._make(row) for row in rows.fetchall()]

    def drop(self, item: QueueItem) -> None:
        """Remove an item that can never be shipped; later ones stay as they are."""
        self._db.execute("DELETE FROM items WHERE seq = ?", (item.seq,))

    def agrees(self, seq: int, mark: str) -> bool:
        """Take the fleet's cursor: items up to it are announced. Return False if the cursor is not of this queue."""
        with self.changing():
            if (seq, mark) == self.base:
                return True
            if self._db.execute("SELECT 1 FROM items WHERE seq = ? AND mark = ?", (seq, mark)).fetchone() is None:
                return False
            self.put_fact("base_seq", str(seq))
            self.put_fact("base_mark", mark)
            self._judge_later(
                "SELECT DISTINCT iif(kind = 'log', 'session', 'buffer'), name, ?, ? FROM items WHERE seq <= ?", (seq,)
            )
            self._db.execute("DELETE FROM items WHERE seq <= ?", (seq,))
        return True

    def start_anew(self, seq: int, mark: str) -> None:
        """Forget all but the store's id, so that everything is queued again, after the fleet's cursor."""
        with self.changing():
            for table in ("items", "known", "left_out", "logs", "told_facts", "places", "frame_hashes"):
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - one of these
            self.put_fact("base_seq", str(seq))
            self.put_fact("base_mark", mark)

    def waiting(self, after: int = 0) -> Backlog:
        """Return how far behind the fleet is, as far as this machine knows, if all up to a number is announced."""
        row = self._db.execute(
            "SELECT COALESCE(SUM(kind = 'buffer'), 0), COUNT(*), COALESCE(SUM(bytes), 0), COALESCE(MIN(queued), 0)"
            " FROM items WHERE seq > ?",
            (after,),
        ).fetchone()
        return Backlog(*row)

    # what is known of the store

    def known(self) -> dict[str, tuple[str, float]]:
        """Return (digest, created) for every buffer that was queued, by name."""
        return {name: (digest, created) for name, digest, created in self._db.execute("SELECT * FROM known")}

    def put_known(self, name: str, digest: str, created: float) -> None:
        """Note in which state a buffer was queued last."""
        self._db.execute("INSERT OR REPLACE INTO known VALUES (?, ?, ?)", (name, digest, created))

    def forget_gone(self, names: Iterable[str], digest: str) -> None:
        """Forget buffers that are gone from the store, in a state of which nothing waits to be announced."""
        self._db.executemany(
            "DELETE FROM known WHERE name = ? AND digest = ?"
            " AND NOT EXISTS (SELECT 1 FROM items WHERE items.name = known.name)",
            [(name, digest) for name in names],
        )

    def left_out(self) -> dict[str, tuple[str, int]]:
        """Return (reason, bytes) for every buffer that is not shipped, by name."""
        return {name: (why, size) for name, why, size in self._db.execute("SELECT * FROM left_out")}

    def leave_out(self, name: str, why: str, size: int) -> None:
        """Note that a buffer is not shipped."""
        self._db.execute("INSERT OR REPLACE INTO left_out VALUES (?, ?, ?)", (name, why, size))

    def take_in(self, name: str) -> None:
        """Note that a buffer is shipped after all, or gone."""
        self._db.execute("DELETE FROM left_out WHERE name = ?", (name,))

    def log_ends(self) -> dict[str, LogEnd]:
        """Return how far each session's log is queued."""
        return {session: LogEnd(*rest) for session, *rest in self._db.execute("SELECT * FROM logs")}

    def put_log_end(self, session: str, end: LogEnd) -> None:
        """Note how far a log is queued."""
        self._db.execute("INSERT OR REPLACE INTO logs VALUES (?, ?, ?, ?)", (session, *end))

    # what is still to be judged of what was shipped

    def _judge_later(self, which: str, parameters: tuple[Any, ...] = ()) -> None:
        """Note what is to be judged; ``which`` selects kinds and names, with two times."""
        self._db.execute(
            f"INSERT INTO unjudged {which} ON CONFLICT (kind, name) DO UPDATE SET last = excluded.last",
            (now := time.time(), now, *parameters),
        )

    def judge_anew_by(self, rules: str) -> None:
        """Note all that was ever shipped as to be judged, unless it was judged by these rules."""
        if self.fact("judged by") != rules:
            with self.changing():
                self._judge_later("SELECT 'buffer', name, ?, ? FROM known WHERE true")
                self._judge_later("SELECT 'session', session, ?, ? FROM logs WHERE true")
                self.put_fact("judged by", rules)

    def unjudged(self, kind: str, most: int, before: float = math.inf) -> list[str]:
        """Return names of what is to be judged, the longest waiting first.

        Args:
            kind: ``buffer`` or ``session``.
            most: most names to return; -1 for all.
            before: only what has waited since then, seconds since the epoch.
        """
        rows = self._db.execute(
            "SELECT name FROM unjudged WHERE kind = ? AND since <= ? ORDER BY since LIMIT ?", (kind, before, most)
        )
        return [row[0] for row in rows.fetchall()]

    def note_judged(self, kind: str, names: Iterable[str], began: float = math.inf) -> None:
        """Note what was judged, from a time on; what was shipped since is to be judged again."""
        with self.changing():
            for name in names:
                self._db.execute("DELETE FROM unjudged WHERE kind = ? AND name = ? AND last <= ?", (kind, name, began))
                self._db.execute("UPDATE unjudged SET since = last WHERE kind = ? AND name = ?", (kind, name))

    def told_facts(self, after: str, upto: str) -> tuple[dict[str, str], set[str]]:
        """Return (digests of the facts that the fleet has, by name; shipped buffers) of names in a range, inclusive."""
        given = after, upto
        told = self._db.execute("SELECT name, digest FROM told_facts WHERE name > ? AND name <= ?", given)
        shipped = self._db.execute(
            "SELECT name FROM known WHERE name > ? AND name <= ?"
            " AND NOT EXISTS (SELECT 1 FROM items WHERE items.name = known.name AND kind = 'buffer')",
            given,
        )
        return dict(told.fetchall()), {name for (name,) in shipped}

    def note_told_facts(self, digests: Mapping[str, str]) -> None:
        """Note which facts the fleet has now; an empty digest says that it has none any more."""
        with self.changing():
            self._db.executemany("DELETE FROM told_facts WHERE name = ?", [(name,) for name in digests])
            self._db.executemany(
                "INSERT INTO told_facts VALUES (?, ?)", [(name, told) for name, told in digests.items() if told]
            )

    # where bytes are that were shipped

    def place(self, sha256: str) -> tuple[list[str], list[Any]] | None:
        """Return (packs, frames) of a stream that was announced in recent days; None if it is to be shipped."""
        row = self._db.execute(
            "SELECT packs, frames FROM places WHERE sha256 = ? AND time > ?",
            (sha256, time.time() - _DEDUPLICATED_SECONDS),
        ).fetchone()
        return (loads(row[0]), loads(row[1])) if row else None

    def forget_places(self, hashes: Iterable[str]) -> None:
        """Forget streams that are being purged, so that they are shipped again if they are captured again."""
        given = [(sha256,) for sha256 in hashes]
        for table in ("places", "frame_hashes"):
            self._db.executemany(f"DELETE FROM {table} WHERE sha256 = ?", given)  # noqa: S608 - one of these

    def frame_hashes(self, sha256: str) -> str:
        """Return the hashes of such a stream's frames, as its row has them; empty if they are not known."""
        row = self._db.execute("SELECT hashes FROM frame_hashes WHERE sha256 = ?", (sha256,)).fetchone()
        return str(row[0]) if row else ""

    def put_places(self, places: Sequence[tuple[str, list[str], list[Any]]], frame_hashes: Mapping[str, str]) -> None:
        """Note where streams are that were just announced, as (SHA-256, packs, frames), and the hashes of frames."""
        now = time.time()
        with self.changing():
            for table in ("places", "frame_hashes"):
                self._db.execute(f"DELETE FROM {table} WHERE time < ?", (now - _DEDUPLICATED_SECONDS,))  # noqa: S608
            self._db.executemany(
                "INSERT OR REPLACE INTO frame_hashes VALUES (?, ?, ?)",  # of these frames and no others
                [(sha256, now, frame_hashes.get(sha256, "")) for sha256, _, frames in places if len(frames) > 1],
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?)",
                [(sha256, now, dumps(packs), dumps(frames)) for sha256, packs, frames in places],
            )
