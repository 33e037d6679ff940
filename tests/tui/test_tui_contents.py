"""Searching the outputs of all buffers."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from sightline.search import contents
from sightline.store import Store
from sightline_tui.buffers.found_lines import FoundLines
from tests.tui.tui_kit import add, buffers, burst, numbered, opened, press, rest, run, text, until, viewer


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path)) as store:
        add(store, "cmd_00000a", "make", numbered(50) + b"a needle\n" + numbered(50), ago=300.0)
        add(store, "cmd_00000b", "quiet", b"nothing\n", ago=200.0)
        add(store, "cmd_00000c", "noise", b"one\n" * 80, b"warn\nthe needle [b]x[/]\x1b[2J\n", ago=100.0)
        yield store


def found(pilot: Pilot[None]) -> list[str]:
    return [" ".join(row.split()) for row in text(pilot.app.query_one(FoundLines))]


def title(pilot: Pilot[None]) -> str:
    return text(pilot.app.query_one("#list-title"))[0]


def test_lines_stand_under_their_buffers_the_most_recent_first(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *"//needle", "enter")
            assert found(pilot) == [
                "✓ @cmd_00000c noise 1 line",
                "2 err the needle [b]x[/]",
                "✓ @cmd_00000a make 1 line",
                "51 a needle",
            ]
            assert "2 lines in 2 buffers" in title(pilot)

    run(body)


def test_where_an_output_may_hold_more_the_count_is_at_least_that(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *"//one", "enter")
            assert found(pilot)[0] == "✓ @cmd_00000c noise at least 50 lines"
            assert "at least 50 lines in 1 buffer" in title(pilot)
            await press(pilot, "escape", "escape", *"//warn", "enter")
            assert "at least" not in title(pilot)

    run(body)


def test_the_viewer_shows_the_line_and_enter_reads_it(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *"//needle", "enter")
            assert viewer(pilot).shows("cmd_00000c")
            assert any("needle" in row for row in text(viewer(pilot)))
            await press(pilot, "n", "enter")
            assert viewer(pilot).has_focus
            assert viewer(pilot).shows("cmd_00000a")
            assert viewer(pilot).target == 51
            assert "/needle 1" in text(pilot.app.query_one("#info"))[0]  # it is marked there, and n goes on
            await press(pilot, "tab")
            assert pilot.app.query_one(FoundLines).has_focus

    run(body)


def test_escape_brings_the_list_back_and_what_was_selected_there(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "j", *"//needle", "enter", "escape")
            assert buffers(pilot).has_focus
            assert buffers(pilot).display
            assert not pilot.app.query_one(FoundLines).display
            assert viewer(pilot).shows("cmd_00000b")
            assert "COMMAND" in title(pilot)

    run(body)


def test_keys_typed_ahead_search_and_open(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await burst(pilot, "//a nee\r")
            assert pilot.app.query_one(FoundLines).has_focus
            assert "51 a needle" in found(pilot)

    run(body)


def test_it_searches_while_one_types(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *"//need")
            await until(pilot, lambda: len(found(pilot)) == 4)
            await press(pilot, *"les")
            await until(pilot, lambda: found(pilot) == ["No output holds that"])

    run(body)


def test_a_search_can_be_stopped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(store: Store, pattern: str, tell: object, *, cancel: contents.Cancel, project: object) -> bool:
        while True:
            cancel.check()
            threading.Event().wait(0.005)  # or nobody else comes to do anything

    monkeypatch.setattr("sightline_tui.buffers.contents_search.search_contents", endless)

    async def body() -> None:
        async with opened(store) as pilot:
            await pilot.press(*"//needle", "enter")
            await until(pilot, lambda: "searching" in title(pilot))
            await press(pilot, "escape")
            assert "stopped" in title(pilot)
            assert pilot.app.query_one(FoundLines).display
            await press(pilot, "escape")
            assert buffers(pilot).display

    run(body)


def test_what_is_typed_next_ends_the_search_before(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await pilot.press(*"//needle", "enter", "slash", "backspace", "enter")
            await rest(pilot)
            assert "2 lines in 2 buffers" in title(pilot)

    run(body)


def test_a_newcomer_is_told_what_to_type(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *"//")
            assert "regular expression" in found(pilot)[0]

    run(body)


def test_keys_typed_ahead_take_the_search_along(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *"//needle", "enter")
            await burst(pilot, "n\r")
            await until(pilot, lambda: viewer(pilot).shows("cmd_00000a"))
            await rest(pilot)
            assert viewer(pilot).target == 51
            assert "/needle 1" in text(pilot.app.query_one("#info"))[0]

    run(body)
