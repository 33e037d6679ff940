"""How the timeline and the replay look."""

import time
from collections.abc import Callable, Iterator
from unittest.mock import patch

import pytest
from textual.pilot import Pilot

from sightline.log.notes import send_note, write_note
from sightline.log.session_events import AgentMessage, Prompt, append_events
from sightline.store import Store, Target
from sightline_tui.app import InspectorApp
from tests.tui.audit_kit import AGENT, OTHER, ask, session
from tests.tui.tui_kit import NOW, add, numbered, rest

Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def _same_time_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def asked(store: Store) -> Store:
    """A session that overlooks a failure, and another that reads along."""
    made = add(store, "cmd_00000a", "make paint", numbered(300) + b"ERROR: out of paint\n" + numbered(99), exit_code=0)
    view = {"verb": "run_command", "truncated": True, "exit_code": 0}
    ask(store, made, [(1, 3), (380, 400)], ago=600, reply="line 1\nline 2\nline 3\n[… elided]\n", **view)
    ask(store, made, [(2, 40)], ago=500, reply="line 2\nline 3\n", request={"ref": "@cmd_00000a:2-40"})
    ask(store, made, [(2, 2)], by=OTHER, ago=400, verb="query", request={"pipeline": "grep -n 'line 2$' @last"})
    failed = add(store, "cmd_00000c", "cargo test --workspace", b"no rule\n" * 9, exit_code=101)
    ask(store, failed, [(1, 9)], verb="run_command", ago=300, exit_code=101, reply="no rule\n" * 9)
    with patch("time.time", lambda: NOW - 250):
        note = write_note(store, session("shell-1"), Target(made, "out", 301, 301), "the paint ran out")
        send_note(store, session("shell-1"), note, AGENT)
    return store


@pytest.fixture
def spoken(asked: Store) -> Store:
    """The same with prompts, and what the first agent said."""
    told = [
        Prompt(NOW - 620, "Paint the wall.\n\n- **two** coats\n- no drops \x1b[31mon the floor"),
        AgentMessage(NOW - 610, "I start with `make paint`, since the brushes are clean."),
        AgentMessage(NOW - 450, "The paint is on. Now the tests."),
        Prompt(NOW - 350, "Go on, please."),
    ]
    append_events(asked.root, session(AGENT), told)
    append_events(asked.root, session(OTHER), [Prompt(NOW - 420, "Look for drops.", by_agent=True)])
    return asked


@pytest.fixture
def edited(spoken: Store) -> Store:
    """The same with a file that was read and edited."""
    path = "/home/ada/project/src/wall.py"
    file = add(spoken, "file_00000d", path, numbered(30), exit_code=None, ago=290)
    ask(spoken, file, [(1, 30)], verb="read_file", ago=290, request={"path": path})
    change = {"file_path": path, "old_string": "line 12\n", "new_string": "line twelve\n# a second coat\n"}
    request = {"tool": "Edit", "arguments": change, "files": [path]}
    ask(spoken, None, verb="tool", ago=280, reply="The file has been updated.\n", request=request)
    made = add(spoken, "cmd_00000e", "make paint", b"wet\n", ago=270)
    ask(spoken, made, [(1, 1)], verb="run_command", ago=270, exit_code=0)
    return spoken


def shown(compare: Compare, store: Store, size: tuple[int, int], *keys: str) -> bool:
    async def before(pilot: Pilot[None]) -> None:
        await rest(pilot)
        for key in keys:
            await pilot.press(key)
            await rest(pilot)

    return compare(InspectorApp(store, clock=lambda: NOW, live=False), terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", [(80, 24), (140, 30)], ids=["small", "medium"])
def test_timeline(snap_compare: Compare, asked: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, asked, size, "t", "g")


@pytest.mark.parametrize("size", [(80, 24), (140, 30)], ids=["small", "medium"])
def test_replay(snap_compare: Compare, asked: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, asked, size, "t", "g", "r", "right")


@pytest.mark.parametrize("size", [(80, 24), (140, 30)], ids=["small", "medium"])
def test_timeline_with_words(snap_compare: Compare, spoken: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, spoken, size, "t", "g", "enter")


@pytest.mark.parametrize("size", [(80, 24), (140, 30)], ids=["small", "medium"])
def test_timeline_with_an_edit(snap_compare: Compare, edited: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, edited, size, "t", "G", "k", "k", "enter")


@pytest.mark.parametrize("size", [(80, 24), (140, 30)], ids=["small", "medium"])
def test_replay_of_an_edit(snap_compare: Compare, edited: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, edited, size, "t", "G", "k", "k", "r")


@pytest.mark.parametrize("size", [(80, 24), (140, 30)], ids=["small", "medium"])
def test_files_of_a_replay(snap_compare: Compare, edited: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, edited, size, "t", "G", "k", "k", "r", "right", "f")


@pytest.mark.parametrize("size", [(80, 24), (140, 30)], ids=["small", "medium"])
def test_replay_with_words(snap_compare: Compare, spoken: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, spoken, size, "t", "G", "k", "k", "r", "I")
