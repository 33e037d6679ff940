"""The list in other orders, in groups, with marks."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from sightline.store import Store
from sightline_tui.buffers.list_title import ListTitle
from tests.tui.tui_kit import add, buffers, numbered, opened, press, rest, run, text, viewer


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path)) as store:
        add(store, "cmd_00000a", "make all", numbered(30), exit_code=2, ago=300.0, session="codex-1")
        add(store, "cmd_00000b", "cargo test", numbered(10), exit_code=None, ago=200.0)
        add(store, "file_00000c", "src/main.rs", numbered(20), ago=100.0, session="codex-1")
        yield store


def names(pilot: Pilot[None]) -> str:
    rows = buffers(pilot).rows
    return "".join("|" if rows.heading(at) else rows.name(at)[-1] for at in range(len(rows)))


def test_a_key_goes_through_the_orders_and_another_turns_them(store: Store) -> None:
    async def body() -> None:
        async with opened(store, (200, 40)) as pilot:
            reached = []
            for _ in range(7):
                reached.append(f"{buffers(pilot).rows.order.sort} {names(pilot)}")
                await press(pilot, "S")
            assert reached == [
                "recent cba", "seen cba", "size acb", "lines acb", "duration cba", "exit acb", "command bac"
            ]  # fmt: skip
            await press(pilot, "R")
            assert names(pilot) == "abc"
            assert "AGE▴" in text(pilot.app.query_one(ListTitle))[0]

    run(body)


def test_the_cursor_stays_on_its_buffer_and_in_sight(store: Store) -> None:
    for number in range(80):
        add(store, f"cmd_{number + 16:06x}", f"seq {number}", numbered(number + 40))

    async def body() -> None:
        async with opened(store, (80, 24)) as pilot:
            await press(pilot, "G", "S")
            shown = buffers(pilot)
            assert shown.rows.selected == "cmd_00000a"
            assert 0 <= shown.rows.cursor - shown.scroll_offset.y < shown.size.height

    run(body)


def test_groups_fold_by_key_and_by_mouse(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "o")
            assert names(pilot) == "|ca|b"
            assert "▾ codex-1 · 2 outputs" in text(buffers(pilot))[0]
            assert buffers(pilot).rows.selected == "file_00000c"
            await press(pilot, "k", "enter")
            assert names(pilot) == "||b"
            assert viewer(pilot).line_count == 20
            await pilot.click(buffers(pilot), offset=(5, 0))
            await rest(pilot)
            assert names(pilot) == "|ca|b"
            await press(pilot, "o", "o")
            assert "make all" in "".join(text(buffers(pilot)))

    run(body)


def test_a_list_that_begins_in_groups_shows_its_first_buffer(store: Store) -> None:
    Path(store.root, "inspector.json").write_text('{"group": "session"}')

    async def body() -> None:
        async with opened(store) as pilot:
            assert buffers(pilot).rows.selected == "file_00000c"
            assert viewer(pilot).shows("file_00000c")

    run(body)


def test_a_filter_finds_within_groups(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "o", *"/make", "enter")
            assert names(pilot) == "|a"
            assert buffers(pilot).rows.selected == "cmd_00000a"

    run(body)


def test_a_click_on_a_columns_name_orders_by_it(store: Store) -> None:
    async def body() -> None:
        async with opened(store, (200, 40)) as pilot:
            title = pilot.app.query_one(ListTitle)
            at = text(title)[0].index("SIZE") + 1
            await pilot.click(title, offset=(at, 0))
            await rest(pilot)
            assert names(pilot) == "acb"
            await pilot.click(title, offset=(at, 0))
            await rest(pilot)
            assert names(pilot) == "bca"

    run(body)


def test_a_chosen_sort_ends_with_the_inspector_and_groups_are_those_of_the_last_time(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "S", "S", "R", "o")
        async with opened(store) as pilot:
            assert buffers(pilot).rows.order == ("recent", False, "session")

    run(body)


def test_two_marked_buffers_are_the_sides_of_a_diff_and_more_are_marked_alike(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "m", "m")
            assert [row[0] for row in text(buffers(pilot))] == ["B", "A", " "]  # the older, and the newer
            await press(pilot, "m")
            assert [row[0] for row in text(buffers(pilot))] == ["m", "m", "m"]
            await press(pilot, "d")
            assert "3 outputs are marked: d compares two" in next(iter(pilot.app._notifications)).message
            await press(pilot, "m")
            assert buffers(pilot).marks == ("cmd_00000b", "file_00000c")


def test_rows_are_marked_while_the_cursor_goes_on(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "shift+down", "shift+down")
            assert buffers(pilot).marks == ("cmd_00000a", "cmd_00000b", "file_00000c")
            await press(pilot, "y")
            assert pilot.app.clipboard == "@cmd_00000a @cmd_00000b @file_00000c"
            await press(pilot, "p")
            assert all(store.index.buffer(name).pinned for name in buffers(pilot).marks)

    run(body)


def test_a_removed_buffer_is_not_marked_any_more(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "m")
            store.remove(store.index.buffer("file_00000c"), "removed")
            buffers(pilot).store_changed(index=True, live=frozenset())
            await rest(pilot)
            assert buffers(pilot).marks == ()

    run(body)


def ruled(pilot: Pilot[None]) -> list[bool]:
    """By line on the screen, whether it is underlined throughout."""
    shown = buffers(pilot)
    strips = [shown.render_line(y) for y in range(min(shown.size.height, len(shown.rows) * shown.row_lines))]
    return [all(style is not None and style.underline for _, style, _ in strip) for strip in strips]


def test_a_rule_parts_today_from_earlier_days(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    add(store, "cmd_00000e", "older", numbered(3), ago=9 * 86_400.0)
    add(store, "cmd_00000d", "imported", numbered(3), ago=3 * 86_400.0, artifact="claude-code:x:1")
    for name in ("cmd_00000a", "cmd_00000b", "cmd_00000c"):
        add(store, name, "make", numbered(3))

    async def body() -> None:
        async with opened(store) as pilot:
            shown = {buffers(pilot).rows.name(at)[-1]: is_ruled for at, is_ruled in enumerate(ruled(pilot))}
            assert [name for name, is_ruled in shown.items() if is_ruled] == ["a"]
            await press(pilot, "S")
            assert not any(ruled(pilot))  # in another order today's are not together
            await press(pilot, *"SSSSSS")
            await pilot.resize_terminal(60, 30)
            await rest(pilot)
            assert buffers(pilot).row_lines == 2
            assert ruled(pilot)[:8] == [False] * 5 + [True] + [False] * 2

    with store:
        run(body)
