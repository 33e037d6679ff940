"""Commands as Claude Code runs them, with both streams in a file of its own, with our line before them and without."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from sightline.agents.hooks.recorded_tasks import OVERWRITTEN, have_recorded, runs, shell_line
from sightline.agents.hooks.task_recorder import SCRIPT
from sightline.agents.past_sessions.importer import Importer
from sightline.harnesses.claude_code import HARNESS
from sightline.harnesses.formats import find_sources
from sightline.store import Store
from tests.faults.kill_kit import soon
from tests.store.agents.hooks.hook_kit import Harness, claude_cut
from tests.store.harnesses.past_kit import Claude, write_lines

SHELLS = [
    "/bin/bash",
    pytest.param(shutil.which("zsh"), marks=pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh")),
]
COMMANDS = (
    *("echo hi", "printf x", "true", "false", "exit 5", "nosuchprogram", "if fi", "f", "kill -9 $$"),
    *("seq 1 20000; exit 3", "for i in 1 2 3; do echo $i; done | tail -2", "case x in x) seq 9;; esac | head -1"),
    *(
        "echo out; echo err >&2; echo out",
        "sh -c 'kill -9 $$'",
        "sh -c 'kill -SEGV $$'; echo $?",
        "set -x; echo hi; exit 0",
    ),
    *("cd /; pwd", "trap 'echo bye' EXIT; exit 4", "echo $SHLVL $- $# $0; jobs", "echo one\nnosuch\necho $LINENO"),
    *(
        "cat <<'X'\n$(ls)\nX",
        "exec sh -c 'echo x; exit 4'",
        "exec >&-; echo lost",
        "echo '&& eval x' && echo \": sightline-end\"",
        "(sleep 0.1; echo late) & wait",
        "ls /dev/fd/",
    ),
    *("export A=1; env | grep -v ^_= | sort", "echo ${BASH_EXECUTION_STRING-$ZSH_EXECUTION_STRING} | wc -c"),
)


class Ran(NamedTuple):
    """What came of a command: its code, the file, and the folder in which it ended."""

    code: int
    output: bytes
    folder: str


class Bench:
    """A session of Claude Code, as far as its shells go.

    Args:
        place: a folder for its files.
        root: of the store.
        shell: its shell.
    """

    def __init__(self, place: Path, root: Path, shell: str) -> None:
        self._place, self._shell, self._number = place, shell, 0
        self.start = place / "start.sh"
        self.snapshot = place / "snapshot.sh"
        self.snapshot.write_text("f() { echo of a function; }\nexport KNOWN=1\n")
        have_recorded("claude-code", "s1", str(self.start))
        assert self.start.read_text() == shell_line("claude-code", "s1", str(root))

    def script(self, command: str, *, line: str | None = None) -> str:
        """All that its shell runs for a command."""
        line = self.start.read_text() if line is None else line
        start = f"{line.strip()}\n: && " if line else ""
        word = "'" + command.replace("'", "'\"'\"'") + "'"
        return (
            f"source {shlex.quote(str(self._place / 'snapshot.sh'))} 2>/dev/null || true && {start}"
            f"eval {word} < /dev/null && pwd -P >| {shlex.quote(str(self._place / 'pwd'))}"
        )

    def begun(self, command: str, *, line: str | None = None) -> "tuple[subprocess.Popen[bytes], Path]":
        """Its shell for a command, and the file."""
        self._number += 1
        file = self._place / f"task{self._number}.output"
        with file.open("ab") as out:
            words = [self._shell, "-c", self.script(command, line=line)]
            nowhere = subprocess.DEVNULL
            ran = subprocess.Popen(
                words, stdin=nowhere, stdout=out, stderr=out, cwd=self._place, start_new_session=True
            )
        return ran, file

    def run(self, command: str, *, line: str | None = None) -> Ran:
        """Run a command to its end; then its file is gone, as Claude Code removes it."""
        (self._place / "pwd").write_text("")
        ran, file = self.begun(command, line=line)
        code = ended(ran)
        code = code if code >= 0 else 128 - code
        output = file.read_bytes()
        file.unlink()
        return Ran(code, output, (self._place / "pwd").read_text())


def ended(ran: "subprocess.Popen[bytes]") -> int:
    """The code of a shell, which must not wait for the recorder."""
    try:
        return ran.wait(30)
    finally:
        ran.kill()


@pytest.fixture
def bench(request: pytest.FixtureRequest, root: Path, tmp_path: Path) -> Bench:
    """A session with the shell that the test names, else bash."""
    return Bench(tmp_path, root, getattr(request, "param", "/bin/bash"))


def soon_found(folder: Path) -> list[Path]:
    """The files of commands, once there are any."""
    soon(lambda: bool(list(folder.glob("*.task"))))
    return list(folder.glob("*.task"))


def recorder_of(shell: int) -> int:
    """The pid of the recorder of a shell, by its arguments."""
    found: list[int] = []

    def is_there() -> bool:
        listed = subprocess.run(["ps", "-wweo", "pid=,args="], capture_output=True, text=True, check=True).stdout
        found[:] = [int(row.split()[0]) for row in listed.splitlines() if row.endswith(f" task claude-code s1 {shell}")]
        return bool(found)

    soon(is_there)
    return found[0]


def _without_numbers(ran: Ran) -> Ran:
    return ran._replace(output=re.sub(rb"\b\d{3,}\b", b"N", ran.output))


@pytest.mark.parametrize("bench", SHELLS, indirect=True)
def test_a_command_does_what_it_does_without_us_and_is_kept_whole(bench: Bench, claude: Harness) -> None:
    for number, command in enumerate(COMMANDS):
        plain, ran = bench.run(command, line=""), bench.run(command)
        if "seq 1" not in command:
            plain, ran_alike = _without_numbers(plain), _without_numbers(ran)
            assert ran_alike == plain, command
        use = f"toolu_use_of_the_call_{number:04}"
        text = ran.output.decode(errors="replace").strip()
        claude.after(command, use, claude_cut(text) if ran.code else text, ran.code)
        (buffer,) = [one for one in claude.buffers() if one.artifact == f"claude-code-s1:{use}"]
        assert (buffer.command, buffer.exit_code, buffer.partial, buffer.state) == (command, ran.code, "", "sealed")
        assert (claude.content(buffer) if buffer.bytes else b"") == ran.output, command
    assert len(claude.buffers()) == len(COMMANDS)
    assert not (claude.root / "hooks.log").exists()
    assert list((claude.root / "hooks").glob("*.task")) == []


@pytest.mark.parametrize("bench", SHELLS, indirect=True)
@pytest.mark.parametrize(
    "snapshot",
    [
        *(
            "set -e",
            "set -u",
            "set -f",
            "set -m",
            "set -a",
            "set -o noclobber",
            "set -o pipefail",
            "IFS=:/s",
            "umask 777",
        ),
        *("set -- a b", "readonly SIGHTLINE_SCRIPT=x SIGHTLINE_HOME=y", "trap 'echo E' ERR", "trap 'echo X' EXIT"),
        *(f"{name}() {{ echo {name}; return 1; }}" for name in ("set", "exec", "umask", "shopt", "test", "false")),
        "function [ { echo of a function; }",
        "command_not_found_handler() { echo $1; }; command_not_found_handle() { echo $1; }",
        "alias set='echo a' exec='echo b' shopt='echo c' umask='echo d' builtin='echo e'",
    ],
)
def test_a_persons_functions_and_options_do_with_us_what_they_do_without_us(bench: Bench, snapshot: str) -> None:
    bench.snapshot.write_text(f"{snapshot}\n")
    command = 'echo "$@" $- $#; umask; nosuch; set -o; seq 3; env | grep -v ^_= | sort; exit 3'
    plain, ran = _without_numbers(bench.run(command, line="")), _without_numbers(bench.run(command))
    assert ran == plain


def test_bash_shows_a_trace_of_the_command_alone(bench: Bench) -> None:
    bench.snapshot.write_text("set -x\n")
    assert bench.run("echo hi; exit 3") == bench.run("echo hi; exit 3", line="")


def test_a_file_that_every_bash_reads_is_read_once(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "every.sh").write_text("export COUNT=$((${COUNT:-0} + 1))\n")
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "every.sh"))
    assert bench.run("echo $COUNT").output == b"1\n"


def test_another_kind_of_shell_runs_the_command_all_the_same(bench: Bench, tmp_path: Path) -> None:
    script = f"true && {bench.start.read_text()}: && eval 'echo hi; exit 3'"
    ran = subprocess.run(["sh", "-c", script], capture_output=True, cwd=tmp_path, timeout=30, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, b"hi\n", b"")


@pytest.mark.parametrize(
    ("command", "program"),
    [("seq 9 | tail -2", "tail"), ("for i in 1 2; do seq $i; done | grep 1; exit 5", "grep"), ("seq 9; exit 5", "")],
)
def test_it_is_said_what_was_not_seen_before_a_filter(
    command: str, program: str, bench: Bench, claude: Harness
) -> None:
    ran = bench.run(command)
    claude.after(command, "toolu_use_of_the_first_call", ran.output.decode(), ran.code)
    (buffer,) = claude.buffers()
    assert buffer.note == (f"merged; what went into {program} was not seen" if program else "merged")
    assert (buffer.partial, buffer.exit_code) == ("", ran.code)


def test_a_command_that_removes_its_own_folder_is_kept(bench: Bench, claude: Harness) -> None:
    command = "mkdir gone && cd gone && rm -r ../gone && seq 1 20000; exit 3"
    ran = bench.run(command)
    claude.after(command, "toolu_use_of_the_first_call", claude_cut(ran.output.decode()), 3)
    (buffer,) = claude.buffers()
    assert (claude.content(buffer), buffer.partial) == (ran.output, "")


def test_a_shell_that_has_become_a_program_of_somebody_else_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, number: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "kill", refuse)
    assert runs(1)


def test_a_command_that_overwrites_its_own_output_is_said_to_be_partial(
    bench: Bench, claude: Harness, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "gate")
    command = "seq 1 9000; read go <gate; seq 1 9 | tee /dev/stderr; exit 3"
    ran, file = bench.begun(command)
    soon(lambda: any(path.stat().st_size for path in claude.root.glob("buffers/*/out")))
    (tmp_path / "gate").write_text("go\n")
    assert ended(ran) == 3
    output = file.read_bytes()
    file.unlink()
    claude.after(command, "toolu_use_of_the_first_call", output.decode(), 3)
    (buffer,) = claude.buffers()
    assert claude.content(buffer).endswith(output)
    assert buffer.partial == OVERWRITTEN


def test_secrets_of_calls_side_by_side_are_hidden_and_each_call_is_found(bench: Bench, claude: Harness) -> None:
    secret = "pin=" + "2468013579"
    (claude.root / "config.toml").write_text("[redact]\npatterns = ['pin=[0-9]+']\n")
    commands = [f"echo {secret} {number}; exit 3" for number in range(2)]
    begun = [bench.begun(command) for command in commands]
    for ran, file in begun:
        assert ended(ran) == 3
        file.unlink()
    soon(lambda: all(path.stat().st_size for path in claude.root.glob("hooks/*.task")))
    assert not [path for path in claude.root.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    for number in (1, 0):
        claude.after(commands[number], f"toolu_use_of_the_call_{number:04}", f"{secret} {number}", 3)
    found = {one.artifact[-1]: (claude.content(one), one.partial) for one in claude.buffers()}
    assert found == {str(number): (b"[redacted: pattern 1] %d\n" % number, "") for number in range(2)}


def test_a_recorder_that_is_killed_leaves_what_the_harness_says(bench: Bench, claude: Harness, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    ran, file = bench.begun("echo hi; read go <gate; exit 3")
    (task,) = soon_found(claude.root / "hooks")
    os.kill(recorder_of(ran.pid), signal.SIGKILL)
    (tmp_path / "gate").write_text("go\n")
    assert (ended(ran), file.read_bytes()) == (3, b"hi\n")
    file.unlink()
    claude.after("echo hi; read go <gate; exit 3", "toolu_use_of_the_first_call", "hi", 3)
    (buffer,) = [one for one in claude.buffers() if one.artifact]
    assert claude.content(buffer) == b"hi"
    assert not task.exists()


def test_calls_side_by_side_each_get_their_own_output(bench: Bench, claude: Harness) -> None:
    commands = [f"sh -c 'sleep 0.{9 - number}; seq {number} 20000; exit 3'" for number in range(1, 5)]
    begun = [bench.begun(command) for command in commands]
    outputs = []
    for ran, file in begun:
        ended(ran)
        outputs.append(file.read_bytes())
        file.unlink()
    for number in (2, 0, 3, 1):
        claude.after(commands[number], f"toolu_use_of_the_call_{number:04}", claude_cut(outputs[number].decode()), 3)
    found = {one.command: claude.content(one) for one in claude.buffers()}
    assert found == dict(zip(commands, outputs, strict=True))


@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop"])
@pytest.mark.parametrize("beside", [0, 2])
def test_what_the_model_was_shown_of_a_cancelled_command_is_logged_at_the_next_event(
    bench: Bench, claude: Harness, tmp_path: Path, event: str, beside: int
) -> None:
    os.mkfifo(tmp_path / "gate")
    commands = [f"echo {number}; read go <gate" for number in range(1 + beside)]
    now = datetime.now(UTC)
    lines = Claude("s1", cwd=str(tmp_path), timestamp=now.isoformat())
    begun = [bench.begun(command) for command in commands]
    soon(lambda: len(list(claude.root.glob("buffers/*/out"))) == len(commands))
    for ran, file in begun:
        os.killpg(ran.pid, signal.SIGKILL)
        ended(ran)
        file.unlink()
    refused = "The user doesn't want to proceed with this tool use."
    uses = [f"of_the_call_{number:04}" for number in range(1 + beside)]
    asked = [lines.use(use, command) for use, command in zip(uses, commands, strict=True)]
    records = [*asked, *(lines.result(use, refused, f"Error: {refused}", error=True) for use in uses)]
    path = write_lines(tmp_path / "s1.jsonl", *records)
    for _ in range(2):
        assert claude.tell(event, transcript_path=str(path), prompt="and now", last_assistant_message="Ok.") is None
    made = {one.artifact: one for one in claude.buffers()}
    assert [made[f"claude-code-s1:toolu_{use}"].command for use in uses] == commands
    assert {(view.refs, text) for view, text in claude.views()} == {((one.name,), refused) for one in made.values()}
    assert not any(one.partial for one in made.values())
    with Store(str(claude.root)) as store:
        Importer(store).run(find_sources(str(path)))
    assert len(claude.buffers()) == len(claude.views()) == len(commands)


def test_a_command_that_a_hook_of_another_has_changed_is_kept_as_it_ran(bench: Bench, claude: Harness) -> None:
    ran = bench.run("echo harmless; exit 3")
    claude.after("echo harmless; exit 3", "toolu_use_of_the_first_call", ran.output.decode(), ran.code)
    (buffer,) = claude.buffers()
    assert (buffer.command, claude.content(buffer)) == ("echo harmless; exit 3", b"harmless\n")


def running(claude: Harness) -> list[str]:
    """The outputs that are listed as running."""
    if not (claude.root / "index.sqlite").exists():
        return []
    with Store(str(claude.root)) as store:
        return [one.buffer.name for one in store.listed(9) if one.buffer.state == "running"]


def test_what_runs_for_long_is_listed_meanwhile_and_is_the_same_buffer_at_its_end(
    bench: Bench, claude: Harness, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "gate")
    command = "echo one; read go <gate; seq 1 9000; exit 3"
    ran, file = bench.begun(command)
    soon(lambda: running(claude))
    names = running(claude)
    (tmp_path / "gate").write_text("go\n")
    assert ran.wait() == 3
    output = file.read_bytes()
    file.unlink()
    claude.after(command, "toolu_use_of_the_first_call", claude_cut(output.decode()), 3)
    (buffer,) = claude.buffers()
    assert [buffer.name] == names
    assert (buffer.command, buffer.exit_code, buffer.partial) == (command, 3, "")
    assert claude.content(buffer) == output


def test_what_the_harness_ends_is_kept_as_far_as_it_came(bench: Bench, claude: Harness) -> None:
    ran, file = bench.begun("echo begun; sleep 60")
    soon(lambda: file.read_bytes() == b"begun\n")
    soon(lambda: running(claude))  # so the recorder has left the process group
    os.killpg(ran.pid, signal.SIGKILL)
    ran.wait()
    file.unlink()
    told = {"tool_name": "Bash", "tool_use_id": "toolu_use_of_the_first_call"}
    error = "Exit code 137\n[Request interrupted by user for tool use]begun"
    claude.tell("PostToolUseFailure", **told, tool_input={"command": "echo begun; sleep 60"}, error=error)
    (buffer,) = claude.buffers()
    assert claude.content(buffer) == b"begun\n"


def test_in_the_background_it_is_kept_without_the_line_that_the_harness_adds(bench: Bench, claude: Harness) -> None:
    command = "echo begun; sleep 0.5; exit 4"
    ran, file = bench.begun(command)
    told = {"tool_name": "Bash", "tool_use_id": "toolu_use_of_the_first_call", "tool_input": {"command": command}}
    claude.tell("PostToolUse", **told, tool_response={"stdout": "", "backgroundTaskId": "task1"})
    ran.wait()
    with file.open("ab") as out:
        out.write(b"\n[exited with code 4]\n")
    notice = (
        "<task-notification>\n<task-id>task1</task-id>\n<tool-use-id>toolu_use_of_the_first_call</tool-use-id>\n"
        f"<output-file>{file}</output-file>\n<summary>it failed with exit code 4</summary>\n</task-notification>"
    )
    claude.tell("UserPromptSubmit", prompt=notice)
    (buffer,) = claude.buffers()
    assert (buffer.command, buffer.exit_code, buffer.partial) == (command, 4, "")
    assert claude.content(buffer) == b"begun\n"


@pytest.mark.parametrize("broken", ["python", "hooks"])
def test_without_a_program_or_a_store_a_command_does_what_it_does(
    broken: str, bench: Bench, claude: Harness, tmp_path: Path
) -> None:
    line = bench.start.read_text()
    line = line.replace("/python", "/none") if broken == "python" else line.replace(str(claude.root), "/none")
    for command in ("echo hi; exit 3", "sh -c 'kill -9 $$'", "nosuchprogram"):
        assert _without_numbers(bench.run(command, line=line)) == _without_numbers(bench.run(command, line=""))
    claude.after("echo hi; exit 3", "toolu_use_of_the_first_call", "hi", 3)
    (buffer,) = claude.buffers()
    assert claude.content(buffer) == b"hi"


def test_where_nothing_may_be_kept_nothing_is(bench: Bench, claude: Harness, tmp_path: Path) -> None:
    (claude.root / "config.toml").write_text(f'[directories."{tmp_path}"]\ncapture = "off"\n')
    ran = bench.run("echo hi; exit 3")
    assert (ran.code, ran.output) == (3, b"hi\n")
    soon(lambda: not list((claude.root / "hooks").glob("*.task")))
    claude.after("echo hi; exit 3", "toolu_use_of_the_first_call", "hi", 3)
    assert claude.buffers() == []


def test_a_shell_that_cannot_open_its_own_output_waits_until_the_recorder_has(
    root: Path, claude: Harness, bench: Bench
) -> None:
    """As on macOS."""
    line = shell_line("claude-code", "s1", str(root), opens=False)
    ran = bench.run("seq 1 20000; exit 3", line=line)
    claude.after("seq 1 20000; exit 3", "toolu_use_of_the_first_call", claude_cut(ran.output.decode()), 3)
    (buffer,) = claude.buffers()
    assert (claude.content(buffer), buffer.partial) == (ran.output, "")


def test_a_session_that_starts_again_has_the_line_once(root: Path, tmp_path: Path) -> None:
    start = tmp_path / "start.sh"
    start.write_text("export A=1\n")
    for _ in range(3):
        have_recorded("claude-code", "s1", str(start))
    assert start.read_text() == "export A=1\n" + shell_line("claude-code", "s1", str(root))


@pytest.mark.parametrize(("mode", "is_kept"), [("record", False), ("keep", True), ("shape", True)])
def test_the_hook_at_a_sessions_start_names_the_line_in_modes_that_keep(
    mode: str, is_kept: bool, claude: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = tmp_path / "start.sh"
    monkeypatch.setenv("CLAUDE_ENV_FILE", str(start))
    claude.tell("SessionStart", mode, source="startup")
    assert start.exists() == is_kept


def test_the_hook_before_a_command_that_an_earlier_version_installed_rewrites_nothing(claude: Harness) -> None:
    bash = {"tool_name": "Bash", "tool_use_id": "toolu_use_of_the_first_call", "tool_input": {"command": "make"}}
    assert claude.tell("PreToolUse", "keep", **bash) is None


@pytest.mark.parametrize("command", ["ls", "echo 'a b'", 'echo "it\'s"', "echo ' && eval x'", "a\nb", "make | tail"])
def test_the_command_is_found_in_what_a_shell_runs(command: str, bench: Bench) -> None:
    assert HARNESS.command_of(bench.script(command)) == command
    assert HARNESS.command_of(command) == command
    assert SCRIPT in json.dumps(bench.script(command))
