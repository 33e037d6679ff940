"""What changed since the last run: in the list, in the head above the viewer, and above the diff."""

import pytest
from textual.pilot import Pilot

from sightline.store import Store
from sightline_tui.buffers import buffer_list
from sightline_tui.diff.diff_view import DiffView
from sightline_tui.diff.screen import DiffScreen
from tests.tui.tui_kit import add, buffers, opened, press, rest, run, text, until


def told_of(*failed: str) -> bytes:
    rows = "".join(f"FAILED tests/test_x.py::{name} - AssertionError: no\n" for name in failed)
    return f"===== test session starts =====\n{rows}===== {len(failed)} failed, 4 passed in 1.2s =====\n".encode()


def rows(pilot: Pilot[None]) -> str:
    return "\n".join(text(buffers(pilot)))


@pytest.fixture
def reruns(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffer_list, "SEEN_FIRST_SECONDS", 0.01)
    monkeypatch.setattr(buffer_list, "SEEN_SOON_SECONDS", 0.01)
    add(store, "cmd_00000a", "pytest -q", told_of("test_a", "test_b", "test_c"), ago=600, exit_code=1)
    add(store, "cmd_00000b", "pytest -q", told_of("test_b", "test_c"), ago=300, exit_code=1)
    add(store, "cmd_00000c", "pytest -q", told_of("test_b", "test_d"), exit_code=1)


@pytest.mark.usefixtures("reruns")
@pytest.mark.parametrize("size", [(80, 24), (70, 30), (120, 36), (200, 50)])
def test_list_and_head_say_what_changed_since_the_last_run(store: Store, size: tuple[int, int]) -> None:
    async def body() -> None:
        async with opened(store, size) as pilot:
            await until(pilot, lambda: " =1 +1 -1" in rows(pilot))
            assert " =2 -1" in rows(pilot)
            await rest(pilot)
            head = text(pilot.app.query_one("#info"))
            assert "exit 1 (same 1 fail · 1 new · 1 fixed)" in head[1]
            buffers(pilot).move_to(1)
            await rest(pilot)
            assert "(same 2 fail · 0 new · 1 fixed)" in text(pilot.app.query_one("#info"))[1]
            buffers(pilot).move_to(2)
            await rest(pilot)
            assert "same" not in text(pilot.app.query_one("#info"))[1]

    run(body)


@pytest.mark.usefixtures("reruns")
def test_above_the_diff_failures_are_counted_and_those_that_differ_are_named(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "d")
            header = text(pilot.app.screen.query_one("#diff-header"))
            assert "same 1 fail · 1 new · 1 fixed" in header[3]
            assert "+ tests/test_x.py::test_d" in header[3]
            assert "- tests/test_x.py::test_c" in header[3]

    run(body)


def test_two_streams_that_arrive_in_another_order_are_no_difference(store: Store) -> None:
    for first in ("out", "err"):
        recording = store.begin("cmd", "make", "/a", "s")
        recording.register()
        other = "err" if first == "out" else "out"
        for number in range(3):
            for stream in (first, other):
                recording.append(stream, f"{stream} {number}\n".encode())
        recording.seal(exit_code=0)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "d")
            assert isinstance(pilot.app.screen, DiffScreen)
            assert "No differences" in " ".join(text(pilot.app.screen.query_one("#notice")))
            assert not pilot.app.screen.query_one(DiffView).display

    run(body)
