"""What other processes capture shows up by itself."""

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.message import Message
from textual.message_pump import MessagePump

from sightline.log.log_index import list_views
from sightline.store import Store
from sightline_tui.app import GARBAGE_THRESHOLDS, StoreFeed
from sightline_tui.buffers.buffer_list import GROWN_SECONDS, BufferList
from sightline_tui.buffers.list_loader import ListNeeds, LoadedList, load
from tests.tui.tui_kit import add, begin, buffers, numbered, opened, press, rest, run, text, until, viewer


def test_a_new_capture_appears_tails_and_ends(store: Store) -> None:
    async def body() -> None:
        async with opened(store, live=True) as pilot, _other(store) as other:
            await until(pilot, lambda: pilot.app._feed._changes._thread is not None)
            recording = begin(other, "cmd_00000a", "make")
            recording.register()
            await until(pilot, lambda: " make " in "".join(text(buffers(pilot))))
            assert "●" in text(buffers(pilot))[0]
            recording.append("out", b"first\n")
            await until(pilot, lambda: text(viewer(pilot)) == ["  1   first"])
            recording.append("out", b"second\n")  # within the 20 ms in which the marker is not touched again
            await until(pilot, lambda: len(text(viewer(pilot))) == 2)
            recording.append("out", numbered(100))
            await until(pilot, lambda: text(viewer(pilot))[-1:] == [" 102   line 100"])
            recording.seal(exit_code=3)
            await until(pilot, lambda: "✗" in text(buffers(pilot))[0])

    run(body)


def test_without_watches_it_polls_and_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles._rust_notify", None)

    async def body() -> None:
        async with opened(store, live=True) as pilot, _other(store) as other:
            recording = begin(other, "cmd_00000a", "make")
            recording.register()
            await until(pilot, lambda: " make " in "".join(text(buffers(pilot))))
            await until(pilot, lambda: "polling" in text(pilot.app.query_one("#header"))[0])
            assert "watchfiles is not installed" in next(iter(pilot.app._notifications)).message
            recording.append("out", b"first\n")
            await until(pilot, lambda: text(viewer(pilot)) == ["  1   first"])
            recording.seal(exit_code=0)

    run(body)


def test_of_all_growth_in_a_while_the_list_is_read_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    reads, timers = list[ListNeeds](), list[tuple[float, Callable[[], None]]]()

    def counted(store: Store, request: ListNeeds) -> LoadedList:
        reads.append(request)
        return load(store, request)

    async def body() -> None:
        async with opened(store) as pilot:
            monkeypatch.setattr("sightline_tui.buffers.buffer_list.load", counted)
            monkeypatch.setattr(BufferList, "set_timer", lambda _, delay, then: timers.append((delay, then)))
            for round_ in range(2):
                for _ in range(3):
                    buffers(pilot).store_changed(index=False, live=frozenset(["cmd_00000a"]))
                await rest(pilot)
                assert ([delay for delay, _ in timers], len(reads)) == ([GROWN_SECONDS] * (round_ + 1), round_)
                timers[-1][1]()
                await rest(pilot)
                assert [request.names for request in reads] == [("cmd_00000a",)] * (round_ + 1)

    run(body)
    recording.seal(exit_code=0)


def test_an_output_that_is_left_behind_is_no_work_for_the_garbage_collector(store: Store) -> None:
    for number in range(3):
        add(store, f"cmd_00000{number}", "seq", numbered(100), ago=30 - number)

    async def body() -> None:
        async with opened(store) as pilot:
            gc.collect()
            gc.disable()
            await press(pilot, "j", "j")
            await rest(pilot)
            gc.set_debug(gc.DEBUG_SAVEALL)
            gc.collect()
            assert not {"DrawnLine", "Worker"} & {type(one).__name__ for one in gc.garbage}

    try:
        run(body)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def test_garbage_is_looked_for_again_once_the_first_screen_is_there(store: Store) -> None:
    before = gc.get_threshold()

    async def body() -> None:
        async with opened(store):
            assert gc.isenabled()
            assert gc.get_threshold() == GARBAGE_THRESHOLDS
            assert gc.get_freeze_count() > 0

    gc.disable()  # as `run` does
    try:
        run(body)
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
        gc.enable()


def test_a_store_that_disappears_is_said(store: Store, tmp_path: Path) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            store.index.close()
            buffers(pilot).store_changed(index=True, live=frozenset())
            await until(pilot, lambda: bool(pilot.app._notifications))
            assert "the store cannot be read" in next(iter(pilot.app._notifications)).title
            assert pilot.app.is_running

    run(body)


class _other:  # noqa: N801
    """The same store as another process has it: with a connection of its own."""

    def __init__(self, store: Store) -> None:
        self.store = Store(store.root, store.settings)

    async def __aenter__(self) -> Store:
        return self.store

    async def __aexit__(self, *_: object) -> None:
        self.store.close()


class _Deaf(MessagePump):
    """Takes messages without an application."""

    def post_message(self, message: Message) -> bool:
        return True


def test_what_waits_for_a_harness_is_logged_by_a_process_of_its_own(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, commands, began = subprocess.run, list[tuple[tuple[str, ...], dict[str, Any]]](), threading.Event()

    def recorded(command: tuple[str, ...], **given: Any) -> None:
        commands.append((command, given))
        began.set()

    monkeypatch.setattr(subprocess, "run", recorded)
    os.makedirs(store.layout.waiting)
    Path(store.layout.waiting, "codex-1").touch()
    feed = StoreFeed(store, _Deaf())
    feed.start()
    try:
        assert began.wait(10)
    finally:
        feed.close()
    command, given = commands[0]
    assert given["env"]["SIGHTLINE_HOME"] == store.root
    assert run(command, **given).returncode == 0
    assert list_views(store) == []  # it only logs what waited
