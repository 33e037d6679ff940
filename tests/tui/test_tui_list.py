"""The list of buffers on the screen: keys, mouse, order, many of them."""

from unittest.mock import patch

import pytest
from rich.color import ColorSystem

from sightline.store import Store
from sightline_tui.app import InspectorApp
from sightline_tui.buffers import buffer_list, list_model
from sightline_tui.buffers.buffer_list import BufferList
from sightline_tui.viewer import annotations
from tests.tui.tui_kit import NOW, add, begin, buffers, numbered, opened, press, rest, run, text, until, viewer

STANDARD = ColorSystem.STANDARD


def fill(store: Store, count: int = 5) -> None:
    for number in range(count):
        add(store, f"cmd_{number:06x}", f"command {number}", b"out of %d\n" % number, ago=60.0 * (count - number))


def test_the_most_recently_used_is_first_and_shown(store: Store) -> None:
    fill(store)

    async def body() -> None:
        async with opened(store) as pilot:
            rows = text(buffers(pilot))
            assert [row.split()[1:3] for row in rows] == [["command", str(number)] for number in (4, 3, 2, 1, 0)]
            assert text(viewer(pilot)) == ["  1   out of 4"]

    run(body)


def test_every_state_has_its_mark(store: Store) -> None:
    add(store, "cmd_00000a", "fails", b"x\n", exit_code=2)
    add(store, "cmd_00000b", "hangs", b"x\n", exit_code=None, timed_out=True)
    add(store, "cmd_00000c", "works", b"x" * 70_000, pinned=True, label="nightly")
    killed = add(store, "cmd_00000d", "dies", b"x\n", exit_code=None)
    store.index.put_buffer(killed._replace(state="interrupted"))
    store.remove(add(store, "cmd_00000e", "gone", b"x\n"), "evicted")

    async def body() -> None:
        async with opened(store) as pilot:
            rows = [row.split() for row in text(buffers(pilot))]
            assert [row[0] for row in rows] == ["·", "◌", "✓◆", "✗", "✗"]
            assert rows[2][1:4] == ["nightly", "works", "0"]
            assert "2" in rows[4]
            assert "time" in rows[3]

    run(body)


def test_keys_move_the_cursor_and_the_viewer_follows(store: Store) -> None:
    fill(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "j", "down")
            assert text(viewer(pilot)) == ["  1   out of 2"]
            await press(pilot, "G")
            assert buffers(pilot).rows.selected == "cmd_000000"
            await press(pilot, "k", "g")
            assert buffers(pilot).rows.selected == "cmd_000004"
            await press(pilot, "enter")
            assert viewer(pilot).has_focus
            await press(pilot, "tab")
            assert buffers(pilot).has_focus

    run(body)


def test_a_click_selects(store: Store) -> None:
    fill(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await pilot.click(BufferList, offset=(5, 3))
            await rest(pilot)
            assert buffers(pilot).rows.selected == "cmd_000001"

    run(body)


def test_browsing_is_no_use(store: Store) -> None:
    fill(store)
    before = [(item.used, item.buffer.accessed) for item in store.index.listed(10)]

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "j", "j", "enter", "G", "tab", "G")

    run(body)
    assert [(item.used, item.buffer.accessed) for item in store.index.listed(10)] == before


def test_a_change_of_order_neither_moves_the_selection_nor_the_row_under_the_cursor(store: Store) -> None:
    fill(store, 100)

    async def body() -> None:
        async with opened(store, (80, 24)) as pilot:
            shown = buffers(pilot)
            await press(pilot, *["pagedown"] * 4)
            selected, row = shown.rows.selected, shown.rows.cursor - shown.scroll_offset.y
            for number in (1, 2, 3):
                store.index.touch(f"cmd_{number:06x}", NOW)
            shown.store_changed(index=True, live=frozenset())
            await rest(pilot)
            assert shown.rows.selected == selected
            assert shown.rows.cursor - shown.scroll_offset.y == row
            assert shown.rows.name(0) == "cmd_000003"

    run(body)


def test_the_end_of_a_long_list_is_read_for_it(store: Store) -> None:
    fill(store, 450)

    async def body() -> None:
        async with opened(store) as pilot:
            assert len(buffers(pilot).rows.catalog) < 450
            await press(pilot, "end")
            assert buffers(pilot).rows.selected == "cmd_000000"
            assert text(buffers(pilot))[-1].split()[1:3] == ["command", "0"]

    run(body)


def test_the_header_counts(store: Store) -> None:
    fill(store, 3)

    async def body() -> None:
        async with opened(store) as pilot:
            (header,) = text(pilot.app.query_one("#header"))
            assert "3 of 1,000 buffers" in header
            assert "27 B of 2.0 GiB" in header

    run(body)


def test_the_ref_is_copied(store: Store) -> None:
    fill(store, 1)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "y")
            assert pilot.app.clipboard == "@cmd_000000"

    run(body)


def test_what_has_not_changed_is_not_drawn_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, "cmd_00000a", "seq", numbered(3))
    monkeypatch.setattr(annotations, "AUDIT_SECONDS", 3600)  # that nobody has seen it is said later

    async def body() -> None:
        async with opened(store) as pilot:
            drawn = []
            monkeypatch.setattr(buffers(pilot), "render_line", lambda y: drawn.append(y))
            buffers(pilot).store_changed(index=True, live=frozenset())
            await rest(pilot)
            assert drawn == []

    run(body)


def test_with_16_colours_all_of_the_cursors_row_can_be_read(store: Store) -> None:
    fill(store)

    async def body() -> None:
        async with opened(store) as pilot:
            colours = [
                (segment.style.color.downgrade(STANDARD), segment.style.bgcolor.downgrade(STANDARD))
                for segment in buffers(pilot).render_line(0)
                if segment.text.strip() and segment.style and segment.style.color and segment.style.bgcolor
            ]
            assert colours
            assert all(colour != background for colour, background in colours)

    run(body)


def test_a_running_capture_that_is_silent_shows_how_long_it_takes(store: Store) -> None:
    at = [NOW]
    with patch("time.time", lambda: NOW - 5):
        recording = begin(store, "cmd_00000a", "sleep 1000")
        recording.register()

    async def body() -> None:
        app = InspectorApp(store, clock=lambda: at[0])
        async with app.run_test(size=(260, 30)) as pilot:
            await rest(pilot)
            assert "5.0s" in buffers(pilot).render_line(0).text
            drawn = []
            refresh = buffers(pilot).refresh
            buffers(pilot).refresh = lambda *regions, **how: drawn.append(1) or refresh(*regions, **how)
            at[0] += 3
            buffers(pilot)._look_for_lost()
            await rest(pilot)
            assert drawn
            assert "8.0s" in buffers(pilot).render_line(0).text

    run(body)
    recording.seal(exit_code=0)


def test_marks_stay_in_order_when_their_records_are_no_longer_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "m", "G", "m")  # the newest, then the oldest
            monkeypatch.setattr(list_model, "RECORDS_KEPT", 0)
            buffers(pilot).rows.put_records({})
            assert buffers(pilot).marks == ("cmd_000000", "cmd_000004")

    run(body)


def test_the_last_run_of_equal_commands_in_a_row_says_how_many_there_were(store: Store) -> None:
    commands = ["make", "ls", "make", "make", "make"]
    for at, command in enumerate(commands):
        add(store, f"cmd_00000{at}", command, b"x\n", ago=100 - at)

    async def body() -> None:
        async with opened(store) as pilot:
            rows = text(buffers(pilot))
            assert ["×3" in row for row in rows] == [True, False, False, False, False]
            await press(pilot, "R")
            assert ["×3" in row for row in text(buffers(pilot))] == [False, False, False, False, True]

    run(body)


def test_a_group_s_heading_says_how_many_there_are_and_how_many_failed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buffer_list, "SEEN_FIRST_SECONDS", 0.01)
    monkeypatch.setattr(buffer_list, "SEEN_SOON_SECONDS", 0.01)
    for at in range(5):
        ran = add(store, f"cmd_00000{at}", "make", b"x\n", ago=100 - at, exit_code=at % 2)
        store.index.put_buffer(ran._replace(project="/home/ada/payments"))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "o", "o")
            await until(pilot, lambda: " ▾ payments · 5 outputs · 2 failed " in text(buffers(pilot))[0] + " ")

    run(body)
