"""A clock that runs ahead expires nothing; a real absence counts once two starts a day apart agree on it."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.records import Buffer
from sightline.disk.limits import Clock
from sightline.doors.cli.main import main
from sightline.log import retention
from sightline.settings.config import Settings
from sightline.store import Store

DAY = 86_400.0
YEAR = 365 * DAY

Keep = Callable[..., Buffer]


def after(*starts: float) -> Clock:
    clock = Clock(0.0)
    for start in starts:
        clock = clock.at(start)
    return clock


def test_starts_every_day_agree() -> None:
    assert after(*(DAY * number for number in range(9))).before is None


def test_a_gap_counts_once_two_starts_a_day_apart_agree() -> None:
    assert after(YEAR).before == 0.0
    assert after(YEAR, YEAR + 0.9 * DAY).before == 0.0
    assert after(YEAR, YEAR + 0.9 * DAY, YEAR + DAY).before is None


def test_a_clock_that_is_set_right_again_has_not_jumped() -> None:
    assert after(YEAR, YEAR + 60.0, 60.0).before is None
    assert after(YEAR, 60.0, YEAR + DAY).before == 60.0


@given(st.lists(st.floats(0, 20 * YEAR), min_size=1), st.floats(2 * DAY, 20 * YEAR))
def test_one_jump_never_counts_at_once(starts: list[float], jump: float) -> None:
    clock = after(*starts)
    jumped = max(clock.seen, clock.first) + DAY + jump
    if clock.before is None:
        assert clock.at(jumped).before == clock.seen


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store whose outputs are a day old, after a start in which the clock is years ahead."""
    root = str(tmp_path / "root")
    with Store(root, Settings()) as store:
        recording = store.begin("cmd", "make", "/", "s")
        recording.append("out", b"x\n")
        recording.seal(exit_code=0)
        store.limits.over()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 9 * YEAR)
    return root


def test_an_output_stays_if_the_clock_jumps_and_gc_says_why(
    old: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIGHTLINE_HOME", old)
    assert main(["gc"]) == 0
    printed = capfd.readouterr().out
    assert printed.startswith("0 expired")
    assert "the clock is 3,285 days later than at the last use: nothing expires by its age before" in printed
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + DAY)
    assert main(["gc"]) == 0
    assert capfd.readouterr().out.startswith("1 expired")


@pytest.mark.parametrize("note", [None, b"", b"[]", b'{"seen": 1e999, "before": null, "first": 0}'])
def test_without_a_note_of_a_start_the_last_use_is_one(old: str, note: bytes | None) -> None:
    path = Path(old, "clock.json")
    os.remove(path)
    if note is not None:
        path.write_bytes(note)
    with Store(old, Settings()) as store:
        assert retention.collect(store).evicted == []
