"""The command line of a hook, and the program that it puts into commands: wherever we are, or are no longer."""

import json
import os
import shlex
import site
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.agents.hooks import capture_pipe as piped
from sightline.agents.hooks import command_line as lines
from sightline.agents.hooks import hook_session
from sightline.agents.hooks.command_line import ENTRY, capture_program, hook_line, hook_words, read_line
from sightline.capture.pipe_reader import PipeReader
from sightline.store import Store
from tests.store.agents.hooks.hook_kit import Harness, process

pytestmark = pytest.mark.usefixtures("piping")

BASH = {"tool_name": "Bash", "tool_use_id": "use_of_the_first_call", "tool_input": {"command": "echo hello"}}


def test_a_line_of_ours_is_known_again_and_no_other() -> None:
    line = hook_line("codex", "PostToolUse", "shape")
    found = read_line(line)
    assert found is not None
    assert found == ("codex", "PostToolUse", "shape", sys.executable, ENTRY, "")
    through = hook_line("claude-code", "PreToolUse", "keep", "/a b/sightline-capture")
    assert read_line(through) == ("claude-code", "PreToolUse", "keep", sys.executable, ENTRY, "/a b/sightline-capture")
    moved = "'/a b/sightline/hook.py' gemini AfterTool --mode keep"
    assert read_line(f"/other/python -I {moved}") == read_line(f"/other/python -E -P {moved} || true") is not None
    for other in ("", "'", "make", line.replace("-E", "-c"), line.replace("codex", "hal"), line + " more"):
        assert read_line(other) is None


def test_a_package_of_somebody_else_is_found_though_python_starts_without_looking_for_any() -> None:
    """As a harness is that another package brings, or a module of a compiled wheel."""
    code = f"""
import runpy, sys
runpy.run_path({ENTRY!r})["_start_without_site"]()
import sightline.base.errors
import pytest, regex
print(pytest.__name__, regex.__name__)
try:
    import no_such_module
except ModuleNotFoundError as error:
    print(error.name)
"""
    done = subprocess.run([sys.executable, *lines.FLAGS, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["pytest", "regex", "no_such_module"], done.stderr


def test_where_we_are_no_longer_installed_no_call_is_refused(tmp_path: Path) -> None:
    """Python says 2 where its file has gone, which harnesses take for a refusal of the call."""
    line = hook_line("claude-code", "PreToolUse", "keep")
    for gone in (
        line.replace(ENTRY, str(tmp_path / ENTRY[1:])),
        line.replace(sys.executable, str(tmp_path / "python")),
    ):
        assert gone != line
        done = process(["/bin/sh", "-c", gone], json.dumps(BASH).encode(), tmp_path / "store")
        assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize(
    "around", ["nice {}", "nice -n 5 ionice -c3 {}", "env A=1 timeout 9 {}", "sh -c {quoted}", "A=1 bash -lc {quoted}"]
)
@pytest.mark.parametrize("through", ["", "/a b/sightline-capture"])
def test_a_line_that_a_person_has_put_behind_another_program_is_ours_all_the_same(around: str, through: str) -> None:
    line = hook_line("claude-code", "PreToolUse", "keep", through)
    found = read_line(around.format(line, quoted=shlex.quote(line)))
    assert found == read_line(line)
    assert found is not None


@pytest.mark.parametrize(
    "around", ["beep; {}", "beep && {}", "{} && beep", "(nice {})", "echo x | {}", "sh -c {quoted} x"]
)
def test_a_line_that_does_more_than_ours_is_the_persons_own(around: str) -> None:
    line = hook_line("claude-code", "PreToolUse", "keep", "")
    assert read_line(around.format(line, quoted=shlex.quote(line))) is None


def test_who_installs_us_for_themselves_alone_has_hooks_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `pip install --user` does: neither package nor program lies where the interpreter's own are."""
    packages, program = tmp_path / "lib" / "site-packages", tmp_path / "bin" / "sightline"
    monkeypatch.setattr(site, "USER_SITE", str(packages))
    monkeypatch.setattr(site, "USER_BASE", str(tmp_path))
    monkeypatch.setattr(lines, "ENTRY", str(packages / "sightline/hook.py"))
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert capture_program() == str(program)
    assert "-I" not in hook_words("codex", "PostToolUse", "keep")  # it would keep out the person's own packages


def test_an_index_that_another_process_holds_stops_nobody(
    claude: Harness, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Whoever holds it may have been stopped, and never let go."""
    monkeypatch.setattr(hook_session, "PATIENCE_SECONDS", 0.01)
    claude.tell("PreToolUse", **BASH)
    with Store(str(claude.root)) as store:
        holder = sqlite3.connect(store.index and store.layout.index, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    source, into = os.pipe()
    os.write(into, b"hello\n")
    os.close(into)
    monkeypatch.setattr(piped, "PipeReader", lambda _, *rest, **named: PipeReader({source: "out"}, *rest, **named))
    piped._keep("use_of_the_first_call", os.getppid(), os.open(os.devnull, os.O_WRONLY))
    assert capfdbinary.readouterr().out == b"hello\n"
    claude.tell("PostToolUse", **BASH, tool_response={"stdout": "hello\n", "stderr": ""})
    holder.close()
    [buffer] = claude.buffers()
    assert (buffer.state, buffer.exit_code, buffer.lines) == ("sealed", 0, 1)
    assert not (claude.root / "hooks.log").exists()
