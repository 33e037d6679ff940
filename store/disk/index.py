"""The index: buffers in order of use and hashes, and with them sessions and views, for lists and look-ups.

Records in, records out. A cache: all of it can be rebuilt from the folders and the audit files.
"""

import contextlib
import json
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sightline.disk.database import Database
from sightline.disk.json_encoder import encoder
from sightline.disk.view_index import ViewIndex
from sightline.named_tuple import NamedTuple
from sightline.project import Project
from sightline.records import Buffer, gaps_from, stream_info, with_read_note, written_note

_COLUMNS = (
    "name, kind, state, command, cwd, session, created, ended, accessed, exit_code, signal, timed_out, label, pinned, "
    "artifact, note, origin, streams, partial, gaps, project"
)
_IN_PROJECT = "(project = ? OR (project = '' AND cwd IN (SELECT value FROM json_each(?))))"
_NEXT_USE = "(SELECT COALESCE(MAX(used), 0) + 1 FROM buffers)"
"""Order of use is a counter, not a clock: a clock that jumps back must not make a used buffer look old."""


_UPDATES = ", ".join(
    f"{column} = MAX({column}, excluded.{column})" if column == "accessed" else f"{column} = excluded.{column}"
    for column in (*_COLUMNS.split(", ")[1:], "bytes")
)
_MARKS = ", ".join("?" * len(_COLUMNS.split(", ")))
_VALUES = f"INTO buffers ({_COLUMNS}, bytes, used) VALUES ({_MARKS}, ?, {_NEXT_USE})"
_PUT = f"INSERT {_VALUES} ON CONFLICT (name) DO UPDATE SET {_UPDATES}"
_ADD = f"INSERT OR IGNORE {_VALUES}"
"""Twice as fast: what can never fail half-way, SQLite need not be able to take back."""

_PUT_HASH = "INSERT OR IGNORE INTO hashes (sha256, buffer, stream, bytes) VALUES (?, ?, ?, ?)"


class Totals(NamedTuple):
    """Buffers that have bytes in the store, and how many bytes."""

    buffers: int
    bytes: int


class Listed(NamedTuple):
    """A buffer in the list, with its place in the order of use (larger is more recent)."""

    buffer: Buffer
    used: int


class Brief(NamedTuple):
    """What lists of any length are ordered and filtered by.

    Attributes:
        name: of the buffer.
        used: its place in the order of use.
        command: its first characters.
        label: a person's or a caller's name for it.
        session: name of the session that captured it.
        state: ``running``, ``sealed``, ``interrupted`` or ``evicted``.
        bytes: of all streams.
        lines: of all streams.
        created: when the capture began, seconds since the epoch.
        ended: when it ended, None while it runs.
        exit_code: None where there is none.
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


class Index(ViewIndex):
    """All statements that the store needs.

    Attributes:
        unwritable: why nothing can be written to it, empty where it can.
        identity: which file it is; None for one in memory.
        compared: when the audit files were last compared with it, by the monotonic clock.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.unwritable = database.unwritable
        self.identity = database.identity
        self.compared = float("-inf")

    def transaction(self) -> contextlib.AbstractContextManager[None]:
        """Several changes as one; nests."""
        return self._db.writing()

    def hurried(self) -> contextlib.AbstractContextManager[None]:
        """For what must not wait long for others that write: then SQLite's error says that the index is locked."""
        return self._db.hurried()

    def data_version(self) -> int:
        """A number that changes when another process has written."""
        return self._db.data_version()

    def is_sound(self) -> bool:
        """Whether SQLite finds nothing wrong with the file."""
        return self._db.rows("PRAGMA quick_check(1)") == [("ok",)]

    def try_all(self) -> None:
        """Ask every table for what is wanted of it. Raises sqlite3.DatabaseError where one has it no longer."""
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

    # buffers

    def put_buffer(self, buffer: Buffer) -> None:
        """Insert a record as the most recently used, or replace it where it stands."""
        with self._db.writing():
            self._db.execute(_PUT, _values(buffer))
            for row in _hashes(buffer):
                self._db.execute(_PUT_HASH, row)

    def add_buffers(self, buffers: Sequence[Buffer]) -> None:
        """Insert records of new names in their order, each as the most recently used; one that is known stays."""
        with self._db.writing():
            self._db.execute_all(_ADD, map(_values, buffers))
            self._db.execute_all(_PUT_HASH, sorted(row for buffer in buffers for row in _hashes(buffer)))

    def expect_many(self) -> None:
        """Make ready for thousands of records."""
        self._db.expect_many()

    def buffer(self, name: str) -> Buffer | None:
        """The record of a name."""
        return self._first("WHERE name = ?", name)

    def _first(self, rest: str, *parameters: Any) -> Buffer | None:
        row = self._db.row(f"SELECT {_COLUMNS} FROM buffers {rest}", parameters)  # noqa: S608
        return _buffer(row) if row else None

    def with_prefix(self, prefix: str, limit: int = 3) -> list[Buffer]:
        """Records whose name begins with a prefix."""
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM buffers WHERE name >= ? AND name < ? ORDER BY name LIMIT ?",  # noqa: S608
            (prefix, prefix + "g", limit),
        )
        return [_buffer(row) for row in rows]

    def newest_command(self, back: int, session: str | None) -> Buffer | None:
        """The newest output of a command or tool, or one further back; of a session, or of the store where it is None.

        What went into a command's filters is not meant; one that was imported ran some other day.
        """
        rest = (
            "kind <> 'file' AND origin = '' AND artifact = '' AND state <> 'evicted'"
            " ORDER BY number DESC LIMIT 1 OFFSET ?"
        )
        if session is None:
            return self._first(f"WHERE {rest}", back)
        return self._first(f"WHERE session = ? AND {rest}", session, back)

    def newest_file(self, path: str) -> Buffer | None:
        """The newest version of a file."""
        return self._first(
            "WHERE kind = 'file' AND command = ? AND state = 'sealed' ORDER BY number DESC LIMIT 1", path
        )

    def previous_run(self, buffer: Buffer, *, anywhere: bool = False) -> Buffer | None:
        """The newest buffer of the same command that is older, in the same folder or, ``anywhere``, in any.

        What went into a command's filters is compared with its like.
        """
        return self._first(
            "WHERE kind = ? AND command = ? AND (origin = '') = ? AND state <> 'evicted' AND (cwd = ? OR ?)"
            " AND number < (SELECT number FROM buffers WHERE name = ?) ORDER BY number DESC LIMIT 1",
            buffer.kind,
            buffer.command,
            buffer.origin == "",
            buffer.cwd,
            anywhere,
            buffer.name,
        )

    def of_artifact(self, artifact: str) -> Buffer | None:
        """The buffer that was imported under an id."""
        return self._first("WHERE artifact = ? AND artifact <> '' ORDER BY number DESC LIMIT 1", artifact)

    def known_artifacts(self, artifacts: Iterable[str]) -> set[str]:
        """Those of several ids that buffers were imported under."""
        return self._among("artifact FROM buffers WHERE artifact <> '' AND artifact", artifacts)

    def known_hashes(self, hashes: Iterable[str]) -> set[str]:
        """Those of several hashes that streams have."""
        return self._among("sha256 FROM hashes WHERE sha256", hashes)

    def _among(self, column: str, values: Iterable[str]) -> set[str]:
        wanted = json.dumps(list(values))
        return {row[0] for row in self._db.rows(f"SELECT {column} IN (SELECT value FROM json_each(?))", (wanted,))}  # noqa: S608

    def place(self, imported: Mapping[str, float]) -> None:
        """Put imported buffers where they would stand in the order of use, had they been used last when they ended.

        Either those above the lowest of them get new places at the top, where who looks only at the latest finds them,
        or those below the highest get new ones at the bottom: whichever are fewer.

        Args:
            imported: when each ended, by name, seconds since the epoch; of equal times the first comes first.
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
        """Give buffers numbers, by name, their order of capture and of use alike; one that is taken is left out."""
        self._db.execute_all(
            "UPDATE OR IGNORE buffers SET used = ?, number = ? WHERE name = ?",
            ((place, place, name) for name, place in places.items()),
        )

    def artifacts(self, session: str) -> set[str]:
        """Ids under which a session's buffers were imported; of those that were evicted, too."""
        rows = self._db.rows("SELECT artifact FROM buffers WHERE session = ? AND artifact <> ''", (session,))
        return {row[0] for row in rows}

    def with_hash(self, prefix: str, limit: int = 8) -> list[tuple[str, str, str]]:
        """(sha256, buffer, stream) of streams whose hash begins with a prefix, newest buffers first."""
        rows = self._db.rows(
            "SELECT sha256, buffer, stream FROM hashes JOIN buffers ON name = buffer"
            " WHERE sha256 >= ? AND sha256 < ? AND state <> 'evicted' ORDER BY buffers.number DESC LIMIT ?",
            (prefix, prefix + "g", limit),
        )
        return [(row[0], row[1], row[2]) for row in rows]

    def listed(
        self,
        limit: int,
        *,
        before: int | None = None,
        session: str | None = None,
        project: Project | None = None,
    ) -> list[Listed]:
        """Buffers, most recently used first; with ``before`` only those used less recently than that place."""
        where, parameters = ["1"], list[Any]()
        if before is not None:
            where.append("used < ?")
            parameters.append(before)
        if session is not None:
            where.append("session = ?")
            parameters.append(session)
        if project is not None:
            where.append(_IN_PROJECT)
            parameters += [project.root, json.dumps(project.folders)]
        rows = self._db.rows(
            f"SELECT {_COLUMNS}, used FROM buffers WHERE {' AND '.join(where)} ORDER BY used DESC LIMIT ?",  # noqa: S608
            (*parameters, limit),
        )
        return [Listed(_buffer(row[:-1]), row[-1]) for row in rows]

    def folders(self) -> list[tuple[str, str, int]]:
        """(project, working directory, how many buffers), for each two that go together; the project may be empty."""
        rows = self._db.rows(
            "SELECT project, cwd, COUNT(*) FROM buffers WHERE state <> 'evicted' GROUP BY project, cwd"
        )
        return [(project, cwd, count) for project, cwd, count in rows]

    def briefs(self, limit: int, *, before: int | None, characters: int, project: Project | None = None) -> list[Brief]:
        """As `listed`, without what costs: ten times as many in the same time; of each command the first characters."""
        within = _IN_PROJECT if project else "1"
        parameters = [project.root, json.dumps(project.folders)] if project else []
        rows = self._db.rows(
            "SELECT name, used, substr(command, 1, ?), label, session, state, bytes,"  # noqa: S608
            " (SELECT COALESCE(SUM(json_extract(value, '$[1]')), 0) FROM json_each(streams)),"
            " created, ended, exit_code, timed_out FROM buffers"
            f" WHERE used < ? AND {within} ORDER BY used DESC LIMIT ?",
            (characters, (1 << 62) if before is None else before, *parameters, limit),
        )
        return [Brief._make(row) for row in rows]

    def least_used(self, limit: int) -> list[Buffer]:
        """Buffers that may be evicted, least recently used first."""
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM buffers WHERE state IN ('sealed', 'interrupted') AND NOT pinned"  # noqa: S608
            " ORDER BY used LIMIT ?",
            (limit,),
        )
        return [_buffer(row) for row in rows]

    def of_session(self, session: str) -> list[Buffer]:
        """What a session captured, oldest first; what was evicted, too."""
        rows = self._db.rows(f"SELECT {_COLUMNS} FROM buffers WHERE session = ? ORDER BY number", (session,))  # noqa: S608
        return [_buffer(row) for row in rows]

    def running(self) -> list[Buffer]:
        """Buffers whose capture has not ended as far as the index knows."""
        rows = self._db.rows(f"SELECT {_COLUMNS} FROM buffers WHERE state = 'running'")  # noqa: S608
        return [_buffer(row) for row in rows]

    def unanswered(self) -> list[Buffer]:
        """Commands and calls of tools that go on, or broke off, before anybody was shown anything of them."""
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM buffers WHERE state IN ('running', 'interrupted')"  # noqa: S608
            " AND kind IN ('cmd', 'tool') AND origin = '' AND NOT EXISTS (SELECT 1 FROM views_of WHERE buffer = name)"
        )
        return [_buffer(row) for row in rows]

    def unfiltered(self) -> dict[str, str]:
        """By name of a command's buffer, the name of the one that has what went into the command's filters."""
        return dict(self._db.rows("SELECT origin, name FROM buffers WHERE kind = 'cmd' AND origin <> ''"))

    def knows(self, name: str) -> bool:
        """Whether there is a record of a name, be it of an evicted buffer."""
        return self._db.row("SELECT 1 FROM buffers WHERE name = ?", (name,)) is not None

    def has(self, name: str) -> bool:
        """Whether there is a record of a buffer whose bytes are there."""
        return self._db.row("SELECT 1 FROM buffers WHERE name = ? AND state <> 'evicted'", (name,)) is not None

    def numbered_after(self, number: int, limit: int) -> list[tuple[int, Buffer]]:
        """(number, record) in the order of capture, from the one that follows a number on; of evicted ones, too."""
        rows = self._db.rows(
            f"SELECT number, {_COLUMNS} FROM buffers WHERE number > ? ORDER BY number LIMIT ?",  # noqa: S608
            (number, limit),
        )
        return [(row[0], _buffer(row[1:])) for row in rows]

    def hashes_of(self, name: str) -> dict[str, str] | None:
        """The hashes of a buffer's streams, by stream; None where it was evicted or there is no record of it."""
        row = self._db.row("SELECT streams FROM buffers WHERE name = ? AND state <> 'evicted'", (name,))
        return {stream: str(info[2]) for stream, info in json.loads(row[0]).items()} if row else None

    def touch(self, name: str, time: float) -> None:
        """A use: the buffer becomes the most recently used."""
        self._db.execute(f"UPDATE buffers SET accessed = ?, used = {_NEXT_USE} WHERE name = ?", (time, name))  # noqa: S608

    def forget_buffer(self, name: str) -> None:
        """Remove a record altogether."""
        with self._db.writing():
            self._db.execute("DELETE FROM buffers WHERE name = ?", (name,))
            self.forget_hashes(name)

    def forget_buffers(self) -> None:
        """Remove all records altogether."""
        with self._db.writing():
            for table in ("derived", "hashes", "buffers"):
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - one of these

    def forget_hashes(self, name: str) -> None:
        """The buffer's bytes are gone: it can neither be found nor shared by content, and what they told goes, too."""
        self._db.execute("DELETE FROM derived WHERE buffer = ?", (name,))
        self._db.execute("DELETE FROM hashes WHERE buffer = ?", (name,))

    def totals(self) -> Totals:
        """What the limits are about, kept by triggers: no count at each capture."""
        row = self._db.row("SELECT buffers, bytes FROM totals")
        return Totals(*row) if row else Totals(0, 0)

    # commands that wait for a confirmation

    def put_ack(self, token: str, request: str, session: str, created: float, keep_after: float) -> None:
        """Keep a request until it is confirmed; those older than a time are forgotten."""
        with self._db.writing():
            self._db.execute("DELETE FROM acks WHERE created < ?", (keep_after,))
            self._db.execute(
                "INSERT INTO acks (token, request, session, created) VALUES (?, ?, ?, ?)",
                (token, request, session, created),
            )

    def take_ack(self, token: str, keep_after: float) -> str | None:
        """The request behind a token, once."""
        with self._db.writing():
            row = self._db.row("SELECT request FROM acks WHERE token = ? AND created >= ?", (token, keep_after))
            self._db.execute("DELETE FROM acks WHERE token = ?", (token,))
        return str(row[0]) if row else None


def _values(buffer: Buffer) -> tuple[Any, ...]:
    streams = _dumps({name: list(info) for name, info in buffer.streams.items()})
    fields = buffer._replace(note=written_note(buffer))[: Buffer._fields.index("streams")]
    gaps = _dumps([list(gap) for gap in buffer.gaps])
    return (*fields, streams, buffer.partial, gaps, buffer.project, buffer.bytes)


_dumps = encoder()


def _hashes(buffer: Buffer) -> Iterator[tuple[str, str, str, int]]:
    return ((info.sha256, buffer.name, stream, info.bytes) for stream, info in buffer.streams.items() if info.sha256)


def _buffer(row: Iterable[Any]) -> Buffer:
    *fields, streams, partial, gaps, project = row
    try:
        infos = {name: stream_info(info) for name, info in json.loads(streams).items()}
        missing = gaps_from(json.loads(gaps)) if gaps != "[]" else ()
        buffer = with_read_note(Buffer._make((*fields, infos, partial, missing, project)))
    except (ValueError, TypeError, AttributeError) as error:
        raise sqlite3.DatabaseError(f"the record of {fields[0]} is malformed") from error
    return buffer._replace(timed_out=bool(buffer.timed_out), pinned=bool(buffer.pinned))
