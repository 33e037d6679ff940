"""Reads hosts, outputs and logs from the shared database, as records whose names include their host.

A row is what a host says about itself, so it is checked before it is used, and dropped if it is no record of ours.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sightline.base.errors import OfNewerVersion
from sightline.base.records import REMOVED_THERE, UNHEARD_OF, Buffer, IndexedView, Note, joined_notes
from sightline.base.refs import on_host
from sightline.disk.meta import decode_buffer
from sightline.fleet.content import FRAME_HASHES
from sightline.fleet.database import LastingConnection
from sightline.fleet.pack import hashes_in
from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.log import LinePlace
from sightline.log.views import indexed_view
from sightline.search.matcher import TITLE_CHARACTERS
from sightline.store import Narrowing

EVENTS = ("context", "about", "message", "prompt")
"""The kinds of lines that say what happened to a session's context, and what was said."""

REMARKS = "remarks"
"""Stands for a session in the ids of remarks that their hosts have not taken yet."""

REMOVED = "removed"
"""The state in a change for a buffer that a person has removed on its host."""

_TEXTS = ("command", "cwd", "session", "label", "artifact", "note", "origin", "partial", "project")
_CHANGING = ("state", "exit_code", "signal", "timed_out", "label", "pinned", "note")


class GrantedHost(NamedTuple):
    """A host that the reader was granted.

    Attributes:
        id: its number.
        name: its name in refs.
        team: its team.
        owner: its owner.
        kind: ``host`` or ``ci``.
        member: the role under which it ships.
        store: id of its store, in hex.
        shipped: number of the last thing that it has announced.
        seen: when the fleet last heard from it, seconds since the epoch.
        behind: number of items that it had still to ship then.
        taken: number of the last remark that it has taken.
    """

    id: int
    name: str
    team: str
    owner: str
    kind: str
    member: str
    store: str
    shipped: int
    seen: float
    behind: int
    taken: int = 0


class StoredOutput(NamedTuple):
    """An output, with the places of its bytes.

    Attributes:
        buffer: its record, under its name with the host.
        packs: SHA-256 of each pack with parts of it, in hex.
        frames: for each stream its frames (index of the pack, offset, stored bytes, raw bytes, newlines before it).
        hashes: SHA-256 of each frame's stored bytes, in hex, for streams of several frames whose hosts have told them.
        began: when it began, at the latest when it was announced: a host's clock may be ahead. Seconds since the epoch.
    """

    buffer: Buffer
    packs: list[str]
    frames: dict[str, list[list[int]]]
    hashes: dict[str, list[str]]
    began: float


class Title(NamedTuple):
    """What filters look at: the first characters of a command, names with hosts, and the label as it is now."""

    command: str
    name: str
    label: str
    session: str


class PackPlace(NamedTuple):
    """Where a pack is in the object store: the day in its key, the hash there, and whether it is a kept copy."""

    day: str
    sha256: str
    is_kept: bool


class LogEntry(NamedTuple):
    """A line of a log, and where its bytes are.

    Attributes:
        session: name of the session, with its host.
        number: number of the line in the log, from 0.
        time: seconds since the epoch.
        kind: such as ``view``.
        record: its content without its text and its place in the chain; names in it include hosts.
        place: (pack, offset and bytes of the frame, offset and bytes of the line in the frame's content).
    """

    session: str
    number: int
    time: float
    kind: str
    record: dict[str, Any]
    place: tuple[str, int, int, int, int]

    def view(self) -> IndexedView | None:
        """Return the view that it is; None if it is none, or not one of ours."""
        if self.kind != "view" or not _is_sound_view(self.record):
            return None
        try:
            return indexed_view(self.session, LinePlace(self.number, virtual(self.number), self.place[4]), self.record)
        except (KeyError, TypeError, ValueError, AttributeError):
            return None


_LINE_BITS = 40


def virtual(number: int) -> int:
    """Return an offset for a line's beginning, in a log of which only some lines are here; no line is that long."""
    return number << _LINE_BITS


def number_at(offset: int) -> tuple[int, int]:
    """Return (number of the line, byte in it) for such an offset."""
    return offset >> _LINE_BITS, offset & ((1 << _LINE_BITS) - 1)


BUFFER = """
SELECT host.name, found.record::text, ARRAY(SELECT encode(one, 'hex') FROM unnest(found.packs) AS one),
    found.frames::text, (SELECT change.record::text FROM sightline.changes AS change WHERE change.host = found.host
    AND change.created = found.created AND change.name = found.name ORDER BY change.seq DESC LIMIT 1),
    extract(epoch FROM found.announced)::float8
"""
"""SQL that selects an output from ``found``, on ``host``, as `stored_in` takes it."""

ENTRY = """
SELECT host.name, found.session, found.number, extract(epoch FROM found.time)::float8, found.kind, found.record::text,
    encode(found.pack, 'hex'), found.frame_offset, found.frame_bytes, found.line_offset, found.line_bytes
"""
"""Likewise, a line of a log as `entries_in` takes it."""


def _number(field: str) -> str:
    """Return SQL for a number that a host has told; 0 for anything else."""
    told = f"behind -> '{field}'"
    return f"CASE jsonb_typeof({told}) WHEN 'number' THEN ({told})::numeric ELSE 0 END::float8"


_HOSTS = (
    "SELECT id, name, team, owner, kind, member, replace(store::text, '-', ''), shipped_seq,"  # noqa: S608
    f" extract(epoch FROM seen)::float8, {_number('items')}, {_number('remarks')} FROM sightline.hosts ORDER BY id"
)

_MOST_FOUND = _TITLES_AT_ONCE = 10_000
"""The most that the database's function gives."""

_TITLES = """
SELECT host.name, found.name, left(found.record ->> 'command', %(characters)s),
    coalesce((SELECT change.record ->> 'label' FROM sightline.changes AS change WHERE change.host = found.host
        AND change.created = found.created AND change.name = found.name ORDER BY change.seq DESC LIMIT 1),
        found.record ->> 'label', ''), coalesce(found.record ->> 'session', ''),
    extract(epoch FROM found.created)::float8
FROM sightline.find_buffers(hosts => %(hosts)s, since => to_timestamp(%(since)s), before => to_timestamp(%(before)s),
    most => %(most)s, only_failed => %(failed)s) AS found
JOIN sightline.hosts AS host ON host.id = found.host ORDER BY found.created DESC
"""

_SILENT_SECONDS = 120.0
"""A host that ships tells every three seconds of what runs; where that fails, it tries again within a minute."""

_RUNNING = """
SELECT host.name, found.record::text,
    CASE WHEN host.seen < now() - make_interval(secs => %s) THEN extract(epoch FROM host.seen)::float8 END
FROM sightline.running AS found JOIN sightline.hosts AS host ON host.id = found.host
"""

_OF_HOSTS = """
FROM unnest(%(hosts)s::integer[], %(after)s::bigint[], %(upto)s::bigint[]) AS given (host, after, upto)
JOIN sightline.hosts AS host ON host.id = given.host
JOIN sightline.{table} AS found ON found.host = given.host AND found.seq > given.after AND found.seq <= given.upto
    AND found.{time} >= to_timestamp(%(since)s) AND found.{time} < to_timestamp(%(before)s)
"""

_SESSION = """
SELECT FROM sightline.hosts AS host JOIN sightline.sessions AS found ON found.host = host.id AND found.name = %(own)s
WHERE host.name = %(host)s
"""

# One that was shown nothing has no log, and is known by its outputs alone.
_SESSIONS_LIKE = """
SELECT name FROM (
    SELECT host, name FROM sightline.sessions UNION SELECT host, record ->> 'session' FROM sightline.buffers
) AS known
WHERE host = (SELECT id FROM sightline.hosts WHERE name = %(host)s) AND starts_with(name, %(own)s)
ORDER BY name <> %(own)s LIMIT 2
"""

_FAR = 2.5e11
"""Later than any time in the database, in seconds since the epoch."""


class HostSpan(NamedTuple):
    """What is asked of each host.

    Attributes:
        hosts: by number of the host, (after, up to) the numbers of announcements.
        since: earliest time, seconds since the epoch.
        before: latest time, exclusive.
    """

    hosts: Mapping[int, tuple[int, int]]
    since: float
    before: float = _FAR

    def parameters(self) -> dict[str, Any]:
        """Return it as the parameters of statements."""
        return {
            "hosts": list(self.hosts),
            "after": [after for after, _ in self.hosts.values()],
            "upto": [upto for _, upto in self.hosts.values()],
            "since": self.since,
            "before": self.before,
        }


class SharedRows:
    """The statements that read the shared database. All of them raise FleetUnreachable, FleetRefused."""

    def __init__(self, connection: LastingConnection) -> None:
        self._connection = connection

    def objects(self) -> str:
        """Return the address of the object store."""
        return str(self._connection.rows("SELECT objects FROM sightline.fleet")[0][0])

    def hosts(self) -> list[GrantedHost]:
        """Return the hosts that the reader was granted."""
        rows = self._connection.rows(_HOSTS)
        return [GrantedHost._make((*row[:-2], int(row[-2]), int(row[-1]))) for row in rows]

    def running(self) -> list[Buffer]:
        """Return what runs on them, or ran when they were last heard of; the notes of these say so."""
        found = []
        for host, record, silent_since in self._connection.rows(_RUNNING, (_SILENT_SECONDS,)):
            buffer = _buffer(host, record, None)
            if buffer is not None and buffer.state == "running":
                found.append(buffer if silent_since is None else _unheard_of(buffer, silent_since))
        return found

    def buffers(self, span: HostSpan) -> Iterator[StoredOutput]:
        """Yield outputs that hosts have announced."""
        statement = BUFFER + _OF_HOSTS.format(table="buffers", time="created")
        return stored_in(self._connection.each(statement, span.parameters()))

    def entries(self, span: HostSpan, *, newest_first: bool = False) -> Iterator[LogEntry]:
        """Yield lines of logs that they have announced, by time, those of each session in order."""
        statement = ENTRY + _OF_HOSTS.format(table="entries", time="time") + "ORDER BY found.time {0}, found.number {0}"
        statement = statement.format("DESC" if newest_first else "ASC")
        return entries_in(self._connection.each(statement, span.parameters()))

    def changed(self, span: HostSpan) -> list[StoredOutput]:
        """Return older outputs that have changed since."""
        statement = (
            BUFFER
            + _OF_HOSTS.format(table="changes", time="created")
            .replace("AS found", "AS became")
            .replace("found.", "became.")
            + "JOIN sightline.buffers AS found ON found.host = became.host AND found.created = became.created"
            " AND found.name = became.name"
        )
        return list(stored_in(self._connection.rows(statement, span.parameters())))

    def sessions(self, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return what is told of sessions, by their names with hosts."""
        hosts, own = zip(*(name.rsplit("/", 1) for name in names), strict=True) if names else ((), ())
        rows = self._connection.rows(
            "SELECT host.name, found.name, found.record::text FROM unnest(%s::text[], %s::text[]) AS given (host, name)"
            " JOIN sightline.hosts AS host ON host.name = given.host"
            " JOIN sightline.sessions AS found ON found.host = host.id AND found.name = given.name",
            (list(hosts), list(own)),
        )
        told = {on_host(host, name): _object(record) for host, name, record in rows}
        return {name: record for name, record in told.items() if record}

    def asked(self, statement: str, given: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement of ours."""
        return self._connection.rows(statement, given)

    def session_named(self, text: str) -> str:
        """Return the full name of the session with a name, or the only one whose name begins so; empty for none.

        A name begins with that of its host. Titles are not looked at.
        """
        host, _, own = text.rpartition("/")
        given = {"host": host, "own": own}
        if not self._connection.rows(_SESSION, given):
            rows = self._connection.rows(_SESSIONS_LIKE, given)
            names = [str(name) for (name,) in rows]
            if len(names) != 1 and own not in names:
                return ""
            own = names[0]
        return on_host(host, own)

    def named(self, names: Sequence[str]) -> list[StoredOutput]:
        """Return outputs by their names with hosts."""
        hosts, own = zip(*(name.rsplit("/", 1) for name in names), strict=True) if names else ((), ())
        rows = self._connection.rows(
            BUFFER + "FROM unnest(%s::text[], %s::text[]) AS given (host, name)"
            " JOIN sightline.hosts AS host ON host.name = given.host"
            " JOIN sightline.buffers AS found ON found.host = host.id AND found.name = given.name",
            (list(hosts), list(own)),
        )
        return list(stored_in(rows))

    def like(self, prefix: str, host: str = "", most: int = 3) -> list[StoredOutput]:
        """Return outputs whose own name begins so, on any host or one."""
        rows = self._connection.rows(
            BUFFER + "FROM sightline.buffers AS found JOIN sightline.hosts AS host ON host.id = found.host"
            " WHERE found.name >= %(prefix)s AND found.name < %(prefix)s || 'g' AND %(host)s IN ('', host.name)"
            " LIMIT %(most)s",
            {"prefix": prefix, "host": host, "most": most},
        )
        return list(stored_in(rows))

    def titles(self, wanted: Narrowing, most: int) -> tuple[list[Title], bool]:
        """Return the titles of the newest outputs of hosts, an age and failures, whatever their words; and if all are.

        They come in pages: the database gives no more at once.
        """
        found = dict[str, Title]()
        given = {"hosts": wanted.host or "*", "since": wanted.since, "before": float("inf"), "failed": wanted.failed}
        given |= {"most": _TITLES_AT_ONCE, "characters": TITLE_CHARACTERS}
        while True:
            rows = self._connection.rows(_TITLES, given)
            known = len(found)
            for host, name, command, label, session, created in rows:
                found[on_host(host, name)] = Title(command, on_host(host, name), label, on_host(host, session))
                given["before"] = created + 1e-6  # once more those of the same microsecond
            if len(rows) < _TITLES_AT_ONCE or len(found) == known or len(found) > most:
                return list(found.values())[:most], len(found) <= most

    def found(self, wanted: Narrowing) -> list[StoredOutput]:
        """Return the newest outputs that match.

        The database has them by their hosts' clocks. If one is ahead, more are read, until enough are sure to be newer
        than all that are not read.
        """
        most = wanted.limit
        while True:
            rows = self._connection.rows(
                BUFFER + "FROM sightline.find_buffers(%s::text[], %s, to_timestamp(%s), most => %s, only_failed => %s)"
                " AS found JOIN sightline.hosts AS host ON host.id = found.host ORDER BY found.created DESC",
                (list(wanted.words), wanted.host or "*", wanted.since, most, wanted.failed),
            )
            found = list(stored_in(rows))
            oldest = min((one.buffer.created for one in found), default=0.0)
            is_enough = sum(one.began >= oldest for one in found) >= min(wanted.limit, len(found))
            if is_enough or len(rows) < most or most >= _MOST_FOUND:
                return [one for one in found if one.began >= wanted.since]
            most = min(most * 8, _MOST_FOUND)

    def entries_of(self, buffers: Sequence[str]) -> list[LogEntry]:
        """Return lines of logs about some outputs: of their own hosts, and of all that were shown them."""
        own = [name.rsplit("/", 1) for name in buffers]
        rows = self._connection.rows(
            ENTRY + "FROM sightline.entries AS found JOIN sightline.hosts AS host ON host.id = found.host"
            " WHERE found.refs && %s::text[] AND (found.refs && %s::text[]"
            " OR EXISTS (SELECT FROM unnest(%s::text[], %s::text[]) AS given (host, name)"
            " WHERE given.host = host.name AND given.name = ANY (found.refs)))"
            " ORDER BY found.time, found.number",
            (
                [*buffers, *(name for _, name in own)],
                list(buffers),
                [host for host, _ in own],
                [name for _, name in own],
            ),
        )
        return list(entries_in(rows))

    def entries_of_session(self, session: str) -> list[LogEntry]:
        """Return all lines of a session's log that are there, in order."""
        host, _, name = session.rpartition("/")
        rows = self._connection.rows(
            ENTRY + "FROM sightline.entries AS found JOIN sightline.hosts AS host ON host.id = found.host"
            " WHERE host.name = %s AND found.session = %s ORDER BY found.number",
            (host, name),
        )
        return list(entries_in(rows))

    def events_of(self, sessions: Sequence[str]) -> list[LogEntry]:
        """Return the lines of sessions' logs about their contexts and what their agents said, by time."""
        hosts, own = zip(*(name.rsplit("/", 1) for name in sessions), strict=True) if sessions else ((), ())
        rows = self._connection.rows(
            ENTRY + "FROM sightline.entries AS found JOIN sightline.hosts AS host ON host.id = found.host"
            " WHERE found.kind = ANY (%s::text[]) AND EXISTS (SELECT FROM unnest(%s::text[], %s::text[])"
            " AS given (host, session) WHERE given.host = host.name AND given.session = found.session)"
            " ORDER BY found.time, found.number",
            (list(EVENTS), list(hosts), list(own)),
        )
        return list(entries_in(rows))

    def remarks(self) -> list[tuple[int, Note]]:
        """Return (number of the host, note) for the reader's remarks, oldest first."""
        rows = self._connection.rows(
            "SELECT host.id, host.name, remark.id, remark.ref, remark.session, remark.text,"
            " extract(epoch FROM remark.made)::float8, remark.reader FROM sightline.remarks AS remark"
            " JOIN sightline.hosts AS host ON host.id = remark.host ORDER BY remark.id"
        )
        return [
            (
                host,
                Note(f"{name}/{REMARKS}:{number}", str(reader), made, f"{name}/{ref}", text, to=on_host(name, session)),
            )
            for host, name, number, ref, session, text, made, reader in rows
        ]

    def send_remark(self, host: str, ref: str, session: str, text: str) -> int:
        """Leave a remark for a host to take, and return its number, 0 if there is no such host."""
        rows = self._connection.rows(
            "INSERT INTO sightline.remarks (host, ref, session, text)"
            " SELECT id, %s, %s, %s FROM sightline.hosts WHERE name = %s RETURNING id",
            (ref, session, text, host),
        )
        return int(rows[0][0]) if rows else 0

    def pack(self, host: int, pack: str) -> PackPlace | None:
        """Return where a pack is; None if there is none that the reader may know of."""
        rows = self._connection.rows(
            "SELECT day::text, encode(coalesce(replaced, sha256), 'hex'), kept FROM sightline.packs"
            " WHERE host = %s AND sha256 = decode(%s, 'hex')",
            (host, pack),
        )
        return PackPlace(*rows[0]) if rows else None

    def replaced(self, since: float) -> list[tuple[str, str, float]]:
        """Return (SHA-256, that of the replacement, time) for packs from which something was purged since a time."""
        rows = self._connection.rows(
            "SELECT encode(sha256, 'hex'), encode(replaced, 'hex'), extract(epoch FROM replaced_at)::float8"
            " FROM sightline.packs WHERE replaced IS NOT NULL AND replaced_at >= to_timestamp(%s) ORDER BY replaced_at",
            (since,),
        )
        return [(sha256, instead, when) for sha256, instead, when in rows]

    def purged(self, span: HostSpan) -> list[str]:
        """Return names, with hosts, of what hosts have asked to purge, whenever it was captured."""
        given = span.parameters()
        rows = self._connection.rows(
            "SELECT host.name, found.name FROM unnest(%(hosts)s::integer[], %(after)s::bigint[], %(upto)s::bigint[])"
            " AS given (host, after, upto) JOIN sightline.hosts AS host ON host.id = given.host"
            " JOIN sightline.changes AS found ON found.host = given.host AND found.record -> 'purge' IS NOT NULL"
            " AND found.seq > given.after AND found.seq <= given.upto",
            given,
        )
        return [on_host(host, name) for host, name in rows]

    def begins_at(self, newest: int) -> float:
        """Return when the oldest of the newest outputs began, seconds since the epoch; 0 if there are fewer."""
        rows = self._connection.rows(
            "SELECT extract(epoch FROM created)::float8 FROM sightline.buffers ORDER BY created DESC OFFSET %s LIMIT 1",
            (newest,),
        )
        return float(rows[0][0]) if rows else 0.0


def stored_in(rows: Iterable[tuple[Any, ...]]) -> Iterator[StoredOutput]:
    """Yield the outputs in rows of `BUFFER`."""
    for host, record, packs, frames, change, announced in rows:
        buffer = _buffer(host, record, change)
        if buffer is not None:
            places = _frames(frames)
            yield StoredOutput(buffer, packs, places, _hashes(record, places), min(buffer.created, announced))


def _frames(text: str) -> dict[str, list[list[int]]]:
    frames = _object(text)
    return {
        stream: places for stream, places in frames.items() if isinstance(places, list) and all(map(_is_place, places))
    }


def _hashes(record: str, frames: dict[str, list[list[int]]]) -> dict[str, list[str]]:
    if FRAME_HASHES not in record:
        return {}
    told = _object(record).get("streams", {})
    hashes = {
        stream: hashes_in(told[stream].get(FRAME_HASHES), len(places))
        for stream, places in frames.items()
        if stream in told and len(places) > 1
    }
    return {stream: found for stream, found in hashes.items() if found}


def _is_place(place: Any) -> bool:
    return isinstance(place, list) and len(place) == 5 and all(type(one) is int and one >= 0 for one in place)


def _buffer(host: str, record: str, change: str | None) -> Buffer | None:
    """Return a record under its name with the host; None if it is not a record of ours."""
    try:
        buffer = decode_buffer(record.encode(errors="surrogatepass"))
    except (ValueError, OfNewerVersion):
        return None
    if not all(isinstance(getattr(buffer, name), str) for name in _TEXTS) or not _is_sound(buffer):
        return None
    if change:
        buffer = _changed(buffer, _object(change))
    origin = on_host(host, buffer.origin) if buffer.kind == "cmd" and buffer.origin else buffer.origin
    return buffer._replace(name=on_host(host, buffer.name), session=on_host(host, buffer.session), origin=origin)


def _unheard_of(buffer: Buffer, silent_since: float) -> Buffer:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(silent_since))
    note = f"its host was last heard of at {when}; {UNHEARD_OF}"
    return buffer._replace(note="; ".join(filter(None, (buffer.note, note))))


def _is_sound(buffer: Buffer) -> bool:
    counts = [number for info in buffer.streams.values() for number in (info.bytes, info.lines)]
    texts = [text for info in buffer.streams.values() for text in (info.sha256, info.mime)]
    return (
        all(type(number) is int and number >= 0 for number in counts)
        and all(isinstance(text, str) for text in texts)
        and type(buffer.exit_code) in (int, type(None))
        and type(buffer.signal) is int
    )


def _changed(buffer: Buffer, change: dict[str, Any]) -> Buffer:
    """Apply a change on its host. What expired there may be whole here; what was removed is not shown."""
    if change.get("state") == REMOVED:
        removed = buffer._replace(state="evicted", note=joined_notes(buffer.note, REMOVED_THERE))
        return removed._replace(command="", label="") if change.get("purge") else removed
    kinds = {"exit_code": (int, type(None)), "signal": (int,), "timed_out": (bool,), "pinned": (bool,)}
    known = {
        name: change[name]
        for name in _CHANGING
        if name in change and name != "state" and type(change[name]) in kinds.get(name, (str,))
    }
    return buffer._replace(**known)


def entries_in(rows: Iterable[tuple[Any, ...]]) -> Iterator[LogEntry]:
    """Yield the lines in rows of `ENTRY`."""
    for host, session, number, when, kind, record, *place in rows:
        told = _object(record)
        pack, offset, size, begin, length = place
        name = on_host(host, session)
        yield LogEntry(name, number, when, kind, _named(host, told), (pack, offset, size, begin, length))


def _named(host: str, record: dict[str, Any]) -> dict[str, Any]:
    """Return a line of a host's log in which names of buffers and sessions include hosts."""
    named = dict(record)
    if isinstance(refs := record.get("refs"), list):
        named["refs"] = [among_all(host, str(ref)) for ref in refs]
    for field in ("shown", "asked", "matched", "parts"):
        if isinstance(rows := record.get(field), list):
            named[field] = [[among_all(host, str(row[0])), *row[1:]] for row in rows if isinstance(row, list) and row]
    for field in ("note", "to"):
        if isinstance(text := record.get(field), str) and text not in ("", "*"):
            named[field] = among_all(host, text)
    if isinstance(ref := record.get("ref"), str):
        named["ref"] = ref if "/" in ref else f"{host}/{ref}"
    return named


def among_all(host: str, name: str) -> str:
    """Return a host's name with the host; one that it read from another host has it already."""
    return name if "/" in name else on_host(host, name)


_COUNTS = ("lines_shown", "lines_total", "bytes_shown", "bytes_total")


def _is_sound_view(record: dict[str, Any]) -> bool:
    ranges = (row for field in ("shown", "asked", "matched") for row in record.get(field, ()))
    return (
        all(type(record.get(name)) is int for name in _COUNTS)
        and type(record.get("time")) in (int, float)
        and all(isinstance(record.get(name), str) for name in ("verb", "text_sha256"))
        and isinstance(record.get("request"), dict)
        and isinstance(record.get("refs"), list)
        and type(record.get("exit_code")) in (int, type(None))
        and all(len(row) >= 4 and isinstance(row[1], str) and type(row[2]) is type(row[3]) is int for row in ranges)
        and all(_is_part(row) for row in record.get("parts") or ())
    )


def _is_part(row: list[Any]) -> bool:
    return (
        len(row) >= 5
        and isinstance(row[1], str)
        and type(row[2]) is type(row[3]) is int
        and isinstance(row[4], list)
        and all(isinstance(one, list) and len(one) >= 2 and all(type(at) is int for at in one) for one in row[4])
    )


def list_in(text: str) -> list[Any] | None:
    """Return the list in a column of JSON; None for anything else."""
    try:
        found = loads(text)
    except ValueError:
        return None
    return found if isinstance(found, list) else None


def _object(text: str) -> dict[str, Any]:
    try:
        found = loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
