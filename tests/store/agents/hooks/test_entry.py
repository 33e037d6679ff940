"""The script that hooks put into commands: whatever breaks behind it, a command gives what it gives without us."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.agents.hooks.capture_script import FILE, is_rule, is_script, script
from sightline.agents.hooks.command_line import ENTRY, FLAGS
from sightline.agents.hooks.event import answer_to
from sightline.capture import pipe_writers
from sightline.capture.pipe_insertion import PIPEFAIL
from sightline.harnesses.claude_code import HARNESS
from tests.store.agents.hooks.hook_kit import Harness

pytestmark = pytest.mark.usefixtures("piping")

FAILING = "sh -c 'seq 1 20000; echo err >&2; seq 20001 40000; exit 7'"
COMMANDS = (FAILING, "seq 1 40000", "echo short", "true", "sh -c 'exit 3'")

AFTER_THE_FIRST_READ = """
import os, signal, sys
from sightline.agents.hooks import capture_pipe as piped
from sightline.agents.hooks.pending_capture import PendingCapture
take = PendingCapture.take
def broken(self, *data):
    take(self, *data)
    {what}
PendingCapture.take = broken
piped.main_of_script(sys.argv[2:])
"""
A_FULL_DISK = """
import os, sys
from sightline.disk.buffer_writer import StreamWriter
from sightline.agents.hooks import capture_pipe as piped
append, left = StreamWriter.append, [100_000]
def full(self, data):
    left[0] -= len(data)
    if left[0] < 0:
        raise OSError(28, os.strerror(28))
    return append(self, data)
StreamWriter.append = full
piped.main_of_script(sys.argv[2:])
"""
NO_VIEW = """
import sys
from sightline.agents.hooks import capture_pipe as piped
from sightline.agents.hooks import view_instead as shaping
shaping.view_of = None
piped.main_of_script(sys.argv[2:])
"""

Break = Callable[[str, Path], str]
"""Takes the script, and a folder for what it is to start instead; the broken script."""


def _program(text: str) -> Break:
    def broken(whole: str, folder: Path) -> str:
        (folder / "program").write_text(text)
        (folder / "program").chmod(0o755)
        return whole.replace(sys.executable, str(folder / "program"))

    return broken


def _module(text: str) -> Break:
    def broken(whole: str, folder: Path) -> str:
        (folder / "module.py").write_text(text)
        assert f" -S {ENTRY} " in whole
        return whole.replace(f" -S {ENTRY} ", f" {folder / 'module.py'} ")  # which does not find us without `site`

    return broken


FAULTS: dict[str, Break] = {
    "no interpreter": lambda whole, folder: whole.replace(sys.executable, str(folder / "none")),
    "an interpreter that is none": _program("\x7fELF"),
    "exit 1 at the start": _program("#!/bin/sh\necho trouble >&2\nexit 1\n"),
    "a crash at the start": _program("#!/bin/sh\nkill -SEGV $$\n"),
    "the package is gone": lambda whole, folder: whole.replace(ENTRY, str(folder / "none")),
    "a module is missing": _module("import sightline.no_such_module\n"),
    "a module does not compile": _module("def (\n"),
    "killed after a read": _module(AFTER_THE_FIRST_READ.format(what="os.kill(os.getpid(), signal.SIGKILL)")),
    "out of memory after a read": _module(AFTER_THE_FIRST_READ.format(what="raise MemoryError")),
    "a full disk": _module(A_FULL_DISK),
    "no view can be made": _module(NO_VIEW),
}


def _run(command: str, folder: Path) -> tuple[bytes, int]:
    done = subprocess.run(
        ["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder, timeout=60
    )
    return done.stdout, done.returncode


def _installed(folder: Path, text: str) -> str:
    path = folder / "a folder of one's own" / FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o700)
    return str(path)


def _rewritten(claude: Harness, command: str, through: str, mode: str, use: str) -> str:
    given = {"session_id": "s1", "cwd": str(claude.cwd), "hook_event_name": "PreToolUse", "tool_name": "Bash"}
    data = json.dumps({**given, "tool_use_id": use, "tool_input": {"command": command}}).encode()
    answer = answer_to(["claude-code", "PreToolUse", "--mode", mode, "--through", through], data)
    made = json.loads(answer)["hookSpecificOutput"]["updatedInput"]["command"]
    assert made.endswith(f" {use}")
    assert "sightline capture" not in made
    return str(made)


@pytest.mark.parametrize("mode", ["keep", "shape"])
@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_breaks_a_command_gives_the_same_bytes_and_the_same_code(
    fault: str, mode: str, claude: Harness, tmp_path: Path
) -> None:
    through = _installed(tmp_path, FAULTS[fault](script(), tmp_path))
    for number, command in enumerate(COMMANDS):
        made = _rewritten(claude, command, through, mode, f"use_of_the_call_{number:04}")
        told, alone = _run(made, tmp_path), _run(command, tmp_path)
        assert told[1] == alone[1], command
        assert told[0] == alone[0], (command, len(told[0]), len(alone[0]), told[0][:300])


def test_nothing_of_the_environment_gets_into_a_command_that_the_script_cannot_serve(tmp_path: Path) -> None:
    """Neither a file that a variable names, nor a program of the folder where no programs are looked for."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "cat").write_text("#!/bin/sh\necho planted\n")
    (tmp_path / "cat").chmod(0o755)
    text = script().replace(sys.executable, str(tmp_path / "none"))
    for one in (text, text.replace("2>/dev/null", "2>/dev/none/null")):
        done = subprocess.run(
            [_installed(tmp_path, one), "use_of_the_first_call"],
            input=b"came\n",
            capture_output=True,
            cwd=tmp_path,
            env={"held": str(tmp_path / "secret"), "PATH": ""},
            timeout=60,
        )
        assert done.stdout == b"came\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_all_of_it_is_kept(command: str, claude: Harness, tmp_path: Path) -> None:
    through = _installed(tmp_path, script())
    made = _rewritten(claude, command, through, "keep", "use_of_the_first_call")
    output, code = _run(made, tmp_path)
    assert (output, code) == _run(command, tmp_path)
    (buffer,) = claude.buffers()
    assert buffer.state == "sealed"
    assert buffer.exit_code in (code, None)  # of what has ended before we have begun it is not known
    assert (claude.content(buffer) if buffer.bytes else b"") == output


def test_how_a_command_ended_is_known_where_the_system_tells(claude: Harness, tmp_path: Path) -> None:
    through = _installed(tmp_path, script())
    waiting = "sh -c 'seq 1 40000; kill -TERM $$'"  # more than a pipe holds: it lives until it is read
    _run(_rewritten(claude, waiting, through, "keep", "use_of_the_first_call"), tmp_path)
    (buffer,) = claude.buffers()
    assert buffer.exit_code == (143 if _tells_of_others(tmp_path) else None)


def _tells_of_others(folder: Path) -> bool:
    process = subprocess.Popen(["sh", "-c", "exit 3"])
    fd = os.pidfd_open(process.pid)
    try:
        process.wait()
        return pipe_writers.exit_code_of([fd]) == 3
    finally:
        os.close(fd)


def test_of_several_writers_none_is_taken_for_the_command() -> None:
    with subprocess.Popen(["true"]) as one, subprocess.Popen(["true"]) as other:
        fds = [os.pidfd_open(process.pid) for process in (one, other)]
        assert pipe_writers.exit_code_of(fds) is None
        assert pipe_writers.exit_code_of([]) is pipe_writers.exit_code_of(None) is None
        for fd in fds:
            os.close(fd)


def test_where_the_system_does_not_tell_no_code_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise OSError(25, "Inappropriate ioctl for device")

    monkeypatch.setattr(pipe_writers.fcntl, "ioctl", unknown)
    monkeypatch.setattr(pipe_writers, "REAPING_TURNS", 3)
    with subprocess.Popen(["true"]) as process:
        fd = os.pidfd_open(process.pid)
        assert pipe_writers.exit_code_of([fd]) is None
        os.close(fd)


UNKNOWN = """
import sys
from sightline.agents.hooks import capture_pipe as piped
from sightline.agents.hooks import pending_capture
pending_capture.exit_code_of = lambda writers: None
piped.main_of_script(sys.argv[2:])
"""


def test_a_view_says_how_the_command_ended_as_the_harness_does(claude: Harness, tmp_path: Path) -> None:
    """Where the system tells it, in the view that is printed; else in the one that takes its place, or not at all."""
    through = _installed(tmp_path, _module(UNKNOWN)(script(), tmp_path))
    bash = {"tool_name": "Bash", "tool_use_id": "use_of_the_first_call", "tool_input": {"command": FAILING}}
    printed = _run(_rewritten(claude, FAILING, through, "shape", "use_of_the_first_call"), tmp_path)[0].decode()
    assert "output_id=@cmd_" in printed
    assert "unknown" not in printed
    assert claude.views() == []  # what the model is shown is not known so far
    claude.tell("PostToolUseFailure", "shape", **bash, error=f"Exit code 7\n{printed}")
    claude.tell("PostToolBatch", "shape", tool_calls=[{**bash, "tool_response": f"Exit code 7\n{printed}"}])
    ((view, text),) = claude.views()
    assert text == f"Exit code 7\n{printed}"
    assert view.exit_code == claude.buffers()[-1].exit_code == 7

    bash = {"tool_name": "Bash", "tool_use_id": "use_of_the_second_call", "tool_input": {"command": "seq 1 40000"}}
    printed = _run(_rewritten(claude, "seq 1 40000", through, "shape", "use_of_the_second_call"), tmp_path)[0].decode()
    assert "unknown" not in printed
    answer = claude.tell("PostToolUse", "shape", **bash, tool_response={"stdout": printed, "stderr": ""})
    shown = answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert 'summary="ok in ' in shown
    claude.tell("PostToolBatch", "shape", tool_calls=[{**bash, "tool_response": shown.rstrip()}])
    assert [text for _, text in claude.views()][1:] == [shown]


def test_a_view_that_says_how_the_command_ended_is_logged_before_it_is_printed(claude: Harness, tmp_path: Path) -> None:
    through = _installed(tmp_path, _module(UNKNOWN.replace("None", "7"))(script(), tmp_path))
    printed = _run(_rewritten(claude, FAILING, through, "shape", "use_of_the_first_call"), tmp_path)[0].decode()
    assert "failed with exit 7" in printed
    ((_, text),) = claude.views()
    assert text == printed
    bash = {"tool_name": "Bash", "tool_use_id": "use_of_the_first_call", "tool_input": {"command": FAILING}}
    claude.tell("PostToolUseFailure", "shape", **bash, error=f"Exit code 7\n{printed}")
    claude.tell("PostToolBatch", "shape", tool_calls=[{**bash, "tool_response": f"Exit code 7\n{printed}"}])
    assert len(claude.views()) == 1


def test_a_store_elsewhere_is_used(claude: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    through = _installed(tmp_path, script(str(claude.root)))
    made = _rewritten(claude, "echo hi", through, "keep", "use_of_the_first_call")
    monkeypatch.delenv("SIGHTLINE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert _run(made, tmp_path) == (b"hi\n", 0)
    monkeypatch.setenv("SIGHTLINE_HOME", str(claude.root))
    assert [buffer.command for buffer in claude.buffers()] == ["echo hi"]


def test_without_the_script_commands_are_left_alone(claude: Harness, tmp_path: Path) -> None:
    given = {
        "tool_name": "Bash",
        "tool_use_id": "use_of_the_first_call",
        "tool_input": {"command": "echo hi"},
        "cwd": str(tmp_path),
    }
    words = ["claude-code", "PreToolUse", "--mode", "keep", "--through", str(tmp_path / FILE)]
    assert answer_to(words, json.dumps(given).encode()) == b""


def test_the_script_and_its_rule_are_known_again() -> None:
    (rule, _) = HARNESS.allow_rules(f"/h/.claude/{FILE}", PIPEFAIL)
    (quoted, _) = HARNESS.allow_rules(f"'/a b/.claude/{FILE}'", PIPEFAIL)
    assert is_rule(rule)
    assert is_rule(quoted)
    assert not is_rule("Bash(/h/.claude/other:*)")
    assert is_script(script())
    assert is_script(script("/a store"))
    assert not is_script("#!/bin/sh\nexec cat\n")


def test_a_hook_starts_where_only_site_would_tell_that_we_are_installed(tmp_path: Path) -> None:
    """Hooks start without `site`, which adds the folder of installed packages to what Python looks through."""
    package = ENTRY.removesuffix("/hook.py")
    (tmp_path / "sightline").symlink_to(package)
    entry = tmp_path / "sightline" / ENTRY.removeprefix(package + "/")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "root")}
    event = {
        "session_id": "s",
        "cwd": "/",
        "tool_name": "Bash",
        "tool_use_id": "use_of_the_only_call",
        "tool_input": {"command": "ls"},
    }
    started = subprocess.run(
        [sys.executable, *FLAGS, entry, "claude-code", "PostToolUse", "--mode", "keep"],
        input=json.dumps({**event, "tool_response": {"stdout": "hi\n", "stderr": ""}}).encode(),
        env=environment,
        capture_output=True,
        timeout=60,
    )
    assert (started.returncode, started.stdout, started.stderr) == (0, b"", b"")
    (buffer,) = (tmp_path / "root" / "buffers").iterdir()
    assert (buffer / "out").read_bytes() == b"hi\n"
