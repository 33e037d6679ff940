"""The mirror: keeps what was read of the shared database, as an index on this machine.

Lists, the audit and the inspector read it as they read any store's index, so that no key waits for the network, and
what was read once can be read without one. It has everything since some time, and older things asked for by name.
"""

import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sightline.audit.buffer_failures import HostJudgement, is_of_failures, keep_judgement
from sightline.base.private_files import make_folder, make_parents
from sightline.base.project import ALL, Scope
from sightline.base.records import (
    Buffer,
    IndexedView,
    Note,
    OutputFacts,
    ReplyTotals,
    Session,
    Tally,
    known_fields,
)
from sightline.base.refs import host_of, looks_like_a_ref, parse_ref
from sightline.disk.database import Database
from sightline.disk.index import Index
from sightline.disk.log_rows import ViewRow
from sightline.disk.sqlite import sqlite3
from sightline.fleet.reader.rows import EVENTS, REMARKS, GrantedHost, HostSpan, LogEntry, SharedRows, StoredOutput
from sightline.light.json_text import dumps, loads
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any
from sightline.log.log_index import index_others
from sightline.log.views import Other, traced_of, with_shown

if TYPE_CHECKING:
    from sightline.fleet.reader.host_findings import SuspectOutput
    from sightline.fleet.reader.told_facts import ToldFacts

_TABLES = """
CREATE TABLE IF NOT EXISTS shared_facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shared_hosts (id INTEGER PRIMARY KEY, record TEXT NOT NULL, cursor INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS shared_places (
    buffer TEXT PRIMARY KEY, packs TEXT NOT NULL, frames TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shared_frame_hashes (
    buffer TEXT NOT NULL, stream TEXT NOT NULL, hashes TEXT NOT NULL, PRIMARY KEY (buffer, stream)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shared_lines (
    session TEXT NOT NULL, number INTEGER NOT NULL, place TEXT NOT NULL, PRIMARY KEY (session, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shared_events (
    session TEXT NOT NULL, number INTEGER NOT NULL, place TEXT NOT NULL, PRIMARY KEY (session, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS shared_views_by_time ON views (time);
"""

# Each host is found by a step in the index of names: '0' is the character after '/'.
_HOSTS_THERE = """
WITH RECURSIVE one (name) AS (
    SELECT min(name) FROM buffers
    UNION ALL
    SELECT (SELECT min(later.name) FROM buffers AS later
        WHERE later.name > max(one.name, substr(one.name, 1, instr(one.name, '/') - 1) || '0'))
    FROM one WHERE one.name IS NOT NULL
)
SELECT substr(name, 1, instr(name, '/') - 1) FROM one WHERE name IS NOT NULL
"""

_FIRST_VIEW = 1 << 40
"""Views are numbered as they come. A view that is older, and was asked for by name, gets a lower number than this."""

_PLACE_BITS = 11
"""The order of outputs has microseconds, and then some bits of the name, for equal times."""

_ALL = -1
"""Stands for the number of a line among the events of a session if all of them are there."""

_INSTEAD = "instead of "
"""The prefix of the fact that says what replaces a pack."""

_BATCH = 2_000
_MOST_NAMED = 2_000  # outputs that are asked for by name at once
_UNKNOWN_SECONDS = 30.0  # after which what was not found is asked for again


class Reach(NamedTuple):
    """How far the mirror reaches.

    Attributes:
        hosts: number of hosts that the reader was granted.
        newest: when the fleet last heard from any of them, seconds since the epoch; 0 for never.
        behind: number of hosts that still had something to ship then.
        synced: when the mirror was last brought up to date, seconds since the epoch; 0 for never.
        since: the time since which it has everything; infinite if it has only what was asked for by name.
        ended: names of the hosts that were jobs of CI, run nothing, and have shipped everything.
    """

    hosts: int
    newest: float
    behind: int
    synced: float
    since: float
    ended: frozenset[str] = frozenset()


class Asks(NamedTuple):
    """Whom to ask for an output that is not here, for some, for the views of older ones, for what hosts found in some
    outputs, and for what they have told anew."""

    buffer: Callable[[str], bool] = lambda _: False
    buffers: Callable[[Sequence[str]], object] = lambda _: None
    views: Callable[[Sequence[str]], object] = lambda _: None
    judgements: Callable[[Sequence[str]], object] = lambda _: None
    renew: Callable[[], object] = lambda: None


class SharedIndex(Index):
    """The mirror's rows. It asks for unknown ones by name, if there is somebody to ask."""

    NEWEST_FIRST = "time DESC, number DESC"  # they are numbered as they come, which is another order
    OLDEST_FIRST = "time, number"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._ask = Asks()
        self._told: ToldFacts | None = None
        self._judged: set[str] = set()
        self._unknown: dict[str, float] = {}

    def ask(self, asks: "Asks", told: "ToldFacts") -> None:
        """Set whom to ask for what is not here."""
        self._ask, self._told = asks, told

    # what is older than the mirror counts by what its hosts have told

    def renew_copies(self) -> None:
        """Use what other connections, and hosts, have told since."""
        super().renew_copies()
        self._ask.renew()

    def _counted(self, scope: Scope) -> tuple[str, list[Any]]:
        where, parameters = super()._counted(scope)
        if self._told is None or not self._told.before:
            return where, parameters
        here = "(created >= ? OR verdicts.buffer IN (SELECT value FROM json_each(?)))"
        return f"{where} AND {here}", [*parameters, self._told.before, dumps(self._told.here)]

    def _older(self, scope: Scope) -> "ToldFacts | None":
        """Return whom to ask for what is older than the mirror, if a scope has any of it."""
        return self._told if self._told is not None and scope.since < self._told.before else None

    def tallies(self, rules: str, scope: Scope = ALL, by: str = "''") -> list[tuple[str, Tally]]:
        """Return sums as any index does, and those of older outputs."""
        older = self._older(scope)
        return [*super().tallies(rules, scope, by), *(older.tallies(scope, by) if older else ())]

    def with_flags(
        self,
        rules: str,
        any_of: int,
        scope: Scope = ALL,
        *,
        order: str = "created DESC, buffer DESC",
        limit: int = -1,
    ) -> list[tuple[str, OutputFacts]]:
        """Return names and facts as any index does, with those of older outputs at their place or behind the others."""
        found = super().with_flags(rules, any_of, scope, order=order, limit=limit)
        if (older := self._older(scope)) is None:
            return found
        told = older.with_flags(any_of, scope, order, limit)
        if 0 <= limit <= _MOST_NAMED:  # so few are read next
            self.buffers(names := [name for name, _ in told])
            self._ask.views(names)
        both = told + found if order.startswith("created, ") else found + told
        if order.partition(" ")[0] in OutputFacts._fields:
            both.sort(key=lambda one: getattr(one[1], order.partition(" ")[0]), reverse=True)
        return both if limit < 0 else both[:limit]

    def reply_totals(self, scope: Scope, unit: int, begun: Iterable[str] = ()) -> ReplyTotals:
        """Return sums as any index does, with those of older replies."""
        if (older := self._older(scope)) is None:
            return super().reply_totals(scope, unit, begun)
        here = super().reply_totals(scope._replace(since=older.before), unit, begun)
        return ReplyTotals(*map(sum, zip(here, older.reply_totals(scope, unit), strict=True)))

    def last_entries(self) -> dict[str, int]:
        """Return the number of each session's last line of any kind, since what an agent said counts, too."""
        return dict(self._db.rows("SELECT session, MAX(number) FROM shared_lines GROUP BY session"))

    def buffers(self, names: Iterable[str]) -> dict[str, Buffer]:
        """Return records as any index does; those that are not here are asked for first."""
        wanted = list(names)
        found = super().buffers(wanted)
        if self._told is None or not (missing := [name for name in wanted if name not in found and host_of(name)]):
            return found
        self._ask.buffers(missing)
        return found | super().buffers(missing)

    def buffer(self, name: str) -> Buffer | None:
        """Return the record of a name."""
        found = super().buffer(name)
        if found is not None or not host_of(name):
            return found
        if self._unknown.get(name, 0.0) > time.monotonic():
            return None
        if not self._ask.buffer(name):
            self._unknown[name] = time.monotonic() + _UNKNOWN_SECONDS
            return None
        return super().buffer(name)

    def views(
        self, *, buffer: str | None = None, session: str | None = None, since: float = 0.0, limit: int = -1
    ) -> list[IndexedView]:
        """Return views as any index does; those of an output that is older than the mirror are asked for first."""
        if buffer is not None:
            self._ask.views([buffer])
        return super().views(buffer=buffer, session=session, since=since, limit=limit)

    def views_about(self, buffers: Iterable[str]) -> list[tuple[str, IndexedView]]:
        """Return views as any index does; those of outputs that are older than the mirror are asked for first."""
        wanted = list(buffers)
        self._ask.views(wanted)
        return super().views_about(wanted)

    def views_of(self, buffer: str, *, session: str | None = None) -> Iterator[IndexedView]:
        """Yield views as any index does; those of an output that is older than the mirror are asked for first."""
        self._ask.views([buffer])
        yield from super().views_of(buffer, session=session)

    def derived(self, buffer: str, key: str) -> str | None:
        """Return what any index does; hosts are asked what they found in an output before it is examined here.

        With it they are asked about many others, the newest first, since those are mostly wanted next.
        """
        found = super().derived(buffer, key)
        if found is not None or not is_of_failures(key) or buffer in self._judged:
            return found
        rows = self._db.rows(
            "SELECT name FROM buffers WHERE kind = 'cmd' AND state IN ('sealed', 'interrupted')"
            " AND NOT EXISTS (SELECT 1 FROM derived WHERE buffer = name) ORDER BY number DESC"
        )
        names = [buffer, *(name for (name,) in rows if name != buffer and name not in self._judged)][:_MOST_NAMED]
        self._judged.update(names)
        self._ask.judgements(names)
        return super().derived(buffer, key)

    def previous_run(self, buffer: Buffer, *, anywhere: bool = False) -> Buffer | None:
        """Return the run before, on the same host; ``anywhere`` means any folder there."""
        row = self._db.row(
            "SELECT name FROM buffers WHERE kind = ? AND command = ? AND (origin = '') = ? AND state <> 'evicted'"
            " AND (cwd = ? OR ?) AND number < (SELECT number FROM buffers WHERE name = ?)"
            " AND substr(name, 1, ?) = ? ORDER BY number DESC LIMIT 1",
            (
                *(buffer.kind, buffer.command, buffer.origin == "", buffer.cwd, anywhere, buffer.name),
                *(len(host_of(buffer.name)) + 1, host_of(buffer.name) + "/"),
            ),
        )
        return super().buffer(row[0]) if row else None

    def named_like(self, own: str) -> list[str]:
        """Return up to three names, with their hosts, of outputs whose own name begins so."""
        rows = self._db.rows(
            "SELECT name FROM buffers WHERE substr(name, instr(name, '/') + 1, ?) = ? LIMIT 3", (len(own), own)
        )
        return [row[0] for row in rows]

    def newest_of_host(self, host: str, back: int) -> Buffer | None:
        """Return the newest output of a command or tool on a host, or one further back."""
        row = self._db.row(
            "SELECT name FROM buffers WHERE substr(name, 1, ?) = ? AND kind <> 'file' AND origin = ''"
            " AND artifact = '' AND state <> 'evicted' ORDER BY number DESC LIMIT 1 OFFSET ?",
            (len(host) + 1, host + "/", back),
        )
        return super().buffer(row[0]) if row else None


LetGo = Callable[[Sequence[Buffer], Sequence[str]], None]
Forget = Callable[[Sequence[str]], None]


class Mirror:
    """The mirror of one reader of one shared database. Threads may share it; one at a time brings it up to date.

    Attributes:
        index: its rows.
    """

    def __init__(self, folder: str, let_go: "LetGo", forget: "Forget") -> None:
        """Open the mirror, and make it if it is missing.

        Args:
            folder: folder of the mirror.
            let_go: gets outputs that their hosts have removed, and packs (SHA-256) from which something was purged, of
                which nothing may be kept here.
            forget: gets the names of outputs that their hosts have purged, before that counts as done.

        Raises:
            sqlite3.Error, OSError: it cannot be opened.
        """
        self._let_go, self._forget_shown = let_go, forget
        make_parents(os.path.join(folder, "index.sqlite"))
        make_folder(folder)
        self._db = Database(os.path.join(folder, "index.sqlite"))
        self.index = SharedIndex(self._db)
        if self.index.is_unfilled():
            self.index.set_views_stale(False)
        with self._db.writing():
            for statement in filter(str.strip, _TABLES.split(";")):
                self._db.execute(statement)

    def close(self) -> None:
        """Close it."""
        self.index.close()

    # facts

    def fact(self, key: str) -> str:
        """Return a fact that is kept beside the rows; empty if it is not."""
        row = self._db.row("SELECT value FROM shared_facts WHERE key = ?", (key,))
        return str(row[0]) if row else ""

    def put_fact(self, key: str, value: str) -> None:
        """Keep a fact."""
        self._db.execute("INSERT OR REPLACE INTO shared_facts VALUES (?, ?)", (key, value))

    @property
    def since(self) -> float:
        """The time since which it has everything, in seconds since the epoch; infinite if only names were asked for."""
        return float(self.fact("since") or "inf")

    def hosts(self) -> list[GrantedHost]:
        """The hosts that the reader was granted when it was last asked."""
        rows = self._db.rows("SELECT record FROM shared_hosts ORDER BY id")
        return [GrantedHost(*loads(row[0])) for row in rows]

    def reach(self) -> Reach:
        """How far it reaches."""
        hosts = self.hosts()
        return Reach(
            hosts=len(hosts),
            newest=max((host.seen for host in hosts), default=0.0),
            behind=sum(host.behind > 0 for host in hosts),
            synced=float(self.fact("synced") or 0.0),
            since=self.since,
            ended=frozenset(one.name for one in hosts if one.kind == "ci" and not one.behind) - self._busy_hosts(),
        )

    def _busy_hosts(self) -> set[str]:
        return {host_of(buffer.name) for buffer in self.index.running()}

    # where bytes are

    def places(self, buffer: str) -> tuple[list[str], dict[str, list[list[int]]]]:
        """Return (packs, frames by stream) of an output, as in `StoredOutput`; empty for an unknown one."""
        row = self._db.row("SELECT packs, frames FROM shared_places WHERE buffer = ?", (buffer,))
        return (loads(row[0]), loads(row[1])) if row else ([], {})

    def frame_hashes(self, buffer: str, stream: str = "") -> list[str]:
        """Return the hashes of the frames of a stream, as in `StoredOutput`, or of all streams; none if not known."""
        rows = self._db.rows(
            "SELECT hashes FROM shared_frame_hashes WHERE buffer = ? AND ? IN (stream, '')", (buffer, stream)
        )
        return [one for (hashes,) in rows for one in loads(hashes)]

    def line(self, session: str, number: int) -> tuple[str, int, int, int, int] | None:
        """Return where a line of a log is, as in `LogEntry`."""
        row = self._db.row("SELECT place FROM shared_lines WHERE session = ? AND number = ?", (session, number))
        return tuple(loads(row[0])) if row else None

    def events(self, session: str) -> list[tuple[str, int, int, int, int]] | None:
        """Return where the lines of a session's events are, as in `LogEntry`; None if not all of them are known."""
        rows = self._db.rows("SELECT number, place FROM shared_events WHERE session = ? ORDER BY number", (session,))
        if not rows or rows[0][0] != _ALL:
            return None
        return [tuple(loads(place)) for _, place in rows[1:]]

    # taking in

    def bring_up_to_date(self, rows: SharedRows, since: float) -> bool:
        """Take in what hosts have announced, and everything since a time; return whether any of it is new.

        Args:
            rows: the shared database.
            since: seconds since the epoch. Once everything since an earlier time is there, that stays so.
        """
        running = rows.running()  # before the hosts, so that what ends meanwhile is among what they announce
        remarks = rows.remarks()
        hosts = rows.hosts()
        cursors = dict(self._db.rows("SELECT id, cursor FROM shared_hosts"))
        is_new = self.keep_to(hosts)
        before = self.since
        if since < before:
            self.put_fact("since", "inf")  # until everything is here
            older = {host.id: (0, cursors[host.id]) for host in hosts if cursors.get(host.id)}
            if older and before < float("inf"):
                is_new |= self._take(rows, HostSpan(older, since, before), older=True)
        newer = {
            host.id: (cursors.get(host.id, 0), host.shipped) for host in hosts if host.shipped > cursors.get(host.id, 0)
        }
        if before == float("inf"):
            newer = {host.id: (0, host.shipped) for host in hosts}
        if newer:
            is_new |= self._take(rows, HostSpan(newer, min(since, before)), on_top=before < float("inf"))
            self._take_changes(rows, HostSpan(newer, 0.0))
        self._take_replaced(rows)
        with self._db.writing():
            self._db.execute_all(
                "INSERT OR REPLACE INTO shared_hosts VALUES (?, ?, ?)",
                [(host.id, dumps(host), host.shipped) for host in hosts],
            )
            self.put_fact("since", repr(min(since, before)))
            self.put_fact("synced", repr(time.time()))
            is_new |= self._put_running(running)
            is_new |= self._put_remarks(hosts, remarks)
        return is_new

    def take_in(self, stored: Sequence[StoredOutput]) -> None:
        """Take in outputs that were asked for."""
        for batch in _batches(stored):
            self._put(batch)

    def take_in_suspects(self, suspects: "Iterable[SuspectOutput]") -> "Iterator[SuspectOutput]":
        """Take in outputs that an audit has to look at, with what their hosts found in them; yield them.

        What a host says in a wrong form is dropped.
        """
        for batch in _batches(suspects):
            self._put([one.stored for one in batch])
            self._put_changed([one.stored.buffer for one in batch if one.has_changed])
            with self._db.writing():
                taken = [
                    one
                    if one.judgement and keep_judgement(self.index, one.stored.buffer, one.judgement)
                    else one._replace(judgement=None)
                    for one in batch
                ]
            yield from taken

    def take_in_judgements(self, told: Mapping[str, HostJudgement]) -> None:
        """Take in what hosts found in outputs that are here, by name."""
        with self._db.writing():
            for name, judgement in told.items():
                buffer = Index.buffer(self.index, name)
                if buffer is not None and buffer.state != "evicted":
                    keep_judgement(self.index, buffer, judgement)

    def take_in_sessions(self, rows: SharedRows, entries: Iterable[LogEntry]) -> None:
        """Take in lines of sessions' logs that were asked for, and the outputs and events that they are about."""
        named, sessions = dict[str, None](), set[str]()
        for batch in _batches(entries):
            self._put_entries(batch, older=True)
            named |= dict.fromkeys(name for entry in batch for name in _refs(entry))
            sessions |= {entry.session for entry in batch}
        self._put_missing(rows, list(named))
        self._take_events(rows, sessions)
        self.tell_sessions(rows)

    def take_in_running(self, running: Sequence[Buffer]) -> None:
        """Take in all that runs now, and nothing else."""
        with self._db.writing():
            self._put_running(running)

    def take_in_entries(self, entries: Iterable[LogEntry]) -> None:
        """Take in lines of logs that were asked for, which may be older than the mirror."""
        for batch in _batches(entries):
            self._put_entries(batch, older=True)

    def keep_to(self, hosts: Sequence[GrantedHost]) -> bool:
        """Forget hosts other than these, which the reader may read; return whether there were any."""
        there = {str(host) for (host,) in self._db.rows(_HOSTS_THERE)} | {host.name for host in self.hosts()}
        gone = there - {host.name for host in hosts} - {""}
        for host in gone:
            self._forget(host)
        return bool(gone)

    def _forget(self, host: str) -> None:
        within = (len(host) + 1, host + "/")
        self._let_go(self._outputs_within(within), self._packs_within(within))
        ids = [(one.id,) for one in self.hosts() if one.name == host]
        with self._db.writing():
            self._db.execute_all("DELETE FROM shared_hosts WHERE id = ?", ids)
            for table, column in (
                ("buffers", "name"),
                ("hashes", "buffer"),
                ("derived", "buffer"),
                ("shared_places", "buffer"),
                ("shared_frame_hashes", "buffer"),
                ("shared_lines", "session"),
                ("shared_events", "session"),
                ("notes", "session"),
                ("sessions", "name"),
                ("views", "session"),
                ("logs", "session"),
                ("verdicts", "buffer"),
                ("session_verdicts", "session"),
                ("origins", "session"),
                ("priced_sessions", "session"),
                ("output_prices", "session"),
            ):
                self._db.execute(f"DELETE FROM {table} WHERE substr({column}, 1, ?) = ?", within)  # noqa: S608
            self._db.execute("DELETE FROM views_of WHERE view NOT IN (SELECT number FROM views)")

    def _outputs_within(self, within: tuple[int, str]) -> list[Buffer]:
        names = self._db.rows("SELECT name FROM buffers WHERE substr(name, 1, ?) = ?", within)
        return [buffer for (name,) in names if (buffer := Index.buffer(self.index, name))]

    def _packs_within(self, within: tuple[int, str]) -> list[str]:
        """Return the packs with what was read of a host, and those that replace them."""
        rows = self._db.rows(
            "SELECT pack.value FROM shared_places, json_each(packs) AS pack WHERE substr(buffer, 1, ?) = ?"
            " UNION SELECT json_extract(place, '$[0]') FROM shared_lines WHERE substr(session, 1, ?) = ?"
            " UNION SELECT json_extract(place, '$[0]') FROM shared_events"
            " WHERE number >= 0 AND substr(session, 1, ?) = ?",
            within * 3,
        )
        packs = [str(pack) for (pack,) in rows]
        return [*packs, *(stands for pack in packs if (stands := self.fact(_INSTEAD + pack)))]

    def _take(self, rows: SharedRows, span: HostSpan, *, older: bool = False, on_top: bool = False) -> bool:
        found = False
        for stored in _batches(rows.buffers(span)):
            found = True
            self._put(stored, on_top=on_top)
        missing, sessions = dict[str, None](), set[str]()
        for entries in _batches(rows.entries(span, newest_first=older)):
            found = True
            self._put_entries(entries[::-1] if older else entries, older=older)
            missing |= dict.fromkeys(name for entry in entries for name in _refs(entry))
            sessions |= {entry.session for entry in entries}
        self._put_missing(rows, list(missing))
        self._take_events(rows, sessions)
        if found:
            self.tell_sessions(rows)
        return found

    def _take_events(self, rows: SharedRows, sessions: set[str]) -> None:
        """Take in what happened in sessions, from their beginning on, so that nobody reads their whole logs for it."""
        known = {row[0] for row in self._db.rows("SELECT session FROM shared_events WHERE number = ?", (_ALL,))}
        new = sorted(sessions - known)
        for start in range(0, len(new), _MOST_NAMED):
            named = new[start : start + _MOST_NAMED]
            events = rows.events_of(named)
            with self._db.writing():
                self._put_events(events)
                self._db.execute_all(
                    "INSERT OR IGNORE INTO shared_events VALUES (?, -1, '')", [(one,) for one in named]
                )

    def _put_events(self, entries: Iterable[LogEntry]) -> None:
        self._db.execute_all(
            "INSERT OR IGNORE INTO shared_events VALUES (?, ?, ?)",
            [(entry.session, entry.number, dumps(entry.place)) for entry in entries if entry.kind in EVENTS],
        )

    def tell_sessions(self, rows: SharedRows) -> None:
        """Take in sessions of which only the names are known."""
        names = [row[0] for row in self._db.rows("SELECT name FROM sessions WHERE harness = '' AND cwd = ''")]
        told = rows.sessions(names) if names else {}
        with self._db.writing():
            for name, record in told.items():
                self._put_session(name, record)

    def know_sessions(self, rows: SharedRows, names: Sequence[str]) -> None:
        """Take in the records of sessions by their names, unless they are here."""
        with self._db.writing():
            self._put_sessions(dict.fromkeys(names, 0.0))
        self.tell_sessions(rows)

    def _put_missing(self, rows: SharedRows, names: Sequence[str]) -> None:
        """Take in outputs that views are about, and that are older than the mirror."""
        known = {
            row[0]
            for row in self._db.rows(
                "SELECT name FROM buffers WHERE name IN (SELECT value FROM json_each(?))", (dumps(names),)
            )
        }
        wanted = [name for name in names if name not in known]
        for start in range(0, len(wanted), _MOST_NAMED):
            self._put(rows.named(wanted[start : start + _MOST_NAMED]))

    def _take_changes(self, rows: SharedRows, span: HostSpan) -> None:
        known = [one for one in rows.changed(span) if Index.buffer(self.index, one.buffer.name)]
        purged = rows.purged(span)
        emptied = [
            one.buffer._replace(command="", label="") if one.buffer.name in purged else one.buffer for one in known
        ]
        with self._db.writing():
            for name in purged:
                if before := Index.buffer(self.index, name):
                    self.index.empty_views(name, before.command)
                self._db.execute("DELETE FROM shared_places WHERE buffer = ?", (name,))
                for note in self.index.notes(buffer=name):
                    self.index.put_note(note._replace(text=None), name)
        self._put_changed(emptied)
        if purged:
            self._scrub()
            self._forget_shown(purged)

    def _scrub(self) -> None:
        """Leave no traces of what was purged in the index' files, unless others of this machine keep reading them."""
        with suppress(sqlite3.OperationalError), self._db.hurried():
            self._db.scrub()

    def _put_changed(self, buffers: Sequence[Buffer]) -> None:
        """Replace the records of known outputs by these, and let go of what their hosts have removed."""
        gone = [buffer for buffer in buffers if buffer.state == "evicted"]
        with self._db.writing():
            for buffer in buffers:
                self.index.put_buffer(buffer)
            for buffer in gone:
                self.index.forget_hashes(buffer.name)
        self._let_go(gone, ())
        self._db.execute_all("DELETE FROM shared_frame_hashes WHERE buffer = ?", [(buffer.name,) for buffer in gone])

    def _take_replaced(self, rows: SharedRows) -> None:
        """Note the packs from which something was purged, because what was read of them before must not stay here."""
        since = float(self.fact("replaced") or 0.0)
        found = [row for row in rows.replaced(since) if self.fact(_INSTEAD + row[0]) != row[1]]
        if found:
            self._let_go((), [sha256 for sha256, _, _ in found])
            with self._db.writing():
                for sha256, instead, when in found:
                    self.put_fact(_INSTEAD + sha256, instead)
                    self.put_fact("replaced", repr(when))

    def note_replaced(self, pack: str, by: str) -> None:
        """Note that something was purged from a pack, and which pack replaces it."""
        self._let_go((), [pack])
        self.put_fact(_INSTEAD + pack, by)

    def stands_for(self, pack: str) -> str:
        """Return the hash of the pack that replaces one, as far as that is known here."""
        return self.fact(_INSTEAD + pack) or pack

    def _put(self, stored: Sequence[StoredOutput], *, on_top: bool = False) -> None:
        """Take in outputs in the order of their beginning; with ``on_top``, late ones stand above earlier ones."""
        ran = {buffer.name for buffer in self.index.running()}
        above = next((item.used for item in self.index.listed(1)), 0) if on_top else 0
        with self._db.writing():
            self.index.add_buffers([one.buffer for one in stored if one.buffer.name not in ran])
            for one in stored:
                if one.buffer.name in ran:
                    self.index.put_buffer(one.buffer)
            places = dict[str, int]()
            for one in sorted(stored, key=lambda one: (one.began, one.buffer.created)):
                if one.buffer.name not in ran:
                    places[one.buffer.name] = above = max(_order(one.buffer.name, one.began), above + 1)
            self.index.put_in_order(places)
            self._db.execute_all(
                "INSERT OR REPLACE INTO shared_places VALUES (?, ?, ?)",
                [(one.buffer.name, dumps(one.packs), dumps(one.frames)) for one in stored],
            )
            self._db.execute_all(
                "DELETE FROM shared_frame_hashes WHERE buffer = ?",
                [(one.buffer.name,) for one in stored if any(len(frames) > 1 for frames in one.frames.values())],
            )
            self._db.execute_all(
                "INSERT OR REPLACE INTO shared_frame_hashes VALUES (?, ?, ?)",
                [(one.buffer.name, stream, dumps(hashes)) for one in stored for stream, hashes in one.hashes.items()],
            )
            self._put_sessions({one.buffer.session: one.buffer.created for one in stored})

    def _put_running(self, running: Sequence[Buffer]) -> bool:
        before = {buffer.name: buffer for buffer in self.index.running()}
        changed = False
        for buffer in running:
            known = before.pop(buffer.name, None) or Index.buffer(self.index, buffer.name)
            if known is None or (known.state == "running" and _comes(known) != _comes(buffer)):
                self.index.put_buffer(buffer)
                self.index.put_in_order({buffer.name: _order(buffer.name, min(buffer.created, time.time()))})
                changed = True
        for name in before:  # it has ended, and was not shipped
            self.index.forget_buffer(name)
        return changed or bool(before)

    def _put_remarks(self, hosts: Sequence[GrantedHost], remarks: Sequence[tuple[int, Note]]) -> bool:
        """Keep remarks of the reader that no host has taken yet; for those that were taken, the host's log tells."""
        taken = {host.id: host.taken for host in hosts}
        waiting = {note.id: note for host, note in remarks if int(note.id.rpartition(":")[2]) > taken.get(host, 0)}
        before = {note.id for note in self.index.notes() if _is_remark(note)}
        for note_id in before - waiting.keys():
            session, _, number = note_id.rpartition(":")
            self._db.execute("DELETE FROM notes WHERE session = ? AND entry = ?", (session, int(number)))
        for note in waiting.values():
            if looks_like_a_ref(note.ref):
                self.index.put_note(note, parse_ref(note.ref).name)
        return before != waiting.keys()

    def _put_sessions(self, names: dict[str, float]) -> None:
        """Keep sessions of which only the name is known, until their logs come."""
        wanted = dumps(list(names))
        known = {
            row[0]
            for row in self._db.rows(
                "SELECT name FROM sessions WHERE name IN (SELECT value FROM json_each(?))", (wanted,)
            )
        }
        for name, started in names.items():
            if name not in known:
                self.index.put_session(Session(name, "", "", "", "", started))

    def _put_entries(self, entries: Sequence[LogEntry], *, older: bool) -> None:
        with self._db.writing():
            known = self._known_lines(entries)
            new = [entry for entry in entries if (entry.session, entry.number) not in known]
            self._db.execute_all(
                "INSERT OR IGNORE INTO shared_lines VALUES (?, ?, ?)",
                [(entry.session, entry.number, dumps(entry.place)) for entry in new],
            )
            self._put_events(new)
            for entry in new:
                if entry.kind == "session" and isinstance(told := entry.record.get("session"), dict):
                    self._put_session(entry.session, told)
            views = [view for entry in new if (view := entry.view())]
            newest = self.index.newest_view()
            first = self._least_view() - len(views) if older else max(newest + 1, _FIRST_VIEW)
            self.index.put_views([ViewRow.of(view) for view in views], first=first)
            self._put_sessions({view.view.session: view.view.time for view in views})
            for entry in new:
                if entry.kind == "shown":
                    self._amend(entry)
            others = [
                Other(entry.session, entry.number, entry.record)
                for entry in new
                if entry.kind in _OTHERS and _is_sound_other(entry)
            ]
            index_others(self.index, others)

    def _least_view(self) -> int:
        row = self._db.row("SELECT MIN(number) FROM views")
        return int(row[0]) if row and row[0] is not None else _FIRST_VIEW

    def _known_lines(self, entries: Sequence[LogEntry]) -> set[tuple[str, int]]:
        wanted = dumps([[entry.session, entry.number] for entry in entries])
        rows = self._db.rows(
            "SELECT known.session, known.number FROM json_each(?) AS given JOIN shared_lines AS known"
            " ON known.session = json_extract(given.value, '$[0]')"
            " AND known.number = json_extract(given.value, '$[1]')",
            (wanted,),
        )
        return {(row[0], row[1]) for row in rows}

    def _put_session(self, name: str, told: dict[str, Any]) -> None:
        fields = known_fields(Session, told)
        harness, harness_id, client, cwd, title = (
            str(fields.get(field, "")) for field in ("harness", "harness_id", "client", "cwd", "title")
        )
        started = fields.get("started")
        began = float(started) if isinstance(started, int | float) else 0.0
        self.index.put_session(Session(name, harness, harness_id, client, cwd, began, title))

    def _amend(self, entry: LogEntry) -> None:
        try:
            known = self.index.view(entry.session, int(entry.record["of"]))
            if known:
                self.index.amend_view(with_shown(known.view, traced_of(entry.record)))
        except (KeyError, TypeError, ValueError):
            return  # not a record of ours


def _is_remark(note: Note) -> bool:
    return note.id.rpartition(":")[0].endswith(f"/{REMARKS}")


_OTHERS = ("note", "send", "sent", "titled", "removed", "origin")


def _is_sound_other(entry: LogEntry) -> bool:
    told = entry.record
    texts = {"note": ("ref",), "send": ("note", "to"), "sent": ("note",), "titled": ("title",)}.get(entry.kind, ())
    return isinstance(told.get("time"), int | float) and all(isinstance(told.get(name), str) for name in texts)


def _refs(entry: LogEntry) -> Iterator[str]:
    refs = entry.record.get("refs")
    return (str(name) for name in refs if "/" in str(name)) if isinstance(refs, list) else iter(())


def _order(name: str, began: float) -> int:
    return (int(began * 1e6) << _PLACE_BITS) | (zlib.crc32(name.encode()) & ((1 << _PLACE_BITS) - 1))


def _batches(items: Iterable[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _comes(running: Buffer) -> object:
    """What changes in the record of a running output."""
    return running.streams, running.note
