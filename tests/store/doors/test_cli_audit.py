"""The audit at the command line: coverage, timeline, sessions, notes, audit and report."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.audit import buffer_failures as failures
from sightline.audit.finding_kinds import KINDS
from sightline.base.records import Gap
from sightline.doors.cli.main import main
from sightline.log import log
from sightline.log.session_events import AgentMessage, Prompt, append_events
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store

IN_PROCESS = True

HIDDEN = "seq 1 3000; echo 'ERROR: boom'; seq 1 3000"


@pytest.fixture
def hidden(cli: Any) -> str:
    """A command that went well by its exit code, with a failure in the middle that its view does not hold."""
    cli("run", "--verbosity", "silent", "-c", HIDDEN)
    return str(cli.last())


def test_coverage_tells_lines_by_grade_and_session(cli: Any, numbers: str) -> None:
    cli("show", numbers, "--lines", "1000-1009", SIGHTLINE_SESSION="other")
    cli("query", f"wc -l {numbers}")
    data = cli("coverage", numbers, "--json").data
    out = data["streams"]["out"]
    assert "1000-1009" in out["exact"]
    assert data["seen"] == sum(stream["seen"] for stream in data["streams"].values())
    assert data["share"] == pytest.approx(data["seen"] / 3001, abs=1e-6)
    assert set(data["sessions"]) == {"a-test", "other"}
    assert data["sessions"]["other"]["streams"]["out"]["exact"] == ["1000-1009"]
    assert out["asked"] == out["unseen"]
    assert cli("coverage", numbers, "--session", "other", "--json").data["seen"] == 10
    assert "unseen" in cli("coverage", numbers).out


def test_coverage_tells_what_was_overlooked(cli: Any, hidden: str) -> None:
    assert f"{hidden}:3001-3001  ERROR: boom" in cli("coverage", hidden).out
    (failure,) = cli("coverage", hidden, "--json").data["failures"]
    assert (failure["ref"], failure["seen"]) == (f"{hidden}:3001-3001", False)
    cli("show", hidden, "--search", "boom")
    assert cli("coverage", hidden, "--json").data["failures"][0]["seen"] is True


def test_coverage_of_a_large_buffer_does_not_wait_for_its_failures(
    cli: Any, hidden: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(failures, "QUICK_BYTES", 100)
    monkeypatch.setenv("SIGHTLINE_HOME", str(cli.home))
    assert main(["coverage", hidden]) == 0
    assert "too large to look for failures" in capfd.readouterr().out
    main(["coverage", hidden, "--json"])
    assert json.loads(capfd.readouterr().out)["failures"] is None
    cli("audit")
    main(["coverage", hidden])
    assert "overlooked: 1 of 1" in capfd.readouterr().out


def test_coverage_of_what_is_not_there_says_so(cli: Any, numbers: str) -> None:
    assert cli("coverage", "@cmd_ffffff").code == 1
    assert cli("coverage", f"{numbers}:1-2").code == 2
    assert cli("coverage", numbers, "--session", "nobody").code == 2


def test_timeline_tells_call_by_call_and_in_all(cli: Any, numbers: str) -> None:
    cli("query", f"head -5 {numbers}")
    cli("query", f"grep -c 7 {numbers}")
    data = cli("timeline", "--json").data
    assert [call["verb"] for call in data["calls"]] == ["run_command", "query", "query"]
    run, head, count = data["calls"]
    assert (head["new_lines"], head["again_lines"], count["new_lines"]) == (0, 5, 0)
    assert run["truncated"] is True
    assert head["tokens_estimated"] == -(-head["bytes_shown"] // 4)
    totals = data["totals"]
    assert totals["calls"] == 3
    assert totals["captured_lines"] == 3001
    assert totals["seen_lines"] == run["new_lines"]
    assert totals["saved_bytes"] == totals["captured_bytes"] - totals["shown_bytes"]
    assert "estimated" in cli("timeline").out


def test_timeline_has_what_was_said_between_the_calls(cli: Any, numbers: str) -> None:
    hostile = "Why\x1b[31m\nso *red*?"
    with Store(str(cli.home)) as store:
        (session,) = store.index.sessions()
        append_events(store.root, session, [Prompt(1.0, hostile), AgentMessage(2.0, "Because of the paint.")])
        path = store.layout.audit_file(session.name)
    said = cli("timeline", "--json").data["said"]
    assert [(one["what"], one["text"], one["cut"]) for one in said] == [
        ("prompt", hostile, False),
        ("says", "Because of the paint.", False),
    ]
    first, second = cli("timeline").out.splitlines()[:2]
    assert first.endswith("prompt  Why\\u001b[31m so *red*?") and second.endswith("says  Because of the paint.")
    assert [one["what"] for one in cli("timeline", "--json", "--text", "PAINT").data["said"]] == ["says"]
    assert cli("timeline", "--json", "--failed").data["said"] == []
    log.blank(path, lambda _: True)
    assert [one["text"] for one in cli("timeline", "--json").data["said"]] == [None, None]


def test_timeline_has_how_a_call_changed_files(cli: Any, numbers: str) -> None:
    edit = {"file_path": "/p/a.py", "old_string": "a = 1\nb = 2\n", "new_string": "a = 1\nb = 3\nc = 4\n"}
    with Store(str(cli.home)) as store:
        (session,) = store.index.sessions()
        record_view(store, session, Shows("tool", {"tool": "Edit", "arguments": edit}), (Segment("done"),))
    *_, call = cli("timeline", "--json").data["calls"]
    diff = [" a = 1", "-b = 2", "+b = 3", "+c = 4"]
    assert call["changes"] == [{"path": "/p/a.py", "what": "edited", "moved": None, "diff": diff, "cut": False}]
    assert "+2 -1 lines of files  Edit a.py" in cli("timeline").out


def test_timeline_is_filtered(cli: Any, hidden: str) -> None:
    cli("run", "-c", "echo other; exit 3")
    cli("query", f"head -1 {hidden}", SIGHTLINE_SESSION="b")

    def asked(*words: str) -> list[str]:
        return [call["asked"] for call in cli("timeline", "--json", *words).data["calls"]]

    assert asked("--failed") == ["echo other; exit 3"]
    assert asked("--verb", "query") == [f"head -1 {hidden}"]
    assert asked("--ref", hidden) == [HIDDEN, f"head -1 {hidden}"]
    assert asked("--text", "other") == ["echo other; exit 3"]
    assert asked("--session", "b") == [f"head -1 {hidden}"]
    assert len(asked("--since", "1h")) == 3
    assert "nothing matches" in cli("timeline", "--verb", "no").out


@pytest.mark.parametrize("age", ["2", "h", "-1h", "two hours"])
def test_a_wrong_age_is_refused(cli: Any, age: str) -> None:
    assert cli("timeline", f"--since={age}").code == 2


def test_where_nothing_was_captured_no_all_clear_is_given(cli: Any) -> None:
    assert cli("list").code == 0
    assert cli("audit").out == "nothing was captured, so nothing was judged\n"
    assert cli("evidence").out == "no message of an agent is known, so there is no claim to judge\n"


def test_audit_exits_as_it_says(cli: Any, hidden: str) -> None:
    assert cli("audit").code == 0, "it fails only on what it is told to"
    failed = cli("audit", "--session", "a-test", "--fail-on", "overlooked-failure")
    assert failed.code == 1
    assert "ERROR: boom" in failed.out
    assert cli("audit", "--fail-on", "cut-failure,untold-failure,broken-log").code == 0
    assert cli("audit", "--fail-on", "anything").code == 2
    assert cli("audit", "--session", "nobody").code == 2
    cli("show", hidden, "--search", "boom")
    seen = cli("audit", "--session", "a-test", "--fail-on", "overlooked-failure")
    assert (seen.code, seen.out) == (0, "nothing went wrong unseen\n")


def test_audit_as_data_has_findings_and_counts(cli: Any, hidden: str) -> None:
    ran = cli("audit", "--json", "--fail-on", "overlooked-failure")
    assert ran.code == 1
    assert ran.data["counts"]["overlooked-failure"] == 1
    assert ran.data["findings"][0]["ref"] == f"{hidden}:3001-3001"
    assert ran.data["failed"] is True


def test_audit_has_a_row_for_each_buffer_and_kind_and_the_rest_with_all(cli: Any) -> None:
    errors = 'for n in $(seq 1 400); do echo "src/a.c:$n:5: error: expected expression $n"; seq 1 20; done; exit 1'
    cli("run", "-c", errors)
    ref = cli.last()
    found = cli("audit", "--json").data
    unseen = [one for one in found["findings"] if one["kind"] == "overlooked-failure"]
    assert 300 < len(unseen) == found["counts"]["overlooked-failure"]
    rows = cli("audit").out.splitlines()
    assert [row.split()[0] for row in rows] == ["overlooked-failure", "cut-failure"]
    assert f"{ref}  {len(unseen)} failures, lines " in rows[0]
    assert "and " in rows[0]
    assert unseen[0]["text"] in rows[0]
    whole = cli("audit", "--all").out.splitlines()
    assert sum(row.startswith("overlooked-failure") for row in whole) == len(unseen)


def test_what_only_reads_is_said_to_be_not_judged(cli: Any) -> None:
    fine = "".join(f"line {number}\n" for number in range(3000))
    (cli.folder / "app.log").write_text(f"{fine}ERROR: no disk\n{fine}")
    cli("run", "-c", "cat app.log")
    assert cli("audit", "--fail-on", "overlooked-failure").code == 0
    assert cli("audit").out == (
        "nothing went wrong unseen\nnot judged, since they only show what others wrote: 1 output\n"
    )
    assert "1 error line unseen; not judged, since cat only reads" in cli("coverage", cli.last()).out
    data = cli("coverage", cli.last(), "--json").data
    assert data["failures"] == []
    assert data["not_judged"] == {"why": "cat only reads", "lines": {"out": ["3001"]}, "unseen": 1}
    assert "1 output not judged" in cli("timeline").out
    assert cli("timeline", "--json").data["totals"]["not_judged_outputs"] == 1


def test_audit_finds_a_log_that_was_changed(cli: Any, hidden: str) -> None:
    path = Path(cli.home) / "audit" / "a-test.jsonl"
    path.write_text(path.read_text().replace('"truncated":true', '"truncated":false'))
    assert cli("audit", "--fail-on", "broken-log").code == 1


def test_sessions_are_listed_renamed_and_removed(cli: Any, hidden: str) -> None:
    cli("show", hidden, "--lines", "1-3", SIGHTLINE_SESSION="reader")
    rows = {row["name"]: row for row in cli("sessions", "--json").data}
    assert rows["a-test"]["buffers"] == 1
    assert rows["a-test"]["read_by"] == {"reader": 1}
    assert rows["reader"]["read"] == {"a-test": 1}
    one = cli("sessions", "a-test", "--json").data
    assert [(row["ref"], row["read_by"]) for row in one["captured"]] == [(hidden, ["reader"])]
    assert cli("sessions", "reader", "--json").data["read_of_others"] == [{"ref": hidden, "session": "a-test"}]
    assert hidden in cli("sessions", "a-test").out
    assert cli("sessions", "rename", "a-test", "release").code == 0
    assert "release (a-test)" in cli("sessions").out
    removed = cli("sessions", "rm", "release", "--json").data
    assert (removed["removed"], removed["buffers"]) == ("a-test", 1)
    assert [row["name"] for row in cli("sessions", "--json").data] == ["reader"]
    assert {row["name"] for row in cli("sessions", "--all", "--json").data} == {"a-test", "reader"}
    assert cli("show", hidden).code == 1
    assert cli("doctor").code == 0


def test_a_note_goes_with_the_next_reply_once(cli: Any, hidden: str) -> None:
    note = cli("note", f"{hidden}:2-3", "look\nhere", "--send", "--json", SIGHTLINE_SESSION="person").data
    assert (note["ref"], note["to"], note["state"]) == (f"{hidden}:2-3", "a-test", "waiting")
    assert "notes" not in cli("run", "--json", "--", "true", SIGHTLINE_SESSION="other").data
    first, second = (cli("run", "--json", "--", "echo", "hi").data for _ in range(2))
    assert first["notes"] == [{"ref": f"{hidden}:2-3", "text": "look\nhere"}]
    assert first["stdout"] == "hi\n"
    assert "notes" not in second
    (kept,) = cli("notes", "--json").data
    assert (kept["state"], kept["sent_to"]) == ("sent", "a-test")
    assert "look" in cli("views", "show", cli("views", "--json").data[-2]["id"]).out, "the log has it"


def test_a_note_for_any_goes_to_whoever_asks_next(cli: Any, hidden: str) -> None:
    cli("note", hidden, "look", "--any", SIGHTLINE_SESSION="person")
    assert '"text":"look"' in cli("query", f"head -1 {hidden}", SIGHTLINE_SESSION="else").out


def test_a_note_waits_for_a_reply_that_is_no_error(cli: Any, hidden: str) -> None:
    cli("note", hidden, "look", "--send", "--session", "a-test")
    assert "look" not in cli("show", "@cmd_ffffff").err
    assert "look" in cli("list").out


def test_a_note_that_is_not_sent_stays_with_the_person(cli: Any, hidden: str) -> None:
    cli("note", f"{hidden}:1-2", "mine")
    assert "notes" not in cli("run", "--", "true").out
    assert "mine" in cli("notes", hidden).out
    assert "mine" in cli("timeline").out


def test_wrong_notes_are_refused(cli: Any, hidden: str) -> None:
    assert cli("note", f"{hidden}:1-99999", "x").code == 2
    assert cli("note", hidden, " ").code == 2
    assert cli("note", hidden, "x", "--any", "--session", "a-test").code == 2
    assert cli("note", "@cmd_ffffff", "x").code == 1
    assert cli("notes").out == "no notes\n"


def test_report_is_written_in_each_format(cli: Any, hidden: str) -> None:
    for name, begins in (("r.html", "<!doctype html>"), ("r.md", "# All sessions"), ("r.json", "{")):
        assert cli("report", "-o", name).code == 0
        path = cli.folder / name
        assert path.read_text().startswith(begins)
        assert "ERROR: boom" in path.read_text()
        assert path.stat().st_mode & 0o077 == 0
    assert json.loads((cli.folder / "r.json").read_text())["totals"]["overlooked_failures"] == 1
    assert cli("report", "--format", "md", "--session", "a-test").out.startswith("# a-test")
    assert cli("report", "--since", "2h").out.startswith("<!doctype html>")


def test_report_that_cannot_be_written_says_so(cli: Any, hidden: str) -> None:
    assert "cannot be written" in cli("report", "-o", "no/such/folder/r.html").err
    assert cli("report", "--format", "pdf").code == 2


def test_a_background_command_that_fails_after_the_last_reply_is_told_by_audit(cli: Any, until: Any) -> None:
    os.mkfifo(cli.folder / "gate")
    cli("run", "--background", "-c", "read x < gate; echo bad; exit 4")
    (cli.folder / "gate").write_text("\n")
    until(lambda: cli("list", "--json").data[0]["state"] == "sealed")
    ran = cli("audit", "--json", "--fail-on", "untold-failure", SIGHTLINE_SESSION="looker")
    assert (ran.code, ran.data["counts"]["untold-failure"]) == (1, 1)


@pytest.mark.parametrize("name", ["coverage", "timeline", "sessions", "note", "notes", "audit", "report"])
def test_help_has_an_example(cli: Any, name: str) -> None:
    assert "\n  sightline " in cli(name, "--help").out.partition("\nexample")[2]


def test_output_in_lists_can_do_nothing_to_a_terminal(cli: Any) -> None:
    cli("run", "-c", "printf 'x\\n%.0s' $(seq 9000); printf 'ValueError: \\033]0;x\\007\\033[2J\\n'; seq 1 9000")
    cli("note", "@last", "a\x1b[2Jb")
    for words in (("coverage", "@last"), ("timeline",), ("audit",), ("notes",), ("sessions",)):
        assert "\x1b" not in cli(*words).out


def test_nothing_of_a_note_waits_after_it_went(cli: Any, hidden: str) -> None:
    cli("note", hidden, "look", "--send")
    assert os.listdir(cli.home / "outbox")
    cli("list")
    assert not (cli.home / "outbox").exists()


def test_a_session_that_was_shown_nothing_has_no_broken_log(cli: Any, until: Any) -> None:
    cli("run", "--background", "-c", "true", SIGHTLINE_SESSION="asker")
    until(lambda: cli("list", "--json").data[0]["state"] == "sealed")
    (cli.home / "audit" / "asker.jsonl").unlink()
    for index in Path(cli.home).glob("index.sqlite*"):
        index.unlink(missing_ok=True)  # its log goes with the last that has it open
    ran = cli("audit", "--json", "--session", "asker", "--fail-on", "broken-log")
    assert (ran.code, ran.data["counts"]["broken-log"]) == (0, 0)


def test_views_of_a_session_are_listed_by_whatever_names_it(cli: Any, hidden: str) -> None:
    cli("show", hidden, "--lines", "1", SIGHTLINE_SESSION="other")
    cli("sessions", "rename", "a-test", "release 2")
    for name in ("a-test", "a-te", "release 2"):
        assert [row["session"] for row in cli("views", "--session", name, "--json").data] == ["a-test"]


def test_what_is_gone_before_all_of_it_was_shown_is_not_said_to_be_sound(cli: Any, hidden: str) -> None:
    cli("run", "-c", "echo all of it")
    for ref in (hidden, str(cli.last())):
        assert cli("rm", ref).code == 0
    assert cli("audit").out.startswith("nothing of what is still there went wrong unseen\n")
    assert cli("audit", "--json").data["gone"] == [hidden], "the other one was shown whole"
    assert cli("timeline", "--json").data["totals"]["gone_outputs"] == 1
    assert "1 output went before all was shown" in cli("timeline").out
    for form in ("html", "md"):
        report = cli("report", "--format", form).out
        assert "Not in this report: what failed in 1 output that went" in report
        assert "None in what is still there" in report
    assert json.loads(cli("report", "--format", "json").out)["gone"] == [hidden]
    assert cli("audit", "--session", "a-test", "--json", SIGHTLINE_SESSION="other").data["counts"] == dict.fromkeys(
        KINDS, 0
    )


def test_notes_stand_beside_the_calls_of_the_session_that_they_are_for(cli: Any, hidden: str) -> None:
    for session in ("other", "person"):
        cli("run", "-c", "seq 1 3000", SIGHTLINE_SESSION=session)
    theirs = str(cli.last())
    cli("note", hidden, "on an output of a-test", SIGHTLINE_SESSION="person")
    cli("note", theirs, "sent to a-test", "--session", "a-test", SIGHTLINE_SESSION="person")
    cli("note", theirs, "on another's", SIGHTLINE_SESSION="person")

    def told(*scope: str) -> list[str]:
        return [note["text"] for note in cli("timeline", "--json", *scope).data["notes"]]

    assert told() == ["on an output of a-test", "sent to a-test", "on another's"]
    assert told("--session", "a-test") == ["on an output of a-test", "sent to a-test"]
    assert told("--session", "other") == []
    report = json.loads(cli("report", "--format", "json", "--session", "a-test").out)
    assert [note["text"] for note in report["notes"]] == ["on an output of a-test", "sent to a-test"]


def test_a_command_whose_writer_was_killed_has_failed_and_nobody_was_told(cli: Any, until: Any) -> None:
    running = cli.start("run", "-c", "while echo on; do sleep 0.1; done", start_new_session=True)
    until(lambda: (shown := cli("list", "--json").data) and shown[0]["out"]["bytes"])
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    until(lambda: cli("audit", "--fail-on", "untold-failure").code == 1)
    assert "was interrupted, and nobody was told" in cli("audit", "--session", "a-test").out


@pytest.fixture
def partial(cli: Any) -> Callable[..., str]:
    """Keeps an output of which only a part reached the store; its ref."""

    def keep(exit_code: int | None = 5, **about: Any) -> str:
        with Store(str(cli.home)) as store:
            recording = store.begin("cmd", "make", "/", "a-test")
            recording.append("out", b"1\n2\n3\n4\n")
            gaps = (Gap("out", 2, 20_012),)
            about = {"partial": "cut by Claude Code", "gaps": gaps, **about}
            return recording.seal(exit_code=exit_code, **about).ref

    return keep


def test_no_audit_passes_a_failure_of_which_only_a_part_reached_the_store(cli: Any, partial: Any) -> None:
    ref = partial()
    cli("show", ref)
    told = "ended with exit 5; cut by Claude Code; missing: 20,012 characters after line 2"
    assert f"failed-partial  {ref}  {told}" in cli("audit").out
    for kinds, code in (("", 0), ("failed-partial", 1), ("overlooked-failure", 1), ("broken-log", 0)):
        ran = cli("audit", "--json", *(("--fail-on", kinds) if kinds else ()))
        assert (ran.code, ran.data["failed"]) == (code, bool(code)), kinds
        assert ran.data["counts"] == {**dict.fromkeys(KINDS, 0), "failed-partial": 1}
    assert "Nobody can say what was overlooked in a failed-partial" in " ".join(cli("audit", "--help").out.split())


@pytest.mark.parametrize(
    ("about", "found"),
    [
        ({"exit_code": 0}, 0),
        ({"exit_code": None}, 1),
        ({"exit_code": None, "timed_out": True}, 1),
        ({"exit_code": 1, "partial": "", "gaps": ()}, 0),
    ],
)
def test_only_what_failed_or_may_have_is_a_partial_failure(
    cli: Any, partial: Any, about: dict[str, Any], found: int
) -> None:
    cli("show", partial(**about))
    assert cli("audit", "--json").data["counts"]["failed-partial"] == found


def test_everything_that_names_a_partial_output_says_so(cli: Any, partial: Any) -> None:
    ref = partial()
    cli("show", ref)
    marker = "[… 20,012 characters missing: cut by Claude Code …]"
    assert marker in cli("show", ref).out
    assert "exit 5 partial" in cli("list").out
    (row,) = cli("list", "--json").data
    assert (row["partial"], row["gaps"][0]["missing"]) == ("cut by Claude Code", 20_012)
    told = cli("coverage", ref).out
    assert "4 of 4 lines that reached the store seen (less than 100 %)" in told
    assert "at most 0.1 % of what was written reached the store" in told
    data = cli("coverage", ref, "--json").data
    assert data["at_most"]
    assert data["share"] < 1
    assert "partial" in cli("views", ref).out
    timeline = cli("timeline").out
    assert "  cut  partial  " in timeline
    assert "less than 100 %" in timeline
    assert "of 1 output only a part reached the store" in timeline
    assert ", 1 partial" in cli("sessions").out
    assert cli("sessions", "--json").data[0]["partial"] == 1
    for form in ("md", "html"):
        report = cli("report", "--format", form).out
        assert "Only a part reached the store" in report
        assert "partial: cut by Claude Code" in report
        assert "less than 100 % seen" in report
