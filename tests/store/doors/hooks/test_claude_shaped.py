"""Harnesses with hooks as Claude Code has them: what is kept of what each tells of a tool."""

from pathlib import Path
from typing import Any

import pytest

from tests.store.doors.hooks.hook_kit import Harness


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of the store."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "store"))
    return tmp_path / "store"


def _told(command: str, output: str, display: str, code: int) -> dict[str, Any]:
    """What Qwen Code 0.15.10 tells of a command."""
    ended = f"Error: (none)\nExit Code: {code}\nSignal: 0\nProcess Group PGID: 7"
    content = f"Command: {command}\nDirectory: (root)\nOutput: {output}\n{ended}"
    return {
        "tool_name": "run_shell_command",
        "tool_use_id": "use",
        "tool_input": {"command": command, "is_background": False},
        "tool_response": {"llmContent": content, "returnDisplay": display},
    }


def test_qwen_code_tells_what_a_command_wrote_and_how_it_ended(root: Path, tmp_path: Path) -> None:
    qwen = Harness("qwen", root, tmp_path)
    told = _told("make", "a\nb", "a\nb", 3)
    qwen.tell("PostToolUse", **told)
    (buffer,) = qwen.buffers()
    assert qwen.content(buffer) == b"a\nb"
    assert (buffer.command, buffer.exit_code, buffer.partial) == ("make", 3, "")
    ((view, text),) = qwen.views()
    assert text == told["tool_response"]["llmContent"]
    assert view.exit_code == 3


@pytest.mark.parametrize(
    "display",
    ["7\n8\nOutput too long and was saved to: /home/x/.qwen/tmp/1/run_shell_command_1.output", "7\n" * 10_001],
    ids=["saved", "as much as its terminal holds"],
)
def test_of_a_long_output_qwen_code_has_only_a_part(display: str, root: Path, tmp_path: Path) -> None:
    qwen = Harness("qwen", root, tmp_path)
    qwen.tell("PostToolUse", **_told("seq 9", "7", display, 0))
    (buffer,) = qwen.buffers()
    assert buffer.partial == "cut by Qwen Code"
    assert b"saved to" not in qwen.content(buffer)


@pytest.mark.parametrize(("name", "tool"), [("qwen", "run_shell_command"), ("droid", "Execute")])
def test_a_failure_is_kept_with_what_was_told_of_it(name: str, tool: str, root: Path, tmp_path: Path) -> None:
    harness = Harness(name, root, tmp_path)
    called = {"tool_name": tool, "tool_use_id": "use", "tool_input": {"command": "make"}}
    harness.tell("PostToolUseFailure", **called, error="no rule to make target")
    (buffer,) = harness.buffers()
    assert harness.content(buffer) == b"no rule to make target"
    assert buffer.command == "make"
