"""Lists of commands are there while they run, and are the same buffer once their end is told."""

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.hooks import capture_pipe, live_list
from sightline.agents.hooks.before_tool import before_tool
from sightline.agents.hooks.capture_script import script
from sightline.agents.hooks.part_files import PartFile, still_runs
from sightline.agents.hooks.pending_commands import part_path
from sightline.base.errors import ExpiredRef
from sightline.base.records import Buffer
from sightline.harnesses import find
from sightline.harnesses.base import KEEP
from sightline.harnesses.codex import HARNESS as CODEX
from sightline.store import Store
from tests.faults.kill_kit import soon
from tests.store.agents.hooks.hook_kit import Harness, claude_cut

pytestmark = pytest.mark.usefixtures("piping")

COMMAND = "echo one && sh -c 'echo two; read go <gate; seq 1 9000; exit 3'"
WHOLE = b"one\ntwo\n" + b"".join(b"%d\n" % number for number in range(1, 9001))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of the store."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "store"))
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setattr(CODEX, "shell", lambda _: "bash")
    return tmp_path / "store"


def rewritten(harness: str, command: str, folder: Path, root: Path, use: str = "use_of_the_only_call") -> str:
    """What the hook before a command makes of it."""
    through = folder / "sightline-capture"
    through.write_text(script(str(root)))
    through.chmod(0o755)
    called = {"tool_name": "Bash", "tool_use_id": use, "tool_input": {"command": command}}
    told = {**called, "session_id": "s1", "cwd": str(folder), "permission_mode": "bypassPermissions"}
    found = find(harness)
    assert found is not None
    answer = before_tool(found, "PreToolUse", KEEP, told, str(through))
    assert answer is not None
    return str(answer["hookSpecificOutput"]["updatedInput"]["command"])


@contextmanager
def running(harness: str, folder: Path, root: Path) -> Iterator[Callable[[], int]]:
    """Run the command, which waits; the value lets it go on, and returns its exit code."""
    os.mkfifo(folder / "gate")
    nowhere = subprocess.DEVNULL
    words = ["bash", "-c", rewritten(harness, COMMAND, folder, root)]
    with subprocess.Popen(words, cwd=folder, stdin=nowhere, stdout=nowhere, stderr=nowhere) as ran:

        def go_on() -> int:
            (folder / "gate").write_text("go\n")
            return ran.wait()

        yield go_on


def the_one(harness: Harness, is_so: Callable[[Buffer], bool]) -> Buffer:
    """The only buffer, once it is so."""
    found: list[Buffer] = []

    def is_there() -> bool:
        found[:] = harness.buffers() if (harness.root / "index.sqlite").exists() else []
        return len(found) == 1 and is_so(found[0])

    soon(is_there)
    return found[0]


def is_running(buffer: Buffer) -> bool:
    """Whether it runs."""
    return buffer.state == "running"


def is_waiting(buffer: Buffer) -> bool:
    """Whether it runs, and has what comes before the wait."""
    return buffer.state == "running" and buffer.lines == 2


def write_part(number: int, data: bytes) -> None:
    """Have a part of the list write something and end."""
    part = PartFile("use_of_the_only_call", number)
    part.take("out", memoryview(data))
    part.end(0, cut=False, left_open=False)


def codex_end(codex: Harness, output: str) -> None:
    """Tell the hook of Codex how the command ended."""
    called: dict[str, Any] = {
        "tool_name": "Bash",
        "tool_use_id": "use_of_the_only_call",
        "tool_input": {"command": COMMAND},
    }
    codex.tell("PostToolUse", **called, tool_response=output)


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_it_is_there_while_it_runs_and_is_the_same_buffer_at_its_end(name: str, root: Path, tmp_path: Path) -> None:
    harness = Harness(name, root, tmp_path)
    with running(name, tmp_path, root) as go_on:
        live = the_one(harness, is_waiting)
        assert (live.command, live.cwd, live.session) == (COMMAND, str(tmp_path), f"{name}-s1")
        assert harness.content(live) == b"one\ntwo\n"
        code = go_on()
    if name == "codex":
        codex_end(harness, "Warning: truncated output \nTotal output lines: 9002\n\none\ntwo…9 tokens truncated…")
    else:
        harness.after(COMMAND, "use_of_the_only_call", claude_cut(WHOLE.decode()), code)
    (buffer,) = harness.buffers()
    assert (buffer.name, buffer.state, buffer.lines) == (live.name, "sealed", 9002)
    assert harness.content(buffer) == WHOLE
    assert "1-1 echo one exit 0, 2-9002 sh -c" in buffer.note
    assert buffer.exit_code == (None if name == "codex" else 3)
    assert ("standard error" in buffer.partial) == (name == "codex")
    assert not [one for one in os.listdir(root / "hooks") if one.endswith((".part", ".json", ".live"))]
    assert not (root / "hooks.log").exists()


def test_where_the_harness_tells_more_than_went_through_the_pipes_that_takes_its_place(
    root: Path, tmp_path: Path
) -> None:
    codex = Harness("codex", root, tmp_path)
    with running("codex", tmp_path, root) as go_on:
        the_one(codex, is_waiting)
        go_on()
    codex_end(codex, "one\nto standard error\ntwo\n")
    (buffer,) = codex.buffers()
    assert (codex.content(buffer), buffer.state, buffer.partial) == (b"one\nto standard error\ntwo\n", "sealed", "")


def test_if_whoever_shows_it_is_killed_it_is_kept_whole_all_the_same(root: Path, tmp_path: Path) -> None:
    claude = Harness("claude-code", root, tmp_path)
    with running("claude-code", tmp_path, root) as go_on:
        live = the_one(claude, is_waiting)
        os.kill(int((root / "live" / live.name).read_text().split()[0]), signal.SIGKILL)
        the_one(claude, lambda buffer: buffer.state == "interrupted")
        code = go_on()
    claude.after(COMMAND, "use_of_the_only_call", claude_cut(WHOLE.decode()), code)
    (buffer,) = claude.buffers()
    assert (claude.content(buffer), buffer.state, buffer.exit_code) == (WHOLE, "sealed", 3)


@contextmanager
def slowly_shown(root: Path, *, is_named: bool) -> Iterator[None]:
    """A process that shows the list and has begun a buffer, and may have told which; later it finds its file gone."""
    with Store(str(root)) as store, open(root / "hooks" / "use_of_the_only_call.live", "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        recording = store.begin(
            "cmd", "cat a.txt; cat b.txt", "/", "claude-code-s1", artifact="claude-code-s1:use_of_the_only_call"
        )
        recording.register()
        file.write(b"\0" + recording.name.encode() * is_named)
        file.flush()
        yield
        assert os.fstat(file.fileno()).st_nlink == 0
        recording.discard()


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("told", ["one\n", "one\nand more\n"])
def test_if_whoever_shows_it_is_slow_it_is_kept_whole_all_the_same(
    told: str, is_named: bool, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be so slow that it has not told yet which buffer it makes."""
    monkeypatch.setattr(live_list, "PATIENCE_SECONDS", 0.0)
    claude = Harness("claude-code", root, tmp_path)
    rewritten("claude-code", "cat a.txt; cat b.txt", tmp_path, root)
    write_part(1, b"one\n")
    with slowly_shown(root, is_named=is_named):
        claude.after("cat a.txt; cat b.txt", "use_of_the_only_call", told, 0)
    (buffer,) = claude.buffers()
    assert (claude.content(buffer).strip(), buffer.state, buffer.exit_code) == (told.strip().encode(), "sealed", 0)


def test_what_runs_no_more_and_of_which_nobody_tells_the_end_is_there_too_and_completed_when_somebody_does(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codex ends what still runs when it ends, and tells nobody."""
    monkeypatch.setattr(live_list, "SOON_SECONDS", 0.0)
    monkeypatch.setattr(live_list, "UNTOLD_SECONDS", 0.0)
    claude = Harness("claude-code", root, tmp_path)
    rewritten("claude-code", "cat a.txt; cat b.txt", tmp_path, root)
    write_part(1, b"one\n")
    live_list.show_list("use_of_the_only_call")
    live = the_one(claude, lambda buffer: buffer.state == "sealed")
    assert (claude.content(live), live.exit_code, live.partial) == (b"one\n", None, "its end was not told")
    claude.after("cat a.txt; cat b.txt", "use_of_the_only_call", "one\n", 0)
    (buffer,) = claude.buffers()
    assert (buffer.name, buffer.exit_code, buffer.partial) == (live.name, 0, "")


def test_its_lines_have_the_times_at_which_they_were_written_since_its_shell_began(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever shows it begins later, and looks at it now and then."""
    monkeypatch.setattr(live_list, "SOON_SECONDS", 0.0)
    monkeypatch.setattr(live_list, "UNTOLD_SECONDS", 0.0)
    claude = Harness("claude-code", root, tmp_path)
    with subprocess.Popen(["sleep", "60"]) as shell:
        rewritten("claude-code", "cat a.txt; cat b.txt", tmp_path, root)
        os.utime(live_list.pending_path("use_of_the_only_call"), (0, 0))  # the hook before it came before its shell
        began = live_list.list_began_ns("use_of_the_only_call", shell.pid)
        write_part(1, b"one\n")
        write_part(2, b"two\n")
        for number, after in ((1, 2), (2, 7)):
            os.utime(part_path("use_of_the_only_call", number), ns=(began, began + after * 10**9))
        live_list.show_list("use_of_the_only_call", shell.pid)
        buffer = the_one(claude, lambda buffer: buffer.state == "sealed")
        shell.kill()
    claude.after("cat a.txt; cat b.txt", "use_of_the_only_call", "one\ntwo\n", 0)
    (kept,) = claude.buffers()
    assert kept.name == buffer.name
    assert abs(kept.created - began / 1e9) < 0.02  # the ticks of a process' start
    with Store(str(root)) as store, closing(store.open_merged(kept)) as merged:
        assert [round(came / 1e9) for came in merged.times(1, 2)] == [2, 7]


def test_where_one_shell_runs_all_commands_the_times_count_from_now(root: Path, tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as shell:
        rewritten("claude-code", "cat a.txt; cat b.txt", tmp_path, root)
        os.utime(live_list.pending_path("use_of_the_only_call"), (2**32, 2**32))
        before = time.time_ns()
        assert before <= live_list.list_began_ns("use_of_the_only_call", shell.pid) <= time.time_ns()
        shell.kill()


def test_if_it_goes_on_after_whoever_shows_it_gave_up_it_is_kept_whole(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part without a pipe may run for longer than anybody looks for the shell."""
    monkeypatch.setattr(live_list, "SOON_SECONDS", 0.0)
    monkeypatch.setattr(live_list, "UNTOLD_SECONDS", 0.0)
    claude = Harness("claude-code", root, tmp_path)
    rewritten("claude-code", "cat a.txt; cat b.txt", tmp_path, root)
    write_part(1, b"one\n")
    live_list.show_list("use_of_the_only_call")
    live = the_one(claude, lambda buffer: buffer.state == "sealed")
    write_part(2, b"two\n")
    claude.after("cat a.txt; cat b.txt", "use_of_the_only_call", "one\ntwo\n", 0)
    (buffer,) = claude.buffers()
    assert (claude.content(buffer), buffer.exit_code, buffer.partial) == (b"one\ntwo\n", 0, "")
    with Store(str(root)) as store, pytest.raises(ExpiredRef):
        store.resolve(live.ref)


def test_a_ref_that_was_listed_is_said_to_be_expired_once_something_else_has_taken_its_place(
    root: Path, tmp_path: Path
) -> None:
    codex = Harness("codex", root, tmp_path)
    with running("codex", tmp_path, root) as go_on:
        live = the_one(codex, is_waiting)
        go_on()
    codex_end(codex, "one\nto standard error\ntwo\n")
    with Store(str(root)) as store, pytest.raises(ExpiredRef):
        store.resolve(live.ref)


def test_if_whoever_shows_it_ends_after_its_hook_the_list_is_there_once(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_list, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(live_list, "SOON_SECONDS", 0.0)
    claude = Harness("claude-code", root, tmp_path)
    rewritten("claude-code", "cat a.txt; cat b.txt", tmp_path, root)
    write_part(1, b"one\n")
    with Store(str(root)) as store:
        live_list.show_list("use_of_the_only_call")
        shown = the_one(claude, is_running)
        soon(lambda: os.path.exists(store.layout.stream(shown.name, "out")))
        process = int((root / "live" / shown.name).read_text().split()[0])
        os.kill(process, signal.SIGSTOP)
        try:
            claude.after("cat a.txt; cat b.txt", "use_of_the_only_call", "one\n", 0)
        finally:
            os.kill(process, signal.SIGCONT)
        buffer = the_one(claude, lambda buffer: buffer.name != shown.name)
        assert store.tombstone(shown.name) is not None
    assert (claude.content(buffer), buffer.exit_code, buffer.artifact) == (
        b"one\n",
        0,
        "claude-code-s1:use_of_the_only_call",
    )


def test_a_part_is_held_before_its_list_can_be_found(root: Path, tmp_path: Path) -> None:
    """Otherwise a prompt in between takes it for one that was broken off."""
    rewritten("claude-code", "cat a.txt; cat b.txt", tmp_path, root)
    found = list[bool]()

    def show(use: str, _shell: int) -> None:
        found.append(still_runs(use, 2))
        os._exit(0 if found == [True] else 1)

    child = os.fork()
    if child == 0:
        capture_pipe.show_list = show
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 3)
        capture_pipe.main_of_script(["use_of_the_only_call.1", str(os.getpid())])
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
