"""Keys that all arrive before the first is looked at have the effect that they have one by one."""

import asyncio
import importlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot

from sightline.store import Store
from sightline_tui.app import InspectorApp
from sightline_tui.commands import Help
from sightline_tui.common.prompt import Prompt
from sightline_tui.inspector import Inspector
from tests.tui.tui_kit import NOW, add, buffers, burst, numbered, open_store, opened, press, rest, run, text, viewer

KEYS = {"\r": "enter", "\x1b": "escape", "\t": "tab", "/": "slash", ":": "colon", "?": "question_mark"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path)) as store:
        fill(store)
        yield store


def fill(store: Store) -> None:
    add(store, "cmd_00000a", "git status", numbered(900), ago=90.0)
    add(store, "cmd_00000b", "cargo test", numbered(900), ago=60.0)


def where(pilot: Pilot[None]) -> tuple[object, ...]:
    focused = pilot.app.focused
    prompts = {prompt.id: prompt.value for prompt in pilot.app.screen.query(Prompt) if prompt.value}
    return (
        type(pilot.app.screen),
        focused.id if focused else None,
        prompts,
        buffers(pilot).rows.selected,
        viewer(pilot).scroll_offset.y,
        viewer(pilot).target,
    )


def test_a_go_to_behind_a_filter_and_two_enters_arrives(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await burst(pilot, "/git\r\r:500\r")
            assert buffers(pilot).rows.selected == "cmd_00000a"
            assert viewer(pilot).has_focus
            assert viewer(pilot).target == 500

    run(body)


@settings(max_examples=2, deadline=None)
@given(typed=st.text("/gj\r\x1b\t5G?", max_size=9))
@example(typed="\t/G\r")
@example(typed="/git\r\r:5\rj")  # what is asked is answered later: no query is among the others
def test_a_burst_has_the_effect_of_its_keys(typed: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    reached = []

    async def body() -> None:
        with (
            patch("sightline_tui.common.key_order.PATIENCE_SECONDS", 60),
            open_store(tmp_path_factory.mktemp("root")) as store,
        ):
            fill(store)
            for at_once in (True, False):
                app = InspectorApp(store, clock=lambda: NOW, live=False)
                async with app.run_test(size=(80, 24)) as pilot:
                    await rest(pilot)
                    for char in typed:
                        key = KEYS.get(char, char)
                        app.post_message(events.Key(key, char))
                        if not at_once:
                            await rest(pilot)
                    await rest(pilot)
                    reached.append(where(pilot))

    asyncio.run(body())
    assert reached[0] == reached[1]


def test_what_is_pasted_keeps_its_place_among_the_keys(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            pilot.app.post_message(events.Key("slash", "/"))
            pilot.app.post_message(events.Paste("status"))
            pilot.app.post_message(events.Key("enter", "\r"))
            await rest(pilot)
            assert pilot.app.query_one("#filter", Prompt).value == "status"
            assert buffers(pilot).has_focus

    run(body)


def test_a_key_whose_widget_goes_away_holds_nothing_up(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await burst(pilot, "?\x1bj?")
            assert isinstance(pilot.app.screen, Help)
            await press(pilot, "escape")
            assert buffers(pilot).rows.selected == "cmd_00000a"

    run(body)


@pytest.mark.parametrize(("key", "reads"), [("J", "json.screen.json_target"), ("d", "diff.screen.sides_of")])
def test_keys_behind_one_that_opens_a_screen_are_for_that_screen(tmp_path: Path, key: str, reads: str) -> None:
    module, _, name = f"sightline_tui.{reads}".rpartition(".")
    read, app = getattr(importlib.import_module(module), name), list[InspectorApp]()

    def slowly(*asked: object) -> object:
        """Not before the next key waits; where it never does, it has been dealt with long before."""
        deadline = time.monotonic() + 5
        while not app[0]._key_order._waiting and time.monotonic() < deadline:
            threading.Event().wait(0.001)
        return read(*asked)

    async def body() -> None:
        async with opened(store) as pilot:
            assert isinstance(pilot.app, InspectorApp)
            app.append(pilot.app)
            pilot.app.post_message(events.Key(key, key))
            pilot.app.post_message(events.Key("j", "j"))
            await rest(pilot)
            assert not isinstance(pilot.app.screen, Inspector)
            if key == "J":
                assert "$.a" in "".join(text(pilot.app.screen.query_one("#json-head")))
            await press(pilot, "escape")
            assert buffers(pilot).rows.selected == "cmd_00000b"

    with (
        open_store(tmp_path) as store,
        patch(f"{module}.{name}", slowly),
        patch("sightline_tui.buffer_actions.OPENING_SECONDS", 60),
    ):
        for ago in (90.0, 60.0):
            add(store, f"cmd_00000{'ab'[ago < 90]}", "curl", b'{"a": 1, "b": 2}', ago=ago)
        run(body)
