"""Error regions in the viewer: marked beside their lines, and walked from one to the next."""

from textual.pilot import Pilot

from sightline.store import Store
from tests.tui.tui_kit import add, numbered, opened, press, run, text, until, viewer

BROKEN = numbered(100) + b"error: disk full\n" + numbered(100) + b"error: no such file\nerror: again\n" + numbered(50)


def targets(pilot: Pilot[None]) -> int:
    return viewer(pilot).target


def test_regions_are_walked_down_and_up(store: Store) -> None:
    add(store, "cmd_00000a", "make", BROKEN, exit_code=2)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "e")
            assert targets(pilot) == 101
            await press(pilot, "e")
            assert targets(pilot) == 202
            assert any(row.startswith(" 203!") for row in text(viewer(pilot)))
            await press(pilot, "e")
            assert "No error below" in [toast.message for toast in pilot.app._notifications]
            await press(pilot, "G", "E", "E")
            assert targets(pilot) == 101
            await press(pilot, "E")
            assert "No error above" in [toast.message for toast in pilot.app._notifications]

    run(body)


def test_regions_of_both_streams_stand_where_they_arrived(store: Store) -> None:
    add(store, "cmd_00000a", "make", BROKEN, b"fine\nerror: late\n", exit_code=2)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "e", "e", "e")
            assert targets(pilot) == 255
            await press(pilot, "s", "s", "g", "e")
            assert targets(pilot) == 2

    run(body)


def test_what_failed_is_marked_by_itself(store: Store) -> None:
    add(store, "cmd_00000a", "make", b"fine\nerror: disk full\n", exit_code=2)

    async def body() -> None:
        async with opened(store) as pilot:
            await until(pilot, lambda: text(viewer(pilot)) == ["  1   fine", "  2!  error: disk full"])

    run(body)


def test_bytes_have_no_errors(store: Store) -> None:
    add(store, "cmd_00000a", "cat", b"\x00error: x\n", exit_code=2)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "e")
            assert targets(pilot) == 0

    run(body)
