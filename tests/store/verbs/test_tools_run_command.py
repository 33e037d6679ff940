"""run_command: short outputs whole, longer ones as a view that says what is missing, and commands that end badly."""

import errno
import json
import os
import re
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.base.errors import BadRef, CommandNotStarted, StoreFailed, UsageError
from sightline.base.profile import DEFAULT
from sightline.capture.command import CommandCapture
from sightline.capture.file import capture_file
from sightline.disk.buffer_writer import BufferWriter
from sightline.settings.config import Settings
from sightline.shape.budgets import HARD_LIMIT_BYTES, budget_for
from sightline.shape.markers import MARKER
from sightline.store import Store
from sightline.verbs.reply import FIELD_ORDER, serialised_bytes
from sightline.verbs.run_command import Doorway
from tests.examples import examples


def test_short_output_comes_whole_with_its_exit_code_and_nothing_else(agent: Any) -> None:
    reply = agent.run("echo hello")
    assert reply.fields == {"exit_code": 0}
    assert reply.text == agent.told == "hello\n"
    assert agent.views()[-1].refs == (agent.newest().name,), "it is stored and logged all the same"


def test_short_failure_tells_its_exit_code_and_both_streams(agent: Any) -> None:
    reply = agent.run("echo one; echo two >&2; exit 3")
    assert reply.fields == {"exit_code": 3}
    assert reply.exit_code == 3
    assert reply.text == "one\n[stderr]\ntwo\n"
    assert reply.streams == ("one\n", "two\n")


@pytest.mark.parametrize("verbosity", ["concise", "normal", "verbose", "full"])
def test_short_output_is_short_in_every_mode_that_shows_all_of_it(agent: Any, verbosity: str) -> None:
    assert agent.run("echo hello", verbosity=verbosity).fields == {"exit_code": 0}


def test_explicit_mode_cuts_even_a_short_output(agent: Any) -> None:
    reply = agent.run("seq 1 200", verbosity="silent")
    assert reply.fields["truncated"] is True
    assert len(reply.text.encode()) <= DEFAULT.budgets.silent


def test_what_is_short_is_measured_on_the_reply_as_it_is_sent(agent: Any) -> None:
    """``seq 1 2000`` is 8,893 bytes, and each newline takes two more when it is sent."""
    beside = serialised_bytes({"exit_code": 0}, "")
    fits = DEFAULT.short.limit_bytes - beside
    assert agent.run(f"printf %0{fits}d 0").fields == {"exit_code": 0}
    assert "output_id" in agent.run(f"printf %0{fits + 1}d 0").fields
    reply = agent.run("seq 1 2000")
    assert reply.fields["output_id"].startswith("@cmd_")
    assert reply.fields["truncated"] is True


def test_newlines_count_as_they_are_escaped(agent: Any) -> None:
    text = "\n".join(str(number) for number in range(1, 1500)) + "\n"
    assert len(text) < DEFAULT.short.limit_bytes
    is_short = serialised_bytes({"exit_code": 0}, text) <= DEFAULT.short.limit_bytes
    assert ("output_id" not in agent.run("seq 1 1499").fields) == is_short


def test_longer_output_has_its_fields_in_the_order_agents_read_them(agent: Any) -> None:
    reply = agent.run("seq 1 3000; seq 1 500 >&2; exit 2")
    names = list(reply.fields)
    assert names == [
        "output_id",
        "exit_code",
        "summary",
        "truncated",
        "stdout_shown",
        "stdout_total",
        "stderr_shown",
        "stderr_total",
        "total_bytes",
        "next",
    ]
    assert names == [name for name in FIELD_ORDER if name in names]
    assert reply.fields["stdout_total"] == 3000
    assert reply.fields["stderr_total"] == 500
    assert reply.fields["total_bytes"] == 13_893 + 1_892
    assert "failed with exit 2" in reply.fields["summary"]
    assert agent.told.startswith("[output_id=@cmd_")


def test_counts_are_those_of_the_lines_that_stand_in_the_body(agent: Any) -> None:
    reply = agent.run("seq 1 3000; seq 4001 4100 >&2")
    out, err = reply.streams
    for text, name, lines in ((out, "stdout", range(1, 3001)), (err, "stderr", range(4001, 4101))):
        shown = [line for line in text.splitlines() if not re.fullmatch(MARKER, line)]
        assert all(int(line) in lines for line in shown)
        assert reply.fields[f"{name}_shown"] == len(shown)


def test_next_call_reads_the_first_lines_that_are_missing(agent: Any) -> None:
    reply = agent.run("seq 1 3000")
    shown = {line for line in reply.text.splitlines() if line.isdigit()}
    following = agent.follow(reply.fields["next"])
    lines = following.text.splitlines()
    assert lines[0] == str(next(number for number in range(1, 3001) if str(number) not in shown))
    assert not set(lines) & shown


def test_next_call_passes_over_what_a_display_wrote_over(agent: Any) -> None:
    display = r"for i in $(seq 400); do printf '\033[1A\033[2Kat %d\n' $i; done"
    reply = agent.run(f"echo begin; {display}; seq 9000")
    assert "lines rewritten in place" in reply.text
    elided = re.search(r"\[… (\d+)-\d+\]", reply.text)
    assert elided and f"--lines {elided[1]}-" in reply.fields["next"]
    assert agent.follow(reply.fields["next"]).text.startswith(f"{int(elided[1]) - 401}\n")


def test_stderr_follows_a_line_that_says_so(agent: Any) -> None:
    reply = agent.run("seq 1 3000; echo oh >&2")
    assert reply.text.endswith("\n[stderr]\noh\n")


@pytest.mark.parametrize("verbosity", ["silent", "concise", "normal", "verbose"])
@pytest.mark.parametrize("exit_code", [0, 1])
def test_body_stays_within_the_budget_of_its_mode(agent: Any, verbosity: str, exit_code: int) -> None:
    reply = agent.run(f"seq 1 30000; seq 1 9000 >&2; exit {exit_code}", verbosity=verbosity)
    assert len(reply.text.encode()) <= budget_for(verbosity, True)
    assert len(reply.text.encode()) > budget_for(verbosity, True) // 3, "the budget is used"


def test_auto_gives_a_failure_more_room_than_a_success(agent: Any) -> None:
    ok, failed = agent.run("seq 1 30000"), agent.run("seq 1 30000; false")
    assert len(ok.text.encode()) <= 1024 < len(failed.text.encode()) <= 8192


def test_unknown_mode_is_an_error_before_anything_runs(agent: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no verbosity 'loud'"):
        agent.run(f"touch '{tmp_path}/ran'", verbosity="loud")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "command",
    [
        "yes 0123456789012345678901234567890123456789 | head -c 10000000 | cat -n",
        "head -c 50000000 /dev/zero | tr '\\0' x",
        "head -c 400000 /dev/urandom",
        "seq 1 100000; seq 1 100000 >&2; false",
    ],
)
def test_no_reply_is_larger_than_the_hard_limit(agent: Any, command: str) -> None:
    agent.run(command, verbosity="full")
    assert len(agent.told.encode(errors="surrogateescape")) <= HARD_LIMIT_BYTES
    assert len(agent.told) > HARD_LIMIT_BYTES // 4


def test_one_enormous_line_is_cut_in_its_middle_and_its_length_told(agent: Any) -> None:
    reply = agent.run("printf BEGIN; head -c 50000000 /dev/zero | tr '\\0' x; printf END")
    assert reply.text.startswith("BEGINxxx")
    assert reply.text.rstrip("\n").endswith("xxxEND")
    assert re.search(r"\[… [\d,]+ bytes of line 1 …\]", reply.text)
    assert reply.fields["total_bytes"] == 50_000_008
    assert agent.follow(reply.fields["next"]).text.startswith("BEGIN")


def test_repeated_lines_are_folded(agent: Any) -> None:
    reply = agent.run("yes same | head -5000")
    assert reply.text.count("same") == 1
    assert "×4,999 more" in reply.text


def test_no_output_is_an_empty_body(agent: Any) -> None:
    assert agent.run("true").text == agent.told == ""


def test_missing_final_newline_is_not_made_up(agent: Any) -> None:
    assert agent.run("printf hi").text == agent.told == "hi"


def test_colours_and_progress_are_cleaned_in_the_view_and_kept_in_the_store(agent: Any) -> None:
    reply = agent.run(r"printf '\033[31mred\033[0m\nStep 1: In progress\rDone\n'")
    assert reply.text == "red\nDone 1: In progress\n"
    assert agent.raw(agent.newest()) == b"\x1b[31mred\x1b[0m\nStep 1: In progress\rDone\n"


def test_timeout_keeps_what_was_written_and_says_what_to_do(agent: Any, limit: Any) -> None:
    doorway = Doorway(started=limit.started, echo=limit.echo)
    reply = agent.run("echo before; sleep 60", doorway, timeout_secs=limit.seconds)
    assert reply.fields["timed_out"] is True
    assert reply.fields["exit_code"] is None
    assert reply.exit_code == 124
    assert "before" in reply.text
    assert "background" in reply.fields["hint"]
    assert agent.read(reply.fields["output_id"]).text == "before\n"
    assert agent.newest().timed_out


def test_timeout_ends_the_whole_group(agent: Any, until: Any, limit: Any) -> None:
    doorway = Doorway(started=limit.started, echo=limit.echo)
    pid = int(agent.run("sleep 60 & echo $!; wait", doorway, timeout_secs=limit.seconds).text)

    def has_ended() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    until(has_ended)


def test_signal_is_told_as_shells_do(agent: Any) -> None:
    reply = agent.run("kill -TERM $$")
    assert reply.fields["exit_code"] == reply.exit_code == 143
    reply = agent.run("seq 1 3000; kill -SEGV $$")
    assert reply.fields["exit_code"] == 139
    assert "signal 11" in reply.fields["summary"]


def test_background_gives_the_ref_at_once_and_waiting_gives_the_rest(agent: Any, tmp_path: Path) -> None:
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    reply = agent.run(f"echo one; cat '{fifo}'; echo two >&2; exit 5", background=True)
    assert reply.fields["status"] == "running"
    ref = reply.fields["output_id"]
    if "one" not in reply.text:
        first = agent.follow(reply.fields["next"])
        assert first.text == "one\n"
        assert first.fields["status"] == "running"
    fifo.write_text("from the fifo\n")
    last = agent.read(ref, wait=20)
    assert last.text == "one\nfrom the fifo\n[stderr]\ntwo\n"
    assert last.fields["exit_code"] == 5
    assert agent.read(ref + ".err", wait=20).text == "two\n"


def test_command_that_goes_on_is_answered_with_what_it_has_written(agent: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    written, threads = threading.Event(), list[threading.Thread]()

    def run(capture: CommandCapture) -> None:
        threads.append(threading.Thread(target=capture.run, daemon=True))
        threads[0].start()
        assert written.wait(30)

    doorway = Doorway(echo=lambda *_: written.set(), run=run)
    reply = agent.run("echo one; read x < go; echo two", doorway)
    (tmp_path / "go").write_text("\n")
    assert (reply.fields["status"], reply.text) == ("running", "one\n")
    threads[0].join(30)
    assert agent.follow(reply.fields["next"]).text == "one\ntwo\n"


def test_background_names_its_ref_even_where_it_has_ended_already(agent: Any) -> None:
    assert agent.run("echo hi", background=True).fields["output_id"] == agent.newest().ref


def test_background_that_cannot_start_says_so(agent: Any) -> None:
    with pytest.raises(CommandNotStarted, match="no-such-program"):
        agent.run(argv=("no-such-program",), background=True)


def test_unknown_program_is_an_error_with_the_code_of_a_shell(agent: Any) -> None:
    with pytest.raises(CommandNotStarted) as caught:
        agent.run(argv=("no-such-program", "x"))
    assert caught.value.exit_code == 127
    assert agent.run("no-such-program").exit_code == 127


def test_program_that_is_not_executable_has_its_own_code(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(CommandNotStarted) as caught:
        agent.run(argv=(str(tmp_path / "data"),))
    assert caught.value.exit_code == 126


def test_no_command_is_an_error(agent: Any) -> None:
    with pytest.raises(UsageError, match="no command"):
        agent.run("   ")


def test_command_runs_where_it_was_asked_to(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert agent.run("pwd", cwd="sub").text == f"{tmp_path}/sub\n"
    assert agent.newest().cwd == f"{tmp_path}/sub"


@pytest.mark.parametrize("cwd", ["missing", "file"])
def test_folder_that_is_none_is_an_error_before_anything_runs(agent: Any, tmp_path: Path, cwd: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="there is no folder"):
        agent.run(f"touch '{tmp_path}/ran'", cwd=cwd)
    assert not (tmp_path / "ran").exists()


def test_label_is_kept(agent: Any) -> None:
    agent.run("echo hi", label="nightly")
    assert agent.newest().label == "nightly"


def test_arguments_reach_the_program_without_a_shell(agent: Any) -> None:
    program = "import sys, json; print(json.dumps(sys.argv[1:]))"
    argv = ("a b", "$HOME", "*", "'", "", "\\@cmd_a1b2c3")
    reply = agent.run(argv=(sys.executable, "-c", program, *argv))
    assert json.loads(reply.text) == [*argv[:-1], "@cmd_a1b2c3"]


def test_shell_is_bash_with_pipes(agent: Any) -> None:
    assert agent.run("set -o pipefail; [[ a == a ]] && echo x | tr x y").text == "y\n"


def test_standard_input_is_empty_unless_the_door_has_one(agent: Any, tmp_path: Path) -> None:
    assert agent.run("cat").text == ""
    (tmp_path / "in").write_text("from the door\n")
    with open(tmp_path / "in", "rb") as file:
        assert agent.run("cat", Doorway(stdin=file.fileno())).text == "from the door\n"


def test_grandchild_that_holds_the_streams_does_not_hold_the_reply(agent: Any, tmp_path: Path) -> None:
    reply = agent.run(f"sleep 600 & echo $! > '{tmp_path}/pid'; echo done")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)  # it still runs
    assert reply.text == "done\n"
    assert "what that writes from then on is not kept" in reply.fields["note"]
    assert "in the background" in reply.fields["hint"]


def test_where_nothing_is_kept_the_output_itself_is_given(caller: Any, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    with Store(settings=Settings(capture_off=(str(private),))) as store:
        agent = caller(store, "claude-code-1", "claude-code")
        reply = agent.run("seq 1 3; exit 4", cwd=str(private))
        assert reply.text == "1\n2\n3\n"
        assert reply.fields["exit_code"] == reply.exit_code == 4
        assert "capture = off" in reply.fields["note"]
        assert "output_id" not in reply.fields
        assert store.listed(10) == []
        assert agent.run("echo kept").fields == {"exit_code": 0}
        assert len(store.listed(10)) == 1


def test_where_storing_fails_the_output_comes_with_a_warning_and_no_ref(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: BufferWriter, *_: object) -> None:
        raise StoreFailed(f"storing failed: {os.strerror(errno.ENOSPC)}", "make room")

    monkeypatch.setattr(BufferWriter, "append", full)
    reply = agent.run("seq 1 3000; exit 7")
    assert reply.text == "".join(f"{number}\n" for number in range(1, 3001))
    assert reply.exit_code == 7
    assert "No space left" in reply.fields["warning"]
    assert "output_id" not in reply.fields
    assert "@cmd_" not in agent.told
    assert agent.views()[-1].refs == ()


@pytest.mark.parametrize(
    ("command", "lines", "size", "last"),
    [
        ("seq 1 100000", 100_000, 588_895, r"\[… [\d,]+ lines elided: lines \d+-100000 …\]"),
        ("seq 1 100000; echo oh >&2", 100_000, 588_898, r"oh"),
        ("seq -s ' ' 1 100000", 1, 588_895, r".*\[… [\d,]+ bytes of this line elided: line 1 …\]"),
        ("seq -s ' ' 1 100000; seq 9", 10, 588_913, r"\[… 10 lines elided: lines 1-10 …\]"),
    ],
)
def test_of_what_memory_could_not_hold_the_beginning_is_shown_and_all_is_counted(
    command: str, lines: int, size: int, last: str, agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: BufferWriter, *_: object) -> None:
        raise StoreFailed("storing failed", "make room")

    monkeypatch.setattr(BufferWriter, "append", full)
    reply = agent.run(command)
    assert (reply.fields["stdout_total"], reply.fields["total_bytes"]) == (lines, size)
    assert reply.fields["truncated"] is True
    assert "lost" in reply.fields["note"]
    body = reply.text.splitlines()
    assert body[0].startswith("1")
    assert re.fullmatch(last, body[-1])
    if match := re.search(r"([\d,]+) lines elided: lines (\d+)-(\d+)", reply.text):
        count, first, until = (int(number.replace(",", "")) for number in match.groups())
        assert (count, first, until) == (until - first + 1, reply.fields["stdout_shown"] + 1, lines)
    assert len(agent.told.encode()) <= HARD_LIMIT_BYTES


def test_reply_that_cannot_be_logged_is_sent_with_a_warning(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("sightline.log.log.append", fail)
    agent.run("echo hello")
    assert agent.told.endswith("hello\n")
    assert "could not be logged" in agent.told


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=80), max_size=60))
def test_whatever_is_short_comes_back_as_it_was(agent: Any, tmp_path: Path, lines: list[str]) -> None:
    kept = [line for at, line in enumerate(lines) if not at or line != lines[at - 1]]  # else they would be folded
    text = "".join(line + "\n" for line in kept)
    (tmp_path / "text").write_bytes(text.encode())
    reply = agent.run(f"cat '{tmp_path}/text'", verbosity="full")
    assert reply.text == text


@pytest.mark.parametrize("typed", ["kill {}", "kill -9 {}", "kill -s TERM '{}'", ' kill -TERM "{}";'])
def test_kill_with_a_ref_ends_what_runs_and_gives_its_view(agent: Any, typed: str) -> None:
    ref = agent.run("echo begun; sleep 60 & wait", background=True).fields["output_id"]
    agent.read(ref, until="begun")
    reply = agent.run(typed.format(ref))
    assert (reply.fields["output_id"], reply.text) == (ref, "begun\n")
    assert reply.fields["exit_code"] in (143, 137)
    assert agent.store.resolve(ref).buffer.signal in (15, 9)
    assert agent.run(typed.format(ref)).fields["note"] == "it had ended before"


def test_kill_leaves_nothing_of_the_group(agent: Any, until: Any) -> None:
    ref = agent.run("trap '' TERM; sleep 60 & echo $!; wait", background=True).fields["output_id"]
    pid = int(agent.read(ref, until="[0-9]").text)
    agent.run(f"kill {ref}")
    until(lambda: not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text())


def test_kill_of_several_says_how_each_ended(agent: Any) -> None:
    refs = [agent.run("sleep 60", background=True).fields["output_id"] for _ in range(2)]
    assert agent.run(f"kill {' '.join(refs)}").text == "".join(f"{ref}  signal 15\n" for ref in refs)


def test_kill_of_what_is_no_command_is_refused(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x\n")
    file = capture_file(agent.store, str(tmp_path / "f"), "s")
    with pytest.raises(BadRef, match="is not a command"):
        agent.run(f"kill {file.ref}")
