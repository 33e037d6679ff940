"""The inspector where one may only read: no key, and nothing in the palette, changes anything."""

import pytest

from sightline.base.records import Buffer
from sightline.log.notes import list_notes
from sightline.store import Store
from sightline_tui.app import WRITING, InspectorApp
from sightline_tui.bindings import all_bindings
from tests.tui.tui_kit import add, buffers, numbered, press, rest, run


@pytest.fixture
def buffer(store: Store) -> Buffer:
    return add(store, "cmd_00000a", "make paint", numbered(60))


def test_no_key_deletes_pins_writes_or_sends_and_it_is_said_why(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        app = InspectorApp(store, live=False, read_only=True)
        async with app.run_test(size=(120, 30), notifications=True) as pilot:
            await rest(pilot)
            for keys in ("p", "Dy", "D\r", "ahello\r", "As", "Ax", "P", "O"):
                await press(pilot, *("enter" if key == "\r" else key for key in keys))
                if keys == "p":
                    assert [one.message for one in app._notifications][-1].startswith("Here one can only read")
                now = store.index.buffer(buffer.name)
                assert now == buffer._replace(accessed=now.accessed), keys
                assert list_notes(store) == [], keys
                while len(app.screen_stack) > 1:
                    await press(pilot, "escape")
                buffers(pilot).focus()  # some have led into the viewer

    run(body)


def test_what_may_not_be_done_are_actions_that_there_are() -> None:
    actions = {
        binding.action.partition("(")[0]
        for bindings in all_bindings()
        for binding in bindings
        if not isinstance(binding, tuple)
    }
    assert {name for name in WRITING if not hasattr(InspectorApp, f"action_{name}")} <= actions


def test_where_one_may_write_the_same_key_pins(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        app = InspectorApp(store, live=False)
        async with app.run_test(size=(120, 30)) as pilot:
            await rest(pilot)
            await press(pilot, "p")
            await rest(pilot)
            pinned = store.index.buffer(buffer.name)
            assert pinned is not None and pinned.pinned

    run(body)
