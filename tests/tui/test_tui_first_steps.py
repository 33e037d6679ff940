"""Where there is nothing to show, what to do next is said, and Enter does it; toasts stay with their screen."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from sightline.base.project import Project
from sightline.store import Store
from sightline_tui import app as app_module
from sightline_tui import first_steps
from sightline_tui.app import InspectorApp
from sightline_tui.first_steps import STEPS, FirstSteps, call_of
from sightline_tui.timeline.screen import TimelineScreen
from tests.tui.audit_kit import ask, bar, rows
from tests.tui.tui_kit import add, buffers, opened, press, run, text, until


def notice(pilot: Pilot[None]) -> str:
    return "\n".join(row for notice in pilot.app.screen.query("#notice") if notice.display for row in text(notice))


def offered(pilot: Pilot[None]) -> list[str]:
    assert isinstance(pilot.app.screen, FirstSteps)
    return rows(pilot, "choices")


def test_each_step_is_a_command_of_ours_on_this_store(tmp_path: Path) -> None:
    for step in STEPS:
        call = call_of(step, str(tmp_path))
        assert call.argv[0] == sys.executable and call.argv[-len(step.words) :] == list(step.words)
        assert call.environment == {"SIGHTLINE_HOME": str(tmp_path)}


@pytest.mark.parametrize("keys", [["enter"], ["t", "enter"], ["W", "enter"]], ids=["list", "timeline", "sessions"])
def test_an_empty_store_offers_what_to_begin_with(store: Store, keys: list[str]) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            assert "Enter does one of these" in notice(pilot)
            await press(pilot, *keys)
            await until(pilot, lambda: isinstance(pilot.app.screen, FirstSteps))
            assert len(offered(pilot)) == len(STEPS)
            await press(pilot, *"demo")
            assert [row.split()[-1] for row in offered(pilot)] == ["demo"]

    run(body)


def test_enter_does_the_step_in_the_terminal(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    done = []
    monkeypatch.setattr(first_steps, "run_outside", lambda call: done.append(call.argv[-1]))

    @contextmanager
    def suspended() -> Iterator[None]:
        yield

    async def body() -> None:
        async with opened(store) as pilot:
            monkeypatch.setattr(pilot.app, "suspend", suspended)
            await press(pilot, "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, FirstSteps))
            await press(pilot, *"demo", "enter")
            assert done == ["demo"]
            assert pilot.app.focused is buffers(pilot)

    run(body)


def test_who_may_only_read_begins_nothing(store: Store) -> None:
    async def body() -> None:
        app = InspectorApp(store, live=False, read_only=True)
        async with app.run_test(notifications=True) as pilot:
            await pilot.press("enter")
            await until(pilot, lambda: bool(app._notifications))
            assert "one can only read" in next(iter(app._notifications)).message
            assert len(app.screen_stack) == 1

    run(body)


def test_where_the_terminal_cannot_be_left_the_command_is_told(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:  # which has none
            await press(pilot, "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, FirstSteps))
            await press(pilot, "enter")
            told = [toast.message for toast in pilot.app._notifications]
            assert told == ["This terminal cannot be left: type `sightline install claude-code` in another"]

    run(body)


def test_where_a_filter_or_a_project_leaves_nothing_enter_shows_all(store: Store) -> None:
    add(store, "cmd_00000a", "make paint", b"x\n")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "slash", *"exit:7", "enter")
            await until(pilot, lambda: "No buffer matches" in notice(pilot))
            await press(pilot, "enter")
            await until(pilot, lambda: len(text(buffers(pilot))) == 1)
            pilot.app.screen.show_project(Project("/srv/other"))
            await until(pilot, lambda: "Nothing of other is in the store" in notice(pilot))
            await press(pilot, "enter")
            await until(pilot, lambda: len(text(buffers(pilot))) == 1)

    run(body)


def test_in_the_timeline_enter_ends_a_filter_that_finds_nothing(store: Store) -> None:
    ask(store, add(store, "cmd_00000a", "make paint", b"x\n"), [(1, 1)])

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "t", "slash", *"nowhere", "enter")
            assert "Nothing matches" in bar(pilot, "timeline-detail")
            await press(pilot, "enter")
            await until(pilot, lambda: len(rows(pilot, "calls")) == 1)
            assert isinstance(pilot.app.screen, TimelineScreen)

    run(body)


def test_toasts_stay_with_their_screen(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, "cmd_00000a", "make paint", b"x\n")

    async def body() -> None:
        async with opened(store) as pilot:
            monkeypatch.setattr(app_module, "TOAST_SECONDS", 3600.0)
            await press(pilot, "y")
            assert len(pilot.app._notifications) == 1
            await press(pilot, "t")
            assert len(pilot.app._notifications) == 1  # which nobody has read yet
            monkeypatch.setattr(app_module, "TOAST_SECONDS", 0.0)
            await press(pilot, "q")
            assert len(pilot.app._notifications) == 0
            for _ in range(3):
                await press(pilot, "y", "t", "q")
            await until(pilot, lambda: not pilot.app.screen.query("ToastHolder"))  # nothing around them is left

    run(body)
