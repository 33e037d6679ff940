"""What a call changed in files: as a diff in timeline and replay, and the files as they were known at a step."""

from collections.abc import Sequence
from typing import Any

import pytest
from textual.pilot import Pilot

from sightline.store import Store
from sightline_tui.timeline.call_rows import CallRows
from sightline_tui.timeline.files_screen import FilesScreen
from sightline_tui.timeline.replay_screen import ReplayScreen
from tests.tui.audit_kit import ask, bar, rows
from tests.tui.tui_kit import add, burst, numbered, opened, press, run, until

PATH = "/home/ada/project/paint.py"


def edit(store: Store, ago: float, tool: str = "Edit", **arguments: Any) -> None:
    request = {"tool": tool, "arguments": {"file_path": PATH, **arguments}, "files": [PATH]}
    ask(store, None, verb="tool", ago=ago, reply="The file has been updated.\n", request=request)


@pytest.fixture
def edited(store: Store) -> Store:
    """A file was read, edited with a hostile byte, changed by a command, and another was written whole."""
    file = add(store, "file_00000a", PATH, numbered(20), exit_code=None, ago=70)
    ask(store, file, [(1, 20)], verb="read_file", ago=70, request={"path": PATH})
    edit(store, 60, old_string="line 5\nline 6\n", new_string="line five\x1b[31m\nand\nline 6\n")
    made = add(store, "cmd_00000b", "make all", b"ok\n", ago=52)
    ask(store, made, [(1, 1)], verb="run_command", ago=50, exit_code=0)
    sed = add(store, "cmd_00000c", f"sed -i s/line/row/ {PATH}", b"", ago=42)
    ask(store, sed, verb="run_command", ago=40, exit_code=0)
    edit(store, 30, "Write", content="alpha\nbeta\n", file_path="/home/ada/project/new.py")
    return store


def calls(pilot: Pilot[None]) -> CallRows:
    return pilot.app.screen.query_one(CallRows)


def stripped(found: Sequence[str]) -> list[str]:
    return [" ".join(one.split()) for one in found]


def test_an_edit_is_counted_in_its_row_and_unfolds_to_its_diff(edited: Store) -> None:
    async def body() -> None:
        async with opened(edited, (160, 40)) as pilot:
            await press(pilot, "t")
            await until(pilot, lambda: len(rows(pilot, "calls")) == 5)
            assert "+2 -1" in rows(pilot, "calls")[1] and "+2 -0" in rows(pilot, "calls")[4]
            calls(pilot).go_to(1)
            await press(pilot, "enter")
            await until(pilot, lambda: len(rows(pilot, "calls")) == 10)
            assert stripped(rows(pilot, "calls")[2:7]) == [
                f"│ {PATH} edited",
                "│ - line 5",
                "│ + line five␛[31m",
                "│ + and",
                "│ line 6",
            ]
            assert "changed +2 -1 lines" in bar(pilot, "timeline-detail")
            await press(pilot, "d")
            await until(pilot, lambda: len(rows(pilot, "calls")) == 5)
            await burst(pilot, "/Edit paint\r")  # as the row says it, which the log does not
            await until(pilot, lambda: len(rows(pilot, "calls")) == 1)

    run(body)


def test_the_replay_shows_the_diff_with_numbers_of_lines(edited: Store) -> None:
    async def body() -> None:
        async with opened(edited, (160, 40)) as pilot:
            await press(pilot, "t", "g", "r", "right")
            await until(pilot, lambda: "Changed 1 file" in bar(pilot, "covered-title"))
            shown = stripped(rows(pilot, "changed"))
            assert shown[:2] == ["paint.py edited", "2 line 2"]
            assert shown[4:7] == ["5 - line 5", "5 + line five␛[31m", "6 + and"]
            await press(pilot, "right")
            await until(pilot, lambda: "@cmd_00000b" in bar(pilot, "covered-title"))
            assert rows(pilot, "covered") != []
            await press(pilot, "right")
            await until(pilot, lambda: "Changed 1 file" in bar(pilot, "covered-title"))
            by_command = stripped(rows(pilot, "changed"))
            assert by_command == ["paint.py changed by a command; how is not recorded", f"sed -i s/line/row/ {PATH}"]
            await press(pilot, "d")
            await until(pilot, lambda: "@cmd_00000c" in bar(pilot, "covered-title"))
            await press(pilot, "d")
            await until(pilot, lambda: "Changed 1 file" in bar(pilot, "covered-title"))

    run(body)


def test_files_are_shown_as_they_were_known_at_the_step(edited: Store) -> None:
    async def body() -> None:
        async with opened(edited, (120, 40)) as pilot:
            await press(pilot, "t", "g", "r", "right", "right", "f")
            await until(pilot, lambda: isinstance(pilot.app.screen, FilesScreen) and bool(rows(pilot, "file-lines")))
            assert "step 3 of 5" in bar(pilot, "files-head")
            assert stripped(rows(pilot, "files")) == ["paint.py known whole, 21 lines, as of step 2 1 command since"]
            assert stripped(rows(pilot, "file-lines"))[3:7] == ["4 line 4", "5 line five␛[31m", "6 and", "7 line 6"]
            assert "what others changed is not known" in bar(pilot, "file-title")
            await press(pilot, "escape")
            assert isinstance(pilot.app.screen, ReplayScreen)
            await press(pilot, "right", "f")
            await until(pilot, lambda: "a command changed it" in "".join(rows(pilot, "files")))
            assert rows(pilot, "file-lines") == []

    run(body)


def test_lines_that_no_call_read_are_said_to_be_unknown(store: Store) -> None:
    file = add(store, "file_00000a", PATH, b"b\nc\n", exit_code=None, ago=70, gaps=gaps())
    ask(store, file, [(1, 2)], verb="read_file", ago=70, request={"path": PATH})

    async def body() -> None:
        async with opened(store, (120, 40)) as pilot:
            await press(pilot, "t", "g", "r", "f")
            await until(pilot, lambda: isinstance(pilot.app.screen, FilesScreen) and bool(rows(pilot, "file-lines")))
            assert stripped(rows(pilot, "file-lines")) == [
                "⋯ line 1 is not known ⋯",
                "2 b",
                "3 c",
                "⋯ lines 4-9 are not known ⋯",
            ]
            assert "2 of 9 lines known, as of step 1" in bar(pilot, "file-title")

    run(body)


def gaps() -> tuple[Any, ...]:
    from sightline.base.records import Gap

    return Gap("out", 0, 1, "lines"), Gap("out", 2, 6, "lines")
