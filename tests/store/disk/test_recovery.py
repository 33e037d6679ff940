"""Writers that are killed: real processes, at any moment."""

import json
import os
import signal
import stat
import subprocess
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from sightline.base.records import Buffer
from sightline.disk.layout import Layout
from sightline.disk.live import Marker, take_dead, writer_alive
from sightline.disk.meta import read_meta, write_meta
from sightline.disk.order import RECORD_BYTES, pack_arrival, read_arrivals
from sightline.disk.recovery import adopt, adopt_dead
from sightline.store import Store, Target

Python = Callable[..., "subprocess.Popen[bytes]"]
Keep = Callable[..., Buffer]
Until = Callable[[Callable[[], object]], None]

WRITE_FOR_EVER = """
import sys
from sightline.store import Store
store = Store(sys.argv[1])
recording = store.begin("cmd", "for ever", "/", "s")
recording.register()
print(recording.name, flush=True)
number = 0
while True:
    number += 1
    recording.append("out", b"line %d\\n" % number)
    if number % 3 == 0:
        recording.append("err", b"err %d" % number)
        recording.append("err", b"\\n")
"""
WRITE_AND_WAIT = """
import sys
from sightline.store import Store
with Store(sys.argv[1]) as store:
    recording = store.begin("cmd", "waits", "/", "s")
    recording.register()
    recording.append("out", b"so far\\n")
    print(recording.name, flush=True)
    sys.stdin.read()
    recording.seal(exit_code=0)
"""


def name_of(process: "subprocess.Popen[bytes]") -> str:
    assert process.stdout
    return process.stdout.readline().decode().strip()


def kill(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def has_lines(path: Path, count: int) -> bool:
    return path.exists() and path.read_bytes().count(b"\n") >= count


def test_a_killed_writer_leaves_a_readable_buffer(store: Store, python: Python, until: Until) -> None:
    writers = [python(WRITE_FOR_EVER, store.root) for _ in range(3)]
    living = python(WRITE_AND_WAIT, store.root)
    names, lives = [name_of(writer) for writer in writers], name_of(living)
    for name, writer in zip(names, writers, strict=True):
        until(partial(has_lines, Path(store.layout.stream(name, "out")), 12))
        kill(writer)
    for name in names:
        left = {stream: Path(store.layout.stream(name, stream)).read_bytes() for stream in ("out", "err")}
        buffer = store.resolve("@" + name).buffer
        assert buffer.state == "interrupted"
        assert buffer.exit_code is None
        assert buffer.failed
        assert buffer.ended is not None
        for stream, data in left.items():
            with store.open(Target(buffer, stream)) as reader:
                assert reader.read(0, len(data) + 1) == data
                assert reader.line_count == buffer.stream(stream).lines == len(data.splitlines())
            assert stat.S_IMODE(os.stat(store.layout.stream(name, stream)).st_mode) == 0o400
        fd = os.open(store.layout.stream(name, "order"), os.O_RDONLY)
        arrivals = list(read_arrivals(fd))
        os.close(fd)
        for stream, data in left.items():
            assert sum(arrival.length for arrival in arrivals if arrival.stream == stream) == len(data)
        with closing(store.open_merged(buffer)) as merged:
            last = merged.line_count
            assert last == buffer.lines
            assert [len(list(merged.lines(first, first + 9))) for first in (1, last - 4)] == [10, 5]
    assert os.listdir(store.layout.live) == [lives]
    assert store.resolve("@" + lives).buffer.state == "running"
    living.communicate(b"")
    assert store.resolve("@" + lives).buffer.state == "sealed"


def test_a_living_writer_is_never_marked(store: Store, python: Python) -> None:
    writer = python(WRITE_AND_WAIT, store.root)
    name = name_of(writer)
    for _ in range(20):
        assert adopt_dead(store.layout, store.index) == ([], [])
        assert writer_alive(store.layout, name)
    running = store.resolve("@" + name).buffer
    assert (running.state, running.stream("out")[:2]) == ("running", (7, 1))
    (listed,) = store.listed(9)
    assert listed.buffer == running
    writer.communicate(b"")
    assert store.resolve("@" + name).buffer.exit_code == 0
    assert adopt_dead(store.layout, store.index) == ([], [])


def test_several_may_look_at_once_and_one_takes_care(store: Store, python: Python) -> None:
    writer = python(WRITE_AND_WAIT, store.root)
    name = name_of(writer)
    kill(writer)
    look = "import sys; from sightline.store import Store\nsys.stdin.read(1)\nwith Store(sys.argv[1]) as store:\n"
    look += "    print([item.buffer.state for item in store.listed(9)])"
    lookers = [python(look, store.root) for _ in range(4)]
    for looker in lookers:
        assert looker.stdin
        looker.stdin.write(b"x")
        looker.stdin.flush()
    told = [looker.communicate()[0] for looker in lookers]
    assert all(looker.returncode == 0 for looker in lookers)
    assert set(told) <= {b"['interrupted']\n", b"['running']\n"}
    assert store.resolve("@" + name).buffer.state == "interrupted"
    assert Path(store.path(store.resolve("@" + name))).read_bytes() == b"so far\n"
    assert os.path.getsize(store.layout.stream(name, "order")) == RECORD_BYTES


def test_a_marker_in_other_hands_is_left_alone(store: Store) -> None:
    recording = store.begin("cmd", "x", "/", "s")
    recording.abandon()
    held = take_dead(store.layout, recording.name)
    assert held is not None
    assert adopt(store.layout, store.index, recording.name) is None
    held.close(remove=False)
    adopted = adopt(store.layout, store.index, recording.name)
    assert adopted is not None
    assert adopted.state == "interrupted"
    assert adopt(store.layout, store.index, recording.name) == adopted


def test_a_name_that_was_reserved_and_never_had_a_record_is_dropped(store: Store) -> None:
    folder = store.layout.folder("cmd_aaaaaa")
    os.mkdir(folder)
    Marker(store.layout, "cmd_aaaaaa").close(remove=False)
    assert adopt_dead(store.layout, store.index) == ([], ["cmd_aaaaaa"])
    assert not os.path.exists(folder)
    assert os.listdir(store.layout.live) == []


def test_a_writer_killed_between_seal_and_marker_leaves_a_sealed_buffer(store: Store, keep: Keep) -> None:
    buffer = keep(b"all of it\n")
    Marker(store.layout, buffer.name).close(remove=False)
    assert adopt_dead(store.layout, store.index) == ([], [])
    assert store.resolve(buffer.ref).buffer == buffer
    assert os.listdir(store.layout.live) == []


def test_a_writer_killed_between_its_record_and_the_index_is_found(store: Store, keep: Keep) -> None:
    buffer = keep(b"all of it\n")
    store.index.put_buffer(buffer._replace(state="running", streams={}, ended=None))
    Marker(store.layout, buffer.name).close(remove=False)
    assert store.resolve(buffer.ref).buffer.state == "sealed"
    assert store.resolve(buffer.ref).buffer.streams == buffer.streams


def test_a_killed_writer_that_the_index_never_knew_is_found_by_its_marker(store: Store) -> None:
    recording = store.begin("cmd", "x", "/", "s")
    recording.append("out", b"bytes")
    recording.abandon()
    assert [item.buffer.state for item in store.listed(9)] == ["interrupted"]


def test_bytes_without_an_order_record_come_last(store: Store) -> None:
    recording = store.begin("cmd", "x", "/", "s")
    recording.append("err", b"e1\n")
    recording.append("out", b"o1\n")
    recording.abandon()
    with open(store.layout.stream(recording.name, "err"), "ab") as err:
        err.write(b"e2\ne3")
    with open(store.layout.stream(recording.name, "order"), "ab") as order:
        order.write(pack_arrival(1, 5, "err")[:-3])
    buffer = store.resolve("@" + recording.name).buffer
    with closing(store.open_merged(buffer)) as merged:
        assert [line.data for _, line in merged.lines(1, 9)] == [b"e1", b"o1", b"e2", b"e3"]


def test_an_empty_stream_of_a_killed_writer_has_no_file(store: Store) -> None:
    recording = store.begin("cmd", "x", "/", "s")
    recording.abandon()
    Path(store.layout.stream(recording.name, "out")).touch()
    assert store.resolve("@" + recording.name).buffer.streams == {}
    assert sorted(os.listdir(store.layout.folder(recording.name))) == ["meta.json"]


def test_a_running_record_without_marker_is_a_dead_one(store: Store, keep: Keep) -> None:
    buffer = keep(b"x")
    write_meta(store.layout, buffer._replace(state="running", streams={}))
    store.index.put_buffer(buffer._replace(state="running", streams={}))
    assert store.resolve(buffer.ref).buffer.state == "interrupted"
    assert store.resolve(buffer.ref).buffer.bytes == 1


def test_an_evicted_buffer_stays_in_the_list_when_it_is_looked_for_among_the_dead(store: Store, keep: Keep) -> None:
    buffer = keep(b"x")
    assert store.remove(buffer, "evicted")
    Marker(store.layout, buffer.name).close(remove=False)  # its name was read before it went
    assert adopt_dead(store.layout, store.index) == ([], [])
    left = store.index.buffer(buffer.name)
    assert left is not None
    assert left.state == "evicted"
    assert os.listdir(store.layout.live) == []


@pytest.mark.parametrize("reason", ["evicted", "removed"])
def test_a_buffer_that_is_removed_after_its_record_was_read_does_not_come_back(
    store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    buffer = keep(b"x")

    def read_and_removed(layout: Layout, name: str) -> Buffer:
        found = read_meta(layout, name)
        assert store.remove(buffer, reason)
        return found

    monkeypatch.setattr("sightline.disk.recovery.read_meta", read_and_removed)
    assert adopt(store.layout, store.index, buffer.name) is None
    left = store.index.buffer(buffer.name)
    assert (left.state if left else "removed") == reason


@pytest.mark.parametrize("text", ["", "[]", '{"name": 1}'])
def test_a_dead_capture_with_a_broken_record_keeps_nobody_else_waiting(store: Store, keep: Keep, text: str) -> None:
    kept = keep(b"x")
    recording = store.begin("cmd", "x", "/", "s")
    recording.abandon()
    Path(store.layout.meta(recording.name)).write_text(text)
    assert [item.buffer for item in store.listed(9)] == [kept]
    assert json.loads(Path(store.layout.meta(kept.name)).read_text())["name"] == kept.name
