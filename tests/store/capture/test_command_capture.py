"""Commands captured: real processes, whatever they do."""

import errno
import hashlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from sightline.base.errors import CommandNotStarted
from sightline.base.records import Buffer
from sightline.capture import command
from sightline.capture.background import start_in_background
from sightline.capture.child import not_started, shell_argv
from sightline.capture.command import Captured, CommandCapture
from sightline.capture.pipe_reader import QUIET_SECONDS
from sightline.capture.recorder import LEFT_BEHIND, Size, Unkept
from sightline.store import Store, Target

Until = Callable[[Callable[[], object]], None]
Python = Callable[..., "subprocess.Popen[bytes]"]


def run(store: Store, command: str | list[str], **options: Any) -> Captured:
    argv = shell_argv(command) if isinstance(command, str) else command
    return CommandCapture(store, argv, command=str(command), session="s", **options).run()


def timed_out(store: Store, command: str, limit: Any) -> Captured:
    """Capture a command whose time is over once it has written."""
    options = {"timeout": limit.seconds, "echo": limit.echo}
    capture = CommandCapture(store, shell_argv(command), command=command, session="s", **options)
    limit.started(capture)
    return capture.run()


def read(store: Store, captured: Captured, stream: str = "out") -> bytes:
    assert captured.buffer is not None
    return Path(store.path(Target(captured.buffer, stream))).read_bytes()


def alive(pid: int) -> bool:
    try:
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def fds() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_another_thread_goes_on_with_a_command_for_which_one_has_waited_long_enough(
    store: Store, tmp_path: Path
) -> None:
    gate, ended = str(tmp_path / "gate"), list[Captured | None]()
    os.mkfifo(gate)
    command = f"echo begun; cat {gate}"
    capture = CommandCapture(store, shell_argv(command), command=command, session="s")
    capture.begin()
    assert capture.wait(0.01) is None
    assert store.resolve(f"@{capture.name}").buffer.state == "running"
    waiting = threading.Thread(target=lambda: ended.append(capture.wait()))
    waiting.start()
    Path(gate).write_text("and ended\n")
    waiting.join()
    (captured,) = ended
    assert captured
    assert read(store, captured) == b"begun\nand ended\n"


@pytest.mark.parametrize("code", [0, 1, 77, 255])
def test_the_exit_code_is_the_commands(store: Store, code: int) -> None:
    captured = run(store, f"echo out; echo err >&2; exit {code}")
    assert (captured.exit_code, captured.signal, captured.timed_out) == (code, 0, False)
    assert (read(store, captured), read(store, captured, "err")) == (b"out\n", b"err\n")
    assert captured.buffer
    assert captured.buffer.state == "sealed"
    assert store.resolve(captured.buffer.ref).buffer == captured.buffer
    assert os.listdir(store.layout.live) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_signal_is_told_as_shells_do(store: Store, number: signal.Signals) -> None:
    captured = run(store, f"echo before; kill -{number} $$")
    assert (captured.exit_code, captured.signal) == (128 + number, number)
    assert read(store, captured) == b"before\n"


@pytest.mark.parametrize("data", [b"", b"no newline", b"\n", b"\x00\xff\xfe\r\n\x1b[31m"])
def test_any_bytes_are_kept_as_they_are(store: Store, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "data").write_bytes(data)
    captured = run(store, ["cat", str(tmp_path / "data")])
    assert read(store, captured) == data
    assert captured.buffer
    assert captured.buffer.streams.keys() == ({"out"} if data else set())


def test_large_and_interleaved_output_is_what_files_would_have_got(store: Store, tmp_path: Path) -> None:
    code = "import os\nfor n in range(3000):\n os.write(1, b'%d ' % n * (n % 700) + b'\\n')\n"
    code += " if n % 7 == 0: os.write(2, b'err %d' % n * 20)\n"
    with open(tmp_path / "out", "wb") as out, open(tmp_path / "err", "wb") as err:
        subprocess.run([sys.executable, "-c", code], stdout=out, stderr=err, check=True)
    captured = run(store, [sys.executable, "-c", code])
    assert captured.buffer
    for stream in ("out", "err"):
        data = (tmp_path / stream).read_bytes()
        assert read(store, captured, stream) == data
        assert captured.buffer.stream(stream).sha256 == hashlib.sha256(data).hexdigest()
        assert captured.buffer.stream(stream).lines == data.count(b"\n") + (not data.endswith(b"\n"))


def test_a_child_that_closes_its_streams_runs_on(store: Store) -> None:
    captured = run(store, "echo first; exec >&- 2>&-; sleep 0.2; exit 5")
    assert captured.exit_code == 5
    assert captured.seconds > 0.15
    assert read(store, captured) == b"first\n"


def test_a_grandchild_that_holds_the_streams_does_not_delay_the_end(store: Store) -> None:
    captured = run(store, "sleep 120 & echo $!; exit 3")
    os.kill(int(read(store, captured)), signal.SIGKILL)
    assert captured.exit_code == 3
    assert captured.seconds < 60


def test_a_grandchild_that_writes_without_end_does_not_delay_the_end(store: Store) -> None:
    captured = run(store, "yes & echo $! >&2; exit 4")
    os.kill(int(read(store, captured, "err")), signal.SIGKILL)
    assert captured.exit_code == 4
    assert set(read(store, captured)) <= set(b"y\n")


def test_what_comes_late_from_a_process_substitution_is_kept(store: Store) -> None:
    """The shell does not wait for it, and a terminal would show it all the same."""
    late = "exec > >(sleep 0.1; sed 's/^/late: /'); echo said"
    captured = run(store, late)
    assert read(store, captured) == b"late: said\n"
    assert captured.buffer
    assert captured.buffer.note == ""


def test_what_was_left_behind_and_may_write_on_is_told(store: Store) -> None:
    began = time.monotonic()
    captured = run(store, "sleep 120 & echo $!; exit 3")
    os.kill(int(read(store, captured)), signal.SIGKILL)
    assert captured.buffer
    assert "what that writes from then on is not kept" in captured.buffer.note
    assert time.monotonic() - began - captured.seconds >= QUIET_SECONDS, "what it took is the command's own time"
    assert captured.buffer.ended
    assert captured.buffer.ended - captured.buffer.created < time.monotonic() - began - QUIET_SECONDS
    redirected = run(store, "sleep 120 >/dev/null 2>&1 & echo $!")
    os.kill(int(read(store, redirected)), signal.SIGKILL)
    assert redirected.buffer
    assert redirected.buffer.note == ""


@pytest.mark.usefixtures("no_child_left")
def test_what_was_left_behind_does_not_die_of_writing_on(store: Store, tmp_path: Path) -> None:
    go, done = tmp_path / "go", tmp_path / "done"
    os.mkfifo(go)
    os.mkfifo(done)
    left = f"(read x < {go}; echo late; echo late >&2; echo alive > {done}) &"
    run(store, "true")
    before = fds()
    captured = run(store, ["sh", "-c", f"echo now; {left}"])
    assert captured.buffer and LEFT_BEHIND in captured.buffer.note
    assert fds() == before
    reading = os.open(done, os.O_RDONLY | os.O_NONBLOCK)  # held open, so that a writer that dies does not block us
    try:
        go.write_text("\n")
        ready = select.poll()
        ready.register(reading, select.POLLIN)
        assert ready.poll(60_000)
        assert os.read(reading, 100) == b"alive\n"
    finally:
        os.close(reading)


def test_standard_input_is_passed_on_or_empty(store: Store, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"given\n")
    with open(tmp_path / "input", "rb") as given:
        assert read(store, run(store, ["cat"], stdin=given.fileno())) == b"given\n"
    assert read(store, run(store, ["cat"])) == b""


def test_the_working_directory_is_the_one_asked_for(store: Store, tmp_path: Path) -> None:
    captured = run(store, ["pwd", "-P"], cwd=str(tmp_path))
    assert read(store, captured).decode() == f"{tmp_path.resolve()}\n"
    assert captured.buffer
    assert captured.buffer.cwd == str(tmp_path)


def test_what_cannot_be_started_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("text")
    before = fds()
    for argv, cwd, code, told in (
        (["no-such-program"], None, 127, "no-such-program: command not found"),
        ([str(tmp_path / "plain")], None, 126, "cannot be executed"),
        ([str(tmp_path)], None, 126, "cannot be executed"),
        (["nul\0character"], None, 126, "cannot be started"),
        (["half \ud800 pair"], None, 126, "cannot be started"),
        (["true", "x" * 20_000_000], None, 126, "longer than the system takes"),
        (["true"], str(tmp_path / "no-such-folder"), 126, "no-such-folder: no such file"),
        (["no-such-program"], str(tmp_path), 127, "no-such-program: command not found"),
    ):
        with pytest.raises(CommandNotStarted, match=told) as raised:
            run(store, argv, cwd=cwd)
        assert raised.value.exit_code == code
    assert os.listdir(store.layout.buffers) == os.listdir(store.layout.live) == []
    assert store.listed(9) == []
    assert fds() <= before + 3  # the index


@pytest.mark.parametrize(("name", "code"), [("no-such-program", 127), ("plain", 126), ("/no/such/program", 126)])
def test_a_folder_of_path_that_may_not_be_looked_into_has_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: int
) -> None:
    (tmp_path / "plain").write_text("text")
    monkeypatch.setenv("PATH", f"/no/such/folder:{tmp_path}")
    told = not_started(name, None, PermissionError(errno.EACCES, "Permission denied"))  # as the system says of it
    assert told.exit_code == code


@pytest.mark.parametrize("failing_at", [1, 2, 3])
def test_a_start_that_fails_midway_leaks_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, failing_at: int
) -> None:
    run(store, ["true"])
    before, pipe, calls = fds(), os.pipe, []

    def out_of_descriptors() -> tuple[int, int]:
        calls.append(1)
        if len(calls) == failing_at:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return pipe()

    monkeypatch.setattr(os, "pipe", out_of_descriptors)
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    with pytest.raises(CommandNotStarted):
        run(store, ["true"])
    assert fds() == before


def test_captures_leak_no_descriptors(store: Store) -> None:
    run(store, ["true"])
    before = fds()
    for _ in range(5):
        run(store, "echo out; echo err >&2; sleep 5 >/dev/null 2>&1 & kill $!")
    assert fds() == before


def test_without_pidfd_a_thread_waits(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run(store, ["true"])
    before = fds()
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    captured = run(store, "echo out; exit 6")
    assert (captured.exit_code, read(store, captured)) == (6, b"out\n")
    assert fds() == before


def test_children_die_of_a_broken_pipe_as_under_a_shell(store: Store) -> None:
    for cwd in (None, "/"):
        captured = run(store, "yes | head -1; echo ${PIPESTATUS[0]}", cwd=cwd)
        assert read(store, captured) == b"y\n141\n"


IGNORES_TERM = """
trap '' TERM
(trap '' TERM; sleep 60; sleep 60) &
echo $$ $!
sleep 60; sleep 60
"""


def test_a_timeout_ends_the_whole_group_and_keeps_what_came(
    store: Store, monkeypatch: pytest.MonkeyPatch, until: Until, limit: Any
) -> None:
    monkeypatch.setattr("sightline.capture.command.TERM_GRACE_SECONDS", 0.3)
    captured = timed_out(store, IGNORES_TERM, limit)
    assert (captured.exit_code, captured.timed_out, captured.signal) == (None, True, signal.SIGKILL)
    assert captured.buffer
    assert (captured.buffer.timed_out, captured.buffer.failed, captured.buffer.state) == (True, True, "sealed")
    pids = [int(pid) for pid in read(store, captured).split()]
    assert len(pids) == 2
    until(lambda: not any(alive(pid) for pid in pids))


def test_a_timeout_ends_those_that_outlive_the_command(
    store: Store, monkeypatch: pytest.MonkeyPatch, until: Until, limit: Any
) -> None:
    monkeypatch.setattr("sightline.capture.command.TERM_GRACE_SECONDS", 0.3)
    outlives = "(trap '' TERM; sh -c 'echo $PPID'; sleep 60; sleep 60) & wait"  # it tells its number once it is deaf
    captured = timed_out(store, outlives, limit)
    assert captured.timed_out
    until(lambda: not alive(int(read(store, captured))))


def test_what_a_command_says_on_its_way_out_is_kept(store: Store, monkeypatch: pytest.MonkeyPatch, limit: Any) -> None:
    monkeypatch.setattr("sightline.capture.command.TERM_GRACE_SECONDS", 60.0)
    cleans = "trap 'sleep 0.1; echo cleaned up; exit' TERM; echo ready; while :; do sleep 0.05; done"
    captured = timed_out(store, f"({cleans}) & wait", limit)
    assert captured.timed_out
    assert read(store, captured) == b"ready\ncleaned up\n"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT as a terminal's programs have it: what a shell runs in the background inherits it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_capture_can_be_stopped(store: Store) -> None:
    capture = CommandCapture(
        store, ["sleep", "60"], command="x", session="s", started=lambda _: capture.stop(signal.SIGINT)
    )
    captured = capture.run()
    assert (captured.exit_code, captured.timed_out) == (130, False)


def test_an_echo_that_fails_leaves_an_interrupted_buffer_and_no_process(store: Store) -> None:
    run(store, ["true"])
    before = fds()
    names: list[str] = []

    def gone(stream: str, data: memoryview) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run(store, "echo out; sleep 60", echo=gone, started=names.append)
    assert fds() == before
    buffer = store.resolve("@" + names[0]).buffer
    assert (buffer.state, buffer.bytes) == ("interrupted", 4)


def test_the_echo_sees_every_byte(store: Store) -> None:
    seen = {"out": b"", "err": b""}

    def echo(stream: str, data: memoryview) -> None:
        seen[stream] += bytes(data)

    run(store, "seq 1 20000; echo err >&2", echo=echo)
    assert (len(seen["out"]), seen["err"]) == (108_894, b"err\n")


def test_a_command_that_is_no_utf_8_is_run_and_kept(store: Store) -> None:
    captured = run(store, ["printf", "%s", os.fsdecode(b"\xff\xfe")])
    assert read(store, captured) == b"\xff\xfe"


def test_where_capture_is_off_nothing_is_kept(store: Store) -> None:
    captured = run(store, "echo secret; exit 2", keep=False)
    assert captured.buffer is None
    assert captured.unkept == Unkept(b"secret\n", b"", None, out_size=Size(7, 1))
    assert captured.exit_code == 2
    assert os.listdir(store.layout.buffers) == os.listdir(store.layout.live) == []


def failing(after: int) -> Callable[[int, Any], int]:
    """A disk that takes so many bytes and then no more; marker and record of a capture are 700 or so."""
    write, left = os.write, [after]

    def limited(fd: int, data: Any) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = write(fd, bytes(data)[: left[0]])
        left[0] -= taken
        return taken

    return limited


def test_where_storing_fails_the_output_itself_is_given_and_no_ref(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.index.totals()
    monkeypatch.setattr(os, "write", failing(1200))
    captured = run(store, "seq 1 500; echo err >&2; sleep 0.1; seq 501 1000; exit 9")
    monkeypatch.undo()
    assert captured.buffer is None
    assert captured.exit_code == 9
    assert captured.unkept
    assert captured.unkept.out == b"".join(b"%d\n" % number for number in range(1, 1001))
    assert captured.unkept.err == b"err\n"
    assert captured.unkept.error
    assert "disk is full" in captured.unkept.error.message
    assert os.listdir(store.layout.buffers) == os.listdir(store.layout.live) == []
    assert store.listed(9) == []


def test_where_nothing_can_be_reserved_the_command_still_runs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", failing(0))
    captured = run(store, "seq 1 100000")
    assert captured.unkept
    assert captured.unkept.out.startswith(b"1\n2\n")
    assert len(captured.unkept.out) == 65_536


OVER_THE_FILE_SIZE_LIMIT = """
import resource, sys
from sightline.capture.command import CommandCapture
from sightline.store import Store
with Store(sys.argv[1]) as store:
    store.index.totals()
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    captured = CommandCapture(store, ["seq", "1", "60000"], command="seq", session="s").run()
    sys.stdout.buffer.write(captured.unkept.out)
"""


def test_a_file_size_limit_costs_nothing_of_the_first_64_kib(store: Store, python: Python) -> None:
    shown = python(OVER_THE_FILE_SIZE_LIMIT, store.root).communicate()[0]
    assert shown == b"".join(b"%d\n" % number for number in range(1, 60_001))[:65_536]
    assert os.listdir(store.layout.buffers) == []


START_IN_BACKGROUND = """
import sys
from sightline.capture.background import start_in_background
from sightline.store import Store
with Store(sys.argv[1]) as store:
    print(start_in_background(store, ["bash", "-c", "echo begun; read line < " + sys.argv[2] + "; echo $line; exit 7"],
        command="waits", cwd="/", session="s", label="l"), flush=True)
sys.stdin.read()
"""


def test_a_background_capture_outlives_its_starter(store: Store, tmp_path: Path, python: Python, until: Until) -> None:
    os.mkfifo(tmp_path / "go")
    starter = python(START_IN_BACKGROUND, store.root, str(tmp_path / "go"))
    assert starter.stdout
    name = starter.stdout.readline().decode().strip()
    starter.kill()
    starter.wait()
    assert store.resolve("@" + name).buffer.state == "running"
    (tmp_path / "go").write_bytes(b"gone on\n")
    until(lambda: store.resolve("@" + name).buffer.state != "running")
    buffer = store.resolve("@" + name).buffer
    assert (buffer.state, buffer.exit_code, buffer.label, buffer.cwd) == ("sealed", 7, "l", "/")
    assert Path(store.path(Target(buffer, "out"))).read_bytes() == b"begun\ngone on\n"


@pytest.mark.usefixtures("no_child_left")
def test_a_background_capture_leaves_its_starter_nothing_to_wait_for(store: Store) -> None:
    start_in_background(store, ["true"], command="true", cwd="/", session="s")


@pytest.mark.usefixtures("no_child_left")
def test_a_command_whose_streams_cannot_be_read_is_ended(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run(store, "true")
    before = fds()
    with monkeypatch.context() as patched:
        patched.setattr(command, "PipeReader", Mock(side_effect=OSError(errno.EMFILE, "no more")))
        with pytest.raises(OSError, match="no more"):
            run(store, ["sleep", "600"])
    assert fds() == before


def test_a_background_command_that_cannot_start_is_told(store: Store) -> None:
    with pytest.raises(CommandNotStarted, match="no-such-program") as told:
        start_in_background(store, ["no-such-program"], command="x", cwd="/", session="s")
    assert told.value.exit_code == 127
    assert os.listdir(store.layout.buffers) == []


def test_the_ref_is_there_before_the_command_ends(store: Store) -> None:
    states: list[Buffer] = []
    run(store, ["true"], started=lambda name: states.append(store.resolve("@" + name).buffer))
    assert [buffer.state for buffer in states] == ["running"]


def test_a_command_line_is_run_by_a_shell_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert os.access(shell_argv("x | y")[0], os.X_OK)
    assert shell_argv("x | y")[1:] == ["-c", "x | y"]
    monkeypatch.setattr("sightline.capture.child.SHELLS", ())
    assert shell_argv("x")[0] == "sh"
