"""What runs on another host is followed while somebody looks, and remarks made elsewhere reach the agent there."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from sightline.base.errors import UsageError
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.fleet import QUEUE_FOLDER
from sightline.log.notes import hold_waiting, list_notes, release, whereto
from sightline.log.sessions import current_session
from sightline.store import Narrowing, Store, Target
from sightline.verbs.reply import state_in_words
from tests.store.fleet.conftest import Fleet, Hosts, keep_in, show, write_settings

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.disk.changes import Change
from sightline.fleet import presence
from sightline.fleet import shipper as shipper_module
from sightline.fleet.queue import Queue
from sightline.fleet.reader.store import SharedStore
from sightline.fleet.shipper import Shipper
from tests.store.fleet import ending

Until = Callable[[Callable[[], object]], None]


def text_of(place: SharedStore, buffer: Buffer, stream: str = "out") -> bytes:
    with place.open(Target(buffer, stream)) as reader:
        return reader.read(0, reader.byte_count)


def live_rows(fleet: Fleet) -> int:
    return int(fleet.rows("SELECT count(*) FROM sightline.live")[0][0])


def test_what_runs_is_listed_and_followed_until_it_is_done(hosts: Hosts, place: SharedStore, until: Until) -> None:
    store = hosts.stores["a"]
    recording = store.begin("cmd", "make slow", "/", "agent")
    recording.register()
    recording.append("out", b"first\n")
    with Shipper(store) as shipper:
        shipper.greet()
        place.bring_up_to_date()
        (running,) = place.index.running()
        assert (running.command, running.ref.partition("/")[0]) == ("make slow", hosts.names["a"])
        assert live_rows(hosts.fleet) == 0  # nobody has looked
        assert text_of(place, running) == b""
        shipper.greet()
        until(lambda: text_of(place, running) == b"first\n")
        recording.append("out", b"x" * 200_000 + b"\n")
        recording.append("err", b"oh\n")
        shipper.greet()
        until(lambda: text_of(place, running) == b"first\n" + b"x" * 200_000 + b"\n")
        assert text_of(place, running, "err") == b"oh\n"
        assert place.with_progress(running).stream("out").lines == 2
        kept = recording.seal(exit_code=0)
        shipper.drain()
        shipper.greet()
    place.bring_up_to_date()
    assert place.index.running() == []
    done = place.resolve(hosts.ref("a", kept)).buffer
    assert (done.state, done.stream("out").lines) == ("sealed", 2)
    assert text_of(place, done).endswith(b"x\n")
    assert live_rows(hosts.fleet) == 0


def test_a_command_lists_and_finds_what_runs_too(hosts: Hosts, place: SharedStore) -> None:
    """A command asks for what it needs, where the inspector follows everything."""

    def outputs(wanted: Narrowing) -> list[Buffer]:
        found = place.narrowed(wanted)
        assert found is not None
        return found.outputs

    store = hosts.stores["a"]
    recording = store.begin("cmd", "make slow", "/", "agent")
    recording.register()
    with Shipper(store) as shipper:
        shipper.greet()
        name = f"{hosts.names['a']}/{recording.name}"
        for wanted in (Narrowing(), Narrowing(words=("SLOW",), host=hosts.names["a"]), Narrowing(limit=1)):
            assert [one.name for one in outputs(wanted) if one.state == "running"] == [name]
        for other in (Narrowing(words=("fast",)), Narrowing(host="other*"), Narrowing(failed=True)):
            assert name not in [one.name for one in outputs(other)]
        assert place.resolve(f"@{recording.name}").buffer.state == "running"
        assert place.resolve(format_ref(name)).buffer.state == "running"
        recording.seal(exit_code=0)
        shipper.drain()
        shipper.greet()
        assert [one.state for one in outputs(Narrowing(words=("slow",)))] == ["sealed"]


def test_a_single_reading_waits_until_the_host_has_heard_that_somebody_looks(
    hosts: Hosts, local: Store, place: SharedStore
) -> None:
    store = hosts.stores["a"]
    recording = store.begin("cmd", "make slow", "/", "agent")
    recording.register()
    recording.append("out", b"first\n")
    with Shipper(store) as shipper, SharedStore(local, place.address, patience=60) as patient:
        shipper.greet()
        running = patient.resolve(f"@{recording.name}").buffer
        read = list[bytes]()
        looks = threading.Thread(target=lambda: read.append(text_of(patient, running)))
        looks.start()
        while looks.is_alive():
            shipper.greet()
            looks.join(timeout=0.05)
        assert read == [b"first\n"]
        with open(patient.local_copy(Target(running, "out")), "rb") as file:
            assert file.read() == b"first\n"
    recording.seal(exit_code=0)


def test_what_ran_on_a_host_that_is_silent_is_not_said_to_run(hosts: Hosts, place: SharedStore) -> None:
    """Its shipper may have been killed, its network may be gone, or it sleeps."""
    recording = hosts.stores["a"].begin("cmd", "make slow", "/", "agent")
    recording.register()
    with Shipper(hosts.stores["a"]) as shipper:
        shipper.greet()
        place.bring_up_to_date()
        (running,) = place.index.running()
        assert (running.shown_state, running.note) == ("running", "")
        hosts.fleet.rows("UPDATE sightline.hosts SET seen = now() - interval '10 minutes' RETURNING id")
        place.bring_up_to_date()
        (silent,) = place.index.running()
        assert (silent.shown_state, state_in_words(silent)) == ("unknown", "unknown")
        assert silent.note.startswith("its host was last heard of at ")
        shipper.greet()
    place.bring_up_to_date()
    assert [one.shown_state for one in place.index.running()] == ["running"]
    recording.seal(exit_code=0)


def test_what_ended_without_being_shipped_runs_no_longer(hosts: Hosts, place: SharedStore) -> None:
    store = hosts.stores["a"]
    recording = store.begin("cmd", "make slow", "/", "agent")
    recording.register()
    with Shipper(store) as shipper:
        shipper.greet()
        place.bring_up_to_date()
        assert len(place.index.running()) == 1
        kept = recording.seal(exit_code=0)
        store.remove(kept, "removed")
        shipper.greet()
    place.bring_up_to_date()
    assert place.index.running() == []


def test_a_folder_that_is_not_shipped_is_not_followed_either(hosts: Hosts, place: SharedStore) -> None:
    fleet = hosts.stores["a"].settings.fleet
    with hosts.fleet.store("hidden", fleet, ship_off=("/hidden",)) as store, Shipper(store) as shipper:
        recording = store.begin("cmd", "make secret", "/hidden/x", "agent")
        recording.register()
        shipper.greet()
        recording.seal(exit_code=0)
    assert hosts.fleet.rows("SELECT * FROM sightline.running") == []


def test_a_reader_of_another_team_follows_nothing(hosts: Hosts, place: SharedStore) -> None:
    store = hosts.stores["c"]
    recording = store.begin("cmd", "make blue", "/", "agent")
    recording.register()
    recording.append("out", b"blue\n")
    with Shipper(store) as shipper:
        shipper.greet()
        place.bring_up_to_date()
        assert place.index.running() == []
        recording.seal(exit_code=0)


def test_a_remark_reaches_the_agent_when_its_host_ships(hosts: Hosts, place: SharedStore) -> None:
    store = hosts.stores["a"]
    kept = keep_in(store, b"1\n2\n3\n", session="agent")
    show(store, "agent", kept)
    hosts.ship("a")
    place.bring_up_to_date()
    target = place.resolve(hosts.ref("a", kept) + ":2-3")
    note = place.remark(target, "the fixture is stale", target.buffer.session)
    assert note
    assert note.ref == f"{hosts.ref('a', kept)}:2-3"
    (waiting,) = list_notes(place)
    assert (waiting.text, whereto(waiting)) == ("the fixture is stale", f"waits for {hosts.names['a']}/agent")
    hosts.ship("a")
    (held,) = hold_waiting(store, "agent", anyone=False)
    ((made, reader),) = hosts.fleet.rows("SELECT extract(epoch FROM made)::float8, reader FROM sightline.remarks")
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(made))
    told = {"ref": f"{kept.ref}:2-3", "text": "the fixture is stale", "from": f"reader-{reader}, {when}"}
    assert held.field == told
    assert [(note.session, note.time) for note in list_notes(store)] == [(f"reader-{reader}", made)]
    release(store, [held], current_session(name="agent"))
    hosts.ship("a")
    place.bring_up_to_date()
    (sent,) = list_notes(place, buffer=target.buffer.name)
    assert whereto(sent) == f"sent to {hosts.names['a']}/agent"
    assert sent.ref == f"{hosts.ref('a', kept)}:2-3"
    with pytest.raises(UsageError):
        place.remark(target, " ", "")


def test_a_remark_is_taken_within_five_seconds_while_a_host_captures(
    hosts: Hosts, place: SharedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = hosts.stores["a"]
    kept = keep_in(store, b"1\n2\n3\n", session="agent")
    hosts.ship("a")
    place.bring_up_to_date()
    target = place.resolve(hosts.ref("a", kept))
    keep_in(store, b"next\n", session="agent")
    seconds = [0.0]
    clock = SimpleNamespace(monotonic=lambda: 1_000.0 + seconds[0], time=time.time, sleep=time.sleep)
    monkeypatch.setattr(shipper_module, "time", clock)
    taken_at: list[float] = []

    def wait_for(passed: float) -> bool:
        seconds[0] += passed
        if seconds[0] == 8.0:
            place.remark(target, "the fixture is stale", target.buffer.session)
        if list_notes(store) and not taken_at:
            taken_at.append(seconds[0])
        return bool(taken_at) or seconds[0] > 30

    with Shipper(store) as shipper:
        shipper.follow(wait_for)
    assert taken_at
    assert taken_at[0] <= 8.0 + 5.0 + 1.0  # the last second is that of this loop


def test_a_remark_that_is_written_down_after_one_with_a_larger_number_is_taken_too(
    hosts: Hosts, place: SharedStore
) -> None:
    """Two readers may send at once, and numbers are given before the rows are there for others."""
    store = hosts.stores["a"]
    kept = keep_in(store, b"1\n2\n3\n", session="agent")
    hosts.ship("a")
    place.bring_up_to_date()
    target = place.resolve(hosts.ref("a", kept))
    for text in ("first", "second"):
        place.remark(target, text, target.buffer.session)
    late = hosts.fleet.rows(
        "DELETE FROM sightline.remarks WHERE text = 'first' RETURNING id, host, reader, ref, session, text"
    )
    hosts.ship("a")
    assert [note.text for note in list_notes(store)] == ["second"]
    hosts.fleet.rows(
        "INSERT INTO sightline.remarks (id, host, reader, ref, session, text)"
        " OVERRIDING SYSTEM VALUE VALUES (%s, %s, %s, %s, %s, %s)",
        *late[0],
    )
    for _ in range(2):
        hosts.ship("a")
        assert [note.text for note in list_notes(store)] == ["second", "first"]


def test_remarks_that_an_older_version_was_done_with_are_not_taken_again(
    hosts: Hosts, place: SharedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """0.2.0 keeps the number of the last one, and no list of them."""
    store = hosts.stores["a"]
    kept = keep_in(store, b"1\n2\n3\n", session="agent")
    hosts.ship("a")
    place.bring_up_to_date()
    target = place.resolve(hosts.ref("a", kept))

    def refuse(*_: object, **__: object) -> None:
        raise UsageError("the remark is too long", "")

    taken: list[str] = []
    for done_with, new in (("first", "second"), ("third", "fourth")):
        with contextlib.closing(Queue(store.root)) as queue, monkeypatch.context() as patch:
            listed = queue.fact("recent remarks")  # nothing, and then what a newer version left
            patch.setattr(presence, "write_note", refuse)
            place.remark(target, done_with, target.buffer.session)
            hosts.ship("a")
            queue.put_fact("recent remarks", listed)
        place.remark(target, new, target.buffer.session)
        taken.append(new)
        for _ in range(2):
            hosts.ship("a")
            assert [note.text for note in list_notes(store)] == taken


def test_a_remark_that_shippers_were_killed_over_reaches_the_agent_once(hosts: Hosts, place: SharedStore) -> None:
    store = hosts.stores["a"]
    kept = keep_in(store, b"1\n2\n3\n", session="agent")
    hosts.ship("a")
    write_settings(store)
    place.bring_up_to_date()
    target = place.resolve(hosts.ref("a", kept))
    assert place.remark(target, "the fixture is stale", target.buffer.session)
    for state in ending.OF_REMARKS:
        ended = subprocess.run(
            [sys.executable, "-m", "tests.store.fleet.ending", state, store.root], capture_output=True, check=False
        )
        assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    hosts.ship("a")
    assert [note.text for note in list_notes(store)] == ["the fixture is stale"]
    (held,) = hold_waiting(store, "agent", anyone=False)
    release(store, [held], current_session(name="agent"))
    shutil.rmtree(os.path.join(store.root, QUEUE_FOLDER))  # the number of the last remark is lost with the queue
    hosts.ship("a")
    assert len(list_notes(store)) == 1
    assert hold_waiting(store, "agent", anyone=False) == []


def test_the_feed_tells_of_what_came_and_of_a_lost_connection(hosts: Hosts, place: SharedStore) -> None:
    told: list[Change] = []
    lost: list[str] = []
    came, gone = threading.Event(), threading.Event()
    feed = place.changes(
        lambda change: (told.append(change), came.set()),
        polls=lambda why: (lost.append(why), gone.set()),  # type: ignore[func-returns-value]
    )
    feed.start()
    try:
        assert came.wait(30)
        assert told[0].records
        came.clear()
        keep_in(hosts.stores["a"], b"new\n", command="make new")
        hosts.ship("a")
        assert came.wait(30)
        assert "make new" in {item.buffer.command for item in place.listed(10)}
        came.clear()
        hosts.fleet.rows("ALTER TABLE sightline.hosts RENAME TO away")
        assert gone.wait(30)
        assert place.trouble
        assert len(place.listed(10)) == 3  # what is there stays
        hosts.fleet.rows("ALTER TABLE sightline.away RENAME TO hosts")
        assert came.wait(60)
        assert not place.trouble
    finally:
        feed.close()
    assert len(lost) == 1
