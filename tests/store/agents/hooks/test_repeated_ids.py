"""Ids of calls that are given twice: some models' servers number calls from 0, in each session or even in each turn."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.hooks import hook_session
from sightline.agents.hooks.before_tool import before_tool
from sightline.agents.hooks.capture_script import script
from sightline.base.records import Buffer
from sightline.harnesses import find
from sightline.harnesses.base import KEEP
from tests.store.agents.hooks.hook_kit import Harness

pytestmark = pytest.mark.usefixtures("piping")

LONG = "toolu_01Abcdefghijklmnopqrst"


def told(command: str, output: str, use: str = "call_0", **more: Any) -> dict[str, Any]:
    """The end of a command, as Claude Code tells it."""
    response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    called = {"tool_name": "Bash", "tool_use_id": use, "tool_input": {"command": command}}
    return {**called, "tool_response": response, **more}


def rewritten(folder: Path, root: Path, command: str, session: str, use: str = "call_0") -> str:
    """What the hook before a command makes of it."""
    through = folder / "sightline-capture"
    through.write_text(script(str(root)))
    through.chmod(0o755)
    called = {"tool_name": "Bash", "tool_use_id": use, "tool_input": {"command": command}}
    harness = find("claude-code")
    assert harness is not None
    answer = before_tool(
        harness, "PreToolUse", KEEP, {**called, "session_id": session, "cwd": str(folder)}, str(through)
    )
    assert answer is not None
    return str(answer["hookSpecificOutput"]["updatedInput"]["command"])


def run(line: str, folder: Path) -> None:
    """Run a rewritten command, as the harness would."""
    subprocess.run(["bash", "-c", line], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def said(claude: Harness) -> list[tuple[str, bytes, int | None]]:
    """Command, output and exit code of each buffer."""
    return [(one.command, claude.content(one) if one.bytes else b"", one.exit_code) for one in claude.buffers()]


@pytest.mark.parametrize("use", ["call_0", LONG])
def test_two_hooks_for_one_event_record_it_once(use: str, claude: Harness) -> None:
    event = told("make", "one", use, duration_ms=7)
    claude.tell("PostToolUse", "record", **event)
    claude.tell("PostToolUse", "record", **event)
    batch = {"tool_calls": [{**told("make", "", use), "tool_response": "one"}]}
    claude.tell("PostToolBatch", "record", **batch)
    claude.tell("PostToolBatch", "record", **batch)
    assert said(claude) == [("make", b"one", 0)]
    assert len(claude.views()) == 1


def test_a_later_call_with_the_id_of_an_earlier_one_is_recorded_with_its_own_output(claude: Harness) -> None:
    for command, output in (("make", "one"), ("make test", "two")):
        claude.tell("PostToolUse", "record", **told(command, output))
        claude.tell("PostToolBatch", "record", tool_calls=[{**told(command, ""), "tool_response": output}])
    assert said(claude) == [("make", b"one", 0), ("make test", b"two", 0)]
    assert [(view.refs, text) for view, text in claude.views()] == [
        ((buffer.name,), text) for buffer, text in zip(claude.buffers(), ("one", "two"), strict=True)
    ]


@pytest.mark.parametrize("minutes", [0, 1])
def test_the_same_call_again_is_one_more_reply(minutes: int, claude: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says the same. That it takes as long can be told only once the hooks of one event cannot be so far apart."""
    for milliseconds in (7, 7 if minutes else 12):
        claude.tell("PostToolUse", "record", **told("make", "one", duration_ms=milliseconds))
        claude.tell("PostToolBatch", "record", tool_calls=[{**told("make", ""), "tool_response": "one"}])
        if minutes:
            monkeypatch.setattr(hook_session, "SAME_EVENT_SECONDS", -1.0)
    assert [text for _, text in claude.views()] == ["one", "one"]
    assert len({view.refs for view, _ in claude.views()}) == 2


@pytest.mark.parametrize("more", [[{}, {}], [{"duration_ms": 7}, {"duration_ms": 12}]])
@pytest.mark.parametrize("command", ["seq 1 2", "seq 1 2; false", "seq 1 9 | tail -n 2"])
def test_a_command_that_a_hook_has_rewritten_is_kept_again_though_it_says_the_same(
    command: str, more: list[dict[str, int]], claude: Harness, root: Path, tmp_path: Path
) -> None:
    """Both hooks of an event, a person's and a project's, are told of each of two failing calls."""
    for times in more:
        rewritten(tmp_path, root, command, "s1")
        line = rewritten(tmp_path, root, command, "s1")
        wrote = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False).stdout
        failed = {"tool_name": "Bash", "tool_use_id": "call_0", "tool_input": {"command": command}}
        shown = f"Exit code 3\n{wrote}".strip()
        for _ in range(2):
            claude.tell("PostToolUseFailure", **failed, **times, error=shown)
        for _ in range(2):
            claude.tell("PostToolBatch", tool_calls=[{**failed, "tool_response": shown}])
    claude.tell("Stop")
    whole = [one for one in claude.buffers() if one.command == command]
    assert [(one.exit_code, one.partial) for one in whole] == [(3, ""), (3, "")]
    assert [text for _, text in claude.views()] == [shown, shown]
    assert {one.name for one in whole} <= {name for view, _ in claude.views() for name in view.refs}
    assert not [*(root / "hooks").glob("*.json"), *(root / "hooks").glob("*.part")]


@pytest.mark.parametrize("ours_first", [False, True])
def test_a_hook_of_the_version_before_and_ours_record_one_event_once(
    ours_first: bool, claude: Harness, root: Path
) -> None:
    """That hook leaves an event alone whose line it finds, and writes it otherwise."""
    line = '["PostToolUse", "call_0"]\n'
    (root / "hooks").mkdir(parents=True)
    file = root / "hooks" / "claude-code-s1.events"
    if ours_first:
        claude.tell("PostToolUse", "record", **told("make", "one"))
        assert f"\n{line}" in file.read_text()
        return
    file.write_text(line)
    file.chmod(0o600)
    claude.tell("PostToolUse", "record", **told("make", "one"))
    assert not claude.buffers()
    claude.tell("PostToolUse", "record", **told("make", "two"))
    assert said(claude) == [("make", b"two", 0)]


def test_a_call_that_made_no_output_is_not_said_to_have_shown_an_earlier_one_s(claude: Harness) -> None:
    claude.tell("PostToolUse", "record", **told("make", "one"))
    claude.tell("PostToolBatch", "record", tool_calls=[{**told("make", ""), "tool_response": "one"}])
    edit = {"tool_name": "Edit", "tool_use_id": "call_0", "tool_input": {"file_path": "/x", "old_string": "a"}}
    claude.tell("PostToolUse", "record", **edit, tool_response={"filePath": "/x"})
    claude.tell("PostToolBatch", "record", tool_calls=[{**edit, "tool_response": "one of /x was changed"}])
    assert [view.refs for view, _ in claude.views()] == [(claude.buffers()[0].name,), ()]


def test_sessions_that_use_one_id_at_once_keep_their_own_commands(root: Path, tmp_path: Path) -> None:
    sessions = {name: Harness("claude-code", root, tmp_path) for name in ("s1", "s2")}
    lines = {name: rewritten(tmp_path, root, f"seq 1 {name[1]}", name) for name in sessions}
    for line in lines.values():
        run(line, tmp_path)
    for name, claude in sessions.items():
        output = "".join(f"{number}\n" for number in range(1, int(name[1]) + 1))
        claude.tell("PostToolUse", session_id=name, **told(f"seq 1 {name[1]}", output.strip()))
    found = sessions["s1"].buffers()
    assert sorted((one.session, one.command, one.lines, one.exit_code) for one in found) == [
        ("claude-code-s1", "seq 1 1", 1, 0),
        ("claude-code-s2", "seq 1 2", 2, 0),
    ]


@pytest.mark.parametrize("command", ["seq 1 2", "seq 1 2; seq 3"])
def test_where_nothing_was_kept_of_a_command_an_earlier_one_with_its_id_does_not_stand_for_it(
    command: str, claude: Harness, root: Path, tmp_path: Path
) -> None:
    run(rewritten(tmp_path, root, command, "s1"), tmp_path)
    first = told(command, "1\n2" if ";" not in command else "1\n2\n1\n2\n3")
    claude.tell("PostToolUse", **first)
    before: list[Buffer] = claude.buffers()
    rewritten(tmp_path, root, "seq 1 4", "s1")  # what keeps it cannot start, and passes it on
    failed = {"tool_name": "Bash", "tool_use_id": "call_0", "tool_input": {"command": "seq 1 4"}}
    claude.tell("PostToolUseFailure", **failed, error="Exit code 3\n1\n2\n3\n4")
    assert claude.buffers()[0] == before[0]
    assert said(claude)[1:] == [("seq 1 4", b"1\n2\n3\n4", 3)]
