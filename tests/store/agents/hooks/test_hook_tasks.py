"""Commands that go on in the background in Claude Code: their output is kept once they have ended."""

import os
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.hooks import background_commands as tasks
from sightline.harnesses.claude_code import HARNESS
from sightline.store import Store
from tests.store.agents.hooks.hook_kit import Harness
from tests.store.harnesses.past_kit import write_lines

pytestmark = pytest.mark.usefixtures("piping")

BASH = {"tool_name": "Bash", "tool_input": {"command": "make all", "run_in_background": True}}


def started(claude: Harness, use: str = "use_of_the_first_call", task: str = "b1", **more: Any) -> None:
    response = {"stdout": "", "stderr": "", "interrupted": False, "backgroundTaskId": task}
    assert claude.tell("PostToolUse", **BASH, tool_use_id=use, tool_response={**response, **more}) is None


def file_of(folder: Path, task: str = "b1", session: str = "s1") -> Path:
    path = folder / f"claude-{os.getuid()}" / "-a-project" / session / "tasks" / f"{task}.output"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def notice(
    path: Path, use: str = "use_of_the_first_call", task: str = "b1", said: str = "failed with exit code 4"
) -> str:
    return (
        f"<task-notification>\n<task-id>{task}</task-id>\n<tool-use-id>{use}</tool-use-id>\n"
        f"<output-file>{path}</output-file>\n<status>failed</status>\n"
        f'<summary>Background command "a step" {said}</summary>\n</task-notification>'
    )


@pytest.mark.parametrize("mode", ["record", "keep", "shape"])
@pytest.mark.parametrize(
    ("output", "said", "code"),
    [
        (b"one\ntwo\n", "failed with exit code 4", 4),
        (b"no newline", "completed (exit code 0)", 0),
        (b"", "completed (exit code 0)", 0),
        (b"\n[exited with code 9]\n", "failed with exit code 4", 4),
    ],
)
def test_what_it_wrote_is_kept_when_it_has_ended(
    output: bytes, said: str, code: int, mode: str, claude: Harness, tmp_path: Path
) -> None:
    started(claude)
    assert claude.buffers() == []
    path = file_of(tmp_path)
    path.write_bytes(output + b"\n[exited with code %d]\n" % code)
    assert claude.tell("UserPromptSubmit", mode, prompt=notice(path, said=said)) is None
    (buffer,) = claude.buffers()
    assert (buffer.command, buffer.exit_code, buffer.state, buffer.note) == ("make all", code, "sealed", "merged")
    assert (claude.content(buffer) if buffer.bytes else b"") == output  # without the harness' own last line
    claude.tell("UserPromptSubmit", mode, prompt=notice(path, said=said))
    assert len(claude.buffers()) == 1


def test_of_one_that_was_stopped_no_code_is_claimed(claude: Harness, tmp_path: Path) -> None:
    started(claude)
    path = file_of(tmp_path)
    path.write_bytes(b"begun\n")
    claude.tell("UserPromptSubmit", prompt=notice(path, said="was stopped"))
    (buffer,) = claude.buffers()
    assert (buffer.exit_code, claude.content(buffer)) == (None, b"begun\n")


def test_several_may_end_at_once(claude: Harness, tmp_path: Path) -> None:
    paths = {f"use_of_the_call_{number:04}": file_of(tmp_path, f"b{number}") for number in (1, 2)}
    for number, (use, path) in enumerate(paths.items(), 1):
        started(claude, use, f"b{number}")
        path.write_bytes(b"%d\n" % number)
    told = "\n".join(notice(path, use, f"b{int(use[-4:])}") for use, path in paths.items())
    claude.tell("UserPromptSubmit", prompt=told)
    assert [claude.content(buffer) for buffer in claude.buffers()] == [b"1\n", b"2\n"]


def test_of_one_that_is_captured_already_only_the_code_is_added(claude: Harness, tmp_path: Path) -> None:
    """It was rewritten, and moved to the background when its time was over: what it wrote came through the pipe."""
    given = {"tool_name": "Bash", "tool_use_id": "use_of_the_first_call", "tool_input": {"command": "echo hi"}}
    assert claude.tell("PreToolUse", **given)
    with Store(str(claude.root)) as store:
        artifact = "claude-code-s1:use_of_the_first_call"
        recording = store.begin("cmd", "echo hi", str(tmp_path), "claude-code-s1", artifact=artifact)
        recording.append("out", b"hi\n")
        buffer = recording.seal(exit_code=None)
    path = file_of(tmp_path)
    path.write_bytes(b"the view of it\n")
    claude.tell("UserPromptSubmit", prompt=notice(path))
    (again,) = claude.buffers()
    assert (again.name, again.exit_code) == (buffer.name, 4)
    assert claude.content(again) == b"hi\n"


def test_a_very_large_file_is_taken_in_as_far_as_a_hook_has_time(
    claude: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "LARGEST_FILE_BYTES", 10)
    started(claude)
    path = file_of(tmp_path)
    path.write_bytes(b"0123456789abcdef\n\n[exited with code 4]\n")
    claude.tell("UserPromptSubmit", prompt=notice(path))
    (buffer,) = claude.buffers()
    assert buffer.is_partial
    assert claude.content(buffer) == b"0123456789"


@pytest.mark.parametrize(
    "kind", ["link", "link to a folder", "pipe", "folder", "elsewhere", "another session", "other"]
)
def test_nothing_but_a_file_of_a_task_of_the_session_is_read(kind: str, claude: Harness, tmp_path: Path) -> None:
    started(claude)
    path, secret = file_of(tmp_path), tmp_path / "secret"
    secret.write_text("secret")
    match kind:
        case "link":
            path.symlink_to(secret)
        case "link to a folder":
            (real := path.parent.rename(tmp_path / "real")).joinpath(path.name).write_text("secret")
            path.parent.symlink_to(real)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "elsewhere":
            path = secret
        case "another session":
            path = file_of(tmp_path, session="s2")
            path.write_text("secret")
        case "other":
            path = path.parent / ".." / "tasks" / "b2.output"
            path.write_text("secret")
    claude.tell("UserPromptSubmit", prompt=notice(path))
    assert claude.buffers() == []


@pytest.mark.parametrize(
    "prompt", ["", "go on", "what is <task-notification>\n<task-id>b1</task-id>", "<task-notification>", None, 7]
)
def test_what_a_person_types_is_no_end_of_a_command(prompt: Any, claude: Harness) -> None:
    started(claude)
    assert claude.tell("UserPromptSubmit", prompt=prompt) is None
    assert claude.buffers() == []


def test_an_end_of_what_nobody_has_started_is_nothing(claude: Harness, tmp_path: Path) -> None:
    path = file_of(tmp_path)
    path.write_bytes(b"out\n")
    claude.tell("UserPromptSubmit", prompt=notice(path))
    assert claude.buffers() == []
    assert list(HARNESS.ended_commands(notice(path, use="../../x"), "s1")) == []


def test_where_nothing_may_be_kept_nothing_is(claude: Harness, tmp_path: Path) -> None:
    started(claude)
    (claude.root / "config.toml").write_text(f'[directories."{tmp_path}"]\ncapture = "off"\n')
    path = file_of(tmp_path)
    path.write_bytes(b"out\n")
    claude.tell("UserPromptSubmit", prompt=notice(path))
    assert claude.buffers() == []


@pytest.mark.parametrize("form", ["UserPromptSubmit", "Stop"])
def test_a_notice_of_a_failure_tells_the_model_of_it_as_a_prompt_or_within_a_turn(
    claude: Harness, tmp_path: Path, form: str
) -> None:
    started(claude)
    path = file_of(tmp_path)
    path.write_bytes(b"one\n")
    told = notice(path)
    attached = {"type": "attachment", "attachment": {"type": "queued_command", "prompt": told}}
    transcript = write_lines(tmp_path / "s1.jsonl", attached, {"type": "assistant"})
    claude.tell(form, **({"prompt": told} if form == "UserPromptSubmit" else {"transcript_path": str(transcript)}))
    (buffer,) = claude.buffers()
    ((view, text),) = claude.views()
    assert (view.refs, view.exit_code, text) == ((buffer.name,), 4, told)
    assert view.unknown == "Claude Code does not tell its hooks what it puts around a notice"
    claude.tell("Stop", transcript_path=str(transcript))
    assert len(claude.views()) == 1
