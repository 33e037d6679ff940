"""All screens at four sizes, each from one start: what they are about is there, and the keys that lead on and back."""

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen

from sightline.store import Store
from tests.tui.audit_kit import AGENT, OTHER, ask
from tests.tui.tui_kit import add, numbered, opened, press, run, until

SIZES = [(60, 20), (80, 24), (120, 35), (200, 60)]

SCREENS = {
    "list": ((), "make paint"),
    "brief": (("b",), "Brief"),
    "timeline": (("t",), "Timeline"),
    "sessions": (("W",), "Sessions"),
    "replay": (("t", "r"), "Replay"),
    "info": (("i",), "Esc Back"),
    "shown": (("V",), "@cmd_00000b"),
    "diff": (("d",), "@cmd_00000a"),
    "notes": (("A",), "Notes"),
}
"""By name the keys that open a screen from the main one, and what it then says."""


@pytest.fixture
def filled(store: Store) -> Store:
    out = numbered(300) + b"ERROR: out of paint\n" + numbered(99)
    add(store, "cmd_00000c", "seq 日本語 " * 9, numbered(9), ago=500, session=AGENT)
    older = add(store, "cmd_00000a", "make paint --with a-very-long-option=" + "x" * 90, out, exit_code=1, ago=300)
    newer = add(store, "cmd_00000b", older.command, out + b"done\n", exit_code=1, ago=200)
    ask(store, older, [(1, 3)], verb="run_command", exit_code=1, truncated=True)
    ask(store, newer, [(1, 300)], by=OTHER, verb="run_command", exit_code=1, truncated=True)
    ask(store, older, [(2, 40)], by=OTHER, request={"ref": "@cmd_00000a:2-40"})
    return store


def screen_rows(pilot: Pilot[None]) -> list[str]:
    """The rows that are on the screen, as the terminal gets them."""
    return [strip.text for strip in pilot.app.screen._compositor.render_strips()]


@pytest.mark.parametrize("size", SIZES, ids=[f"{width}x{height}" for width, height in SIZES])
def test_every_screen_shows_what_it_is_about_and_its_keys(filled: Store, size: tuple[int, int]) -> None:
    async def body() -> None:
        async with opened(filled, size) as pilot:
            for name, (keys, says) in SCREENS.items():
                await press(pilot, *keys)
                await until(pilot, lambda says=says: says in "\n".join(screen_rows(pilot)))
                rows = screen_rows(pilot)
                assert len(rows) == size[1], name
                if not isinstance(pilot.app.screen, ModalScreen):
                    assert "? Keys" in rows[-1], name
                    assert name == "list" or "Esc" in rows[-1] or "Back" in rows[-1], name
                for _ in keys:
                    await press(pilot, "escape")
                await until(pilot, lambda: len(pilot.app.screen_stack) == 1)

    run(body)
