"""What is taken away is no longer told anything: its children have gone before it."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Label

from sightline.log.log_index import list_views
from sightline.store import Store, Target
from sightline_tui.common.messages import LineChosen, ViewChosen
from sightline_tui.common.store_read import StoreRead, is_whole
from sightline_tui.diff.screen import DiffScreen, open_diff
from sightline_tui.evidence.info_screen import InfoScreen
from sightline_tui.evidence.shown_screen import ShownScreen
from sightline_tui.json.screen import open_json
from sightline_tui.notes.screen import NotesScreen
from sightline_tui.timeline.replay_screen import ReplayScreen
from sightline_tui.timeline.screen import TimelineScreen
from sightline_tui.timeline.sessions_screen import SessionsScreen
from tests.tui.audit_kit import ask
from tests.tui.tui_kit import add, numbered, opened, rest, run

SCREENS: dict[str, Callable[[Store], Screen[object]]] = {
    "sessions": SessionsScreen,
    "timeline": TimelineScreen,
    "replay": lambda store: ReplayScreen(store, "claude-code-7f3a"),
    "notes": NotesScreen,
    "shown": lambda store: ShownScreen(store, store.resolve("@cmd_00000a").buffer, session="", at=""),
    "info": lambda store: InfoScreen(store, "cmd_00000a"),
    "diff": lambda store: DiffScreen(store, *(Target(store.resolve(f"@cmd_00000{x}").buffer, "out") for x in "ab")),
}


class Lingering(Label):
    """A child that is gone later than the others, and meanwhile lets go of what was being read."""

    def __init__(self, gate: threading.Event, taken: asyncio.Event) -> None:
        super().__init__("x", id="lingering")
        self.gate, self.taken = gate, taken

    async def on_unmount(self) -> None:
        self.gate.set()
        await self.taken.wait()


@pytest.fixture
def filled(store: Store) -> Store:
    """A store of which each screen has something to show."""
    buffer = add(store, "cmd_00000a", "seq", numbered(20), ago=90)
    add(store, "cmd_00000b", "seq", numbered(30), ago=10)
    ask(store, buffer, [(1, 5)])
    return store


def test_what_waits_for_the_next_drawing_finds_a_screen_that_has_been_left(filled: Store) -> None:
    async def leave(pilot: Pilot[None], screen: Screen[object]) -> None:
        waiting = list[Callable[[], object]]()
        await pilot.app.push_screen(screen)
        await rest(pilot)
        with patch.object(screen, "call_after_refresh", lambda call, *args: waiting.append(partial(call, *args))):
            screen.post_message(events.Resize(screen.size, screen.size))
            await rest(pilot)
            await screen.dismiss()
            await rest(pilot)
        assert not is_whole(screen)
        for call in waiting:  # by the screen that was below, once it is drawn
            call()

    async def body() -> None:
        async with opened(filled) as pilot:
            for made in SCREENS.values():
                await leave(pilot, made(filled))

    run(body)


def test_a_screen_may_be_left_before_what_it_reads_is_there(filled: Store) -> None:
    to_thread = asyncio.to_thread

    async def leave(pilot: Pilot[None], screen: Screen[object]) -> None:
        begun, gate, taken = asyncio.Event(), threading.Event(), asyncio.Event()

        async def held(work: Callable[..., object], *args: object) -> object:
            def wait() -> None:
                gate.wait(10)

            begun.set()
            await to_thread(wait)
            read = await to_thread(work, *args)
            asyncio.get_running_loop().call_soon(taken.set)  # once it has been dealt with, which is at once
            return read

        with patch("asyncio.to_thread", held):
            await pilot.app.push_screen(screen)
            await screen.mount(Container(Lingering(gate, taken)))
            await begun.wait()
            screen.dismiss()
            await taken.wait()
        await rest(pilot)
        assert pilot.app.return_code is None
        assert pilot.app.screen is not screen

    async def body() -> None:
        async with opened(filled) as pilot:
            for made in SCREENS.values():
                await leave(pilot, made(filled))

    run(body)


def test_what_was_read_for_a_widget_that_is_being_taken_away_is_dropped() -> None:
    told = list[str]()

    class Reader(Container):
        def compose(self) -> ComposeResult:
            yield Label("first", id="first")
            yield Lingering(gate, taken)

        def on_mount(self) -> None:
            def dropped(read: str) -> None:
                told.append(f"dropped {read}")
                taken.set()

            StoreRead(self, lambda: read, lambda _: told.append(str(self.query_one("#first"))), dropped=dropped).ask()

    def read() -> str:
        begun.set()
        gate.wait(10)
        return "what was read"

    gate, begun = threading.Event(), threading.Event()

    class Frame(App[None]):
        def compose(self) -> ComposeResult:
            yield Reader()

    async def body() -> None:
        app = Frame()
        async with app.run_test() as pilot:
            reader = app.query_one(Reader)
            await asyncio.to_thread(begun.wait, 10)
            await asyncio.wait_for(reader.remove(), 10)
            await pilot.pause()
            assert told == ["dropped what was read"]
            StoreRead(reader, lambda: read, lambda _: told.append("told")).ask()
            await pilot.pause()
            assert told == ["dropped what was read"]

    taken = asyncio.Event()
    run(body)


def test_no_screen_opens_once_the_application_has_ended(filled: Store) -> None:
    buffer = add(filled, "cmd_00000c", "cat a.json", b'{"a": 1}\n')
    view = list_views(filled)[0]

    async def body() -> None:
        async with opened(filled) as pilot:
            app = pilot.app
            await app.push_screen(SessionsScreen(filled))
        with app._context():
            for opening in (
                open_diff(app, filled, buffer, ("cmd_00000a", "cmd_00000b")),
                open_json(app, filled, buffer),
                app.push_screen(SessionsScreen(filled)),
                app.pop_screen(),
                app.run_action("help"),
                app.on_event(events.Key("d", "d")),
                app.on_view_chosen(ViewChosen(view)),
            ):
                await opening
            app.on_line_chosen(LineChosen(buffer, "out", 1))
        assert app.screen_stack == []

    run(body)
