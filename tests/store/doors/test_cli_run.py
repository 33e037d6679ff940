"""``sightline run`` to a pipe: exit codes, standard input, signals, and readers that leave."""

import os
import resource
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sightline.disk.layout import Layout
from sightline.store import Store


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--", "true"], 0),
        (["true", "--an-option-of-its-own"], 0),
        (["-c", "exit 7"], 7),
        (["-c", "kill -TERM $$"], 143),
        (["-c", "kill -USR1 $$"], 138),
        (["--timeout", "0.2", "--", "sleep", "60"], 124),
        (["--", "no-such-program"], 127),
        (["-c", "no-such-program"], 127),
        (["--", "/etc/passwd"], 126),
        (["-c", "rm -rf x"], 1),
        ([], 2),
        (["-c", "true", "--", "true"], 2),
        (["--verbosity", "loud", "--", "true"], 2),
        (["--timeout", "never", "--", "true"], 2),
        (["--no-such-option", "--", "true"], 2),
        (["-C", "missing", "--", "true"], 2),
        (["-c", "cat @cmd_deadbeef"], 1),
    ],
)
def test_exit_code_is_the_command_s_or_says_what_was_wrong(cli: Any, words: list[str], code: int) -> None:
    ran = cli("run", *words)
    assert ran.code == code
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("options", "code", "out", "err"),
    [
        ("-C /", 0, "/\n", ""),
        ("-C ..", 0, "{folder}\n", ""),
        ("", 2, "", "sightline: the current folder is gone: {folder}/gone\n  go to one that exists"),
    ],
)
def test_in_a_folder_that_is_gone_a_command_runs_where_it_is_told_to(
    cli: Any, tmp_path: Path, options: str, code: int, out: str, err: str
) -> None:
    ran = cli.shell(f"mkdir gone; cd gone; rmdir ../gone; sightline run {options} -- pwd")
    assert (ran.code, ran.out) == (code, out.format(folder=tmp_path))
    assert ran.err.startswith(err.format(folder=tmp_path)) if err else not ran.err


def test_short_output_is_printed_as_it_is(cli: Any) -> None:
    assert cli("run", "--", "echo", "hi").out == "hi\n"
    assert cli("run", "-c", "echo one; echo two >&2").out == "one\n[stderr]\ntwo\n"


def test_the_index_is_left_as_it_is_to_the_next_command(cli: Any) -> None:
    cli("run", "--", "echo", "hi")
    assert os.path.getsize(cli.home / "index.sqlite-wal") > 0
    assert "echo hi" in cli("list").out


def test_a_capture_does_not_wait_while_another_makes_a_lost_index_anew(cli: Any) -> None:
    cli("run", "--", "echo", "before")
    for name in ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm"):
        (cli.home / name).unlink()
    with Layout(str(cli.home)).filling(0) as is_ours:
        assert is_ours
        ran = cli("run", "--", "echo", "meanwhile")
        piped = cli("capture", stdin=b"piped\n")
        assert (ran.out, ran.err, ran.code, piped.err, piped.code) == ("meanwhile\n", "", 0, "", 0)
        with Store(str(cli.home), waits=False) as store:
            assert store.index.is_unfilled()
    listed = cli("list").out
    assert "echo before" in listed
    assert "echo meanwhile" in listed


def test_longer_output_is_a_view_under_a_head_line_whose_next_call_works(cli: Any) -> None:
    out = cli("run", "-c", "seq 1 3000").out
    head, _, body = out.partition("\n")
    assert head.startswith("[output_id=@cmd_")
    assert body.startswith("1\n2\n")
    call = head.partition('next="')[2].partition('"')[0]
    assert call.startswith("sightline show @cmd_")
    following = cli.shell(call)
    assert following.code == 0
    assert following.out.split()[0] not in body.split()


def test_json_is_one_object_with_both_streams_and_where_they_lie(cli: Any) -> None:
    assert cli("run", "--json", "-c", "echo a; echo b >&2; exit 3").data == {
        "exit_code": 3,
        "stdout": "a\n",
        "stderr": "b\n",
    }
    data = cli("run", "--json", "-c", "seq 1 3000; echo b >&2").data
    assert list(data)[:2] == ["output_id", "exit_code"]
    assert data["stderr"] == "b\n"
    assert Path(data["full_output"]).read_text().startswith("1\n2\n")
    assert len(data["output_files"]) == 2


def test_words_after_two_dashes_belong_to_the_command(cli: Any) -> None:
    assert cli("run", "--", "printf", "%s|", "-c", "--json", "--", "--help").out == "-c|--json|--|--help|"
    assert cli("run", "echo", "hi").out == "hi\n"


def test_argument_that_is_no_text_reaches_the_command_and_the_log(cli: Any) -> None:
    ran = cli.shell(
        """sightline run -- printf '%s\\n' $'a\\xffb' | od -c; sightline run -c $'cat @cmd_deadbeef \\xfe'"""
    )
    assert "357 277 275" in ran.out, "the reply is text"
    assert cli("list", "--json").data[0]["command"] == "printf '%s\\n' 'a\\xffb'"
    requests = [view["request"] for view in cli("views", "--json").data]
    assert requests[0]["argv"][-1] == "a\\xffb"
    assert cli("doctor", "--rebuild").code == 0


def test_standard_input_is_passed_through(cli: Any) -> None:
    assert cli("run", "--", "tr", "a", "b", stdin=b"banana\n").out == "bbnbnb\n"
    assert cli("run", "-c", "wc -c", stdin=b"x" * 300_000).out.strip() == "300000"


def test_closed_standard_streams_are_no_danger(cli: Any) -> None:
    """What the store opens must not take the place of a closed stream and then be written to."""
    assert cli.shell("sightline run -- echo hi >&-").code == 0
    assert cli.shell("sightline run -- cat <&-").code == 0
    assert cli.shell("sightline run -c 'echo hi >&2' 2>&-").out == "[stderr]\nhi\n"
    assert cli.shell("sightline list >&- 2>&- <&-").code == 0
    assert cli("doctor").code == 0


def test_full_disk_under_standard_output_is_told_without_a_traceback(cli: Any) -> None:
    ran = cli.shell("sightline run -- echo hi > /dev/full")
    assert ran.code != 0
    assert "No space left" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "line", ["run -- seq 1 100000 --verbosity full", "run --verbosity full -- seq 1 90000", "list", "views"]
)
def test_reader_that_leaves_early_is_no_error(cli: Any, numbers: str, line: str) -> None:
    ran = cli.shell(f"for i in 1 2 3; do sightline {line}; done | head -1")
    assert ran.err == ""


def test_reply_is_logged_before_it_is_printed(cli: Any) -> None:
    read, write = os.pipe()
    os.close(read)  # whoever reads is gone already
    process = cli.start("run", "--verbosity", "full", "--", "seq", "1", "5000", stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert process.communicate()[1] == b""
    assert cli.seen().endswith("\n4999\n5000\n")


def test_errors_are_logged_too(cli: Any) -> None:
    ran = cli("run", "-c", "cat @cmd_deadbeef")
    assert ran.out == ""
    assert "@cmd_deadbeef" in ran.err
    assert cli.seen() == ran.err


def test_background_prints_the_ref_and_waiting_gives_the_end(cli: Any) -> None:
    head = cli("run", "--background", "-c", "echo one; exit 5").out
    assert head.startswith("[output_id=@cmd_")
    ref = head[len("[output_id=") :].split()[0]
    seen = "one" in head
    while True:
        out = cli("show", ref, "--wait", "20").out
        seen = seen or "\none\n" in out or out == "one\n"
        if "status=running" not in out:
            break
    assert seen
    assert cli("list", "--json").data[0]["exit_code"] == 5


def test_terminate_ends_the_command_s_group_and_keeps_what_it_wrote(cli: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    script = "trap 'echo ended; exit 9' TERM; echo begun; echo ready > fifo; sleep 60 & wait"
    process = cli.start("run", "-c", script, stdout=subprocess.PIPE)
    assert (tmp_path / "fifo").read_text() == "ready\n"
    process.terminate()
    out, _ = process.communicate(timeout=30)
    assert out == b"begun\nended\n"
    assert process.returncode == 9


def test_killed_capture_leaves_a_readable_buffer_marked_interrupted(cli: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    process = cli.start("run", "-c", "echo kept; echo $$ > fifo; exec sleep 60", stdout=subprocess.DEVNULL)
    pid = int((tmp_path / "fifo").read_text())
    while "kept" not in cli("show", "@last").out:
        pass
    process.kill()
    process.wait()
    assert cli("list", "--json").data[0]["state"] == "interrupted"
    assert cli("show", "@last").out.endswith("]\nkept\n")
    os.kill(pid, signal.SIGKILL)


def test_command_that_closes_its_streams_early_is_still_waited_for(cli: Any) -> None:
    ran = cli("run", "-c", "echo hi; exec >&- 2>&-; sleep 0.1; exit 4")
    assert (ran.out, ran.code) == ("hi\n", 4)


def test_ack_is_asked_for_and_confirmed_by_the_next_call(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "sub" / "folder").mkdir(parents=True)
    ran = cli("run", "-C", "sub", "--", "rm", "-rf", "folder")
    assert ran.out.startswith("[pending_ack=@ack_")
    assert (tmp_path / "sub" / "folder").exists()
    call = ran.out.partition('next="')[2].partition('"')[0]
    assert cli.shell(call).code == 0
    assert not (tmp_path / "sub" / "folder").exists()
    (tmp_path / "again").mkdir()
    assert cli("run", "--acknowledge-risk", "--", "rm", "-rf", "again").code == 0
    assert not (tmp_path / "again").exists()


def test_settings_choose_what_waits(cli: Any, tmp_path: Path) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text("[safety]\nconfirm_not = ['rm -rf']\n")
    assert cli("run", "--", "rm", "-rf", "nothing").code == 0
    (cli.home / "config.toml").write_text("[safety]\nconfirm = ['^deploy']\n")
    assert "pending_ack" in cli("run", "-c", "deploy now").out
    (cli.home / "config.toml").write_text("[safety]\nconfirm = ['(']\n")
    ran = cli("run", "--", "true")
    assert ran.code == 2
    assert "safety.confirm" in ran.err


def test_folder_where_nothing_is_kept(cli: Any, tmp_path: Path) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text(f'[directories."{tmp_path}"]\ncapture = "off"\n')
    out = cli("run", "-c", "echo hi", CLAUDE_CODE_SESSION_ID="an-agent").out
    assert out.startswith("[exit_code=0 note=")
    assert out.endswith("\nhi\n")
    assert cli("list", "--json").data == []


def test_where_storing_fails_the_output_is_printed_with_a_warning(cli: Any) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    cli("run", "--", "true")
    process = cli.start(
        "run", "--", "seq", "1", "60000", stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limited
    )
    out, err = process.communicate(timeout=30)
    assert b"Traceback" not in err
    assert b"warning=" in err
    assert b"@cmd_" not in err
    assert out.split() == [b"%d" % number for number in range(1, 60_001)]
    assert process.returncode == 0
