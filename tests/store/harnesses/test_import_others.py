"""Transcripts made by hand after published formats: SWE-agent, mini-swe-agent, Roo Code, older Codex and Gemini CLI."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sightline.audit.buffer_failures import failures_of
from sightline.base.sha256 import sha256_hex
from sightline.log.session_history import events_of
from sightline.store import Store
from tests.store.harnesses.past_kit import Import, Rollout, buffers, read, views, write_lines


def _json(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2))
    return path


def test_swe_agent(store: Store, imported: Import, tmp_path: Path) -> None:
    steps = [
        {"action": "ls", "observation": "a.py\nb.py\n", "execution_time": 0.5, "state": '{"working_dir": "/repo"}'},
        {"action": "python a.py", "observation": "boom\n", "execution_time": 2.0, "state": {"working_dir": "/repo/x"}},
        {"action": "submit", "observation": "diff --git\n", "response": "Done: all tests pass.", "thought": "Done"},
    ]
    history = [
        {"role": "system", "content": "be good", "message_type": "system_prompt"},
        {"role": "assistant", "content": "as shown before", "action": "ls", "is_demo": True},
        {"role": "user", "content": "of a demonstration", "message_type": "observation", "is_demo": True},
        {"role": "user", "content": "mend the parser", "message_type": "observation"},
        {"role": "assistant", "content": "look", "action": "ls", "message_type": "action"},
        {"role": "user", "content": "OBSERVATION:\na.py\nb.py\n", "message_type": "observation"},
        {"role": "assistant", "content": "run", "action": "python a.py", "message_type": "action"},
        {"role": "tool", "content": [{"type": "text", "text": "OBSERVATION:\nboom\n"}], "message_type": "observation"},
    ]
    path = _json(tmp_path / "task-7/task-7.traj", {"trajectory": steps, "history": history, "environment": "main"})
    os.utime(path, (1_700_000_010, 1_700_000_010))
    imported(path)
    assert [(one.command, one.cwd, read(store, one)) for one in buffers(store)] == [
        ("ls", "/repo", b"a.py\nb.py\n"),
        ("python a.py", "/repo/x", b"boom\n"),
        ("submit", "", b"diff --git\n"),
    ]
    assert [text for _, text in views(store)] == ["OBSERVATION:\na.py\nb.py\n", "OBSERVATION:\nboom\n", "diff --git\n"]
    assert [one.created for one in buffers(store)] == [1_700_000_007.5, 1_700_000_008.0, 1_700_000_010.0]
    notes = ["when it ran was not written down"] * 2 + ["its time was not written down"]
    assert [one.note.partition("; ")[2] for one in buffers(store)] == notes
    session = f"swe-agent-task-7-{sha256_hex(str(path).encode())[:8]}"
    assert {one.session for one in buffers(store)} == {session}
    assert [one.text for one in events_of(store, session).messages] == ["Done: all tests pass."]


def test_a_file_that_swe_agent_s_viewer_opens_is_not_checked_for_failures(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    window = "[File: /repo/log.py (2 lines total)]\n1:ERROR: this is source text\n2:raise ValueError\n"
    steps = [
        {"action": action, "observation": window}
        for action in ("open log.py 1", "goto 2", "scroll_down", "str_replace_editor view /repo/log.py")
    ]
    imported(_json(tmp_path / "task-8/task-8.traj", {"trajectory": steps, "history": []}))
    assert [(one.command, failures_of(store, one)) for one in buffers(store)] == [
        (step["action"], ()) for step in steps
    ]


def test_mini_swe_agent(store: Store, imported: Import, tmp_path: Path) -> None:
    told = "<returncode>1</returncode>\n<output>\nno such file\n</output>"
    call = {"id": "c1", "function": {"name": "bash", "arguments": json.dumps({"command": "wc -l *"})}}
    extra = {"raw_output": "3 a\n4 b\n", "returncode": 0, "timestamp": 1_700_000_100.0}
    document = {
        "info": {"mini_version": "2.0.0"},
        "messages": [
            {"role": "system", "content": "be good"},
            {"role": "user", "content": "do it"},
            {
                "role": "assistant",
                "content": "Look:\n```bash\ncat nothing\n```",
                "extra": {"timestamp": 1_700_000_000.0},
            },
            {"role": "user", "content": told, "extra": {"timestamp": 1_700_000_001.0}},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "3 a\n4 b", "extra": extra},
        ],
        "trajectory_format": "mini-swe-agent-1.1",
    }
    imported(_json(tmp_path / "run-1/one.traj.json", document))
    assert [(one.command, one.exit_code, read(store, one)) for one in buffers(store)] == [
        ("cat nothing", 1, b"no such file"),
        ("wc -l *", 0, b"3 a\n4 b\n"),
    ]
    assert [text for _, text in views(store)] == [told, "3 a\n4 b"]
    assert buffers(store)[0].created == 1_700_000_000.0
    assert store.index.sessions()[0].client == "mini-swe-agent 2.0.0"


def test_mini_swe_agent_runs_the_only_block_of_its_language(store: Store, imported: Import, tmp_path: Path) -> None:
    refused = "Please always provide EXACTLY ONE action in triple backticks, found 2 actions."
    ran = "<returncode>0</returncode>\n<output>\nok\n</output>"
    turns = [
        ("As in\n```python\nraise ValueError\n```\nso:\n```bash\nmake\n```", ran),
        ("```bash\nmake one\n```\n```bash\nmake two\n```", refused),
        ("There is nothing to run.", refused),
        ("```bash  \n\nmake last \n```", ran),
    ]
    for name, word, setup in (
        ("plain", "bash", {}),
        ("named", "mswea_bash_command", {}),
        ("set", "sh", {"agent": {"action_regex": "```sh\\s*\\n(.*?)\\n```"}}),
    ):
        messages = [{"role": "system", "content": f"Answer with one ```{word} block."}]
        messages.append({"role": "user", "content": f"mend {name}"})
        for at, (said, answer) in enumerate(turns):
            reply = {"response": {"created": 1_700_000_000 + at}}
            messages.append({"role": "assistant", "content": said.replace("```bash", f"```{word}"), "extra": reply})
            messages.append({"role": "user", "content": answer})
        document = {"info": {"config": setup}, "messages": messages, "trajectory_format": "mini-swe-agent-1"}
        path = _json(tmp_path / name / f"{name}.traj.json", document)
        imported(path)
        session = f"mini-swe-agent-{name}-{sha256_hex(str(path).encode())[:8]}"
        assert [(one.command, one.created) for one in buffers(store) if one.session == session] == [
            ("make", 1_700_000_000.0),
            ("make last", 1_700_000_003.0),
        ]
        assert [(one.text, one.time - 1_700_000_000) for one in events_of(store, session).messages] == [
            (text.replace("```bash", f"```{word}").strip(), at) for at, (text, _) in enumerate(turns)
        ]


def test_an_early_mini_swe_agent_s_bare_list(store: Store, imported: Import, tmp_path: Path) -> None:
    messages = [
        {"role": "assistant", "content": "```bash\necho hi\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\nhi\n</output>"},
    ]
    imported(_json(tmp_path / "old.traj.json", messages))
    (buffer,) = buffers(store)
    assert (buffer.command, buffer.exit_code, read(store, buffer)) == ("echo hi", 0, b"hi")


def test_two_runs_of_one_name_are_two_sessions(store: Store, imported: Import, tmp_path: Path) -> None:
    for run in ("a", "b"):
        messages = [
            {"role": "assistant", "content": "```bash\nmake\n```"},
            {"role": "user", "content": "<returncode>0</returncode>\n<output>\nok\n</output>"},
        ]
        _json(tmp_path / run / "x/x.traj.json", messages)
        _json(tmp_path / run / "x/x.traj", {"trajectory": [{"action": "make", "observation": "ok\n"}], "history": []})
    assert imported(tmp_path).counts.calls == 4
    assert len({one.session for one in buffers(store)}) == 4


def test_roo_code(store: Store, imported: Import, tmp_path: Path) -> None:
    task = tmp_path / "tasks/0199-task"
    artifact = task / "command-output/cmd-1706119234567.txt"
    artifact.parent.mkdir(parents=True)
    artifact.write_text("line\n" * 9_000)
    (artifact.parent / "cmd-1706119239999.txt").write_text("of nobody knows what\n")
    (artifact.parent / "notes.txt").write_text("no artifact")
    _json(task / "ui_messages.json", [{"ts": 1706119234567, "type": "ask", "ask": "command", "text": "npm test"}])
    said = "Exit code: 1\nOutput (43.9KB) persisted. Artifact ID: cmd-1706119234567.txt\n\nline\nline\n"
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": said}]}
    _json(task / "api_conversation_history.json", [{"role": "user", "content": [result]}])
    imported(tmp_path)
    known, unknown = buffers(store)
    assert (known.command, known.exit_code, known.lines, known.created) == ("npm test", 1, 9_000, 1706119234.567)
    assert unknown.command == "(the command was not written down)"
    assert store.resolve("cmd-1706119234567.txt").buffer == known
    ((view, text),) = views(store)
    assert (text, view.refs, view.truncated) == (said, (known.name,), True)
    assert imported(tmp_path).counts.unchanged == 1
    (artifact.parent / "cmd-1706119240000.txt").write_text("one more\n")
    again = imported(tmp_path).counts
    assert (again.calls, again.known) == (1, 2)


def _chat(number: int, kind: str, parts: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A record of Qwen Code 0.24.4."""
    common = {"sessionId": "7cac1c66-9a4f", "cwd": "/home/user/project", "version": "0.24.4", "uuid": f"u{number}"}
    message = {"role": "user", "parts": parts}
    return {**common, "timestamp": f"2026-11-24T00:00:{number:02}.000Z", "type": kind, "message": message, **more}


def test_a_chat_of_qwen_code(store: Store, imported: Import, tmp_path: Path) -> None:
    def told(command: str, output: str, code: int) -> str:
        ended = f"Error: (none)\nExit Code: {code}\nSignal: (none)\nProcess Group PGID: (none)"
        return f"Command: {command}\nDirectory: (root)\nOutput: {output}\n{ended}"

    def asked(use: str, tool: str, **arguments: Any) -> dict[str, Any]:
        return {"functionCall": {"id": use, "name": tool, "args": arguments}}

    def gave(use: str, tool: str, **response: str) -> dict[str, Any]:
        return {"functionResponse": {"id": use, "name": tool, "response": response}}

    shell, gone = "run_shell_command", "The full output has been saved to: /home/user/.qwen/tmp/p/r.output\n\n"
    cut = gone + told("make all", "1\n\n---\n... [CONTENT TRUNCATED] ...\n---\n\n9", 2)
    longer = "1\n2\n[... truncated for saved session preview; original length: 99 characters ...]\n8\n9"
    display = {"status": "error", "resultDisplay": {"type": "shell_result", "output": longer}}
    imported(
        write_lines(
            tmp_path / "chats/7cac1c66-9a4f.jsonl",
            _chat(1, "user", [{"text": "please run the tests"}]),
            _chat(2, "assistant", [asked("c1", shell, command="make"), asked("c2", "read_file", file_path="/a.txt")]),
            _chat(3, "tool_result", [gave("c1", shell, output=told("make", "fine", 0))], toolCallResult={}),
            _chat(4, "tool_result", [gave("c2", "read_file", output="one\n")], toolCallResult={}),
            _chat(5, "assistant", [asked("c3", shell, command="make all")]),
            _chat(6, "tool_result", [gave("c3", shell, error=cut)], toolCallResult=display),
            {**_chat(7, "system", []), "subtype": "chat_compression", "systemPayload": {"info": {"newTokenCount": 7}}},
            _chat(8, "assistant", [{"text": "It fails.", "thought": False}]),
        )
    )
    assert [(one.command, one.exit_code, read(store, one, *one.streams)) for one in buffers(store)] == [
        ("make", 0, b"fine"),
        ('read_file {"file_path":"/a.txt"}', None, b"one\n"),
        ("make all", 2, b"1\n2\n8\n9"),
    ]
    assert buffers(store)[0].seconds == 1.0
    assert buffers(store)[-1].partial == "cut by Qwen Code"
    assert [text for _, text in views(store)] == [told("make", "fine", 0), "one\n", cut]
    (session,) = store.index.sessions()
    assert (session.harness, session.client) == ("qwen", "qwen 0.24.4")
    assert [one.event for one in events_of(store, session.name).changes] == ["compacted"]


def _rollout(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2025-08-01T10:00:00.000Z", "type": kind, "payload": payload}


def test_an_older_rollout_of_codex(store: Store, imported: Import, tmp_path: Path) -> None:
    shown = json.dumps({"output": "ok\n", "metadata": {"exit_code": 7, "duration_seconds": 0.1}})
    arguments = json.dumps({"command": ["bash", "-lc", "make test"], "workdir": "/repo/sub"})
    imported(
        write_lines(
            tmp_path / "rollout-2025-08-01T10-00-00-0199aaaa-0000-7000-8000-000000000001.jsonl",
            _rollout("session_meta", id="0199aaaa", cwd="/repo", cli_version="0.20.0"),
            _rollout("response_item", type="function_call", name="shell", arguments=arguments, call_id="call_1"),
            _rollout("response_item", type="function_call_output", call_id="call_1", output=shown),
        )
    )
    (buffer,) = buffers(store)
    assert (buffer.command, buffer.cwd, buffer.exit_code) == ("make test", "/repo/sub", 7)
    assert read(store, buffer) == b"ok\n"
    ((view, text),) = views(store)
    assert (text, [(one.first, one.last) for one in (*view.shown, *view.matched)]) == (shown, [(1, 1)])


@pytest.mark.parametrize(
    ("shown", "code"),
    [
        (
            "failed in sandbox LinuxSeccomp with execution error: denied, exit code: 2, stdout: , x",
            2,
        ),
        ("failed in sandbox: sandbox error: command was killed by a signal", None),
        ("Total output lines: 346\n\nfailed in sandbox: /bin/ps: not permitted\n FAIL  cart.test.ts", None),
        ("error: Failed to find expected lines in /repo/a.py:\nx = 1", None),
    ],
)
def test_a_command_that_codex_or_its_sandbox_refused_has_failed(
    shown: str, code: int | None, store: Store, imported: Import, tmp_path: Path
) -> None:
    rollout = Rollout("0199aaaa-0000-7000-8000-000000000002").call("c", "shell", {"command": ["x"]}, shown)
    imported(rollout.write(tmp_path))
    (buffer,) = buffers(store)
    assert (buffer.failed, buffer.exit_code) == (True, code)


def test_a_search_that_found_nothing_in_a_sandbox_has_not_failed(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    rollout = Rollout("0199aaaa-0000-7000-8000-000000000003")
    imported(rollout.call("c", "shell", {"command": ["grep", "x", "a"]}, "failed in sandbox: ").write(tmp_path))
    assert [one.failed for one in buffers(store)] == [False]


def test_an_older_chat_of_gemini_s(store: Store, imported: Import, tmp_path: Path) -> None:
    response = {"functionResponse": {"id": "1", "name": "run_shell_command", "response": {"output": "Output: 42\n"}}}
    call = {"id": "1", "name": "run_shell_command", "args": {"command": "answer"}, "result": [response]}
    call |= {"status": "success", "timestamp": "2025-09-01T10:00:01.000Z", "resultDisplay": "42"}
    message = {"id": "m", "timestamp": "2025-09-01T10:00:00.000Z", "type": "gemini", "content": "", "toolCalls": [call]}
    document = {
        "sessionId": "5e55",
        "projectHash": "abc",
        "startTime": "2025-09-01T09:00:00.000Z",
        "messages": [message],
    }
    imported(_json(tmp_path / "project/chats/session-2025-09-01.json", document))
    (buffer,) = buffers(store)
    assert (buffer.command, buffer.exit_code, read(store, buffer)) == ("answer", 0, b"42")
    assert [text for _, text in views(store)] == ["Output: 42\n"]


def test_what_a_program_of_the_model_s_ran_is_kept_whole(store: Store, imported: Import, tmp_path: Path) -> None:
    """Codex' newest models print in a program what they want to see of what it ran."""
    command = {"type": "CommandExecution", "id": "exec-1", "command": ["/bin/bash", "-lc", "seq 1 9; exit 3"]}
    command |= {"cwd": "file:///repo/sub", "aggregated_output": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "exit_code": 3}
    blocks = [{"type": "input_text", "text": "Script completed\nOutput:\n"}, {"type": "input_text", "text": "4\n5"}]
    path = write_lines(
        tmp_path / "rollout-1.jsonl",
        _rollout("session_meta", id="0199aaaa", cwd="/repo"),
        _rollout("response_item", type="custom_tool_call", name="exec", input="text(…)", call_id="call_1"),
        _rollout("event_msg", type="item_completed", item=command),
        _rollout("response_item", type="custom_tool_call_output", call_id="call_1", output=blocks),
        _rollout("event_msg", type="item_completed", item={**command, "id": "call_1"}),
    )
    imported(path)
    program, ran = buffers(store)
    assert (program.kind, ran.kind) == ("tool", "cmd")
    assert (ran.command, ran.cwd, ran.exit_code, ran.lines) == ("seq 1 9; exit 3", "/repo/sub", 3, 9)
    ((view, text),) = views(store)
    assert text == "Script completed\nOutput:\n\n4\n5"
    assert view.refs == (program.name, ran.name)
    assert [(one.first, one.last) for one in view.matched if one.buffer == ran.name] == [(4, 5)]
    Path(store.layout.imports).unlink()
    assert imported(path).counts.calls == 0


def test_a_chat_s_command_without_a_display_has_what_stands_between(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    written = "1\nError: of its own\nExit Code: 9\n2"
    output = f"<untrusted_context>\nOutput: {written}\nExit Code: 4\nProcess Group PGID: 7\n</untrusted_context>"
    response = {"functionResponse": {"response": {"output": output}}}
    call = {"id": "1", "name": "run_shell_command", "args": {"command": "x"}, "result": [response], "status": "success"}
    message = {"id": "m", "timestamp": "2026-01-01T00:00:00Z", "type": "gemini", "toolCalls": [call]}
    header = {"sessionId": "5e55", "projectHash": "abc", "startTime": "2026-01-01T00:00:00Z"}
    imported(write_lines(tmp_path / "project/chats/session-1.jsonl", header, message))
    (buffer,) = buffers(store)
    assert (buffer.exit_code, read(store, buffer)) == (4, written.encode())


def test_texts_that_only_open_take_no_longer_than_others(store: Store, imported: Import, tmp_path: Path) -> None:
    many = "<output>\nError: x\n" * 100_000
    messages = [
        {"role": "assistant", "content": "```bash\necho hi\n```"},
        {"role": "user", "content": many},
    ]
    imported(_json(tmp_path / "old.traj.json", messages))
    (buffer,) = buffers(store)
    assert read(store, buffer).decode() == many


def test_pi(store: Store, imported: Import, tmp_path: Path) -> None:
    whole = tmp_path / "pi-bash-0123456789abcdef.log"
    whole.write_text("1\n2\n3\n")
    cut = "3\n\n[Showing lines 3-3 of 3. Full output: {}]\n\nCommand exited with code 4"
    entries: list[dict[str, Any]] = [{"type": "model_change", "provider": "p", "modelId": "m"}]

    def message(role: str, text: str, **more: Any) -> None:
        entries.append(
            {"type": "message", "message": {"role": role, "content": [{"type": "text", "text": text}], **more}}
        )

    def call(use: str, tool: str, arguments: dict[str, Any], result: str, *, failed: bool = False) -> None:
        asked = {"type": "toolCall", "id": use, "name": tool, "arguments": arguments}
        entries.append({"type": "message", "message": {"role": "assistant", "content": [asked]}})
        message("toolResult", result, toolCallId=use, toolName=tool, isError=failed)

    message("user", "mend the build")
    call("c1", "bash", {"command": "make"}, cut.format(whole), failed=True)
    call("c2", "bash", {"command": "make all"}, cut.format(tmp_path / "pi-bash-00000000.log"), failed=True)
    call("c3", "bash", {"command": "true"}, "(no output)")
    call("c4", "read", {"path": "a.txt"}, "one\n")
    message("assistant", "Done.")
    entries.append({"type": "usage", "kind": "cache_warm", "usage": {"input": 0}})
    entries.append({"type": "compaction", "summary": "made it", "firstKeptEntryId": "e8", "tokensBefore": 900})
    entries.append({"type": "of a later version"})
    head = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-11-23T12:00:00.000Z", "cwd": "/repo"}
    path = write_lines(
        tmp_path / ".pi/agent/sessions/--repo--/2026_s1.jsonl",
        head,
        *({"id": f"e{at}", "timestamp": f"2026-11-23T12:00:{at:02}.000Z", **one} for at, one in enumerate(entries)),
    )
    importer = imported(path)
    assert [trouble.text for trouble in importer.troubles] == ["a record of an unknown sort: 'of a later version'"]
    made = buffers(store)
    assert [(one.command, one.exit_code, one.partial) for one in made] == [
        ("make", 4, ""),
        ("make all", 4, "cut by pi"),
        ("true", 0, ""),
        ("/repo/a.txt", None, ""),
    ]
    assert [read(store, one) for one in made if one.streams] == [b"1\n2\n3\n", b"3", b"one\n"]
    assert next(text for _, text in views(store)) == cut.format(whole)
    (session,) = store.index.sessions()
    assert (session.harness, session.cwd) == ("pi", "/repo")
    told = events_of(store, session.name)
    (change,) = told.changes
    assert (change.summary, change.before, change.kept) == ("made it", 900, ("c4",))
    assert [one.text for one in told.messages] == ["Done."]


def test_calls_of_a_program_of_pi_and_what_went_from_its_context(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    asked = {"type": "toolCall", "id": "c1", "name": "codemode", "arguments": {"code": "…"}}
    calls = [
        {"id": "c1/1", "name": "bash", "status": "ok", "arguments": {"command": "make"}, "durationMs": 5},
        {"id": "c1/2", "name": "bash", "status": "error", "arguments": {"command": "make test"}},
        {"id": "c1/3", "name": "bash", "status": "error", "arguments": {"command": "make all"}, "error": "x" * 500},
        {"id": "c1/4", "name": "read", "status": "unfinished", "argumentsBytes": 9_000},
    ]
    calls[1]["error"] = "no rule\n\nCommand exited with code 2"
    result = {"role": "toolResult", "toolCallId": "c1", "toolName": "codemode", "isError": False}
    text = [{"type": "text", "text": "done"}]
    lines = [
        {"type": "session", "id": "s1", "cwd": "/repo"},
        {"type": "message", "id": "e1", "message": {"role": "assistant", "content": [asked]}},
        {"type": "message", "id": "e2", "message": {**result, "content": text, "nestedCalls": {"calls": calls}}},
        {"type": "context_edit", "id": "e3", "targetId": "e2", "replacement": None},
        {"type": "context_edit", "id": "e4", "targetId": "e1", "replacement": {"content": []}},
    ]
    stamped = ({**one, "timestamp": f"2026-11-23T12:00:{at:02}.000Z"} for at, one in enumerate(lines))
    importer = imported(write_lines(tmp_path / "2026_s1.jsonl", *stamped))
    assert importer.troubles == []
    made = {one.command: one for one in buffers(store)}
    told = {name: (one.exit_code, bool(one.partial), one.bytes) for name, one in made.items() if one.kind == "cmd"}
    assert told == {"make": (0, True, 0), "make test": (2, False, 7), "make all": (None, True, 500)}
    ((view, shown),) = views(store)
    assert (shown, len(view.refs), view.shown[0].buffer) == ("done", 5, view.refs[0])
    (change,) = events_of(store, "pi-s1").changes
    assert (change.event, change.lost) == ("pruned", ("c1",))


def test_pi_keeps_calls_of_programs_whose_ids_come_again(store: Store, imported: Import, tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [{"type": "session", "id": "s1", "cwd": "/repo"}]
    for turn in ("one", "two"):
        asked = {"type": "toolCall", "id": "c0", "name": "codemode", "arguments": {"code": turn}}
        calls = [
            {"id": "c0/1", "name": "bash", "status": "ok", "arguments": {"command": f"make {turn}"}},
            {"name": "bash", "status": "unfinished", "arguments": {"command": f"nameless {turn}"}},
            {"id": "c0/3", "name": "weather", "status": "unfinished", "arguments": {"at": turn}},
        ]
        result = {"role": "toolResult", "toolCallId": "c0", "toolName": "codemode", "nestedCalls": {"calls": calls}}
        text = {"content": [{"type": "text", "text": turn}]}
        lines += [
            {"type": "message", "id": f"{turn}-a", "message": {"role": "assistant", "content": [asked]}},
            {"type": "message", "id": f"{turn}-b", "message": {**result, **text}},
        ]
    stamped = [{**one, "timestamp": f"2026-11-23T12:00:{at:02}.000Z"} for at, one in enumerate(lines)]
    imported(write_lines(tmp_path / "2026_s1.jsonl", *stamped))
    made = {one.command: one.exit_code for one in buffers(store) if one.kind == "cmd"}
    assert made == {"make one": 0, "nameless one": None, "make two": 0, "nameless two": None}
    assert [one.note for one in buffers(store) if one.command.startswith("weather")] == ["", ""]  # not known to fail


def test_copilot_cli(store: Store, imported: Import, tmp_path: Path) -> None:
    events: list[tuple[str, dict[str, Any]]] = [
        ("session.start", {"sessionId": "s1", "copilotVersion": "1.0.102", "context": {"cwd": "/repo"}}),
        ("user.message", {"content": "mend the build"}),
        ("hook.start", {"hookType": "preToolUse"}),
    ]

    def call(use: str, tool: str, arguments: dict[str, Any], **ended: Any) -> None:
        events.append(("tool.execution_start", {"toolCallId": use, "toolName": tool, "arguments": arguments}))
        events.append(("tool.execution_complete", {"toolCallId": use, **ended}))

    gone = tmp_path / "1-copilot-tool-output-2-2a91a4f1-3b36-4fb7-84ad-e87767b51eb3.txt"
    large = f"Output too large to read at once (47.8 KB). Saved to: {gone}\nLook.\n\nPreview (first 2 chars):\n1\n2"
    end = "\n<shellId: 1 completed with exit code 3>"
    call("c1", "bash", {"command": "make"}, success=True, result={"content": f"a{end}"})
    call("c2", "bash", {"command": "seq 9"}, success=True, result={"content": f"{large}{end}"})
    call("c3", "bash", {"command": "touch x"}, success=False, error={"message": "denied", "code": "denied"})
    call("c4", "view", {"path": "/repo/a"}, success=True, result={"content": "one"})
    events.append(("assistant.message", {"content": "Done."}))
    path = write_lines(
        tmp_path / ".copilot/session-state/s1/events.jsonl",
        *(
            {"type": kind, "data": data, "id": f"e{at}", "timestamp": f"2026-11-23T12:00:{at:02}.000Z"}
            for at, (kind, data) in enumerate(events)
        ),
    )
    assert imported(path).troubles == []
    made = buffers(store)
    assert [(one.command, one.exit_code, one.partial) for one in made] == [
        ("make", 3, ""),
        ("seq 9", 3, "cut by Copilot CLI"),
        ("touch x", None, ""),
        ('Read {"path":"/repo/a"}', None, ""),
    ]
    assert [read(store, one) for one in made[:3]] == [b"a", b"1\n2", b"denied"]
    (session,) = store.index.sessions()
    assert (session.harness, session.client, session.cwd) == ("copilot", "copilot 1.0.102", "/repo")
    assert [one.text for one in events_of(store, session.name).messages] == ["Done."]
