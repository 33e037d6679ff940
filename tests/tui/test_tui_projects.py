"""Projects in the inspector: the one that is looked at, all of them, and the choice between them."""

import pytest

from sightline.base.project import project_of
from sightline.store import Store
from sightline_tui import misses
from sightline_tui.app import InspectorApp
from tests.tui.test_tui_audit import BROKEN
from tests.tui.tui_kit import NOW, add, buffers, press, rest, run, text, until


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(misses, "FIRST_SECONDS", 0.01)


@pytest.fixture
def filled(store: Store) -> Store:
    add(store, "cmd_00000a", "make", BROKEN, exit_code=2, cwd="/nowhere/shop", ago=30)
    add(store, "cmd_00000b", "seq", b"1\n", cwd="/nowhere/till", ago=20)
    add(store, "cmd_00000c", "make", BROKEN, exit_code=2, cwd="/nowhere/till", ago=10)
    return store


def test_one_project_is_shown_then_all_then_one_that_is_chosen(filled: Store) -> None:
    def shown(app: InspectorApp) -> tuple[str, list[str]]:
        rows = app.screen_stack[0].query_one("#buffers").rows
        return text(app.screen_stack[0].query_one("#header"))[0], [rows.name(at) for at in range(len(rows))]

    async def body() -> None:
        project = project_of("/nowhere/shop", filled.index.folders())
        app = InspectorApp(filled, project=project, clock=lambda: NOW, live=False)
        async with app.run_test(size=(120, 36), notifications=True) as pilot:
            await rest(pilot)
            await until(pilot, lambda: "2 failures unseen" in shown(app)[0])
            assert shown(app)[1] == ["cmd_00000a"]
            await press(pilot, "asterisk")
            await until(pilot, lambda: "4 failures unseen" in shown(app)[0])
            assert len(shown(app)[1]) == 3
            await press(pilot, "asterisk")
            assert shown(app)[1] == ["cmd_00000a"]
            await press(pilot, "c")
            await until(pilot, lambda: "2 failures unseen" in "".join(text(app.screen.query_one("#choices"))))
            await press(pilot, *"till", "enter")
            await until(pilot, lambda: "till" in shown(app)[0])
            assert sorted(shown(app)[1]) == ["cmd_00000b", "cmd_00000c"]
            assert buffers(pilot).rows.selected == "cmd_00000c"

    run(body)


def test_a_project_that_was_imported_below_all_others_is_listed(filled: Store) -> None:
    old = add(filled, "cmd_00000d", "make", BROKEN, exit_code=2, cwd="/nowhere/attic", ago=900, artifact="call-1")
    filled.index.place({old.name: 1.0})
    assert filled.index.listed(9)[-1].used <= 0

    async def body() -> None:
        project = project_of("/nowhere/attic", filled.index.folders())
        app = InspectorApp(filled, project=project, clock=lambda: NOW, live=False)
        async with app.run_test(size=(120, 36), notifications=True) as pilot:
            await until(pilot, lambda: "2 failures unseen" in text(app.screen_stack[0].query_one("#header"))[0])
            assert [buffers(pilot).rows.name(at) for at in range(len(buffers(pilot).rows))] == [old.name]
            add(filled, "cmd_00000e", "make", BROKEN, exit_code=2, cwd="/nowhere/attic")
            buffers(pilot).store_changed(index=True, live=frozenset())
            await until(pilot, lambda: len(buffers(pilot).rows) == 2)

    run(body)
