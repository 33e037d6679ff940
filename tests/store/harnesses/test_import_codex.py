"""Rollouts of Codex: commands that outlive their first result, transcripts that have just come, copied history."""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sightline.store import Store
from tests.store.harnesses.past_kit import Import, buffers, read, views, write_lines

PARENT, FORK, SPAWNED = (f"0199aaaa-0000-7000-8000-00000000000{place}" for place in range(1, 4))
LONG_AGO = datetime(2026, 6, 1, 10, tzinfo=UTC).timestamp()
RUNNING, ENDED = "Process running with session ID 77", "Process exited with code {}"


class Rollout:
    """Lines of a rollout, a second apart."""

    def __init__(self, session: str, since: float = LONG_AGO, **meta: Any) -> None:
        self.now = since
        self.session = session
        self.lines = [self.line("session_meta", id=session, cwd="/repo", cli_version="0.142.0", **meta)]

    def line(self, kind: str, **payload: Any) -> dict[str, Any]:
        stamp = datetime.fromtimestamp(self.now, UTC).isoformat().replace("+00:00", "Z")
        return {"timestamp": stamp, "type": kind, "payload": payload}

    def call(self, use: str, name: str, arguments: dict[str, Any], result: str) -> "Rollout":
        """Add a call, and its result a second later."""
        asked = self.line(
            "response_item", type="function_call", name=name, arguments=json.dumps(arguments), call_id=use
        )
        self.now += 1
        self.lines += [asked, self.line("response_item", type="function_call_output", call_id=use, output=result)]
        return self

    def ran(self, use: str, command: str, out: str = "", state: str = ENDED.format(0)) -> "Rollout":
        """Add a command."""
        return self.call(use, "exec_command", {"cmd": command}, _result(state, out))

    def polled(self, use: str, out: str, state: str) -> "Rollout":
        """Add a look at what the command that goes on has written since."""
        return self.call(use, "write_stdin", {"session_id": 77, "chars": ""}, _result(state, out))

    def said(self, text: str) -> "Rollout":
        """Add a message of the agent."""
        block = {"type": "output_text", "text": text}
        self.lines.append(self.line("response_item", type="message", role="assistant", content=[block]))
        return self

    def copy(self, other: "Rollout") -> "Rollout":
        """Add the lines of another rollout at this time, as a fork does."""
        self.lines += [{**one, "timestamp": self.lines[0]["timestamp"]} for one in other.lines]
        self.now += 5
        return self

    def write(self, folder: Path) -> Path:
        """Write it, as a file that nobody writes any more."""
        path = write_lines(folder / f"rollout-2026-06-01T10-00-00-{self.session}.jsonl", *self.lines)
        os.utime(path, (LONG_AGO, LONG_AGO))
        return path


def _result(state: str, out: str) -> str:
    return f"Chunk ID: a1\nWall time: 1.0 seconds\n{state}\nOriginal token count: 2\nOutput:\n{out}"


def test_a_command_that_goes_on_has_the_rest_and_the_exit_code_of_later_results(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    rollout = Rollout(PARENT).ran("c1", "make test", "compi", RUNNING).polled("c2", "ling\n1 ok\n", RUNNING)
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
    imported(Rollout(PARENT).ran("c1", "m", "a\nb\n", RUNNING).polled("c2", cut, ENDED.format(0)).write(tmp_path))
    (made,) = buffers(store)
    assert (read(store, made), made.partial) == (b"a\nb\nx 1\ny\n", "cut by Codex")
    assert [tuple(gap) for gap in made.gaps] == [("out", 3, 890, "tokens")]


def test_without_an_end_a_command_has_what_was_shown_of_it_and_no_message_of_codex(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    rollout = Rollout(PARENT).ran("c1", "serve", "one\n", RUNNING).polled("c2", "two\n", RUNNING)
    rollout.call("c3", "write_stdin", {"session_id": 77, "chars": "q"}, "write_stdin failed: stdin is closed")
    imported(rollout.write(tmp_path))
    (made,) = buffers(store)
    assert (read(store, made), made.exit_code) == (b"one\ntwo\n", None)
    assert made.partial == "its end was never written down"


@pytest.mark.parametrize(("age", "calls", "waiting"), [(3600.0, 2, 0), (0.0, 0, 1)], ids=["a copy", "a running one"])
def test_a_file_that_was_just_written_is_whole_if_its_records_are_old(
    store: Store, imported: Import, tmp_path: Path, age: float, calls: int, waiting: int
) -> None:
    rollout = Rollout(PARENT, time.time() - age).ran("c1", "serve", "one\n", RUNNING).polled("c2", "two\n", RUNNING)
    path = rollout.write(tmp_path)
    os.utime(path)
    counts = imported(path).counts
    assert (counts.calls, counts.waiting) == (calls, waiting)
