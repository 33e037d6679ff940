"""The index: buffers by use and by hash, sessions, and views, for lists and look-ups.

It takes records; `rows` returns them. It is a cache: all of it can be rebuilt from the folders and the audit files.
"""

import sys

from sightline.base.errors import SightlineError
from sightline.base.records import Buffer, IndexedView, Note, Session, View, written_note
from sightline.disk.database import Database
from sightline.disk.errors import is_busy
from sightline.disk.log_rows import SESSION_COLUMNS, ViewRow, record_of
from sightline.disk.rows import COLUMNS, Row, Rows
from sightline.disk.sqlite import sqlite3
from sightline.light.json_text import dumps, encoder
from sightline.light.late_imports import late_modules
from sightline.light.library import AbstractContextManager, deque
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Callable, Iterable, Iterator, Mapping, Sequence

with late_modules(globals()):
    from sightline.disk import (
        price_rows,  # as few
        request_rows,  # 1.7 ms, and few starts read usage
    )

_NEXT_USE = "(SELECT COALESCE(MAX(used), 0) + 1 FROM buffers)"
"""The order of use is a counter rather than a clock: a clock that jumps back would make a used buffer look old."""


_UPDATES = ", ".join(
    f"{column} = MAX({column}, excluded.{column})" if column == "accessed" else f"{column} = excluded.{column}"
    for column in (*COLUMNS.split(", ")[1:], "bytes")
)
_MARKS = ", ".join("?" * len(COLUMNS.split(", ")))
_VALUES = f"INTO buffers ({COLUMNS}, bytes, used) VALUES ({_MARKS}, ?, {_NEXT_USE})"
_PUT = f"INSERT {_VALUES} ON CONFLICT (name) DO UPDATE SET {_UPDATES}"
_ADD = f"INSERT OR IGNORE {_VALUES}"
"""This is twice as fast, because SQLite prepares no way back for a statement that cannot fail half-way."""

_FILL = (
    f"INSERT OR IGNORE INTO buffers (number, {COLUMNS}, bytes, used)"  # noqa: S608
    f" SELECT rowid, {COLUMNS}, bytes, rowid FROM beside.sorted WHERE rowid BETWEEN ? AND ?"
)
_SORT_HASHES = (
    "CREATE TABLE beside.hashed AS SELECT json_extract(value, '$[2]') AS sha256, name, key, json_extract(value, '$[0]')"
    " AS bytes FROM beside.sorted, json_each(streams) WHERE sha256 <> '' AND state <> 'evicted' ORDER BY sha256"
)
_FILL_HASHES = (
    "INSERT OR IGNORE INTO hashes (sha256, buffer, stream, bytes)"
    " SELECT sha256, name, key, bytes FROM beside.hashed WHERE rowid BETWEEN ? AND ?"
)
_FILLED_AT_ONCE = 20_000  # records: a third of a second, which others wait
_HASHES_AT_ONCE = 30_000  # as long
"""Names and second keys fall on pages all over: with 5,000 records at once, a million wrote 8 GB instead of 5."""

_MOST_WAITING = 256  # changes for a locked index, each of which may hold a marker's descriptor
_PUT_VIEW = (
    "INSERT OR IGNORE INTO views (number, session, entry, time, verb, record, offset, length)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_ADVANCE = (
    "INSERT INTO logs (session, bytes) VALUES (?, ?)"
    " ON CONFLICT (session) DO UPDATE SET bytes = ? WHERE bytes IN (?, ?)"
)
_NEXT = "SELECT length FROM views JOIN logs USING (session) WHERE session = ? AND entry = ? AND offset = bytes"
_PUT_SESSION = f"INSERT OR REPLACE INTO sessions ({SESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
_PUT_VIEW_OF = "INSERT OR IGNORE INTO views_of (buffer, view) VALUES (?, last_insert_rowid())"
_PUT_VIEWS_OF = "INSERT OR IGNORE INTO views_of (buffer, view) VALUES (?, ?)"
_PUT_HASH = "INSERT OR IGNORE INTO hashes (sha256, buffer, stream, bytes) VALUES (?, ?, ?, ?)"


class GatheringFailed(SightlineError):
    """There is no room for a temporary file."""


class IndexChange(NamedTuple):
    """A change of the index that may wait, since it can be made from what lies in the folders and logs, too.

    Attributes:
        write: makes it, within a transaction.
        end: called after that; gets False if the change was not made, so that somebody else has to.
    """

    write: "Callable[[Index], None]"
    end: Callable[[bool], None] = lambda _: None


class Index(Rows):
    """All statements of the store: those that read, which it has as `Rows`, and those that write.

    Attributes:
        unwritable: why nothing can be written to it; empty if it can.
        identity: which file it is; None for a database in memory.
        compared: when the audit files were last compared with it, by the monotonic clock.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.unwritable = database.unwritable
        self.identity = database.identity
        self.compared = float("-inf")
        self._was_busy = False

    @property
    def requests(self) -> "request_rows.RequestRows":
        """Statements on requests to models."""
        return request_rows.RequestRows(self._db)

    @property
    def output_prices(self) -> "price_rows.PriceRows":
        """Statements on what outputs cost."""
        return price_rows.PriceRows(self._db)

    def transaction(self) -> AbstractContextManager[None]:
        """Make several changes one; transactions nest."""
        return self._db.writing()

    def hurried(self) -> AbstractContextManager[None]:
        """Give up soon if others write for long; SQLite's error then says that the index is locked."""
        return self._db.hurried()

    def take_in(self, waiting: "deque[IndexChange]") -> None:
        """Make the changes that wait, in order and all at once, or give them up if that fails.

        Within a transaction of this thread they wait on, and so they do if others write for long. After that, others
        are hardly waited for until they have ended, because each use of the index tries again.
        """
        taken, is_made = list[IndexChange](), False
        try:
            with self._db.hurried(very=self._was_busy), self._db.writing_apart() as apart:
                while apart and waiting:
                    taken.append(waiting.popleft())
                    taken[-1].write(self)
            is_made, self._was_busy = True, False
        except (sqlite3.Error, OSError) as error:
            self._was_busy = is_busy(error)
            waiting.extendleft(reversed(taken))
            taken.clear()
            while len(waiting) > (_MOST_WAITING if self._was_busy else 0):
                taken.append(waiting.popleft())
        finally:
            for change in taken:
                change.end(is_made)

    def data_version(self) -> int:
        """A number that changes when another process has written."""
        return self._db.data_version()

    def is_sound(self) -> bool:
        """Return whether SQLite finds nothing wrong with the file."""
        return self._db.rows("PRAGMA quick_check(1)") == [("ok",)]

    def try_all(self) -> None:
        """Query every table. Raises sqlite3.DatabaseError if one is damaged."""
        self.listed(1)
        self.with_hash("0", 1)
        self.sessions()
        self.views(limit=1)
        self.logs()
        self.notes(buffer="")
        self.derived("", "")
        self.requests.known([""])
        self.origins()
        self.output_prices.made_from()
        self._db.rows("SELECT token, request, session, created FROM acks LIMIT 0")

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def leave(self) -> None:
        """Leave the database open, since the process ends now; see `Database.leave`."""
        self._db.leave()

    # buffers

    def put_buffer(self, buffer: Buffer) -> None:
        """Insert a record as the most recently used, or replace it in its place."""
        with self._db.writing():
            self._db.execute(_PUT, row_of(buffer))
            for row in _hashes(buffer):
                self._db.execute(_PUT_HASH, row)

    def add_buffers(self, buffers: Sequence[Buffer]) -> None:
        """Insert records with new names in their order, each as the most recently used; a known one stays as it is."""
        with self._db.writing():
            self._db.execute_all(_ADD, map(row_of, buffers))
            self._db.execute_all(_PUT_HASH, sorted(row for buffer in buffers for row in _hashes(buffer)))

    def fill(self, rows: "Iterable[Row]", *, in_memory: bool = False) -> int:
        """Insert records in the order in which they began, below all that others put meanwhile, which stays.

        Others wait for one of several short transactions at most, however many records there are.

        Args:
            rows: made by `row_of`, of names that are not known; they may come slowly.
            in_memory: whether they are sorted there, and not in a temporary file.

        Returns:
            How many there were.

        Raises:
            GatheringFailed: there is no room for the temporary file.
        """
        self._db.expect_many(is_all=True)
        with self._db.beside(in_memory=in_memory):
            try:
                self._db.execute(f"CREATE TABLE beside.gathered AS SELECT {COLUMNS}, bytes FROM buffers WHERE 0")  # noqa: S608
                self._db.gather(f"INSERT INTO beside.gathered VALUES ({_MARKS}, ?)", rows)  # noqa: S608
                self._db.execute("CREATE TABLE beside.sorted AS SELECT * FROM beside.gathered ORDER BY created, rowid")
                self._db.execute("DROP TABLE beside.gathered")
                self._db.execute(_SORT_HASHES)  # in their own order, each page of theirs is written once or twice
            except sqlite3.OperationalError as error:
                raise GatheringFailed(f"records could not be sorted: {error}") from error
            count = int((self._db.row("SELECT COUNT(*) FROM beside.sorted") or (0,))[0])
            self._raise_all(count)
            hashes = int((self._db.row("SELECT COUNT(*) FROM beside.hashed") or (0,))[0])
            # The highest first, since what others put comes above them.
            for statement, last, many in ((_FILL, count, _FILLED_AT_ONCE), (_FILL_HASHES, hashes, _HASHES_AT_ONCE)):
                for end in range(last, 0, -many):
                    with self._db.writing():
                        self._db.execute(statement, (end - many + 1, end))
        return count

    def _raise_all(self, by: int) -> None:
        """Make room for so many records below those that are there."""
        with self._db.writing():
            highest = self._db.row("SELECT MAX(MAX(number), MAX(used)) FROM buffers")
            if highest and highest[0] is not None:
                by += highest[0]  # further than the highest of them, so that no two have one number on the way
                self._db.execute("UPDATE buffers SET number = number + ?, used = used + ?", (by, by))

    def expect_many(self) -> None:
        """Prepare for thousands of records."""
        self._db.expect_many()

    def expect_calls(self) -> None:
        """Prepare for many small changes, each by itself."""
        self._db.checkpoint_seldom()

    def place(self, imported: Mapping[str, float]) -> None:
        """Move imported buffers in the order of use to where they would stand if last used when they ended.

        Either all above the lowest get new places at the top, where readers of the latest find them, or all below
        the highest get new ones at the bottom, whichever are fewer.

        Args:
            imported: when each ended, by name, in seconds since the epoch; equal times keep the given order.
        """
        with self._db.writing():
            rows = self._db.rows(
                "SELECT name, used, CASE WHEN artifact = '' THEN accessed ELSE COALESCE(ended, created) END"
                " FROM buffers ORDER BY used"
            )
            waiting = sorted(imported.items(), key=lambda item: item[1])[::-1]
            there = {row[0] for row in rows}
            order: list[str] = []
            for name, _, when in rows:
                if name in imported:
                    continue
                while waiting and waiting[-1][1] < when:
                    order.append(waiting.pop()[0])
                order.append(name)
            order += [name for name, _ in reversed(waiting)]
            order = [name for name in order if name in there]
            lowest = next((at for at, row in enumerate(rows) if row[0] != order[at]), len(rows))
            highest = next((at for at in range(len(order), 0, -1) if order[at - 1] in imported), 0)
            if highest < len(order) - lowest:
                moved = zip(order[:highest], range(rows[0][1] - highest, rows[0][1]), strict=True)
            else:
                moved = zip(order[lowest:], range(rows[-1][1] + 1, sys.maxsize) if rows else (), strict=False)
            self._db.execute_all("UPDATE buffers SET used = ? WHERE name = ?", ((place, name) for name, place in moved))

    def put_in_order(self, places: Mapping[str, int]) -> None:
        """Number buffers by name, for the order of capture and of use alike; a number that is taken is skipped."""
        self._db.execute_all(
            "UPDATE OR IGNORE buffers SET used = ?, number = ? WHERE name = ?",
            ((place, place, name) for name, place in places.items()),
        )

    def touch(self, name: str, time: float) -> None:
        """Make the buffer the most recently used."""
        self._db.execute(f"UPDATE buffers SET accessed = ?, used = {_NEXT_USE} WHERE name = ?", (time, name))  # noqa: S608

    def touch_by_view(self, name: str, time: float) -> None:
        """Do the same for a view of the past, which does not set back the last use: an import came after its views."""
        set_use = f"UPDATE buffers SET accessed = MAX(accessed, ?), used = {_NEXT_USE}"  # noqa: S608
        self._db.execute(f"{set_use} WHERE name = ?", (time, name))

    def forget_buffer(self, name: str) -> None:
        """Remove a record."""
        with self._db.writing():
            self._db.execute("DELETE FROM buffers WHERE name = ?", (name,))
            self.forget_hashes(name)

    def forget_acks(self, command: str) -> None:
        """Forget the requests to confirm a command."""
        self._db.execute("DELETE FROM acks WHERE instr(request, ?)", (dumps(command)[1:-1],))

    def forget_session_acks(self, session: str) -> None:
        """Forget what a session was asked to confirm."""
        self._db.execute("DELETE FROM acks WHERE session = ?", (session,))

    def scrub(self) -> None:
        """Leave nothing in its files of what was removed; see `Database.scrub`."""
        self._db.scrub()

    def forget_buffers(self) -> None:
        """Remove all records."""
        with self._db.writing():
            for table in ("derived", "hashes", "buffers"):
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - one of these

    def forget_hashes(self, name: str) -> None:
        """Remove the hashes and all derived facts of a buffer whose bytes are gone, so it is not found by content."""
        self._db.execute("DELETE FROM derived WHERE buffer = ?", (name,))
        self._db.execute("DELETE FROM hashes WHERE buffer = ?", (name,))
        self.forget_session_verdicts(name)

    # commands that wait for a confirmation

    # sessions, views and notes

    def put_session(self, session: Session) -> None:
        """Insert or replace a session."""
        self._db.execute(_PUT_SESSION, session)

    def put_origin(self, session: str, entry: dict[str, Any]) -> None:
        """Insert from which session one came; what is known stays as it is.

        Args:
            session: the session.
            entry: the entry of its log.
        """
        self._db.execute("INSERT OR IGNORE INTO origins VALUES (?, ?)", (session, dumps(entry)))

    def put_view(self, indexed: IndexedView) -> None:
        """Insert a view's record; one that is there already stays as it is."""
        self.put_row(ViewRow.of(indexed))

    def put_row(self, row: ViewRow) -> None:
        """Insert a view's row; one that is there already stays as it is."""
        *columns, refs = row
        with self._db.writing():
            self.advance(row.session, row.number, row.offset, row.length)
            if self._db.execute(_PUT_VIEW, (None, *columns)):
                for name in dict.fromkeys(refs):
                    self._db.execute(_PUT_VIEW_OF, (name,))

    def put_views(self, rows: Sequence[ViewRow], *, first: int | None = None) -> None:
        """Insert new views in their order.

        Args:
            rows: the views.
            first: number of the first; by default the one after the newest.
        """
        with self._db.writing():
            for row in _stretches(rows):
                self.advance(row.session, row.number, row.offset, row.length)
            first = self.newest_view() + 1 if first is None else first
            self._db.execute_all(_PUT_VIEW, ((at, *row[:-1]) for at, row in enumerate(rows, first)))
            self._db.execute_all(
                _PUT_VIEWS_OF, sorted({(name, at) for at, row in enumerate(rows, first) for name in row.refs})
            )

    def advance(self, session: str, number: int, offset: int, length: int) -> None:
        """Mark an entry of a session's file as indexed; it counts once all before it are, see `logs`.

        Args:
            session: the session.
            number: number of the entry; the header, number 0, goes with the first.
            offset: byte at which its line begins.
            length: bytes of its line.
        """
        is_first, end = number == 1, offset + length
        if not self._db.execute(_ADVANCE, (session, end if is_first else 0, end, offset, 0 if is_first else offset)):
            return
        # Replies that are given at once do not come in the order of the log, so those behind it may be there already.
        while row := self._db.row(_NEXT, (session, number + 1)):
            number, end = number + 1, end + row[0]
            self.set_log(session, end)

    def set_log(self, session: str, size: int) -> None:
        """Note the byte up to which a session's file has been indexed."""
        self._db.execute("INSERT OR REPLACE INTO logs (session, bytes) VALUES (?, ?)", (session, size))

    def amend_view(self, view: View) -> None:
        """Replace a view's record."""
        self._db.execute(
            "UPDATE views SET record = ? WHERE session = ? AND entry = ?", (record_of(view), view.session, view.number)
        )

    def move_view(self, session: str, number: int, offset: int, length: int) -> bool:
        """Note a view's new place in the log; return False if there is no such view."""
        statement = "UPDATE views SET offset = ?, length = ? WHERE session = ? AND entry = ?"
        return self._db.execute(statement, (offset, length, session, number)) > 0

    def empty_views(self, buffer: str, command: str) -> None:
        """Remove the requests of views that are about a buffer, or of those that asked for its command."""
        found = self._db.rows(
            "SELECT session, entry FROM views WHERE number IN (SELECT view FROM views_of WHERE buffer = ?)"
            " OR (? <> '' AND instr(record, ?))",
            (buffer, command, dumps(dumps(command, ensure_ascii=False), ensure_ascii=False)[1:-1]),
        )
        self._db.execute("DELETE FROM session_verdicts")  # they may quote it
        self.output_prices.forget()  # they name its program
        for session, entry in found:
            if known := self.view(session, entry):
                self.amend_view(known.view._replace(request="{}", text_sha256=""))

    def forget_views(self, session: str) -> None:
        """Remove a session's views, so that they can be indexed anew."""
        with self._db.writing():
            self._db.execute(
                "DELETE FROM views_of WHERE view IN (SELECT number FROM views WHERE session = ?)", (session,)
            )
            self._db.execute("DELETE FROM views WHERE session = ?", (session,))
            self._db.execute("DELETE FROM logs WHERE session = ?", (session,))
            self._db.execute("DELETE FROM session_verdicts WHERE session = ?", (session,))

    def put_note(self, note: Note, buffer: str) -> None:
        """Insert or replace a note on a buffer."""
        session, _, entry = note.id.rpartition(":")
        self._db.execute(
            "INSERT OR REPLACE INTO notes (session, entry, buffer, record) VALUES (?, ?, ?, ?)",
            (session, int(entry), buffer, dumps(note._asdict(), ensure_ascii=False)),
        )

    def forget_notes(self, session: str) -> None:
        """Remove a session's notes, so that they can be indexed anew."""
        self._db.execute("DELETE FROM notes WHERE session = ?", (session,))

    def set_views_stale(self, stale: bool) -> None:
        """Mark the index as filled from the folders, and whether views must be indexed anew from audit files."""
        self._db.execute("UPDATE totals SET views_stale = ?", (stale,))

    # commands that wait for a confirmation

    def put_ack(self, token: str, request: str, session: str, created: float, keep_after: float) -> None:
        """Keep a request until it is confirmed, and forget those older than a time."""
        with self._db.writing():
            self._db.execute("DELETE FROM acks WHERE created < ?", (keep_after,))
            self._db.execute(
                "INSERT INTO acks (token, request, session, created) VALUES (?, ?, ?, ?)",
                (token, request, session, created),
            )

    def take_ack(self, token: str, keep_after: float) -> str | None:
        """Return the request of a token, once."""
        with self._db.writing():
            row = self._db.row("SELECT request FROM acks WHERE token = ? AND created >= ?", (token, keep_after))
            self._db.execute("DELETE FROM acks WHERE token = ?", (token,))
        return str(row[0]) if row else None


_STREAMS = Buffer._fields.index("streams")


def row_of(buffer: Buffer) -> Row:
    """Return the row of a record."""
    streams = _dumps({name: list(info) for name, info in buffer.streams.items()})
    gaps = _dumps([list(gap) for gap in buffer.gaps]) if buffer.gaps else "[]"
    if (note := written_note(buffer)) != buffer.note:
        buffer = buffer._replace(note=note)
    return (*buffer[:_STREAMS], streams, buffer.partial, gaps, buffer.project, buffer.seals, buffer.bytes)


_dumps = encoder()


def _hashes(buffer: Buffer) -> Iterator[tuple[str, str, str, int]]:
    return ((info.sha256, buffer.name, stream, info.bytes) for stream, info in buffer.streams.items() if info.sha256)


def _stretches(rows: Iterable[ViewRow]) -> Iterator[ViewRow]:
    """Yield the first of each run of consecutive views in one file, with the bytes of the whole run."""
    run: ViewRow | None = None
    for one in rows:
        if run and run.session == one.session and run.offset + run.length == one.offset:
            run = run._replace(length=run.length + one.length)
            continue
        if run:
            yield run
        run = one
    if run:
        yield run
