"""Codex has its model ask for what a command that goes on has written since: this counts as seen of the command."""

import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sightline.agents.hooks.event import answer_to
from sightline.agents.past_sessions import live_transcript
from sightline.agents.past_sessions.importer import Importer
from sightline.agents.past_sessions.live_transcript import catch_up
from sightline.base.records import IndexedView
from sightline.harnesses.formats import find_sources
from sightline.log.log_index import list_views
from sightline.store import Store

CALLED = json.dumps({"cmd": "make"})
WROTE = "one\nFAILED test_x\nlast\n"


class Rollout:
    """A rollout in which `make test` goes on after its call, and what hooks are told meanwhile."""

    def __init__(self, path: Path, cwd: Path) -> None:
        self.path, self.cwd = path, cwd
        self.later = 0.0
        self._write("session_meta", id="s1", cwd=str(cwd), cli_version="0.169.0")
        self._write("turn_context", cwd=str(cwd))
        self.tell("SessionStart", source="startup")

    def _write(self, kind: str, **payload: Any) -> None:
        stamp = datetime.fromtimestamp(time.time() + self.later, UTC).isoformat()
        with self.path.open("a") as file:
            file.write(json.dumps({"timestamp": stamp, "type": kind, "payload": payload}) + "\n")

    def tell(self, event: str, **given: Any) -> None:
        """Tell the hook of an event."""
        told = {"session_id": "s1", "cwd": str(self.cwd), "transcript_path": str(self.path), **given}
        answer_to(["codex", event, "--mode", "record"], json.dumps(told).encode())

    def asks(self, tool: str, use: str, shows: str, **arguments: Any) -> None:
        """Write that the model called a tool, and what it was shown."""
        self._write("response_item", type="function_call", name=tool, call_id=use, arguments=json.dumps(arguments))
        self._write("response_item", type="function_call_output", call_id=use, output=shows)

    def begins(self) -> None:
        """The command writes its first line, and goes on; so does its next call."""
        goes_on = "Wall time: 0.5 seconds\nProcess running with session ID 7\nOutput:\n"
        self.asks("exec_command", "call_1", f"{goes_on}one\n", cmd="make test")
        self.asks("write_stdin", "call_2", f"{goes_on}FAILED test_x\n", session_id=7, chars="")

    def ends(self) -> None:
        """Write how the command ended."""
        item = {"type": "CommandExecution", "id": "call_1", "command": ["/bin/bash", "-lc", "make test"]}
        self._write("event_msg", type="item_completed", item={**item, "aggregated_output": WROTE, "exit_code": 2})

    def fails(self, is_told: bool, code: int) -> None:
        """A command fails whose id is always the same; a hook is told of it, or is not."""
        shows = f"Wall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\nerror: no luck\n"
        self._write("response_item", type="function_call", name="exec_command", call_id="call_0", arguments=CALLED)
        self.later = 0.1
        item = {"type": "CommandExecution", "id": "call_0", "command": ["/bin/bash", "-lc", "make"]}
        ended = {**item, "aggregated_output": "error: no luck\n", "exit_code": code}
        self._write("event_msg", type="item_completed", item=ended)
        if is_told:
            called = {"tool_name": "Bash", "tool_use_id": "call_0", "tool_input": {"command": "make"}}
            self.tell("PostToolUse", **called, tool_response="error: no luck\n", took=code)
        self.later = 0.2
        self._write("response_item", type="function_call_output", call_id="call_0", output=shows)
        self.later = 0.0

    def tells_end(self) -> None:
        """Tell the hook that the command has ended."""
        self.tell(
            "PostToolUse",
            tool_name="Bash",
            tool_use_id="call_1",
            tool_input={"command": "make test"},
            tool_response=WROTE,
        )


@pytest.fixture
def rollout(root: Path, tmp_path: Path) -> Iterator[Rollout]:
    with Store(str(root)) as store:
        assert store.index
    yield Rollout(tmp_path / "rollout-s1.jsonl", tmp_path)
    assert not (root / "hooks.log").exists(), (root / "hooks.log").read_text()


def _views(store: Store) -> dict[str, IndexedView]:
    return {json.loads(one.view.request)["tool"]: one for one in list_views(store)}


def _says_what_was_seen(store: Store) -> None:
    """There is one buffer, and its first two lines were seen, each in its view."""
    [listed] = store.listed(10)
    assert listed.buffer.exit_code == 2
    shown = {
        tool: [(lines.buffer, lines.first, lines.last) for lines in (*one.view.shown, *one.view.matched)]
        for tool, one in _views(store).items()
    }
    name = listed.buffer.name
    assert shown.pop("write_stdin") == [(name, 2, 2)]
    [first] = shown.values()
    assert first == [(name, 1, 1)]
    assert not store.layout.waiting_sessions()


def test_who_looks_before_the_end_waits_for_what_later_calls_showed(rollout: Rollout, root: Path) -> None:
    rollout.begins()
    rollout.tell("UserPromptSubmit", prompt="go on")
    rollout.tell("Stop")
    with Store(str(root)) as store:
        catch_up(store)
        assert not _views(store)
        assert store.layout.waiting_sessions() == ["codex-s1"]
        rollout.ends()
        catch_up(store)
        _says_what_was_seen(store)
        catch_up(store)
        _says_what_was_seen(store)


def test_a_turn_s_end_before_the_command_s_end_waits_likewise(rollout: Rollout, root: Path) -> None:
    rollout.begins()
    rollout.tell("Stop")
    rollout.ends()
    rollout.tells_end()
    rollout.tell("Stop")
    with Store(str(root)) as store:
        _says_what_was_seen(store)


def test_a_command_whose_end_somebody_else_has_taken_in_is_kept_once(rollout: Rollout, root: Path) -> None:
    """Whoever looks may read the end before the hook that Codex starts for it."""
    rollout.begins()
    rollout.tell("Stop")
    rollout.ends()
    with Store(str(root)) as store:
        catch_up(store)
    rollout.tells_end()
    rollout.tell("Stop")
    with Store(str(root)) as store:
        _says_what_was_seen(store)


def test_what_was_shown_of_a_command_that_never_ends_is_logged_after_an_hour(
    rollout: Rollout, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rollout.begins()
    rollout.tell("Stop")
    monkeypatch.setattr(live_transcript, "time", SimpleNamespace(time=lambda: time.time() + 3601))
    with Store(str(root)) as store:
        catch_up(store)
        assert list(_views(store)) == ["write_stdin"]
        assert not store.layout.waiting_sessions()
        catch_up(store)
        assert len(list_views(store)) == 1


@pytest.mark.parametrize("seconds", [2.0, 600.0])
def test_a_call_of_which_no_hook_is_told_is_taken_in_though_an_earlier_one_had_its_id(
    seconds: float, rollout: Rollout, root: Path
) -> None:
    rollout.begins()
    rollout.ends()
    rollout.tells_end()
    rollout.later = seconds
    rollout.asks("view_image", "call_1", "no such image", path="/x")
    rollout.tell("Stop")
    with Store(str(root)) as store:
        assert _views(store).keys() == {"exec_command", "write_stdin", "view_image"}
    rollout.tell("Stop")
    with Store(str(root)) as store:
        assert len(list_views(store)) == 3


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize("told", [(), (0,), (1,), (0, 2), (0, 1, 2)])
def test_the_same_failing_command_with_one_id_is_kept_each_time_whoever_tells(
    told: tuple[int, ...], looks: bool, rollout: Rollout, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks are told of some of the calls; the rollout has all, and an import of it adds nothing."""
    now = time.time()
    for number in range(3):
        monkeypatch.setattr(time, "time", lambda at=now + 4.0 * number - 20: at)
        rollout.fails(number in told, code=number + 1)
        if looks:
            with Store(str(root)) as store:
                catch_up(store)
    monkeypatch.undo()
    monkeypatch.setenv("SIGHTLINE_HOME", str(root))
    rollout.tell("Stop")
    with Store(str(root)) as store:
        assert sorted(one.buffer.exit_code or 0 for one in store.listed(10)) == [1, 2, 3]
        seen = list_views(store)
        assert sorted(one.view.exit_code or 0 for one in seen) == [1, 2, 3]
        assert len({one.view.refs for one in seen}) == 3
        assert Importer(store).run(find_sources(str(rollout.path))).calls == 0


def test_a_rollout_that_is_lost_leaves_nothing_waiting(rollout: Rollout, root: Path) -> None:
    rollout.begins()
    rollout.tell("Stop")
    os.unlink(rollout.path)
    with Store(str(root)) as store:
        assert store.layout.waiting_sessions()
        catch_up(store)
        assert not store.layout.waiting_sessions()
