"""What keeps a fleet in order: partitions, retention, migrations, and the proof from both sides."""

import contextlib
import datetime
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

import obstore
import psycopg

from sightline.base.errors import UsageError
from sightline.fleet import administration, database, schema
from sightline.fleet.address import database_address
from sightline.fleet.administration import initialise, set_retention
from sightline.fleet.database import (
    FleetRefused,
    LastingConnection,
    NewerFleet,
    NotAFleet,
    connected,
    may_read,
    tables_of,
)
from sightline.fleet.maintenance import DAYS_AHEAD, maintain
from sightline.fleet.objects import Objects
from sightline.fleet.shipper import Shipper
from sightline.fleet.verification import Mismatch, Verification
from sightline.log.sessions import current_session
from sightline.log.views import Shows, record_view
from sightline.settings.config import FleetSettings
from sightline.shape.segments import Segment
from sightline.store import Store
from tests.store.fleet import servers
from tests.store.fleet.conftest import Fleet, keep_in

TODAY = datetime.datetime.now(datetime.UTC).date()


def ship(store: Store) -> None:
    with Shipper(store) as shipper:
        shipper.drain()


def found(fleet: Fleet, *, contents: bool = True) -> list[Mismatch]:
    with connected(fleet.address) as connection:
        return list(Verification(connection, Objects(fleet.objects_address), contents=contents).findings())


def partitions(fleet: Fleet, table: str = "buffers") -> list[str]:
    rows = fleet.rows(
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", f"sightline.{table}"
    )
    return sorted(row[0].rpartition("_")[2] for row in rows)


@pytest.fixture
def store(fleet: Fleet) -> Store:
    """A host's store with three buffers and a log, shipped."""
    with fleet.store("one", fleet.add_host("host1")) as store:
        for number in range(3):
            kept = keep_in(store, f"{number}\n".encode() * 100)
            shows = Shows("run_command", {}, refs=(kept.name,))
            record_view(store, current_session(name="agent"), shows, (Segment("shown\n"),))
        ship(store)
        return store


def test_two_who_make_a_fleet_at_once_both_find_it_made(fleet: Fleet) -> None:
    fleet.rows("DROP SCHEMA sightline CASCADE")
    with (
        connected(fleet.address) as one,
        connected(fleet.address) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        with one.transaction():
            one.execute(schema.CREATE)
            one.execute(
                "INSERT INTO sightline.fleet (version, least_writer, least_reader, objects, retention_days)"
                " VALUES (%s, %s, %s, %s, 30)",
                (schema.VERSION, schema.LEAST_WRITER, schema.LEAST_READER, str(fleet.objects_address)),
            )
            done = pool.submit(initialise, other, fleet.objects_address, 30)
            waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = %s"
            while one.execute(waits, (other.info.backend_pid,)).fetchone() == (0,):
                assert not done.done()
        assert done.result(30) == []


def test_partitions_are_made_ahead_and_take_what_came_before_them(fleet: Fleet, store: Store) -> None:
    assert partitions(fleet) == ["rest"]
    with connected(fleet.address, patient=True) as connection:
        maintain(connection)
        again = maintain(connection)
    days = [TODAY + datetime.timedelta(days=days) for days in range(-1, DAYS_AHEAD + 1)]
    for table in schema.PARTITIONED:
        assert partitions(fleet, table) == [*(f"{day:%Y%m%d}" for day in days), "rest"]
    assert fleet.rows(f"SELECT count(*) FROM sightline.buffers_{TODAY:%Y%m%d}") == [(3,)]
    assert fleet.rows("SELECT count(*) FROM sightline.buffers_rest") == [(0,)]
    assert again.made == again.dropped == []
    assert found(fleet) == []


def test_a_partition_that_is_missing_is_no_hosts_error(fleet: Fleet, store: Store) -> None:
    far = time.time() + 4e9  # a clock of the next century
    recording = store.begin("cmd", "later", "/", "s")
    recording.register()
    recording.buffer = recording.buffer._replace(created=far)
    recording.append("out", b"x\n")
    recording.seal(exit_code=0)
    ship(store)
    assert fleet.rows("SELECT command FROM sightline.buffers_rest WHERE created > now() + '1 year'") == [("later",)]


def test_rows_go_with_their_day_and_packs_after_them(fleet: Fleet, store: Store) -> None:
    with connected(fleet.address, patient=True) as connection:
        maintain(connection)
        set_retention(connection, 10)
        maintain(connection, TODAY + datetime.timedelta(days=10))
        assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(3,)]
        done = maintain(connection, TODAY + datetime.timedelta(days=11))
    assert f"buffers_{TODAY:%Y%m%d}" in done.dropped
    assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(0,)]
    assert fleet.rows("SELECT count(*) FROM sightline.packs") == [(1,)]
    fleet.rows("UPDATE sightline.packs SET announced = now() - interval '18 days 1 minute'")
    with connected(fleet.address, patient=True) as connection:
        maintain(connection)
    assert fleet.rows("SELECT count(*) FROM sightline.packs") == [(0,)]


def test_rows_of_no_day_go_by_when_they_were_announced(fleet: Fleet, store: Store) -> None:
    fleet.rows("UPDATE sightline.buffers SET created = 'epoch', announced = now() - interval '31 days'")
    with connected(fleet.address, patient=True) as connection:
        assert maintain(connection).rows == 3
    assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(0,)]


def test_readers_and_hosts_go_on_over_maintenance(fleet: Fleet, store: Store) -> None:
    with connected(fleet.address, patient=True) as connection:
        maintain(connection)
    keep_in(store, b"after it\n")
    ship(store)
    with psycopg.connect(fleet.grant("carl", "alpha")) as reader:
        assert reader.execute("SELECT count(*) FROM sightline.find_buffers()").fetchone() == (4,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(f"SELECT * FROM sightline.buffers_{TODAY:%Y%m%d}")


# verification


def test_a_whole_fleet_has_no_findings(fleet: Fleet, store: Store) -> None:
    assert found(fleet) == []


def test_a_pack_that_is_gone_is_found(fleet: Fleet, store: Store) -> None:
    for key in fleet.objects():
        obstore.delete(fleet.store_of_objects.client(), f"{fleet.prefix}/{key}")
    assert any("not in the object store" in finding.text for finding in found(fleet, contents=False))
    assert {finding.kind for finding in found(fleet)} == {"problem"}


def test_hashes_of_frames_that_are_not_theirs_are_found(fleet: Fleet) -> None:
    with fleet.store("one", fleet.add_host("host1")) as store:
        keep_in(store, b"some line\n" * 300_000)
        ship(store)
    assert found(fleet) == []
    fleet.rows(
        "UPDATE sightline.buffers SET record = jsonb_set(record, '{streams,out,frame_hashes}',"
        " to_jsonb(encode(repeat('x', 96)::bytea, 'base64')))"
    )
    assert [finding.kind for finding in found(fleet)] == []  # a line feed in it: no version of ours writes that
    fleet.rows(
        "UPDATE sightline.buffers SET record = jsonb_set(record, '{streams,out,frame_hashes}',"
        " to_jsonb(replace(encode(repeat('x', 96)::bytea, 'base64'), E'\\n', '')))"
    )
    assert ["not what was announced" in finding.text for finding in found(fleet)] == [True]


def test_a_pack_that_was_changed_is_found_by_its_contents(fleet: Fleet, store: Store) -> None:
    ((key, size),) = fleet.objects().items()
    client = fleet.store_of_objects.client()
    data = bytearray(bytes(obstore.get(client, f"{fleet.prefix}/{key}").bytes()))
    data[size // 2] ^= 1
    obstore.put(client, f"{fleet.prefix}/{key}", bytes(data))
    assert found(fleet, contents=False) == []
    assert any("not what was announced" in finding.text for finding in found(fleet))


def test_a_pack_of_another_size_is_found(fleet: Fleet, store: Store) -> None:
    ((key, _),) = fleet.objects().items()
    obstore.put(fleet.store_of_objects.client(), f"{fleet.prefix}/{key}", b"short")
    assert any("5 bytes, not" in finding.text for finding in found(fleet, contents=False))


def test_objects_that_nobody_announced_are_a_note(fleet: Fleet, store: Store) -> None:
    ((key, _),) = fleet.objects().items()
    stray = key.rpartition("/")[0] + "/" + "ab" * 32
    obstore.put(fleet.store_of_objects.client(), f"{fleet.prefix}/{stray}", b"stray")
    (finding,) = found(fleet)
    assert finding.kind == "note"
    assert "not announced" in finding.text


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("DELETE FROM sightline.packs", "tell of packs that are not announced"),
        ("DELETE FROM sightline.entries WHERE number = 2", "does not go on at its line 3"),
        ("UPDATE sightline.entries SET hash = repeat('0', 64) WHERE number = 1", "does not go on at its line 2"),
        ("UPDATE sightline.entries SET line_offset = line_offset + 1 WHERE number = 3", "line 3 of the log of agent"),
        (
            "UPDATE sightline.buffers SET record = jsonb_set(record, '{streams,out,sha256}', '\"0\"')",
            "not what was ann",
        ),
        ("UPDATE sightline.buffers SET frames = '{\"out\": [[0, 1, 5, 200, 0]]}'", "a frame"),
        ("UPDATE sightline.buffers SET frames = '{}'", "announced without out"),
    ],
)
def test_rows_that_do_not_hold_are_found(fleet: Fleet, store: Store, change: str, text: str) -> None:
    fleet.rows(change)
    assert any(text in finding.text for finding in found(fleet) if finding.kind == "problem"), found(fleet)


def test_a_reader_verifies_what_it_may_see(fleet: Fleet, store: Store) -> None:
    from sightline.fleet.address import database_address

    url = fleet.grant("carl", "alpha")
    fleet.use_key(servers.READER_KEY)
    with connected(database_address(url)) as connection:
        verification = Verification(connection, Objects(fleet.objects_address), contents=True)
        assert list(verification.findings()) == []
        assert verification.verified.buffers == 3


# versions


def test_init_again_changes_nothing(fleet: Fleet, store: Store) -> None:
    assert fleet.init() == []
    assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(3,)]


def test_hosts_and_readers_of_0_2_0_may_use_a_new_fleet(
    fleet: Fleet, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "VERSION", 4)
    keep_in(store, b"from a host of 0.2.0\n")
    ship(store)
    with connected(fleet.address) as connection:
        assert "newer" in may_read(tables_of(connection))
    assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(4,)]


def test_a_migration_is_one_transaction_and_hosts_of_before_go_on(
    fleet: Fleet, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = schema.VERSION
    monkeypatch.setattr(administration, "VERSION", now + 2)
    steps = {now: "ALTER TABLE sightline.buffers ADD COLUMN more text NOT NULL DEFAULT ''", now + 1: "SELECT 1 / 0"}
    monkeypatch.setattr(administration, "MIGRATIONS", steps)
    with pytest.raises(FleetRefused), connected(fleet.address) as connection:
        initialise(connection, fleet.objects_address, 30)
    assert fleet.rows("SELECT version FROM sightline.fleet") == [(now,)]
    steps[now + 1] = "ALTER TABLE sightline.fleet ADD COLUMN word text"
    with connected(fleet.address) as connection:
        done = initialise(connection, fleet.objects_address, 30)
        assert done == [f"version {now} → {now + 1}", f"version {now + 1} → {now + 2}"]
    keep_in(store, b"from a host of the version before\n")
    ship(store)
    assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(4,)]


def test_a_fleet_of_the_first_version_is_brought_to_this_one(
    fleet: Fleet, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = database_address(fleet.grant("carl", "team:alpha"))
    fleet.rows("DROP SCHEMA sightline CASCADE")
    with monkeypatch.context() as first:
        first.setattr(administration, "VERSION", 1)
        first.setattr(administration, "CREATE", schema.FIRST)
        fleet.init()
    with contextlib.closing(LastingConnection(reader)) as connection:
        with pytest.raises(NotAFleet, match="version 1"):
            connection.rows("SELECT 1")
        assert fleet.init() == [f"version {one} → {one + 1}" for one in range(1, schema.VERSION)]
        assert connection.rows("SELECT count(*) FROM sightline.find_buffers(only_failed => true)") == [(0,)]


def test_every_version_leads_to_this_one() -> None:
    assert sorted(schema.MIGRATIONS) == list(range(1, schema.VERSION))


def test_a_newer_fleet_is_read_as_far_as_it_can_be_and_written_only_where_it_may(fleet: Fleet, store: Store) -> None:
    fleet.rows("UPDATE sightline.fleet SET version = 99")
    keep_in(store, b"x\n")
    ship(store)
    with connected(fleet.address) as connection:
        assert "newer" in may_read(tables_of(connection))
        with pytest.raises(NewerFleet):
            initialise(connection, fleet.objects_address, 30)
    fleet.rows("UPDATE sightline.fleet SET least_writer = 99")
    keep_in(store, b"y\n")
    with pytest.raises(NewerFleet, match="99"):
        ship(store)
    assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(4,)]
    fleet.rows("UPDATE sightline.fleet SET least_reader = 99")
    with connected(fleet.address) as connection, pytest.raises(NewerFleet):
        may_read(tables_of(connection))


def test_a_fleet_with_another_object_store_is_not_shipped_to(fleet: Fleet, store: Store) -> None:
    wrong: FleetSettings = store.settings.fleet._replace(objects=f"s3://{servers.BUCKET}/elsewhere")
    with fleet.store("one", wrong) as other:
        keep_in(other, b"x\n")
        with pytest.raises(FleetRefused, match="not at s3://outputs/elsewhere"):
            ship(other)


def test_who_is_granted_must_be_known(fleet: Fleet, store: Store) -> None:
    fleet.add_host("twin", team="ann", owner="ann")
    with pytest.raises(UsageError, match="team and an owner"):
        fleet.grant("carl", "ann")
    with pytest.raises(UsageError, match="no host belongs to"):
        fleet.grant("carl", "nobody")
