"""What the inspector's tests share: buffers with fixed names and times, and an application that has come to rest."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from unittest.mock import patch

from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widget import Widget

from sightline.config import Settings
from sightline.disk.recording import Recording
from sightline.records import Buffer
from sightline.store import Store, Target
from sightline.tui.app import InspectorApp
from sightline.tui.buffers.buffer_list import BufferList
from sightline.tui.viewer.viewer import Viewer

NOW = 1_790_000_000.0


def open_store(root: object) -> Store:
    return Store(str(root), Settings())


def begin(store: Store, name: str, command: str, **fields: object) -> Recording:
    """Begin a capture under a name of the test's choice."""

    def reserved(layout: object, kind: str) -> str:
        os.mkdir(store.layout.folder(name), 0o700)
        return name

    session, cwd = str(fields.pop("session", "claude-code-7f3a")), str(fields.pop("cwd", "/home/ada/project"))
    with patch("sightline.store.reserve", reserved):
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


async def rest(pilot: Pilot[None]) -> None:
    """Until nothing is being read and every message has been handled."""
    for _ in range(2):
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def press(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await rest(pilot)


async def burst(pilot: Pilot[None], typed: str) -> None:
    """Keys that all arrive before the first of them is looked at."""
    for char in typed:
        key = {"\r": "enter", "\x1b": "escape", "\t": "tab"}.get(char) or _character_to_key(char)
        pilot.app.post_message(events.Key(key, char))
    await rest(pilot)


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
    """The rows of a widget as they stand on the screen, without what is blank."""
    return [row for y in range(widget.size.height) if (row := widget.render_line(y).text.rstrip())]


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(test())  # type: ignore[arg-type]
