"""Does the owner's work for hosts, which may only add rows: purges outputs, and keeps pinned ones.

A host asks for both by rows. A pack with something to purge is replaced by one of the same size without that, so that
other rows find their bytes where they were. Pinned outputs are copied to where no lifecycle rule of the object store
applies, before their day is dropped.
"""

import contextlib
import datetime
import hashlib
from collections.abc import Iterable, Iterator

import zstandard

from sightline.base.refs import format_ref
from sightline.fleet.database import Connection, lock_for_owner, tables_of
from sightline.fleet.objects import ObjectMissing, Objects, pack_key
from sightline.fleet.pack import PACK_BYTES, TamperedPack, frame_at, raw_bytes
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log import log

PINNED = """
coalesce((SELECT change.record -> 'pinned' FROM sightline.changes AS change WHERE change.host = found.host
    AND change.created = found.created AND change.name = found.name ORDER BY change.seq DESC LIMIT 1),
    found.record -> 'pinned') = 'true'
"""
"""SQL for whether the host has an output pinned, as far as the fleet was told; a removed one is not pinned."""

_ASKED = """
SELECT host.id, host.name, array_agg(DISTINCT asked.name) FROM sightline.changes AS asked
JOIN sightline.hosts AS host ON host.id = asked.host WHERE asked.record -> 'purge' IS NOT NULL GROUP BY host.id
"""

_LINE = """
SELECT host, session, number, extract(epoch FROM time)::float8, encode(pack, 'hex'), frame_offset, frame_bytes,
    line_offset, line_bytes, record -> 'blanked' IS NOT NULL FROM sightline.entries WHERE
"""

# Hashes would say what a few bytes were, once somebody guesses them.
_PURGED = """
UPDATE sightline.buffers SET packs = '{}', frames = '{}', before_kept = NULL, state = 'evicted',
    record = record || '{"state": "evicted"}' || CASE jsonb_typeof(record -> 'streams') WHEN 'object' THEN
        jsonb_build_object('streams', (SELECT coalesce(jsonb_object_agg(key, CASE jsonb_typeof(value)
            WHEN 'object' THEN (value - 'frame_hashes') || '{"sha256": ""}' ELSE value END), '{}')
            FROM jsonb_each(record -> 'streams')))
        ELSE '{}' END
WHERE host = %s AND name = %s AND NOT packs && %s
"""
_EMPTIED = """
UPDATE sightline.buffers SET command = '', label = '',
    record = record || '{"command": "", "label": "", "note": "", "artifact": ""}'
WHERE host = %s AND name = ANY (%s) AND (command <> '' OR label <> '')
"""
_CHANGES_EMPTIED = """
UPDATE sightline.changes SET record = record - 'label' - 'note'
WHERE host = %s AND name = ANY (%s) AND (record -> 'label' IS NOT NULL OR record -> 'note' IS NOT NULL)
"""
_ENTRY_BLANKED = """
UPDATE sightline.entries SET record = (record - 'salt' - 'pieces_sha256') || '{"blanked": true}' ||
    CASE kind WHEN 'note' THEN '{"text": null}'::jsonb
        WHEN 'view' THEN '{"request": {}, "sealed": {}, "text_sha256": ""}'::jsonb
        WHEN 'usage' THEN '{"request": {}}'::jsonb ELSE '{}' END
WHERE host = %s AND session = %s AND number = %s
"""
_OF_SAME_COMMAND = """
host = %s AND refs = '{}' AND record -> 'request' ->> 'command' IN
    (SELECT command FROM sightline.buffers WHERE host = %s AND name = ANY (%s) AND command <> '')
"""
_LISTS = """
host = %s AND kind = 'view' AND record ->> 'verb' = 'list_outputs' AND time >=
    (SELECT min(created) FROM sightline.buffers WHERE host = %s AND name = ANY (%s))
"""
"""SQL for lists that may name purged outputs, with their commands; a list names no refs."""

_FRAMES = "SELECT ARRAY(SELECT encode(one, 'hex') FROM unnest(found.packs) AS one), found.frames"
_LEVELS = (1, 3, 9, 19)


class Tidied(NamedTuple):
    """The result of tidying.

    Attributes:
        purged: number of outputs whose bytes were removed.
        blanked: number of lines of logs whose texts were removed.
        kept: number of pinned outputs that were copied, because their day is dropped.
        let_go: number of outputs that were kept so, and are not pinned any more.
        problems: what could not be done, in words.
    """

    purged: int
    blanked: int
    kept: int
    let_go: int
    problems: list[str]


class _Line(NamedTuple):
    """A line of a log; see `sightline.fleet.reader.rows.Entry`."""

    host: int
    session: str
    number: int
    time: float
    pack: str
    frame_offset: int
    frame_bytes: int
    offset: int
    bytes: int
    is_blanked: bool


class _Cut(NamedTuple):
    """What to cut out of a pack: frames as (offset, bytes), and in frames of log lines, such lines."""

    frames: set[tuple[int, int]]
    lines: dict[tuple[int, int], set[tuple[int, int]]]


class _Place(NamedTuple):
    """Where a pack is: its key without the hash, and the hash of what is there now."""

    prefix: tuple[str, str, str, str]
    sha256: str
    is_kept: bool

    def key(self, sha256: str) -> str:
        """Return the key for the pack with this hash in its place."""
        return pack_key(*self.prefix, sha256, is_kept=self.is_kept)


class Janitor:
    """Does what hosts have asked for, as the fleet's owner, with a key that may put, read and remove objects."""

    def __init__(self, connection: Connection, objects: Objects) -> None:
        """Prepare; nothing is done yet."""
        self._connection, self._objects = connection, objects
        self._problems: list[str] = []

    def tidy(self, today: datetime.date | None = None) -> Tidied:
        """Purge what is to be purged, keep what is pinned, and let go of what is not pinned any more.

        Args:
            today: the date in UTC; by default from the database's clock.

        Raises:
            FleetUnreachable, FleetRefused: it is not possible now; the next time does the rest.
        """
        self._remove_doomed()
        self._problems = []
        with self._connection.transaction():
            lock_for_owner(self._connection)
            purged, blanked = self._purge()
            before = begin_of_kept(self._connection, today)
            kept = self._keep_pinned(before)
            let_go = self._let_go(before)
        self._remove_doomed()
        return Tidied(purged, blanked, kept, let_go, self._problems)

    def _remove_doomed(self) -> None:
        """Remove the objects that no row names any more; this comes last, so that no row ever names a missing one."""
        for (key,) in self._connection.execute("SELECT key FROM sightline.doomed").fetchall():
            with contextlib.suppress(ObjectMissing):
                self._objects.delete(key)
            self._connection.execute("DELETE FROM sightline.doomed WHERE key = %s", (key,))

    def _place(self, host: int, pack: str) -> _Place | None:
        row = self._connection.execute(
            "SELECT team, member, replace(store::text, '-', ''), day::text, encode(coalesce(replaced, sha256), 'hex'),"
            " kept FROM sightline.packs JOIN sightline.hosts ON id = host"
            " WHERE host = %s AND sha256 = decode(%s, 'hex')",
            (host, pack),
        ).fetchone()
        return _Place(row[:4], row[4], row[5]) if row else None

    def _fetched(self, place: _Place) -> bytes:
        """Fetch a pack. Raises ObjectMissing, TamperedPack, FleetUnreachable, FleetRefused."""
        data = self._objects.get(place.key(place.sha256))
        if hashlib.sha256(data).hexdigest() != place.sha256:
            raise TamperedPack(f"pack {place.sha256} is not what was announced")
        return data

    # what is to be purged

    def _purge(self) -> tuple[int, int]:
        asked = self._connection.execute(_ASKED).fetchall()
        cuts: dict[tuple[int, str], _Cut] = {}
        outputs = [(host, name) for host, _, names in asked for name in self._cut_outputs(host, names, cuts)]
        lines = {(line.host, line.session, line.number): line for line in self._lines(asked) if not line.is_blanked}
        for line in lines.values():
            cut = cuts.setdefault((line.host, line.pack), _Cut(set(), {}))
            cut.lines.setdefault((line.frame_offset, line.frame_bytes), set()).add((line.offset, line.bytes))
        failed = {at for at, cut in cuts.items() if not self._replace(*at, cut)}
        blanked = [at for at, line in lines.items() if (line.host, line.pack) not in failed]
        self._connection.cursor().executemany(_ENTRY_BLANKED, blanked)
        self._forget_judgements(asked, blanked)
        purged = 0
        for host, name in outputs:
            purged += self._connection.execute(
                _PURGED,
                (host, name, [bytes.fromhex(pack) for of, pack in failed if of == host]),
            ).rowcount
        for host, _, names in asked:
            self._connection.execute(_EMPTIED, (host, names))
            self._connection.execute(_CHANGES_EMPTIED, (host, names))
        return purged, len(blanked)

    def _forget_judgements(
        self, asked: Iterable[tuple[int, str, list[str]]], lines: Iterable[tuple[int, str, int]]
    ) -> None:
        """Remove what hosts found in purged outputs, and in the sessions of such lines, since it may quote them."""
        for host, _, names in asked:
            for table in ("judgements", "facts"):
                self._connection.execute(
                    f"DELETE FROM sightline.{table} WHERE host = %s AND name = ANY (%s)".encode(),  # noqa: S608 - ours
                    (host, names),
                )
        for host, session in {(host, session) for host, session, _ in lines}:
            self._connection.execute("DELETE FROM sightline.alarms WHERE host = %s AND session = %s", (host, session))

    def _cut_outputs(self, host: int, names: list[str], cuts: dict[tuple[int, str], _Cut]) -> list[str]:
        """Cut the frames of outputs, except those that others share; return the names of outputs that had any."""
        rows = self._connection.execute(
            _FRAMES
            + ", found.before_kept, found.name FROM sightline.buffers AS found WHERE host = %s AND name = ANY (%s)"
            " AND frames <> '{}'",
            (host, names),
        ).fetchall()
        wanted = {place for packs, frames, _, _ in rows for place in _places(packs, frames)}
        wanted |= {place for _, _, before, _ in rows if before for place in _places(*before)}
        if wanted:
            others = self._connection.execute(
                _FRAMES + " FROM sightline.buffers AS found WHERE host = %s AND packs && %s AND name <> ALL (%s)",
                (host, [bytes.fromhex(pack) for pack in {pack for pack, _, _ in wanted}], names),
            ).fetchall()
            wanted -= {place for packs, frames in others for place in _places(packs, frames)}
        for pack, offset, size in wanted:
            cuts.setdefault((host, pack), _Cut(set(), {})).frames.add((offset, size))
        return [name for *_, name in rows]

    def _lines(self, asked: Iterable[tuple[int, str, list[str]]]) -> Iterator[_Line]:
        """Yield lines of all hosts' logs that show or may quote purged outputs, and those of removed sessions."""
        since: dict[tuple[int, str], float] = {}
        for host, host_name, names in asked:
            among_all = [f"{host_name}/{name}" for name in names]
            for line in self._found("refs && %s::text[] OR (host = %s AND refs && %s::text[])", among_all, host, names):
                at = (line.host, line.session)
                since[at] = min(since.get(at, line.time), line.time)
                yield line
            for condition in (_OF_SAME_COMMAND, _LISTS):
                yield from self._found(condition, host, host, names)
        for (host, session), begin in since.items():
            yield from self._found(
                "host = %s AND session = %s AND kind IN ('message', 'context') AND time >= to_timestamp(%s)",
                *(host, session, begin),
            )
        removed = "SELECT host, session, max(number) FROM sightline.entries WHERE kind = 'removed' GROUP BY 1, 2"
        for host, session, number in self._connection.execute(removed).fetchall():
            yield from self._found("host = %s AND session = %s AND number < %s", host, session, number)

    def _found(self, condition: str, *parameters: Any) -> list[_Line]:
        rows = self._connection.execute((_LINE + condition).encode(), parameters)
        return [_Line._make(row) for row in rows.fetchall()]

    def _replace(self, host: int, pack: str, cut: _Cut) -> bool:
        """Replace a pack by one without what is cut; return False if it cannot be read."""
        place = self._place(host, pack)
        if place is None:
            return True  # the retention has removed it
        try:
            data = _without(self._fetched(place), cut)
        except ObjectMissing:
            return True  # its bytes, too
        except TamperedPack as error:
            self._problems.append(f"pack {pack}: {error}")
            return False
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 != place.sha256:
            self._objects.put(place.key(sha256), data)
            self._connection.execute(
                "UPDATE sightline.packs SET replaced = decode(%s, 'hex'), replaced_at = clock_timestamp()"
                " WHERE host = %s AND sha256 = decode(%s, 'hex')",
                (sha256, host, pack),
            )
            self._doom(place.key(place.sha256))
        return True

    def _doom(self, key: str) -> None:
        self._connection.execute("INSERT INTO sightline.doomed VALUES (%s) ON CONFLICT DO NOTHING", (key,))

    # what is pinned

    def _keep_pinned(self, before: datetime.datetime) -> int:
        rows = self._connection.execute(
            (
                _FRAMES + ", found.host, found.name, found.created FROM sightline.buffers AS found"
                " WHERE (created < %s OR (created > now() + interval '2 days' AND announced < %s))"
                f" AND NOT kept AND state <> 'evicted' AND {PINNED} ORDER BY host, created"
            ).encode(),
            (before, before),
        ).fetchall()
        for packs, frames, host, name, created in rows:
            try:
                places = self._copied(host, packs, frames)
            except (ObjectMissing, TamperedPack, LookupError) as error:
                self._problems.append(f"{format_ref(name)} is pinned, and its bytes cannot be kept: {error}")
                places = packs, frames  # its row stays in spite of that
            self._connection.execute(
                "UPDATE sightline.buffers AS found SET kept = true, before_kept = %s::jsonb,"
                " packs = %s, frames = %s::jsonb, record = record ||"
                " coalesce((SELECT change.record - 'state' FROM sightline.changes AS change"
                " WHERE change.host = found.host AND change.created = found.created AND change.name = found.name"
                " ORDER BY change.seq DESC LIMIT 1), '{}') WHERE host = %s AND name = %s AND created = %s",
                (
                    dumps([packs, frames]),
                    [bytes.fromhex(pack) for pack in places[0]],
                    dumps(places[1]),
                    *(host, name, created),
                ),
            )
        return len(rows)

    def _copied(self, host: int, packs: list[str], frames: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
        """Return (packs, frames) of an output after its frames were copied to kept packs, which have no other bytes."""
        made: list[str] = []
        placed: dict[str, list[list[int]]] = {}
        data = bytearray()
        held: tuple[int, bytes] = (-1, b"")
        place: _Place | None = None

        def close() -> None:
            if data and place:
                made.append(self._put_kept(host, place, bytes(data)))
                data.clear()

        for stream, found in frames.items():
            for frame in map(frame_at, found):
                if held[0] != frame.pack:
                    place = self._place(host, packs[frame.pack])
                    if place is None:
                        raise LookupError(f"pack {packs[frame.pack]} is not announced")
                    held = frame.pack, self._fetched(place)
                if len(data) >= PACK_BYTES:
                    close()
                placed.setdefault(stream, []).append([len(made), len(data), frame.stored, frame.raw, frame.newlines])
                data += held[1][frame.offset : frame.offset + frame.stored]
        close()
        return made, placed

    def _put_kept(self, host: int, place: _Place, data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        self._objects.put(pack_key(*place.prefix, sha256, is_kept=True), data)
        self._connection.execute(
            "INSERT INTO sightline.packs (host, sha256, day, bytes, raw_bytes, kept)"
            " VALUES (%s, decode(%s, 'hex'), %s, %s, 0, true)"
            " ON CONFLICT (host, sha256) DO UPDATE SET kept = true, day = excluded.day",
            (host, sha256, place.prefix[3], len(data)),
        )
        return sha256

    def _let_go(self, before: datetime.datetime) -> int:
        gone = self._connection.execute(
            (
                "DELETE FROM sightline.buffers AS found WHERE kept AND created < %s"  # noqa: S608 - a condition of ours
                f" AND (state = 'evicted' OR NOT {PINNED}) RETURNING host"
            ).encode(),
            (before,),
        ).rowcount
        if gone:
            unused = self._connection.execute(
                "SELECT host, encode(sha256, 'hex') FROM sightline.packs AS pack WHERE kept AND NOT EXISTS (SELECT FROM"
                " sightline.buffers AS found WHERE found.kept AND found.host = pack.host AND pack.sha256 = ANY (packs))"
            ).fetchall()
            for host, pack in unused:
                if place := self._place(host, pack):
                    self._doom(place.key(place.sha256))
                self._connection.execute(
                    "DELETE FROM sightline.packs WHERE host = %s AND sha256 = decode(%s, 'hex')", (host, pack)
                )
        return gone


def begin_of_kept(connection: Connection, today: datetime.date | None = None) -> datetime.datetime:
    """Return the first day that the retention keeps; earlier ones are dropped, except what is pinned."""
    if today is None:
        row = connection.execute("SELECT (now() AT TIME ZONE 'UTC')::date").fetchone()
        assert row is not None
        today = row[0]
    day = today - datetime.timedelta(days=tables_of(connection).retention_days)
    return datetime.datetime.combine(day, datetime.time(), datetime.UTC)


def _places(packs: list[str], frames: dict[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Yield (pack, offset, bytes) for each frame."""
    for found in frames.values():
        for frame in map(frame_at, found):
            yield packs[frame.pack], frame.offset, frame.stored


def _without(pack: bytes, cut: _Cut) -> bytes:
    """Return a pack of the same size without what is cut. Raises TamperedPack."""
    data = bytearray(pack)
    for offset, size in cut.frames:
        data[offset : offset + size] = bytes(size)
    for (offset, size), places in cut.lines.items():
        lines = bytearray(raw_bytes(bytes(data[offset : offset + size])))
        for begin, length in places:
            lines[begin : begin + length] = _blanked(bytes(lines[begin : begin + length]))
        data[offset : offset + size] = _fitting(bytes(lines), size)
    return bytes(data)


def _blanked(line: bytes) -> bytes:
    """Return a log's line without its text and request, in the same size; one that is too short for that stays."""
    try:
        entry = loads(line)
        if entry.get("text") is None and "request" not in entry:
            return line
        entry = log.emptied(entry)
        told = log.Encoded.kept(entry).tied(entry["n"], entry["prev"], entry["hash"])
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise TamperedPack("a line of a log is none") from error
    return told[:-1].ljust(len(line) - 1) + b"\n" if len(told) <= len(line) else line


def _fitting(data: bytes, size: int) -> bytes:
    """Return a frame filled up to this size. Raises TamperedPack if none fits."""
    for level in _LEVELS:
        frame = zstandard.ZstdCompressor(level=level, write_checksum=True).compress(data)
        if len(frame) <= size:
            return bytes(frame.ljust(size, b"\0"))
    raise TamperedPack("what is left of a frame takes more room than the frame had")
