"""The timeline: calls and notes in order, followed, filtered, opened at their lines, added up."""

from unittest.mock import patch

import pytest
from textual.pilot import Pilot

from sightline.base.records import Buffer
from sightline.log.notes import write_note
from sightline.store import Store, Target
from sightline_tui.common.messages import StoreChanged
from sightline_tui.evidence.info_screen import ViewScreen
from sightline_tui.timeline import call_reader
from sightline_tui.timeline.call_rows import CallRows
from sightline_tui.timeline.screen import TimelineScreen
from tests.tui.audit_kit import AGENT, OTHER, ask, bar, rows, session
from tests.tui.tui_kit import NOW, add, burst, numbered, opened, press, run, text, until, viewer

LINES = numbered(40) + b"ERROR: out of paint\n" + numbered(40)


@pytest.fixture
def buffer(store: Store) -> Buffer:
    """Of 81 lines; an agent ran it, read some more of it, and never saw that it failed; another looked at a file."""
    made = add(store, "cmd_00000a", "make paint", LINES, exit_code=0)
    ask(store, made, [(1, 3), (80, 81)], verb="run_command", ago=50, truncated=True, exit_code=0, reply="made\n")
    ask(store, made, [(2, 10)], ago=40, reply="lines of paint\n")
    file = add(store, "file_00000b", "src/main.c", b"int main;\n", session=OTHER, exit_code=None)
    ask(store, file, [(1, 1)], by=OTHER, verb="read_file", ago=30)
    failed = add(store, "cmd_00000c", "make test", b"no rule\n", exit_code=2)
    ask(store, failed, [(1, 1)], verb="run_command", ago=20, exit_code=2)
    return made


def calls(pilot: Pilot[None]) -> CallRows:
    return pilot.app.screen.query_one(CallRows)


def asked(pilot: Pilot[None]) -> list[str]:
    return [row.split()[2 if "!" not in row.split()[0] else 1] for row in rows(pilot, "calls")]


def test_calls_stand_in_order_with_what_they_were_shown(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (160, 30)) as pilot:
            await press(pilot, "t")
            first, second, third, fourth = rows(pilot, "calls")
            assert "run_command  @cmd_00000a" in first and "make paint" in first
            assert first.split()[-5:] == ["0", "5/81", "cut", "5B", "~2"]
            assert second.split()[-1] == "↺2"
            assert OTHER in third and "@file_00000b" in third
            assert fourth.startswith(" ✗") and " 2 " in fourth
            assert "exit 2 · shown 1 of 1 line" in bar(pilot, "timeline-detail")

    run(body)


def test_totals_and_overlooked_failures_stand_above(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (160, 30)) as pilot:
            await press(pilot, "t")
            await until(pilot, lambda: "unseen" in bar(pilot, "timeline-totals"))
            told = bar(pilot, "timeline-totals")
            assert "4 calls, 1 cut · captured" in told
            assert "seen 17 % of 83 lines · re-read 12 % · ! 1 command failed · 1 failure unseen" in told
            assert [row[:3] for row in rows(pilot, "calls")] == [" ·!", " ·!", " · ", " ✗ "]
            await press(pilot, "exclamation_mark")
            await until(pilot, lambda: viewer(pilot).target == 41)
            assert any("ERROR: out of paint" in row for row in text(viewer(pilot)))

    run(body)


def test_enter_goes_to_the_lines_and_t_comes_back_to_the_same_call(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "t", "g", "j", "enter")
            await until(pilot, lambda: viewer(pilot).selection.range == (2, 10))
            assert viewer(pilot).shows("cmd_00000a")
            await press(pilot, "t")
            assert calls(pilot).cursor == 1

    run(body)


def test_it_follows_until_one_scrolls_up(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "t")
            screen = pilot.app.screen
            assert isinstance(screen, TimelineScreen)

            async def one_more(count: int) -> None:
                ask(store, buffer, [(20, 21)], ago=20 - count, reply=f"reply {count}\n")
                screen.store_changed(StoreChanged(True, frozenset()))
                await until(pilot, lambda: len(calls(pilot).rows) == 4 + count)

            await one_more(1)
            assert (calls(pilot).cursor, calls(pilot).following) == (4, True)
            await press(pilot, "k")
            await one_more(2)
            assert (calls(pilot).cursor, calls(pilot).following) == (3, False)
            await press(pilot, "F")
            await one_more(3)
            assert (calls(pilot).cursor, calls(pilot).following) == (6, True)

    run(body)


def test_calls_are_filtered_by_what_was_shown_and_by_keys(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (160, 30)) as pilot:
            await press(pilot, "t")
            await burst(pilot, "/OF PAINT\r")
            assert len(rows(pilot, "calls")) == 1 and "read_output" in rows(pilot, "calls")[0]
            assert "“OF PAINT”  1 match" in bar(pilot, "timeline-head")
            await press(pilot, "escape")
            assert len(rows(pilot, "calls")) == 4
            await press(pilot, "f")
            assert [row.split()[3] for row in rows(pilot, "calls")] == ["run_command"]
            await press(pilot, "f", "g", "o")
            assert len(rows(pilot, "calls")) == 2
            await press(pilot, "o", "V")
            assert ["read_file" in row for row in rows(pilot, "calls")] == [True]
            await burst(pilot, "/verb:query\r")
            await press(pilot, "escape")
            await burst(pilot, "/@cmd_00000c is:failed\r")
            assert len(rows(pilot, "calls")) == 1
            await burst(pilot, "/ nothing\r")
            assert "Nothing matches" in bar(pilot, "timeline-detail")

    run(body)


def test_it_shows_one_session_or_all(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "t", "right_square_bracket")
            assert AGENT in bar(pilot, "timeline-head")
            assert len(rows(pilot, "calls")) == 3
            await press(pilot, "right_square_bracket")
            assert OTHER in bar(pilot, "timeline-head")
            assert len(rows(pilot, "calls")) == 1
            await press(pilot, "right_square_bracket")
            assert "all sessions" in bar(pilot, "timeline-head")
            assert len(rows(pilot, "calls")) == 4

    run(body)


def test_notes_stand_between_calls(store: Store, buffer: Buffer) -> None:
    with patch("time.time", lambda: NOW - 35):
        write_note(store, session("shell-1"), Target(buffer, "out", 41, 41), "look at [this]")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "t")
            note = rows(pilot, "calls")[2]
            assert "✎" in note and "look at [this]" in note
            await press(pilot, "k", "k", "enter")
            await until(pilot, lambda: viewer(pilot).target == 41)

    run(body)


def test_the_reply_is_shown_as_it_was_sent(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "t", "g", "v")
            assert isinstance(pilot.app.screen, ViewScreen)
            assert rows(pilot, "view-text") == ["made"]

    run(body)


def test_an_empty_store_says_so(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "t")
            assert "Nobody has asked anything yet" in bar(pilot, "timeline-detail")
            await press(pilot, "enter", "r", "v", "y", "o", "exclamation_mark", "q")
            assert not isinstance(pilot.app.screen, TimelineScreen)

    run(body)


def test_many_calls_show_their_last_ones_first(store: Store, buffer: Buffer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_reader, "CALLS_A_STEP", 3)
    monkeypatch.setattr(call_reader, "FIRST_LOOK", 2)
    reader = call_reader.CallReader(store)
    first = reader.step(call_reader.CallFilter())
    assert (len(first.rows or ()), first.done) == (2, 0.0)
    steps = [reader.step(call_reader.CallFilter())]
    while steps[-1].done < 1:
        steps.append(reader.step(call_reader.CallFilter()))
    assert [call_reader.id_of(row) for row in first.rows or ()] == [
        call_reader.id_of(row) for row in (steps[-1].rows or ())[-2:]
    ]
    assert len(steps[-1].rows or ()) == 4


def test_what_a_reply_holds_cannot_disturb_the_screen(store: Store) -> None:
    made = add(store, "cmd_00000a", "printf '\x1b[2J[red]'", b"\x1b[31mx\n")
    ask(store, made, [(1, 1)], reply="\x1b[2J\u202e[bold]\n", request={"command": "printf '\x1b[2J[red]'"})

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "t")
            assert "␛[2J[red]" in bar(pilot, "timeline-detail")
            await press(pilot, "v")
            assert "\x1b" not in "".join(rows(pilot, "view-text"))

    run(body)
