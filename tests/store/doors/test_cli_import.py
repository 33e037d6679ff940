"""``sightline import``: finding transcripts, asking, the bar, what is told at the end, following."""

import json
import os
import signal
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sightline.doors.cli import import_sessions
from sightline.doors.terminal.progress_line import ProgressLine
from tests.command_line import run_here
from tests.store.doors.test_cli_terminal import Terminal


def _records(number: int, out: str) -> list[dict[str, Any]]:
    common = {"sessionId": "5e551011", "cwd": "/home/user", "version": "2.1.329", "timestamp": "2026-01-02T03:04:05Z"}
    use = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": f"step {number}"}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": out.rstrip("\n")}
    return [
        {"type": "assistant", "uuid": f"a{number}", **common, "message": {"content": [use]}},
        {
            "type": "user",
            "uuid": f"r{number}",
            **common,
            "message": {"content": [result]},
            "toolUseResult": {"stdout": out, "stderr": ""},
        },
    ]


@pytest.fixture
def transcript(cli: Any) -> Path:
    """A transcript where Claude Code keeps them."""
    path: Path = cli.folder / ".claude/projects/-home-user/5e551011.jsonl"
    path.parent.mkdir(parents=True)
    records = [*_records(1, "one\n"), *_records(2, "x" * 30_000)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_a_path_is_imported_and_what_came_is_told_in_a_line(cli: Any, transcript: Path) -> None:
    ran = cli("import", str(transcript))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("2 calls of 1 session imported, 1 partial, 1 transcript read (")
    again = cli("import", str(transcript.parent))
    assert again.out.startswith("0 calls of 0 sessions imported")
    assert "1 unchanged" in again.out


def test_what_was_imported_is_listed_with_its_session_and_views(cli: Any, transcript: Path) -> None:
    cli("import", str(transcript))
    rows = {row["command"]: row for row in cli("list", "--json").data}
    assert set(rows) == {"step 1", "step 2"}
    assert rows["step 1"]["created"] == 1767323045.0
    assert "partial" in cli("list").out
    assert rows["step 2"]["partial"] == "cut by Claude Code"
    assert 'partial="cut by Claude Code' in cli("show", rows["step 2"]["ref"], "--lines", "1").out
    (session,) = [one for one in cli("sessions", "--json").data if one["harness"] == "claude-code"]
    assert (session["calls"], session["harness_id"]) == (2, "5e551011")
    (view, _) = [one for one in cli("views", "--json").data if one["session"] == session["name"]]
    assert cli("views", "show", view["id"]).out == "one"


def test_sessions_and_calls_have_names_that_people_recognise(cli: Any, transcript: Path) -> None:
    common = {"sessionId": "5e551011", "cwd": "/home/user", "version": "2.1.329", "timestamp": "2026-01-02T03:04:05Z"}
    use = {"type": "tool_use", "id": "toolu_9", "name": "Grep", "input": {"pattern": "TestPost", "path": "/home/user"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_9", "content": "a_test.go:3"}
    records = [
        {"type": "user", "uuid": "p", **common, "message": {"role": "user", "content": "Mend the tests\nof posts"}},
        {"type": "assistant", "uuid": "a", **common, "message": {"content": [use]}},
        {"type": "user", "uuid": "r", **common, "message": {"content": [result]}},
    ]
    transcript.write_text("".join(json.dumps(record) + "\n" for record in records))
    cli("import", str(transcript))
    assert cli("list").out.rstrip().endswith('  Grep "TestPost" in user')
    assert "Mend the tests (claude-code-5e551011)  claude-code" in cli("sessions").out
    call = cli("timeline").out.splitlines()[0]
    assert "  Mend the tests  tool  " in call and call.endswith('  Grep "TestPost" in user')


def test_without_a_path_nothing_is_imported_where_nobody_can_be_asked(cli: Any, transcript: Path) -> None:
    ran = cli("import")
    assert ran.code == 2
    assert "Claude Code: 1 file, " in ran.err
    assert "sightline import --yes" in ran.err
    assert not cli("list", "--json").data
    assert cli("import", "--yes").out.startswith("2 calls of 1 session imported")


def test_where_nothing_is_found_that_is_said(cli: Any) -> None:
    ran = cli("import")
    assert (ran.code, ran.out) == (0, "")
    assert "no past sessions were found" in ran.err
    missing = cli("import", "nowhere.jsonl")
    assert missing.code == 2
    assert "nowhere.jsonl: No such file" in missing.err


def test_a_named_file_that_is_no_transcript_is_told(cli: Any, transcript: Path, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("no transcript\n")
    told = cli("import", str(other))
    assert (told.code, "1 file of no known format" in told.out) == (1, True)
    assert "none of it is a transcript of a known harness" in told.err
    told = cli("import", str(other), str(transcript))
    assert (told.code, "1 file of no known format" in told.out, told.err) == (0, True, "")


def test_on_a_terminal_it_asks(cli: Any, transcript: Path) -> None:
    terminal = Terminal(cli, "import")
    terminal.until("import them? [y/N] ")
    terminal.press(b"n\n")
    assert terminal.end() == 2
    assert not cli("list", "--json").data
    terminal = Terminal(cli, "import")
    terminal.until("import them? [y/N] ")
    terminal.press(b"y\n")
    terminal.until("2 calls of 1 session imported")
    assert terminal.end() == 0


def test_damaged_records_are_told_with_file_and_line(cli: Any, transcript: Path) -> None:
    with transcript.open("a") as file:
        file.write('{"type": "user"\n' * 12)
    ran = cli("import", str(transcript))
    assert ran.code == 0
    assert f"{transcript}:5: not JSON" in ran.err
    assert "2 more such records" in ran.err
    assert "12 damaged records" in ran.out
    data = cli("import", "--json", str(transcript), SIGHTLINE_HOME=str(cli.folder / "other")).data
    assert data["damaged"] == 12
    assert [told["line"] for told in data["troubles"]] == list(range(5, 17))


def test_limits_that_let_older_outputs_go_are_told(cli: Any, transcript: Path) -> None:
    ran = cli("import", str(transcript), SIGHTLINE_MAX_BUFFERS="1")
    assert "the store keeps 1 output and" in ran.err
    assert "1 older output gave way; to have more, raise max_buffers" in ran.err


def test_following_brings_what_is_written_and_ends_with_a_key(cli: Any, transcript: Path) -> None:
    process = cli.start("import", "--follow", str(transcript.parent), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout.readline().startswith(b"2 calls of 1 session imported")
        with transcript.open("a") as file:
            file.write("".join(json.dumps(record) + "\n" for record in _records(3, "three\n")))
        assert process.stdout.readline() == b"1 call imported\n"
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=30)
        assert rest.startswith(b"3 calls of 1 session imported")
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def test_how_far_it_is_stands_on_a_terminal_and_goes_again(
    cli: Any, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_sessions, "ProgressLine", partial(ProgressLine, seconds=-1))
    for seen in (True, False):
        monkeypatch.setattr(os, "isatty", lambda fd, seen=seen: seen and fd == 2)
        environment = {**cli.environment, "SIGHTLINE_HOME": f"{cli.home} {seen}"}
        ran = run_here(["import", str(transcript)], env=environment, cwd=cli.folder)
        assert (ran.returncode, b"1 transcript read" in ran.stdout) == (0, True)
        assert (b"100%" in ran.stderr) == seen
        assert ran.stderr.endswith(b"\r\x1b[K") == seen


def test_the_help_has_an_example(cli: Any) -> None:
    assert "sightline import ~/.claude/projects --follow" in cli("import", "--help").out
