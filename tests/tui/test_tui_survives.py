"""What happens to a store while one looks at it is said, and survived."""

import asyncio
import errno
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from textual.pilot import Pilot
from textual.widgets import Label

from sightline.base.errors import StoreFailed
from sightline.disk.index_filling import rebuild_buffers
from sightline.disk.streams import StreamReader
from sightline.store import Place, Store
from sightline_tui.app import InspectorApp
from sightline_tui.buffers.buffer_list import BufferList
from sightline_tui.common.messages import StoreChanged
from sightline_tui.common.output_reader import OutputReader
from sightline_tui.common.store_errors import tell
from sightline_tui.inspector import Inspector
from sightline_tui.viewer import awaited_lines, opened_output
from sightline_tui.viewer.line_strips import Chunk, LineStrips
from tests.tui.tui_kit import NOW, add, begin, buffers, numbered, opened, press, rest, run, text, until, viewer


def said(pilot: Pilot[None]) -> str:
    return "\n".join(f"{toast.title} {toast.message}" for toast in pilot.app._notifications)


async def changed(pilot: Pilot[None], *live: str) -> None:
    buffers(pilot).store_changed(index=not live, live=frozenset(live))
    viewer(pilot).went_on(frozenset(live))
    await rest(pilot)


def test_a_killed_writer_is_marked_though_it_tells_nobody(store: Store, python) -> None:  # type: ignore[no-untyped-def]
    writer = python(
        "import sys, signal; from sightline.store import Store\n"
        "recording = Store(sys.argv[1]).begin('cmd', 'make', '/', 's'); recording.register()\n"
        "recording.append('out', b'so far\\n'); print('there', flush=True); signal.pause()",
        store.root,
    )
    writer.stdout.readline()

    async def body() -> None:
        async with opened(store, live=True) as pilot:
            await until(pilot, lambda: viewer(pilot).following)
            writer.kill()
            await until(pilot, lambda: "interrupted" in "".join(text(pilot.app.query_one("#info"))))
            assert text(viewer(pilot)) == ["  1   so far"]
            await until(pilot, lambda: not viewer(pilot).following)

    run(body)


def test_stderr_that_begins_later_is_seen(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    recording.append("out", b"only out\n")

    async def body() -> None:
        async with opened(store) as pilot:
            assert text(viewer(pilot)) == ["  1   only out"]
            recording.append("err", b"late\n")
            await changed(pilot, "cmd_00000a")
            assert text(viewer(pilot)) == ["  1   only out", "  2 ▌ late"]
            recording.seal(exit_code=0)

    run(body)


def test_a_buffer_that_is_removed_while_open_is_said_in_its_place(store: Store) -> None:
    add(store, "cmd_00000a", "seq 3", numbered(3))
    removed = add(store, "cmd_00000b", "seq 9", numbered(9))

    async def body() -> None:
        async with opened(store) as pilot:
            assert len(text(viewer(pilot))) == 9
            store.remove(removed, "removed")
            await changed(pilot)
            assert "@cmd_00000b has been removed" in said(pilot)
            assert "@cmd_00000b was removed" in "".join(text(pilot.app.query_one("#notice")))
            await press(pilot, "enter", "G", "p", "D", "j")
            assert len(text(viewer(pilot))) == 3

    run(body)


def test_a_buffer_that_is_evicted_while_open_is_said_in_its_place(store: Store) -> None:
    evicted = add(store, "cmd_00000a", "seq 9", numbered(9))

    async def body() -> None:
        async with opened(store) as pilot:
            assert len(text(viewer(pilot))) == 9
            store.remove(evicted, "evicted")
            await changed(pilot)
            assert "@cmd_00000a has expired" in "".join(text(pilot.app.query_one("#notice")))
            await press(pilot, "enter", "G", "p", "d", *"//seq", "enter")
            assert pilot.app.is_running

    run(body)


def test_an_output_whose_bytes_are_gone_shows_no_other_in_its_place(store: Store) -> None:
    add(store, "cmd_00000a", "seq 3", numbered(3))
    add(store, "cmd_00000b", "seq 9", numbered(9))
    shutil.rmtree(store.layout.folder("cmd_00000a"))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "j")
            assert "the bytes of @cmd_00000a (out) are missing" in said(pilot)
            assert text(viewer(pilot)) == []
            await press(pilot, "k")
            assert len(text(viewer(pilot))) == 9

    run(body)


def test_an_output_whose_bytes_are_gone_is_said_on_the_first_screen(store: Store) -> None:
    add(store, "cmd_00000a", "seq 3", numbered(3))
    shutil.rmtree(store.layout.folder("cmd_00000a"))

    async def body() -> None:
        async with opened(store) as pilot:
            assert "the bytes of @cmd_00000a (out) are missing" in said(pilot)

    run(body)


def test_a_store_that_is_deleted_is_said_once(store: Store) -> None:
    add(store, "cmd_00000a", "seq 3", numbered(3))
    add(store, "cmd_00000b", "seq 9", numbered(9))

    async def body() -> None:
        async with opened(store, live=True) as pilot:
            shutil.rmtree(store.root)
            for _ in range(3):
                await changed(pilot)
            assert said(pilot) == f"The store is gone: {store.root} What is listed was in it"
            await press(pilot, "j", "enter", "G", "F", "tab", *"/seq", "enter", "escape")
            assert pilot.app.is_running

    run(body)


@pytest.mark.parametrize("polled", [False, True])
def test_a_store_that_is_removed_and_made_anew_is_said_and_shown_from_its_start(
    store: Store, monkeypatch: pytest.MonkeyPatch, polled: bool
) -> None:
    add(store, "cmd_00000a", "seq 3", numbered(3))
    add(store, "cmd_00000b", "seq 9", numbered(9))
    if polled:
        monkeypatch.setitem(sys.modules, "watchfiles._rust_notify", None)

    async def body() -> None:
        async with opened(store, live=True) as pilot:
            await until(pilot, lambda: pilot.app._feed._changes._thread is not None)
            await press(pilot, "t")
            shutil.rmtree(store.root)
            with Store(store.root, store.settings) as another:
                add(another, "cmd_00000c", "seq 5", numbered(5))
                await until(pilot, lambda: "The store was removed and made anew" in said(pilot))
                await until(pilot, lambda: buffers(pilot).rows.selected == "cmd_00000c")
                assert [entry.name for entry in buffers(pilot).rows.catalog.entries] == ["cmd_00000c"]
                await until(pilot, lambda: len(text(viewer(pilot))) == 5)
                add(another, "cmd_00000d", "seq 2", numbered(2), ago=5)
                await until(pilot, lambda: len(buffers(pilot).rows.catalog.entries) == 2)  # it goes on listening
                await press(pilot, "t")
                assert "cmd_00000a" not in "".join(text(pilot.app.screen.query_one("#calls")))

    run(body)


def test_an_index_that_is_made_anew_under_it_is_said(store: Store) -> None:
    add(store, "cmd_00000a", "seq 3", numbered(3))

    async def body() -> None:
        async with opened(store, live=True) as pilot:
            await until(pilot, lambda: pilot.app._feed._changes._thread is not None)
            with Store(store.root, store.settings) as another:
                another.access.start_anew()
                rebuild_buffers(another.layout, another.index)
                await until(pilot, lambda: "The store's index was made anew" in said(pilot))
                await until(pilot, lambda: len(text(viewer(pilot))) == 3)

    run(body)


def test_a_line_that_cannot_be_read_any_more_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, "cmd_00000a", "seq", numbered(5_000))

    def fails(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    async def body() -> None:
        async with opened(store) as pilot:
            with monkeypatch.context() as patched:
                patched.setattr(StreamReader, "read", fails)
                await press(pilot, "enter", "G")
                assert "Input/output error" in said(pilot)
            await press(pilot, "g")
            assert text(viewer(pilot))[0].split()[-1] == "1"

    run(body)


def test_a_tombstone_that_cannot_be_read_is_said(store: Store) -> None:
    store.remove(add(store, "cmd_00000a", "make", numbered(7)), "evicted")
    Path(store.layout.tombstone("cmd_00000a")).unlink()
    Path(store.layout.tombstone("cmd_00000a")).mkdir()

    async def body() -> None:
        async with opened(store) as pilot:
            assert "is not a file" in said(pilot)
            assert "@cmd_00000a has expired" in "".join(text(pilot.app.query_one("#notice")))

    run(body)


def test_what_comes_in_while_the_panes_are_taken_away_is_let_go(store: Store) -> None:
    add(store, "cmd_00000a", "true", b"one\n")
    told = list[Inspector]()

    class Last(Label):
        async def on_unmount(self) -> None:
            inspector = self.screen
            assert isinstance(inspector, Inspector)
            while inspector.query_one_optional(BufferList) is not None:
                await asyncio.sleep(0)
            inspector.store_changed(StoreChanged(True, frozenset()))
            inspector.polling_begun()
            told.append(inspector)

    async def body() -> None:
        async with opened(store) as pilot:
            await pilot.app.screen.mount(Last())

    run(body)
    assert told


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_full_disk_is_called_so(wrapped: bool) -> None:
    error: Exception = OSError(errno.ENOSPC, "No space left on device")
    if wrapped:
        cause, error = error, StoreFailed("this could not be logged", "`sightline doctor` says more about it")
        error.__cause__ = cause
    app = Mock()
    tell(app, error)
    told = app.post_message.call_args.args[0]
    assert told.message == "The disk is full"
    assert "delete outputs" in told.hint


def test_a_slow_place_never_holds_up_a_key(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        add(store, f"cmd_00000{number}", f"make {number}", b"text\n", ago=60 + number)
    answers, read = threading.Event(), opened_output.open_reader

    def open_slowly(*given: Any) -> Any:
        assert threading.current_thread() is not threading.main_thread(), "keys would wait for the place"
        assert answers.wait(30)
        return read(*given)

    monkeypatch.setattr(Store, "place", property(lambda _: Place("3 hosts")))
    monkeypatch.setattr(opened_output, "open_reader", open_slowly)

    async def body() -> None:
        app = InspectorApp(store, clock=lambda: NOW, live=False)
        async with app.run_test(size=(120, 36)) as pilot:
            await pilot.press("j", "j")
            await until(pilot, lambda: buffers(pilot).cursor == 2)
            await pilot.press("question_mark")
            await until(pilot, lambda: len(app.screen_stack) == 2)
            await pilot.press("escape")
            assert text(viewer(pilot)) == []
            answers.set()
            await until(pilot, lambda: any("text" in row for row in text(viewer(pilot))))

    run(body)


def reads_through(monkeypatch: pytest.MonkeyPatch, before: Callable[[], object]) -> None:
    """Have something done before lines are read, in the thread that reads them."""
    to_read = LineStrips.to_read

    def read_after(strips: LineStrips, place: int) -> Callable[[OutputReader], Chunk]:
        read = to_read(strips, place)
        return lambda reading: (before(), read(reading))[1]

    monkeypatch.setattr(LineStrips, "to_read", read_after)


@pytest.mark.parametrize("pattern", ["needle", "nee.le"])
def test_a_hit_on_a_line_that_is_awaited_is_marked_and_brought_into_view_when_it_comes(
    store: Store, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    add(store, "cmd_00000a", "make", numbered(200) + b"x" * 300 + b" needle\n" + numbered(200))
    answers = threading.Event()
    monkeypatch.setattr(StreamReader, "may_wait", property(lambda _: True))
    reads_through(monkeypatch, lambda: answers.wait(30))

    async def body() -> None:
        answers.set()
        async with opened(store) as pilot:
            try:
                await until(pilot, lambda: "line 1" in "".join(text(viewer(pilot))))
                await pilot.press("tab")
                answers.clear()
                await pilot.press("slash", *pattern, "enter")
                await until(pilot, lambda: "1 of 1" in text(pilot.app.query_one("#info"))[0])
                assert "201   …" in "\n".join(text(viewer(pilot)))
                answers.set()
                await until(pilot, lambda: "needle" in "".join(text(viewer(pilot))))
                pane = viewer(pilot)
                await until(pilot, lambda: pane.search.marks(201, pane.drawn(201).strip) == ((301, 307),))
            finally:
                answers.set()

    run(body)


def test_lines_that_could_not_be_read_are_asked_for_again_without_a_key(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, "cmd_00000a", "make", numbered(3))
    failing = iter([True])
    monkeypatch.setattr(awaited_lines, "REST_SECONDS", 0.3)
    monkeypatch.setattr(StreamReader, "may_wait", property(lambda _: True))

    def fail_once() -> None:
        if next(failing, False):
            raise StoreFailed("the place does not answer")

    reads_through(monkeypatch, fail_once)

    async def body() -> None:
        async with opened(store) as pilot:
            await until(pilot, lambda: "the place does not answer" in said(pilot))
            await until(pilot, lambda: text(viewer(pilot))[:1] == ["  1   line 1"])
            await until(pilot, lambda: "waiting" not in text(pilot.app.query_one("#info"))[0])

    run(body)


def test_no_key_waits_once_what_ran_elsewhere_has_ended_and_lies_at_a_slow_place(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    recording.append("out", numbered(3))
    is_slow, in_main = threading.Event(), list[bool]()
    monkeypatch.setattr(StreamReader, "may_wait", property(lambda _: is_slow.is_set()))
    reads_through(monkeypatch, lambda: in_main.append(threading.current_thread() is threading.main_thread()))

    async def body() -> None:
        async with opened(store) as pilot:
            await until(pilot, lambda: "line 3" in "".join(text(viewer(pilot))))
            assert any(in_main)
            in_main.clear()
            is_slow.set()
            recording.seal(exit_code=0)
            await changed(pilot)
            await until(pilot, lambda: in_main and "line 3" in "".join(text(viewer(pilot))))
            assert not any(in_main)

    run(body)
