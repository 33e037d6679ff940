"""Which pane the keys go to is seen, and a key of the other pane is told of."""

import pytest
from textual.pilot import Pilot

from sightline.store import Store
from tests.tui.tui_kit import add, buffers, numbered, opened, press, run, text


@pytest.fixture
def filled(store: Store) -> Store:
    add(store, "cmd_00000a", "seq", numbered(100), ago=30)
    return store


def bars(pilot: Pilot[None]) -> tuple[str, str, str]:
    """The title of the list, a cell of the divider, and the keys."""
    names = ("#list-title", "#divider", "#keys")
    title, divider, keys = ((text(pilot.app.screen.query_one(name)) or [""])[0] for name in names)
    return title, divider, keys


def told(pilot: Pilot[None]) -> list[str]:
    return [toast.message for toast in pilot.app._notifications]


def test_title_border_and_keys_tell_which_pane_has_the_keys(filled: Store) -> None:
    async def body() -> None:
        async with opened(filled) as pilot:
            title, divider, keys = bars(pilot)
            assert title.startswith("▸") and divider == "▌" and "/ Filter" in keys
            await press(pilot, "tab")
            title, divider, keys = bars(pilot)
            assert title.startswith(" ") and divider == "▐" and "/ Search" in keys
            assert "Filter" not in keys
            await press(pilot, "tab", "slash")
            assert bars(pilot)[1] == "▌"

    run(body)


def test_a_key_of_the_other_pane_is_not_swallowed_silently(filled: Store) -> None:
    async def body() -> None:
        async with opened(filled) as pilot:
            await press(pilot, "n")
            assert told(pilot) == ["n is a key of the output (Next hit of the search): Tab goes there"]
            await press(pilot, "tab", "m")
            assert told(pilot)[1] == "m is a key of the list (Mark): Tab goes there"
            assert buffers(pilot).marks == ()

    run(body)


def test_of_a_key_that_acts_or_is_typed_nothing_is_told(filled: Store) -> None:
    async def body() -> None:
        async with opened(filled) as pilot:
            await press(pilot, "j", "m", "z", "slash", "n", "escape", "tab", "F", "w", "slash", "m", "escape")
            assert told(pilot) == []

    run(body)
