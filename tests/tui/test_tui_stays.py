"""The viewer keeps the output that a person reads, whatever happens to the list beside it."""

import pytest
from textual.pilot import Pilot

from sightline.base.records import Buffer
from sightline.disk.index_filling import rebuild_buffers
from sightline.store import Store
from sightline_tui.buffers import removal
from sightline_tui.common.messages import StoreChanged
from tests.tui.tui_kit import add, begin, buffers, numbered, opened, press, rest, run, text, until, viewer


async def changed(pilot: Pilot[None], live: str = "") -> None:
    pilot.app.post_message(StoreChanged(index=True, live=frozenset(filter(None, (live,)))))
    await rest(pilot)


def keys(typed: str) -> list[str]:
    return ["colon" if key == ":" else "space" if key == " " else key for key in typed]


def names(pilot: Pilot[None]) -> list[str]:
    rows = buffers(pilot).rows
    return [rows.name(at) for at in range(len(rows))]


def shown(pilot: Pilot[None]) -> tuple[str, str, int]:
    """What the list's cursor stands on, what the viewer shows, and its number of lines."""
    opened_now = viewer(pilot).opened
    return buffers(pilot).rows.selected, opened_now.buffer.name if opened_now else "", len(text(viewer(pilot)))


def test_a_new_match_of_the_filter_does_not_take_its_place(store: Store) -> None:
    add(store, "cmd_00000a", "seq 3", numbered(3))
    add(store, "cmd_00000b", "seq 4", numbered(4))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *keys("/kind:cmd seq"), "enter", "j")
            before = shown(pilot)
            assert before[0] == before[1] == "cmd_00000a"
            for number in range(5, 8):
                add(store, f"cmd_00000{number}", f"seq {number}", numbered(number), ago=-number)
                await changed(pilot)
                await until(pilot, lambda number=number: f"cmd_00000{number}" in names(pilot))
                assert shown(pilot) == before

    run(body)


def test_it_stays_when_the_filter_finds_it_no_longer(store: Store) -> None:
    add(store, "cmd_00000a", "seq 3", numbered(3))
    running = begin(store, "cmd_00000b", "seq 4")
    running.register()
    running.append("out", numbered(4))
    other = begin(store, "cmd_00000c", "sleep 9")
    other.register()

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *keys("/is:running seq"), "enter")
            await until(pilot, lambda: shown(pilot)[:2] == ("cmd_00000b", "cmd_00000b"))
            running.seal(exit_code=0)
            await changed(pilot, "cmd_00000b")
            await until(pilot, lambda: "0 matches" in text(pilot.app.query_one("#list-title"))[0])
            assert shown(pilot) == ("cmd_00000b", "cmd_00000b", 4)
            assert names(pilot) == ["cmd_00000b"]
            await press(pilot, "escape")
            assert shown(pilot) == ("cmd_00000b", "cmd_00000b", 4)
            other.seal(exit_code=0)

    run(body)


def test_it_stays_when_the_index_is_made_anew(store: Store) -> None:
    for number in range(1, 9):
        add(store, f"cmd_00000{number}", f"seq {number}", numbered(number))

    async def body() -> None:
        async with opened(store, live=True) as pilot:
            await until(pilot, lambda: pilot.app._feed._changes._thread is not None)
            await press(pilot, "j", "j", "j")
            before = shown(pilot)
            with Store(store.root, store.settings) as another:
                another.access.start_anew()
                rebuild_buffers(another.layout, another.index)
                await until(pilot, lambda: len(pilot.app._notifications) > 0)
                await until(pilot, lambda: len(names(pilot)) == 8)
            assert shown(pilot) == before

    run(body)


def removed_while_open(store: Store) -> Buffer:
    for number in range(1, 5):
        add(store, f"cmd_00000{number}", f"seq {number}", numbered(number))
    found = store.index.buffer("cmd_000003")
    assert found is not None
    return found


def test_an_output_that_others_remove_is_named_until_it_is_left(store: Store) -> None:
    removed = removed_while_open(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "j")
            assert shown(pilot)[0] == "cmd_000003"
            store.remove(removed, "removed")
            for _ in range(2):
                await changed(pilot)
                assert buffers(pilot).rows.selected == "cmd_000003"
                assert "@cmd_000003 was removed" in "".join(text(pilot.app.query_one("#notice")))
            await press(pilot, "j")
            assert shown(pilot) == ("cmd_000002", "cmd_000002", 2)
            assert names(pilot) == ["cmd_000004", "cmd_000002", "cmd_000001"]

    run(body)


def test_an_output_that_the_person_deletes_makes_room_for_the_next(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "TAKE_BACK_SECONDS", 0.01)
    removed_while_open(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "j", "D", "y")
            await until(pilot, lambda: store.index.buffer("cmd_000003") is None)
            await changed(pilot)
            assert shown(pilot) == ("cmd_000002", "cmd_000002", 2)

    run(body)
