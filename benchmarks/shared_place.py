"""Reading what many hosts have shipped, as a reader of one team: of a million outputs, and of one of a gigabyte.

All but the large output have the bytes of one of two; one in ten failed. Their hosts have judged all of them, as they
do after shipping, so what is measured of an audit is asking for rows, and judging what failed.
"""

import contextlib
import os
import re
import shutil
import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from benchmarks.fleet import BenchFleet, processor_seconds, running_fleet, stream_of
from benchmarks.measure import SIGHTLINE, Row, mib, ms, run, run_with_peak
from benchmarks.screen import first_screen
from benchmarks.terminal import Terminal
from sightline.base.records import Shown
from sightline.log.sessions import current_session
from sightline.log.views import Shows, record_view
from sightline.settings.config import Settings
from sightline.shape.segments import Segment
from sightline.store import Narrowing, Store, Target

with contextlib.suppress(ImportError):  # without the extra `servers.missing` says so
    import psycopg

    from sightline.fleet.address import database_address
    from sightline.fleet.administration import grant, passfile_line
    from sightline.fleet.database import connected
    from sightline.fleet.objects import Objects, pack_key
    from sightline.fleet.reader.store import SharedStore
    from sightline.fleet.shipper import Shipper

OUTPUTS, HOSTS, CALLS = 1_000_000, 200, 200_000
LARGE_BYTES = 1 << 30
_TIMES = 15
_DAYS = 30
_AGO = "now() - make_interval(secs => 60 + n * 86400.0 * %(days)s / %(count)s)"
"""The days before, evenly."""

_MORE_HOSTS = """
INSERT INTO sightline.hosts (member, store, name, role, team, owner, kind, shipped_seq)
SELECT member, gen_random_uuid(), 'host-' || n, role, team, owner, kind, 1000000000
FROM sightline.hosts, generate_series(1, %(hosts)s) AS n
"""
_OF_MANY = """
generate_series(1, %(count)s) AS n CROSS JOIN LATERAL (SELECT n %% %(outputs)s AS nth) AS place
JOIN sightline.hosts AS host ON host.name = 'host-' || (nth %% %(hosts)s + 1)
CROSS JOIN LATERAL (SELECT 'cmd_' || lpad(to_hex(nth + 16777216), 8, '0') AS name) AS called
JOIN (SELECT * FROM sightline.buffers WHERE command IN ('make one', 'make worse') OFFSET 0) AS one
    ON one.failed = (nth / 200 %% 10 = 0)
"""
_MORE_SESSIONS = """
INSERT INTO sightline.sessions (host, name, started, record)
SELECT host.id, 's' || nth, one.started, one.record FROM sightline.sessions AS one, generate_series(0, 9) AS nth,
    sightline.hosts AS host WHERE host.name LIKE 'host-%%'
"""
_MORE_ALARMS = """
INSERT INTO sightline.alarms (host, session, number, rules, record)
SELECT host.id, 's' || nth, 1000000000, one.rules, one.record
FROM sightline.alarms AS one, generate_series(0, 9) AS nth, sightline.hosts AS host WHERE host.name LIKE 'host-%%'
"""
_MORE_JUDGEMENTS = """
INSERT INTO sightline.judgements (created, host, name, rules, why_not, failures)
SELECT found.created, found.host, found.name, one.rules, one.why_not, one.failures
FROM (SELECT one.*, about.failed FROM sightline.judgements AS one JOIN sightline.buffers AS about
    ON about.name = one.name AND about.command IN ('make one', 'make worse') OFFSET 0) AS one
JOIN sightline.buffers AS found ON found.failed = one.failed AND found.command LIKE 'make target-%%'
"""
_MORE_OUTPUTS = f"""
INSERT INTO sightline.buffers (host, seq, name, created, ended, kind, state, session, command, cwd, label, exit_code,
    failed, partial, bytes, lines, record, packs, frames, redacted, team)
SELECT host.id, n, called.name, {_AGO}, now(), one.kind, one.state, one.session, told.command, one.cwd, one.label,
    one.exit_code, one.failed, one.partial, one.bytes, one.lines, one.record || jsonb_build_object('name', called.name,
    'command', told.command, 'created', extract(epoch FROM {_AGO})), one.packs, one.frames, one.redacted,
    host.team
FROM {_OF_MANY}, LATERAL (SELECT 'make target-' || n || ' ' || md5(n::text) AS command) AS told
"""
_MORE_CALLS = f"""
INSERT INTO sightline.entries (host, seq, session, number, time, kind, refs, record, prev, hash, redacted, pack,
    frame_offset, frame_bytes, line_offset, line_bytes)
SELECT host.id, n, 's' || n %% 10, n, {_AGO}, seen.kind, ARRAY[called.name], seen.record || jsonb_build_object('refs',
    jsonb_build_array(called.name), 'number', n, 'time', extract(epoch FROM {_AGO}), 'shown',
    jsonb_build_array(jsonb_build_array(called.name, 'out', 1, 5))), seen.prev, seen.hash, seen.redacted,
    seen.pack, seen.frame_offset, seen.frame_bytes, seen.line_offset, seen.line_bytes
FROM {_OF_MANY} JOIN (SELECT * FROM sightline.entries WHERE kind = 'view' OFFSET 0) AS seen
    ON seen.refs = ARRAY[one.name]
"""


def rows(folder: str, scale: float) -> list[Row]:
    """All of it, against servers of its own; the floor is the same statement, asked by the owner."""
    with running_fleet(folder) as fleet:
        if fleet is None:
            return []
        url = _filled(fleet, scale)
        with (
            Store(os.path.join(folder, "reader"), Settings()) as local,
            SharedStore(local, url) as place,
            psycopg.connect(fleet.postgres.url("postgres"), password="owner", autocommit=True) as owner,
        ):
            found = [*_narrowed(place, owner, int(OUTPUTS * scale)), *_streamed(place)]
        environment = {**os.environ, "SIGHTLINE_HOME": os.path.join(folder, "fresh"), "SIGHTLINE_STORE": url}
        environment |= {"TERM": "xterm-256color"}
        return [*found, *_commands(environment, int(CALLS * scale), os.path.join(folder, "another"))]


def _filled(fleet: BenchFleet, scale: float) -> str:
    """Ship an output, a view of it and a large output, and multiply the rows of the first two; the reader's address."""
    with fleet.store("first", fleet.host("first")) as store:
        for one in (stream_of(store, "make one", 4_096), stream_of(store, "make worse", 2_048, exit_code=2)):
            shows = Shows("run_command", {}, refs=(one.name,), shown=(Shown(one.name, "out", 1, 5),))
            told = shows._replace(exit_code=one.exit_code, truncated=True, lines_total=one.lines)
            record_view(store, current_session(name="s"), told, [Segment("x\n")])
        stream_of(store, "make world", int(LARGE_BYTES * scale))
        with Shipper(store) as shipper:
            shipper.drain()
            shipper.judge()
    outputs, calls = int(OUTPUTS * scale), int(CALLS * scale)
    execute = fleet.postgres.execute
    execute("postgres", _MORE_HOSTS, {"hosts": HOSTS})
    _place_packs(fleet)
    execute("postgres", _MORE_OUTPUTS, {"count": outputs, "outputs": outputs + 1, "hosts": HOSTS, "days": _DAYS})
    execute("postgres", _MORE_CALLS, {"count": calls, "outputs": outputs // _DAYS, "hosts": HOSTS, "days": 1})
    for statement in (_MORE_SESSIONS, _MORE_ALARMS, _MORE_JUDGEMENTS):
        execute("postgres", statement, {})
    _tidied(fleet)
    with connected(fleet.address, patient=True) as connection:
        granted = grant(connection, "carl", "team:bench")
    url = fleet.postgres.url("postgres", "carl")
    if granted.password:
        fleet.password(passfile_line(database_address(url), "carl", granted.password))
    return url


_DAYS_BEFORE = """
SELECT partition.inhrelid::regclass::text FROM pg_inherits AS partition WHERE inhparent = ANY ('{sightline.buffers,
sightline.entries, sightline.judgements}'::regclass[]) AND partition.inhrelid::regclass::text !~ to_char(now() AT TIME
ZONE 'UTC', 'YYYYMMDD')
"""


def _tidied(fleet: BenchFleet) -> None:
    """Do what autovacuum has done to the days before this one, which hosts no longer write into; and count all rows."""
    with psycopg.connect(fleet.postgres.url("postgres"), password="owner", autocommit=True) as connection:
        for (partition,) in connection.execute(_DAYS_BEFORE).fetchall():
            connection.execute(f"VACUUM (ANALYZE) {partition}")
        connection.execute("ANALYZE")


_ONE_PACK = """
SELECT DISTINCT member, hosts.team, replace(store::text, '-', ''), day::text, encode(packs.sha256, 'hex')
FROM sightline.packs JOIN sightline.hosts ON hosts.id = packs.host
JOIN sightline.buffers ON packs.sha256 = buffers.packs[1] WHERE buffers.command IN ('make one', 'make worse')
"""
_MORE_PACKS = """
INSERT INTO sightline.packs (host, sha256, day, bytes, raw_bytes)
SELECT host.id, one.sha256, one.day, one.bytes, one.raw_bytes FROM sightline.packs AS one, sightline.hosts AS host
WHERE encode(one.sha256, 'hex') = %(sha256)s AND host.name LIKE 'host-%%'
"""
_STORES = "SELECT replace(store::text, '-', '') FROM sightline.hosts WHERE name LIKE 'host-%'"


def _place_packs(fleet: BenchFleet) -> None:
    """Give each host the pack that its outputs are in."""
    execute, objects = fleet.postgres.execute, Objects(fleet.objects_address)
    [(member, team, store, day, sha256)] = execute("postgres", _ONE_PACK)
    data = objects.get(pack_key(team, member, store, day, sha256))
    execute("postgres", _MORE_PACKS, {"sha256": sha256})
    for (other,) in execute("postgres", _STORES):
        objects.put(pack_key(team, member, other, day, sha256), data)


def _narrowed(place: "SharedStore", owner: Any, outputs: int) -> list[Row]:
    rare = f"target-{outputs // 2}"
    of = " FROM sightline.buffers AS found JOIN sightline.hosts AS host ON host.id = found.host"
    asked: Mapping[str, tuple[Narrowing, str, float]] = {
        "the newest 100": (Narrowing(limit=100), "", 12.0),
        "the newest 100 of host-1*": (Narrowing(host="host-1*", limit=100), "WHERE host.name LIKE 'host-1%'", 12.0),
        "a rare word in commands": (Narrowing(words=(rare,), limit=100), f"WHERE found.command ILIKE '%{rare}%'", 15.0),
    }
    place.rows.hosts()
    backend, found = _backend(owner), []
    for what, (narrowing, where, aim) in asked.items():
        statement = f"SELECT host.name, found.*{of} {where} ORDER BY found.created DESC LIMIT 100"

        def ask_postgresql(statement: str = statement) -> object:
            return owner.execute(statement).fetchall()

        floor = _median(ask_postgresql)
        place.rows.found(narrowing)
        before = processor_seconds(backend)
        took = _median(partial(place.rows.found, narrowing))
        server = (processor_seconds(backend) - before) / (_TIMES + 1)
        told = f"psycopg, the owner {ms(floor)}; CPU of the server's process {ms(server)}"
        found.append(Row(f"{what} of {outputs:,}, ms", ms(took), told, took * 1e3, aim))
    return found


def _backend(owner: Any) -> int:
    """Return the process of the server that serves the reader; the only one that is not the owner's."""
    [(backend,)] = owner.execute("SELECT pid FROM pg_stat_activity WHERE usename = 'carl'").fetchall()
    return int(backend)


def _streamed(place: "SharedStore") -> list[Row]:
    [stored] = place.rows.found(Narrowing(words=("make world",)))
    place.narrowed(Narrowing(words=("make world",)))
    with place.open(Target(stored.buffer, "out")) as stream:
        lines, size = stream.line_count, stream.byte_count
        next(stream.lines(lines // 3, lines // 3))
        took = []
        for at in (lines // 2, lines // 5, lines * 4 // 5, lines // 7, lines - 9):
            began = time.perf_counter()
            next(stream.lines(at, at))
            took.append(time.perf_counter() - began)
        pattern, began = re.compile(b"nothing has this"), time.perf_counter()
        for _, block in stream.blocks():
            pattern.search(block)
        speed = size / (time.perf_counter() - began) / 1e6
    return [
        Row(f"a line of {mib(size)}, ms", ms(statistics.median(took)), "", statistics.median(took) * 1e3, None),
        Row(f"a line of {mib(size)}: worst, ms", ms(max(took)), "", max(took) * 1e3, 30.0),
        Row("scanning it, ns a byte", f"{speed:.0f} MB/s", "", 1e3 / speed, 1e3 / 150),
    ]


def _commands(environment: Mapping[str, str], calls: int, part_of: str) -> list[Row]:
    screen = first_screen([*SIGHTLINE], b"target-", environment)
    letters = _letters(environment) if shutil.which("tmux") else []
    audit = run_with_peak([*SIGHTLINE, "audit", "--since", "1d"], environment)
    again = run([*SIGHTLINE, "audit", "--since", "1d"], environment)
    elsewhere = {**environment, "SIGHTLINE_HOME": part_of}
    part = run_with_peak([*SIGHTLINE, "audit", "--session", "host-1/s1"], elsewhere)
    what = f"audit of a day of {HOSTS} hosts, {calls:,} calls"
    return [
        Row("the inspector's first screen, s", ms(screen.seconds), "", screen.seconds, 0.7),
        *letters,
        Row(f"{what}, s", f"{audit.seconds:.1f} s", f"a second time {again.seconds:.1f} s", audit.seconds, 5.0),
        Row(f"{what}: peak memory, MiB", mib(audit.peak_bytes), "", audit.peak_bytes / (1 << 20), 100.0),
        Row("audit of one session there, s", f"{part.seconds:.1f} s", "", part.seconds, None),
    ]


def _letters(environment: Mapping[str, str]) -> list[Row]:
    """Letters typed into the filter while it takes in the newest outputs, each until the screen changes."""
    with Terminal(environment) as terminal:
        began = terminal.start([*SIGHTLINE])
        terminal.wait(lambda screen: "target-" in screen, began)
        terminal.settled(terminal.keys("/"))
        took = []
        for letter in "target-77":
            before = terminal.screen()
            took.append(terminal.changed(terminal.keys(letter), before))
            terminal.settled(time.perf_counter())
    middle = statistics.median(took)
    return [Row("a letter in the inspector's filter, ms", ms(middle), f"worst {ms(max(took))}", middle * 1e3, 60.0)]


def _median(ask: Callable[[], object]) -> float:
    ask()
    took = []
    for _ in range(_TIMES):
        began = time.perf_counter()
        ask()
        took.append(time.perf_counter() - began)
    return statistics.median(took)
