"""Tells the fleet what runs on a host, and more of it while somebody looks; also takes remarks."""

import time

from sightline.base.errors import SightlineError, StoreFailed
from sightline.base.records import Buffer, Session
from sightline.base.refs import parse_ref
from sightline.fleet.announcement import OwnHost
from sightline.fleet.collector import Collector
from sightline.fleet.content import record_of, redaction_of
from sightline.fleet.database import Connection
from sightline.fleet.queue import Queue
from sightline.light.json_text import dumps, loads
from sightline.log.notes import OF_READERS, note_of_remark, send_note, write_note
from sightline.log.sessions import safe_name
from sightline.store import Store, Target

CHUNK_BYTES = 1 << 16
_CHUNKS = 16  # of one stream at a time: 1 MiB a second
_RUNNING = 200  # announced at most
_REMARKS = 50
_TAKEN = "remarks"
"""The fact of the queue with the number of the last remark that was taken."""

_RECENT = "recent remarks"
"""The fact with the numbers of remarks that were taken lately: one with a smaller number may be written down later."""

_BEFORE = "remarks before"
"""The fact with the number up to which no remark is taken any more, whether or not it was taken."""

_LATE = 1_000  # a remark with a number this much smaller than the last one's is still taken

_TRIED = "remark tried"
"""The fact with the number of the last remark that was begun with, and how many times."""

_TRIES = 5


class Presence:
    """The presence of one store. Only one thread may use it."""

    def __init__(self, store: Store, queue: Queue, collector: Collector) -> None:
        self._store, self._queue, self._collector = store, queue, collector
        self._told: dict[str, str] | None = None
        self._sent: dict[tuple[str, str], int] = {}

    @property
    def taken(self) -> int:
        """Return the number of the last remark that was taken; 0 for none."""
        return int(self._queue.fact(_TAKEN) or 0)

    @property
    def _recent(self) -> list[int]:
        return list(loads(self._queue.fact(_RECENT) or "[]"))

    @property
    def _least(self) -> int:
        """Return the number above which remarks are taken that have not been taken yet."""
        taken = self.taken
        if max(self._recent, default=0) < taken:
            return taken  # 0.2.0 took the last one, and keeps no list of those that it took
        return max(taken - _LATE, int(self._queue.fact(_BEFORE) or 0))

    def meet(self, connection: Connection, host: OwnHost) -> None:
        """Tell what runs, send more of what is watched, and take remarks, all as the host's role."""
        running = self._running()
        self._tell(connection, host, running)
        if host.is_watched or self._sent:
            self.send(connection, host, running)
        self._take_remarks(connection, host)

    def _running(self) -> dict[str, Buffer]:
        found = self._store.index.running()[:_RUNNING]
        return {one.name: self._store.with_progress(one) for one in found if not self._collector.why_not(one)}

    def _tell(self, connection: Connection, host: OwnHost, running: dict[str, Buffer]) -> None:
        records = {}
        for name, buffer in running.items():
            records[name] = dumps(record_of(buffer, redaction_of(self._store.settings)))
        if records == self._told:
            return
        with connection.transaction():
            connection.execute("DELETE FROM sightline.running WHERE host = %s", (host.id,))
            connection.execute(
                "INSERT INTO sightline.running (host, name, record) SELECT %s, name, record::jsonb"
                " FROM unnest(%s::text[], %s::text[]) AS given (name, record)",
                (host.id, list(records), list(records.values())),
            )
        self._told = records

    def send(self, connection: Connection, host: OwnHost, running: dict[str, Buffer] | None = None) -> None:
        """Send what came of the outputs that somebody looks at; remove what has ended."""
        running = self._running() if running is None else running
        watched = {
            row[0]
            for row in connection.execute(
                "SELECT name FROM sightline.watches WHERE host = %s AND until > now()", (host.id,)
            )
        }
        if redaction_of(self._store.settings) is not None and not self._store.settings.redacts:
            return  # secrets are hidden there in whole streams only
        for name in {name for name, _ in self._sent} - (watched & running.keys()):
            connection.execute("DELETE FROM sightline.live WHERE host = %s AND name = %s", (host.id, name))
            self._sent = {key: size for key, size in self._sent.items() if key[0] != name}
        for name in watched & running.keys():
            for stream in ("out", "err"):
                self._send(connection, host, running[name], stream)

    def _send(self, connection: Connection, host: OwnHost, buffer: Buffer, stream: str) -> None:
        key = (buffer.name, stream)
        if key not in self._sent:  # another shipper may have sent some, in other pieces
            connection.execute(
                "DELETE FROM sightline.live WHERE host = %s AND name = %s AND stream = %s", (host.id, *key)
            )
            self._sent[key] = 0
        try:
            with self._store.open(Target(buffer, stream)) as reader:
                for _ in range(_CHUNKS):
                    chunk = reader.read(self._sent[key], CHUNK_BYTES)
                    if not chunk:
                        return
                    connection.execute(
                        "INSERT INTO sightline.live (host, name, stream, at, chunk) VALUES (%s, %s, %s, %s, %s)"
                        " ON CONFLICT DO NOTHING",
                        (host.id, *key, self._sent[key], chunk),
                    )
                    self._sent[key] += len(chunk)
        except SightlineError:
            return  # it is gone meanwhile

    def _take_remarks(self, connection: Connection, host: OwnHost) -> None:
        rows = connection.execute(
            "SELECT id, reader, ref, session, text, extract(epoch FROM made)::float8 FROM sightline.remarks"
            " WHERE host = %s AND id > %s AND id <> ALL (%s) ORDER BY id LIMIT %s",
            (host.id, self._least, self._recent, _REMARKS),
        ).fetchall()
        if not rows:
            return
        with self._queue.turn("remarks"):
            for number, reader, ref, session, text, made in rows:
                if number in self._recent or number <= self._least:
                    continue  # another shipper was first
                if self._may_try(number):
                    try:
                        self._take_remark(number, str(reader), str(ref), str(session), str(text), made)
                    except StoreFailed:  # the disk is full or the like, so it is tried again later
                        self._queue.put_fact(_TRIED, "")
                        return
                # Last, so that nothing is lost with a shipper that is killed.
                self._queue.put_fact(_BEFORE, str(self._least))
                self._queue.put_fact(_RECENT, dumps([*self._recent, number][-_LATE:]))
                self._queue.put_fact(_TAKEN, str(max(number, self.taken)))

    def _may_try(self, number: int) -> bool:
        """Count a try, so that a remark that ends each shipper is not tried for ever."""
        tried, _, times = self._queue.fact(_TRIED).partition(":")
        nth = int(times) + 1 if tried == str(number) else 1
        self._queue.put_fact(_TRIED, f"{number}:{nth}")
        return nth <= _TRIES

    def _take_remark(self, number: int, reader: str, ref: str, session: str, text: str, made: float) -> None:
        """Write a remark down and send it on; a shipper that was killed may have done either. Raises StoreFailed."""
        who = Session(safe_name(f"reader-{reader}"), OF_READERS, "", "", "", time.time())
        try:
            if parse_ref(ref).host:
                return
            note, is_done = note_of_remark(self._store, who, number) or (None, False)
            if note is None:
                note = write_note(self._store, who, self._store.resolve(ref), text, remark=number, written=made)
            if not is_done:
                send_note(self._store, who, note, safe_name(session) if session not in ("", "*") else "*")
        except StoreFailed:
            raise
        except SightlineError:
            return  # its output is gone, or it is too long
