"""Servers that are down, slow, full or denying, clocks that are wrong: what is not shipped stays, and goes later."""

import contextlib
import os
import re
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

psycopg = pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.fleet import shipper as shippers
from sightline.fleet.address import objects_address
from sightline.fleet.database import FleetRefused, FleetUnreachable, NotAFleet, connected
from sightline.fleet.objects import Objects
from sightline.fleet.queue import Queue
from sightline.fleet.shipper import Shipper, jittered
from sightline.fleet.status import in_words, ship_status
from sightline.fleet.verification import Verification
from sightline.settings.config import FleetSettings
from sightline.store import Store
from tests.store.fleet.conftest import Fleet, Hosts, keep_in, show

MEMORY_MIB = 100


def problems(fleet: Fleet) -> list[str]:
    with connected(fleet.address) as connection:
        found = Verification(connection, Objects(fleet.objects_address), contents=True).findings()
        return [finding.text for finding in found if finding.kind == "problem"]


@pytest.fixture
def host(fleet: Fleet) -> FleetSettings:
    return fleet.add_host("host1")


@pytest.fixture(autouse=True)
def no_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The object store's client asks once: how often it asks again is its own affair."""
    monkeypatch.setattr(shippers, "Objects", partial(Objects, retries=0))


class Server(ThreadingHTTPServer):
    """Does not ask for the machine's name, which may take seconds."""

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", int(self.server_address[1])


@contextlib.contextmanager
def answering(status: int, goes_on: threading.Event | None = None, body: bytes = b"") -> Iterator[str]:
    """A store of objects that always answers so, once it may: its URL."""
    waits = goes_on

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if waits:
                waits.wait()
            with contextlib.suppress(OSError):
                self.send_response(status)
                self.send_header("ETag", '"0"')
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def fails(store: Store, expected: type[Exception]) -> str:
    """What a shipper that gives up says; nothing is announced."""
    with Shipper(store) as shipper, pytest.raises(expected) as raised:
        shipper.drain(until=time.monotonic())
    return str(raised.value)


def ships(store: Store) -> None:
    with Shipper(store) as shipper:
        shipper.drain()


@pytest.mark.parametrize(
    ("status", "expected"),
    [(500, FleetUnreachable), (503, FleetUnreachable), (507, FleetUnreachable), (403, FleetRefused)],
)
def test_an_object_store_that_fails_is_told_and_nothing_is_announced(
    fleet: Fleet, host: FleetSettings, status: int, expected: type[Exception]
) -> None:
    with answering(status) as endpoint:
        elsewhere = f"s3://outputs/fleet/{fleet.id}?endpoint={endpoint}"
        fleet.rows("UPDATE sightline.fleet SET objects = %s", elsewhere)
        with fleet.store("one", host._replace(objects=elsewhere)) as store:
            kept = keep_in(store, b"x\n")
            assert endpoint in fails(store, expected)
            words = in_words(ship_status(store), "db")
            assert re.search(r"last error, at \d{4}-\d\d-\d\d \d\d:\d\d, \d+ s ago: ", words)
    assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(0,)]
    fleet.rows("UPDATE sightline.fleet SET objects = %s", str(fleet.objects_address))
    with fleet.store("one", host) as store:
        assert ship_status(store).items == 1
        ships(store)
    assert fleet.rows("SELECT name FROM sightline.buffers") == [(kept.name,)]
    assert problems(fleet) == []


@pytest.mark.parametrize(
    ("shift", "expected"),
    [
        (7200, "this machine's clock is 120 min behind the object store's"),
        (-7200, "this machine's clock is 120 min ahead of the object store's"),
        (None, "this machine's clock is too far from the object store's"),
    ],
)
def test_a_clock_that_is_off_is_called_that(fleet: Fleet, shift: int | None, expected: str) -> None:
    stated = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + (shift or 0)))
    of_store = f"<ServerTime>{stated}</ServerTime>" if shift else ""
    body = f'<?xml version="1.0"?><Error><Code>RequestTimeTooSkewed</Code><Message>x</Message>{of_store}</Error>'
    with answering(403, body=body.encode()) as endpoint:
        objects = Objects(objects_address(f"s3://outputs/fleet/{fleet.id}?endpoint={endpoint}"), retries=0)
        with pytest.raises(FleetRefused, match=expected) as refused:
            objects.put("t/alpha/x", b"x")
    assert "clock" in refused.value.hint


def test_a_number_in_a_key_is_not_taken_for_what_the_object_store_answered(fleet: Fleet) -> None:
    with answering(507) as endpoint:
        objects = Objects(objects_address(f"s3://outputs/fleet/{fleet.id}?endpoint={endpoint}"), retries=0)
        with pytest.raises(FleetUnreachable):
            objects.put("t/alpha/403/401", b"x")


def test_an_object_store_that_is_slow_holds_no_connection_to_the_database(
    fleet: Fleet, host: FleetSettings, until: Callable[[Callable[[], object]], None]
) -> None:
    goes_on, putting = threading.Event(), threading.Event()
    with answering(200, goes_on) as endpoint:
        elsewhere = f"s3://outputs/fleet/{fleet.id}?endpoint={endpoint}"
        fleet.rows("UPDATE sightline.fleet SET objects = %s", elsewhere)
        with fleet.store("one", host._replace(objects=elsewhere)) as store, Shipper(store) as shipper:
            keep_in(store, b"x\n")
            put = shipper._objects.put
            shipper._objects.put = lambda *given: (putting.set(), put(*given))[1]  # type: ignore[method-assign]
            thread = threading.Thread(target=lambda: shipper.drain(until=time.monotonic()))
            thread.start()
            try:
                until(putting.is_set)
                sessions = "SELECT count(*) FROM pg_stat_activity WHERE usename LIKE 'sightline%%'"
                until(lambda: fleet.rows(sessions) == [(0,)])
                assert thread.is_alive()
            finally:
                goes_on.set()
                thread.join()
    assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(1,)]


def test_a_database_that_goes_and_comes_back_has_everything_once(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        first = keep_in(store, b"before\n")
        ships(store)
        second = keep_in(store, b"meanwhile\n")
        fleet.postgres.stop()
        try:
            fails(store, FleetUnreachable)
            assert "does not take this now" in ship_status(store).error
        finally:
            fleet.postgres.start()
        ships(store)
        assert ship_status(store).error == ""
    assert fleet.rows("SELECT name FROM sightline.buffers ORDER BY seq") == [(first.name,), (second.name,)]
    assert problems(fleet) == []


def test_a_database_without_room_for_one_more_is_waited_for(
    fleet: Fleet, host: FleetSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = fleet.rows("SELECT role::text FROM sightline.members")[0][0]
    fleet.rows(f'ALTER ROLE "{role}" CONNECTION LIMIT 0')
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            fleet.rows(f'ALTER ROLE "{role}" CONNECTION LIMIT 1')

    monkeypatch.setattr(shippers.time, "sleep", sleep)
    with fleet.store("one", host) as store:
        keep_in(store, b"x\n")
        ships(store)
    assert len(waits) == 3
    assert 0.5 <= waits[0] <= 1.0 <= waits[1] <= 2.0 <= waits[2] <= 4.0
    assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(1,)]


def test_shippers_that_begin_at_once_make_one_queue(tmp_path: Path) -> None:
    begin = threading.Barrier(8)

    def opened(root: Path) -> str:
        begin.wait()
        with contextlib.closing(Queue(str(root))) as queue:
            return queue.store_id

    with ThreadPoolExecutor(begin.parties) as pool:
        for number in range(20):
            (root := tmp_path / str(number)).mkdir()
            assert len(set(pool.map(opened, [root] * begin.parties))) == 1


def test_waits_differ_and_stay_within_their_bounds() -> None:
    waits = {jittered(10.0) for _ in range(50)}
    assert len(waits) > 40
    assert 5.0 <= min(waits) <= max(waits) <= 10.0


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ('ALTER ROLE "{role}" SET default_transaction_read_only = on', FleetRefused),
        ("REVOKE INSERT ON sightline.buffers FROM sightline_host", FleetRefused),
        ("DROP SCHEMA sightline CASCADE", NotAFleet),
    ],
)
def test_a_database_that_denies_is_told(
    fleet: Fleet, host: FleetSettings, change: str, expected: type[Exception]
) -> None:
    with fleet.store("one", host) as store:
        keep_in(store, b"x\n")
        fleet.rows(change.format(role=fleet.rows("SELECT role::text FROM sightline.members")[0][0]))
        fails(store, expected)
        assert ship_status(store).items == 1


def test_a_wrong_password_is_told_without_being_told(
    fleet: Fleet, host: FleetSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSFILE", os.devnull)
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    with fleet.store("one", host) as store:
        keep_in(store, b"x\n")
        assert "hunter2" not in fails(store, FleetRefused)


@pytest.mark.parametrize("shift", [-40 * 86_400.0, 40 * 86_400.0, 8e9])
def test_a_host_whose_clock_is_wrong_ships_all_the_same(
    fleet: Fleet, host: FleetSettings, shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + shift)
    with fleet.store("one", host) as store:
        kept = keep_in(store, b"x\n")
        ships(store)
    assert fleet.rows("SELECT name FROM sightline.buffers") == [(kept.name,)]
    assert fleet.rows("SELECT abs(extract(epoch FROM now() - seen)) < 3600 FROM sightline.hosts") == [(True,)]
    assert problems(fleet) == []


def test_following_ships_at_once_where_much_waits_and_ends_when_it_is_asked_to(
    fleet: Fleet, host: FleetSettings, until: Callable[[Callable[[], object]], None]
) -> None:
    with fleet.store("one", host) as own, fleet.store("one", host) as store, Shipper(own) as shipper:
        end = threading.Event()
        thread = threading.Thread(target=shipper.follow, args=(lambda seconds: end.wait(min(seconds, 0.02)),))
        thread.start()
        try:
            large = keep_in(store, os.urandom(9 << 20))
            until(lambda: fleet.rows("SELECT name FROM sightline.buffers") == [(large.name,)])
            keep_in(store, b"small\n")
            until(lambda: shipper.queue.waiting().items)
            assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(1,)]  # it has time
        finally:
            end.set()
            thread.join()


def test_following_ships_soon_where_somebody_watches(
    fleet: Fleet,
    host: FleetSettings,
    until: Callable[[Callable[[], object]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shippers, "WATCHED_SECONDS", 0.0)
    monkeypatch.setattr(shippers, "LIVE_SECONDS", 0.0)
    with fleet.store("one", host) as own, fleet.store("one", host) as store, Shipper(own) as shipper:
        ships(store)
        shipper._entered()
        running = store.begin("cmd", "sleep", "/", "s")  # what there is to watch
        running.register()
        with psycopg.connect(fleet.grant("carl", "alpha"), autocommit=True) as reader:
            watch = "INSERT INTO sightline.watches (host, name, until) SELECT id, 'x', now() + '1 minute'"
            reader.execute(f"{watch} FROM sightline.hosts")
        end = threading.Event()
        thread = threading.Thread(target=shipper.follow, args=(lambda seconds: end.wait(min(seconds, 0.02)),))
        thread.start()
        try:
            kept = keep_in(store, b"small\n")
            until(lambda: fleet.rows("SELECT name FROM sightline.buffers") == [(kept.name,)])
        finally:
            end.set()
            thread.join()
            running.seal(exit_code=0)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="there is no /proc to ask")
def test_a_large_stream_takes_little_memory(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        recording = store.begin("cmd", "dump", "/", "s")
        recording.register()
        for _ in range(12):
            recording.append("out", os.urandom(8 << 20))
        recording.seal(exit_code=0)
        text = f'[fleet]\ndb = "{host.db}"\nobjects = "{host.objects}"\n'
        Path(store.layout.config).write_text(text)
        # Of a child that has ended, the system tells no less than its parent had when it began.
        ship = "from sightline.doors.cli.main import main; main(['ship']); print(open('/proc/self/status').read())"
        environment = {**os.environ, "SIGHTLINE_HOME": store.root}
        done = subprocess.run([sys.executable, "-c", ship], env=environment, capture_output=True, check=True, text=True)
    assert int(done.stdout.partition("VmHWM:")[2].split()[0]) < MEMORY_MIB * 1024
    assert len(fleet.objects()) == 24


def test_hosts_ship_again_what_a_database_restored_from_a_backup_lacks(hosts: Hosts) -> None:
    fleet = hosts.fleet
    backup = f"{fleet.database}_backup"
    fleet.postgres.execute("postgres", f"CREATE DATABASE {backup} TEMPLATE {fleet.database} STRATEGY file_copy")
    later = {name: keep_in(hosts.stores[name], f"later of {name}\n".encode()) for name in "ab"}
    for name, kept in later.items():
        show(hosts.stores[name], "agent", kept)
        hosts.ship(name)
    named = "SELECT count(*) FROM sightline.buffers WHERE name = ANY (%s)"
    names = [kept.name for kept in later.values()]
    assert fleet.rows(named, names) == [(2,)]
    fleet.postgres.execute("postgres", f"DROP DATABASE {fleet.database} WITH (FORCE)")
    fleet.postgres.execute("postgres", f"ALTER DATABASE {backup} RENAME TO {fleet.database}")
    assert fleet.rows(named, names) == [(0,)]
    for name in "abc":
        hosts.ship(name)
    assert fleet.rows(named, names) == [(2,)]
    assert fleet.rows("SELECT count(*), count(DISTINCT (host, name)) FROM sightline.buffers") == [(5, 5)]
    assert fleet.rows("SELECT count(*) FROM sightline.entries WHERE refs && %s", names) == [(2,)]
    assert problems(fleet) == []
