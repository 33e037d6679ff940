"""When calls were made: counted by time, and drawn on one row."""

import time
from collections.abc import Iterator
from typing import Any, cast
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from sightline.base.records import Note
from sightline.store import Store
from sightline_tui.common.histogram import BINS, Histogram, histogram, histogram_parts
from sightline_tui.common.strips import width_of
from sightline_tui.timeline.call_reader import MOST_MOMENTS, moments_of
from sightline_tui.viewer.levels import line_histogram
from tests.tui.audit_kit import ask, bar
from tests.tui.tui_kit import add, begin, numbered, opened, press, run, text, until


def note(when: float) -> Note:
    return Note(f"s:{when}", "s", when, "@cmd_a", "text")


@given(st.lists(st.floats(1e6, 2e9), min_size=2, max_size=60))
def test_every_call_is_counted_once(times: list[float]) -> None:
    told = histogram(moments_of([note(when) for when in sorted(times)]))
    if min(times) == max(times):
        assert told is None
    else:
        assert told is not None and sum(told.counts) == len(times) and len(told.counts) == BINS


def test_of_very_many_calls_the_last_are_counted() -> None:
    told = histogram(moments_of([note(float(number)) for number in range(MOST_MOMENTS + 5)]))
    assert told is not None and told.first == 5.0


def test_one_call_has_no_histogram() -> None:
    assert histogram(moments_of([note(1.0)])) is None and histogram(()) is None


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


class Times:
    """A reading whose lines came at given times."""

    def __init__(self, came: list[int]) -> None:
        self.came = came

    def times(self, first: int, last: int) -> Iterator[int]:
        return iter(self.came[first - 1 : last])


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=400), st.sets(st.integers(1, 400)))
def test_every_line_and_every_error_is_counted_once_in_its_stretch(came: list[int], bad: set[int]) -> None:
    came.sort()
    errors = sorted(line for line in bad if line <= len(came))
    told = line_histogram(cast(Any, Times(came)), 1e9, len(came), [(line, line) for line in errors])
    if came[0] == came[-1]:
        assert told is None
        return
    assert told is not None
    stretches = [min((when - came[0]) * BINS // (came[-1] - came[0]), BINS - 1) for when in came]
    assert told.counts == tuple(map(stretches.count, range(BINS)))
    assert told.failed == tuple(map([stretches[line - 1] for line in errors].count, range(BINS)))


def test_the_viewer_shows_when_its_lines_came_and_where_errors_are(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "serve")
    recording.register()
    began = time.monotonic_ns()
    clock = iter(range(began + 10**9, began + 10**12, 10**9))
    with patch("sightline.disk.buffer_writer.time.monotonic_ns", lambda: next(clock)):
        for n in range(60):
            recording.append("out", b"12:00 ERROR gone\n" if n == 30 else b"fine\n" * (10 if n > 50 else 1))
    recording.seal(exit_code=0)

    def row(pilot: Pilot[None]) -> str:
        return "".join(text(pilot.app.query_one("#info"))[2:])

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter")
            assert row(pilot) == ""
            await press(pilot, "T")
            await until(pilot, lambda: "█" in row(pilot) and "▁" in row(pilot))
            assert row(pilot).count("█") < row(pilot).count("▁")
            await press(pilot, "T")
            await until(pilot, lambda: row(pilot) == "")

    run(body)
