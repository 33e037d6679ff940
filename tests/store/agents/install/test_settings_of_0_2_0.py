"""What 0.2.0 wrote into settings and beside them works after its modules have moved."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sightline
from sightline.agents.hooks.command_line import read_line
from sightline.agents.install.own_entries import is_our_server
from tests.store.agents.hooks.hook_kit import process

PACKAGE = os.path.dirname(sightline.__file__)
HOOK = f"{sys.executable} -E -P -S {PACKAGE}/doors/hooks/__main__.py"
"""How its lines begin, in settings as in the plugins of opencode and pi."""
SCRIPT = f"""\
#!/bin/sh
# Written by `sightline install`: hooks pipe commands into it.
# What comes is kept and passed on; where it cannot be kept it is passed on all the same.
held=
PATH=${{PATH:+$PATH:}}/usr/bin:/bin
trap 'test -z "$held" || cat "$held"; exec cat' EXIT
exec 4>&1 2>/dev/null
held=$({HOOK} capture "$1" "$PPID" 3>&1 >&4 4>&-) && trap - EXIT
"""
SERVER = ["-E", "-P", "-m", "sightline.doors.cli.main", "mcp"]
CALL = {"session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_use_id": "use_of_the_only_call"}
DONE = {**CALL, "tool_input": {"command": "ls"}, "tool_response": {"stdout": "hi\n", "stderr": ""}}


@pytest.mark.parametrize("end", [" || true", ""])
def test_its_hooks_record_calls(end: str, tmp_path: Path) -> None:
    line = f"{HOOK} claude-code PostToolUse --mode keep{end}"
    done = process(["/bin/sh", "-c", line], json.dumps(DONE).encode(), tmp_path / "root")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (buffer,) = (tmp_path / "root" / "buffers").iterdir()
    assert (buffer / "out").read_bytes() == b"hi\n"


def test_its_hooks_are_found_in_settings_to_be_renewed_or_removed() -> None:
    found = read_line(f"{HOOK} claude-code PreToolUse --mode keep --through /a/sightline-capture || true")
    assert found is not None
    assert (found.harness, found.event, found.mode) == ("claude-code", "PreToolUse", "keep")


def test_its_capture_script_passes_on_what_commands_print(tmp_path: Path) -> None:
    script = tmp_path / "sightline-capture"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    done = process(["/bin/sh", "-c", f"seq 3 | {script} use_of_the_only_call"], b"", tmp_path / "root")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"1\n2\n3\n", b"")


def test_its_server_answers(tmp_path: Path) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    done = process([sys.executable, *SERVER], json.dumps(request).encode() + b"\n", tmp_path / "root")
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "sightline"
    assert is_our_server({"type": "stdio", "command": sys.executable, "args": SERVER})


@pytest.mark.parametrize(
    ("words", "ended"),
    [
        (["sightline.doors.cli.main", "ship", "--help"], 0),  # a unit of systemd or launchd
        (["sightline.tui"], 1),  # the inspector in a browser; what it says of a store that is none
    ],
)
def test_modules_that_it_started_by_name_are_there(words: list[str], ended: int, tmp_path: Path) -> None:
    (tmp_path / "root").touch()
    done = process([sys.executable, "-m", *words], b"", tmp_path / "root")
    assert done.returncode == ended
    assert b"usage: sightline ship" in done.stdout or b"sightline: the store at" in done.stderr


def test_its_completions_ask_the_command_that_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("argcomplete")
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": "sightline vie", "COMP_POINT": "13", "_ARGCOMPLETE_COMP_WORDBREAKS": " "}
    answers = tmp_path / "answers"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "_ARGCOMPLETE_STDOUT_FILENAME": str(answers)}
    command = os.path.join(os.path.dirname(sys.executable), "sightline")
    subprocess.run([command], env={**environment, **asked}, timeout=60, check=True, capture_output=True)
    assert answers.read_text().strip() == "views"
