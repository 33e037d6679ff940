"""Outputs merged by time: their lines in the order in which they came, and what is said where that is not known."""

import time
from contextlib import closing
from unittest.mock import patch

from sightline.base.records import Buffer
from sightline.disk.recording import Recording
from sightline.store import Store
from sightline_tui.merged import merged_lines
from sightline_tui.merged.merged_lines import MergedLines, clock_text
from sightline_tui.merged.merged_rows import letter_of
from sightline_tui.merged.screen import MergedScreen
from tests.tui.audit_kit import bar, rows
from tests.tui.tui_kit import NOW, add, begin, opened, press, rest, run, until, viewer

SECOND = 1_000_000_000


def at(store: Store, name: str, command: str, began: float, *lines: tuple[float, bytes]) -> Recording:
    """A capture that began at a time, and printed each line some seconds later."""
    with patch("time.time", lambda: NOW + began):
        recording = begin(store, name, command)
    recording.register()
    times = iter([int(came * SECOND) for came, _ in lines])
    recording.time_by(lambda: next(times, 99 * SECOND))
    for _, line in lines:
        recording.append("out", line)
    return recording


def sealed(recording: Recording, ended: float, exit_code: int = 0) -> Buffer:
    with patch("time.time", lambda: NOW + ended):
        return recording.seal(exit_code=exit_code)


def merged_texts(store: Store, *buffers: Buffer) -> list[str]:
    with closing(MergedLines(store, buffers)) as merged:
        texts = merged.texts(0, len(merged))
        told = []
        for number in range(len(merged)):
            one = merged.row(number)
            told.append(f"{letter_of(one.source)} {texts.get(number, one.number)}")
        return told


def test_lines_of_two_outputs_stand_in_the_order_in_which_they_came(store: Store) -> None:
    server = sealed(at(store, "cmd_00000a", "serve", 0, (1, b"up\n"), (5, b"GET /\n")), 9)
    client = sealed(at(store, "cmd_00000b", "curl", 3, (1, b"asking\n"), (4, b"200\n")), 8)
    assert merged_texts(store, client, server) == [
        *("A 0", "A up", "B 0", "B asking", "A GET /", "B 200", "B -1", "A -1"),
    ]


def test_lines_whose_times_are_not_known_stand_at_the_begin_of_their_output(store: Store) -> None:
    command = sealed(at(store, "cmd_00000a", "make", 0, (1, b"one\n"), (5, b"two\n")), 9)
    file = add(store, "file_00000b", "notes.txt", b"x\ny\n", exit_code=None, ago=-4.5)
    with closing(MergedLines(store, [file, command])) as merged:
        assert [merged.timed[merged.buffers.index(one)] for one in (command, file)] == [True, False]
        times = [merged.row(number).time for number in range(len(merged)) if merged.row(number).is_line]
        assert times == [NOW + 1, None, None, NOW + 5]


def test_more_lines_than_are_merged_are_counted(store: Store) -> None:
    first = sealed(at(store, "cmd_00000a", "seq", 0, (1, b"x\n" * 10)), 2)
    second = sealed(at(store, "cmd_00000b", "seq", 0, (2, b"y\n" * 10)), 3)
    with patch.object(merged_lines, "MOST_LINES", 12), closing(MergedLines(store, [first, second])) as merged:
        assert (len(merged), merged.left_out) == (12, 12)


def test_marked_outputs_are_shown_side_by_side_in_time_and_a_line_leads_to_its_output(store: Store) -> None:
    sealed(at(store, "cmd_00000a", "serve", 0, (1, b"up\n"), (5, b"\x1b[31mGET\x1b[0m /\n")), 9)
    sealed(at(store, "cmd_00000b", "curl", 3, (1, b"asking\n"), (4, b"200\n")), 8, exit_code=7)
    add(store, "file_00000c", "notes.txt", b"x\n", exit_code=None, ago=-6)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "M")
            assert "Mark two or more" in next(iter(pilot.app._notifications)).message
            await press(pilot, "m", "m", "m", "M")
            assert isinstance(pilot.app.screen, MergedScreen)
            await until(pilot, lambda: any("GET" in row for row in rows(pilot, "merged")))
            told = [row.split(maxsplit=1)[-1] for row in rows(pilot, "merged")]
            assert [one for one in told if "GET" in one or "200" in one] == ["A GET /", "B 200"]
            assert f" {clock_text(NOW + 5)} A GET /" in rows(pilot, "merged")
            assert any("B ✗ exit 7: curl" in row for row in rows(pilot, "merged"))
            head = bar(pilot, "merged-head")
            assert "Merged by time" in head and "3 outputs" in head
            assert "@file_00000c  notes.txt  when its lines came is not known" in head
            await press(pilot, "g", "right_square_bracket")
            assert " B " in rows(pilot, "merged")[pilot.app.screen.query_one("#merged").cursor]
            at_get = next(at for at, row in enumerate(rows(pilot, "merged")) if "GET" in row)
            pilot.app.screen.query_one("#merged").move_to(at_get)
            await press(pilot, "enter")
            await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
            await until(pilot, lambda: viewer(pilot).shows("cmd_00000a") and viewer(pilot).target == 2)

    run(body)


def test_what_runs_goes_on_where_one_reads_and_is_followed_on_demand(store: Store) -> None:
    sealed(at(store, "cmd_00000a", "seq", -60, (1, b"x\n" * 100)), -50)
    recording = at(store, "cmd_00000b", "serve", -30, (1, b"up\n"))

    async def body() -> None:
        async with opened(store, live=True) as pilot:
            await press(pilot, "m", "m", "M")
            await until(pilot, lambda: pilot.app.screen.query_one("#merged").row_count == 104)
            shown = pilot.app.screen.query_one("#merged")
            recording.append("out", b"GET /\n")
            await until(pilot, lambda: shown.row_count == 105)
            assert (shown.cursor, shown.scroll_offset.y) == (0, 0)
            await press(pilot, "F")
            assert "live" in bar(pilot, "merged-head")
            recording.append("out", b"GET /again\n")
            await until(pilot, lambda: shown.row_count == 106 and shown.cursor == 105)
            await until(pilot, lambda: any("GET /again" in row for row in rows(pilot, "merged")))
            await press(pilot, "q")
            await rest(pilot)
            recording.seal(exit_code=0)

    run(body)


def test_times_and_letters_are_worded() -> None:
    assert clock_text(None) == " " * len(clock_text(0.0))
    assert clock_text(1.5).endswith(time.strftime(":%M:%S", time.localtime(1.5)) + ".500")
    assert [letter_of(number) for number in (0, 25, 26, 51, 52)] == ["A", "Z", "AA", "AZ", "BA"]
