"""Shipping: small captures, a large stream, many hosts at once, one at rest, and one that is ended again and again."""

import concurrent.futures
import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import SIGHTLINE, Ran, Row, mib, run
from sightline.base.records import Buffer
from sightline.settings.config import FleetSettings, Settings
from sightline.store import Store
from tests.store.fleet import servers

with contextlib.suppress(ImportError):  # without the extra `servers.missing` says so
    import psycopg

    from sightline.fleet.address import ObjectsAddress, database_address, objects_address
    from sightline.fleet.administration import add_host, initialise, passfile_line
    from sightline.fleet.database import connected
    from sightline.fleet.maintenance import maintain
    from sightline.fleet.objects import Objects
    from sightline.fleet.shipper import Shipper
    from sightline.fleet.verification import Verification

SMALL, SMALL_BYTES = 20_000, 4_096
LARGE_BYTES = 1_000 << 20
HOSTS, OF_HOST = 200, 20
ENDED, OF_ENDED = 200, 30
_REST_SECONDS = 30.0
_AIM_SMALL, _AIM_LARGE_MB, _AIM_MEMORY_MIB, _AIM_REST = 2_000, 60, 100, 0.01
_LINE = "2026-01-02T03:04:05.678 INFO  worker-{} request {:010d} done in {} ms, {} bytes sent to client {:04x}\n"


def rows(folder: str, scale: float) -> list[Row]:
    """All of it, against servers of its own."""
    with running_fleet(folder) as fleet:
        if fleet is None:
            return []
        return [
            *_small(fleet, int(SMALL * scale)),
            *_large(fleet, int(LARGE_BYTES * scale)),
            _many(fleet, max(int(HOSTS * scale), 10)),
            _at_rest(fleet),
            _ended(fleet, max(int(ENDED * scale), 10)),
        ]


@contextlib.contextmanager
def running_fleet(folder: str) -> "Iterator[BenchFleet | None]":
    """Run a fleet with servers of its own; None where they cannot be had, which is printed."""
    if missing := servers.missing():
        print(f"  left out: {missing}")
        yield None
        return
    os.chmod(folder, 0o755)  # PostgreSQL does not run as root: whom it runs as must get in
    with servers.running(Path(folder) / "servers", inline_objects=False) as (postgres, objects):
        yield BenchFleet(folder, postgres, objects)


class BenchFleet:
    """A fleet, and stores that ship to it."""

    def __init__(self, folder: str, postgres: servers.Postgres, objects: servers.ObjectStore) -> None:
        self.folder, self.postgres = folder, postgres
        self.address = database_address(postgres.url("postgres"))
        self.objects_address: ObjectsAddress = objects_address(f"s3://{servers.BUCKET}/b?endpoint={objects.endpoint}")
        self.passwords = os.path.join(folder, "pgpass")
        os.environ |= {"PGPASSFILE": self.passwords, **servers.environment(servers.ADMIN_KEY)}
        self.password(passfile_line(self.address, "owner", "owner"))
        with connected(self.address, patient=True) as connection:
            initialise(connection, self.objects_address, 30)
            maintain(connection)

    def password(self, line: str) -> None:
        """Put a line into the file of passwords."""
        with open(os.open(self.passwords, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a") as file:
            file.write(line)

    def host(self, name: str, kind: str = "host") -> FleetSettings:
        """A role, and what a host of it has in its settings."""
        with connected(self.address, patient=True) as connection:
            added = add_host(connection, name, team="bench", owner="bench", kind=kind, password=True)
        url = database_address(self.postgres.url("postgres", added.role))
        assert added.password
        self.password(passfile_line(url, added.role, added.password))
        return FleetSettings(db=str(url), objects=str(self.objects_address))

    def store(self, name: str, settings: FleetSettings) -> Store:
        """A store with these settings, in its file too, for processes beside this one."""
        store = Store(os.path.join(self.folder, name), Settings(fleet=settings))
        with open(store.layout.config, "w") as file:
            file.write(f'[fleet]\ndb = "{settings.db}"\nobjects = "{settings.objects}"\n')
        return store

    def environment(self, store: Store) -> Mapping[str, str]:
        """For a process that ships it."""
        return {**os.environ, "SIGHTLINE_HOME": store.root}

    def verified(self) -> tuple[int, int]:
        """(buffers, problems) of everything, every byte read."""
        with connected(self.address, patient=True) as connection:
            verification = Verification(connection, Objects(self.objects_address), contents=True)
            problems = [finding for finding in verification.findings() if finding.kind == "problem"]
            for problem in problems[:5]:
                print(f"  {problem.host}: {problem.text}")
            return verification.verified.buffers, len(problems)


def _text(size: int, seed: int) -> bytes:
    rng = random.Random(seed)
    lines: list[str] = []
    held = 0
    while held < size:
        line = _LINE.format(
            rng.randrange(9), rng.randrange(10**9), rng.randrange(900), rng.randrange(10**6), seed & 0xFFFF
        )
        lines.append(line)
        held += len(line)
    return "".join(lines).encode()[:size]


def stream_of(store: Store, command: str, size: int, exit_code: int = 0) -> Buffer:
    """Capture a log of so many bytes; if the command failed, two lines say so, one of them in the middle."""
    recording = store.begin("cmd", command, "/work", "bench")
    recording.register()
    piece = _text(min(size, 16 << 20), 7)
    for at in range(0, size, len(piece)):
        recording.append("out", piece[: size - at])
    if exit_code:
        recording.append("out", b"\nsrc/one.c:12:5: error: expected ';' before 'return'\n" + piece)
        recording.append("out", b"\nmake: *** [Makefile:2: all] Error 2\n")
    return recording.seal(exit_code=exit_code)


def _keep(store: Store, count: int, size: int, first: int = 0) -> None:
    text = _text(size + count * 16, first)
    for number in range(count):
        recording = store.begin("cmd", f"make part-{first + number}", "/work", "bench")
        recording.register()
        recording.append("out", text[number * 16 : number * 16 + size])
        recording.seal(exit_code=0)


def _small(fleet: BenchFleet, count: int) -> Iterator[Row]:
    with fleet.store("small", fleet.host("small")) as store:
        _keep(store, count, SMALL_BYTES)
        ran, judging = _shipped(fleet, store)
        copied, put = _floor(fleet)
        floor = f"COPY {copied:.2f} s + PUT {put:.2f} s"
        rate = count / ran.seconds
        yield Row(f"{count:,} captures of 4 KB, ms each", f"{rate:,.0f}/s", floor, 1e3 / rate, 1e3 / _AIM_SMALL)
        yield Row("… judged after that, ms each", f"{count / judging:,.0f}/s", "", 1e3 * judging / count, None)
        yield Row("… to COPY of the same rows and PUT of the same bytes", "", floor, ran.seconds / (copied + put), None)
        yield _memory("… of small captures", ran)


def _large(fleet: BenchFleet, size: int) -> Iterator[Row]:
    with fleet.store("large", fleet.host("large")) as store:
        stream_of(store, "make world", size)
        ran, judging = _shipped(fleet, store)
        _, put = _floor(fleet, "large")
        speed = size / ran.seconds / 1e6
        yield Row(
            f"a stream of {mib(size)}: ns a byte",
            f"{speed:.0f} MB/s",
            f"PUT {put:.2f} s",
            1e3 / speed,
            1e3 / _AIM_LARGE_MB,
        )
        yield Row("… judged after that: ns a byte", f"{size / judging / 1e6:.0f} MB/s", "", 1e9 * judging / size, None)
        yield _memory("… of a large stream", ran)


def _shipped(fleet: BenchFleet, store: Store) -> tuple[Ran, float]:
    """As `run`, of a shipper until all is shipped, with its peak until the end; and the seconds of judging after that.

    Its memory is looked at while it runs, since what is told of a child counts ours, too.
    """
    began = time.perf_counter()
    environment = fleet.environment(store)
    ships = subprocess.Popen([*SIGHTLINE, "ship", "--drain"], env=environment, stdout=subprocess.PIPE)
    assert ships.stdout
    peak, seconds = 0, 0.0
    os.set_blocking(ships.stdout.fileno(), False)
    while ships.poll() is None:
        with contextlib.suppress(OSError, IndexError):
            status = Path(f"/proc/{ships.pid}/status").read_text()
            if f"\nPPid:\t{os.getpid()}\n" in status:
                peak = max(peak, int(status.partition("VmHWM:")[2].split()[0]) * 1024)
        if not seconds and ships.stdout.read():  # it tells once all is shipped
            seconds = time.perf_counter() - began
        time.sleep(0.01)
    judged = time.perf_counter() - began - seconds
    ships.stdout.close()
    if ships.returncode:
        raise RuntimeError(f"the shipper ended with {ships.returncode}")
    return Ran(seconds, peak), judged


def _memory(what: str, ran: Ran) -> Row:
    peak = ran.peak_bytes / (1 << 20)
    return Row(f"{what}: peak memory, MiB", f"{peak:.0f} MiB", "", peak, _AIM_MEMORY_MIB)


def _floor(fleet: BenchFleet, host: str = "small") -> tuple[float, float]:
    """Seconds of COPY of a host's rows into a table with the same indexes, and of PUT of its packs, one by one."""
    with psycopg.connect(fleet.postgres.url("postgres"), password="owner", autocommit=True) as connection:
        (number,) = connection.execute("SELECT id FROM sightline.hosts WHERE name = %s", (host,)).fetchone() or (0,)
        connection.execute("CREATE TABLE floor (LIKE sightline.buffers INCLUDING INDEXES)")
        with connection.cursor() as cursor:
            with cursor.copy(f"COPY (SELECT * FROM sightline.buffers WHERE host = {number:d}) TO STDOUT") as out:
                data = [bytes(block) for block in out]
            began = time.perf_counter()
            with cursor.copy("COPY floor FROM STDIN") as into:
                for block in data:
                    into.write(block)
            copied = time.perf_counter() - began
        connection.execute("DROP TABLE floor")
    objects = Objects(fleet.objects_address)
    stored = [objects.get(found.key) for found in objects.list(f"t/bench/h/{host}/")]
    began = time.perf_counter()
    for place, pack in enumerate(stored):
        objects.put(f"floor/{host}/{place}", pack)
    return copied, time.perf_counter() - began


def _many(fleet: BenchFleet, count: int) -> Row:
    """Hosts that all ship at once, more than the database has connections for."""
    settings = fleet.host("ci", kind="ci")
    together = threading.Barrier(count)

    def ships(number: int) -> int:
        with fleet.store(f"ci-{number}", settings._replace(host=f"job-{number}")) as store:
            _keep(store, OF_HOST, SMALL_BYTES, number)
            with Shipper(store) as shipper:
                together.wait()
                shipper.drain()
                return int(shipper.queue.waiting().items)

    began = time.perf_counter()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        for one in [pool.submit(ships, number) for number in range(count)]:
            failed += one.exception() is not None or one.result() != 0
    seconds = time.perf_counter() - began
    (arrived,) = fleet.postgres.execute(
        "postgres", "SELECT count(*) FROM sightline.buffers JOIN sightline.hosts ON id = host WHERE hosts.kind = 'ci'"
    )[0]
    missing = count * OF_HOST - int(arrived)
    return Row(f"{count} hosts at once: errors and rows missing", f"{seconds:.1f} s", "", failed + missing, 0)


def _at_rest(fleet: BenchFleet) -> Row:
    with fleet.store("rest", fleet.host("rest")) as store:
        _keep(store, 1_000, 64)
        run([*SIGHTLINE, "ship", "--drain"], fleet.environment(store))
        follows = subprocess.Popen([*SIGHTLINE, "ship", "--follow"], env=fleet.environment(store))
        try:
            time.sleep(8.0)
            began, used = time.perf_counter(), processor_seconds(follows.pid)
            time.sleep(_REST_SECONDS)
            share = (processor_seconds(follows.pid) - used) / (time.perf_counter() - began)
        finally:
            follows.terminate()
            follows.wait()
    return Row("a host where nothing happens: share of a core", f"{share:.2%}", "", share, _AIM_REST)


def processor_seconds(pid: int) -> float:
    """Return the seconds of a processor that a process has used, its own and the system's."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _ended(fleet: BenchFleet, times: int) -> Row:
    """A shipper that is killed at random moments, started again each time, while captures come."""
    rng = random.Random(1)
    with fleet.store("ended", fleet.host("ended")) as store:
        killed = made = 0
        while killed < times:
            _keep(store, OF_ENDED, SMALL_BYTES, made)
            made += OF_ENDED
            ships: subprocess.Popen[Any] = subprocess.Popen(
                [*SIGHTLINE, "ship", "--drain"], env=fleet.environment(store), stdout=subprocess.DEVNULL
            )
            try:
                ships.wait(rng.uniform(0.15, 0.9))
            except subprocess.TimeoutExpired:
                ships.send_signal(signal.SIGKILL)
                ships.wait()
                killed += 1
        run([*SIGHTLINE, "ship", "--drain"], fleet.environment(store))
        names = fleet.postgres.execute(
            "postgres",
            "SELECT buffers.name FROM sightline.buffers JOIN sightline.hosts ON id = host WHERE hosts.name = 'ended'",
        )
        doubled = len(names) - len(set(names))
        missing = made - len(set(names))
    _, problems = fleet.verified()
    what = f"killed {killed} times: captures lost or doubled, and problems that verify finds"
    return Row(what, f"{made:,} captures", "", missing + doubled + problems, 0)


if __name__ == "__main__":
    sys.exit("python -m benchmarks fleet")
