"""What can be done with a buffer, and how all of it is found: pin, delete, diff, palette, help."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from sightline.base.records import Buffer
from sightline.capture.command import end_command
from sightline.disk.live import may_be_of, process_of
from sightline.store import Store
from sightline_tui.buffers import removal
from sightline_tui.buffers.removal import Confirm
from sightline_tui.commands import LEGEND, Help, Palette, PaletteRows
from sightline_tui.diff.screen import DiffScreen
from sightline_tui.inspector import Inspector
from tests.tui.tui_kit import (
    add,
    begin,
    buffers,
    burst,
    numbered,
    open_store,
    opened,
    press,
    rest,
    run,
    text,
    until,
    viewer,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path)) as store:
        add(store, "cmd_00000a", "make all", numbered(3), ago=300.0)
        add(store, "cmd_00000b", "cargo test", numbered(10), ago=200.0)
        add(store, "cmd_00000c", "make all", numbered(4), ago=100.0)
        yield store


def said(pilot: Pilot[None]) -> str:
    return "\n".join(f"{toast.title} {toast.message}" for toast in pilot.app._notifications)


async def changed(pilot: Pilot[None]) -> None:
    buffers(pilot).store_changed(index=True, live=frozenset())
    await rest(pilot)


def test_the_key_that_pins_lets_go_again(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "p")
            assert store.index.buffer("cmd_00000c").pinned
            assert "Pinned @cmd_00000c" in said(pilot)
            await changed(pilot)
            assert "◆" in text(buffers(pilot))[0]
            await press(pilot, "p")
            assert not store.index.buffer("cmd_00000c").pinned

    run(body)


def test_deleting_is_confirmed_and_only_y_is_a_yes(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            for no in ("n", "escape", "enter", "q", "space"):
                await pilot.press("D")
                await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
                await press(pilot, no)
                assert isinstance(pilot.app.screen, Inspector)
            assert store.index.buffer("cmd_00000c") is not None
            await pilot.press("D")
            await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
            await press(pilot, "y")
            assert "Deleted @cmd_00000c (make all). D on it takes it back" in said(pilot)
            assert " deleted " in text(buffers(pilot))[0]
            assert store.index.buffer("cmd_00000c") is not None
        assert store.index.buffer("cmd_00000c") is None  # the inspector has ended

    run(body)


def test_deleting_by_mouse(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await pilot.press("D")
            await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
            await pilot.click("#yes")
            await rest(pilot)
            assert "Deleted @cmd_00000c" in said(pilot)
        assert store.index.buffer("cmd_00000c") is None

    run(body)


def test_what_was_deleted_is_taken_back_by_the_same_key(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "m", "m", "D")
            told = "\n".join(str(fact.render()) for fact in pilot.app.screen.query("Static"))
            assert "Delete 2 outputs?" in told and "@cmd_00000c  make all" in told and "@cmd_00000b  cargo test" in told
            await press(pilot, "y", "g", "D")
            assert "Took back @cmd_00000c (make all)" in said(pilot)
            assert ["deleted" in row for row in text(buffers(pilot))] == [False, True, False]
        assert store.index.buffer("cmd_00000c") is not None
        assert store.index.buffer("cmd_00000b") is None

    run(body)


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (160, 45), (40, 12)])
def test_what_was_deleted_is_called_so_at_any_width(store: Store, size: tuple[int, int]) -> None:
    async def body() -> None:
        async with opened(store, size) as pilot:
            await press(pilot, "D", "y")
            assert " deleted " in "\n".join(text(buffers(pilot))[:2])

    run(body)


def test_what_was_deleted_is_removed_when_its_time_is_over(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "TAKE_BACK_SECONDS", 0.01)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "D")
            await press(pilot, "y")
            await until(pilot, lambda: store.index.buffer("cmd_00000c") is None)
            await changed(pilot)
            assert buffers(pilot).rows.selected == "cmd_00000b"

    run(body)


def test_keys_typed_ahead_of_the_question_confirm_nothing(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            for key in ("D", "D", "enter", "enter"):
                await pilot.press(key)
            await rest(pilot)
            assert isinstance(pilot.app.screen, Inspector)
            assert store.index.buffer("cmd_00000c") is not None

    run(body)


def test_a_running_capture_is_not_deleted(store: Store) -> None:
    recording = begin(store, "cmd_00000d", "sleep")
    recording.register()

    async def body() -> None:
        async with opened(store) as pilot:
            await pilot.press("D")
            await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
            await press(pilot, "y")
            assert "still running" in said(pilot)
            recording.seal(exit_code=0)

    run(body)


def test_a_full_disk_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def body() -> None:
        async with opened(store) as pilot:
            monkeypatch.setattr("sightline.disk.meta.rewrite_meta", full)
            await press(pilot, "p")
            assert "The disk is full" in said(pilot)
            assert pilot.app.is_running

    run(body)


def test_a_diff_of_the_two_that_are_marked(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "j", "m", "m", "d")
            assert isinstance(pilot.app.screen, DiffScreen)
            assert [target.buffer.name for target in pilot.app.screen._targets] == [
                "cmd_00000a",
                "cmd_00000b",
            ]  # the older at the left

    run(body)


def test_a_diff_with_the_run_before(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "d")
            assert [target.buffer.name for target in pilot.app.screen._targets] == ["cmd_00000a", "cmd_00000c"]
            await press(pilot, "q", "j", "d")
            assert isinstance(pilot.app.screen, Inspector)
            assert "@cmd_00000b is the first run of its command that is kept" in said(pilot)

    run(body)


def test_a_line_of_a_diff_opens_in_its_buffer(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "d", "n", "enter")
            assert isinstance(pilot.app.screen, Inspector)
            assert viewer(pilot).target == 4

    run(body)


def test_the_palette_finds_an_action_and_does_it(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await pilot.press("ctrl+p")
            await until(pilot, lambda: isinstance(pilot.app.screen, Palette))
            await rest(pilot)
            await pilot.press(*"leastused")
            await rest(pilot)
            assert "Least recently used" in text(pilot.app.screen.query_one(PaletteRows))[0]
            await press(pilot, "enter")
            assert buffers(pilot).rows.selected == "cmd_00000a"

    run(body)


def test_the_palette_offers_all_that_the_help_lists_and_closes_again(store: Store) -> None:
    async def body() -> None:
        async with opened(store, (100, 60)) as pilot:
            await pilot.press("ctrl+p")
            await until(pilot, lambda: isinstance(pilot.app.screen, Palette))
            await rest(pilot)
            offered = pilot.app.screen._actions
            assert {"Filter", "Sort", "Delete", "Follow", "Diff", "Quit"} <= {action.what for action in offered}
            assert {"The list", "The output", "Anywhere"} == {action.pane for action in offered}
            await press(pilot, "down", "up", "escape")
            assert isinstance(pilot.app.screen, Inspector)

    run(body)


def test_the_palette_begins_with_deeds_and_ends_with_movements(store: Store) -> None:
    async def body() -> None:
        async with opened(store, (100, 60)) as pilot:
            await press(pilot, "enter")  # to the viewer
            await pilot.press("ctrl+p")
            await until(pilot, lambda: isinstance(pilot.app.screen, Palette))
            names = [action.what for action in pilot.app.screen._actions]
            first, there, elsewhere, last = (names.index(what) for what in ("Delete", "Follow", "Sort", "Page down"))
            assert first < there < elsewhere < last
            assert not {"Down", "Line down", "Bottom"} & set(names[: names.index("Sort")])

    run(body)


def test_help_is_about_the_screen_that_is_shown(store: Store) -> None:
    async def body() -> None:
        async with opened(store, (100, 60)) as pilot:
            await press(pilot, "d", "question_mark")
            assert isinstance(pilot.app.screen, Help)
            shown = "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())
            assert "Whitespace" in shown
            assert "Least recently used" not in shown

    run(body)


@pytest.mark.parametrize(("size", "keys"), [((120, 35), ()), ((80, 24), ("l",))])
def test_the_legend_is_on_the_first_page_of_the_help_or_a_key_further(
    store: Store, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    async def body() -> None:
        async with opened(store, size) as pilot:
            await press(pilot, "question_mark", *keys)

            def shown() -> str:
                return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())

            await until(pilot, lambda: all(sign in shown() and what in shown() for sign, what in LEGEND[:8]))
            assert "l goes to the legend" in shown()
            pages = shown()
            for _ in LEGEND:
                await press(pilot, "j")
                pages += shown()
            assert [what for sign, what in LEGEND if not (sign in pages and what in pages)] == []

    run(body)


def test_help_answers_with_the_key_that_does_it_where_one_is(store: Store) -> None:
    """In the output, b goes up a page."""

    async def body() -> None:
        async with opened(store, (100, 60)) as pilot:
            for keys, brief in (("question_mark",), "b"), (("escape", "enter", "question_mark"), "B"):
                await press(pilot, *keys)
                shown = [strip.text for strip in pilot.app.screen._compositor.render_strips()]
                assert any(f"{brief}  What happened?" in line for line in shown)

    run(body)


def test_a_burst_that_ends_in_delete_waits_for_an_answer(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await burst(pilot, "/cargo\r")
            await pilot.press("D")
            await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
            assert "@cmd_00000b" in "\n".join(str(fact.render()) for fact in pilot.app.screen.query("Static"))
            await press(pilot, "n")

    run(body)


Waits = Callable[[Callable[[], object]], None]


@pytest.fixture
def waits(until: Waits) -> Waits:
    """What waits for other processes; `until` here waits for the screen."""
    return until


def _sleeper(store: Store, waits: Waits) -> tuple[subprocess.Popen[bytes], Buffer]:
    environment = {**os.environ, "SIGHTLINE_HOME": store.root}
    program = [sys.executable, "-m", "sightline.doors.cli.main", "run", "--", "sleep", "1000"]
    process = subprocess.Popen(program, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    waits(store.index.running)
    return process, store.index.running()[0]


def test_a_running_command_is_ended_once_it_is_confirmed_by_name_agent_and_process(
    tmp_path: Path, waits: Waits
) -> None:
    async def body(store: Store, process: subprocess.Popen[bytes], buffer: Buffer) -> None:
        async with opened(store) as pilot:
            for answer in ("n", "y"):
                await until(pilot, lambda: process_of(store.layout, buffer.name) is not None)
                await press(pilot, "X")
                await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
                told = "\n".join(str(fact.render()) for fact in pilot.app.screen.query("Static"))
                assert f"End {buffer.ref}?" in told and "sleep 1000" in told and buffer.session in told
                assert f"process {process_of(store.layout, buffer.name).pid}" in told
                await press(pilot, answer)
            await until(pilot, lambda: process.poll() is not None)
            await until(pilot, lambda: f"Ended {buffer.ref}" in said(pilot))

    with open_store(tmp_path) as store:
        process, buffer = _sleeper(store, waits)
        try:
            run(lambda: body(store, process, buffer))
        finally:
            process.kill()
            process.wait()


def test_a_process_that_started_long_after_the_capture_is_not_its_own(tmp_path: Path, waits: Waits) -> None:
    with open_store(tmp_path) as store:
        process, buffer = _sleeper(store, waits)
        try:
            waits(lambda: process_of(store.layout, buffer.name))
            captured = process_of(store.layout, buffer.name)
            assert captured is not None
            assert may_be_of(captured, buffer.created)
            assert not may_be_of(captured, buffer.created - 3600) or not os.path.exists("/proc/uptime")
            assert end_command(store, buffer)
        finally:
            process.kill()
            process.wait()


def test_what_has_ended_is_not_ended_again(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "X")
            assert "has no running command: " in said(pilot)

    run(body)
