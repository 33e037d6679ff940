"""Rollouts of Codex: commands that outlive their first result, and transcripts that have just come."""

import json
import os
import time
from pathlib import Path

import pytest

from sightline.audit.verdict import verdict_of
from sightline.store import Store
from tests.store.harnesses.past_kit import ENDED, LONG_AGO, Import, Rollout, buffers, read, views

SESSION = "0199aaaa-0000-7000-8000-000000000001"
RUNNING = "Process running with session ID 77"


@pytest.mark.parametrize(
    ("first", "kept"),
    [("fatal: could not read\n", b"fatal: could not read\ndone\n"), ("do\n\ndone\n", b"done\n"), ("", b"done\n")],
)
def test_what_a_command_showed_first_is_kept_though_the_whole_output_lacks_it(
    store: Store, imported: Import, tmp_path: Path, first: str, kept: bytes
) -> None:
    about = {"name": "exec_command", "arguments": json.dumps({"cmd": "make"}), "call_id": "c1"}
    shown = f"Process running with session ID 5\nOutput:\n{first}"
    end = {"call_id": "c1", "command": ["bash", "-lc", "make"], "aggregated_output": "done\n", "exit_code": 2}
    rollout = Rollout("0199aaaa-0000-7000-8000-000000000003")
    rollout.lines += [
        rollout.line("response_item", type="function_call", **about),
        rollout.line("response_item", type="function_call_output", call_id="c1", output=shown),
        rollout.line("event_msg", type="exec_command_end", **end),
    ]
    imported(rollout.write(tmp_path))
    (made,) = buffers(store)
    assert (made.exit_code, read(store, made)) == (2, kept)


def test_a_command_that_goes_on_has_the_rest_and_the_exit_code_of_later_results(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    rollout = Rollout(SESSION).ran("c1", "make test", "compi", RUNNING).polled("c2", "ling\n1 ok\n", RUNNING)
    rollout.ran("c3", "ls").polled("c4", "1 failed\n", ENDED.format(2))
    imported(rollout.write(tmp_path))
    made = {one.command: one for one in buffers(store)}
    assert made.keys() == {"make test", "ls"}  # what showed more of it is no output of its own
    test = made["make test"]
    assert (test.exit_code, test.partial, read(store, test)) == (2, "", b"compiling\n1 ok\n1 failed\n")
    assert test.ended == LONG_AGO + 4
    last = next(view for view, text in views(store) if text.endswith("1 failed\n"))
    assert [(one.buffer, one.first, one.last) for one in (*last.shown, *last.matched)] == [(test.name, 3, 3)]


def test_a_cut_in_one_of_several_results_is_a_gap_where_it_stands(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    cut = "Warning: truncated output (original token count: 9)\nTotal output lines: 4\n\nx 1\n…890 tokens truncated…y\n"
    imported(Rollout(SESSION).ran("c1", "m", "a\nb\n", RUNNING).polled("c2", cut, ENDED.format(0)).write(tmp_path))
    (made,) = buffers(store)
    assert (read(store, made), made.partial) == (b"a\nb\nx 1\ny\n", "cut by Codex")
    assert [tuple(gap) for gap in made.gaps] == [("out", 3, 890, "tokens")]


def test_without_an_end_a_command_has_what_was_shown_of_it_and_no_message_of_codex(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    rollout = Rollout(SESSION).ran("c1", "serve", "one\n", RUNNING).polled("c2", "two\n", RUNNING)
    rollout.call("c3", "write_stdin", {"session_id": 77, "chars": "q"}, "write_stdin failed: stdin is closed")
    imported(rollout.write(tmp_path))
    (made,) = buffers(store)
    assert (read(store, made), made.exit_code) == (b"one\ntwo\n", None)
    assert made.partial == "its end was never written down"


@pytest.mark.parametrize(
    ("command", "hedged"), [("npm run dev -- --host 127.0.0.1", 0), ("cd web && npx vite", 0), ("npm test", 1)]
)
def test_a_server_that_goes_on_leaves_nothing_open(
    store: Store, imported: Import, tmp_path: Path, command: str, hedged: int
) -> None:
    imported(Rollout(SESSION).ran("c1", command, "Local: http://localhost:5173/\n", RUNNING).write(tmp_path))
    assert verdict_of(store).incomplete == hedged


@pytest.mark.parametrize("end", ["\r\n", "\x1b[0m\n"], ids=["of a terminal", "coloured"])
def test_lines_are_found_in_replies_however_they_end(store: Store, imported: Import, tmp_path: Path, end: str) -> None:
    rollout = Rollout(SESSION).ran("c1", "serve", f"ready{end}listening{end}", RUNNING)
    imported(rollout.polled("c2", f"stopped{end}", ENDED.format(0)).write(tmp_path))
    (made,) = buffers(store)
    found = [(one.first, one.last) for view, _ in views(store) for one in (*view.shown, *view.matched)]
    assert (made.lines, sorted(found)) == (3, [(1, 2), (3, 3)])


@pytest.mark.parametrize(("age", "calls", "waiting"), [(3600.0, 2, 0), (0.0, 0, 1)], ids=["a copy", "a running one"])
def test_a_file_that_was_just_written_is_whole_if_its_records_are_old(
    store: Store, imported: Import, tmp_path: Path, age: float, calls: int, waiting: int
) -> None:
    rollout = Rollout(SESSION, time.time() - age).ran("c1", "serve", "one\n", RUNNING).polled("c2", "two\n", RUNNING)
    path = rollout.write(tmp_path)
    os.utime(path)
    counts = imported(path).counts
    assert (counts.calls, counts.waiting) == (calls, waiting)


def test_an_end_that_was_written_after_an_import_is_added(store: Store, imported: Import, tmp_path: Path) -> None:
    rollout = Rollout(SESSION).ran("call_of_a_command_that_goes_on", "make test", "1 ok\n", RUNNING)
    imported(rollout.write(tmp_path))
    (made,) = buffers(store)
    assert made.exit_code is None
    rollout.polled("call_that_looks_at_it_later_on", "1 failed\n", ENDED.format(2))
    assert imported(rollout.write(tmp_path)).counts.known == 1
    (made,) = buffers(store)
    assert (made.exit_code, made.partial, read(store, made)) == (2, "it went on when it was imported", b"1 ok\n")
