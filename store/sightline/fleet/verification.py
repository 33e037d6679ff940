"""Verifies that the object store has what the fleet's rows name, and that rows name what is there."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterator

from sightline.base.refs import format_ref
from sightline.fleet.content import FRAME_HASHES, ORDER
from sightline.fleet.database import Connection
from sightline.fleet.objects import ObjectMissing, Objects, host_prefix, kept_prefix, pack_key
from sightline.fleet.pack import TamperedPack, check_frame, frame_at, frame_bytes, hashes_in, raw_bytes
from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log import log

_PACKS_HELD = 3
_BATCH_ROWS = 500


class Mismatch(NamedTuple):
    """Where the shared place differs from what a host announced, or something worth mentioning.

    Attributes:
        kind: ``problem``; or ``note`` for something that is right, but worth mentioning.
        host: name of the host.
        text: what was found.
    """

    kind: str
    host: str
    text: str


class Verified(NamedTuple):
    """What was verified: hosts, packs and their bytes, buffers, and lines of logs."""

    hosts: int
    packs: int
    bytes: int
    buffers: int
    entries: int


class _Host(NamedTuple):
    id: int
    name: str
    team: str
    member: str
    store: str


class _Place(NamedTuple):
    """Where a pack is, for `pack_key`: its day, the hash of what is there, whether it is kept; and its size."""

    day: str
    sha256: str
    is_kept: bool
    bytes: int


class Verification:
    """Verifies every host that the role of the connection may see.

    Attributes:
        verified: what has been verified so far.
    """

    def __init__(
        self,
        connection: Connection,
        objects: Objects,
        *,
        contents: bool,
    ) -> None:
        """Prepare; nothing is verified yet.

        Args:
            connection: a connection of the owner, or of a reader for what it may see.
            objects: the object store.
            contents: whether to fetch every pack, and read every stream and line in it.
        """
        self._connection, self._objects, self._contents = connection, objects, contents
        self.verified = Verified(0, 0, 0, 0, 0)
        self._held: OrderedDict[str, bytes] = OrderedDict()

    def findings(self) -> Iterator[Mismatch]:
        """Yield what is not as it should be. Raises FleetUnreachable, FleetRefused."""
        for row in self._connection.execute("SELECT id, name, team, member, store FROM sightline.hosts ORDER BY id"):
            number, name, team, member, store = row
            host = _Host(number, name, team, member, store.hex)
            yield from self._of_packs(host)
            yield from self._of_rows(host)
            if self._contents:
                yield from self._of_buffers(host)
                yield from self._of_entries(host)
            self._add(hosts=1)

    def _add(self, **counts: int) -> None:
        self.verified = self.verified._replace(
            **{name: getattr(self.verified, name) + count for name, count in counts.items()}
        )

    def _of_packs(self, host: _Host) -> Iterator[Mismatch]:
        stored = {
            found.key: found.bytes
            for prefix in (host_prefix(host.team, host.member), kept_prefix(host.team, host.member))
            for found in self._objects.list(f"{prefix}{host.store}/")
        }
        for sha256, (day, stands, is_kept, size) in self._places(host).items():
            key = pack_key(host.team, host.member, host.store, day, stands, is_kept=is_kept)
            found = stored.pop(key, None)
            if found is None:
                yield Mismatch(
                    "problem", host.name, f"pack {sha256} of {day} is announced, and not in the object store"
                )
            elif found != size:
                yield Mismatch("problem", host.name, f"pack {sha256} of {day} has {found:,} bytes, not {size:,}")
            self._add(packs=1, bytes=size)
        if stored:
            yield Mismatch(
                "note",
                host.name,
                f"{len(stored):,} objects with {sum(stored.values()):,} bytes are stored and not announced: a shipper "
                "is at it, or was ended there; the lifecycle rule removes them",
            )

    def _of_rows(self, host: _Host) -> Iterator[Mismatch]:
        counted = self._connection.execute(
            "SELECT (SELECT count(*) FROM sightline.buffers WHERE host = %(host)s),"
            " (SELECT count(*) FROM sightline.entries WHERE host = %(host)s)",
            {"host": host.id},
        ).fetchone()
        buffers, entries = counted or (0, 0)
        self._add(buffers=buffers, entries=entries)
        for name, rows in self._connection.execute(
            "SELECT coalesce(min(name), ''), count(*) FROM (SELECT name, unnest(packs) AS pack FROM sightline.buffers"
            " WHERE host = %(host)s UNION ALL"
            " SELECT session, pack FROM sightline.entries WHERE host = %(host)s) AS told"
            " WHERE NOT EXISTS (SELECT FROM sightline.packs WHERE host = %(host)s AND sha256 = told.pack)"
            " HAVING count(*) > 0",
            {"host": host.id},
        ):
            yield Mismatch("problem", host.name, f"{rows:,} rows (such as {name}) tell of packs that are not announced")
        for session, number in self._connection.execute(
            "SELECT session, number FROM (SELECT session, number, prev, lag(number) OVER line AS before,"
            " lag(hash) OVER line AS hash_before FROM sightline.entries WHERE host = %s"
            " WINDOW line AS (PARTITION BY session ORDER BY number)) AS chain"
            " WHERE before IS NOT NULL AND (number <> before + 1 OR prev <> hash_before) ORDER BY session, number",
            (host.id,),
        ):
            yield Mismatch("problem", host.name, f"the log of {session} does not go on at its line {number}")

    def _of_buffers(self, host: _Host) -> Iterator[Mismatch]:
        packed = self._places(host)
        for name, packs, frames, record in self._in_batches(
            "SELECT name, ARRAY(SELECT encode(one, 'hex') FROM unnest(packs) AS one), frames, record"
            " FROM sightline.buffers WHERE host = %s ORDER BY seq",
            host,
        ):
            for stream, places in frames.items():
                facts = record.get("streams", {}).get(stream)
                digest, size = hashlib.sha256(), 0
                hashes = hashes_in((facts or {}).get(FRAME_HASHES), len(places))
                try:
                    for nth, place in enumerate(places):
                        frame = frame_at(place)
                        pack = self._pack(host, packs[frame.pack], packed)
                        if hashes:
                            check_frame(pack[frame.offset : frame.offset + frame.stored], hashes[nth])
                        data = frame_bytes(pack, frame)
                        digest.update(data)
                        size += len(data)
                except (TamperedPack, ObjectMissing, LookupError) as error:
                    yield Mismatch("problem", host.name, f"{format_ref(name)} ({stream}): {error}")
                    continue
                if facts and digest.hexdigest() != facts.get("sha256"):
                    yield Mismatch("problem", host.name, f"{format_ref(name)} ({stream}) is not what was announced")
                elif facts is None and stream == ORDER and size % 16:
                    yield Mismatch("problem", host.name, f"{format_ref(name)}: the order of its streams is not whole")
            if record.get("state") != "evicted" and (missing := record.get("streams", {}).keys() - frames.keys()):
                yield Mismatch(
                    "problem", host.name, f"{format_ref(name)} was announced without {', '.join(sorted(missing))}"
                )

    def _of_entries(self, host: _Host) -> Iterator[Mismatch]:
        places = self._places(host)
        at: tuple[str, int] | None = None
        lines = b""
        for session, number, prev, digest, kind, redacted, pack, offset, size, begin, length in self._in_batches(
            "SELECT session, number, prev, hash, kind, redacted, encode(pack, 'hex'), frame_offset, frame_bytes,"
            " line_offset, line_bytes FROM sightline.entries WHERE host = %s ORDER BY seq, number",
            host,
        ):
            try:
                if at != (pack, offset):
                    lines = raw_bytes(self._pack(host, pack, places)[offset : offset + size])
                    at = (pack, offset)
                entry = loads(lines[begin : begin + length])
                told = entry["n"], entry["prev"], entry["hash"]
                if told != (number, prev, digest):
                    raise TamperedPack("it is another line")
                if kind != "withheld" and not redacted and not log.is_newer(entry) and not log.entry_holds(entry):
                    raise TamperedPack("it is not what its hash covers")
            except (TamperedPack, ObjectMissing, ValueError, LookupError, TypeError) as error:
                at = None
                yield Mismatch("problem", host.name, f"line {number} of the log of {session}: {error}")

    def _in_batches(self, query: str, host: _Host) -> Iterator[tuple[Any, ...]]:
        with self._connection.transaction(), self._connection.cursor(name="verified") as cursor:
            cursor.itersize = _BATCH_ROWS
            cursor.execute(query.encode(), (host.id,))
            yield from cursor

    def _places(self, host: _Host) -> dict[str, _Place]:
        """Return where each pack of a host is, by hash."""
        rows = self._connection.execute(
            "SELECT encode(sha256, 'hex'), day::text, encode(coalesce(replaced, sha256), 'hex'), kept, bytes"
            " FROM sightline.packs WHERE host = %s",
            (host.id,),
        )
        return {sha256: _Place(*rest) for sha256, *rest in rows}

    def _pack(self, host: _Host, sha256: str, places: dict[str, _Place]) -> bytes:
        """Return a pack that matches its name. Raises TamperedPack, ObjectMissing, KeyError for an unknown one."""
        if sha256 not in self._held:
            day, stands, is_kept, _ = places[sha256]
            data = self._objects.get(pack_key(host.team, host.member, host.store, day, stands, is_kept=is_kept))
            if hashlib.sha256(data).hexdigest() != stands:
                raise TamperedPack(f"pack {sha256} is not what was announced")
            self._held[sha256] = data
            while len(self._held) > _PACKS_HELD:
                self._held.popitem(last=False)
        self._held.move_to_end(sha256)
        return self._held[sha256]
