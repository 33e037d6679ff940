"""Where the screen is narrow and high enough, each row of the list takes two lines: the command one of its own."""

import pytest

from sightline.store import Store
from sightline_tui.buffers.buffer_row import has_two_lines, heading_parts, row_parts
from sightline_tui.buffers.order import ListOrder
from tests.tui.tui_kit import NOW, add, buffers, opened, press, run, text, viewer

COMMAND = "cargo test --workspace --all-features"


@pytest.fixture
def filled(store: Store) -> Store:
    for number in range(9):
        add(store, f"cmd_00000{number}", f"{COMMAND} {number}", b"out of %d\n" % number, ago=60.0 * (10 - number))
    return store


@pytest.mark.parametrize("width", [59, 67, 79])
def test_the_second_line_stands_below_the_names_of_its_columns(filled: Store, width: int) -> None:
    buffer = filled.index.buffer("cmd_000003")
    assert buffer is not None
    first, second = (row_parts(buffer, width, NOW, line=line) for line in (1, 2))
    title = "".join(part.text for part in heading_parts(width, ListOrder(), two_lines=True))
    one, two = ("".join(part.text for part in parts) for parts in (first, second))
    assert len(one) <= width and len(two) == len(title) <= width
    assert f"{COMMAND} 3" in one
    assert two.split()[0] == "@cmd_000003"
    assert title[two.index("9B") - 2 :].split()[0] == "SIZE"
    assert two.index("7m") + 2 == title.index("AGE") + 3


def test_which_screens_have_them() -> None:
    assert has_two_lines(60, 20) and has_two_lines(79, 60)
    assert not has_two_lines(60, 19) and not has_two_lines(80, 24)


def test_cursor_scroll_and_clicks_count_rows_and_not_lines(filled: Store) -> None:
    async def body() -> None:
        async with opened(filled, (60, 20)) as pilot:
            shown = buffers(pilot)
            assert [COMMAND in line for line in text(shown)][:4] == [True, False, True, False]
            assert shown.virtual_size.height == 18
            await press(pilot, "G")
            assert shown.rows.selected == "cmd_000000" and shown.cursor_in_sight
            assert any(f"{COMMAND} 0" in line for line in text(shown))
            await press(pilot, "g", "pagedown")
            assert shown.cursor_in_sight and shown.rows.cursor == max(shown.whole_rows - 1, 1)
            await press(pilot, "g")
            await pilot.click("#buffers", offset=(9, 3))
            assert shown.rows.selected == "cmd_000007"
            await press(pilot)
            assert viewer(pilot).shows("cmd_000007")
            await pilot.resize_terminal(120, 36)
            await press(pilot)
            assert shown.virtual_size.height == 9 and shown.cursor_in_sight
            assert len(text(shown)) == 9

    run(body)
