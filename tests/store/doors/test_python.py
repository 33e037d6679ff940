"""The functions of `sightline`: what an agent that is written in Python calls."""

import doctest
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import sightline
import sightline.doors.python as door
from sightline import Reply, Store, list_outputs, query, read_file, read_output, run_command
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in os.environ:
        if name.endswith(("SESSION_ID", "THREAD_ID")) or name == "SIGHTLINE_SESSION":
            monkeypatch.delenv(name)
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "root"))
    return tmp_path / "root"


def test_the_examples_of_its_docstrings_hold() -> None:
    ran = doctest.testmod(door)
    assert ran.attempted >= 6
    assert ran.failed == 0


def test_every_name_that_is_promised_is_there() -> None:
    assert {name: getattr(sightline, name).__name__ for name in sightline.__all__} == {
        name: name for name in sightline.__all__
    }
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sightline.__getattr__("nothing")


def test_importing_it_loads_nothing_until_a_name_is_asked_for() -> None:
    program = "import sys, sightline; print(*(name for name in sys.modules if name.startswith('sightline')))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["sightline"]


def test_a_reply_is_the_text_that_was_logged(home: Path) -> None:
    reply = run_command("seq 1 20000; echo 'src/a.c:12: error: no luck' >&2; exit 3", session="a")
    assert reply.fields["exit_code"] == 3
    assert "no luck" in str(reply)
    assert reply.ref in str(reply)
    with Store(str(home)) as store:
        (indexed,) = list_views(store, session="a")
        assert view_text(store, indexed) == str(reply)
        assert (indexed.view.verb, indexed.view.exit_code) == ("run_command", 3)


def test_what_is_refused_is_a_reply_that_says_why_and_is_logged(home: Path) -> None:
    reply = read_output("@cmd_000000", session="a")
    assert "@cmd_000000" in reply.fields["error"]
    assert str(reply)
    with Store(str(home)) as store:
        assert [indexed.view.failed for indexed in list_views(store, session="a")] == [True]


def test_a_destructive_command_is_asked_back_and_runs_when_that_is_acknowledged(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    asked = run_command(f"rm -rf {folder}")
    assert asked.fields["pending_ack"].startswith("@ack_")
    assert folder.exists()
    assert run_command(asked.fields["pending_ack"]).fields["exit_code"] == 0
    assert not folder.exists()


def test_a_next_call_is_written_as_python() -> None:
    reply = run_command(["seq", "1", "30000"])
    name, _, arguments = reply.fields["next"].partition("(")
    assert name in ("read_output", "query")
    again = eval(f"{name}({arguments}", {"read_output": read_output, "query": query})
    assert isinstance(again, Reply)
    assert "error" not in again.fields


def test_files_queries_and_lists_are_answered(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    assert read_file(tmp_path / "a.txt").text == "one\ntwo\n"
    assert run_command(["printf", "%s\\n", "one", "two"], cwd=tmp_path, label="words").text == "one\ntwo\n"
    assert query("grep -c o @last").text == "2\n"
    assert "words" in str(list_outputs("words", limit=1))


def test_what_changed_since_the_last_run_and_what_was_asked_are_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\n")
    before = run_command("cat f; exit 1", cwd=tmp_path, session="a")
    (tmp_path / "f").write_text("two\n")
    reply = run_command("cat f; exit 1", cwd=tmp_path, compare="last", session="a")
    assert reply.fields["compared_with"]
    assert "two" in str(reply)
    assert "one" in str(before)
    asked = str(list_outputs(mine=True, session="a"))
    assert asked.count("cat f") == 2


def test_each_process_is_a_session_of_its_own_unless_one_is_named(home: Path) -> None:
    run_command("true")
    run_command("true", session="mine")
    with Store(str(home)) as store:
        sessions = {indexed.view.session for indexed in list_views(store)}
    assert len(sessions) == 2
    assert "mine" in sessions
    (own,) = sessions - {"mine"}
    assert own.startswith("python-")


def test_a_store_that_is_given_is_the_one_asked(tmp_path: Path, home: Path) -> None:
    with Store(str(tmp_path / "other")) as other:
        ref = run_command("echo here", store=other).ref
        assert read_output(ref, store=other).text == "here\n"
    assert "error" in read_output(ref).fields


def test_threads_ask_at_once() -> None:
    replies: list[Reply] = []
    threads = [threading.Thread(target=lambda: replies.append(run_command("echo a"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [str(reply) for reply in replies] == ["a\n"] * 8
