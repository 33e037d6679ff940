"""Keys go on while the place with an output is slow: its bytes are read in other threads, and the viewer says so."""

import contextlib
import threading
import traceback
from collections.abc import AsyncIterator, Callable

import pytest
from textual.pilot import Pilot

from sightline.disk.index import Index
from sightline.disk.streams import StreamReader
from sightline.log.retention import remove
from sightline.store import Place, Store
from sightline_tui.common.hexdump import ROW_BYTES
from sightline_tui.viewer.selected_lines import COPY_WAITS
from sightline_tui.viewer.viewer import WAITS
from tests.tui.audit_kit import ask
from tests.tui.tui_kit import add, buffers, numbered, opened, press, rest, run, text, until, viewer


class SlowPlace:
    """A place that answers only while `answers` is set, or at once for small outputs.

    Attributes:
        small: bytes of an output that is at hand.
        in_main: how often it was read in the thread that handles keys.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.answers = threading.Event()
        self.answers.set()
        self.small = self.in_main = 0
        read = StreamReader.read

        def read_slowly(reader: StreamReader, offset: int, length: int) -> bytes:
            if threading.current_thread() is threading.main_thread():
                self.in_main += 1
            elif reader.byte_count > self.small:
                assert self.answers.wait(30)
            return read(reader, offset, length)

        patch.setattr(Store, "place", property(lambda _: Place("3 hosts")))
        patch.setattr(StreamReader, "may_wait", property(lambda reader: reader.byte_count > self.small))
        patch.setattr(StreamReader, "read", read_slowly)


class Watched:
    """An index that writes down each question that is asked in the thread that handles keys."""

    def __init__(self, index: Index, asked: list[str]) -> None:
        self._index, self._asked = index, asked

    def __getattr__(self, name: str) -> object:
        if threading.current_thread() is threading.main_thread() and callable(getattr(self._index, name)):
            callers = [f"{frame.name} in {frame.filename}" for frame in traceback.extract_stack()]
            self._asked.append(next((one for one in reversed(callers) if "sightline_tui" in one), "") + f": {name}")
        return getattr(self._index, name)


WALK = (
    *(("j", "j"), ("enter",), ("G",), ("n",), ("tab",), ("slash", "m", "a", "enter"), ("escape",), ("o",), ("S",)),
    *((key, "escape") for key in ("i", "V", "b", "K", "t", "W", "A", "d", "a", "D", "C", "question_mark")),
    *(("g", "J", "escape"), ("m", "m", "M", "escape"), ("exclamation_mark",), ("u",), ("e",), ("asterisk",), ("y",)),
    *(("colon", *"list", "enter"), ("escape", "escape"), ("slash", "slash", *"line", "enter"), ("escape",)),
    *(("c", "down", "enter"), ("G",), ("g",)),
)
"""Keys that open each screen, and come back."""


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> SlowPlace:
    """The store as a place that is slow on demand."""
    return SlowPlace(monkeypatch)


@contextlib.asynccontextmanager
async def at_place(store: Store, slow: SlowPlace) -> AsyncIterator[Pilot[None]]:
    """The application there, which ends though its threads are waiting."""
    async with opened(store) as pilot:
        try:
            yield pilot
        finally:
            slow.answers.set()


def info(pilot: Pilot[None]) -> str:
    return "".join(text(pilot.app.query_one("#info")))


def shows(pilot: Pilot[None], words: str) -> Callable[[], bool]:
    return lambda: words in "\n".join(text(viewer(pilot)))


def test_one_stream_is_shown_at_the_same_place_once_it_has_come(store: Store, slow: SlowPlace) -> None:
    add(store, "cmd_00000a", "make", numbered(300), b"".join(b"warning %d\n" % number for number in range(300)))

    async def body() -> None:
        async with at_place(store, slow) as pilot:
            await until(pilot, shows(pilot, "line 1"))
            await pilot.press("tab", *"450G")
            await until(pilot, shows(pilot, "450 ▌ warning 149"))
            for key, came in (("s", "line 300"), ("s", "warning 0"), ("s", "301 ▌ warning 0")):
                slow.answers.clear()
                before = viewer(pilot).stream
                await pilot.press(key, "question_mark")
                await until(pilot, lambda: len(pilot.app.screen_stack) == 2)
                await pilot.press("escape")
                assert viewer(pilot).stream == before
                slow.answers.set()
                await until(pilot, lambda before=before: viewer(pilot).stream != before)  # type: ignore[misc]
                await until(pilot, shows(pilot, came))
            assert not slow.in_main

    run(body)


def test_bytes_are_shown_at_the_place_of_the_lines(store: Store, slow: SlowPlace) -> None:
    add(store, "cmd_00000a", "make", numbered(3_000))

    async def body() -> None:
        async with at_place(store, slow) as pilot:
            await until(pilot, shows(pilot, "line 1"))
            await pilot.press("tab", *"2000G")
            await until(pilot, shows(pilot, "line 2000"))
            top = viewer(pilot).window.top.line
            slow.answers.clear()
            await pilot.press("x", "j")
            await until(pilot, lambda: viewer(pilot).window.top.line == top + 1)
            slow.answers.set()
            await until(pilot, lambda: viewer(pilot).shows_bytes)
            assert viewer(pilot).window.top.line == len(numbered(top - 1)) // ROW_BYTES + 1
            await until(pilot, shows(pilot, f"{viewer(pilot).window.top.line - 1:07x}0 "))
            assert not slow.in_main

    run(body)


def test_lines_are_copied_when_they_have_come(store: Store, slow: SlowPlace) -> None:
    add(store, "cmd_00000a", "make", numbered(300))

    async def body() -> None:
        async with at_place(store, slow) as pilot:
            await until(pilot, shows(pilot, "line 1"))
            await pilot.press("tab", "v", "j", "j")
            slow.answers.clear()
            await pilot.press("y")
            await until(pilot, lambda: COPY_WAITS in info(pilot))
            await pilot.press("v", "j")
            assert pilot.app.clipboard == ""
            slow.answers.set()
            await until(pilot, lambda: pilot.app.clipboard == "line 1\nline 2\nline 3\n")
            await until(pilot, lambda: COPY_WAITS not in info(pilot))
            assert not slow.in_main

    run(body)


def test_a_match_within_a_long_line_is_shown_when_it_has_come(store: Store, slow: SlowPlace) -> None:
    add(
        store,
        "cmd_00000a",
        "make",
        numbered(1) + b"".join(b"x" * 100_000 + b" needle %d" % nth for nth in (1, 2)) + b"x" * 100_000,
    )

    async def body() -> None:
        async with at_place(store, slow) as pilot:
            await until(pilot, shows(pilot, "line 1"))
            await pilot.press("tab", "slash", *"needle", "enter")
            await until(pilot, shows(pilot, "needle 1"))
            slow.answers.clear()
            await pilot.press("n", "question_mark")
            await until(pilot, lambda: len(pilot.app.screen_stack) == 2)
            await pilot.press("escape")
            slow.answers.set()
            await until(pilot, shows(pilot, "needle 2"))
            assert not slow.in_main

    run(body)


def test_when_lines_came_is_shown_when_it_is_known(store: Store, slow: SlowPlace) -> None:
    add(store, "cmd_00000a", "make", numbered(300), b"warning\n" * 3)

    async def body() -> None:
        async with at_place(store, slow) as pilot:
            await until(pilot, shows(pilot, "line 1"))
            slow.answers.clear()
            await pilot.press("tab", "T", "j")
            assert not shows(pilot, "0.0")()
            slow.answers.set()
            await until(pilot, shows(pilot, "0.0"))
            assert not slow.in_main

    run(body)


def test_nobody_waits_for_an_output_that_is_left(store: Store, slow: SlowPlace) -> None:
    add(store, "cmd_00000b", "make b", numbered(3), ago=90)
    add(store, "cmd_00000a", "make a", numbered(3_000))
    slow.small = 1_000

    async def body() -> None:
        async with at_place(store, slow) as pilot:
            await until(pilot, shows(pilot, "line 1"))
            slow.answers.clear()
            await pilot.press("tab", "G")
            await until(pilot, lambda: WAITS in info(pilot))
            await pilot.press("tab", "j")
            await until(pilot, lambda: buffers(pilot).rows.selected == "cmd_00000b" and viewer(pilot).line_count == 3)
            await until(pilot, shows(pilot, "line 1"))
            assert WAITS not in info(pilot)

    run(body)


@pytest.mark.parametrize(("keys", "copied"), [(("Y",), "@cmd_00000a:1-3"), (("v", "tab", "y"), "@cmd_00000a")])
def test_lines_that_come_late_replace_nothing_that_was_copied_since(
    store: Store, slow: SlowPlace, keys: tuple[str, ...], copied: str
) -> None:
    add(store, "cmd_00000a", "make", numbered(300))

    async def body() -> None:
        async with at_place(store, slow) as pilot:
            await until(pilot, shows(pilot, "line 1"))
            await pilot.press("tab", "v", "j", "j")
            slow.answers.clear()
            await pilot.press("y")
            await until(pilot, lambda: COPY_WAITS in info(pilot))
            await pilot.press(*keys)
            assert pilot.app.clipboard == copied
            slow.answers.set()
            await until(pilot, lambda: COPY_WAITS not in info(pilot))
            await rest(pilot)
            assert pilot.app.clipboard == copied

    run(body)


def test_nobody_waits_for_lines_to_copy_of_an_output_that_is_left(store: Store, slow: SlowPlace) -> None:
    add(store, "cmd_00000b", "make b", numbered(3), ago=90)
    add(store, "cmd_00000a", "make a", numbered(3_000))
    slow.small = 1_000

    async def body() -> None:
        async with at_place(store, slow) as pilot:
            await until(pilot, shows(pilot, "line 1"))
            await pilot.press("tab", "v", "j", "j")
            slow.answers.clear()
            await pilot.press("y")
            await until(pilot, lambda: COPY_WAITS in info(pilot))
            await pilot.press("tab", "j")
            await until(pilot, lambda: viewer(pilot).line_count == 3)
            assert COPY_WAITS not in info(pilot)
            slow.answers.set()
            await rest(pilot)
            assert pilot.app.clipboard == ""

    run(body)


def test_no_key_asks_a_slow_place_in_the_thread_that_handles_keys(
    store: Store, slow: SlowPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        made = add(store, f"cmd_0000{number:02x}", f"make {number % 7}", numbered(300), ago=100 + number, exit_code=1)
    add(store, "cmd_0000fa", "cat x.json", b'{"a": [1, 2]}\n', ago=5)
    ask(store, made, [(1, 5)])
    remove(store, [store.index.buffer("cmd_000013")])
    asked, index = list[str](), vars(Store)["index"].fget

    async def body() -> None:
        async with at_place(store, slow) as pilot:
            slow.in_main = 0  # the test itself has read some
            monkeypatch.setattr(Store, "index", property(lambda store: Watched(index(store), asked)))
            for keys in WALK:
                await press(pilot, *keys)
                await until(pilot, lambda: pilot.app.screen.is_attached)
            assert asked == []
            assert not slow.in_main
            monkeypatch.undo()

    run(body)
