"""Sessions: who asked, what each captured, who read whose; and on to the timeline of one."""

import pytest

from sightline.records import Buffer
from sightline.store import Store
from sightline.tui.timeline.screen import TimelineScreen
from sightline.tui.timeline.sessions_screen import SessionsScreen
from tests.tui.audit_kit import AGENT, OTHER, ask, bar, rows
from tests.tui.tui_kit import add, opened, press, run, until, viewer


@pytest.fixture
def buffer(store: Store) -> Buffer:
    made = add(store, "cmd_00000a", "make paint", b"one\ntwo\n")
    add(store, "cmd_00000b", "ls", b"x\n", session=OTHER)
    ask(store, made, [(1, 1)], ago=600)
    ask(store, made, [(1, 2)], by=OTHER, ago=300)
    return made


def test_sessions_tell_who_they_are_and_what_they_did(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (220, 40)) as pilot:
            await press(pilot, "W")
            everyone, first, second = rows(pilot, "sessions")
            assert "all sessions" in everyone
            assert first.split()[0] == OTHER and first.split()[1:4] == ["codex", "cli", "1.0"]
            assert first.split()[-4:] == ["1", "1", "2B", "5m"]
            assert second.split()[0] == AGENT and second.split()[-1] == "10m"

    run(body)


def test_one_tells_what_it_captured_and_who_read_whose(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (80, 30)) as pilot:
            await press(pilot, "W", "j")
            told = rows(pilot, "session-facts")
            assert f" read 1 output of {AGENT}" in told
            assert any("@cmd_00000b" in row for row in told)
            assert any("@cmd_00000a" in row and f"read of {AGENT}" in row for row in told)
            await press(pilot, "j")
            told = rows(pilot, "session-facts")
            assert any("@cmd_00000a" in row and f"read by {OTHER}" in row for row in told)
            await press(pilot, "tab", "G", "enter")
            await until(pilot, lambda: viewer(pilot).shows("cmd_00000a"))

    run(body)


def test_enter_opens_the_timeline_of_a_session(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "W", "j", "enter")
            assert isinstance(pilot.app.screen, TimelineScreen)
            assert OTHER in bar(pilot, "timeline-head")
            await press(pilot, "s")
            assert isinstance(pilot.app.screen, SessionsScreen)
            assert rows(pilot, "sessions")[1].startswith(" ●")
            await press(pilot, "g", "enter")
            assert "all sessions" in bar(pilot, "timeline-head")

    run(body)


def test_a_session_is_renamed(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "W", "j", "n", *"release", "enter")
            assert "release" in rows(pilot, "sessions")[1]
            assert OTHER in rows(pilot, "session-facts")[0]
            await press(pilot, "enter")
            assert "release" in bar(pilot, "timeline-head")

    run(body)


def test_without_sessions_that_is_said(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "W", "n", "y")
            assert rows(pilot, "session-facts") == [" Nobody has asked anything yet"]
            await press(pilot, "escape")
            assert not isinstance(pilot.app.screen, SessionsScreen)

    run(body)
