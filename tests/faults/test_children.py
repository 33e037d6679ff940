"""Children that fork without end, write without end, say nothing, do not listen, or leave others behind."""

import _thread
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.base.errors import CommandNotStarted, OutOfProcesses, StoreFailed
from sightline.capture.background import start_in_background
from sightline.capture.child import shell_argv
from sightline.capture.command import CommandCapture
from sightline.capture.filters import left_side
from sightline.doors.mcp.stdio import StdioServer
from sightline.doors.tools.service import Service
from sightline.doors.tools.tools import Options
from sightline.pipeline.parse import parse
from sightline.pipeline.run import QueryLimits
from sightline.pipeline.run import run as run_query
from sightline.search.errors import ProgramMissing
from sightline.settings.config import Settings
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.store import Store
from tests.descriptors import open_files
from tests.faults.fault_kit import PROGRAM, Server, Until, in_group, lives, no_thread, read, run, stopped_at

FORKS = 200


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """What children read from to wait: a pipe that nobody writes to before the test does."""
    os.mkfifo(tmp_path / "gate")
    return tmp_path / "gate"


@pytest.fixture
def groups() -> Iterator[list[int]]:
    """Groups of children that a test leaves behind on purpose."""
    left: list[int] = []
    yield left
    for group in left:
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            continue


# many of them


def test_grandchildren_that_hold_the_streams_do_not_delay_the_end(
    store: Store, gate: Path, groups: list[int], until: Until
) -> None:
    assert store.index.is_sound()  # opens it
    before = open_files()
    captured = run(store, f"for i in {{1..{FORKS}}}; do (read x < {gate}; echo late) & done; echo $$; exit 3")
    assert captured.buffer
    groups.append(int(read(store, captured)))
    assert (captured.exit_code, captured.buffer.state) == (3, "sealed")
    assert len(in_group(groups[0])) == FORKS
    assert open_files() == before
    os.killpg(groups[0], signal.SIGKILL)
    until(lambda: not in_group(groups[0]))


def test_all_that_a_command_has_forked_ends_with_it(
    store: Store, gate: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.capture.command.TERM_GRACE_SECONDS", 0.1)
    command = f"for i in {{1..{FORKS}}}; do (trap '' TERM; read x < {gate}) & done; echo $$; echo all; wait"
    captured = stopped_at(store, command, b"all")
    group = int(read(store, captured).split()[0])
    assert captured.exit_code == 128 + signal.SIGTERM
    until(lambda: not in_group(group))


# where they have left no process for us


def test_without_a_thread_to_hash_on_a_large_output_is_whole(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = run(store, "seq 400000").buffer
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    found = run(store, "seq 400000").buffer
    assert wanted
    assert found
    assert found.stream("out") == wanted.stream("out")


def test_without_a_thread_a_filter_answers_as_in_a_shell(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    assert store.index.is_sound()  # opens it
    before, command = open_files(), "seq 3000 | tail -2"
    captured = run(store, command, split=left_side(command, shell_argv(command)))
    assert (captured.unfiltered, read(store, captured)) == (None, b"2999\n3000\n")
    assert open_files() == before
    assert os.listdir(store.layout.live) == []


def out_of_processes(*_: object, **__: object) -> None:
    raise BlockingIOError(11, "Resource temporarily unavailable")


def test_without_a_process_what_cannot_be_started_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    captured = run(store, "seq 10")
    assert captured.buffer
    pipeline = parse("grep -c 1 @" + captured.buffer.name, lambda _: store.layout.stream(captured.buffer.name, "out"))
    with monkeypatch.context() as patched:
        patched.setattr(_thread, "start_new_thread", no_thread)
        with pytest.raises((OutOfProcesses, ProgramMissing)):
            run_query(pipeline, limits=QueryLimits())
    with monkeypatch.context() as patched:
        patched.setattr(os, "posix_spawn", out_of_processes)
        patched.setattr(os, "posix_spawnp", out_of_processes)
        patched.setattr(subprocess, "Popen", out_of_processes)
        with pytest.raises(ProgramMissing, match="Resource temporarily unavailable"):
            run_query(pipeline, limits=QueryLimits())
        with pytest.raises(CommandNotStarted, match="Resource temporarily unavailable"):
            run(store, "seq 10")
        with pytest.raises(CommandNotStarted, match="Resource temporarily unavailable"):
            start_in_background(store, ["true"], command="true", cwd="/", session="s")
    assert os.listdir(store.layout.buffers) == [captured.buffer.name]
    assert run_query(pipeline, limits=QueryLimits()).stdout == b"2\n"


def test_a_capturing_process_that_ends_before_it_has_its_request_says_so(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("true"))
    longer_than_a_pipe = ["true", "x" * (2 << 20)]
    with pytest.raises(StoreFailed, match="ended before it began") as told:
        start_in_background(store, longer_than_a_pipe, command="true", cwd="/", session="s")
    assert told.value.hint == "nothing was run"
    assert not os.listdir(store.layout.buffers)


def test_without_a_thread_the_server_says_so_and_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGHTLINE_HOME", store.root)
    calls = [
        {"method": "tools/call", "params": {"name": "list_outputs", "arguments": {}, "_meta": {"progressToken": 1}}},
        {"method": "ping"},
    ]
    lines = [json.dumps({"jsonrpc": "2.0", "id": number, **call}) + "\n" for number, call in enumerate(calls)]
    (tmp_path / "requests").write_text("".join(lines))
    with open(tmp_path / "requests", "rb") as source, open(tmp_path / "answers", "w+b") as sink:
        server = StdioServer(Service(Options()), source.fileno(), sink.fileno())
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", no_thread)
            server.serve(lambda _: None)
            server.close(wait=False)
        sink.seek(0)
        refused, pong = map(json.loads, sink)
    assert "no more processes or threads" in refused["error"]["message"]
    assert pong["result"] == {}


def test_what_a_call_leaves_that_ends_with_the_server_is_in_the_index(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGHTLINE_HOME", store.root)
    arguments = {"command": f"echo begun > {tmp_path}/begun; sleep 600"}
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "run_command", "arguments": arguments},
    }
    os.mkfifo(tmp_path / "begun")
    (tmp_path / "requests").write_text(json.dumps(call) + "\n")
    with open(tmp_path / "requests", "rb") as source, open(tmp_path / "answers", "w+b") as sink:
        server = StdioServer(Service(Options()), source.fileno(), sink.fileno())
        server.serve(lambda _: None)
        assert (tmp_path / "begun").read_text() == "begun\n"
        server.close(wait=False)
        sink.seek(0)
        assert json.loads(sink.read())["id"] == 1
    assert [one.view.verb for one in store.index.views(limit=9)] == ["run_command"]
    assert not os.listdir(store.layout.live)


# without end


def test_of_an_endless_output_the_limit_is_kept_and_the_rest_counted(tmp_path: Path) -> None:
    limit, seen = 1 << 20, 0

    def echo(_: str, data: memoryview) -> None:
        nonlocal seen
        seen += len(data)

    with Store(str(tmp_path / "root"), Settings(max_stream_bytes=limit)) as store:
        captured = run(store, "yes | head -c 5000000 && echo all", echo=echo)
        assert captured.buffer
        assert captured.buffer.stream("out").bytes == limit == len(read(store, captured))
        assert captured.buffer.partial == "dropped past max_stream_bytes"
        assert [(gap.stream, gap.missing, gap.unit) for gap in captured.buffer.gaps] == [("out", seen - limit, "bytes")]


def test_an_endless_output_ends_at_its_time_and_is_answered_in_few_bytes(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "root")}
    environment["SIGHTLINE_MAX_STREAM_BYTES"] = "1 MiB"
    words = ["run", "--timeout", "0.2", "--json", "--verbosity", "full", "--", "yes"]
    done = subprocess.run([*PROGRAM, *words], env=environment, capture_output=True, timeout=60)
    told = json.loads(done.stdout)
    assert (done.returncode, told["exit_code"], told["timed_out"]) == (124, None, True)
    assert len(done.stdout) <= HARD_LIMIT_BYTES
    with Store(str(tmp_path / "root")) as store:
        buffer = store.resolve(told["output_id"]).buffer
        assert buffer.bytes <= 1 << 20  # and perhaps none: the time begins before the program does


# without a word


def test_a_silent_command_is_answered_as_running_and_holds_up_nobody(tmp_path: Path, gate: Path) -> None:
    server = Server(tmp_path, "--patience", "0.05")
    fields, body = server.call("run_command", command=f"read x < {gate}; echo $x; exit 4")
    assert (fields["status"], fields["exit_code"], fields["total_bytes"], body) == ("running", None, 0, "")
    _, listed = server.call("list_outputs")
    assert fields["output_id"] in listed
    gate.write_text("at last\n")
    ref, said = fields["output_id"], ""
    while fields.get("status") == "running":
        fields, body = server.call("read_output", ref=ref, wait=20)
        said += body
    assert (fields["exit_code"], said) == (4, "at last\n")
    assert server.close() == 0


def test_a_stopped_command_can_be_ended(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.capture.command.TERM_GRACE_SECONDS", 0.1)

    def echo(_: str, data: memoryview) -> None:
        assert os.WIFSTOPPED(os.waitpid(int(bytes(data)), os.WUNTRACED)[1])
        capture.stop()

    command = "echo $$; kill -STOP $$; echo never"
    capture = CommandCapture(store, shell_argv(command), command=command, session="s", echo=echo)
    captured = capture.run()
    assert captured.signal == signal.SIGKILL
    assert not lives(int(read(store, captured)))


# left behind


def test_what_is_written_after_the_end_is_no_part_of_it(store: Store, gate: Path, tmp_path: Path, until: Until) -> None:
    left = tmp_path / "left"
    captured = run(store, f"(read x < {gate}; echo $x; echo $? > {left}) & echo in time")
    assert read(store, captured) == b"in time\n"
    gate.write_text("late\n")
    until(lambda: left.exists() and left.read_text())
    assert left.read_text() == "0\n"  # whoever writes does not die of it
    assert captured.buffer
    assert read(store, captured) == b"in time\n"
    assert store.resolve(captured.buffer.ref).buffer == captured.buffer


def test_a_process_that_has_left_the_group_does_not_delay_its_end(
    store: Store, gate: Path, groups: list[int], until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.capture.command.TERM_GRACE_SECONDS", 0.1)
    away = f"setsid sh -c 'echo $$; exec cat {gate}'"
    captured = stopped_at(store, f"{away} & read x < {gate}", b"\n")
    groups.append(int(read(store, captured)))
    assert captured.exit_code == 128 + signal.SIGTERM
    assert lives(groups[0])  # as under timeout(1): it has asked to be on its own
