"""Commands that go on after their result, and cancelled ones: Claude Code's and Copilot CLI's transcripts."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sightline.audit.finding_kinds import UNTOLD
from sightline.audit.findings import Finding, audited
from sightline.audit.verdict import verdict_of
from sightline.base.project import ALL
from sightline.log.sessions import use_key
from sightline.store import Store
from tests.store.harnesses.past_kit import Claude, Import, buffers, read, views, write_lines

STARTED = "Command running in background with ID: b1. Output is being written to: {}"
NOTICE = (
    "<task-notification>\n<task-id>b1</task-id>\n<output-file>{}</output-file>\n<status>completed</status>\n"
    '<summary>Background command "it said exit code 7" completed (exit code {})</summary>\n</task-notification>'
)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """Where Claude Code keeps what a task writes."""
    path = tmp_path / f"claude-{os.getuid()}/-home-user/5e551011/tasks/b1.output"
    path.parent.mkdir(parents=True)
    return path


def _background(claude: Claude, output: Path) -> list[dict[str, Any]]:
    told = {"stdout": "", "stderr": "", "interrupted": False, "backgroundTaskId": "b1"}
    return [claude.use(1, "make all"), claude.result(1, STARTED.format(output), told)]


def found_in(store: Store) -> list[Finding]:
    """What an audit finds."""
    return audited(store, ALL).found


def _notice(claude: Claude, form: str, text: str) -> dict[str, Any]:
    """A notice as it comes between turns, within one, and as `stream-json` prints it."""
    record = {**claude.result("notice", ""), "type": form}
    if form == "user":
        return {**record, "message": {"role": "user", "content": text}}
    if form == "attachment":
        return {**record, "attachment": {"type": "queued_command", "prompt": text}}
    if form == "queue-operation":
        return {**record, "operation": "enqueue", "content": text}
    summary = text.partition("<summary>")[2].partition("</summary>")[0]
    return {**record, "subtype": "task_notification", "task_id": "b1", "summary": summary}


@pytest.mark.parametrize("form", ["user", "attachment", "queue-operation", "system"])
@pytest.mark.parametrize("code", [0, 2])
def test_a_command_in_the_background_has_the_exit_code_of_its_notice_and_the_named_file(
    store: Store, imported: Import, tmp_path: Path, output: Path, form: str, code: int
) -> None:
    claude = Claude()
    output.write_text(f"one\ntwo\n\n[exited with code {code}]\n")
    lines = [
        *_background(claude, output),
        *claude.ran(2, "meanwhile\n"),
        _notice(claude, form, NOTICE.format(output, code)),
    ]
    imported(write_lines(tmp_path / "5e551011.jsonl", *lines))
    made = {one.command: one for one in buffers(store)}
    make = made["make all"]
    assert (make.kind, make.exit_code, make.partial, read(store, make)) == ("cmd", code, "", b"one\ntwo\n")
    assert make.ended and make.ended > made["./step"].created
    assert STARTED.format(output) in [text for _, text in views(store)]


@pytest.mark.parametrize("form", ["user", "attachment", "system"])
def test_a_notice_that_the_model_was_shown_tells_of_the_failure(
    store: Store, imported: Import, tmp_path: Path, output: Path, form: str
) -> None:
    claude, notice = Claude(), NOTICE.format(output, 2)
    output.write_text("one\n")
    lines = [*_background(claude, output), _notice(claude, "queue-operation", notice), _notice(claude, form, notice)]
    imported(write_lines(tmp_path / "5e551011.jsonl", *lines))
    (make,) = buffers(store)
    (start, _), (told, text) = sorted(views(store), key=lambda one: one[0].time)
    assert (start.exit_code, told.exit_code, told.refs, text) == (
        None,
        2,
        (make.name,),
        "" if form == "system" else notice,
    )
    assert not any(one.kind == UNTOLD for one in found_in(store))


def test_a_failure_whose_notice_waits_in_the_queue_was_told_to_nobody(
    store: Store, imported: Import, tmp_path: Path, output: Path
) -> None:
    claude = Claude()
    output.write_text("one\n")
    lines = [*_background(claude, output), _notice(claude, "queue-operation", NOTICE.format(output, 2))]
    imported(write_lines(tmp_path / "5e551011.jsonl", *lines))
    assert [one.kind for one in found_in(store)].count(UNTOLD) == 1


def test_without_its_file_it_has_what_a_look_at_it_showed(
    store: Store, imported: Import, tmp_path: Path, output: Path
) -> None:
    claude = Claude()
    task = {"task_id": "b1", "task_type": "local_bash", "status": "failed", "output": "so far\n", "exitCode": 143}
    looked = claude.use(2, name="TaskOutput", input={"task_id": "b1"})
    shown = "<task_id>b1</task_id>\n\n<exit_code>143</exit_code>\n\n<output>\nso far\n<exit_code>9</exit_code></output>"
    lines = [*_background(claude, output), looked, claude.result(2, shown, {"task": task})]
    imported(write_lines(tmp_path / "5e551011.jsonl", *lines))
    make = next(one for one in buffers(store) if one.kind == "cmd")
    assert (make.command, make.exit_code, make.partial, read(store, make)) == ("make all", 143, "", b"so far\n")
    looks = [view for view, _ in views(store) if view.refs == (make.name,)]
    assert [(view.verb, view.exit_code) for view in looks] == [("run_command", None), ("tool", 143)]
    assert not any(one.kind == UNTOLD for one in found_in(store))


def _lost(output: Path, *later: dict[str, Any], command: str = "make all 2>&1 | tail -3") -> list[dict[str, Any]]:
    """A command in the background that ended well by its notice, and whose file is gone."""
    claude = Claude()
    began, said = _background(claude, output)
    began["message"]["content"][0]["input"]["command"] = command
    return [began, said, _notice(claude, "user", NOTICE.format(output, 0)), *later]


def test_what_the_agent_read_of_the_file_is_the_output_of_a_command_in_the_background(
    store: Store, imported: Import, tmp_path: Path, output: Path
) -> None:
    claude = Claude()
    claude.minute = 30
    read_it = claude.use(2, name="Read", input={"file_path": str(output)})
    file = {"filePath": str(output), "content": "one\nEXIT=10\n", "startLine": 1, "numLines": 2, "totalLines": 2}
    gave = claude.result(2, "     1\tone\n     2\tEXIT=10", {"type": "text", "file": file})
    imported(write_lines(tmp_path / "s.jsonl", *_lost(output, read_it, gave)))
    (made,) = buffers(store)
    assert (made.command, made.partial, read(store, made)) == ("make all 2>&1 | tail -3", "", b"one\nEXIT=10\n")
    shown = [(one.first, one.last) for view, _ in views(store) for one in (*view.shown, *view.matched)]
    assert shown == [(1, 2)]


@pytest.mark.parametrize(
    ("looks", "hedges"),
    [
        ("cd repo; tail -6 {}; git status", False),
        ('Get-Content "{}" -Tail 6; git add .', False),
        ("until grep -q DONE {}; do sleep 1; done", True),
        ("ls {}", True),
    ],
)
def test_what_a_later_command_read_of_the_file_is_no_lost_output(
    store: Store, imported: Import, tmp_path: Path, output: Path, looks: str, hedges: bool
) -> None:
    claude = Claude()
    claude.minute = 30
    later = claude.ran(2, "EXIT=0\n", looks.format(output))
    imported(write_lines(tmp_path / "s.jsonl", *_lost(output, *later)))
    assert bool(verdict_of(store).incomplete) is hedges


def test_a_command_in_the_background_that_writes_to_files_alone_is_whole(
    store: Store, imported: Import, tmp_path: Path, output: Path
) -> None:
    imported(write_lines(tmp_path / "s.jsonl", *_lost(output, command="make > /tmp/l 2>&1; echo $? >> /tmp/l")))
    (made,) = buffers(store)
    assert (made.partial, made.lines, made.exit_code) == ("", 0, 0)


def test_a_helpers_command_in_the_background_is_no_success(
    store: Store, imported: Import, tmp_path: Path, output: Path
) -> None:
    helper = Claude(agentId="a1", isSidechain=True)
    path = write_lines(tmp_path / "5e551011.jsonl", helper.use(1, "make all"), helper.result(1, STARTED.format(output)))
    imported(path)
    (make,) = buffers(store)
    assert (make.command, make.exit_code, make.partial) == ("make all", None, "its end was never written down")


def test_a_command_that_only_prints_such_words_does_not_go_on(store: Store, imported: Import, tmp_path: Path) -> None:
    imported(write_lines(tmp_path / "s.jsonl", *Claude().ran(1, STARTED.format("/tmp/x.output"), "cat notes")))
    (made,) = buffers(store)
    assert (made.exit_code, read(store, made)) == (0, STARTED.format("/tmp/x.output").encode())


@pytest.mark.parametrize("artifact", [use_key("claude-code-5e551011", "toolu_1"), ""], ids=["told", "untold"])
def test_a_command_that_a_person_cancelled_is_the_one_that_hooks_recorded(
    store: Store, imported: Import, tmp_path: Path, artifact: str
) -> None:
    called = datetime(2026, 1, 2, 0, 1, 5, tzinfo=UTC).timestamp()
    recording = store.begin("cmd", "make all", "/", "claude-code-5e551011", artifact=artifact, created=called)
    recording.register()
    recording.seal(exit_code=130)
    claude, refused = Claude(), "The user doesn't want to proceed with this tool use."
    imported(write_lines(tmp_path / "5e551011.jsonl", claude.use(1, "make all"), claude.result(1, refused, error=True)))
    (made,) = buffers(store)
    ((view, text),) = views(store)
    assert (view.verb, view.refs, text) == ("run_command", (made.name,), refused)


def test_commands_that_a_person_refused_are_looked_for_among_the_recorded_ones_once(
    store: Store, imported: Import, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads, of_session = list[str](), type(store.index).of_session
    monkeypatch.setattr(type(store.index), "of_session", lambda index, one: reads.append(one) or of_session(index, one))
    claude, refused = Claude(), "The user doesn't want to proceed with this tool use."
    lines = [one for at in range(9) for one in (claude.use(at, f"make {at}"), claude.result(at, refused, error=True))]
    imported(write_lines(tmp_path / "5e551011.jsonl", *lines))
    assert len(views(store)) == 9
    assert reads == ["claude-code-5e551011"]


def test_a_result_that_a_transcript_repeats_is_one_call(store: Store, imported: Import, tmp_path: Path) -> None:
    use, result = Claude().ran(1, "one\n")
    counts = imported(write_lines(tmp_path / "s.jsonl", use, result, {**result, "uuid": "again"})).counts
    assert (counts.calls, len(views(store))) == (1, 1)


def test_calls_before_the_first_time_of_a_printed_session_stand_before_it(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    claude = Claude()
    early, late = claude.ran(1, "one\n", "make one"), claude.ran(2, "two\n", "make two")
    padding = [{"type": "system", "session_id": "5e551011", "subtype": "status"}] * 30
    without = [{name: value for name, value in one.items() if name != "timestamp"} for one in early]
    imported(write_lines(tmp_path / "printed.jsonl", *without, *padding, *late))
    assert [one.command for one in sorted(buffers(store), key=lambda one: one.created)] == ["make one", "make two"]
    assert [view.number for view, _ in sorted(views(store), key=lambda one: one[0].time)] == [1, 2]


@pytest.mark.parametrize(
    ("asked", "shown", "partial", "kept"),
    [
        ({}, "     1→a\n     2→\n     3→  b\n\n<system-reminder>\nbe careful\n</system-reminder>\n", "", b"a\n\n  b"),
        ({"offset": 7, "limit": 2}, "7\ta\n8\t", "lines 7-8 were read", b"a\n\n"),
        ({"limit": 3}, "1\ta\n2\t", "", b"a\n"),
    ],
    ids=["all of it", "a part that ends in an empty line", "all, which is less than was asked for"],
)
def test_what_a_helper_read_is_a_file(
    store: Store, imported: Import, tmp_path: Path, asked: dict[str, int], shown: str, partial: str, kept: bytes
) -> None:
    helper = Claude(agentId="a1", isSidechain=True)
    use = helper.use(1, name="Read", input={"file_path": "/home/user/a.txt", **asked})
    imported(write_lines(tmp_path / "5e551011.jsonl", use, helper.result(1, shown)))
    (made,) = buffers(store)
    assert (made.kind, made.command, made.partial) == ("file", "/home/user/a.txt", partial)
    assert read(store, made) == kept


def _copilot(path: Path, *events: tuple[str, dict[str, Any]]) -> Path:
    start = ("session.start", {"sessionId": "s1", "copilotVersion": "1.0.68", "context": {"cwd": "/repo"}})
    return write_lines(
        path,
        *(
            {"type": kind, "data": data, "id": f"e{at}", "timestamp": f"2026-06-23T12:00:{at:02}.000Z"}
            for at, (kind, data) in enumerate((start, *events))
        ),
    )


def _call(use: str, tool: str, arguments: dict[str, Any], shown: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("tool.execution_start", {"toolCallId": use, "toolName": tool, "arguments": arguments}),
        ("tool.execution_complete", {"toolCallId": use, "success": True, "result": {"content": shown}}),
    ]


GOES_ON = "<command with shellId: 30 is still running after 30 seconds. Use read_bash to continue.>"
NOT_SHOWN = (4, "what it wrote after its last reply was never shown", b"one\n")
ENDED = "<shellId: 30 completed with exit code 4>"
COMPLETED = ("system.notification", {"kind": {"type": "shell_completed", "shellId": "30", "exitCode": 4}})


@pytest.mark.parametrize(
    ("later", "ended"),
    [
        ([COMPLETED], NOT_SHOWN),
        ([COMPLETED, *_call("c2", "read_bash", {"shellId": "30"}, "two")], (4, "", b"one\ntwo")),
        ([COMPLETED, *_call("c2", "stop_bash", {"shellId": "30"}, "<command with id: 30 stopped>")], NOT_SHOWN),
        (_call("c2", "read_bash", {"shellId": "30"}, "two\n<exited with exit code 4>"), (4, "", b"one\ntwo")),
        (_call("c2", "read_powershell", {"shellId": "30"}, f"one\ntwo\n{ENDED}"), (4, "", b"one\ntwo")),
        ([], (None, "its end was never written down", b"one\n")),
    ],
    ids=["notification", "notification and read", "notification and stop", "read", "read anew", "never"],
)
def test_a_command_of_copilot_that_goes_on_has_the_exit_code_that_comes_later(
    store: Store, imported: Import, tmp_path: Path, later: list[tuple[str, dict[str, Any]]], ended: tuple[Any, ...]
) -> None:
    path = _copilot(tmp_path / "events.jsonl", *_call("c1", "bash", {"command": "make"}, f"one\n\n{GOES_ON}"), *later)
    imported(path)
    make = next(one for one in buffers(store) if one.kind == "cmd")
    assert (make.exit_code, make.partial, read(store, make)) == ended


@pytest.mark.parametrize(("tool", "name"), [("bash", "Bash"), ("powershell", "powershell")])
def test_a_command_of_copilot_is_one_in_either_shell(
    store: Store, imported: Import, tmp_path: Path, tool: str, name: str
) -> None:
    begun = _call("c1", tool, {"command": "make", "mode": "async"}, "<command started in background with shellId: 30>")
    ran = _call("c3", tool, {"command": "make check"}, "2 failed\n<shellId: 31 completed with exit code 2>")
    path = _copilot(
        tmp_path / "events.jsonl", *begun, *_call("c2", f"read_{tool}", {"shellId": "30"}, f"one\n{ENDED}"), *ran
    )
    imported(path)
    made = {one.command: (one.exit_code, read(store, one)) for one in buffers(store) if one.kind == "cmd"}
    assert made == {"make": (4, b"one"), "make check": (2, b"2 failed")}
    assert {json.loads(view.request)["tool"] for view, _ in views(store)} == {name, f"read_{tool}"}
