"""What no agent saw leads: the header says how much, and two keys go there, from buffer to buffer."""

import asyncio
import threading
from unittest.mock import patch

import pytest
from textual.pilot import Pilot

from sightline.audit.verdict import Scope, Verdict, VerdictReader
from sightline.base.project import Project
from sightline.store import Store
from sightline_tui import misses
from sightline_tui.misses import Misses
from tests.tui.test_tui_audit import BROKEN, info, show, toasts
from tests.tui.tui_kit import add, buffers, numbered, opened, press, run, text, until, viewer


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(misses, "FIRST_SECONDS", 0.01)


def header(pilot: Pilot[None]) -> str:
    return text(pilot.app.query_one("#header"))[0]


def fill(store: Store) -> None:
    seen = add(store, "cmd_00000c", "make", BROKEN, exit_code=2, ago=300)
    show(store, seen, (1, 302))
    add(store, "cmd_00000b", "make b", BROKEN, exit_code=2, ago=200)
    half = add(store, "cmd_00000a", "make a", BROKEN, exit_code=2, ago=100)
    show(store, half, (1, 150))
    add(store, "cmd_000001", "seq", numbered(30), ago=10)


def test_the_header_leads_with_what_no_agent_saw(store: Store) -> None:
    fill(store)

    async def body() -> None:
        async with opened(store, (80, 24)) as pilot:
            await until(pilot, lambda: "3 failures unseen" in header(pilot))
            assert header(pilot).startswith(" ◉ ! 3 commands failed  ·  3 failures unseen")

    run(body)


def test_where_every_failure_was_seen_the_header_says_so(store: Store) -> None:
    show(store, add(store, "cmd_00000c", "make", BROKEN, exit_code=2), (1, 302))

    async def body() -> None:
        async with opened(store) as pilot:
            await until(pilot, lambda: "✓ 1 command failed, seen" in header(pilot))

    run(body)


def test_what_was_being_read_of_another_project_is_not_told_of_this_one(store: Store) -> None:
    fill(store)
    begun, gate, told = threading.Event(), threading.Event(), list[Scope]()
    step = VerdictReader.step

    def held(reader: VerdictReader, seconds: float) -> Verdict:
        begun.set()
        gate.wait(10)
        return step(reader, seconds)

    async def body() -> None:
        async with opened(store) as pilot:
            found = Misses(pilot.app.screen, store, None, lambda _: told.append(found._reader.scope))
            with patch.object(VerdictReader, "step", held):
                found.ask()
                await asyncio.to_thread(begun.wait, 10)
                found.start_afresh(Project("/elsewhere"))
                gate.set()
                await until(pilot, lambda: bool(told))
            assert {one.project for one in told} == {Project("/elsewhere")}

    run(body)


def test_a_key_goes_from_failure_to_failure_from_buffer_to_buffer(store: Store) -> None:
    fill(store)

    async def body() -> None:
        async with opened(store) as pilot:
            visited = []
            for _ in range(4):
                await press(pilot, "exclamation_mark")
                shown = viewer(pilot)
                await until(pilot, lambda: "that no agent saw" in info(pilot))
                visited.append((shown.opened.buffer.name, shown.target, info(pilot).partition(" that no")[0][-6:]))
            assert visited == [
                ("cmd_00000a", 202, "1 of 3"),
                ("cmd_00000b", 101, "2 of 3"),
                ("cmd_00000b", 202, "3 of 3"),
                ("cmd_00000a", 202, "1 of 3"),
            ]
            assert buffers(pilot).rows.selected == "cmd_00000a"
            await until(pilot, lambda: "line 202: no agent saw it" in info(pilot))

    run(body)


def test_unseen_lines_lead_on_to_the_next_output(store: Store) -> None:
    show(store, add(store, "cmd_00000c", "seq", numbered(30), ago=30), (1, 20))
    show(store, add(store, "cmd_00000b", "seq", numbered(30), ago=20), (1, 30))
    show(store, add(store, "cmd_00000a", "seq", numbered(30), ago=10), (1, 25))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "u")
            assert (viewer(pilot).opened.buffer.name, viewer(pilot).target) == ("cmd_00000a", 26)
            await press(pilot, "u")
            await until(pilot, lambda: viewer(pilot).target == 21)
            assert viewer(pilot).opened.buffer.name == "cmd_00000c"
            await press(pilot, "u")
            assert toasts(pilot) == ["Lines 21-30, here, are the last unseen ones"]

    run(body)


def test_the_two_keys_stand_first_in_the_list_and_in_the_viewer(store: Store) -> None:
    fill(store)

    async def body() -> None:
        async with opened(store, (80, 24)) as pilot:
            assert text(pilot.app.query_one("#keys"))[0].startswith("  ! Next miss  u Unseen ")
            await press(pilot, "enter")
            assert text(pilot.app.query_one("#keys"))[0].startswith("  ! Next miss  u Unseen ")

    run(body)


def test_lines_that_no_agent_saw_look_so(store: Store) -> None:
    show(store, add(store, "cmd_00000a", "seq", numbered(30)), (1, 2))

    async def body() -> None:
        async with opened(store) as pilot:
            await until(pilot, lambda: "seen 7" in info(pilot))
            for theme in ("sightline-dark", "sightline-light"):
                pilot.app.theme = theme
                await pilot.pause()
                seen, unseen = (_background(pilot, y) for y in (1, 2))
                assert seen != unseen
            pilot.app.theme = "sightline-terminal"
            await pilot.pause()
            signs = [viewer(pilot).render_line(y).text[0] for y in (1, 2)]
            assert signs == ["▎", "○"]

    run(body)


def _background(pilot: Pilot[None], y: int) -> object:
    segment = next(one for one in viewer(pilot).render_line(y) if "line" in one.text)
    return segment.style.bgcolor
