"""What hooks must know of each other's commands holds no secret, and goes when the command has ended."""

import os
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.hooks.pending_commands import PendingCommand, pending_path, remember
from sightline.capture.list_insertion import ListPart
from sightline.settings.config import Settings
from tests.store.agents.hooks.hook_kit import Harness

SECRET = "pin=" + "2468013579"
BASH: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": "toolu_" + "7" * 30}
DONE = {"stdout": "x", "stderr": "", "interrupted": False, "isImage": False}


@pytest.fixture
def redacting(claude: Harness) -> Harness:
    claude.root.mkdir(mode=0o700)
    (claude.root / "config.toml").write_text("[redact]\npatterns = ['pin=[0-9]+']\n")
    return claude


def pending(claude: Harness) -> list[str]:
    return sorted(path.name for path in (claude.root / "hooks").glob("*.json"))


def files_with_secret(claude: Harness) -> list[Path]:
    return [path for path in claude.root.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize("command", [f"make {SECRET}", f"make {SECRET} | tail -3", f"make; curl -d {SECRET} x"])
@pytest.mark.parametrize("mode", ["keep", "shape"])
def test_a_secret_of_a_command_is_hidden_before_anything_is_written(
    mode: str, command: str, redacting: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(
        "sightline.agents.hooks.pending_commands.write_atomically",
        lambda path, data: (written.append(data.decode()), Path(path).write_bytes(data)),
    )
    tool = {**BASH, "tool_input": {"command": command}}
    redacting.tell("PreToolUse", mode, **tool)
    assert files_with_secret(redacting) == []
    redacting.tell("PostToolUse", mode, **tool, tool_response=DONE)
    redacting.tell("PostToolBatch", mode, tool_calls=[{**tool, "tool_response": "x"}])
    assert files_with_secret(redacting) == []
    assert not any(SECRET in text for text in written)
    assert pending(redacting) == []
    (buffer,) = redacting.buffers()
    assert "[redacted: pattern 1]" in buffer.command


def test_a_secret_of_a_command_in_the_background_is_hidden_too(redacting: Harness) -> None:
    tool = {**BASH, "tool_input": {"command": f"make {SECRET}", "run_in_background": True}}
    redacting.tell("PostToolUse", **tool, tool_response={**DONE, "backgroundTaskId": "b1"})
    assert pending(redacting) == [BASH["tool_use_id"] + ".json"]
    assert files_with_secret(redacting) == []


def test_a_call_that_waits_for_its_transcript_is_written_without_its_secrets(
    redacting: Harness, tmp_path: Path
) -> None:
    codex = Harness("codex", redacting.root, redacting.cwd)
    transcript = tmp_path / "rollout.jsonl"
    transcript.write_text("")
    tool = {**BASH, "tool_input": {"command": f"make {SECRET}"}, "transcript_path": str(transcript)}
    codex.tell("PostToolUse", **tool, tool_response=f"it said {SECRET}\n")
    assert (redacting.root / "hooks" / "waiting").is_dir()
    assert files_with_secret(codex) == []


@pytest.mark.parametrize("event", ["Stop", "SessionStart"])
def test_a_command_that_was_refused_is_forgotten_at_the_end_of_the_turn(event: str, claude: Harness) -> None:
    claude.tell("PreToolUse", "shape", **BASH, tool_input={"command": "make"})
    assert pending(claude) == [BASH["tool_use_id"] + ".json"]
    claude.tell(event, source="resume", last_assistant_message="")
    assert pending(claude) == []


def test_the_end_of_a_turn_leaves_what_others_and_the_background_run(claude: Harness) -> None:
    common = {"kept": "x", "merged": True, "filtered": False, "shape": False, "command": "x", "harness": "claude-code"}
    left = [
        PendingCommand(use="toolu_" + "1" * 30, session="s2", **common),
        PendingCommand(use="toolu_" + "2" * 30, session="s1", agent="helper", **common),
        PendingCommand(use="toolu_" + "3" * 30, session="s1", background=True, **common),
        PendingCommand(use="toolu_" + "4" * 30, session="s1", parts=(ListPart("x", "", 1, silent=False),), **common),
    ]
    for one in left:
        remember(one, Settings())
    claude.tell("Stop", last_assistant_message="")
    assert all(os.path.exists(pending_path(one.key)) for one in left)


def test_a_command_is_forgotten_where_nothing_may_be_kept_any_more(claude: Harness) -> None:
    tool = {**BASH, "tool_input": {"command": "make"}}
    claude.tell("PreToolUse", "shape", **tool)
    (claude.root / "config.toml").write_text(f'[directories."{claude.cwd}"]\ncapture = "off"\n')
    claude.tell("PostToolUse", **tool, tool_response=DONE)
    assert pending(claude) == []
