"""Every command: help with an example, data as JSON, errors that say what to do, the exact text of what it showed."""

import hashlib
import json
import re
import shlex
import tempfile
from argparse import SUPPRESS
from pathlib import Path
from typing import Any

import pytest

from sightline.base.distribution import version
from sightline.doors.cli import demo
from sightline.doors.cli.commands import COMMANDS, GROUPS, command_of
from sightline.doors.cli.main import main
from tests.each import each

IN_PROCESS = True

HELPED = sorted(name for name in COMMANDS if name != "demo")


@each("name", HELPED)
def test_help_of_every_command_has_an_example_of_it(name: str) -> None:
    parser = command_of(name)[0].whole()
    examples = parser.format_help().partition("\nexample")[2]
    assert f"sightline {name}" in examples
    shlex.split(examples)


def test_help_is_printed_and_is_no_error(cli: Any) -> None:
    for name in ("run", "sessions rm"):
        ran = cli(*name.split(), "--help")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith(f"usage: sightline {name} ")


def test_overview_names_every_command_below_those_who_ask_for_it(cli: Any) -> None:
    for words in (["--help"], ["-h"], ["help"], []):
        ran = cli(*words)
        assert ran.code == 0
        for title, group in GROUPS.items():
            told = ran.out.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
            assert re.findall(r"^  (\S+(?: \S+)?)  ", told, re.MULTILINE) == list(group)
    first = [re.split(r"\W", title)[0] for title in GROUPS]
    assert first == ["Run", "Look", "Audit", "Connect", "Care", "Ship"]


def test_every_module_that_declares_a_command_line_is_a_command() -> None:
    doors = Path(demo.__file__).parents[1]
    declaring = {path.relative_to(doors) for path in doors.glob("*/*.py") if "\ndef parser(" in path.read_text()}
    modules = [place.partition(".")[0] for place, _ in COMMANDS.values()]
    bare = {Path("cli/inspector.py")}  # of the command without a name
    assert {Path(place if "/" in place else f"cli/{place}").with_suffix(".py") for place in modules} | bare == declaring


@each("name", COMMANDS)
def test_every_argument_has_a_sentence_of_help_that_begins_small_and_has_no_end(name: str) -> None:
    parser = command_of(name)[0].whole()
    assert re.fullmatch(r"[A-Z].*[.]", str(parser.description), re.DOTALL)
    for action in parser._actions:
        assert action.help, f"{name}: {action.dest}"
        if action.help != SUPPRESS:
            assert re.match(r"[a-z@-].*[^.]$", action.help), f"{name}: {action.dest}: {action.help}"
            assert len(action.help.split()) >= 2, f"{name}: {action.dest}: {action.help}"


def test_version_is_told(cli: Any) -> None:
    if not version():
        pytest.skip("not installed, so there is no version")
    assert re.fullmatch(r"sightline \d+\.\d+\S*\n", cli("--version").out)
    assert cli("-V").code == 0


@pytest.mark.parametrize(("typed", "meant"), [("lst", "list"), ("quary", "query"), ("docter", "doctor")])
def test_unknown_command_is_answered_with_the_one_that_was_meant(cli: Any, typed: str, meant: str) -> None:
    ran = cli(typed)
    assert (ran.code, ran.out) == (2, "")
    assert f"did you mean `sightline {meant}`?" in ran.err


def test_a_shared_place_that_is_not_named_cannot_be_read_offline(cli: Any) -> None:
    ran = cli("list", "--offline")
    assert ran.code == 2
    assert "--store" in ran.err


def test_a_ref_alone_says_that_the_inspector_needs_a_terminal(cli: Any) -> None:
    ran = cli("@last")
    assert (ran.code, ran.out) == (2, "")
    assert "needs a terminal" in ran.err
    assert "`sightline show`" in ran.err


def test_options_of_the_scope_may_stand_before_the_command(cli: Any) -> None:
    (cli.folder / "other").mkdir()
    cli("run", "--", "echo", "x")
    for before, command in (
        (["--project", str(cli.folder / "other")], ["list"]),
        ([f"--project={cli.folder}"], ["list", "--json"]),
        (["--store", "no-address"], ["list"]),
        (["--store=no-address", "--offline"], ["views", "show", "1"]),
    ):
        first, then = cli(*before, *command), cli(*command, *before)
        assert (first.code, first.out) == (then.code, then.out), before
        assert "terminal" not in first.err
    assert cli("--all", "list", "--json").data == cli("list", "--json").data != []
    assert "echo x" in cli("--all", "--project", str(cli.folder), "list").out


def test_command_that_is_like_no_other_is_answered_with_the_overview(cli: Any) -> None:
    assert "`sightline --help`" in cli("xyzzy").err


def test_json_is_one_value_on_one_line(cli: Any, numbers: str, tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("text\n")
    for words in (
        ["show", "--json", "@last"],
        ["query", "--json", "wc -l @last"],
        ["list", "--json"],
        ["list", "--json", "--match", "seq"],
        ["diff", "--json", "@last", "@last.err"],
        ["path", "--json", "@last"],
        ["views", "--json"],
        ["views", "--json", "@last"],
        ["pin", "--json", "@last"],
        ["unpin", "--json", "@last"],
        ["gc", "--json"],
        ["doctor", "--json"],
        ["show", "--json", "@cmd_deadbeef"],
        ["query", "--json", "rm x"],
        ["capture", "--json"],
        ["read", "--json", "file.txt"],
        ["run", "--json", "--", "no-such-program"],
        ["run", "--json", "--", "true"],
        ["rm", "--json", "@last"],
    ):
        out = cli(*words).out
        assert isinstance(json.loads(out), dict | list), words
        assert out.count("\n") == 1, words


VERBS = [
    ["run", "--", "seq", "1", "3"],
    ["run", "--", "seq", "1", "9000"],
    ["run", "--verbosity", "full", "-c", "seq 1 20000; seq 1 9000 >&2; exit 1"],
    ["run", "-c", "printf '\\033[1mbold\\033[0m\\r\\n\\377\\n'; yes same | head -9000"],
    ["run", "--json", "--", "seq", "1", "9000"],
    ["run", "--timeout", "0.1", "-c", "echo hi; sleep 60"],
    ["run", "-c", "rm -rf nothing"],
    ["run", "-c", "cat @cmd_deadbeef"],
    ["run", "--json", "-c", "cat @cmd_deadbeef"],
    ["capture"],
    ["capture", "--json", "--exit-code", "3"],
    ["read", "file.txt"],
    ["read", "file.txt:100-2000"],
    ["read", "small.txt"],
    ["read", "missing.txt"],
    ["show", "@cmd"],
    ["show", "@last"],
    ["show", "@last", "--lines", "1-"],
    ["show", "@last:500-2900"],
    ["show", "@last.all", "--lines", "1-"],
    ["show", "@last", "--offset", "7", "--limit", "9000"],
    ["show", "@last", "--search", "9", "--context", "2"],
    ["show", "@last", "--wait", "0"],
    ["show", "@last.err"],
    ["query", "cat @last"],
    ["query", "grep -c 1 @last"],
    ["query", "wc -l @last @last.err"],
    ["query", "rm @last"],
    ["list"],
    ["list", "--match", "seq"],
    ["diff", "@last", "@last.err"],
]


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_log_has_the_very_text_that_was_printed(cli: Any, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "file.txt").write_text("".join(f"line {number}\n" for number in range(3000)))
    (tmp_path / "small.txt").write_text("no newline")
    cli("run", "-c", "seq 1 3000; printf 'no newline'; seq 1 1000 >&2")
    ran = cli(*words, stdin=b"piped in\n" * 900 + b"end")
    assert ran.out + ran.err
    assert cli.seen() == ran.out + ran.err


def test_views_are_listed_newest_last_and_by_buffer(cli: Any, numbers: str) -> None:
    cli("run", "--", "echo", "other")
    cli("show", numbers, "--lines", "5-9")
    rows = cli("views").out.splitlines()
    assert [row.split("  ")[2] for row in rows] == ["run_command", "run_command", "read_output"]
    assert "5 of 3,000 lines" in rows[-1]
    assert len(cli("views", numbers).out.splitlines()) == 2
    view = cli("views", numbers, "--json").data[-1]
    assert view["shown"] == [f"{numbers}:5-9"]
    assert view["refs"] == [numbers]
    assert view["request"] == {"ref": numbers, "lines": "5-9"}
    assert cli("views", "show", "--json", view["id"]).data["text"] == "5\n6\n7\n8\n9\n"


def test_unknown_view_is_an_error(cli: Any) -> None:
    assert cli("views").out == "nothing has been shown yet\n"
    assert cli("views", "show", "nobody:3").code == 1
    assert cli("views", "show", "nonsense").code == 1


def test_list_as_data_is_what_scripts_count_on(cli: Any, numbers: str) -> None:
    cli("run", "-c", "exit 3")
    data = cli("list", "--json").data
    assert [one["exit_code"] for one in data] == [3, 0]
    for key in (
        "ref",
        "kind",
        "state",
        "command",
        "exit_code",
        "created",
        "accessed",
        "out",
        "err",
        "pinned",
        "session",
    ):
        assert key in data[1]
    assert data[1]["out"]["lines"] == 3000
    assert data[1]["out"]["bytes"] == 13_893
    assert data[1]["session"] == "a-test"
    assert len(cli("list", "--json", "--limit", "1").data) == 1
    assert cli("list", "--json", "--session", "another").data == []
    assert cli("list", "--limit", "0").code == 2
    assert cli("list", "--json", "--limit", "0").code == 2


def test_path_is_the_plain_file_of_a_stream(cli: Any, numbers: str) -> None:
    assert Path(cli("path", numbers).out.rstrip("\n")).read_text().endswith("\n3000\n")
    assert cli.shell(f'tail -1 "$(sightline path {numbers}.err)"').out == "oh\n"
    assert Path(cli("path", numbers + ".all").out.rstrip("\n")).stat().st_size == 13_896
    assert set(cli("path", "--json", numbers).data["streams"]) == {"out", "err"}
    assert cli("path", "@cmd_deadbeef").code == 1


@pytest.mark.parametrize("words", [["path", "{}:1-3"], ["diff", "{}:1-3", "{}"]])
def test_range_is_refused_where_a_whole_stream_is_taken(cli: Any, numbers: str, words: list[str]) -> None:
    ran = cli(*[word.format(numbers) for word in words])
    assert ran.code == 2
    assert "whole stream" in ran.err


def test_diff_says_what_differs_with_refs_for_names(cli: Any) -> None:
    cli("run", "--", "seq", "1", "5")
    cli("run", "--", "seq", "2", "6")
    cli("run", "--", "seq", "2", "6")
    ran = cli("diff", "@last~2", "@last")
    assert ran.code == 1
    assert re.match(r"--- @cmd_\w+\n\+\+\+ @cmd_\w+\n@@", ran.out)
    assert "\n-1\n" in ran.out
    ran = cli("diff", "@last", "@last~1")
    assert (ran.code, ran.out) == (0, "")


def test_query_in_full_prints_everything(cli: Any, numbers: str) -> None:
    out = cli("query", "--full", f"cat {numbers}").out
    assert out == "".join(f"{number}\n" for number in range(1, 3001))
    [shown] = cli("views", "--json").data[-1]["shown"]
    assert shown == f"{numbers}:1-3000"
    assert len(cli("query", f"cat {numbers}").out.splitlines()) == 101


def test_read_takes_lines_after_a_colon_but_a_file_s_own_name_first(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n2\n3\n")
    (tmp_path / "b:2-3").write_text("the file\n")
    assert cli("read", "a.txt:2-3").out == "2\n3\n"
    assert cli("read", "a.txt:3").out == "3\n"
    assert cli("read", "b:2-3").out == "the file\n"
    assert cli("read", "a.txt:3-2").code == 2
    assert cli("read", "a.txt:9").code == 2
    assert cli("read", "missing:1-2").code == 1


def test_pinned_buffers_stay_and_removed_ones_go(cli: Any) -> None:
    for number in range(4):
        cli("run", "--", "echo", str(number))
    kept = cli("list", "--json").data[-1]["ref"]
    assert cli("pin", kept).out == f"{kept} pinned\n"
    assert cli("gc", SIGHTLINE_MAX_BUFFERS="2").code == 0
    left = [one["ref"] for one in cli("list", "--json").data if one["state"] != "expired"]
    assert kept in left
    assert len(left) == 2
    assert cli("unpin", kept).out == f"{kept} unpinned\n"
    assert cli("rm", kept).out == f"{kept} removed\n"
    ran = cli("show", kept)
    assert ran.code == 1
    assert "expired (removed" in ran.err
    assert "echo 0" in ran.err
    assert cli("rm", "@cmd_deadbeef").code == 1


def test_removed_buffer_s_views_stay_unless_they_are_purged(cli: Any) -> None:
    for purge in ([], ["--purge"]):
        printed = cli("run", "--verbosity", "full", "--", "seq", "1", "3000").out
        view = cli("views", "--json").data[-1]["id"]
        assert cli("rm", *purge, "@last").code == 0
        ran = cli("views", "show", view)
        assert ran.out == ("" if purge else printed)
        assert ran.code == (1 if purge else 0)
    assert "blanked" in ran.err
    assert cli("doctor").code == 0, "the chain still verifies"


def test_views_of_a_buffer_that_is_gone_are_listed_and_can_still_be_purged(cli: Any, numbers: str) -> None:
    cli("rm", numbers)
    [view] = cli("views", numbers, "--json").data
    assert view["refs"] == [numbers]
    assert cli("rm", numbers).code == 1
    assert cli("rm", "--purge", numbers).code == 0
    assert "blanked" in cli("views", "show", view["id"]).err
    assert cli("doctor").code == 0, "the chain still verifies"


def test_running_buffer_is_not_removed(cli: Any, tmp_path: Path) -> None:
    cli("run", "--background", "-c", "echo $$ > pid; while [ ! -e stop ]; do sleep 0.02; done")
    ran = cli("rm", "@last")
    (tmp_path / "stop").touch()
    assert ran.code == 1
    assert "still running" in ran.err
    cli("show", "@last", "--wait", "20")


def test_the_beginning_of_a_name_will_do_for_a_person_and_an_agent(cli: Any, numbers: str) -> None:
    assert cli("show", numbers[:9], "--lines", "1-2").out == "1\n2\n"
    assert cli("show", numbers[:9], "--lines", "1-2", CLAUDE_CODE_SESSION_ID="abc").out == "1\n2\n"


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("CLAUDE_CODE_SESSION_ID", "claude-code-s1"),
        ("CODEX_SESSION_ID", "codex-s1"),
        ("GEMINI_SESSION_ID", "gemini-s1"),
        ("SIGHTLINE_SESSION", "s1"),
    ],
)
def test_session_is_the_harness_s(cli: Any, variable: str, name: str) -> None:
    del cli.environment["SIGHTLINE_SESSION"]
    cli("run", "--", "true", **{variable: "s1"})
    assert cli("list", "--json").data[0]["session"] == name
    assert (cli.home / "audit" / f"{name}.jsonl").exists()


def test_without_a_harness_each_parent_process_is_a_session(cli: Any) -> None:
    del cli.environment["SIGHTLINE_SESSION"]
    for _ in range(2):
        cli.shell("sightline run -- true; sightline run -- true; true")
    sessions = [one["session"] for one in cli("list", "--json").data]
    assert sessions[0] == sessions[1] != sessions[2] == sessions[3]
    assert all(session.startswith("shell-") for session in sessions)


def test_last_is_an_agent_s_own_and_for_a_person_the_store_s(cli: Any) -> None:
    del cli.environment["SIGHTLINE_SESSION"]
    cli("run", "--", "echo", "agent", CLAUDE_CODE_SESSION_ID="one")
    cli("run", "--", "echo", "person")
    assert cli("show", "@last", CLAUDE_CODE_SESSION_ID="one").out == "agent\n"
    assert cli("show", "@last").out == "person\n"
    assert cli("show", "@last~1").out == "agent\n"
    assert cli("show", "@last", CLAUDE_CODE_SESSION_ID="two").code == 1


def test_wrong_setting_names_the_file_the_key_and_what_is_allowed(cli: Any) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text("max_buffers = 'many'\n")
    ran = cli("list")
    assert ran.code == 2
    assert "config.toml: max_buffers" in ran.err
    assert "whole number" in ran.err


def test_store_that_cannot_be_made_is_told(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = cli("list", SIGHTLINE_HOME=str(tmp_path / "file" / "store"))
    assert ran.code == 1
    assert "set SIGHTLINE_HOME" in ran.err
    assert "Traceback" not in ran.err


def test_what_an_error_quotes_cannot_disturb_the_terminal(cli: Any) -> None:
    cli("run", "-c", "true '\x1b]0;owned\x07'")
    cli("rm", "@last")
    tombstone = next((cli.home / "tombstones").iterdir()).stem
    ran = cli("show", f"@{tombstone}")
    assert "owned" in ran.err
    assert "\x1b" not in ran.err


def test_capture_prints_the_view_of_what_comes_through_the_pipe(cli: Any) -> None:
    ran = cli("capture", "--command", "make", "--label", "nightly", "--exit-code", "2", stdin=b"text\n")
    assert (ran.code, ran.out) == (0, "text\n")
    [buffer] = cli("list", "--json").data
    assert (buffer["command"], buffer["label"], buffer["exit_code"]) == ("make", "nightly", 2)
    assert buffer["out"]["bytes"] == 5


@pytest.mark.parametrize("options", [["--exit-code", "9" * 23], ["--exit-code", "x"], ["--verbosity", "x"], ["--what"]])
def test_capture_with_a_wrong_option_passes_its_input_on(cli: Any, options: list[str]) -> None:
    ran = cli("capture", *options, stdin=b"the only copy\n")
    assert (ran.code, ran.out) == (2, "the only copy\n")
    assert "Traceback" not in ran.err


def test_a_number_that_is_no_exit_code_is_refused_with_a_hint(cli: Any) -> None:
    assert (
        "is not an exit code; write the shell's, such as --exit-code $?" in cli("capture", "--exit-code", "9" * 23).err
    )


def test_capture_without_an_exit_code_judges_by_what_the_output_says(cli: Any) -> None:
    lines = [f"line {number}" for number in range(5000)]
    lines[2500] = "error: it broke here"
    assert "error: it broke here" in cli("capture", stdin="\n".join(lines).encode()).out
    assert "error: it broke here" not in cli("capture", "--exit-code", "0", stdin="\n".join(lines).encode()).out


def test_capture_passes_the_input_through_even_when_its_reader_leaves(cli: Any) -> None:
    data = b"".join(b"%d\n" % number for number in range(100_000))
    ran = cli("capture", "-p", stdin=data)
    assert ran.out.encode() == data
    ran = cli.shell("seq 1 300000 | sightline capture -p | head -1")
    assert (ran.out, ran.err) == ("1\n", "")
    kept = cli("list", "--json").data[0]  # the shell has waited for every part of its pipeline
    assert (kept["state"], kept["out"]["lines"]) == ("sealed", 300_000)


def test_input_passed_through_is_in_the_log_without_its_text(cli: Any) -> None:
    cli("capture", "-p", "--command", "make", stdin=b"1\n2\n")
    [view] = cli("views", "--json").data
    assert (view["verb"], view["lines_total"], view["bytes_shown"]) == ("capture", 2, 0)
    assert view["shown"] == [], "what the reader of a pipe saw of it is not known"


def test_nothing_is_captured_from_a_pipe_where_nothing_is_kept(cli: Any, tmp_path: Path) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text(f'[directories."{tmp_path}"]\ncapture = "off"\n')
    ran = cli("capture", stdin=b"text\n")
    assert ran.code == 0
    assert "capture = off" in ran.err
    assert ran.out == "text\n"
    assert cli("capture", "-p", stdin=b"text\n").out == "text\n"
    assert cli("list", "--json").data == []


def test_capture_of_nothing_is_an_empty_buffer(cli: Any) -> None:
    assert cli("capture").out == ""
    assert cli("list", "--json").data[0]["out"]["bytes"] == 0


def test_unknown_mode_is_told_before_the_input_is_read(cli: Any) -> None:
    assert cli("capture", "--verbosity", "loud", stdin=b"x").code == 2
    assert cli("list", "--json").data == []


@pytest.mark.parametrize("name", ["list", "views", "sessions"])
def test_limit_is_a_number_from_one_on_however_large(cli: Any, numbers: str, name: str) -> None:
    for limit in ("0", "-5"):
        ran = cli(name, "--limit", limit)
        assert ran.code == 2
        assert "from 1 up" in ran.err
    assert len(cli(name, "--limit", "9" * 30, "--json").data) == 1


def test_views_say_what_stands_at_the_numbers_that_they_skip(cli: Any, numbers: str) -> None:
    assert "numbers" not in cli("views").err
    cli("note", f"{numbers}:2-3", "look here")
    cli("list")
    told = cli("views")
    assert [line.split()[0].rpartition(":")[2] for line in told.out.splitlines()] == ["1", "3"]
    assert "numbers count all entries of a session's log" in told.err
    assert "sightline doctor" in told.err


def test_where_no_view_matches_that_is_said(cli: Any, numbers: str) -> None:
    cli("list", SIGHTLINE_SESSION="other")
    assert cli("views", numbers, "--session", "other").out == "nothing matches\n"
    assert cli("views", "--session", "nobody").code == 2


@pytest.mark.parametrize(
    ("written", "asked", "said"),
    [
        (r"ok \377\376 x\nfine\n\303\n", "show @last", "3 bytes that are not UTF-8"),
        (r"ok \377\376 x\nfine\n\303\n", "show @last --lines 2-3", "1 byte that is not UTF-8"),
        (r"ok \377\376 x\nfine\n\303\n", "show @last --lines 2-2", ""),
        (r"\357\277\275 itself\n", "show @last", ""),
        (r"ok \377\376 x\n", "query 'cat @last'", "at least 2 bytes that are not UTF-8"),
    ],
)
def test_bytes_that_are_no_utf_8_are_counted_in_a_reply(cli: Any, written: str, asked: str, said: str) -> None:
    cli("run", "-c", f"printf '{written}'")
    note = json.loads(cli(*shlex.split(asked), "--json").out).get("note", "")
    assert said in note
    assert bool(note) == bool(said)


def test_program_without_a_name_is_not_started(cli: Any) -> None:
    ran = cli("run", "--", "")
    assert ran.code == 127
    assert "name is empty" in ran.err


def test_whole_answer_into_a_pipe_is_logged_with_its_exact_text(cli: Any) -> None:
    cli("run", "-c", "seq 1 3000")
    answer = cli("query", "--full", "cat @last").out
    assert answer.count("\n") == 3000
    assert cli.seen() == answer


def test_whole_answer_past_the_hard_limit_is_logged_with_its_size_and_hash(cli: Any) -> None:
    cli("run", "-c", "seq 1 30000")
    answer = cli("query", "--full", "cat @last").out.encode()
    request = cli("views", "--json").data[-1]["request"]
    assert request["answer_bytes"] == len(answer) > 64 * 1024
    assert request["answer_sha256"] == hashlib.sha256(answer).hexdigest()


def test_next_call_of_a_view_that_leaves_out_failures_lists_them(cli: Any) -> None:
    script = 'for i in $(seq 1 400); do echo fine $i; echo "case_$i.py:$i: AssertionError: $i"; done; exit 1'
    head = cli("run", "-c", script).out.partition("\n")[0]
    call = json.loads('"' + head.partition('next="')[2].rpartition('"]')[0] + '"')
    listed = cli.shell(call).out
    assert "matches_total=400" in listed
    assert "AssertionError: 1\n" in listed


def test_the_demo_is_of_an_agent_that_overlooks_a_failure(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "LOG_SECONDS", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main(["demo", "--headless"]) == 0
    told = capfd.readouterr().out
    assert "overlooked-failure" in told
    assert "never made it" in told.partition("gets the remark along")[2], "the reply carries the note"
    (root,) = tmp_path.glob("sightline-demo-*/store")
    audit = cli("audit", "--session", "demo-agent", "--fail-on", "overlooked-failure", SIGHTLINE_HOME=str(root))
    assert audit.code == 1
    assert "no price in EUR" in audit.out


def test_to_look_again_at_what_failed_is_no_failure(cli: Any) -> None:
    assert cli("run", "-c", "echo no; exit 3").code == 3
    assert cli("show", "@last").code == 0


@pytest.mark.parametrize("group", ["fleet", "sessions", "rules"])
def test_help_of_a_command_names_those_below_it(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([group, "--help"])
    shown = capsys.readouterr().out
    below = {name: about for name, (_, about) in COMMANDS.items() if name.startswith(f"{group} ")}
    assert below
    assert all(f"  {name} " in shown and about in shown for name, about in below.items())


def test_an_error_of_a_command_says_that_there_are_others_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fleet", "nonsense"])
    assert "sightline fleet COMMAND" in capsys.readouterr().err
