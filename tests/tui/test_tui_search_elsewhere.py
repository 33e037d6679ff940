"""Searching in a comparison and in a JSON tree: as in the viewer, in whatever is folded or still to be read."""

import contextlib
import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from sightline.search.diff.engines import Ignore
from sightline.search.engine import SearchPattern
from sightline.store import Store, Target
from sightline_tui.diff.comparison import ComparisonJob
from sightline_tui.diff.diff_rows import RowKind
from sightline_tui.diff.diff_search import DiffSearch, SearchRows
from sightline_tui.diff.diff_view import DiffView
from sightline_tui.diff.screen import DiffScreen
from sightline_tui.diff.side_text import Pairs, SideTexts
from sightline_tui.json.json_view import JsonView
from sightline_tui.json.screen import open_json
from tests.tui.tui_kit import add, numbered, opened, press, rest, run, text

LINES = st.lists(st.sampled_from(["hit", "hit 2", "miss", "other", ""]), max_size=12)
unhurried = settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])


# comparisons


@contextlib.asynccontextmanager
async def compared(store: Store, left: bytes, right: bytes, width: int = 140) -> AsyncIterator[Pilot[None]]:
    sides = add(store, "cmd_00000a", "make", left), add(store, "cmd_00000b", "make", right)
    async with opened(store, (width, 30)) as pilot:
        await pilot.app.push_screen(DiffScreen(store, *sides))
        await rest(pilot)
        await press(pilot, "g")
        yield pilot


def diff(pilot: Pilot[None]) -> DiffView:
    return pilot.app.screen.query_one(DiffView)


def head(pilot: Pilot[None]) -> str:
    return text(pilot.app.screen.query_one("#diff-header"))[0]


def marked(pilot: Pilot[None]) -> list[str]:
    """The texts on the screen that are drawn as hits."""
    view = diff(pilot)
    grounds = {view.part_styles[part].bgcolor for part in ("match", "here")}
    strips = (view.render_line(y) for y in range(view.size.height))
    return [segment.text for strip in strips for segment in strip if segment.style and segment.style.bgcolor in grounds]


LEFT = numbered(200).replace(b"line 60\n", b"line 60 gold\n")
RIGHT = LEFT.replace(b"line 5\n", b"gold 5\n").replace(b"line 150\n", b"line 150\ngold\n")


def test_in_a_comparison_one_goes_from_hit_to_hit_through_both_sides_and_what_is_folded(store: Store) -> None:
    async def body() -> None:
        async with compared(store, LEFT, RIGHT) as pilot:
            await press(pilot, *"/gold")
            await rest(pilot)
            assert diff(pilot).line == (5, True)
            await press(pilot, "enter")
            stood = []
            for key in ("n", "n", "n", "N"):
                await press(pilot, key)
                await rest(pilot)
                stood.append(diff(pilot).line)
            assert stood == [(60, True), (151, True), (5, True), (151, True)]
            assert "/gold 1 left, 3 right wrapped" in head(pilot)
            assert marked(pilot) == ["gold"]

    run(body)


def test_a_hit_of_one_side_only_takes_the_cursor_to_that_side(store: Store) -> None:
    async def body() -> None:
        async with compared(store, b"a\ngold\nb\n", b"a\nlead\nb\n") as pilot:
            await press(pilot, *"/gold", "enter")
            await rest(pilot)
            assert diff(pilot).line == (2, False)

    run(body)


def test_without_a_search_the_keys_lead_from_change_to_change_again(store: Store) -> None:
    async def body() -> None:
        async with compared(store, LEFT, RIGHT) as pilot:
            await press(pilot, *"/line 60", "enter")
            await rest(pilot)
            await press(pilot, "escape")
            assert "/line" not in head(pilot)
            await press(pilot, "n")
            assert diff(pilot).line == (151, True)

    run(body)


def test_a_regular_expression_is_marked_and_a_search_that_is_left_leads_back(store: Store) -> None:
    async def body() -> None:
        async with compared(store, LEFT, RIGHT, width=100) as pilot:
            await press(pilot, *"/go+ld|5$")
            await rest(pilot)
            await rest(pilot)  # what finds the marks is another process
            assert "gold" in marked(pilot)
            await press(pilot, "escape")
            await rest(pilot)
            assert diff(pilot).line == (1, True)
            assert marked(pilot) == []

    run(body)


def test_another_layout_keeps_the_search(store: Store) -> None:
    async def body() -> None:
        async with compared(store, LEFT, RIGHT) as pilot:
            await press(pilot, *"/gold", "enter", "vertical_line")
            await rest(pilot)
            await press(pilot, "n")
            await rest(pilot)
            assert diff(pilot).unified
            assert diff(pilot).line == (60, True)

    run(body)


@pytest.mark.parametrize("unified", [False, True])
@unhurried
@given(left=LINES, right=LINES)
def test_every_row_with_a_hit_is_come_by_in_order_and_no_other(
    store: Store, unified: bool, left: list[str], right: list[str]
) -> None:
    targets = []
    for lines in (left, right):
        recording = store.begin("cmd", "true", "/", "s")
        recording.append("out", "".join(f"{line}\n" for line in lines).encode())
        targets.append(Target(recording.seal(exit_code=0), "out"))
    found = ComparisonJob(store, *targets, Ignore()).run()
    assert found is not None
    places = SearchRows(found.comparison, unified=unified)
    pairs = Pairs(SideTexts(found.left), SideTexts(found.right), Ignore())
    wanted = []
    for at in range(len(places.rows)):
        row = places.rows[at]
        lines = (
            pairs.beside(places.rows.hunk(row.part), row.at) if row.kind is RowKind.CHANGE else (row.left, row.right)
        )
        if any(number and "hit" in side[number - 1] for number, side in zip(lines, (left, right), strict=True)):
            wanted.append(at + 1)
    search = DiffSearch(SearchPattern("hit", literal=True), found.open_sides, places, Ignore(), 1)
    search.run(lambda: None)
    found.close()
    for back in (False, True):
        number, come_by = (len(places.rows) + 1, list[int]()) if back else (0, list[int]())
        while (step := search.step(number, back=back)) is not None and step.number and not step.wrapped:
            number = step.number
            come_by.append(number)
        assert come_by == (wanted[::-1] if back else wanted)


# trees

DOCUMENT = {
    "items": [{"id": at, "name": "gold gold" if at in (3, 700) else f"n{at}"} for at in range(1000)],
    "gold key": {"z": [True, None]},
    "last": "gold",
}


@contextlib.asynccontextmanager
async def tree(store: Store) -> AsyncIterator[Pilot[None]]:
    buffer = add(store, "cmd_00000a", "curl", json.dumps(DOCUMENT).encode())
    async with opened(store, (120, 24)) as pilot:
        await open_json(pilot.app, store, buffer)
        await rest(pilot)
        yield pilot


def path(pilot: Pilot[None]) -> str:
    node = pilot.app.screen.query_one(JsonView).node
    assert node is not None
    return node.path


def test_in_a_tree_one_goes_from_hit_to_hit_and_it_unfolds_on_the_way(store: Store) -> None:
    async def body() -> None:
        async with tree(store) as pilot:
            await press(pilot, *"/gold", "enter")
            await rest(pilot)
            stood = [path(pilot)]
            for key in "nnnnNN":
                await press(pilot, key)
                await rest(pilot)
                stood.append(path(pilot))
            assert stood == [
                "$.items[3].name", "$.items[700].name", '$["gold key"]', "$.last", "$.items[3].name",
                "$.last", '$["gold key"]',
            ]  # fmt: skip
            assert "/gold 5 of 6" in text(pilot.app.screen.query_one("#json-head"))[0]

    run(body)


def test_what_lies_too_far_behind_other_values_is_said_and_not_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline_tui.json.json_view.MOST_ON_THE_WAY", 300)

    async def body() -> None:
        async with tree(store) as pilot:
            await press(pilot, *"/n990", "enter")
            await rest(pilot)
            assert path(pilot) == "$"
            assert any("lies behind more than 300" in toast.message for toast in pilot.app._notifications)

    run(body)


def test_a_search_in_a_tree_is_ended_before_the_tree_is_left(store: Store) -> None:
    async def body() -> None:
        async with tree(store) as pilot:
            screen = pilot.app.screen
            await press(pilot, *"/gold", "enter")
            await rest(pilot)
            await press(pilot, "escape")
            assert pilot.app.screen is screen
            assert "/gold" not in text(screen.query_one("#json-head"))[0]
            await press(pilot, "escape")
            assert pilot.app.screen is not screen

    run(body)
