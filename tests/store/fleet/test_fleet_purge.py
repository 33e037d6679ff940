"""What a host purges or pins reaches the shared place, by rows of its own and by the owner's hand."""

import datetime
import fcntl
import shlex
from collections.abc import Iterator
from pathlib import Path

import obstore
import psycopg
import pytest

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.base.errors import ExpiredRef
from sightline.base.records import Buffer
from sightline.doors.cli.main import main
from sightline.fleet import kind
from sightline.fleet.database import FleetUnreachable, connected
from sightline.fleet.janitor import Janitor, Tidied
from sightline.fleet.maintenance import Maintained, maintain
from sightline.fleet.objects import Objects
from sightline.fleet.reader.store import SharedStore
from sightline.fleet.shipper import Shipper
from sightline.fleet.verification import Verification
from sightline.log import retention
from sightline.log.log_index import list_views
from sightline.log.sessions import current_session
from sightline.log.view_text import TextGone, view_text
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store, Target
from tests.store.fleet.conftest import Fleet, Hosts, keep_in, show

SECRET = b"a word that nobody should have seen\n"
TODAY = datetime.datetime.now(datetime.UTC).date()


def tidy(fleet: Fleet, days_later: int = 0) -> Tidied:
    with connected(fleet.address, patient=True) as connection:
        return Janitor(connection, Objects(fleet.objects_address)).tidy(TODAY + datetime.timedelta(days=days_later))


def keep_order(fleet: Fleet, days_later: int = 0) -> Maintained:
    with connected(fleet.address, patient=True) as connection:
        return maintain(connection, TODAY + datetime.timedelta(days=days_later))


def problems(fleet: Fleet) -> list[str]:
    with connected(fleet.address) as connection:
        return [one.text for one in Verification(connection, Objects(fleet.objects_address), contents=True).findings()]


def stored(fleet: Fleet) -> dict[str, bytes]:
    """All objects, each with what its frames hold where these can be read."""
    import zstandard

    found = {}
    for folder in ("t/", "kept/"):
        for one in Objects(fleet.objects_address).list(folder):
            data = Objects(fleet.objects_address).get(one.key)
            raw, at = b"", 0
            while (at := data.find(b"\x28\xb5\x2f\xfd", at)) >= 0:
                raw += zstandard.ZstdDecompressor().decompress(data[at:])
                at += 4
            found[one.key] = raw
    return found


def text_of(place: SharedStore, ref: str) -> bytes:
    with place.open(Target(place.resolve(ref).buffer, "out")) as reader:
        return reader.read(0, reader.byte_count)


@pytest.fixture
def purged(hosts: Hosts, place: SharedStore) -> Iterator[tuple[Buffer, Buffer]]:
    """A secret of host a that agents of a and b were shown and a person remarked on, purged; and what lay beside it."""
    a, b = hosts.stores["a"], hosts.stores["b"]
    secret, beside = keep_in(a, SECRET * 40, command="cat it"), keep_in(a, b"nothing special\n" * 40)
    show(a, "agent", secret, (SECRET * 3).decode())
    show(a, "agent", beside, "nothing special\n")
    hosts.ship("a")
    shows = Shows("read_output", {}, refs=(hosts.ref("a", secret).replace("@", ""),))
    record_view(b, current_session(name="other"), shows, (Segment((SECRET * 3).decode()),))
    hosts.ship("b")
    place.bring_up_to_date()
    assert text_of(place, hosts.ref("a", secret)) == SECRET * 40  # what was read of it before is to go, too
    assert place.local_copy(place.resolve(hosts.ref("a", secret)))
    retention.remove(a, [secret], purge=True)
    hosts.ship("a")
    yield secret, beside


def test_a_purge_is_asked_for_by_row_and_done_by_the_owner(
    hosts: Hosts, place: SharedStore, purged: tuple[Buffer, Buffer]
) -> None:
    secret, beside = purged
    assert any(SECRET in raw for raw in stored(hosts.fleet).values())
    assert tidy(hosts.fleet)[:2] == (1, 2)
    assert not any(SECRET in raw for raw in stored(hosts.fleet).values())
    assert problems(hosts.fleet) == []  # the chains hold, and what lay beside it is where it was
    assert tidy(hosts.fleet)[:2] == (0, 0)
    place.bring_up_to_date()
    assert text_of(place, hosts.ref("a", beside)) == b"nothing special\n" * 40
    with pytest.raises(ExpiredRef):
        place.resolve(hosts.ref("a", secret))


def all_rows(fleet: Fleet) -> str:
    """Every row of every table of the fleet, as text."""
    with connected(fleet.address) as connection:
        tables = connection.execute(
            "SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'sightline' AND c.relkind IN ('r', 'p')"
        ).fetchall()
        rows = (
            connection.execute(f"SELECT t::text FROM sightline.{name} AS t".encode()).fetchall() for (name,) in tables
        )
        return "\n".join(row for table in rows for (row,) in table)


def files_with(root: str, word: str) -> list[str]:
    return [str(path) for path in Path(root).rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


def test_nothing_of_its_command_is_left_in_the_fleet_or_on_any_machine(hosts: Hosts, place: SharedStore) -> None:
    a, mark = hosts.stores["a"], "".join(("mark", "77c41"))
    command = f"echo {mark}"
    secret = keep_in(a, f"{mark}\n".encode() * 40, command=command)
    a.amend(secret.name, label=f"label {mark}")
    session = current_session(name="agent")
    for refs, text in (((), "not run yet"), ((secret.name,), f"{mark}\n")):
        shows = Shows("run_command", {"command": command}, refs=refs)
        record_view(a, session, shows, (Segment(text),))
    record_view(a, session, Shows("list_outputs", {}), (Segment(f"@{secret.name} {command}\n"),))
    hosts.ship("a")
    place.bring_up_to_date()
    assert mark in all_rows(hosts.fleet)
    assert files_with(place.local.root, mark)
    retention.remove(a, [secret], purge=True)
    hosts.ship("a")
    assert files_with(a.root, mark) == []
    place.bring_up_to_date()
    assert files_with(place.local.root, mark) == []
    tidy(hosts.fleet)
    assert mark not in all_rows(hosts.fleet)
    assert not any(mark.encode() in raw for raw in stored(hosts.fleet).values())
    assert problems(hosts.fleet) == []
    place.bring_up_to_date()
    assert files_with(place.local.root, mark) == []


def test_once_it_is_asked_for_no_reader_is_shown_it_and_none_keeps_it(
    hosts: Hosts, place: SharedStore, purged: tuple[Buffer, Buffer]
) -> None:
    secret, _ = purged
    place.bring_up_to_date()
    with pytest.raises(ExpiredRef):
        place.resolve(hosts.ref("a", secret))
    for view in list_views(place, buffer=f"{hosts.names['a']}/{secret.name}"):
        with pytest.raises(TextGone, match="blanked"):
            view_text(place, view)
    tidy(hosts.fleet)
    place.bring_up_to_date()
    kept = [path for path in Path(place.local.root).rglob("*") if path.is_file()]
    packs = hosts.fleet.rows("SELECT encode(sha256, 'hex') FROM sightline.packs WHERE replaced IS NOT NULL")
    assert packs
    assert not {sha256 for (sha256,) in packs} & {path.name for path in kept}
    assert not [path for path in kept if SECRET in path.read_bytes()]


def test_whoever_read_it_before_is_not_shown_it_again_by_any_command(
    hosts: Hosts, place: SharedStore, purged: tuple[Buffer, Buffer]
) -> None:
    secret, beside = purged
    with pytest.raises(ExpiredRef):  # nothing else was asked of the fleet meanwhile
        place.resolve(hosts.ref("a", secret))
    assert place.resolve(hosts.ref("a", beside))


@pytest.mark.parametrize("command", ["show {}", "query 'grep -c word {}'", "list"])
def test_nothing_of_it_is_left_in_the_log_of_a_reader(
    command: str, hosts: Hosts, place: SharedStore, capfd: pytest.CaptureFixture[str]
) -> None:
    a, mark = hosts.stores["a"], "zqxmark"
    secret, beside = keep_in(a, f"{mark} word\n".encode() * 40, command=f"cat {mark}"), keep_in(a, b"harmless\n" * 40)
    hosts.ship("a")
    place.bring_up_to_date()
    session = current_session(name="reader")
    refs = {one.name: f"{hosts.names['a']}/{one.name}" for one in (secret, beside)}
    listed = f"{hosts.ref('a', secret)} ok cat {mark}\n"
    for shown, text in (((refs[secret.name],), f"{mark} word\n"), ((), listed), ((refs[beside.name],), "harmless\n")):
        record_view(place.local, session, Shows("read_output", {}, refs=shown), (Segment(text),))
    assert files_with(place.local.root, mark)
    retention.remove(a, [secret], purge=True)
    hosts.ship("a")
    words = [*shlex.split(command.format(hosts.ref("a", secret))), "--store", place.address]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIGHTLINE_HOME", place.local.root)
        main(words)
    assert mark not in capfd.readouterr().out
    tidy(hosts.fleet)
    place.bring_up_to_date()
    assert files_with(place.local.root, mark) == []
    (kept,) = list_views(place.local, buffer=refs[beside.name])
    assert view_text(place.local, kept) == "harmless\n"


def test_the_texts_that_quoted_it_are_blank_and_those_beside_them_are_read(
    hosts: Hosts, place: SharedStore, purged: tuple[Buffer, Buffer]
) -> None:
    secret, beside = purged
    tidy(hosts.fleet)
    place.bring_up_to_date()
    (view,) = list_views(place, buffer=f"{hosts.names['a']}/{beside.name}")
    assert view_text(place, view) == "nothing special\n"
    views = list_views(place, buffer=f"{hosts.names['a']}/{secret.name}")
    assert sorted(one.view.session.rpartition("/")[2] for one in views) == ["agent", "other"]
    for one in views:
        with pytest.raises(TextGone):
            view_text(place, one)


def test_what_is_captured_again_after_a_purge_is_whole(
    hosts: Hosts, place: SharedStore, purged: tuple[Buffer, Buffer]
) -> None:
    again = keep_in(hosts.stores["a"], SECRET * 40)
    hosts.ship("a")
    tidy(hosts.fleet)
    place.bring_up_to_date()
    assert text_of(place, hosts.ref("a", again)) == SECRET * 40
    assert problems(hosts.fleet) == []


def test_a_name_that_is_not_whole_yet_is_of_no_output(hosts: Hosts, place: SharedStore) -> None:
    """A request for many outputs is written in pieces, and its writer may be killed between two."""
    store = hosts.stores["a"]
    one, other = keep_in(store, SECRET * 40), keep_in(store, b"nothing special\n" * 40)
    hosts.ship("a")
    with open(Path(store.root) / "fleet" / "purges", "ab", buffering=0) as file:
        file.write(one.name.encode())
        hosts.ship("a")
        file.write(b"0")
    retention.remove(store, [other], purge=True)
    hosts.ship("a")
    tidy(hosts.fleet)
    place.bring_up_to_date()
    with pytest.raises(ExpiredRef):
        place.resolve(hosts.ref("a", other))
    assert text_of(place, hosts.ref("a", one)) == SECRET * 40


def test_a_request_is_written_by_one_process_at_a_time(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    store = hosts.stores["a"]
    free = list[bool]()

    def wrote(_: int, _data: bytes) -> None:
        with open(Path(store.root) / "fleet" / "purges", "ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                free.append(False)
            else:
                free.append(True)

    monkeypatch.setattr(kind, "write_all", wrote)
    retention.remove(store, [keep_in(store, SECRET * 40)], purge=True)
    assert free == [False]


def test_what_another_output_shares_stays(hosts: Hosts, place: SharedStore) -> None:
    store = hosts.stores["a"]
    one, other = keep_in(store, SECRET * 40), keep_in(store, SECRET * 40)
    hosts.ship("a")
    retention.remove(store, [one], purge=True)
    hosts.ship("a")
    tidy(hosts.fleet)
    place.bring_up_to_date()
    assert text_of(place, hosts.ref("a", other)) == SECRET * 40
    assert problems(hosts.fleet) == []


def test_a_session_that_is_removed_goes_there_too(hosts: Hosts, place: SharedStore) -> None:
    store = hosts.stores["a"]
    session = current_session(name="agent")
    secret = keep_in(store, SECRET * 40, session="agent")
    show(store, "agent", secret, (SECRET * 3).decode())
    hosts.ship("a")
    retention.remove_session(store, session)
    hosts.ship("a")
    tidy(hosts.fleet)
    assert not any(SECRET in raw for raw in stored(hosts.fleet).values())
    assert problems(hosts.fleet) == []


def test_a_shipper_knows_what_is_there_and_can_still_purge_what_was_removed_before(
    hosts: Hosts, place: SharedStore
) -> None:
    store = hosts.stores["a"]
    kept = keep_in(store, SECRET * 40)
    hosts.ship("a")
    for _ in range(2):
        removed = keep_in(store, b"made, shipped and removed\n")
        hosts.ship("a")
        retention.remove(store, [removed])
    retention.remove(store, [kept])
    with Shipper(store) as shipper:
        for _ in range(2):
            shipper.drain()
        known = shipper.queue.known()
    assert known.keys() == {one.buffer.name for one in store.listed(99)}
    retention.purge_gone(store, [kept.name])
    hosts.ship("a")
    tidy(hosts.fleet)
    assert not any(SECRET in raw for raw in stored(hosts.fleet).values())
    assert problems(hosts.fleet) == []


def test_a_purge_that_is_interrupted_is_done_the_next_time(
    hosts: Hosts, purged: tuple[Buffer, Buffer], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise FleetUnreachable("the object store does not answer", "later")

    with monkeypatch.context() as broken:
        broken.setattr(Objects, "put", fails)
        with pytest.raises(FleetUnreachable):
            tidy(hosts.fleet)
    assert problems(hosts.fleet) == []
    with monkeypatch.context() as broken:
        broken.setattr(Objects, "delete", fails)
        with pytest.raises(FleetUnreachable):
            tidy(hosts.fleet)
    tidy(hosts.fleet)
    assert not any(SECRET in raw for raw in stored(hosts.fleet).values())
    assert problems(hosts.fleet) == []


def test_a_host_asks_for_its_own_alone_and_keeps_nothing_itself(hosts: Hosts) -> None:
    settings = hosts.stores["a"].settings.fleet
    numbers = dict(hosts.fleet.rows("SELECT name, id FROM sightline.hosts"))
    with psycopg.connect(settings.db, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(
                "INSERT INTO sightline.changes (host, seq, name, created, digest, record)"
                " VALUES (%s, 9, 'cmd_x', now(), 'x', '{\"purge\": true}')",
                (numbers[hosts.names["b"]],),
            )
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(
                "INSERT INTO sightline.packs (host, sha256, day, bytes, raw_bytes, kept)"
                " VALUES (%s, decode(repeat('ab', 32), 'hex'), now(), 1, 1, true)",
                (numbers[hosts.names["a"]],),
            )
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM sightline.doomed")


# what is pinned


def without_the_lifecycle_rules(fleet: Fleet) -> None:
    """What the object store removes by its rule, some days after the rows went."""
    for key in list(stored(fleet)):
        if key.startswith("t/"):
            obstore.delete(fleet.store_of_objects.client(), f"{fleet.prefix}/{key}")
    fleet.rows("DELETE FROM sightline.packs WHERE NOT kept")


@pytest.fixture
def pinned(hosts: Hosts, place: SharedStore) -> Buffer:
    """An output that its host has pinned, unpinned and pinned again."""
    store = hosts.stores["a"]
    kept = keep_in(store, b"the release\n" * 3_000, b"a warning\n")
    keep_in(store, b"of that day\n")
    for is_pinned in (True, False, True):
        store.amend(kept.name, pinned=is_pinned)
        hosts.ship("a")
    place.bring_up_to_date()
    assert place.resolve(hosts.ref("a", kept)).buffer.pinned
    keep_order(hosts.fleet)
    return kept


def test_what_is_pinned_outlives_its_day_and_nothing_else_does(
    hosts: Hosts, place: SharedStore, pinned: Buffer, local: Store
) -> None:
    assert tidy(hosts.fleet, 30).kept == 0
    assert tidy(hosts.fleet, 31).kept == 1
    done = keep_order(hosts.fleet, 31)
    assert done.waiting == []
    assert f"buffers_{TODAY:%Y%m%d}" in done.dropped
    assert hosts.fleet.rows("SELECT name, record -> 'pinned' FROM sightline.buffers") == [(pinned.name, True)]
    without_the_lifecycle_rules(hosts.fleet)
    assert text_of(place, hosts.ref("a", pinned)) == b"the release\n" * 3_000  # this reader knew where it was before
    with SharedStore(local, str(hosts.fleet.grant("dora", "team:red"))) as another:
        another.bring_up_to_date(0.0)
        assert text_of(another, hosts.ref("a", pinned)) == b"the release\n" * 3_000
        with another.open(Target(another.resolve(hosts.ref("a", pinned)).buffer, "err")) as reader:
            assert reader.read(0, 99) == b"a warning\n"
    assert problems(hosts.fleet) == []
    assert keep_order(hosts.fleet, 300).dropped
    assert hosts.fleet.rows("SELECT count(*) FROM sightline.buffers") == [(1,)]


def test_what_is_no_longer_pinned_goes_and_its_bytes_with_it(hosts: Hosts, pinned: Buffer) -> None:
    tidy(hosts.fleet, 31)
    keep_order(hosts.fleet, 31)
    assert [key for key in stored(hosts.fleet) if key.startswith("kept/")]
    hosts.stores["a"].amend(pinned.name, pinned=False)
    hosts.ship("a")
    assert tidy(hosts.fleet, 31).let_go == 1
    assert hosts.fleet.rows("SELECT count(*) FROM sightline.buffers") == [(0,)]
    assert not [key for key in stored(hosts.fleet) if key.startswith("kept/")]


def test_what_is_pinned_can_be_purged(hosts: Hosts, pinned: Buffer) -> None:
    tidy(hosts.fleet, 31)
    retention.remove(hosts.stores["a"], [pinned], purge=True)
    hosts.ship("a")
    tidy(hosts.fleet, 31)
    assert not any(b"the release" in raw for raw in stored(hosts.fleet).values())


def test_a_day_with_something_pinned_waits_until_that_is_kept(hosts: Hosts, pinned: Buffer) -> None:
    done = keep_order(hosts.fleet, 31)
    assert sorted(done.waiting) == [f"buffers_{TODAY:%Y%m%d}", f"changes_{TODAY:%Y%m%d}"]
    assert hosts.fleet.rows("SELECT count(*) FROM sightline.buffers WHERE name = %s", pinned.name) == [(1,)]
    tidy(hosts.fleet, 31)
    assert keep_order(hosts.fleet, 31).waiting == []


def test_rm_says_what_is_done_and_what_waits(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    store = hosts.stores["a"]
    monkeypatch.setenv("SIGHTLINE_HOME", store.root)
    monkeypatch.setenv("SIGHTLINE_FLEET_DB", store.settings.fleet.db)
    assert main(["rm", "--purge", keep_in(store, SECRET).ref]) == 0
    told = capfd.readouterr().out
    assert "sightline ship" in told
    assert "fleet maintain" in told
    assert main(["rm", keep_in(store, b"x\n").ref]) == 0
    assert "fleet maintain" not in capfd.readouterr().out
