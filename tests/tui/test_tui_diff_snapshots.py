"""How the diff screen looks, in three sizes, light, and without colours."""

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from sightline.store import Store
from sightline_tui.app import InspectorApp
from sightline_tui.diff.screen import DiffScreen
from tests.tui.tui_kit import NOW, add, press, rest

Compare = Callable[..., bool]


@pytest.fixture
def runs(store: Store) -> Store:
    """Two runs of a test suite: one test more, two that fail now, every duration another."""

    def lines(took: int, failing: tuple[int, ...], *, without: int = 0) -> bytes:
        told = []
        for case in range(1, 41):
            ending = "FAILED" if case in failing else "PASSED"
            if case != without:
                told.append(f"tests/test_parser.py::test_case_{case} {ending} in 0.{case * took % 90:02d}s")
        return "\n".join(["collecting \x1b[1m40\x1b[0m items", *told, f"{len(told)} tests in {took}.4s"]).encode()

    add(store, "cmd_00000a", "pytest -v tests", lines(7, (), without=12), ago=3_600)
    add(
        store,
        "cmd_00000b",
        "pytest -v tests",
        lines(11, (5, 30)),
        b"warning: slow [marker] \xe6\x97\xa5\n",
    )
    return store


def shown(compare: Compare, store: Store, size: tuple[int, int], *keys: str) -> bool:
    async def before(pilot: Pilot[None]) -> None:
        left, right = (store.resolve(f"@cmd_00000{letter}").buffer for letter in "ab")
        await rest(pilot)
        await pilot.app.push_screen(DiffScreen(store, left, right, clock=lambda: NOW))
        await rest(pilot)
        for key in keys:
            await press(pilot, key)

    return compare(InspectorApp(store, clock=lambda: NOW, live=False), terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)], ids=["small", "medium", "large"])
def test_diff(snap_compare: Compare, runs: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, runs, size, "W", "n")


def test_diff_light(snap_compare: Compare, runs: Store) -> None:
    assert shown(snap_compare, runs, (120, 36), "C", "down", "enter", "v", "j", "j")


def test_diff_without_colours(snap_compare: Compare, runs: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert shown(snap_compare, runs, (120, 24))
