"""The index: buffers by use and by hash, sessions, and views, for lists and look-ups.

It takes and returns records. It is a cache: all of it can be rebuilt from the folders and the audit files.
"""

import sys

from sightline.base.errors import SightlineError
from sightline.base.project import FolderCount, Project
from sightline.base.records import Buffer, gaps_from, stream_info, with_read_note, written_note
from sightline.disk.database import Database
from sightline.disk.errors import is_busy
from sightline.disk.record_check import checked, checked_size, is_stream
from sightline.disk.sqlite import sqlite3
from sightline.disk.verdict_index import VerdictIndex, in_project
from sightline.light.json_text import dumps, encoder, loads
from sightline.light.library import AbstractContextManager, deque
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Callable, Iterable, Iterator, Mapping, Sequence

_COLUMNS = (
    "name, kind, state, command, cwd, session, created, ended, accessed, exit_code, signal, timed_out, label, pinned, "
    "artifact, note, origin, streams, partial, gaps, project, seals"
)
_NEXT_USE = "(SELECT COALESCE(MAX(used), 0) + 1 FROM buffers)"
"""The order of use is a counter rather than a clock: a clock that jumps back would make a used buffer look old."""


_UPDATES = ", ".join(
    f"{column} = MAX({column}, excluded.{column})" if column == "accessed" else f"{column} = excluded.{column}"
    for column in (*_COLUMNS.split(", ")[1:], "bytes")
)
_MARKS = ", ".join("?" * len(_COLUMNS.split(", ")))
_VALUES = f"INTO buffers ({_COLUMNS}, bytes, used) VALUES ({_MARKS}, ?, {_NEXT_USE})"
_PUT = f"INSERT {_VALUES} ON CONFLICT (name) DO UPDATE SET {_UPDATES}"
_ADD = f"INSERT OR IGNORE {_VALUES}"
"""This is twice as fast, because SQLite prepares no way back for a statement that cannot fail half-way."""

_FILL = (
    f"INSERT OR IGNORE INTO buffers (number, {_COLUMNS}, bytes, used)"  # noqa: S608
    f" SELECT rowid, {_COLUMNS}, bytes, rowid FROM beside.sorted WHERE rowid BETWEEN ? AND ?"
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
_PUT_HASH = "INSERT OR IGNORE INTO hashes (sha256, buffer, stream, bytes) VALUES (?, ?, ?, ?)"


Row = tuple[Any, ...]
"""The values of a record for its row in the index."""


class GatheringFailed(SightlineError):
    """There is no room for a temporary file."""


class StoreTotals(NamedTuple):
    """The number of buffers that have bytes in the store, and their bytes."""

    buffers: int
    bytes: int


class IndexChange(NamedTuple):
    """A change of the index that may wait, since it can be made from what lies in the folders and logs, too.

    Attributes:
        write: makes it, within a transaction.
        end: called after that; gets False if the change was not made, so that somebody else has to.
    """

    write: "Callable[[Index], None]"
    end: Callable[[bool], None] = lambda _: None


class Listed(NamedTuple):
    """A buffer in the list, with its place in the order of use; larger is more recent."""

    buffer: Buffer
    used: int


class ListFacts(NamedTuple):
    """The facts by which lists of any length are ordered and filtered.

    Attributes:
        name: name of the buffer.
        used: its place in the order of use.
        command: the first characters of its command.
        label: a person's or a caller's name for it.
        session: name of the session that captured it.
        state: ``running``, ``sealed``, ``interrupted`` or ``evicted``.
        bytes: bytes of all streams.
        lines: lines of all streams.
        created: when the capture began, seconds since the epoch.
        ended: when it ended; None while it runs.
        exit_code: its exit code; None if there is none.
        timed_out: whether the time limit ended it.
    """

    name: str
    used: int
    command: str
    label: str
    session: str
    state: str
    bytes: int
    lines: int
    created: float
    ended: float | None
    exit_code: int | None
    timed_out: bool


class Index(VerdictIndex):
    """All statements of the store.

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
                self._db.execute(f"CREATE TABLE beside.gathered AS SELECT {_COLUMNS}, bytes FROM buffers WHERE 0")  # noqa: S608
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

    def buffer(self, name: str) -> Buffer | None:
        """Return the record of a name; None if there is none."""
        return self._first("WHERE name = ?", name)

    def buffers(self, names: Iterable[str]) -> dict[str, Buffer]:
        """Return the records of several names, by name, as far as there are any."""
        wanted = f"SELECT {_COLUMNS} FROM buffers WHERE name IN (SELECT value FROM json_each(?))"  # noqa: S608
        return {one.name: one for one in self._each(_buffer, self._db.rows(wanted, (dumps(list(names)),)))}

    def _first(self, rest: str, *parameters: Any) -> Buffer | None:
        row = self._db.row(f"SELECT {_COLUMNS} FROM buffers {rest}", parameters)  # noqa: S608
        return self._one(_buffer, row)

    def with_prefix(self, prefix: str, limit: int = 3) -> list[Buffer]:
        """Return records whose name begins with a prefix."""
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM buffers WHERE name >= ? AND name < ? ORDER BY name LIMIT ?",  # noqa: S608
            (prefix, prefix + "g", limit),
        )
        return self._each(_buffer, rows)

    def newest_command(self, back: int, session: str | None) -> Buffer | None:
        """Return the newest output of a command or tool, or one ``back`` from it; of a session, or for None of all.

        The input of a command's filters does not count, nor does an import, which ran some other day.
        """
        rest = (
            "kind <> 'file' AND origin = '' AND artifact = '' AND state <> 'evicted'"
            " ORDER BY number DESC LIMIT 1 OFFSET ?"
        )
        if session is None:
            return self._first(f"WHERE {rest}", back)
        return self._first(f"WHERE session = ? AND {rest}", session, back)

    def newest_file(self, path: str) -> Buffer | None:
        """Return the newest version of a file."""
        return self._first(
            "WHERE kind = 'file' AND command = ? AND state = 'sealed' ORDER BY number DESC LIMIT 1", path
        )

    def previous_run(self, buffer: Buffer, *, anywhere: bool = False) -> Buffer | None:
        """Return the newest older buffer of the same command, in the same folder or, with ``anywhere``, in any.

        The input of a command's filters is compared with its like. A buffer without a record is newer than all others.
        """
        return self._first(
            "WHERE kind = ? AND command = ? AND (origin = '') = ? AND state <> 'evicted' AND (cwd = ? OR ?)"
            " AND number < COALESCE((SELECT number FROM buffers WHERE name = ?), ?) ORDER BY number DESC LIMIT 1",
            buffer.kind,
            buffer.command,
            buffer.origin == "",
            buffer.cwd,
            anywhere,
            buffer.name,
            1 << 62,
        )

    def later_run(self, buffer: Buffer) -> Buffer | None:
        """Return the newest later buffer of the same command and session, in the same folder; None for none."""
        return self._first(
            "WHERE kind = ? AND command = ? AND (origin = '') = ? AND state <> 'evicted' AND cwd = ? AND session = ?"
            " AND number > (SELECT number FROM buffers WHERE name = ?) ORDER BY number DESC LIMIT 1",
            buffer.kind,
            buffer.command,
            buffer.origin == "",
            buffer.cwd,
            buffer.session,
            buffer.name,
        )

    def of_artifact(self, artifact: str) -> Buffer | None:
        """Return the buffer that was imported under an id."""
        return self._first("WHERE artifact = ? AND artifact <> '' ORDER BY number DESC LIMIT 1", artifact)

    def known_artifacts(self, artifacts: Iterable[str]) -> set[str]:
        """Return those of several ids under which buffers were imported."""
        return self._among("artifact FROM buffers WHERE artifact <> '' AND artifact", artifacts)

    def known_hashes(self, hashes: Iterable[str]) -> set[str]:
        """Return those of several hashes that streams have."""
        return self._among("sha256 FROM hashes WHERE sha256", hashes)

    def _among(self, column: str, values: Iterable[str]) -> set[str]:
        wanted = dumps(list(values))
        return {row[0] for row in self._db.rows(f"SELECT {column} IN (SELECT value FROM json_each(?))", (wanted,))}  # noqa: S608

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

    def artifacts(self, session: str) -> set[str]:
        """Return the ids under which a session's buffers were imported, with evicted ones."""
        rows = self._db.rows("SELECT artifact FROM buffers WHERE session = ? AND artifact <> ''", (session,))
        return {row[0] for row in rows}

    def with_hash(self, prefix: str, limit: int = 8) -> list[tuple[str, str, str]]:
        """Return (sha256, buffer, stream) for streams whose hash begins with a prefix, newest buffers first."""
        rows = self._db.rows(
            "SELECT sha256, buffer, stream FROM hashes JOIN buffers ON name = buffer"
            " WHERE sha256 >= ? AND sha256 < ? AND state <> 'evicted' ORDER BY buffers.number DESC LIMIT ?",
            (prefix, prefix + "g", limit),
        )
        return [(row[0], row[1], row[2]) for row in rows if is_stream(row[1], row[2])]  # they become paths

    def listed(
        self,
        limit: int,
        *,
        before: int | None = None,
        session: str | None = None,
        project: Project | None = None,
    ) -> list[Listed]:
        """Return buffers, most recently used first; with ``before``, those used less recently than that place."""
        where, parameters = ["1"], list[Any]()
        if before is not None:
            where.append("used < ?")
            parameters.append(before)
        if session is not None:
            where.append("session = ?")
            parameters.append(session)
        if project is not None:
            within, given = in_project(project)
            where.append(within)
            parameters += given
        rows = self._db.rows(
            f"SELECT {_COLUMNS}, used FROM buffers WHERE {' AND '.join(where)} ORDER BY used DESC LIMIT ?",  # noqa: S608
            (*parameters, limit),
        )
        return self._each(lambda row: Listed(_buffer(row[:-1]), checked_size(row[-1], signed=True)), rows)

    def folders(self) -> list[FolderCount]:
        """Return each folder in which buffers were made, for each project that they record and each of their hosts."""
        rows = self._db.rows(
            "SELECT project, cwd, COUNT(*), substr(name, 1, MAX(instr(name, '/') - 1, 0)) AS host"
            " FROM buffers WHERE state <> 'evicted' GROUP BY host, project, cwd"
        )
        return [FolderCount._make(row) for row in rows]

    def list_facts(
        self, limit: int, *, before: int | None, characters: int, project: Project | None = None
    ) -> list[ListFacts]:
        """List buffers as `listed` does, but only what is cheap: ten times as many in the same time."""
        within, parameters = in_project(project) if project else ("1", [])
        try:
            rows = self._db.rows(
                "SELECT name, used, substr(command, 1, ?), label, session, state, bytes,"  # noqa: S608
                " (SELECT COALESCE(SUM(json_extract(value, '$[1]')), 0) FROM json_each(streams)),"
                " created, ended, exit_code, timed_out FROM buffers"
                f" WHERE used < ? AND {within} ORDER BY used DESC LIMIT ?",
                (characters, (1 << 62) if before is None else before, *parameters, limit),
            )
        except sqlite3.OperationalError as error:
            if "JSON" not in str(error):
                raise
            listed = self.listed(limit, before=before, project=project)  # leaves out the row that has none
            return [_facts_of(item, characters) for item in listed]
        return self._each(_facts, rows)

    def last_use_before(self, time: float) -> float | None:
        """Return the last use of any buffer before a time; None if there is none."""
        row = self._db.row("SELECT MAX(accessed) FROM buffers WHERE accessed < ?", (time,))
        return row[0] if row and isinstance(row[0], float) else None

    def least_used(self, limit: int) -> list[Buffer]:
        """Return buffers that may be evicted, least recently used first."""
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM buffers WHERE state IN ('sealed', 'interrupted') AND NOT pinned"  # noqa: S608
            " ORDER BY used LIMIT ?",
            (limit,),
        )
        return self._each(_buffer, rows)

    def of_session(self, session: str) -> list[Buffer]:
        """Return what a session captured, oldest first, with evicted buffers."""
        rows = self._db.rows(f"SELECT {_COLUMNS} FROM buffers WHERE session = ? ORDER BY number", (session,))  # noqa: S608
        return self._each(_buffer, rows)

    def running(self) -> list[Buffer]:
        """Return buffers whose capture has not ended, as far as the index knows."""
        rows = self._db.rows(f"SELECT {_COLUMNS} FROM buffers WHERE state = 'running'")  # noqa: S608
        return self._each(_buffer, rows)

    def unanswered(self, session: str | None = None) -> list[Buffer]:
        """Return commands and calls of tools that run, or broke off, without any view of them; or only a session's."""
        of_session, parameters = ("session = ? AND ", (session,)) if session is not None else ("", ())
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM buffers WHERE {of_session}state IN ('running', 'interrupted')"  # noqa: S608
            " AND kind IN ('cmd', 'tool') AND origin = '' AND NOT EXISTS (SELECT 1 FROM views_of WHERE buffer = name)",
            parameters,
        )
        return self._each(_buffer, rows)

    def unfiltered(self) -> dict[str, str]:
        """Map the name of a command's buffer to the name of the buffer with its filters' input."""
        return dict(self._db.rows("SELECT origin, name FROM buffers WHERE kind = 'cmd' AND origin <> ''"))

    def knows(self, name: str) -> bool:
        """Return whether there is a record of a name, even of an evicted buffer."""
        return self._db.row("SELECT 1 FROM buffers WHERE name = ?", (name,)) is not None

    def has(self, name: str) -> bool:
        """Return whether there is a record of a buffer whose bytes exist."""
        return self._db.row("SELECT 1 FROM buffers WHERE name = ? AND state <> 'evicted'", (name,)) is not None

    def numbered_after(self, number: int, limit: int) -> list[tuple[int, Buffer]]:
        """Return (number, record) in the order of capture, after a number, with evicted buffers."""
        rows = self._db.rows(
            f"SELECT number, {_COLUMNS} FROM buffers WHERE number > ? ORDER BY number LIMIT ?",  # noqa: S608
            (number, limit),
        )
        return self._each(lambda row: (row[0], _buffer(row[1:])), rows)

    def hashes_of(self, name: str) -> dict[str, str] | None:
        """Return the hashes of a buffer's streams, by stream; None if it was evicted or has no record."""
        row = self._db.row("SELECT streams FROM buffers WHERE name = ? AND state <> 'evicted'", (name,))
        return {stream: str(info[2]) for stream, info in loads(row[0]).items()} if row else None

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

    def totals(self) -> StoreTotals:
        """Return the totals for the limits, which triggers keep, so that no capture has to count."""
        row = self._db.row("SELECT buffers, bytes FROM totals")
        return self._one(_totals, row) or StoreTotals(0, 0)

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


def _totals(row: Row) -> StoreTotals:
    return StoreTotals(checked_size(row[0]), checked_size(row[1]))


def _facts(row: Row) -> ListFacts:
    facts = ListFacts._make(row)
    times = (facts.created, facts.created if facts.ended is None else facts.ended)
    if not all(isinstance(text, str) for text in (facts.name, facts.command, facts.label, facts.session, facts.state)):
        raise ValueError("not a text")
    if not all(isinstance(time, float) for time in times) or not isinstance(facts.exit_code, int | None):
        raise ValueError("not a time or an exit code")
    checked_size(facts.bytes)
    checked_size(facts.lines)
    return facts._replace(used=checked_size(facts.used, signed=True))


def _facts_of(item: Listed, characters: int) -> ListFacts:
    one = item.buffer
    rest = (one.label, one.session, one.state, one.bytes, one.lines, one.created, one.ended, one.exit_code)
    return ListFacts(one.name, item.used, one.command[:characters], *rest, one.timed_out)


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


def _buffer(row: Iterable[Any]) -> Buffer:
    *fields, streams, partial, gaps, project, seals = row
    infos = {name: stream_info(info) for name, info in loads(streams).items()}
    missing = gaps_from(loads(gaps)) if gaps != "[]" else ()
    buffer = checked(Buffer._make((*fields, infos, partial, missing, project, seals)), on_hosts=True)
    return with_read_note(buffer)._replace(timed_out=bool(buffer.timed_out), pinned=bool(buffer.pinned))
