"""The shared place as a store that is read: what hosts shipped is there, and nothing of what the reader may not see."""

import base64
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import AmbiguousRef, BadRef, ExpiredRef, StoreFailed, UnknownRef
from sightline.base.records import Buffer, Session
from sightline.base.refs import format_ref
from sightline.log import retention
from sightline.log.log_index import list_views
from sightline.log.session_events import AgentMessage, append_events
from sightline.log.session_history import events_of
from sightline.log.sessions import current_session
from sightline.log.view_text import view_text
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Narrowing, Reading, Store
from tests.store.fleet.conftest import Hosts, keep_in, show

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

import obstore
from zstandard import ZstdCompressor

from sightline.audit.buffer_failures import overlooked
from sightline.audit.timeline import calls_of, captured_by
from sightline.fleet.objects import Objects
from sightline.fleet.pack import FRAME_BYTES
from sightline.fleet.reader.pack_cache import Tampered
from sightline.fleet.reader.rows import SharedRows
from sightline.fleet.reader.store import Offline, SharedStore

FAILED = b"collected 2 items\n" + b"x = 1\n" * 400 + b"FAILED tests/test_a.py::test_it - assert 1 == 2\n1 failed\n"


def narrowed(place: SharedStore, **by: Any) -> list[Buffer]:
    found = place.narrowed(Narrowing(**by))
    assert found is not None
    return found.outputs


def test_what_hosts_shipped_is_listed_by_host(hosts: Hosts, place: SharedStore) -> None:
    reading: Reading = place
    assert place.bring_up_to_date()
    listed = [item.buffer for item in reading.listed(10)]
    assert [buffer.command for buffer in listed] == ["make b", "make a"]
    assert {buffer.name.partition("/")[0] for buffer in listed} == {hosts.names["a"], hosts.names["b"]}
    assert all(buffer.ref.startswith(f"{buffer.name.partition('/')[0]}/@cmd_") for buffer in listed)
    assert not place.bring_up_to_date()


def test_an_output_is_found_without_reading_all(hosts: Hosts, place: SharedStore) -> None:
    kept = keep_in(hosts.stores["a"], b"out\n" * 9, b"err\n" * 3, command="both")
    hosts.ship("a")
    target = place.resolve(hosts.ref("a", kept) + ".err:2-3")
    assert (target.stream, target.first, target.last) == ("err", 2, 3)
    assert place.resolve(kept.ref).buffer == target.buffer
    assert place.resolve(kept.ref[:9], prefixes=True).buffer == target.buffer
    with place.open(target) as reader:
        assert [line.data for line in reader.lines(2, 3)] == [b"err", b"err"]
    for wrong, error in (("@cmd_000000", UnknownRef), (f"{hosts.names['b']}/{kept.ref}", UnknownRef), ("x", BadRef)):
        with pytest.raises(error):
            place.resolve(wrong)


def test_one_name_on_two_hosts_is_asked_back(hosts: Hosts, place: SharedStore) -> None:
    kept = keep_in(hosts.stores["a"], b"1\n")
    os.rename(hosts.stores["a"].layout.folder(kept.name), hosts.stores["b"].layout.folder(kept.name))
    hosts.stores["b"].index.put_buffer(kept)
    hosts.ship("b")
    os.rename(hosts.stores["b"].layout.folder(kept.name), hosts.stores["a"].layout.folder(kept.name))
    hosts.ship("a")
    with pytest.raises(AmbiguousRef, match=hosts.names["b"]):
        place.resolve(kept.ref)
    assert place.resolve(hosts.ref("a", kept)).buffer.ref == hosts.ref("a", kept)


LINES = 400_000
"""Of a large output: many frames, in several packs."""

OLDER_RECORDS = (
    "record #- '{streams,out,frame_hashes}'",
    "jsonb_set(record, '{streams,out,frame_hashes}', '\"AAAA\"')",
    "jsonb_set(record, '{streams,out,frame_hashes}', '7')",
)
"""What 0.2.0 ships, and what no version does."""


class Gets:
    """What is fetched from the object store: whole packs, and (offset, bytes) of parts."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.packs: list[str] = []
        self.parts: list[tuple[int, int]] = []
        get, get_range = Objects.get, Objects.get_range

        def noted(objects: Objects, key: str) -> bytes:
            self.packs.append(key)
            return get(objects, key)

        def noted_range(objects: Objects, key: str, offset: int, length: int) -> bytes:
            self.parts.append((offset, length))
            return get_range(objects, key, offset, length)

        patch.setattr(Objects, "get", noted)
        patch.setattr(Objects, "get_range", noted_range)

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of packs and parts."""
        return len(self.packs), len(self.parts)


@pytest.fixture
def gets(monkeypatch: pytest.MonkeyPatch) -> Gets:
    """What is fetched from then on."""
    return Gets(monkeypatch)


@pytest.fixture(scope="module")
def large() -> bytes:
    """The bytes of a large output."""
    return b"".join(b"line %d %s\n" % (number, os.urandom(20).hex().encode()) for number in range(LINES))


def line_of(place: SharedStore, ref: str, number: int) -> bytes:
    with place.open(place.resolve(ref)) as reader:
        (line,) = reader.lines(number, number)
        return line.data


def test_a_large_output_is_read_by_its_frames(hosts: Hosts, place: SharedStore, large: bytes, gets: Gets) -> None:
    kept = keep_in(hosts.stores["a"], large)
    hosts.ship("a")
    with place.open(place.resolve(hosts.ref("a", kept))) as reader:
        assert (reader.byte_count, reader.line_count) == (len(large), LINES)
        for number in (123_456, LINES - 9, 123_457, 7):
            (line,) = reader.lines(number, number)
            assert line.data.startswith(b"line %d " % (number - 1))
        assert gets.counts == (0, 3)
        assert all(length < 1 << 20 for _, length in gets.parts)
        assert reader.newline_count == LINES
        assert reader.line_at(large.index(b"line 7777 ")) == 7778
        assert b"".join(data for _, data in reader.blocks()) == large
        assert reader.ends_with_newline
    with open(place.local_copy(place.resolve(hosts.ref("a", kept))), "rb") as file:
        assert file.read() == large


def test_what_is_read_from_end_to_end_comes_in_whole_packs(
    hosts: Hosts, place: SharedStore, large: bytes, gets: Gets
) -> None:
    kept = keep_in(hosts.stores["a"], large)
    hosts.ship("a")
    with place.open(place.resolve(hosts.ref("a", kept))) as reader:
        assert b"".join(data for _, data in reader.blocks()) == large
        frames = len(large) // FRAME_BYTES + 1
        assert gets.counts[1] == 2 < len(gets.packs) < frames // 2
        assert len(set(gets.packs)) == len(gets.packs)


def test_a_frame_that_was_read_is_there_without_the_network(
    hosts: Hosts, place: SharedStore, local: Store, large: bytes, gets: Gets
) -> None:
    kept = keep_in(hosts.stores["a"], large)
    hosts.ship("a")
    assert line_of(place, hosts.ref("a", kept), 4711).startswith(b"line 4710 ")
    place.close()
    with SharedStore(local, place.address, offline=True) as offline:
        assert line_of(offline, kept.ref, 4711).startswith(b"line 4710 ")
        assert gets.counts == (0, 1)
        with pytest.raises(Offline):
            line_of(offline, kept.ref, LINES)


def test_a_large_output_of_an_older_host_is_read_by_packs(
    hosts: Hosts, place: SharedStore, large: bytes, gets: Gets
) -> None:
    kept = keep_in(hosts.stores["a"], large)
    hosts.ship("a")
    for record in OLDER_RECORDS:
        hosts.fleet.rows(f"UPDATE sightline.buffers SET record = {record} WHERE record::text LIKE '%%frame_hashes%%'")
        place.bring_up_to_date()
        place.narrowed(Narrowing(words=("true",)))
        assert line_of(place, hosts.ref("a", kept), 4711).startswith(b"line 4710 ")
    assert gets.counts == (1, 0)


def test_the_same_large_output_shipped_again_is_read_by_its_frames(
    hosts: Hosts, place: SharedStore, large: bytes, gets: Gets
) -> None:
    keep_in(hosts.stores["a"], large)
    hosts.ship("a")
    again = keep_in(hosts.stores["a"], large)
    hosts.ship("a")
    assert hosts.fleet.rows("SELECT count(DISTINCT packs) FROM sightline.buffers WHERE bytes = %s", len(large)) == [
        (1,)
    ]
    assert line_of(place, hosts.ref("a", again), 4711).startswith(b"line 4710 ")
    assert gets.counts == (0, 1)


def test_a_frame_that_was_changed_is_told_and_not_shown(hosts: Hosts, place: SharedStore, large: bytes) -> None:
    kept = keep_in(hosts.stores["a"], large)
    hosts.ship("a")
    ref = hosts.ref("a", kept)
    [(frames, pack)] = hosts.fleet.rows(
        "SELECT frames -> 'out', encode(packs[1], 'hex') FROM sightline.buffers WHERE name = %s", kept.name
    )
    _, offset, stored, raw, _ = frames[2]
    (key,) = (key for key in hosts.fleet.objects() if key.endswith(pack))
    path, client = f"{hosts.fleet.prefix}/{key}", hosts.fleet.store_of_objects.client()
    data = bytearray(obstore.get(client, path).bytes())
    data[offset : offset + stored] = ZstdCompressor().compress(b"x" * raw).ljust(stored, b"\0")
    obstore.put(client, path, bytes(data))
    changed = large[: 2 * FRAME_BYTES].count(b"\n") + 9
    for number in (1, LINES):
        assert line_of(place, ref, number).startswith(b"line %d " % (number - 1))
    for _ in range(2):
        with pytest.raises(Tampered):
            line_of(place, ref, changed)
    with pytest.raises(Tampered):
        place.local_copy(place.resolve(ref))


@pytest.mark.parametrize("left", [1_000, 0])
def test_a_pack_that_was_cut_is_told_and_not_shown(hosts: Hosts, place: SharedStore, large: bytes, left: int) -> None:
    kept = [keep_in(hosts.stores["a"], data) for data in (os.urandom(3_000).hex().encode(), large)]
    hosts.ship("a")
    client = hosts.fleet.store_of_objects.client()
    for key in hosts.fleet.objects():
        path = f"{hosts.fleet.prefix}/{key}"
        obstore.put(client, path, bytes(obstore.get(client, path).bytes())[:left])
    for one, numbers in zip(kept, ((1,), (1, 123_456, LINES)), strict=True):
        for number in numbers:
            with pytest.raises(Tampered):
                line_of(place, hosts.ref("a", one), number)


def test_frames_of_what_was_purged_do_not_stay(hosts: Hosts, place: SharedStore, local: Store, large: bytes) -> None:
    kept = keep_in(hosts.stores["a"], large)
    hosts.ship("a")
    place.bring_up_to_date()
    assert line_of(place, hosts.ref("a", kept), 4711).startswith(b"line 4710 ")
    place.close()
    assert copies(local)
    retention.remove(hosts.stores["a"], [kept], purge=True)
    hosts.ship("a")
    with SharedStore(local, place.address) as again:
        again.bring_up_to_date()
    assert not copies(local)


def copies(local: Store) -> list[str]:
    """The names of what a reader's machine keeps of the object store."""
    return [path.name for path in Path(local.root).glob("shared/*/objects/*/*")]


def test_both_streams_come_in_their_order(hosts: Hosts, place: SharedStore) -> None:
    recording = hosts.stores["a"].begin("cmd", "both", "/", "s")
    recording.register()
    for stream, data in (("out", b"1\n"), ("err", b"2\n"), ("out", b"3\n"), ("err", b"4\n")):
        recording.append(stream, data)
    kept = recording.seal(exit_code=0)
    hosts.ship("a")
    target = place.resolve(hosts.ref("a", kept))
    merged = place.open_merged(target.buffer)
    assert [line.data for _, line in merged.lines(1, 9)] == [b"1", b"2", b"3", b"4"]
    merged.close()
    assert Path(place.local_copy(target._replace(stream="all"))).read_bytes() == b"1\n2\n3\n4\n"


def test_views_are_counted_for_the_outputs_of_all_hosts(hosts: Hosts, place: SharedStore) -> None:
    kept = keep_in(hosts.stores["a"], FAILED, command="pytest", exit_code=1, session="agent")
    show(hosts.stores["a"], "agent", kept, "long\n" * 2000)
    hosts.ship("a")
    place.bring_up_to_date()
    (indexed,) = list_views(place, session=f"{hosts.names['a']}/agent")
    assert indexed.view.refs == (f"{hosts.names['a']}/{kept.name}",)
    assert view_text(place, indexed) == "long\n" * 2000
    calls = calls_of(place)
    assert [format_ref(*call.view.refs) for call in calls if call.view.refs] == [hosts.ref("a", kept)]
    captured = captured_by(place, [f"{hosts.names['a']}/agent"])
    assert [one.ref.partition(":")[0] for one in overlooked(place, captured)] == [hosts.ref("a", kept)]


def test_views_are_listed_by_time_whichever_were_asked_for_first(hosts: Hosts, place: SharedStore) -> None:
    first, failed = (keep_in(hosts.stores["a"], data, exit_code=code) for data, code in ((b"x\n", 0), (FAILED, 1)))
    for kept in (first, failed):
        show(hosts.stores["a"], "agent", kept)
    hosts.ship("a")
    place.to_examine(0.0)  # asks for what is about the failed one alone
    place.bring_up_to_date()
    assert [one.view.number for one in list_views(place)] == [2, 1]
    assert [one.view.number for one in list_views(place, limit=1)] == [2]
    assert place.index.numbers_of_views() == 2


def test_a_view_that_quotes_lines_of_its_host_is_read_exactly(hosts: Hosts, place: SharedStore) -> None:
    store = hosts.stores["a"]
    kept = keep_in(store, b"".join(b"%d\n" % number for number in range(3000)))
    text = "".join(f"{number}\n" for number in range(2000))
    shows = Shows("read_output", {"ref": kept.ref}, refs=(kept.name,))
    record_view(store, current_session(name="agent"), shows, (Segment(text, kept.ref, 1, 2000),))
    hosts.ship("a")
    (indexed,) = list_views(place, buffer=f"{hosts.names['a']}/{kept.name}")
    assert view_text(place, indexed) == text


def test_an_output_that_became_something_else_is_told_so(hosts: Hosts, place: SharedStore) -> None:
    store = hosts.stores["a"]
    kept, gone = keep_in(store, b"1\n"), keep_in(store, b"2\n", command="secret")
    hosts.ship("a")
    place.bring_up_to_date()
    store.amend(kept.name, label="release", pinned=True)
    store.remove(gone, "removed")
    hosts.ship("a")
    place.bring_up_to_date()
    assert place.resolve(hosts.ref("a", kept)).buffer.label == "release"
    with pytest.raises(ExpiredRef, match="removed"):
        place.resolve(hosts.ref("a", gone))


def test_a_reader_has_neither_rows_nor_hints_of_another_team(hosts: Hosts, place: SharedStore) -> None:
    hidden = keep_in(hosts.stores["c"], b"blue\n", command="make secret")
    hosts.ship("c")
    show(hosts.stores["c"], "spy", hidden)
    hosts.ship("c")
    place.bring_up_to_date()
    assert place.reach().hosts == 2
    assert {item.buffer.command for item in place.listed(100)} == {"make a", "make b"}
    assert narrowed(place, words=("secret",)) == []
    assert not [session for session in place.index.sessions() if "spy" in session.name]
    unknown = f"{hosts.names['c']}/@cmd_0000aa"
    told = []
    for ref in (hosts.ref("c", hidden), unknown):
        with pytest.raises(UnknownRef) as error:
            place.resolve(ref)
        told.append(error.value.message.replace(ref, "REF"))
    assert told[0] == told[1]


def test_what_was_granted_before_is_forgotten_when_it_is_taken_back(hosts: Hosts, place: SharedStore) -> None:
    place.bring_up_to_date()
    assert len(place.listed(10)) == 2
    hosts.fleet.rows("DELETE FROM sightline.grants")
    place.bring_up_to_date()
    assert place.listed(10) == []
    assert place.reach().hosts == 0


@pytest.mark.parametrize("is_up_to_date", [True, False])
def test_no_bytes_stay_of_a_host_that_may_no_longer_be_read(
    hosts: Hosts, place: SharedStore, local: Store, large: bytes, is_up_to_date: bool
) -> None:
    of_a, of_b = (keep_in(hosts.stores[name], b"small\n" * 50 + name.encode(), session="agent") for name in "ab")
    in_frames = keep_in(hosts.stores["a"], large)
    show(hosts.stores["a"], "agent", of_a, "quoted\n" * 2000)
    for name in "ab":
        hosts.ship(name)
    if is_up_to_date:
        place.bring_up_to_date()
    assert line_of(place, hosts.ref("b", of_b), 1) == b"small"
    place.close()
    (of_other,) = copies(local)
    with SharedStore(local, place.address) as again:
        assert line_of(again, hosts.ref("a", of_a), 1) == b"small"
        assert line_of(again, hosts.ref("a", in_frames), 4711).startswith(b"line 4710 ")
        with again.open(again.resolve(hosts.ref("a", in_frames))) as reader:
            assert b"".join(data for _, data in reader.blocks()) == large
        for indexed in list_views(again, session=f"{hosts.names['a']}/agent"):
            assert view_text(again, indexed) == "quoted\n" * 2000
    assert len(copies(local)) > 4
    hosts.fleet.rows("UPDATE sightline.hosts SET team = 'blue' WHERE name = %s", hosts.names["a"])
    with SharedStore(local, place.address) as again:
        again.bring_up_to_date()
        assert {item.buffer.name.partition("/")[0] for item in again.listed(10)} == {hosts.names["b"]}
    assert copies(local) == [of_other]


def test_a_tampered_object_is_told_and_not_shown(hosts: Hosts, place: SharedStore) -> None:
    small = keep_in(hosts.stores["a"], b"small\n" * 50)
    large = keep_in(hosts.stores["a"], os.urandom(3 << 20).hex().encode())
    hosts.ship("a")
    targets = [place.resolve(hosts.ref("a", one)) for one in (small, large)]
    client = hosts.fleet.store_of_objects.client()
    for key in hosts.fleet.objects():
        path = f"{hosts.fleet.prefix}/{key}"
        data = bytearray(obstore.get(client, path).bytes())
        for byte in range(0, len(data), 1000):
            data[byte] ^= 1
        obstore.put(client, path, bytes(data))
    for target in targets:
        with place.open(target) as reader, pytest.raises(Tampered):
            reader.read(0, 10)
        with pytest.raises(Tampered):
            place.local_copy(target)


def test_without_the_network_what_was_read_is_readable(hosts: Hosts, place: SharedStore, local: Store) -> None:
    kept = keep_in(hosts.stores["a"], b"kept here\n")
    other = keep_in(hosts.stores["a"], b"never read\n")
    hosts.ship("a")
    place.bring_up_to_date()
    with place.open(place.resolve(hosts.ref("a", kept))) as reader:
        assert reader.read(0, 99) == b"kept here\n"
    with SharedStore(local, place.address, offline=True) as offline:
        assert len(offline.listed(10)) == 4
        with offline.open(offline.resolve(kept.ref)) as reader:
            assert reader.read(0, 99) == b"kept here\n"
        with offline.open(offline.resolve(other.ref)) as reader, pytest.raises(Offline, match="--offline"):
            reader.read(0, 99)


def test_a_database_that_does_not_answer_is_told(local: Store) -> None:
    with SharedStore(local, "postgresql://carl@127.0.0.1:1/db") as nowhere:
        with pytest.raises(StoreFailed, match=r"127\.0\.0\.1:1") as told:
            nowhere.bring_up_to_date()
        assert "--offline" in told.value.hint


def test_what_is_asked_of_all_hosts_is_narrowed_there(hosts: Hosts, place: SharedStore) -> None:
    keep_in(hosts.stores["a"], b"x\n", command="pytest -q", exit_code=1)
    hosts.ship("a")
    assert [buffer.command for buffer in narrowed(place, failed=True)] == ["pytest -q"]
    assert [buffer.command for buffer in narrowed(place, host=hosts.names["b"][:3] + "*")] == ["make b"]
    assert [buffer.command for buffer in narrowed(place, words=("PYTEST",))] == ["pytest -q"]
    assert [buffer.command for buffer in narrowed(place, since=4e9)] == []
    for command in ("make target-480113", "make other-480113", "make 480113%"):
        keep_in(hosts.stores["a"], b"x\n", command=command)
    hosts.ship("a")
    assert [buffer.command for buffer in narrowed(place, words=("target-480113",))] == ["make target-480113"]
    assert [buffer.command for buffer in narrowed(place, words=("make", "480113%"))] == ["make 480113%"]


def test_rows_that_no_host_of_ours_would_write_are_left_out(hosts: Hosts, place: SharedStore) -> None:
    rows = hosts.fleet.rows
    rows("UPDATE sightline.buffers SET record = jsonb_set(record, '{command}', '{\"x\": 1}') WHERE command = 'make a'")
    rows("UPDATE sightline.buffers SET record = jsonb_set(record, '{name}', '\"../../x\"') WHERE command = 'make b'")
    place.bring_up_to_date()
    assert place.listed(10) == []


def test_a_hash_that_no_host_of_ours_would_write_is_left_out(hosts: Hosts, place: SharedStore) -> None:
    hosts.fleet.rows(
        "UPDATE sightline.buffers SET record = jsonb_set(record, '{streams,out,frame_hashes}', to_jsonb(%s::text))",
        base64.b64encode(bytes(32)).decode(),
    )
    for _ in range(2):
        assert len(narrowed(place)) == 2
        place.bring_up_to_date()
    assert line_of(place, f"{hosts.names['a']}/@last", 1) == b"first of a"


def test_what_an_agent_said_before_the_mirror_begins_is_known_without_the_other_lines_of_its_log(
    hosts: Hosts, place: SharedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session("codex-1", "codex", "1", "", "/", time.time() - 900)
    said = [AgentMessage(time.time() - 600, "All tests pass."), AgentMessage(time.time() - 300, "Done.")]
    append_events(hosts.stores["a"].root, session, said)
    kept = keep_in(hosts.stores["a"], b"a line\n", session=session.name)
    show(hosts.stores["a"], session.name, kept)
    hosts.ship("a")
    place.bring_up_to_date(kept.created - 1.0)
    monkeypatch.delattr(SharedRows, "entries_of_session")
    name = f"{hosts.names['a']}/{session.name}"
    assert [one.time for one in events_of(place, name).messages] == [one.time for one in said]
    with place.open_events(name) as file:
        assert [json.loads(line)["kind"] for line in file] == ["message", "message"]
    said.append(AgentMessage(time.time(), "Once more."))
    append_events(hosts.stores["a"].root, session, said[-1:])
    hosts.ship("a")
    place.bring_up_to_date()
    assert [one.time for one in events_of(place, name).messages] == [one.time for one in said]


@pytest.mark.parametrize("is_mirrored_before", [True, False])
def test_what_a_host_whose_clock_is_ahead_captured_is_listed_by_when_it_was_announced(
    hosts: Hosts, place: SharedStore, monkeypatch: pytest.MonkeyPatch, is_mirrored_before: bool
) -> None:
    if is_mirrored_before:
        place.bring_up_to_date()
    now = time.time
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: now() + 7 * 86_400)
        early = [keep_in(hosts.stores["a"], b"x\n", command=f"early {number}", exit_code=1) for number in range(9)]
        hosts.ship("a")
    hosts.fleet.rows("UPDATE sightline.buffers SET announced = announced - interval '3 hours' WHERE created > now()")
    late = keep_in(hosts.stores["b"], b"x\n", command="late", exit_code=1)
    hosts.ship("b")
    assert [one.command for one in narrowed(place, limit=1)] == ["late"]
    assert [one.command for one in narrowed(place, limit=1, words=("e",))] == ["late"]
    last_hour = time.time() - 3_600
    assert not {one.command for one in narrowed(place, since=last_hour)} & {one.command for one in early}
    assert not {one.command for one in narrowed(place, since=last_hour, text="early")} & {one.command for one in early}
    since = place.to_examine(last_hour)
    assert since is not None
    assert since.outputs == [hosts.ref("b", late).replace("@", "")]
    place.bring_up_to_date()
    assert place.listed(1)[0].buffer.command == "late"
    names = [hosts.ref("a", one).replace("@", "") for one in early[::-1]]
    assert [item.buffer.name for item in place.listed(20) if item.buffer.name in names] == names
