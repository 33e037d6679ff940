"""Harnesses with hooks as Claude Code has them: what is kept of what each tells of a tool."""

import json
from pathlib import Path
from typing import Any

import pytest

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.line_spans import holds
from sightline.harnesses import find
from sightline.store import Store
from tests.store.agents.hooks.hook_kit import Harness


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


SAVED = "Tool output was too large and has been truncated.\nThe full output has been saved to: {path}\nLook.\n\n"


@pytest.mark.parametrize(
    ("lines", "why"), [(12_000, "may have lost its end"), (10_023, "cut by Qwen Code"), (0, "cut by Qwen Code")]
)
def test_of_a_long_output_qwen_code_names_a_file_that_may_lack_the_end(
    lines: int, why: str, root: Path, tmp_path: Path
) -> None:
    """One of its versions keeps there what a terminal holds; where the file has gone, both ends are left."""
    qwen, path = Harness("qwen", root, tmp_path), tmp_path / ".qwen" / "tmp" / "p" / "run_shell_command_1.output"
    path.parent.mkdir(parents=True)
    whole = "\n".join(map(str, range(lines + 1)))
    if lines:
        path.write_text(_told("make", whole, "", 3)["tool_response"]["llmContent"])
    told = _told("make", "0\n1\n\n---\n... [CONTENT TRUNCATED] ...\n---\n\n99", "", 3)
    shown = SAVED.format(path=path) + told.pop("tool_response")["llmContent"]
    qwen.tell("PostToolUseFailure", **told, error=shown)
    (buffer,) = qwen.buffers()
    assert qwen.content(buffer).decode() == (whole if lines else "0\n1\n99")
    assert (buffer.exit_code, bool(buffer.gaps)) == (3, not lines)
    assert why in buffer.partial
    ((view, text),) = qwen.views()
    assert (text, view.exit_code) == (shown, 3)


def test_what_qwen_code_says_of_a_failing_command_is_not_taken_for_its_output(root: Path, tmp_path: Path) -> None:
    qwen = Harness("qwen", root, tmp_path)
    for number, (output, kept, code) in enumerate([("a\nError: x\nb", b"a\nError: x\nb", 3), ("(empty)", b"", 9)]):
        told = _told(f"make {number}", output, "", code)
        qwen.tell(
            "PostToolUseFailure", **{**told, "tool_use_id": f"u{number}"}, error=told["tool_response"]["llmContent"]
        )
        buffer = qwen.buffers()[-1]
        assert (qwen.content(buffer) if buffer.streams else b"", buffer.exit_code) == (kept, code)
    told = _told("sleep 9", "(empty)", "", 0)
    ended = told["tool_response"]["llmContent"].replace("Signal: 0", "Signal: 9")
    qwen.tell("PostToolUseFailure", **{**told, "tool_use_id": "u9"}, error=ended)
    assert qwen.buffers()[-1].exit_code is None


@pytest.mark.parametrize(("name", "tool"), [("qwen", "run_shell_command"), ("droid", "Execute")])
def test_a_failure_is_kept_with_what_was_told_of_it(name: str, tool: str, root: Path, tmp_path: Path) -> None:
    harness = Harness(name, root, tmp_path)
    called = {"tool_name": tool, "tool_use_id": "use", "tool_input": {"command": "make"}}
    harness.tell("PostToolUseFailure", **called, error="no rule to make target")
    (buffer,) = harness.buffers()
    assert harness.content(buffer) == b"no rule to make target"
    assert buffer.command == "make"


def _copilot(shown: str, command: str = "make") -> dict[str, Any]:
    """What Copilot CLI 1.0.102 tells of a command."""
    result = {"result_type": "success", "text_result_for_llm": shown}
    return {"tool_name": "Bash", "tool_input": {"command": command, "mode": "sync"}, "tool_result": result}


def test_copilot_cli_names_a_file_that_has_a_long_output_whole(root: Path, tmp_path: Path) -> None:
    whole = "".join(f"{number}\n" for number in range(1, 9_001))
    path = tmp_path / "1795452474489-copilot-tool-output-14498-2a91a4f1-3b36-4fb7-84ad-e87767b51eb3.txt"
    path.write_text(whole)
    large = f"Output too large to read at once (48 KB). Saved to: {path}\nLook.\n\nPreview (first 500 chars):\n"
    shown = f"{large}{whole[:500]}\n<shellId: 4 completed with exit code 4>"
    copilot = Harness("copilot", root, tmp_path)
    assert copilot.tell("PostToolUse", **_copilot(shown)) is None
    (buffer,) = copilot.buffers()
    assert (copilot.content(buffer).decode(), buffer.exit_code, buffer.partial) == (whole, 4, "")
    ((view, text),) = copilot.views()
    assert (text, view.exit_code) == (shown, 4)
    answer = copilot.tell("PostToolUse", mode="shape", **_copilot(shown, "make again"))
    assert "exit_code=4" in answer["modifiedResult"]["textResultForLlm"]
    path.unlink()
    copilot.tell("PostToolUse", **_copilot(shown, "make all"))
    assert [one.partial for one in copilot.buffers()] == ["", "", "cut by Copilot CLI"]


@pytest.mark.parametrize(
    ("shown", "kept", "code"),
    [
        ("a\nb\n<shellId: 1 completed with exit code 3>", b"a\nb", 3),
        ("\n<shellId: 2 completed with exit code 0>", b"", 0),
        ("still running", b"still running", None),
    ],
)
def test_copilot_cli_says_below_an_output_how_its_command_ended(
    shown: str, kept: bytes, code: int | None, root: Path, tmp_path: Path
) -> None:
    copilot = Harness("copilot", root, tmp_path)
    copilot.tell("PostToolUse", **_copilot(shown))
    (buffer,) = copilot.buffers()
    assert (copilot.content(buffer) if buffer.streams else b"", buffer.exit_code) == (kept, code)


def _cline(cline: Harness, *outputs: dict[str, Any], name: str = "run_commands", **given: Any) -> Any:
    """What Cline 3.0.65 tells of a call of a tool, and what our hook answers."""
    asked = {"commands": [one["query"] for one in outputs]}
    return cline.tell(
        "PostToolUse",
        taskId="conv_1",
        sessionContext={"rootSessionId": "s1"},
        workspaceRoots=[str(cline.cwd)],
        agent_id="agent_1",
        parent_agent_id=None,
        tool_result={"id": "use", "name": name, "input": asked, "output": list(outputs)},
        postToolUse={"result": json.dumps(outputs, separators=(",", ":"))},
        **given,
    )


def test_cline_tells_what_a_command_wrote_and_how_it_ended(root: Path, tmp_path: Path) -> None:
    cline = Harness("cline", root, tmp_path)
    output = {"query": "make", "result": "[Command exited with code 3]\na\n\n[stderr]\nb: no luck\n", "success": False}
    _cline(cline, output)
    (buffer,) = cline.buffers()
    assert (buffer.command, buffer.exit_code, buffer.partial, buffer.cwd) == ("make", 3, "", str(tmp_path))
    assert cline.content(buffer) == b"a\nb: no luck\n"
    ((view, text),) = cline.views()
    assert text == json.dumps([output], separators=(",", ":"))
    assert [(shown.first, shown.last) for shown in view.shown] == [(1, 2)]


def test_several_commands_of_a_call_of_cline_are_one_output_that_fails_if_one_does(root: Path, tmp_path: Path) -> None:
    cline = Harness("cline", root, tmp_path)
    _cline(
        cline,
        {"query": "echo a", "result": "a", "success": True},
        {"query": "false", "result": "[Command exited with code 1]\n", "success": False},
        {"query": "sleep 9", "result": "", "error": "Command timed out after 30000ms", "success": False},
    )
    (buffer,) = cline.buffers()
    assert (buffer.command, buffer.exit_code) == ("echo a\nfalse\nsleep 9", 1)
    assert cline.content(buffer) == b"a\nCommand timed out after 30000ms"
    assert "exit codes 0, 1, not known" in buffer.note


def test_what_cline_cuts_from_the_middle_is_a_gap_and_what_its_model_sees_of_it_is_not_claimed(
    root: Path, tmp_path: Path
) -> None:
    cline = Harness("cline", root, tmp_path)
    head, tail = "".join(f"{n}\n" for n in range(5_000)), "".join(f"{n}\n" for n in range(90_000, 94_000))
    mark = "[... output truncated: 999999 chars total. Refine the command (grep, head, tail) to view the middle ...]"
    _cline(cline, {"query": "seq 9", "result": f"{head}12\n{mark}\n{tail}", "success": True})
    (buffer,) = cline.buffers()
    assert buffer.partial == "cut by Cline"
    assert cline.content(buffer) == f"{head}12\n{tail}".encode()
    (gap,) = buffer.gaps
    assert (gap.after, gap.missing) == (5_001, 999_999 - len(head + "12" + tail))
    with Store(str(root)) as store:
        seen = coverage_of(store, buffer).streams["out"].seen
    assert holds(seen, 1) and holds(seen, 9_001)
    assert not holds(seen, 3_000)


def test_cline_is_told_notes_and_its_calls_of_our_own_tools_are_not_recorded_twice(root: Path, tmp_path: Path) -> None:
    cline = Harness("cline", root, tmp_path)
    _cline(cline, {"query": "x", "result": "x", "success": True}, name="sightline__run_command")
    assert cline.buffers() == []
    assert find("cline").addition("PostToolUse", "note") == {"contextModification": "note"}
    script = find("cline").plugin(["/bin/hook", "a b"], "/a store")
    assert script.splitlines()[1:] == ["export SIGHTLINE_HOME='/a store'", "exec /bin/hook 'a b'"]
    assert find("cline").plugin_words(script) == ["/bin/hook", "a b"]
