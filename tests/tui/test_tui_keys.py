"""A person's own keys."""

from pathlib import Path

import pytest

from sightline.base.errors import SettingError
from sightline.store import Store
from sightline_tui.app import InspectorApp
from sightline_tui.common.keys import written
from tests.tui.tui_kit import add, buffers, numbered, opened, press, run, text, until, viewer


def configured(root: Path, config: str) -> Store:
    (root / "config.toml").write_text(config)
    store = Store(str(root))
    add(store, "cmd_00000a", "seq 200", numbered(200))
    add(store, "cmd_00000b", "seq 300", numbered(300))
    return store


def test_a_key_from_the_configuration_takes_the_place_of_the_usual_one(tmp_path: Path) -> None:
    config = '[keys.list]\ndown = "n, ctrl+n"\n[keys.app]\nfilter = "f"\n[keys.viewer]\npage-down = "comma"\n'

    async def body() -> None:
        with configured(tmp_path, config) as store:
            async with opened(store) as pilot:
                await press(pilot, "j")
                assert buffers(pilot).rows.cursor == 0
                await press(pilot, "n")
                assert buffers(pilot).rows.cursor == 1
                assert "f Filter" in text(pilot.app.query_one("#keys"))[0]
                await press(pilot, "enter", "comma")
                assert viewer(pilot).scroll_offset.y > 0

    run(body)


@pytest.mark.parametrize(
    ("config", "message", "hint"),
    [
        (
            '[keys.lsit]\ndown = "n"\n',
            "keys.lsit: there is no such pane",
            "anywhere, app, brief, buffer, calls, claims, cost, covered, diff, files, found, grounds, info, json, "
            "lines, list, merged, notes, parts, query, replay, result, rows, scope, session, sessions, shown, "
            "timeline, viewer",
        ),
        ('[keys.list]\ndwn = "n"\n', "keys.list.dwn: there is no such action", "down, group, half-a-page-down"),
        ('[keys.list]\ndown = "hyper+n"\n', "keys.list.down: 'hyper+n' is no key", "pagedown"),
        ('[keys.list]\ndown = "n"\nup = "n"\n', "keys.list.up: 'n' is what keys.list.down has", "keys of its own"),
        ("[keys.list]\ndown = 3\n", "keys.list.down: 3 is not the name of a key", "keys.list"),
        ('keys = "x"\n', "keys is not a table", "keys.list"),
    ],
)
def test_a_wrong_key_names_file_key_and_what_is_allowed(tmp_path: Path, config: str, message: str, hint: str) -> None:
    with pytest.raises(SettingError) as raised, configured(tmp_path, config) as store:
        InspectorApp(store)
    assert raised.value.message.startswith(f"{tmp_path}/config.toml: ")
    assert message in raised.value.message
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    ("key", "shown"),
    [("question_mark", "?"), ("ctrl+f", "^F"), ("shift+tab", "⇧Tab"), ("G", "G"), ("pagedown", "PgDn"), ("f5", "f5")],
)
def test_keys_are_written_as_people_know_them(key: str, shown: str) -> None:
    assert written(key) == shown


def test_q_and_escape_go_back_one_place_and_q_leaves_from_the_first(store: Store) -> None:
    add(store, "cmd_00000a", "make", b"1\nerror: no rule\n3\n", exit_code=2)

    async def body() -> None:
        async with opened(store) as pilot:
            for back in ("q", "escape"):
                await press(pilot, "enter")
                assert viewer(pilot).has_focus
                await press(pilot, back)
                assert buffers(pilot).has_focus
            await press(pilot, "escape")
            assert pilot.app.is_running
            await press(pilot, "q")
            assert not pilot.app.is_running

    run(body)


def test_q_leaves_from_an_output_that_was_named_at_the_start(store: Store) -> None:
    add(store, "cmd_00000a", "make", b"1\n")

    async def body() -> None:
        async with opened(store, target=store.resolve("@cmd_00000a")) as pilot:
            assert viewer(pilot).has_focus
            await press(pilot, "q")
            assert not pilot.app.is_running

    run(body)


def test_e_in_the_list_goes_to_the_first_error(store: Store) -> None:
    add(store, "cmd_00000a", "make", b"1\nMakefile:2: error: no rule\n3\n", exit_code=2)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "e")
            assert viewer(pilot).has_focus
            await until(pilot, lambda: viewer(pilot).target == 2)

    run(body)
