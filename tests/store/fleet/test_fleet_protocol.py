"""What is shipped arrives once, whole, and never before its bytes, whoever is ended and whenever."""

import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sightline.log.sessions import current_session
from sightline.log.views import Shows, record_view
from sightline.settings.config import FleetSettings
from sightline.shape.segments import Segment
from sightline.store import Store
from tests.store.fleet.conftest import Fleet, keep_in, write_settings

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.fleet import batch as batches
from sightline.fleet.database import FleetRefused, connected
from sightline.fleet.objects import Objects
from sightline.fleet.shipper import Shipper
from sightline.fleet.verification import Verification
from tests.store.fleet.ending import STATES


def ship(store: Store) -> None:
    with Shipper(store) as shipper:
        shipper.drain()


def problems(fleet: Fleet) -> list[str]:
    with connected(fleet.address) as connection:
        found = Verification(connection, Objects(fleet.objects_address), contents=True).findings()
        return [finding.text for finding in found if finding.kind == "problem"]


def names(fleet: Fleet) -> list[str]:
    return [row[0] for row in fleet.rows("SELECT name FROM sightline.buffers ORDER BY seq")]


def fill(store: Store, count: int = 5) -> list[str]:
    kept = [keep_in(store, b"some line\n" * 50, command=f"echo {number}") for number in range(count)]
    kept.append(keep_in(store, bytes(range(256)) * 9_000, b"warning\n" * 5, command="make"))  # more than one frame
    for buffer in kept:
        shows = Shows("run_command", {"command": buffer.command}, refs=(buffer.name,))
        record_view(store, current_session(name="agent"), shows, (Segment("what it was shown\n"),))
    return [buffer.name for buffer in kept]


@pytest.fixture
def host(fleet: Fleet) -> FleetSettings:
    return fleet.add_host("host1")


def test_all_that_is_done_arrives_whole(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        kept = fill(store)
        ship(store)
        assert names(fleet) == kept
        assert fleet.rows("SELECT number FROM sightline.entries ORDER BY number") == [(n,) for n in range(7)]
        assert fleet.rows("SELECT name FROM sightline.sessions") == [("agent",)]
    assert problems(fleet) == []


def test_what_is_shipped_is_not_shipped_again(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        fill(store)
        ship(store)
        objects = fleet.objects()
        ship(store)
        assert fleet.objects() == objects
        keep_in(store, b"another\n")
        ship(store)
        assert len(fleet.objects()) == len(objects) + 1


def test_a_running_capture_waits_until_it_is_done(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        recording = store.begin("cmd", "sleep", "/", "s")
        recording.register()
        recording.append("out", b"so far\n")
        later = keep_in(store, b"done\n")
        with Shipper(store) as shipper:
            shipper.drain()
            assert names(fleet) == [later.name]
            sealed = recording.seal(exit_code=0)
            shipper.drain()
        assert names(fleet) == [later.name, sealed.name]


@pytest.mark.parametrize("state", STATES)
def test_ended_at_a_state_nothing_is_lost_doubled_or_announced_too_early(
    fleet: Fleet, host: FleetSettings, state: str
) -> None:
    with fleet.store("one", host) as store:
        kept = fill(store)
        write_settings(store)
        ended = subprocess.run(
            [sys.executable, "-m", "tests.store.fleet.ending", state, store.root], capture_output=True, check=False
        )
        assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
        assert problems(fleet) == []  # what is announced is there
        more = keep_in(store, b"and later\n")
        ship(store)
        assert sorted(names(fleet)) == sorted([*kept, more.name])
    assert problems(fleet) == []


def test_shippers_of_one_store_take_turns(fleet: Fleet, host: FleetSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.fleet.shipper.MOST_ITEMS", 7)
    with fleet.store("one", host) as store:
        kept = [keep_in(store, f"{number}\n".encode()).name for number in range(60)]
        failed: list[BaseException] = []

        def drain() -> None:
            try:
                with Store(store.root, store.settings) as own, Shipper(own) as shipper:
                    shipper.drain()
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=drain) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        assert sorted(names(fleet)) == sorted(kept)
    assert problems(fleet) == []


def test_an_announcement_of_a_cursor_that_has_moved_is_nothing(
    fleet: Fleet, host: FleetSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fleet.store("one", host) as store, Shipper(store) as slow:
        keep_in(store, b"first\n")
        slow.look(whole=True)
        entered = slow._entered()
        ship(store)
        keep_in(store, b"second\n")
        slow.host = entered  # as it was before the other one shipped
        slow.look(whole=True)
        slow.drain()
        assert len(names(fleet)) == 2
    assert problems(fleet) == []


@pytest.mark.parametrize("lost", ["gone", "older", "damaged"])
def test_a_queue_that_is_not_the_cursors_is_made_anew(fleet: Fleet, host: FleetSettings, lost: str) -> None:
    with fleet.store("one", host) as store:
        kept = fill(store, 2)
        ship(store)
        folder = Path(store.root, "fleet")
        shutil.copy(folder / "queue.sqlite", folder / "backup")
        kept.append(keep_in(store, b"after the backup\n").name)
        ship(store)
        for leftover in folder.glob("queue.sqlite*"):
            leftover.unlink()
        if lost == "older":
            shutil.copy(folder / "backup", folder / "queue.sqlite")
        elif lost == "damaged":
            (folder / "queue.sqlite").write_bytes(b"not a database" * 1000)
        kept.append(keep_in(store, b"after the loss\n").name)
        ship(store)
        assert sorted(names(fleet)) == sorted(kept)
        assert len(fleet.rows("SELECT 1 FROM sightline.entries")) == len(kept) - 1
    assert problems(fleet) == []


def test_two_copies_of_one_store_are_told_of(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        keep_in(store, b"common\n")
        ship(store)
    shutil.copytree(fleet.folder / "one", fleet.folder / "copy")
    with (
        fleet.store("one", host) as store,
        fleet.store("copy", host) as copy,
        Shipper(store) as first,
        Shipper(copy) as second,
        pytest.raises(FleetRefused, match="copy"),
    ):
        for number in range(9):
            for opened, shipper in ((store, first), (copy, second)):
                keep_in(opened, f"{number}\n".encode())
                shipper.drain()


def test_a_large_stream_goes_in_packs_of_bounded_size(
    fleet: Fleet, host: FleetSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.fleet.pack.Packer.__init__.__kwdefaults__", {"pack_bytes": 1 << 20})
    import random

    with fleet.store("one", host) as store:
        large = keep_in(store, random.Random(1).randbytes(5_500_000), command="dump")
        ship(store)
        assert len(fleet.objects()) == 6
        assert max(fleet.objects().values()) < 1.2 * (1 << 20)
        assert names(fleet) == [large.name]
    assert problems(fleet) == []


def test_identical_streams_are_stored_once(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        keep_in(store, b"the very same\n" * 1000)
        ship(store)
        keep_in(store, b"the very same\n" * 1000)
        ship(store)
        assert len(fleet.objects()) == 1
        assert len(names(fleet)) == 2
    assert problems(fleet) == []


def test_a_spool_that_cannot_be_written_to_is_done_without(
    fleet: Fleet, host: FleetSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with fleet.store("one", host) as store:
        kept = fill(store, 2)
        with Shipper(store) as shipper:
            monkeypatch.setattr(batches, "write_atomically", full)
            shipper.drain()
        assert names(fleet) == kept
    assert problems(fleet) == []
