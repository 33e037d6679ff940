"""What is shipped and what is not: buffers, what became of them, logs, and what a person has left out or hidden."""

import json
import os
import secrets

import pytest

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.base.private_files import read_file
from sightline.base.records import Buffer, Gap
from sightline.fleet.content import fit
from sightline.fleet.database import connected
from sightline.fleet.objects import Objects
from sightline.fleet.pack import frame_at, frame_bytes, raw_bytes
from sightline.fleet.shipper import Shipper
from sightline.fleet.status import ship_status
from sightline.fleet.verification import Verification
from sightline.log import retention
from sightline.log.log_index import append_entry
from sightline.log.notes import write_note
from sightline.log.sessions import current_session
from sightline.log.views import Shows, record_view
from sightline.settings.config import FleetSettings
from sightline.shape.segments import Segment
from sightline.store import Store
from tests.store.fleet.conftest import Fleet, keep_in


def ship(store: Store) -> None:
    with Shipper(store) as shipper:
        shipper.drain()


def problems(fleet: Fleet) -> list[str]:
    with connected(fleet.address) as connection:
        found = Verification(connection, Objects(fleet.objects_address), contents=True).findings()
        return [finding.text for finding in found if finding.kind == "problem"]


def packs_of(fleet: Fleet) -> dict[str, bytes]:
    objects = Objects(fleet.objects_address)
    return {key.rpartition("/")[2]: objects.get(key) for key in fleet.objects()}


def stream_of(fleet: Fleet, name: str, stream: str) -> bytes:
    """A stream as it was shipped."""
    packs, frames = fleet.rows(
        "SELECT ARRAY(SELECT encode(one, 'hex') FROM unnest(packs) AS one), frames FROM sightline.buffers"
        " WHERE name = %s",
        name,
    )[0]
    stored = packs_of(fleet)
    return b"".join(frame_bytes(stored[packs[frame.pack]], frame) for frame in map(frame_at, frames[stream]))


def lines_of(fleet: Fleet, session: str) -> list[bytes]:
    """The lines of a log as they were shipped."""
    stored = packs_of(fleet)
    rows = fleet.rows(
        "SELECT encode(pack, 'hex'), frame_offset, frame_bytes, line_offset, line_bytes FROM sightline.entries"
        " WHERE session = %s ORDER BY number",
        session,
    )
    return [
        raw_bytes(stored[pack][offset : offset + size])[begin : begin + length]
        for pack, offset, size, begin, length in rows
    ]


def everything(fleet: Fleet) -> bytes:
    """All that anybody could read there."""
    tables = ("hosts", "packs", "buffers", "changes", "sessions", "entries")
    rows = [fleet.rows(f"SELECT to_jsonb(t)::text FROM sightline.{table} AS t") for table in tables]
    told = json.dumps(rows).encode()
    for name, packs, frames in fleet.rows(
        "SELECT name, ARRAY(SELECT encode(one, 'hex') FROM unnest(packs) AS one), frames FROM sightline.buffers"
    ):
        for stream in frames:
            told += stream_of(fleet, name, stream)
        assert packs
    for (session,) in fleet.rows("SELECT DISTINCT session FROM sightline.entries"):
        told += b"".join(lines_of(fleet, session))
    return told


def show(store: Store, buffer: Buffer, text: str = "what was shown\n", session: str = "agent", **request: str) -> None:
    shows = Shows("run_command", request or {"command": buffer.command}, refs=(buffer.name,))
    record_view(store, current_session(name=session), shows, (Segment(text),))


@pytest.fixture
def host(fleet: Fleet) -> FleetSettings:
    return fleet.add_host("host1")


def test_streams_arrive_byte_for_byte(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        out, err = bytes(range(256)) * 20_000, b"warning\r\n" * 3 + b"no newline"
        kept = keep_in(store, out, err)
        ship(store)
        order = read_file(store.layout.stream(kept.name, "order"))
    assert stream_of(fleet, kept.name, "out") == out
    assert stream_of(fleet, kept.name, "err") == err
    assert stream_of(fleet, kept.name, "order") == order


def test_a_record_arrives_as_it_was(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        recording = store.begin("cmd", "make", "/work", "s", label="nightly", artifact="a-1")
        recording.register()
        recording.append("out", b"x\n")
        recording.buffer = recording.buffer._replace(partial="cut by its harness", gaps=(Gap("out", 1, 20, "lines"),))
        kept = recording.seal(exit_code=2)
        ship(store)
    row = fleet.rows("SELECT record, partial, failed, exit_code, bytes, lines FROM sightline.buffers")[0]
    assert row[1:] == (kept.partial, True, 2, 2, 1)
    told = json.loads(json.dumps(kept._asdict()))
    told["streams"] = {name: info._asdict() for name, info in kept.streams.items()}
    assert row[0] == {name: value for name, value in told.items() if name not in ("accessed", "seals")}


def test_a_log_arrives_line_for_line_and_its_chain_holds(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        kept = keep_in(store, b"x\n")
        for number in range(5):
            show(store, kept, f"text {number} \0 ✓\n")
            ship(store)
        write_note(store, current_session(name="agent"), store.resolve(f"@{kept.name}:1-1"), "look here")
        ship(store)
        with store.open_log("agent") as file:
            assert lines_of(fleet, "agent") == file.readlines()
    assert problems(fleet) == []


def test_the_text_of_a_view_is_in_no_row(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        show(store, keep_in(store, b"x\n"), "the exact text\n")
        ship(store)
    assert "the exact text" not in json.dumps(fleet.rows("SELECT record FROM sightline.entries"))


def test_what_becomes_of_a_buffer_is_told(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        kept, other = keep_in(store, b"one\n"), keep_in(store, b"two\n")
        ship(store)
        store.amend(kept.name, label="important", pinned=True)
        ship(store)
        retention.evict(store, other)
        retention.remove(store, [kept])
        ship(store)
        ship(store)
    rows = fleet.rows("SELECT name, record ->> 'label', record ->> 'state' FROM sightline.changes ORDER BY seq, name")
    assert set(rows) == {(kept.name, "important", "sealed"), (other.name, "", "evicted"), (kept.name, None, "removed")}
    assert stream_of(fleet, kept.name, "out") == b"one\n"  # what was shipped stays, until it is past the retention


def test_of_a_buffer_that_went_before_it_was_shipped_the_rest_is_told(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        kept = keep_in(store, b"".join(b"line %d\n" % number for number in range(2_000)), command="make all")
        retention.evict(store, kept)
        ship(store)
    assert fleet.rows("SELECT command, state FROM sightline.buffers") == [("make all", "evicted")]
    assert json.loads(stream_of(fleet, kept.name, "left"))["reason"] == "evicted"
    assert problems(fleet) == []


def test_folders_and_sizes_that_are_left_out_stay_here_with_all_that_was_shown_of_them(
    fleet: Fleet, host: FleetSettings, tmp_path: "os.PathLike[str]"
) -> None:
    private, closed, work = (os.path.join(tmp_path, name) for name in ("private", "closed", "work"))
    for folder in (private, closed, work):
        os.mkdir(folder)
    settings = host._replace(max_buffer_bytes=1_000)
    with fleet.store("one", settings, ship_off=(private,), capture_off=(closed,)) as store:
        hidden = keep_in(store, b"customer list\n", command="cat customers", cwd=private)
        closed_later = keep_in(store, b"closed later\n", command="cat closed", cwd=closed)
        large = keep_in(store, b"y" * 2_000, command="yes", cwd=work)
        shipped = keep_in(store, b"fine\n", command="true", cwd=work)
        for buffer, text in ((hidden, "customer list"), (closed_later, "closed later"), (shipped, "shown fine")):
            show(store, buffer, text)
        ship(store)
        status = ship_status(store)
    assert status.left_out == {"directory": 2, "size": 1}
    assert fleet.rows("SELECT name FROM sightline.buffers") == [(shipped.name,)]
    told = everything(fleet)
    for text in (b"customer", b"closed", large.name.encode(), hidden.name.encode()):
        assert text not in told, text
    assert b"shown fine" in told
    assert problems(fleet) == []  # the chain goes on over what is withheld


def test_what_is_let_in_later_is_shipped_then(fleet: Fleet, host: FleetSettings, tmp_path: "os.PathLike[str]") -> None:
    with fleet.store("one", host, ship_off=(str(tmp_path),)) as store:
        kept = keep_in(store, b"x\n", cwd=str(tmp_path))
        ship(store)
        assert fleet.rows("SELECT name FROM sightline.buffers") == []
    with fleet.store("one", host) as store:
        ship(store)
        assert fleet.rows("SELECT name FROM sightline.buffers") == [(kept.name,)]
        assert ship_status(store).left_out == {}


def test_secrets_are_hidden_before_anything_is_hashed_where_the_fleet_asks_for_it(
    fleet: Fleet, host: FleetSettings
) -> None:
    token = "ghp_" + secrets.token_hex(18)
    with fleet.store("one", host._replace(redact_known=True)) as store:
        kept = keep_in(store, f"before\nexport TOKEN={token}\nafter\n".encode(), command=f"login {token}")
        show(store, kept, f"it said {token}\n", command=f"login {token}")
        write_note(store, current_session(name="agent"), store.resolve(f"@{kept.name}:1-1"), f"is {token} right?")
        ship(store)
        assert token.encode() in read_file(store.layout.stream(kept.name, "out"))
    told = everything(fleet)
    assert token.encode() not in told
    record, redacted = fleet.rows("SELECT record -> 'streams' -> 'out', redacted FROM sightline.buffers")[0]
    assert redacted == 2
    assert record["captured"] == kept.streams["out"].sha256 != record["sha256"]
    assert record["redacted"] == 1
    assert problems(fleet) == []


def test_bytes_that_are_not_what_was_captured_are_left_out_and_told(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        damaged, fine = keep_in(store, b"as it was\n"), keep_in(store, b"fine\n")
        path = store.layout.stream(damaged.name, "out")
        os.chmod(path, 0o600)
        with open(path, "r+b") as file:
            file.write(b"AS IT WAS\n")
        ship(store)
        status = ship_status(store)
    assert fleet.rows("SELECT name FROM sightline.buffers") == [(fine.name,)]
    assert [why for why in status.left_out if "not what was captured" in why]


def test_an_order_of_streams_that_was_changed_is_not_shipped(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        kept = [keep_in(store, b"out\n", b"err\n") for _ in range(2)]
        path = store.layout.stream(kept[0].name, "order")
        with open(path, "r+b") as file:
            file.truncate(13)
        ship(store)
    rows = fleet.rows("SELECT name, frames ? 'order', record ? 'seals' FROM sightline.buffers ORDER BY seq")
    assert rows == [(kept[0].name, False, False), (kept[1].name, True, False)]


def test_what_was_shipped_before_a_change_stays_what_was_captured(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        kept = keep_in(store, b"line\n" * 2000, exit_code=1)
        ship(store)
        os.chmod(path := store.layout.stream(kept.name, "out"), 0o600)
        with open(path, "r+b") as file:
            file.write(b"ERROR: made up\n")
        again = keep_in(store, b"line\n" * 2000, exit_code=1)
        ship(store)
    rows = fleet.rows("SELECT name, packs, record -> 'streams' -> 'out' ->> 'sha256' FROM sightline.buffers")
    assert [name for name, *_ in rows] == [kept.name, again.name]
    assert len({(tuple(packs), sha256) for _, packs, sha256 in rows}) == 1
    assert problems(fleet) == []


def test_a_log_whose_texts_were_blanked_goes_on(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        kept = keep_in(store, b"x\n")
        for _ in range(3):
            show(store, kept, "some text that will go\n" * 20)
        ship(store)
        retention.remove(store, [kept], purge=True)
        show(store, keep_in(store, b"y\n"))
        ship(store)
    assert fleet.rows("SELECT count(*), max(number) FROM sightline.entries") == [(5, 4)]
    assert problems(fleet) == []


def test_lines_of_any_kind_go(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        append_entry(
            store, current_session(name="agent"), {"kind": "of a newer version", "more": [1, None, float("nan")]}
        )
        ship(store)
    assert fleet.rows("SELECT kind FROM sightline.entries ORDER BY number") == [("session",), ("of a newer version",)]


def test_a_row_that_the_database_never_takes_is_left_out_and_the_others_go(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host) as store:
        kept = [keep_in(store, f"{number}\n".encode(), command=f"echo {number}") for number in range(5)]
        fleet.rows("ALTER TABLE sightline.buffers ADD CHECK (command <> 'echo 2')")
        ship(store)
        ship(store)
        assert ship_status(store).items == 0
        assert [why for why in ship_status(store).left_out if "does not take it" in why]
    assert fleet.rows("SELECT name FROM sightline.buffers ORDER BY seq") == [
        (buffer.name,) for buffer in kept if buffer.command != "echo 2"
    ]


@pytest.mark.parametrize(
    ("value", "fitting"),
    [
        ("nul \0", "nul \\x00"),
        ("\ud800", "\\ud800"),
        ({"a\0": [float("inf"), 1 << 80, True, None]}, {"a\\x00": [None, (1 << 63) - 1, True, None]}),
    ],
)
def test_a_value_is_made_to_fit(value: object, fitting: object) -> None:
    assert fit(value) == fitting


def test_texts_of_replies_that_are_not_shipped_are_not_blanked_unless_told(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host, max_view_bytes=1) as store:
        show(store, keep_in(store, b"first\n"), "first\n")
        waiting = retention.collect(store)
        assert (waiting.views_blanked, waiting.unshipped_logs) == (0, ("agent",))
        ship(store)
        assert retention.collect(store).views_blanked == 1
        show(store, keep_in(store, b"second\n"), "second\n")
        assert retention.collect(store).views_blanked == 0
        assert retention.collect(store, with_unshipped=True).views_blanked == 1


def test_what_is_not_shipped_is_not_evicted_unless_told(fleet: Fleet, host: FleetSettings) -> None:
    with fleet.store("one", host, max_buffers=2) as store:
        kept = [keep_in(store, f"{number}\n".encode()) for number in range(5)]
        collected = retention.collect(store)
        assert collected.evicted == []
        assert list(collected.unshipped) == [buffer.name for buffer in kept[:3]]
        ship(store)
        assert retention.collect(store).evicted == [buffer.name for buffer in kept[:3]]
        more = [keep_in(store, f"more {number}\n".encode()) for number in range(2)]
        assert retention.collect(store, with_unshipped=True).evicted == [buffer.name for buffer in kept[3:]]
        keep_in(store, b"last\n")
        assert retention.collect(store, with_unshipped=True).evicted == [more[0].name]
