"""Reads rows of the index: buffers by use, by name and by hash, and with them all about the log and the verdict."""

from sightline.base.project import FolderCount, Project
from sightline.base.records import Buffer, gaps_from, stream_info, with_read_note
from sightline.disk.record_check import checked, checked_size, is_stream
from sightline.disk.sqlite import sqlite3
from sightline.disk.verdict_rows import VerdictRows, in_project
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Iterable

COLUMNS = (
    "name, kind, state, command, cwd, session, created, ended, accessed, exit_code, signal, timed_out, label, pinned, "
    "artifact, note, origin, streams, partial, gaps, project, seals"
)

Row = tuple[Any, ...]
"""The values of a record for its row in the index."""


class StoreTotals(NamedTuple):
    """The number of buffers that have bytes in the store, and their bytes."""

    buffers: int
    bytes: int


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
        project: folder of the project that it was made in; empty where there is none.
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
    project: str = ""


class Rows(VerdictRows):
    """What is read of the index: buffers here, and above them what is known of the log, and of outputs and sessions.

    Times are seconds since the epoch.
    """

    def buffer(self, name: str) -> Buffer | None:
        """Return the record of a name; None if there is none."""
        return self._first("WHERE name = ?", name)

    def buffers(self, names: Iterable[str]) -> dict[str, Buffer]:
        """Return the records of several names, by name, as far as there are any."""
        wanted = f"SELECT {COLUMNS} FROM buffers WHERE name IN (SELECT value FROM json_each(?))"  # noqa: S608
        return {one.name: one for one in self._each(_buffer, self._db.rows(wanted, (dumps(list(names)),)))}

    def _first(self, rest: str, *parameters: Any) -> Buffer | None:
        row = self._db.row(f"SELECT {COLUMNS} FROM buffers {rest}", parameters)  # noqa: S608
        return self._one(_buffer, row)

    def with_prefix(self, prefix: str, limit: int = 3) -> list[Buffer]:
        """Return records whose name begins with a prefix."""
        rows = self._db.rows(
            f"SELECT {COLUMNS} FROM buffers WHERE name >= ? AND name < ? ORDER BY name LIMIT ?",  # noqa: S608
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

    def previous_runs(self, names: Iterable[str]) -> dict[str, str]:
        """Return by the names of buffers those of their previous runs, of the same host; all in one pass.

        A run in the same folder is preferred to one in any other, as `previous_run` is asked for them.
        """
        run = "PARTITION BY kind, command, origin = '', substr(name, 1, instr(name, '/'))"
        rows = self._db.rows(
            "WITH wanted AS MATERIALIZED (SELECT value AS name FROM json_each(?))"  # noqa: S608
            " SELECT name, earlier FROM (SELECT name,"
            f" COALESCE(lag(name) OVER ({run}, cwd ORDER BY number), lag(name) OVER ({run} ORDER BY number)) AS earlier"
            " FROM buffers WHERE state <> 'evicted'"
            " AND command IN (SELECT command FROM buffers WHERE name IN (SELECT name FROM wanted)))"
            " WHERE earlier IS NOT NULL AND name IN (SELECT name FROM wanted)",
            (dumps(list(names)),),
        )
        return dict(rows)

    def later_run(self, buffer: Buffer) -> Buffer | None:
        """Return the newest later buffer of the same command and session, in the same folder; None for none."""
        return self._first(
            "WHERE +kind = ? AND substr(command, 1, 64) = ? AND +command = ? AND (origin = '') = ?"
            " AND state <> 'evicted' AND cwd = ? AND session = ?"
            " AND number > (SELECT number FROM buffers WHERE name = ?) ORDER BY number DESC LIMIT 1",
            buffer.kind,
            buffer.command[:64],
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

    def contents_of(self, buffers: Iterable[str], least: int) -> dict[tuple[str, str], str]:
        """Return the hashes of the streams of some buffers, by name and stream, that have so many bytes at least."""
        rows = self._db.rows(
            "SELECT buffer, stream, sha256 FROM hashes WHERE buffer IN (SELECT value FROM json_each(?)) AND bytes >= ?",
            (dumps(list(buffers)), least),
        )
        return {(str(buffer), str(stream)): str(sha256) for buffer, stream, sha256 in rows}

    def known_hashes(self, hashes: Iterable[str]) -> set[str]:
        """Return those of several hashes that streams have."""
        return self._among("sha256 FROM hashes WHERE sha256", hashes)

    def _among(self, column: str, values: Iterable[str]) -> set[str]:
        wanted = dumps(list(values))
        return {row[0] for row in self._db.rows(f"SELECT {column} IN (SELECT value FROM json_each(?))", (wanted,))}  # noqa: S608

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
            f"SELECT {COLUMNS}, used FROM buffers WHERE {' AND '.join(where)} ORDER BY used DESC LIMIT ?",  # noqa: S608
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
                " created, ended, exit_code, timed_out, project FROM buffers"
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
            f"SELECT {COLUMNS} FROM buffers WHERE state IN ('sealed', 'interrupted') AND NOT pinned"  # noqa: S608
            " ORDER BY used LIMIT ?",
            (limit,),
        )
        return self._each(_buffer, rows)

    def of_session(self, session: str) -> list[Buffer]:
        """Return what a session captured, oldest first, with evicted buffers."""
        rows = self._db.rows(f"SELECT {COLUMNS} FROM buffers WHERE session = ? ORDER BY number", (session,))  # noqa: S608
        return self._each(_buffer, rows)

    def running(self) -> list[Buffer]:
        """Return buffers whose capture has not ended, as far as the index knows."""
        rows = self._db.rows(f"SELECT {COLUMNS} FROM buffers WHERE state = 'running'")  # noqa: S608
        return self._each(_buffer, rows)

    def unanswered(self, session: str | None = None) -> list[Buffer]:
        """Return commands and calls of tools that run, or broke off, without any view of them; or only a session's."""
        of_session, parameters = ("session = ? AND ", (session,)) if session is not None else ("", ())
        rows = self._db.rows(
            f"SELECT {COLUMNS} FROM buffers WHERE {of_session}state IN ('running', 'interrupted')"  # noqa: S608
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
            f"SELECT number, {COLUMNS} FROM buffers WHERE number > ? ORDER BY number LIMIT ?",  # noqa: S608
            (number, limit),
        )
        return self._each(lambda row: (row[0], _buffer(row[1:])), rows)

    def hashes_of(self, name: str) -> dict[str, str] | None:
        """Return the hashes of a buffer's streams, by stream; None if it was evicted or has no record."""
        row = self._db.row("SELECT streams FROM buffers WHERE name = ? AND state <> 'evicted'", (name,))
        return {stream: str(info[2]) for stream, info in loads(row[0]).items()} if row else None

    def totals(self) -> StoreTotals:
        """Return the totals for the limits, which triggers keep, so that no capture has to count."""
        row = self._db.row("SELECT buffers, bytes FROM totals")
        return self._one(_totals, row) or StoreTotals(0, 0)


def _totals(row: Row) -> StoreTotals:
    return StoreTotals(checked_size(row[0]), checked_size(row[1]))


def _facts(row: Row) -> ListFacts:
    facts = ListFacts._make(row)
    times = (facts.created, facts.created if facts.ended is None else facts.ended)
    texts = facts.name, facts.command, facts.label, facts.session, facts.state, facts.project
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("not a text")
    if not all(isinstance(time, float) for time in times) or not isinstance(facts.exit_code, int | None):
        raise ValueError("not a time or an exit code")
    checked_size(facts.bytes)
    checked_size(facts.lines)
    return facts._replace(used=checked_size(facts.used, signed=True))


def _facts_of(item: Listed, characters: int) -> ListFacts:
    one = item.buffer
    rest = (one.label, one.session, one.state, one.bytes, one.lines, one.created, one.ended, one.exit_code)
    return ListFacts(one.name, item.used, one.command[:characters], *rest, one.timed_out, one.project)


def _buffer(row: Iterable[Any]) -> Buffer:
    *fields, streams, partial, gaps, project, seals = row
    infos = {name: stream_info(info) for name, info in loads(streams).items()}
    missing = gaps_from(loads(gaps)) if gaps != "[]" else ()
    buffer = checked(Buffer._make((*fields, infos, partial, missing, project, seals)), on_hosts=True)
    return with_read_note(buffer)._replace(timed_out=bool(buffer.timed_out), pinned=bool(buffer.pinned))
