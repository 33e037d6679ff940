"""The inspector where one may only read: no key, and nothing in the palette, changes anything."""

import errno
import os
import sqlite3

import pytest

from sightline.base.records import Buffer
from sightline.log.notes import list_notes
from sightline.store import Store
from sightline_tui.app import WRITING, InspectorApp
from sightline_tui.bindings import all_bindings
from tests.tui.tui_kit import add, buffers, numbered, press, rest, run, text, until


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


def test_a_query_of_a_store_that_is_only_read_is_answered_without_complaint(
    store: Store, buffer: Buffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = property(lambda _: "Read-only file system", lambda *_: None)
    monkeypatch.setattr(type(store.index), "unwritable", why, raising=False)

    async def body() -> None:
        app = InspectorApp(store, live=False)
        async with app.run_test(size=(120, 30), notifications=True) as pilot:
            await rest(pilot)
            before = len(app._notifications)
            await press(pilot, *":head", "space", *"-2", "enter")
            await until(pilot, lambda: "line 2" in "".join(text(app.screen.query_one("#result-lines"))))
            assert len(app._notifications) == before
            assert not os.path.exists(os.path.join(store.root, "queries"))

    run(body)


@pytest.mark.parametrize(
    "error", [OSError(errno.EROFS, "Read-only file system"), sqlite3.OperationalError("attempt to write")]
)
def test_what_cannot_be_written_is_not_said_to_be_unreadable(
    store: Store, buffer: Buffer, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    if isinstance(error, sqlite3.Error):
        error.sqlite_errorcode = sqlite3.SQLITE_READONLY_DBMOVED

    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(type(store), "amend", fails)

    async def body() -> None:
        app = InspectorApp(store, live=False)
        async with app.run_test(size=(120, 30), notifications=True) as pilot:
            await rest(pilot)
            await press(pilot, "p")
            await rest(pilot)
            assert "Nothing can be written to the store" in [one.title or one.message for one in app._notifications][-1]

    run(body)
