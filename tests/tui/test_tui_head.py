"""The head above the viewer and the lines below it are of one output, at one time."""

import threading
from unittest.mock import patch

import pytest
from textual.pilot import Pilot

from sightline.store import Store
from sightline_tui.common import output_reader
from sightline_tui.common.messages import StoreChanged
from sightline_tui.viewer import opened_output
from tests.tui.tui_kit import add, begin, buffers, numbered, opened, press, rest, run, text, until, viewer


def head(pilot: Pilot[None]) -> str:
    return " ".join(text(pilot.app.query_one("#info")))


def test_the_head_names_the_output_whose_lines_are_shown(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, "cmd_00000a", "seq 3", numbered(3))
    add(store, "cmd_00000b", "seq 4", numbered(4))
    may_open, is_asked, open_reader = threading.Event(), threading.Event(), output_reader.open_reader

    def slow(*args: object) -> object:
        is_asked.set()
        may_open.wait(30)
        return open_reader(*args)

    async def body() -> None:
        async with opened(store) as pilot:
            with patch.object(opened_output, "open_reader", slow):
                buffers(pilot).move_to(1)
                await until(pilot, is_asked.is_set)
                assert "@cmd_00000b" in head(pilot)
                assert "1-4 of 4" in head(pilot)
                assert len(text(viewer(pilot))) == 4
                may_open.set()
                await rest(pilot)
            assert "@cmd_00000a" in head(pilot)
            assert "1-3 of 3" in head(pilot)

    run(body)


def test_a_running_output_has_as_many_lines_in_its_facts_as_below_them(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()

    async def body() -> None:
        async with opened(store) as pilot:
            for _ in range(3):
                recording.append("out", numbered(40))
                pilot.app.query_one("#viewer").went_on(frozenset(["cmd_00000a"]))  # the list reads its record later
                await rest(pilot)
                count = viewer(pilot).line_count
                assert f"of {count} " in head(pilot)
                assert f" {count} lines · " in head(pilot)
            recording.seal(exit_code=0)
            pilot.app.post_message(StoreChanged(index=True, live=frozenset()))
            await rest(pilot)
            assert "120 lines" in head(pilot)

    run(body)


def test_rows_of_bytes_are_not_called_lines(store: Store) -> None:
    add(store, "cmd_00000a", "seq 40", numbered(40))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "x")
            assert f"of {viewer(pilot).line_count} rows of bytes" in head(pilot)

    run(body)
