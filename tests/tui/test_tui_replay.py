"""Replay: a session step by step, with the reply as it was sent and what had been seen by then."""

import pytest
from textual.pilot import Pilot

from sightline.base.records import Buffer
from sightline.store import Store
from sightline_tui.common.messages import StoreChanged
from sightline_tui.timeline.coverage_rows import CoverageRows
from sightline_tui.timeline.replay_reader import ReplayReader
from sightline_tui.timeline.replay_screen import ReplayScreen
from sightline_tui.timeline.step_parts import legend, step_at, track_parts
from tests.tui.audit_kit import AGENT, OTHER, ask, bar, rows
from tests.tui.tui_kit import add, numbered, opened, press, rest, run, until, viewer


@pytest.fixture
def buffer(store: Store) -> Buffer:
    made = add(store, "cmd_00000a", "make paint", numbered(40) + b"ERROR: out of paint\n" + numbered(40), exit_code=0)
    ask(store, made, [(1, 3), (80, 81)], verb="run_command", ago=50, truncated=True, reply="line 1\nline 2\n")
    ask(store, made, [(2, 10)], ago=40, reply="lines of paint\n")
    ask(store, made, [(41, 41)], by=OTHER, ago=35)
    ask(store, made, [(41, 41)], ago=30, reply="ERROR: out of paint\n")
    ask(store, None, verb="list_outputs", ago=20, reply="@cmd_00000a\n")
    return made


async def open_replay(pilot: Pilot[None]) -> None:
    await press(pilot, "t", "g", "r")


def test_each_step_shows_the_reply_and_what_had_been_seen_by_then(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (160, 40)) as pilot:
            await open_replay(pilot)
            assert "step 1 of 4" in bar(pilot, "replay-head")
            assert rows(pilot, "reply") == ["line 1", "line 2"]
            assert "seen 6 %  5 of 81, 5 now  ! 1 failure line unseen" in bar(pilot, "covered-title")
            shown = rows(pilot, "covered")
            assert shown == [
                "  1 █ line 1",
                "  2 █ line 2",
                "  3 █ line 3",
                "    ░ ⋯ 37 lines not seen ⋯",
                " 41 ! ERROR: out of paint",
                "    ░ ⋯ 38 lines not seen ⋯",
                " 80 █ line 39",
                " 81 █ line 40",
            ]
            await press(pilot, "right")
            assert rows(pilot, "reply") == ["lines of paint"]
            assert "seen 15 %  12 of 81, 9 now  ! 1 failure line unseen" in bar(pilot, "covered-title")
            await press(pilot, "l")
            assert "seen 16 %  13 of 81, 1 now" in bar(pilot, "covered-title")
            assert "unseen" not in bar(pilot, "covered-title")
            assert "so far" in bar(pilot, "replay-so-far") and "3 calls" in bar(pilot, "replay-so-far")
            await press(pilot, "left", "h", "h")
            assert "step 1 of 4" in bar(pilot, "replay-head")

    run(body)


def test_of_calls_of_one_moment_a_step_has_seen_what_came_before_it(store: Store) -> None:
    made = add(store, "cmd_00000a", "make paint", numbered(9), exit_code=0)
    views = [ask(store, made, [(line, line)], ago=9) for line in (1, 2, 3)]
    replaying = ReplayReader(store, AGENT)
    seen = [step.streams[0].seen for at in range(len(views)) if (step := replaying.step(at))]
    assert seen == [((1, 1),), ((1, 2),), ((1, 3),)]


def test_one_can_go_to_its_ends_and_by_a_click(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (160, 40)) as pilot:
            await open_replay(pilot)
            await press(pilot, "G")
            assert "step 4 of 4" in bar(pilot, "replay-head")
            assert "about no output" in bar(pilot, "covered-title")
            await press(pilot, "g")
            assert "step 1 of 4" in bar(pilot, "replay-head")
            await pilot.click("#replay-track", offset=(156, 0))
            await rest(pilot)
            assert "step 4 of 4" in bar(pilot, "replay-head")

    run(body)


def test_the_end_goes_on_with_the_session(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (160, 40)) as pilot:
            await open_replay(pilot)
            screen = pilot.app.screen
            assert isinstance(screen, ReplayScreen)
            await press(pilot, "G")
            ask(store, buffer, [(50, 51)], ago=10, reply="more\n")
            screen.store_changed(StoreChanged(True, frozenset()))
            await until(pilot, lambda: "step 5 of 5" in bar(pilot, "replay-head"))
            await press(pilot, "left")
            ask(store, buffer, [(52, 53)], ago=9, reply="and more\n")
            screen.store_changed(StoreChanged(True, frozenset()))
            await until(pilot, lambda: "step 4 of 6" in bar(pilot, "replay-head"))

    run(body)


def test_a_fold_opens_and_a_line_is_gone_to_in_its_buffer(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (160, 40)) as pilot:
            await open_replay(pilot)
            await press(pilot, "j", "j", "j", "enter")
            assert " 20 ░ line 20" in rows(pilot, "covered")
            await press(pilot, "z", "exclamation_mark", "enter")
            await until(pilot, lambda: viewer(pilot).target == 41)

    run(body)


def test_a_reply_whose_text_is_gone_says_so(store: Store) -> None:
    made = add(store, "cmd_00000a", "seq 9999", numbered(9999))
    ask(store, made, [(1, 2)])
    store.remove(made, "removed")

    async def body() -> None:
        async with opened(store, (160, 40)) as pilot:
            await open_replay(pilot)
            assert rows(pilot, "reply") == ["what was shown"]
            assert "about no output that is still there" in bar(pilot, "covered-title")

    run(body)


def test_both_streams_have_headings(store: Store) -> None:
    made = add(store, "cmd_00000a", "make", b"one\n", b"two\n")
    ask(store, made, [(1, 1)], stream="err", by=AGENT)

    async def body() -> None:
        async with opened(store, (80, 24)) as pilot:
            await open_replay(pilot)
            assert rows(pilot, "covered") == [" standard output", " 1 ░ one", " standard error", " 1 █ two"]

    run(body)


@pytest.mark.parametrize("steps", [1, 2, 7, 1000])
def test_a_click_on_the_track_goes_where_the_sign_of_a_step_stands(steps: int) -> None:
    assert (step_at(0, 80, steps), step_at(79, 80, steps)) == (0, steps - 1)
    assert sum(len(part.text) for part in track_parts(None, 80)) <= 80


def test_the_signs_of_the_map_differ_where_there_are_no_colours() -> None:
    signs = [part.text for part in legend() if len(part.text) == 1 and part.text != " "]
    assert len(signs) == len(set(signs)) == 4


def test_the_next_miss_may_be_in_another_output(store: Store, buffer: Buffer) -> None:
    other = add(
        store, "cmd_00000b", "make walls", numbered(5) + b"ERROR: no bricks\nfine\nERROR: no mortar\n", exit_code=1
    )
    ask(store, other, [(1, 2)], verb="run_command", ago=10, truncated=True, reply="line 1\n")

    async def body() -> None:
        async with opened(store, (160, 40)) as pilot:
            await open_replay(pilot)
            await press(pilot, "exclamation_mark")
            assert "step 1 of 5" in bar(pilot, "replay-head")
            await press(pilot, "exclamation_mark")
            await rest(pilot)
            assert "step 5 of 5" in bar(pilot, "replay-head")
            covered = pilot.app.screen.query_one(CoverageRows)
            assert "no bricks" in rows(pilot, "covered")[covered.cursor]
            await press(pilot, "exclamation_mark")
            await rest(pilot)
            assert "no mortar" in rows(pilot, "covered")[covered.cursor]
            await press(pilot, "exclamation_mark")
            await rest(pilot)
            assert "step 1 of 5" in bar(pilot, "replay-head")

    run(body)
