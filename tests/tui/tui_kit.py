"""What the inspector's tests share: buffers with fixed names and times, and an application that has come to rest."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from unittest.mock import patch

from textual import events
from textual.keys import REPLACED_KEYS, _character_to_key, key_to_character
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker

from sightline.base.records import Buffer
from sightline.disk.recording import Recording
from sightline.settings.config import Settings
from sightline.store import Store, Target
from sightline_tui.app import InspectorApp
from sightline_tui.buffers.buffer_list import BufferList
from sightline_tui.viewer.row_painter import UNSEEN_MARK
from sightline_tui.viewer.viewer import Viewer

NOW = 1_790_000_000.0
MOMENT_SECONDS = 0.065  # what is drawn, told or read after that time is waited for by itself


SETTINGS = Settings(max_buffers=1_000, max_bytes=2 << 30, max_age_days=30)
"""Limits of the tests' own, which stand on their screens."""


def open_store(root: object) -> Store:
    return Store(str(root), SETTINGS)


def begin(store: Store, name: str, command: str, **fields: object) -> Recording:
    """Begin a capture under a name of the test's choice."""

    def reserved(layout: object, kind: str) -> str:
        os.mkdir(store.layout.folder(name), 0o700)
        return name

    session, cwd = str(fields.pop("session", "claude-code-7f3a")), str(fields.pop("cwd", "/home/ada/project"))
    with patch("sightline.disk.recording.reserve", reserved):
        return store.begin(name.partition("_")[0], command, cwd, session, **fields)


def add(
    store: Store, name: str, command: str, out: bytes = b"", err: bytes = b"", ago: float = 60.0, **fields: object
) -> Buffer:
    """A sealed buffer that ran for 1.5 s and was last used some seconds before NOW."""
    exit_code = fields.pop("exit_code", 0)
    with patch("time.time", lambda: NOW - ago - 1.5):
        recording = begin(store, name, command, **fields)
    recording.register()
    recording.append("out", out)
    recording.append("err", err)
    buffer = recording.seal(exit_code=exit_code)
    buffer = buffer._replace(created=NOW - ago - 1.5, ended=NOW - ago, accessed=NOW - ago, **fields)
    store.index.put_buffer(buffer)
    return buffer


def numbered(count: int) -> bytes:
    return b"".join(b"line %d\n" % number for number in range(1, count + 1))


@contextlib.asynccontextmanager
async def opened(
    store: Store, size: tuple[int, int] = (120, 36), target: Target | None = None, live: bool = False
) -> AsyncIterator[Pilot[None]]:
    """The application on a store, at rest."""
    app = InspectorApp(store, target=target, clock=lambda: NOW, live=live)
    async with app.run_test(size=size, notifications=True) as pilot:
        await rest(pilot)
        yield pilot


async def rest(pilot: Pilot[None], but: Iterable[Worker[object]] = ()) -> None:
    """Until every message has been handled, nothing is being read, and nothing is due within a moment.

    Args:
        pilot: of the application.
        but: threads that are not waited for.
    """
    all_handled = False
    while True:
        has_read = await _come_to_a_stop(pilot, but)
        due = _due_in(asyncio.get_running_loop())
        if due is not None:
            await asyncio.sleep(due)
        elif all_handled and not has_read:
            return
        else:
            await pilot._wait_for_screen()  # a handler may wait for a thread of its own
        all_handled = due is None


async def _come_to_a_stop(pilot: Pilot[None], but: Iterable[Worker[object]]) -> bool:
    """Until all tasks wait for the clock or for somebody else; whether a thread that reads has been waited for."""
    loop, passed, has_read = asyncio.get_running_loop(), set(but), False
    while True:
        await asyncio.sleep(0)
        if loop._ready:  # type: ignore[attr-defined]
            continue
        reading = set(pilot.app.workers) - passed
        if not reading:
            return has_read
        await pilot.app.workers.wait_for_complete(reading)
        has_read = True


def _due_in(loop: asyncio.AbstractEventLoop) -> float | None:
    """Seconds until something is done that waits for a moment, as drawing does, or none where nothing is."""
    now = loop.time()
    waiting = [handle.when() - now for handle in loop._scheduled if not handle.cancelled()]  # type: ignore[attr-defined]
    return max(0.0, soonest) if waiting and (soonest := min(waiting)) < MOMENT_SECONDS else None


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each when the one before has had its effect; what is typed into a line is drawn when it is whole."""
    for key in keys:
        reading = set(pilot.app.workers)
        _type(pilot, key)
        is_typed = len(key) == 1 and isinstance(pilot.app.focused, Input)
        await (_come_to_a_stop if is_typed else rest)(pilot, reading)
    await rest(pilot)


async def burst(pilot: Pilot[None], typed: str) -> None:
    """Keys that all arrive before the first of them is looked at."""
    for char in typed:
        _type(pilot, {"\r": "enter", "\x1b": "escape", "\t": "tab"}.get(char, char))
    await rest(pilot)


def _type(pilot: Pilot[None], key: str) -> None:
    if len(key) == 1:
        name, char = _character_to_key(key), key
    else:
        name, char = key, key_to_character(REPLACED_KEYS.get(key, key))
    pilot.app.post_message(events.Key(name, char))


async def until(pilot: Pilot[None], true: Callable[[], bool], seconds: float = 30.0) -> None:
    """Until something outside the application has come through."""
    async with asyncio.timeout(seconds):
        while not true():
            await pilot.pause(0.01)


def buffers(pilot: Pilot[None]) -> BufferList:
    return pilot.app.query_one(BufferList)


def viewer(pilot: Pilot[None]) -> Viewer:
    return pilot.app.query_one(Viewer)


def text(widget: Widget) -> list[str]:
    """The rows of a widget as they stand on the screen, without what is blank.

    The viewer's rows are without the sign of lines that nobody saw, which in most tests are all lines.
    """
    rows = [widget.render_line(y).text for y in range(widget.size.height)]
    if isinstance(widget, Viewer):
        rows = [" " + row[1:] if row.startswith(UNSEEN_MARK) else row for row in rows]
    return [row for each in rows if (row := each.rstrip())]


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(test())  # type: ignore[arg-type]
