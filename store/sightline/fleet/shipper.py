"""The shipper of one store: packs what is done, stores it, announces it, and leaves the database until the next time.

Each step can be repeated: a pack's name is its hash, a row's key is made from its content, and an announcement counts
only if the cursor is where its batch begins. So whatever ends a shipper, and whenever, the next one goes on.
"""

import hashlib
import os
import random
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from sightline.base.distribution import version
from sightline.base.errors import SightlineError
from sightline.fleet.address import database_address, objects_address
from sightline.fleet.announcement import UNFIT, Fenced, OwnHost, announce, enter, greet
from sightline.fleet.batch import BATCH_BYTES, MOST_ITEMS, Batch, Making, PackRow, PackSpool, make_batch
from sightline.fleet.collector import Collector
from sightline.fleet.content import fit, hashes_of, redaction_of
from sightline.fleet.database import FleetRefused, FleetUnreachable, connected, may_write, tables_of
from sightline.fleet.judging import Judging
from sightline.fleet.objects import Objects, key_of, pack_key
from sightline.fleet.presence import Presence
from sightline.fleet.queue import Queue
from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple
from sightline.store import Store

FLUSH_SECONDS = 60.0
WATCHED_SECONDS = 5.0
_GREET_SECONDS = 300.0  # between two messages of a host that has nothing to ship
_ACTIVE_SECONDS = 300.0  # after the last item, during which a reader's remark is taken as soon as if one watched
LIVE_SECONDS = 3.0  # between two questions whether somebody watches, while something runs
_LEAST_WAIT, _MOST_WAIT = 1.0, 60.0
_JUDGING_SECONDS = 1.0  # after which what came meanwhile is shipped first
_MANY_TIMES = 3
_WITH_PRESENCE = 2  # the version of the fleet's tables from which on hosts tell what runs
_WITH_JUDGEMENTS = 4  # likewise, what they found
_WITH_FACTS = 6  # likewise, what their verdict on each output is


class NotSet(SightlineError):
    """No fleet is set."""

    exit_code = 2


class ShippingProgress(NamedTuple):
    """How far a shipper is: items and bytes shipped since it began, and the items that wait."""

    items: int
    bytes: int
    waiting_items: int


class Shipper:
    """Ships one store. Close it, or use it as a context manager.

    Attributes:
        host: what the fleet knows about the store; None before it was asked.
        most_items: of one batch; one where a larger batch was refused.
    """

    def __init__(self, store: Store, *, tell: Callable[[ShippingProgress], None] = lambda _: None) -> None:
        """Prepare; nothing is asked of the network yet.

        Raises:
            NotSet: no fleet is set.
            BadAddress, SecretInAddress: an address is not valid.
        """
        settings = store.settings.fleet
        if not settings.db or not settings.objects:
            raise NotSet(
                "no fleet is set",
                f'write [fleet] db = "postgresql://…" and objects = "s3://…" into {store.layout.config}: '
                "`fleet add-host` prints both",
            )
        self._store, self._settings, self._tell = store, settings, tell
        self._database, self._objects_address = database_address(settings.db), objects_address(settings.objects)
        self._objects = Objects(self._objects_address, key=key_of(store.root))
        self.queue = Queue(store.root)
        self._collector = Collector(store, self.queue)
        self._spool = PackSpool(self.queue.folder)
        self._presence = Presence(store, self.queue, self._collector)
        self._judging = Judging(store, self.queue, self._collector)
        self._puts = ThreadPoolExecutor(1, "sightline-put")
        self._putting: Future[None] | None = None
        self.most_items = MOST_ITEMS
        self._anew = 0
        self._ran = False
        self._active_until = 0.0
        self._shipped_items = self._shipped_bytes = 0
        self._version = 0
        self.host: OwnHost | None = None

    def __enter__(self) -> "Shipper":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what is open."""
        self._puts.shutdown(cancel_futures=True)
        self.queue.close()

    # one batch

    def look(self, *, whole: bool = False) -> None:
        """Queue what is new in the store."""
        self._collector.look(whole=whole)

    def ship_batch(self) -> bool:
        """Ship what waits, as much as fits into one announcement; return False if nothing waits.

        Raises:
            FleetUnreachable: it is not possible now.
            FleetRefused, NewerFleet, NotAFleet: somebody has to mend it first.
        """
        with self.queue.turn():
            asked_before = self.host is not None
            host = self.host or self._entered()
            if asked_before and not self.queue.agrees(*host.cursor):
                host = self._entered()  # another shipper of this store may have moved the cursor
            if not self.queue.agrees(*host.cursor):
                self._start_anew(host)
            batch = self._stored(host)
            if batch is None:
                return False
            self._announce(host, batch)
            return True

    def _entered(self) -> OwnHost:
        """Ask the fleet what it knows about this store, and where its cursor is."""
        with connected(self._database, self._settings.password_program()) as connection:
            tables = tables_of(connection)
            may_write(tables)
            if tables.objects != str(self._objects_address):
                raise FleetRefused(
                    f"the fleet's objects are at {tables.objects}, not at {self._objects_address}",
                    "correct [fleet] objects; nobody would find what is shipped there",
                )
            self._version = tables.version
            self.host = enter(connection, self.queue.store_id, fit(self._settings.host))
            if tables.version >= _WITH_PRESENCE:
                self._presence.meet(connection, self.host)
        self.queue.put_fact("contact", repr(time.time()))
        self.queue.put_fact("error", "")
        self.queue.put_fact("host", self.host.name)
        return self.host

    def _start_anew(self, host: OwnHost) -> None:
        self._anew += 1
        if self._anew > _MANY_TIMES:
            raise FleetRefused(
                f"another store also ships as {host.name}: one of the two is a copy of the other",
                f"in one of them remove {os.path.join(self.queue.folder, 'store')}: it becomes a host of its own",
            )
        self._spool.clear()
        self.queue.start_anew(*host.cursor)
        self._collector.start_anew()
        self.look(whole=True)

    def _stored(self, host: OwnHost) -> Batch | None:
        """Return the next batch, with all of its packs stored; None if nothing waits."""
        rules = self._rules()
        batch = self._spool.batch(host.cursor, rules)
        if batch is not None:
            for row in batch.packs:
                data = self._spool.pack(row.sha256)
                if data is not None:  # otherwise it was stored: a batch is only kept with its packs
                    self._put(host, row, data)
            return batch
        making = Making(
            self._store,
            self.queue,
            rules,
            may_ship=self._collector.ships,
            spool=self._spool,
            take=lambda row, data: self._put_beside(host, row, data),
            most_items=self.most_items,
        )
        batch = make_batch(making, host.cursor)
        self._put_is_done()
        return batch

    def _obey_settings(self) -> None:
        """Go by what may be shipped now; another address counts from the next start on. Raises SettingError."""
        if self._store.obey_settings():
            self._settings = self._store.settings.fleet
            self._collector.forget_folders()

    def _rules(self) -> str:
        settings = self._store.settings
        decided = [
            self._settings.redact_known,
            settings.redact_known,
            settings.redact_patterns,
            settings.capture_off,
            settings.ship_off,
            self._settings.max_buffer_bytes,
        ]
        return hashlib.sha256(dumps(decided).encode()).hexdigest()[:16]

    def _put_beside(self, host: OwnHost, row: PackRow, data: bytes) -> None:
        self._put_is_done()
        self._putting = self._puts.submit(self._put, host, row, data)

    def _put_is_done(self) -> None:
        putting, self._putting = self._putting, None
        if putting is not None:
            putting.result()

    def _put(self, host: OwnHost, row: PackRow, data: bytes) -> None:
        if not self._spool.is_stored(row):
            self._objects.put(pack_key(host.team, host.member, self.queue.store_id, row.day, row.sha256), data)
            self._spool.note_stored(row)

    def _announce(self, host: OwnHost, batch: Batch) -> None:
        behind = self._behind(batch.end.seq)
        try:
            with connected(self._database, self._settings.password_program()) as connection:
                try:
                    announce(connection, host, batch, behind)
                except UNFIT as error:
                    self._find_unfit(batch, str(error).partition("\n")[0])
                    return
        except Fenced:
            self.host = None  # it is asked again, because another shipper has moved it
            self._spool.clear()
            return
        before = self.queue.waiting()
        self.queue.agrees(*batch.end)
        self.queue.put_places(batch.places, hashes_of(batch.rows))
        self._spool.clear(announced=True)
        after = self.queue.waiting()
        self.most_items = MOST_ITEMS
        self._shipped_items += before.items - after.items
        self._shipped_bytes += sum(row.raw for row in batch.packs)
        self.host = host._replace(cursor=batch.end)
        self.queue.put_fact("contact", repr(time.time()))
        self._tell(ShippingProgress(self._shipped_items, self._shipped_bytes, after.items))

    def _find_unfit(self, batch: Batch, why: str) -> None:
        """Find the row that the database never accepts, by shipping single items, and leave it out."""
        self._spool.clear()
        items = self.queue.items(batch.begin.seq, 2)
        if self.most_items > 1 and batch.end.seq != items[0].seq:
            self.most_items = 1
        else:
            with self.queue.changing():
                self.queue.drop(items[0])
                self.queue.leave_out(items[0].name, f"the database does not take it: {why}", items[0].bytes)

    def _behind(self, after: int = 0) -> dict[str, object]:
        waiting = self.queue.waiting(after)
        return {
            "items": waiting.items,
            "bytes": waiting.bytes,
            "oldest": waiting.oldest,
            "remarks": self._presence.taken,
            "version": version(),
            "redacts": redaction_of(self._store.settings) is not None,
        }

    def judge(self, *, at_once: bool = True, stop: Callable[[], bool] = lambda: False) -> None:
        """Tell the fleet what failed in what was shipped, so that its readers need not examine that.

        Args:
            at_once: whether to judge sessions that may go on, too.
            stop: asked again and again; what is left is done the next time.

        Raises:
            FleetUnreachable, FleetRefused: it is not possible now.
        """
        if self.host is not None and self._version >= _WITH_JUDGEMENTS:
            connect = partial(connected, self._database, self._settings.password_program())
            with_facts = self._version >= _WITH_FACTS
            self._judging.judge(connect, self.host, at_once=at_once, with_facts=with_facts, stop=stop)

    # again and again

    def drain(self, *, until: float | None = None) -> None:
        """Ship all that is done now.

        Args:
            until: when to give up, by the monotonic clock; None for never.

        Raises:
            FleetUnreachable: not everything was shipped in time.
            FleetRefused, NewerFleet, NotAFleet: somebody has to mend it first.
        """
        self.look(whole=True)
        wait = _LEAST_WAIT
        while True:
            try:
                self._obey_settings()
                while self.ship_batch():
                    wait = _LEAST_WAIT
                return
            except FleetUnreachable as error:
                self._note(error)
                pause = jittered(wait)
                if until is not None and time.monotonic() + pause > until:
                    raise
                time.sleep(pause)
                wait = min(wait * 2, _MOST_WAIT)
            except SightlineError as error:
                self._note(error)
                raise

    def follow(self, wait_for: Callable[[float], bool]) -> None:
        """Ship continuously: what waits is shipped at 8 MiB, or after 60 s, or 5 s if somebody watches.

        Args:
            wait_for: waits this many seconds, and returns True to end.
        """
        again_at = time.monotonic() + random.uniform(0, 1)  # noqa: S311 - so that hosts started at once come one by one
        greeted = time.monotonic()
        wait = _LEAST_WAIT
        while not wait_for(1.0):
            try:
                self._obey_settings()
                self.look()
                waiting = self.queue.waiting()
                now = time.monotonic()
                if waiting.items:
                    self._active_until = now + _ACTIVE_SECONDS
                age = time.time() - waiting.oldest if waiting.items else 0.0
                due = age >= (WATCHED_SECONDS if self.host and self.host.is_watched else FLUSH_SECONDS)
                if now < again_at:
                    continue
                if self.host and self.host.is_watched and self._store.index.running():
                    self._send_live(self.host)
                if waiting.items and (due or waiting.bytes >= BATCH_BYTES):
                    while self.ship_batch() and not wait_for(0.0):
                        pass
                    greeted = now
                elif now >= greeted + self._greet_after():
                    self.greet()
                    greeted = now
                self.judge(at_once=False, stop=partial(_is_past, time.monotonic() + _JUDGING_SECONDS, wait_for))
                wait = _LEAST_WAIT
            except (FleetUnreachable, OSError, sqlite3.Error) as error:
                self._note(error)
                again_at, wait = time.monotonic() + jittered(wait), min(wait * 2, _MOST_WAIT)
            except SightlineError as error:  # somebody must mend it, which is checked rarely
                self._note(error)
                again_at, wait = time.monotonic() + jittered(_MOST_WAIT), _MOST_WAIT

    def _send_live(self, host: OwnHost) -> None:
        with connected(self._database, self._settings.password_program()) as connection:
            self._presence.send(connection, host)

    def _greet_after(self) -> float:
        runs = bool(self._store.index.running())
        ran, self._ran = self._ran, runs  # the end of a run is told at once, too
        if runs or ran:
            return LIVE_SECONDS
        return WATCHED_SECONDS if time.monotonic() < self._active_until else _GREET_SECONDS

    def greet(self) -> None:
        """Tell the fleet that the host is there, and what runs; take remarks. Raises what `ship_batch` raises."""
        host = self._entered()
        with connected(self._database, self._settings.password_program()) as connection:
            greet(connection, host, self._behind())

    def _note(self, error: Exception) -> None:
        """Keep what went wrong, for the status."""
        self.queue.put_fact("error", str(error))
        self.queue.put_fact("error_at", repr(time.time()))


def _is_past(until: float, wait_for: Callable[[float], bool]) -> bool:
    return time.monotonic() > until or wait_for(0.0)


def jittered(seconds: float) -> float:
    """Return a time between half of it and all, so that hosts that were refused together do not return together."""
    return seconds * random.uniform(0.5, 1.0)  # noqa: S311 - nobody gains by guessing it
