"""When calls were made: counted by time, and drawn on one row."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.records import Note
from sightline.store import Store
from sightline.tui.common.strips import width_of
from sightline.tui.timeline.histogram import BINS, MOST_ROWS, Histogram, histogram, histogram_parts
from tests.tui.audit_kit import ask, bar
from tests.tui.tui_kit import add, numbered, opened, press, run


def note(when: float) -> Note:
    return Note(f"s:{when}", "s", when, "@cmd_a", "text")


@given(st.lists(st.floats(1e6, 2e9), min_size=2, max_size=60))
def test_every_call_is_counted_once(times: list[float]) -> None:
    told = histogram([note(when) for when in sorted(times)])
    if min(times) == max(times):
        assert told is None
    else:
        assert told is not None and sum(told.counts) == len(times) and len(told.counts) == BINS


def test_of_very_many_calls_the_last_are_counted() -> None:
    told = histogram([note(float(number)) for number in range(MOST_ROWS + 5)])
    assert told is not None and told.first == 5.0


def test_one_call_has_no_histogram() -> None:
    assert histogram([note(1.0)]) is None and histogram(()) is None


@pytest.mark.parametrize("width", [10, 20, 60, 200, 400])
def test_it_fits_and_the_fullest_stretch_is_the_highest(width: int) -> None:
    counts = [0] * BINS
    counts[0], counts[-1] = 1, 8
    parts = histogram_parts(Histogram(0.0, 60.0, tuple(counts), (0,) * BINS), width)
    assert width_of(parts) <= width
    if parts:
        drawn = "".join(part.text for part in parts)
        assert "█" in drawn and "▁" in drawn


def test_a_stretch_with_a_failure_stands_out() -> None:
    counts = (1,) + (0,) * (BINS - 2) + (1,)
    parts = histogram_parts(Histogram(0.0, 60.0, counts, (0,) * (BINS - 1) + (1,)), 100)
    assert [part.style for part in parts] == ["dim", "running", "failed", "dim"]


def test_the_timeline_shows_it_where_there_is_room(store: Store) -> None:
    made = add(store, "cmd_00000a", "make paint", numbered(60))
    for ago in (500, 400, 50):
        ask(store, made, [(1, 3)], ago=ago)

    async def body() -> None:
        async with opened(store, (120, 40)) as pilot:
            await press(pilot, "t")
            assert "█" in bar(pilot, "timeline-times")
        async with opened(store, (120, 30)) as pilot:
            await press(pilot, "t")
            assert not pilot.app.screen.query_one("#timeline-times").display

    run(body)
