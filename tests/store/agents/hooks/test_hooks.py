"""Hooks as a harness meets them: what they answer, what they hand over, and that they never stand in the way."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.hooks.capture_script import FILE
from sightline.agents.hooks.command_line import hook_words
from sightline.agents.hooks.hook_session import session_of, sessions_of
from sightline.agents.hooks.pending_capture import PendingCapture
from sightline.agents.hooks.pending_commands import recall
from sightline.base.records import Shown
from sightline.disk.recording import Recording
from sightline.harnesses import find, known
from sightline.harnesses.base import MODES
from sightline.harnesses.opencode import HARNESS as OPENCODE
from sightline.log.notes import ANYONE, list_notes, send_note, write_note
from sightline.store import Store
from tests.store.agents.hooks.hook_kit import Harness, process

LARGE = "".join(f"{number}\n" for number in range(1, 20_001))
BASH = {"tool_name": "Bash", "tool_use_id": "use_of_the_first_call", "tool_input": {"command": "make"}}
MCP = {"tool_name": "mcp__a__b", "tool_use_id": "use_of_the_first_call", "tool_input": {}}


# it never stands in the way


@pytest.mark.parametrize(
    ("event", "given"),
    [
        ("PostToolUse", b""),
        ("PostToolUse", b"no JSON"),
        ("PostToolUse", b"[]"),
        ("PostToolUse", b'{"tool_name": "Bash", "tool_input": 7, "tool_response": {"stdout": 7}}' * 2),
        ("NoSuchEvent", b"{}"),
    ],
)
def test_what_a_hook_does_not_understand_is_a_line_in_the_log(event: str, given: bytes, tmp_path: Path) -> None:
    done = process(hook_words("claude-code", event, "keep"), given, tmp_path / "store")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (line,) = (tmp_path / "store" / "hooks.log").read_text().splitlines()
    assert f"claude-code {event} --mode keep: " in line


@pytest.mark.parametrize("when", ["PreToolUse", "PostToolUse", "PostToolBatch", "SessionStart"])
def test_without_a_store_a_hook_says_nothing(when: str, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where the store should be")
    calls = [{**BASH, "tool_response": "x"}]
    given = {**BASH, "cwd": "/", "session_id": "s", "tool_response": {"stdout": "x", "stderr": ""}, "tool_calls": calls}
    done = process(hook_words("claude-code", when, "record"), json.dumps(given).encode(), tmp_path / "store")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("given", [{}, {"tool_name": 3}, {**BASH, "tool_input": None}, {**BASH, "tool_input": {}}])
def test_an_odd_event_before_a_command_changes_nothing(given: dict[str, Any], claude: Harness) -> None:
    assert claude.tell("PreToolUse", **given) is None


def test_the_log_of_hooks_stays_small(tmp_path: Path) -> None:
    root = tmp_path / "store"
    root.mkdir()
    (root / "hooks.log").write_bytes(b"x" * 300_000)
    process(hook_words("claude-code", "PostToolUse", "keep"), b"", root)
    assert (root / "hooks.log").stat().st_size < 1000


def test_a_project_cannot_come_between(tmp_path: Path) -> None:
    """Modules that lie where the harness works, or that its environment names, are not ours."""
    (tmp_path / "json.py").write_text("raise SystemExit(9)\n")
    words = hook_words("claude-code", "SessionStart", "keep")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, input=b"{}", capture_output=True, env=environment, cwd=tmp_path, timeout=60)
    assert done.returncode == 0
    assert b"additionalContext" in done.stdout


# what it says


def test_a_session_begins_with_how_to_use_refs(claude: Harness) -> None:
    answer = claude.tell("SessionStart", source="startup")
    output = answer["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    assert "read_output" in output["additionalContext"]
    assert output["additionalContext"].count(". ") == 1  # two sentences
    assert claude.tell("SessionStart", mode="record") is None


@pytest.mark.parametrize(
    ("event", "given"),
    [
        ("SessionStart", {"source": "compact"}),
        ("UserPromptSubmit", {"prompt": "go on", "prompt_id": "p1"}),
        (
            "PostToolUse",
            {"tool_name": "Bash", "tool_use_id": "u1", "tool_input": {"command": "echo"}, "tool_response": "x"},
        ),
        ("Stop", {"last_assistant_message": "done"}),
    ],
)
def test_an_event_makes_its_session_once(
    event: str, given: dict[str, Any], claude: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[str]()

    def counted(*words: Any) -> Any:
        made.append(words[1])
        return session_of(*words)

    for module in [name for name in sys.modules if name.startswith("sightline.agents.hooks.")]:
        if hasattr(sys.modules[module], "session_of"):
            monkeypatch.setattr(sys.modules[module], "session_of", counted)
    claude.tell(event, **given)
    assert made == ["s1"]


def test_a_helper_has_a_session_of_its_own_and_its_agent_those_of_locks() -> None:
    told = {"session_id": "s1", "cwd": "/here", "agent_id": "a7"}
    found = sessions_of(known()["claude-code"], told)
    assert (found.own.name, found.agent.name) == ("claude-code-s1-a7", "claude-code-s1")
    cline = {"sessionContext": {"rootSessionId": "root"}, "taskId": "t2", "workspaceRoots": ["/there"]}
    found = sessions_of(known()["cline"], cline)
    assert (found.own.name, found.own.cwd, found.agent) == ("cline-root", "/there", found.own)


def note(root: Path, text: str, to: str) -> None:
    """A person's remark on the newest output, sent."""
    with Store(str(root)) as store:
        person = session_of("shell", "person", "/")
        (item,) = store.listed(1)
        send_note(store, person, write_note(store, person, store.resolve(item.buffer.ref + ":1-2"), text), to)


@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart"])
@pytest.mark.parametrize("to", [ANYONE, "claude-code-s1"])
def test_a_note_is_handed_over_once_with_the_next_event(event: str, to: str, claude: Harness) -> None:
    claude.tell("PostToolUse", **BASH, tool_response={"stdout": "1\n2\n", "stderr": ""})
    note(claude.root, "look at line 2", to)
    given = {
        **BASH,
        "tool_use_id": "use_of_the_second_call",
        "tool_response": {"stdout": "", "stderr": ""},
        "error": "Exit code 1\nx",
    }
    answer = claude.tell(event, **given)
    assert "look at line 2" in answer["hookSpecificOutput"]["additionalContext"]
    again = claude.tell(event, **{**given, "tool_use_id": "use3"})
    assert "look at line 2" not in json.dumps(again)
    with Store(str(claude.root)) as store:
        (sent,) = list_notes(store)
    assert sent.sent_to == "claude-code-s1"
    assert sent.sent > 0


def test_a_note_for_another_session_waits_on(claude: Harness) -> None:
    claude.tell("PostToolUse", **BASH, tool_response={"stdout": "1\n2\n", "stderr": ""})
    note(claude.root, "not for you", "claude-code-s2")
    assert claude.tell("UserPromptSubmit", prompt="go on") is None


@pytest.mark.parametrize(
    ("name", "event", "given", "key"),
    [
        ("opencode", "tool.execute.after", {"output": "c"}, "append"),
        ("cursor", "postToolUse", {"tool_output": "c"}, "additional_context"),
        ("codex", "PostToolUse", {"tool_response": "c"}, "hookSpecificOutput"),
        ("gemini", "AfterTool", {"tool_response": {"llmContent": "c"}}, "hookSpecificOutput"),
    ],
)
def test_each_harness_is_told_in_its_own_way(
    name: str, event: str, given: dict[str, Any], key: str, claude: Harness
) -> None:
    claude.tell("PostToolUse", **BASH, tool_response={"stdout": "1\n2\n", "stderr": ""})
    note(claude.root, "look here", ANYONE)
    answer = Harness(name, claude.root, claude.cwd).tell(event, tool_name="x", **given)
    assert "look here" in json.dumps(answer.pop(key))
    assert answer == {}


# mode shape


def test_a_large_result_is_shown_as_its_view(claude: Harness) -> None:
    answer = claude.tell("PostToolUse", "shape", **MCP, tool_response=[{"type": "text", "text": LARGE}])
    ((block,),) = [answer["hookSpecificOutput"]["updatedToolOutput"]]
    (buffer,) = claude.buffers()
    assert buffer.ref in block["text"]
    assert len(block["text"]) < 10_000
    claude.tell("PostToolBatch", tool_calls=[{**MCP, "tool_response": [block]}])
    ((view, text),) = claude.views()  # logged once, though the harness tells of it, too
    assert text == block["text"]
    assert json.loads(view.request)["alone_bytes"] == 2_250


def test_a_large_output_of_a_command_is_shown_as_its_view(claude: Harness) -> None:
    response = {"stdout": LARGE, "stderr": "", "interrupted": False, "isImage": False, "persistedOutputSize": 1}
    answer = claude.tell("PostToolUse", "shape", **BASH, tool_response=response)
    output = answer["hookSpecificOutput"]["updatedToolOutput"]
    assert set(output) == {"stdout", "stderr", "interrupted", "isImage"}  # any other shape is silently ignored
    assert "[… " in output["stdout"]


@pytest.mark.parametrize(
    ("event", "given"),
    [
        ("PostToolUse", {**MCP, "tool_response": [{"type": "text", "text": "short"}]}),
        ("PostToolUseFailure", {**BASH, "error": "Exit code 1\n" + LARGE[:9000]}),
        ("PostToolUse", {**MCP, "tool_name": "WebFetch", "tool_response": {"result": LARGE, "code": 200}}),
    ],
)
def test_what_is_short_or_cannot_be_replaced_stays(event: str, given: dict[str, Any], claude: Harness) -> None:
    assert claude.tell(event, "shape", **given) is None
    assert len(claude.buffers()) == 1


@pytest.mark.parametrize("mode", ["record", "keep"])
def test_only_mode_shape_replaces_anything(mode: str, claude: Harness) -> None:
    assert claude.tell("PostToolUse", mode, **MCP, tool_response=[{"type": "text", "text": LARGE}]) is None


def test_each_harness_has_its_own_way_of_replacing(claude: Harness) -> None:
    block = {"type": "text", "text": LARGE}
    codex = Harness("codex", claude.root, claude.cwd).tell(
        "PostToolUse", "shape", **MCP, tool_response={"content": [block]}
    )
    assert set(codex) == {"decision", "reason"}
    assert codex["decision"] == "block"
    shell = {"tool_name": "run_shell_command", "tool_input": {"command": "seq"}}
    response = {"llmContent": LARGE, "returnDisplay": LARGE}
    gemini = Harness("gemini", claude.root, claude.cwd).tell("AfterTool", "shape", **shell, tool_response=response)
    assert gemini["decision"] == "deny"
    opencode = Harness("opencode", claude.root, claude.cwd).tell("tool.execute.after", "shape", **MCP, content=[block])
    assert set(opencode) == {"output"}
    for answer in (codex["reason"], gemini["reason"], opencode["output"]):
        assert "[… " in answer


def test_the_timeline_tells_what_the_harness_alone_would_have_shown(claude: Harness, cli: Any) -> None:
    """Also where that is less: of 60 kB on one line a view has more than Claude Code's preview."""
    claude.tell("PostToolUse", "shape", **MCP, tool_response=[{"type": "text", "text": LARGE[:40_000]}])
    told = cli("timeline", SIGHTLINE_HOME=str(claude.root)).out
    assert "alone 39.1 KiB" in told
    assert "1 of them through known harnesses: shown" in told
    assert " saved\n" in told
    another = {**MCP, "tool_use_id": "use_of_the_second_call"}
    claude.tell("PostToolUse", "shape", **another, tool_response=[{"type": "text", "text": "x" * 60_000}])
    data = cli("timeline", "--json", SIGHTLINE_HOME=str(claude.root)).data
    assert [call["alone_bytes"] for call in data["calls"]] == [40_000, 2_250]
    assert data["calls"][1]["bytes_shown"] > 2_250
    total = data["totals"]["accounted"]
    assert total["saved_bytes"] == 42_250 - total["shown_bytes"]


# what it is made of


def test_facts_are_whole() -> None:
    for name, facts in known().items():
        assert facts.name == name
        assert len({hook.event for hook in facts.hooks}) == len(facts.hooks)
        assert all(set(hook.modes) <= set(MODES) for hook in facts.hooks)
        assert facts.rewrites == any(hook.when == "before" for hook in facts.hooks)
        assert facts.missing or not facts.servers
        assert not facts.hooks or facts.project_settings("/p")[1]


def test_rules_are_for_the_harness_whose_commands_are_rewritten() -> None:
    rules = {
        name: harness.allow_rules("/x/script", "set -o this") for name, harness in known().items() if harness.hooks
    }
    assert rules.pop("claude-code") == ("Bash(/x/script:*)", "Bash(set -o this)")
    assert set(rules.values()) == {()}


@pytest.mark.parametrize("name", ["", "base", "call", "claude_code", "claude-code-transcript", "hal", "../x", "a.b"])
def test_what_is_no_harness_is_not_found(name: str) -> None:
    assert find(name) is None


def test_the_plugin_calls_the_hook() -> None:
    text = OPENCODE.plugin(hook_words("opencode", "tool.execute.after", "shape"), "")
    assert json.dumps(hook_words("opencode", "tool.execute.after", "shape")) in text
    assert '"tool.execute.after": async (input, output) => {' in text
    assert "%" not in text


@pytest.mark.parametrize(
    "words",
    [
        ("hal", "PostToolUse"),
        ("codex", "NoSuch"),
        ("vscode", "x"),
        ("codex", "PostToolUse", "--mode", "loud"),
        ("codex",),
    ],
)
def test_a_person_who_mistypes_is_told(words: tuple[str, ...], cli: Any) -> None:
    done = cli("hook", *words)
    assert done.code == 2
    assert re.search("^usage: sightline hook|codex has .*PostToolUse", done.err)


def test_a_person_can_give_an_event_by_hand(cli: Any) -> None:
    given = {**MCP, "session_id": "s", "cwd": "/", "tool_response": [{"type": "text", "text": "found"}]}
    done = cli("hook", "claude-code", "PostToolUse", stdin=json.dumps(given).encode())
    assert (done.code, done.out, done.err) == (0, "", "")
    assert "mcp__a__b" in cli("list").out


# what a hook has put into a pipeline


def rewritten(claude: Harness, command: str, mode: str = "keep") -> str:
    """What the hook before a command makes of it."""
    answer = claude.tell("PreToolUse", mode, **{**BASH, "tool_input": {"command": command}})
    return str(answer["hookSpecificOutput"]["updatedInput"]["command"])


def piped(claude: Harness, command: str, mode: str = "keep", env: dict[str, str] | None = None) -> tuple[str, bytes]:
    """What becomes of a command, and what it then prints."""
    made = rewritten(claude, command, mode)
    done = subprocess.run(
        ["bash", "-c", made],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        timeout=60,
        env={**os.environ, **(env or {})},
    )
    return made, done.stdout


@pytest.mark.usefixtures("piping")
def test_the_code_of_a_rewritten_command_is_known_afterwards(claude: Harness) -> None:
    made, output = piped(claude, "sh -c 'seq 1 20000; exit 3'")
    (buffer,) = claude.buffers()
    assert (buffer.note, buffer.command) == ("merged", "sh -c 'seq 1 20000; exit 3'")
    assert buffer.exit_code in (3, None)  # as far as the system tells
    assert output == claude.content(buffer) == LARGE.encode()
    use = {**BASH, "tool_input": {"command": made}}
    claude.tell("PostToolUseFailure", **use, error="Exit code 3\n1\n... [200 characters truncated] ...\n6\n")
    (buffer,) = claude.buffers()
    assert buffer.exit_code == 3
    assert list((claude.root / "hooks").glob("*.json")) == []


@pytest.mark.usefixtures("piping")
def test_what_goes_into_filters_is_kept_beside_what_comes_of_them(claude: Harness) -> None:
    made, output = piped(claude, "seq 1 20000 | tail -2")
    assert output == b"19999\n20000\n"
    use = {**BASH, "tool_input": {"command": made}}
    claude.tell("PostToolUse", **use, tool_response={"stdout": "19999\n20000", "stderr": ""})
    unfiltered, filtered = claude.buffers()
    assert (filtered.command, filtered.exit_code) == ("seq 1 20000 | tail -2", 0)
    assert (unfiltered.command, unfiltered.exit_code, unfiltered.origin) == ("seq 1 20000", None, filtered.name)
    assert claude.content(unfiltered) == LARGE.encode()
    original = {**BASH, "tool_input": {"command": "seq 1 20000 | tail -2"}}
    claude.tell("PostToolBatch", tool_calls=[{**original, "tool_response": "19999\n20000"}])
    ((view, _),) = claude.views()
    assert view.refs == (filtered.name, unfiltered.name)
    assert view.shown == (Shown(filtered.name, "out", 1, 2),)
    assert view.matched == (Shown(unfiltered.name, "out", 19_999, 20_000),), "a filter came between"


@pytest.mark.usefixtures("piping")
def test_filters_that_have_seen_enough_end_the_command(claude: Harness) -> None:
    _, output = piped(claude, "yes | head -1")
    (buffer,) = claude.buffers()
    assert output == b"y\n"
    assert (buffer.state, buffer.note) == ("sealed", "cut by filter")


@pytest.mark.usefixtures("piping")
def test_what_a_command_leaves_running_does_not_hold_it_up(claude: Harness, tmp_path: Path) -> None:
    """It goes on to write where it would have, which is not kept."""
    os.mkfifo(tmp_path / "gate")
    made = rewritten(claude, f"sh -c '(cat {tmp_path}/gate; echo late) & echo early'")
    shell = subprocess.Popen(["bash", "-c", made], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert shell.stdout
    assert shell.wait(timeout=60) == 0
    (buffer,) = claude.buffers()
    assert buffer.state == "sealed"
    assert "not kept" in buffer.note
    (tmp_path / "gate").write_text("")
    with shell.stdout as output:
        assert output.read() == b"early\nlate\n"
    assert claude.content(buffer) == b"early\n"


@pytest.mark.usefixtures("piping")
def test_without_a_store_the_pipe_passes_all_on(claude: Harness, tmp_path: Path) -> None:
    (tmp_path / "none").write_text("")
    for mode in ("keep", "shape"):
        _, output = piped(claude, "seq 1 20000", mode, env={"SIGHTLINE_HOME": str(tmp_path / "none")})
        assert output == LARGE.encode()


def test_in_mode_shape_the_agent_sees_our_view(claude: Harness) -> None:
    made, output = piped(claude, "seq 1 20000", "shape")
    assert len(output) < 2000
    assert "[…".encode() in output
    assert b"exit_code" not in output  # the harness tells it, and we do not know it yet
    claude.tell("PostToolBatch", tool_calls=[{**BASH, "tool_response": output.decode().rstrip()}])
    ((_, text),) = claude.views()
    assert text.encode() == output
    assert str(claude.cwd / FILE) in made


def test_in_mode_shape_what_is_short_is_what_it_was(claude: Harness) -> None:
    assert piped(claude, "echo hi", "shape")[1] == b"hi\n"
    assert piped(claude, "true", "shape")[1] == b""


def test_in_mode_shape_what_can_no_longer_be_kept_is_printed(
    claude: Harness, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rewritten(claude, "seq 1 3", "shape")
    pending = recall("use_of_the_first_call")
    assert pending
    kept = PendingCapture(pending, os.open(os.devnull, os.O_WRONLY))
    kept.take("out", memoryview(b"1\n2\n"))
    monkeypatch.setattr(Recording, "seal", lambda *_, **__: 1 / 0)
    kept.take("out", memoryview(b"3\n"))
    kept.end(None, cut=False, left_open=False)
    assert capfd.readouterr().out == "1\n2\n3\n"
    assert "ZeroDivisionError" in (claude.root / "hooks.log").read_text()
