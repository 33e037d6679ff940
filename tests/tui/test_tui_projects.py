"""Projects in the inspector: the one that is looked at, all of them, and the choice between them."""

from pathlib import Path

import pytest

from benchmarks.evidence.sessions import SESSIONS
from benchmarks.evidence.transcripts import write_transcript
from sightline.agents.past_sessions.importer import Importer
from sightline.base.project import project_of
from sightline.harnesses.formats import find_sources
from sightline.log.notes import write_note
from sightline.store import Store
from sightline_tui import misses
from sightline_tui.app import InspectorApp
from sightline_tui.common.bar import Bar
from sightline_tui.common.sessions import person_session
from tests.tui.audit_kit import ask
from tests.tui.test_tui_audit import BROKEN
from tests.tui.tui_kit import NOW, add, buffers, press, rest, run, text, until

FORGETFUL = next(one for one in SESSIONS if one.name == "it fails, is compacted, edits, and claims success")


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


def test_a_search_through_all_outputs_keeps_to_the_project_and_says_so(filled: Store) -> None:
    async def body() -> None:
        project = project_of("/nowhere/shop", filled.index.folders())
        app = InspectorApp(filled, project=project, clock=lambda: NOW, live=False)
        async with app.run_test(size=(120, 36), notifications=True) as pilot:
            await rest(pilot)
            await press(pilot, *"//error", "enter")
            title = app.screen.query_one("#list-title")
            await until(pilot, lambda: "in 1 buffer" in text(title)[0])
            assert "shop" in text(title)[0]
            await press(pilot, "asterisk")
            await until(pilot, lambda: "in 2 buffers" in text(title)[0])
            assert "shop" not in text(title)[0]

    run(body)


@pytest.mark.parametrize(
    ("key", "rows", "of_others"),
    [
        ("K", "#claims", "All tests pass."),
        ("A", "#notes", "look at the till"),
        ("W", "#sessions", "claude-code-5e55"),
        ("t", "#calls", "cmd_00000c"),
    ],
)
def test_each_screen_keeps_to_the_project_and_one_key_widens_it(
    filled: Store, tmp_path: Path, key: str, rows: str, of_others: str
) -> None:
    write_transcript(FORGETFUL.harness, "5e55", FORGETFUL.steps, str(tmp_path))
    Importer(filled).run(find_sources(str(tmp_path / FORGETFUL.harness)))
    ask(filled, filled.index.buffer("cmd_00000c"), [(1, 1)])
    write_note(filled, person_session(), filled.resolve("@cmd_00000c:1"), "look at the till")

    async def body() -> None:
        project = project_of("/nowhere/shop", filled.index.folders())
        app = InspectorApp(filled, project=project, clock=lambda: NOW, live=False)
        async with app.run_test(size=(120, 36), notifications=True) as pilot:
            await rest(pilot)
            await press(pilot, key)
            assert " shop" in text(app.screen.query_one(Bar))[0]
            assert of_others not in "".join(text(app.screen.query_one(rows)))
            await press(pilot, "asterisk")
            await until(pilot, lambda: of_others in "".join(text(app.screen.query_one(rows))))
            assert "all projects" in text(app.screen.query_one(Bar))[0]

    run(body)
