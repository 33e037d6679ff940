"""What is kept of what harnesses tell after a tool, and what the log says that their models were shown."""

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.hooks import tool_result as record
from sightline.agents.hooks.command_line import hook_words
from sightline.agents.hooks.event import answer_to
from sightline.agents.hooks.hook_session import taking_in, wait_until_in
from sightline.base.records import Gap, LinePart, Shown
from sightline.harnesses.base import AFTER, BATCH
from sightline.verbs.command_view import ending_of
from sightline_tui.common.phrases import duration, facts
from tests.store.agents.hooks.hook_kit import Harness, claude_cut, process

LINES = "".join(f"{number}\n" for number in range(1, 101))
LONG = "".join(f"{number}\n" for number in range(1, 30_001))
"""More than Claude Code keeps of a command."""


def bash(command: str = "make", use: str = "use1") -> dict[str, Any]:
    """A use of Claude Code's shell."""
    return {"tool_name": "Bash", "tool_use_id": use, "tool_input": {"command": command}}


def batch(one: dict[str, Any], shown: Any) -> dict[str, Any]:
    """What its model is shown of a use."""
    return {"tool_calls": [{**one, "tool_response": shown}]}


def test_a_command_that_was_left_alone_is_kept_from_what_the_harness_gives(claude: Harness) -> None:
    assert claude.tell("PostToolUse", **bash(), tool_response={"stdout": LINES, "stderr": "oh\n"}) is None
    (buffer,) = claude.buffers()
    assert (buffer.kind, buffer.command, buffer.exit_code, buffer.state) == ("cmd", "make", 0, "sealed")
    assert (buffer.session, buffer.cwd) == ("claude-code-s1", str(claude.cwd))
    assert (claude.content(buffer), claude.content(buffer, "err")) == (LINES.encode(), b"oh\n")


def test_a_command_took_as_long_as_the_harness_says_or_nobody_knows(claude: Harness) -> None:
    """Its hook runs after its end, so the time in which it was stored says nothing."""
    told = {"stdout": LINES, "stderr": ""}
    claude.tell("PostToolUse", **bash(use="use1"), tool_response=told, duration_ms=2500)
    claude.tell("PostToolUseFailure", **bash(use="use2"), error="Exit code 1\nno", duration_ms=1500)
    claude.tell("PostToolUse", **bash(use="use3"), tool_response=told)
    took = {buffer.artifact[-1]: buffer for buffer in claude.buffers()}
    assert took["1"].seconds == pytest.approx(2.5)
    assert took["2"].seconds == pytest.approx(1.5)
    assert took["3"].seconds is None
    assert ending_of(took["3"]).seconds is None
    assert "ms" not in " ".join(facts(took["3"], took["3"].created))
    assert duration(took["3"], took["3"].created) == ""


@pytest.mark.parametrize("kind", [AFTER, BATCH])
def test_the_hook_at_a_turns_end_waits_for_what_is_taken_in(claude: Harness, kind: str) -> None:
    """Claude Code waits for none of that, and would end the hook that logs a batch when it ends."""
    (claude.root / "hooks").mkdir(parents=True)
    ended = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        with taking_in("claude-code-s1", kind):
            turn = pool.submit(lambda: (claude.tell("Stop"), ended.is_set()))
            assert claude.tell("PostToolUse", **bash(), tool_response={"stdout": LINES, "stderr": ""}) is None
            assert not turn.done()
            ended.set()
        assert turn.result(60) == (None, True)
    assert list((claude.root / "hooks").glob("*.[ab]*")) == []


@pytest.mark.parametrize("agent", [{}, {"agent_id": "a1"}], ids=["the agent", "a helper"])
def test_a_batch_is_logged_once_the_results_in_it_are_kept(claude: Harness, agent: dict[str, str]) -> None:
    (claude.root / "hooks").mkdir(parents=True)
    with ThreadPoolExecutor(1) as pool:
        with taking_in("claude-code-s1", AFTER):
            logged = pool.submit(claude.tell, "PostToolBatch", **batch(bash(), LINES), **agent)
            claude.tell("PostToolUse", **bash(), tool_response={"stdout": LINES, "stderr": ""}, **agent)
            assert not logged.done()
        logged.result(60)
    [buffer], [(view, _)] = claude.buffers(), claude.views()
    assert view.refs == (buffer.name,)


@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure"])
def test_nobody_waits_for_what_a_result_is_kept_with(claude: Harness, event: str) -> None:
    """The process that the harness started ends; a second one goes on, which holds the lock until its end."""
    (claude.root / "hooks").mkdir(parents=True)
    told = {"error": "Exit code 1\nno", "tool_response": {"stdout": LINES, "stderr": ""}}
    data = json.dumps({"session_id": "s1", "cwd": str(claude.cwd), **bash(), **told}).encode()
    assert answer_to(["claude-code", event, "--mode", "keep"], data, apart=lambda: False) == b""
    assert claude.buffers() == []
    ran = process(hook_words("claude-code", event, "keep"), data, claude.root)
    assert (ran.stdout, ran.stderr) == (b"", b"")
    wait_until_in("claude-code-s1")
    assert [buffer.state for buffer in claude.buffers()] == ["sealed"]


@pytest.mark.parametrize("why", ["a note waits", "the result may be replaced", "no lock is held"])
def test_a_hook_that_may_have_something_to_say_is_waited_for(claude: Harness, why: str) -> None:
    """Without the lock, nothing could wait for what it keeps."""
    claude.root.mkdir()
    if why != "no lock is held":
        (claude.root / "hooks").mkdir()
    if why == "a note waits":
        (claude.root / "outbox").mkdir()
        (claude.root / "outbox" / "note").touch()
    mode = "shape" if why == "the result may be replaced" else "keep"
    told = {"session_id": "s1", "cwd": str(claude.cwd), **bash(), "tool_response": {"stdout": LINES, "stderr": ""}}
    answer_to(["claude-code", "PostToolUse", "--mode", mode], json.dumps(told).encode(), apart=pytest.fail)
    assert len(claude.buffers()) == 1


def persisted(folder: Path, text: str = "", session: str = "s1") -> Path:
    """A file that Claude Code keeps the whole of an output in."""
    path = folder / ".claude" / "projects" / "-p" / session / "tool-results" / "b1.txt"
    path.parent.mkdir(parents=True)
    if text:
        path.write_text(text)
    return path


def test_the_whole_comes_from_the_harness_own_file(claude: Harness, tmp_path: Path) -> None:
    about = {"persistedOutputPath": str(persisted(tmp_path, LINES * 10)), "persistedOutputSize": len(LINES) * 10}
    claude.tell("PostToolUse", **bash(), tool_response={"stdout": LINES, "stderr": "", **about})
    (buffer,) = claude.buffers()
    assert claude.content(buffer) == (LINES * 10).encode()
    assert buffer.note == "merged"


def test_a_file_that_is_never_whole_is_not_taken_for_it(
    claude: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "TURN_SECONDS", 0)
    about = {"persistedOutputPath": str(persisted(tmp_path, LINES)), "persistedOutputSize": len(LINES) + 1}
    claude.tell("PostToolUse", **bash(), tool_response={"stdout": "1\n2\n", "stderr": "", **about})
    (buffer,) = claude.buffers()
    assert claude.content(buffer) == b"1\n2\n"
    assert (buffer.note, buffer.partial) == ("merged", "cut by Claude Code")


@pytest.mark.parametrize(
    "kind", ["link", "link to a folder", "pipe", "folder", "elsewhere", "another session", "other", "too large", "nul"]
)
def test_nothing_but_a_file_that_the_harness_keeps_outputs_in_is_read(
    kind: str, claude: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, secret = persisted(tmp_path), tmp_path / "secret"
    secret.write_text("secret")
    named = str(path)
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
            named = str(secret)
        case "another session":
            named = str(persisted(tmp_path, "secret", session="s2"))
        case "other":
            path.write_text("secret")
            named = f"{path.parent}/../tool-results/b1.txt"
        case "too large":
            path.write_text("secret")
            monkeypatch.setattr(record, "LARGEST_WHOLE_BYTES", 3)
        case "nul":
            named = f"{path.parent}/b\0.txt"
    response = {"stdout": "1\n2\n", "stderr": "", "persistedOutputPath": named, "persistedOutputSize": 6}
    claude.tell("PostToolUse", **bash(), tool_response=response)
    (buffer,) = claude.buffers()
    assert claude.content(buffer) == b"1\n2\n"
    assert buffer.partial == "cut by Claude Code"


def test_of_a_failing_command_the_code_and_what_is_missing_are_known(claude: Harness) -> None:
    error = claude_cut(f"Exit code 3\n{LONG[:30_000]}")
    claude.tell("PostToolUseFailure", **bash(), error=error)
    claude.tell("PostToolUseFailure", **bash(use="use2"), error="Command was aborted")
    first, second = claude.buffers()
    assert (first.exit_code, first.note, first.partial) == (3, "merged", "cut by Claude Code")
    head, tail = LONG[:4_988], LONG[25_000:30_000]
    assert claude.content(first).decode() == head + tail
    lines = len(head.splitlines())
    assert first.gaps == (Gap("out", lines, 20_012), Gap("out", first.lines, None)), "its end was dropped before"
    assert (second.exit_code, second.note, second.partial) == (None, "merged", "")


def test_of_a_failing_command_that_is_short_enough_for_both_halves_nothing_else_is_missing(claude: Harness) -> None:
    claude.tell("PostToolUseFailure", **bash(), error=claude_cut(f"Exit code 1\n{LONG[:18_000]}"))
    (buffer,) = claude.buffers()
    assert [gap.amount for gap in buffer.gaps] == ["8,012 characters"]
    assert claude.content(buffer).decode().endswith(LONG[13_000:18_000])


@pytest.mark.parametrize("around", ["\n", "\n\n", "\n\n" + "x" * 3_000 + "\n\n"])
def test_what_a_command_wrote_that_looks_like_the_mark_of_a_cut_is_its_output(claude: Harness, around: str) -> None:
    wrote = f"a{around}... [5 characters truncated] ...\n\nb\n"
    claude.tell("PostToolUseFailure", **bash(), error=f"Exit code 1\n{wrote}")
    (buffer,) = claude.buffers()
    assert (claude.content(buffer).decode(), buffer.is_partial) == (wrote, False)


def test_the_lines_on_both_sides_of_a_cut_are_known_to_have_been_shown(claude: Harness) -> None:
    error = claude_cut(f"Exit code 3\n{LONG[:30_000]}")
    claude.tell("PostToolUseFailure", **bash(), error=error)
    claude.tell("PostToolBatch", **batch(bash(), error))
    ((view, text),) = claude.views()
    (buffer,) = claude.buffers()
    cut = buffer.gaps[0].after
    assert text == error
    assert view.shown == (Shown(buffer.name, "out", 1, cut), Shown(buffer.name, "out", cut + 1, buffer.lines))
    assert (view.lines_shown, view.truncated) == (buffer.lines, True)


def test_a_command_in_the_background_has_not_ended(claude: Harness) -> None:
    claude.tell("PostToolUse", **bash(), tool_response={"stdout": "", "backgroundTaskId": "b1"})
    assert claude.buffers() == []


def test_of_a_line_that_the_model_was_shown_the_ends_of_these_alone_are_seen(claude: Harness, tmp_path: Path) -> None:
    line = " ".join(str(number) for number in range(20_000))
    about = {"persistedOutputPath": str(persisted(tmp_path, line + "\n")), "persistedOutputSize": len(line) + 1}
    claude.tell("PostToolUse", **bash(), tool_response={"stdout": line[:30_000], "stderr": "", **about})
    claude.tell("PostToolBatch", **batch(bash(), f"<persisted-output>\n{line[:2_000]}\n...\n</persisted-output>"))
    ((view, _),) = claude.views()
    (buffer,) = claude.buffers()
    assert (view.shown, view.matched, view.lines_shown, view.truncated) == ((), (), 0, True)
    assert view.parts == (LinePart(buffer.name, "out", 1, len(line), ((1, 2_000),), matched=True),)


def test_the_view_is_exactly_what_the_model_was_shown(claude: Harness) -> None:
    claude.tell("PostToolUse", **bash(), tool_response={"stdout": LINES, "stderr": ""})
    shown = "1\n2\n3\n[cut]\n99\n100"
    claude.tell("PostToolBatch", **batch(bash(), shown))
    ((view, text),) = claude.views()
    (buffer,) = claude.buffers()
    assert text == shown
    assert view.matched == (Shown(buffer.name, "out", 1, 3), Shown(buffer.name, "out", 99, 100))
    assert view.shown == (), "lines that are recognised are not known to have been shown"
    assert (view.refs, view.lines_shown, view.lines_total, view.truncated) == ((buffer.name,), 5, 100, True)
    request = json.loads(view.request)
    assert (request["command"], request["alone_bytes"]) == ("make", len(shown))
    assert request["caller"] == {"client": "claude-code", "harness_session": "s1", "tool_use": "use1"}


@pytest.mark.parametrize(
    ("output", "shown", "lines"),
    [
        ("x\n" * 5_000, "x\n" * 5_000, 5_000),
        ("x\n" * 3, "Exit code 1\nx\nx\nx", 3),
        ("\ta\n\n\nb  \n", "\ta\n\n\nb  ", 4),
        ("x", "max", 0),
        ("a\nb\nc\n", "b\na", 1),
    ],
    ids=["alike", "after a line of the harness", "blank lines", "within a word", "not in order"],
)
def test_which_lines_stand_in_it_is_told_where_it_can_be(output: str, shown: str, lines: int, claude: Harness) -> None:
    claude.tell("PostToolUse", **bash(), tool_response={"stdout": output, "stderr": ""})
    claude.tell("PostToolBatch", **batch(bash(), shown))
    ((view, _),) = claude.views()
    assert view.lines_shown == lines


def test_a_file_that_was_read_is_a_version_of_the_file(claude: Harness, tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_text(LINES)
    file = {"filePath": str(path), "content": "10\n11\n12", "startLine": 10, "numLines": 3, "totalLines": 101}
    for use in ("use1", "use2"):
        one = {"tool_name": "Read", "tool_use_id": use, "tool_input": {"file_path": str(path)}}
        claude.tell("PostToolUse", **one, tool_response={"type": "text", "file": file})
        claude.tell("PostToolBatch", **batch(one, "10\t10\n11\t11\n12\t12"))
    (buffer,) = claude.buffers()
    assert (buffer.kind, buffer.command) == ("file", str(path))
    assert claude.content(buffer) == LINES.encode()
    assert [view.matched for view, _ in claude.views()] == [(Shown(buffer.name, "out", 10, 12),)] * 2


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini", "opencode"])
def test_it_is_said_what_went_into_a_filter_unseen(name: str, root: Path, tmp_path: Path) -> None:
    """A loop gets no pipe of ours in any harness."""
    harness = Harness(name, root, tmp_path)
    tool = {"gemini": "run_shell_command", "opencode": "bash"}.get(name, "Bash")
    command = "for i in 1 2 3; do case $i in 2) ;; *) make $i;; esac; done | tail -2"
    given = {"tool_name": tool, "tool_use_id": "toolu_of_the_first_call", "tool_input": {"command": command}}
    response: Any = {"stdout": "ok", "stderr": ""} if name == "claude-code" else "ok"
    response = {"llmContent": "Output: ok\nExit Code: 0"} if name == "gemini" else response
    event = {"gemini": "AfterTool", "opencode": "tool.execute.after"}.get(name, "PostToolUse")
    harness.tell(event, **given, tool_response=response, output="ok", metadata={"exit": 0})
    (buffer,) = harness.buffers()
    assert (buffer.note, buffer.partial) == ("merged; what went into tail was not seen", "")


@pytest.mark.parametrize("others", ["", "and more\n"], ids=["the file", "another file"])
def test_an_empty_line_at_the_end_of_what_was_read_counts_as_shown(
    claude: Harness, tmp_path: Path, others: str
) -> None:
    path = tmp_path / "text"
    path.write_text(others + "one\ntwo\n\nfour\n")
    file = {"filePath": str(path), "content": "one\ntwo\n", "startLine": 1, "numLines": 3, "totalLines": 5}
    one = {"tool_name": "Read", "tool_use_id": "use1", "tool_input": {"file_path": str(path), "limit": 3}}
    claude.tell("PostToolUse", **one, tool_response={"type": "text", "file": file})
    claude.tell("PostToolBatch", **batch(one, "1\tone\n2\ttwo\n3\t"))
    ((view, _),) = claude.views()
    assert view.lines_shown == 3
    assert not others or [claude.content(one, "part.0") for one in claude.buffers() if one.kind == "tool"] == [
        b"one\ntwo\n\n"
    ]


def test_what_no_longer_stands_in_the_file_is_kept_as_it_was_read(claude: Harness, tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_text("others\n")
    file = {"filePath": str(path), "content": "1\n2\n", "startLine": 1}
    one = {"tool_name": "Read", "tool_use_id": "use1", "tool_input": {"file_path": str(path)}}
    claude.tell("PostToolUse", **one, tool_response={"type": "text", "file": file})
    assert [claude.content(one, "part.0") for one in claude.buffers() if one.kind == "tool"] == [b"1\n2\n"]


@pytest.mark.parametrize(
    ("response", "streams"),
    [
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], {"part.0": b"one", "part.1": b"two"}),
        ([{"type": "image", "data": "aGk=", "mimeType": "image/png"}], {"part.0": b"hi"}),
        ({"type": "image", "file": {"base64": "aGk=", "type": "image/png"}}, {"part.0": b"hi"}),
        ('{"a": [1, 2]}', {"part.0": b'{"a": [1, 2]}'}),
        ({"filenames": ["a", "b"], "numFiles": 2}, {"part.0": b"a\nb\n"}),
        ({"mode": "content", "content": "x:1\ny:2"}, {"part.0": b"x:1\ny:2"}),
        ({"code": 200, "result": "a page"}, {"part.0": b"a page"}),
        ({"odd": True}, {"part.0": b'{"odd": true}'}),
        ("", {}),
    ],
    ids=lambda value: json.dumps(value, default=str)[:30],
)
def test_any_result_is_kept(response: Any, streams: dict[str, bytes], claude: Harness) -> None:
    one = {"tool_name": "mcp__maps__find", "tool_use_id": "use1", "tool_input": {"place": "here"}}
    claude.tell("PostToolUse", **one, tool_response=response)
    claude.tell("PostToolUse", **one, tool_response=response)  # told twice, kept once
    (buffer,) = claude.buffers()
    assert (buffer.kind, buffer.command) == ("tool", 'mcp__maps__find {"place":"here"}')
    assert {name: claude.content(buffer, name) for name in buffer.streams} == streams


@pytest.mark.parametrize("name", ["claude-code", "opencode"])
def test_two_hooks_of_ours_at_one_event_record_it_once(name: str, root: Path, tmp_path: Path) -> None:
    """A person's and a project's settings may both have them; they run beside each other."""
    one = {
        "tool_name": "Bash" if name == "claude-code" else "bash",
        "tool_use_id": "use1",
        "tool_input": {"command": "make"},
    }
    events: dict[str, dict[str, Any]] = {
        "claude-code": {
            "PostToolUse": {**one, "tool_response": {"stdout": "x\n", "stderr": ""}},
            "PostToolBatch": batch(one, "x"),
        },
        "opencode": {"tool.execute.after": {**one, "output": "x\n", "metadata": {"exit": 0}}},
    }
    for event, given in events[name].items():
        data = json.dumps({"session_id": "s1", "cwd": str(tmp_path), **given}).encode()
        with ThreadPoolExecutor(4) as pool:
            hooks = [pool.submit(process, hook_words(name, event, mode), data, root) for mode in ("keep", "record") * 2]
        assert {hook.result().returncode for hook in hooks} == {0}
    harness = Harness(name, root, tmp_path)
    assert [buffer.command for buffer in harness.buffers()] == ["make"]
    assert len(harness.views()) == 1
    assert not (root / "hooks.log").exists()


@pytest.mark.parametrize("tool", ["mcp__sightline__run_command", "mcp__plugin_sightline_sightline__query"])
def test_our_own_tools_are_not_recorded_twice(tool: str, claude: Harness) -> None:
    one = {"tool_name": tool, "tool_use_id": "use1", "tool_input": {}}
    claude.tell("PostToolUse", **one, tool_response=[{"type": "text", "text": "x"}])
    claude.tell("PostToolBatch", **batch(one, "x"))
    assert not claude.root.exists()


def test_what_the_agent_said_itself_makes_no_buffer(claude: Harness) -> None:
    one = {"tool_name": "Edit", "tool_use_id": "use1", "tool_input": {"file_path": "x", "new_string": "y" * 9000}}
    claude.tell("PostToolUse", **one, tool_response={"filePath": "x", "originalFile": "z" * 9000})
    claude.tell("PostToolBatch", **batch(one, "The file x has been updated."))
    assert claude.buffers() == []
    ((view, text),) = claude.views()
    assert text == "The file x has been updated."
    assert 9_000 < len(view.request) < 10_000  # whole, without what the tool says of the file


def test_nothing_is_kept_where_nothing_may_be(claude: Harness) -> None:
    claude.root.mkdir()
    (claude.root / "config.toml").write_text(f'[directories."{claude.cwd}"]\ncapture = "off"\n')
    claude.tell("PostToolUse", **bash(), tool_response={"stdout": LINES, "stderr": ""})
    claude.tell("PostToolBatch", **batch(bash(), LINES))
    assert (claude.buffers(), claude.views()) == ([], [])


def test_a_change_of_a_file_is_no_view_of_what_was_read_of_it(claude: Harness, tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_text(LINES)
    file = {"filePath": str(path), "content": LINES, "startLine": 1}
    one = {"tool_name": "Read", "tool_use_id": "use1", "tool_input": {"file_path": str(path)}}
    claude.tell("PostToolUse", **one, tool_response={"type": "text", "file": file})
    claude.tell("PostToolBatch", **batch({**one, "tool_name": "Edit", "tool_use_id": "use2"}, "It has been updated."))
    assert [view.refs for view, _ in claude.views()] == [()]


def test_what_hooks_keep_stays_within_the_limits(claude: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_MAX_BUFFERS", "2")
    for number in range(4):
        claude.tell("PostToolUse", **bash(use=f"use{number}"), tool_response={"stdout": f"{number}\n", "stderr": ""})
    left = [buffer for buffer in claude.buffers() if buffer.state != "evicted"]
    assert [claude.content(buffer) for buffer in left] == [b"2\n", b"3\n"]


# other harnesses: events as they were seen to give them


def other(claude: Harness, name: str) -> Harness:
    """A session of another harness."""
    return Harness(name, claude.root, claude.cwd)


def test_codex_tells_what_its_model_sees(claude: Harness) -> None:
    codex = other(claude, "codex")
    cut = "Warning: truncated output (original token count: 27224)\nTotal output lines: 20000\n\n1\n2\n"
    codex.tell("PostToolUse", **bash(), tool_response=cut)
    codex.tell("PostToolUse", **bash(use="use2"), tool_response="hi\n")
    answer = {"content": [{"type": "text", "text": "found"}], "isError": False}
    codex.tell("PostToolUse", tool_name="mcp__a__b", tool_use_id="use3", tool_input={}, tool_response=answer)
    first, second, third = codex.buffers()
    assert (codex.content(first), first.note, first.partial) == (b"1\n2\n", "merged", "cut by Codex")
    assert (codex.content(second), second.exit_code) == (b"hi\n", None)
    assert codex.content(third, "part.0") == b"found"
    assert [text for _, text in codex.views()] == [cut, "hi\n", "found"]
    assert [view.lines_shown for view, _ in codex.views()] == [2, 1, 1]


def test_gemini_gives_all_of_it_and_its_code(claude: Harness) -> None:
    gemini = other(claude, "gemini")
    shown = f"<untrusted_context>\nOutput: {LINES}Exit Code: 3\nProcess Group PGID: 1\n</untrusted_context>"
    use = {"tool_name": "run_shell_command", "tool_input": {"command": "make"}}
    gemini.tell("AfterTool", **use, tool_response={"llmContent": shown, "returnDisplay": LINES.strip()})
    (buffer,) = gemini.buffers()
    assert (gemini.content(buffer), buffer.exit_code) == (LINES.strip().encode(), 3)
    ((view, text),) = gemini.views()
    assert (text, view.lines_shown) == (shown, 100)


def test_of_what_gemini_cuts_the_log_says_so_and_claims_nothing(claude: Harness) -> None:
    gemini = other(claude, "gemini")
    lines = "".join(f"{number}\n" for number in range(1, 20_001))
    shown = f"<untrusted_context>\nOutput: {lines}Process Group PGID: 1\n</untrusted_context>"
    use = {"tool_name": "run_shell_command", "tool_input": {"command": "seq"}}
    gemini.tell("AfterTool", **use, tool_response={"llmContent": shown, "returnDisplay": lines})
    ((view, text),) = gemini.views()
    assert (text, f"of {len(shown):,} bytes" in view.unknown) == (f"{shown[:8_000]}\n{shown[-32_000:]}", True)
    assert json.loads(view.request)["alone_bytes"] is None
    head, tail = view.matched
    assert (head.first, tail.last) == (1, 20_000)
    assert head.last < tail.first


def test_a_part_of_a_file_that_gemini_reads_is_found_in_the_file(claude: Harness, tmp_path: Path) -> None:
    gemini = other(claude, "gemini")
    (tmp_path / "numbers").write_text(LINES)
    told = (
        "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 10-12 of 100 total lines.\n"
        "Action: To read more of the file, …\n\n--- FILE CONTENT (truncated) ---\n10\n11\n12"
    )
    gemini.tell(
        "AfterTool",
        tool_name="read_file",
        tool_input={"file_path": "numbers"},
        tool_response={"llmContent": told, "returnDisplay": ""},
    )
    (buffer,) = gemini.buffers()
    ((view, text),) = gemini.views()
    assert (text, view.shown) == (told, (Shown(buffer.name, "out", 10, 12),))


def test_opencode_leaves_the_whole_in_a_file(claude: Harness, tmp_path: Path) -> None:
    opencode = other(claude, "opencode")
    path = tmp_path / "opencode" / "tool-output" / "tool_1"
    path.parent.mkdir(parents=True)
    path.write_text(LINES)
    output = "...output truncated...\n\n98\n99\n100\n"
    opencode.tell(
        "tool.execute.after",
        tool_name="bash",
        tool_use_id="use1",
        tool_input={"command": "make"},
        output=output,
        metadata={"exit": 3, "truncated": True, "outputPath": str(path)},
    )
    (buffer,) = opencode.buffers()
    # its file does not end as the output does, so that it may not be all of it
    assert buffer.exit_code == 3
    ((view, text),) = opencode.views()
    assert (text, json.loads(view.request)["alone_bytes"]) == (output, len(output))


def test_of_a_tool_whose_file_is_not_there_what_is_kept_is_partial(claude: Harness, tmp_path: Path) -> None:
    opencode = other(claude, "opencode")
    opencode.tell(
        "tool.execute.after",
        tool_name="webfetch",
        tool_use_id="use1",
        tool_input={},
        output="1\n2\n",
        metadata={"truncated": True, "outputPath": str(tmp_path / "opencode" / "tool-output" / "gone")},
    )
    (buffer,) = opencode.buffers()
    assert buffer.partial == "cut by opencode"


def _pi(claude: Harness, text: str, *, failed: bool = False, tool: str = "bash", **arguments: str | int) -> Harness:
    pi = other(claude, "pi")
    block = {"type": "text", "text": text}
    about = {"tool_name": tool, "tool_use_id": "use1", "tool_input": arguments or {"command": "make"}}
    assert pi.tell("tool_result", **about, content=[block], is_error=failed) is None
    return pi


def test_pi_names_the_file_with_the_whole_of_a_long_output_of_a_failing_command_too(
    claude: Harness, tmp_path: Path
) -> None:
    path = tmp_path / "pi-bash-0123456789abcdef.log"
    lines = [f"step {number} of the build\n" for number in range(1, 101)]
    path.write_text("".join(lines))
    shown = f"{''.join(lines[59:])}\n\n[Showing lines 60-101 of 101. Full output: {path}]\n\nCommand exited with code 3"
    pi = _pi(claude, shown, failed=True)
    (buffer,) = pi.buffers()
    assert (buffer.exit_code, buffer.partial, pi.content(buffer)) == (3, "", "".join(lines).encode())
    ((view, text),) = pi.views()
    assert text == shown
    assert view.refs == (buffer.name,)


def test_the_file_of_a_long_output_of_pi_may_have_a_last_newline_that_is_not_shown(
    claude: Harness, tmp_path: Path
) -> None:
    path = tmp_path / "pi-bash-0123456789abcdef.log"
    path.write_text("1\n2\n3\n")
    pi = _pi(claude, f"2\n3\n\n[Showing lines 2-3 of 3. Full output: {path}]")
    (buffer,) = pi.buffers()
    assert (buffer.partial, pi.content(buffer)) == ("", b"1\n2\n3\n")


def test_what_a_program_got_from_a_tool_of_pi_is_kept_and_counts_as_shown_to_nobody(claude: Harness) -> None:
    pi, block = other(claude, "pi"), {"type": "text", "text": "1\n2\n"}
    use = {"tool_name": "bash", "tool_use_id": "use1/1", "tool_input": {"command": "seq 2"}}
    told = {"content": [block], "is_error": False, "parent_tool_use_id": "use1"}
    assert pi.tell("tool_result", mode="shape", **use, **told) is None
    (buffer,) = pi.buffers()
    assert (buffer.exit_code, pi.content(buffer)) == (0, b"1\n2\n")
    ((view, text),) = pi.views()
    assert (text, view.shown, view.matched, view.refs) == ("", (), (), (buffer.name,))
    assert view.unknown == "a tool of pi got this result for a program, which chose what to show"


@pytest.mark.parametrize("name", ["pi-bash-0123456789abcdef.log", "other.log", "../pi-bash-0123456789abcdef.log"])
def test_of_pi_a_file_that_is_none_of_its_own_or_ends_otherwise_is_not_taken(
    claude: Harness, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "x" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("nothing of the sort\n")
    pi = _pi(claude, f"99\n100\n\n\n[Showing lines 99-100 of 101 (50.0KB limit). Full output: {path}]")
    (buffer,) = pi.buffers()
    assert (buffer.exit_code, buffer.partial, pi.content(buffer)) == (0, "cut by pi", b"99\n100\n")
    assert buffer.gaps[0].missing == 98


@pytest.mark.parametrize(
    ("text", "failed", "code", "kept"),
    [
        ("(no output)", False, 0, b""),
        ("(no output)\n\nCommand exited with code 1", True, 1, b""),
        ("a\nb\n\n\nCommand exited with code 3", True, 3, b"a\nb\n"),
        ("a\n\n\nCommand timed out after 5 seconds", True, None, b"a\n"),
        (
            "a\n\n\nCommand timed out after 5 seconds. The shell exited with code 0 after 0.1 seconds, but background "
            "processes it started kept writing output until the timeout.",
            True,
            None,
            b"a\n",
        ),
        ("Command aborted", True, None, b""),
        ("a\n\nCommand exited with code 255", True, 255, b"a"),
        ("a\n\nCommand exited with code 999", True, None, b"a\n\nCommand exited with code 999"),
        ("a\n\n\nCommand exited with code 3", False, 0, b"a\n\n\nCommand exited with code 3"),
    ],
)
def test_how_a_command_of_pi_ended_stands_below_its_output(
    claude: Harness, text: str, failed: bool, code: int | None, kept: bytes
) -> None:
    pi = _pi(claude, text, failed=failed)
    (buffer,) = pi.buffers()
    assert buffer.exit_code == code
    assert (pi.content(buffer) if buffer.streams else b"") == kept


def test_words_of_a_command_that_are_no_cut_of_pi_are_its_output(claude: Harness, tmp_path: Path) -> None:
    told = f"a\n\n[Showing lines 0-5 of 9. Full output: {tmp_path}/pi-bash-0123456789abcdef.log]"
    pi = _pi(claude, told)
    (buffer,) = pi.buffers()
    assert (buffer.partial, buffer.gaps, pi.content(buffer)) == ("", (), told.encode())


def test_a_file_that_pi_read_is_one(claude: Harness) -> None:
    (claude.cwd / "a.txt").write_text("a\nb\nc\n")
    pi = _pi(claude, "b\nc\n", tool="read", path="a.txt", offset=2)
    (buffer,) = pi.buffers()
    assert (buffer.kind, buffer.command) == ("file", str(claude.cwd / "a.txt"))


def test_cursor_is_recorded_as_its_manual_says(claude: Harness) -> None:
    cursor = other(claude, "cursor")
    output = json.dumps({"exitCode": 2, "stdout": "hi\n"})
    use = {"tool_name": "Shell", "tool_input": {"command": "make"}, "tool_use_id": "use1"}
    cursor.tell("postToolUse", **use, tool_output=output)
    (buffer,) = cursor.buffers()
    assert (cursor.content(buffer), buffer.exit_code) == (b"hi\n", 2)
