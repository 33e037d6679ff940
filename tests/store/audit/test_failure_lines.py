"""Failure lines are found from any line on, as they are found by looking at all of it."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.audit import failure_lines as module
from sightline.audit.failure_lines import REGION_GAP_LINES, REGION_LINES, FailureLines, GivenUp
from sightline.base.records import Buffer
from sightline.shape.failure.examination import Examination
from sightline.shape.memory_stream import BytesSource
from sightline.store import Store
from tests.examples import examples

Keep = Callable[..., Buffer]
unhurried = settings(
    deadline=None,
    max_examples=examples(40),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
LONG = b"y" * 90_000
LINES = st.lists(
    st.tuples(
        st.sampled_from(
            [
                b"fine",
                b"error: disk",
                b"\x1b[31merror: x\x1b[0m",
                b"0 errors",
                b"",
                b"y" * 90_000,
                b"y" * 90_000 + b" error: x",
            ]
        ),
        st.integers(1, 12),
    ),
    max_size=30,
).map(lambda runs: [line for line, times in runs for _ in range(times if len(line) < 100 else 1)])


def all_of(out: bytes) -> list[int]:
    spans = Examination(BytesSource(out), BytesSource(b""), "true").failures(BytesSource(out)).spans
    return [line for first, last in spans for line in range(first, last + 1)]


def regions(lines: list[int]) -> list[int]:
    return [line for at, line in enumerate(lines) if not at or line - lines[at - 1] > REGION_GAP_LINES + 1]


@unhurried
@given(lines=LINES, ended=st.booleans())
def test_regions_are_walked_down_and_up(keep: Keep, store: Store, lines: list[bytes], ended: bool) -> None:
    out = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    found = FailureLines(store, keep(out))
    failing = all_of(out)
    assert list(found.among("out", 1, len(lines))) == failing
    walked, line = [], 0
    while line := found.next_region("out", line):
        walked.append(line)
    assert set(regions(failing)) <= set(walked) <= set(failing)
    back, line = [], len(lines) + 1
    while line := found.previous_region("out", line):
        back.append(line)
    assert set(regions(failing)) <= set(back) <= set(failing)
    if len(failing) < REGION_LINES:
        assert walked == back[::-1] == regions(failing)


def test_a_flood_is_taken_in_steps(keep: Keep, store: Store) -> None:
    found = FailureLines(store, keep(b"error: disk\n" * 1_000))
    assert found.next_region("out", 0) == 1
    assert found.next_region("out", 1) == 2 + REGION_LINES
    assert found.previous_region("out", 900) == 900 - REGION_LINES


def test_each_stream_has_its_own(keep: Keep, store: Store) -> None:
    found = FailureLines(store, keep(b"fine\n", b"fine\nerror: disk\n"))
    assert (found.next_region("out", 0), found.next_region("err", 0)) == (0, 2)


def test_one_may_give_up(keep: Keep, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NEAR_LINES", 1)
    with pytest.raises(GivenUp):
        FailureLines(store, keep(b"fine\n" * 10), lambda: True).next_region("out", 0)
