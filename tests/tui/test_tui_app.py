"""The application around the panes: help, themes, what it loads."""

import subprocess
import sys
from unittest.mock import call, patch

import pytest
from textual.driver import Driver

from sightline.store import Store
from sightline_tui.commands import Help
from sightline_tui.common.store_read import StoreRead
from sightline_tui.inspector import Inspector
from sightline_tui.viewer import annotations, opened_output
from sightline_tui.viewer.viewer import Viewer
from tests.tui.tui_kit import add, buffers, numbered, opened, press, rest, run, text, until, viewer

HEAVY = ("watchfiles", "anyio", "rapidfuzz", "pygments", "markdown_it", "numpy")
OTHER_FLOORS = ("sightline.capture", "sightline.pipeline", "sightline.audit", "sightline.tools")


def test_the_first_screen_loads_nothing_that_can_wait() -> None:
    code = "import sys, sightline_tui.app; print(*(name for name in sys.argv[1:] if name in sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code, *HEAVY, *OTHER_FLOORS], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.split() == []


def test_the_first_screen_is_whole_and_waits_for_no_thread(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, "cmd_00000a", "seq", numbered(300))
    monkeypatch.setattr(StoreRead, "ask", lambda _: None)

    async def body() -> None:
        async with opened(store) as pilot:
            assert " seq " in text(buffers(pilot))[0]
            assert text(viewer(pilot))[0] == "   1   line 1"
            assert "1 of 1,000 buffers" in text(pilot.app.query_one("#header"))[0]

    run(body)


def test_the_first_screen_is_painted_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, "cmd_00000a", "seq", numbered(300))
    drawn = []
    draw = Viewer.render_line
    monkeypatch.setattr(opened_output, "SYNTAX_SECONDS", 3600)  # what comes in colour later is another screen
    monkeypatch.setattr(annotations, "AUDIT_SECONDS", 3600)  # and so is what nobody has seen of it
    monkeypatch.setattr(Viewer, "render_line", lambda self, y: drawn.append(y) or draw(self, y))

    async def body() -> None:
        async with opened(store) as pilot:
            assert sorted(drawn) == list(range(viewer(pilot).size.height))

    run(body)


def test_help_lists_every_key_that_is_bound(store: Store) -> None:
    async def body() -> None:
        async with opened(store, (100, 60)) as pilot:
            await press(pilot, "question_mark")
            assert isinstance(pilot.app.screen, Help)
            listed = {what for _, rows in pilot.app.screen._sections for _, what in rows}
            for what in (
                *("Filter", "Query", "Quit", "Switch pane", "Copy ref", "Page down", "Follow", "Scroll right"),
                *("Sort", "Group", "Mark", "Diff", "Delete", "Pin or unpin", "Larger list", "All that can be done"),
            ):
                assert what in listed
            shown = "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())
            assert "Most recently used" in shown
            await press(pilot, "escape")
            assert isinstance(pilot.app.screen, Inspector)

    run(body)


@pytest.mark.parametrize("key", ["q", "ctrl+q", "ctrl+c"])
def test_keys_that_quit(store: Store, key: str) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await pilot.press(key)
            assert not pilot.app.is_running or pilot.app._exit

    run(body)


def test_the_footer_tells_what_the_keys_do_here(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(3))

    async def body() -> None:
        async with opened(store) as pilot:
            (keys,) = text(pilot.app.query_one("#keys"))
            assert "Enter Open" in keys
            assert keys.count("Brief") == 1
            await press(pilot, "tab")
            (keys,) = text(pilot.app.query_one("#keys"))
            assert "Follow" in keys
            await press(pilot, "slash")
            (keys,) = text(pilot.app.query_one("#keys"))
            assert "Done" in keys

    run(body)


def test_light_and_dark(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            assert pilot.app.theme == "sightline-dark"
            await press(pilot, "C", "down")
            assert pilot.app.theme == "sightline-light"  # a preview
            await press(pilot, "escape")
            assert pilot.app.theme == "sightline-dark"
            await press(pilot, "C", "down", "enter")
            assert pilot.app.theme == "sightline-light"

    run(body)


def test_an_empty_store_says_what_to_do(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            assert "sightline demo" in "\n".join(text(pilot.app.query_one("#notice")))

    run(body)


def test_all_of_the_screen_is_drawn_again_when_the_shell_gives_the_terminal_back(store: Store) -> None:
    async def body() -> None:
        add(store, "cmd_00000a", "ls", b"x\n")
        async with opened(store) as pilot:
            await rest(pilot)
            with patch.object(pilot.app.screen, "refresh", wraps=pilot.app.screen.refresh) as drawn:
                pilot.app.post_message(Driver.SignalResume())
                await until(pilot, lambda: call(repaint=True, layout=True) in drawn.mock_calls)

    run(body)
