"""The sentence about an output, and the units it speaks in."""

import pytest

from sightline.shape.failure.examine import Examination
from sightline.shape.memory import BytesSource
from sightline.shape.summary import human_bytes, human_seconds, summary

NONE = BytesSource(b"")


def test_a_failure_is_told_with_its_code_time_and_size() -> None:
    out, err = BytesSource(b"x" * 31 + b"\n" + b"y\n" * 100), BytesSource(b"e\n" * 12)
    assert summary(out, err, exit_code=1, seconds=3.21) == (
        "failed with exit 1 after 3.2 s: 113 lines, 256 B (stderr 12 lines)"
    )


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"exit_code": 0, "seconds": 0.4}, "ok in 0.4 s: 1 line, 2 B"),
        ({"exit_code": 0}, "ok: 1 line, 2 B"),
        ({"exit_code": None, "seconds": 600.0, "timed_out": True}, "timed out after 10 min 0 s: 1 line, 2 B"),
        ({"exit_code": None, "seconds": 5.0, "running": True}, "still running after 5.0 s: 1 line, 2 B"),
        ({"exit_code": -9, "seconds": 5.0, "signal": 9}, "ended by signal 9 after 5.0 s: 1 line, 2 B"),
        ({"exit_code": None}, "ended, exit code unknown: 1 line, 2 B"),
    ],
)
def test_every_ending_has_its_words(facts: dict[str, int], sentence: str) -> None:
    assert summary(BytesSource(b"x\n"), NONE, **facts) == sentence  # type: ignore[arg-type]


def test_silence_is_told_as_such() -> None:
    assert summary(NONE, NONE, exit_code=0, seconds=0.001) == "ok in 1 ms: no output"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (65536, "64.0 KiB"),
        (1024**2 - 1, "1.0 MiB"),
        (5 * 1024**3, "5.0 GiB"),
        (3 * 1024**6, "3072.0 PiB"),
    ],
)
def test_sizes_are_read_by_people(count: int, text: str) -> None:
    assert human_bytes(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.012, "12 ms"),
        (0.05, "0.1 s"),
        (3.21, "3.2 s"),
        (59.96, "1 min 0 s"),
        (125, "2 min 5 s"),
        (3599.6, "1 h 0 min"),
        (10_800, "3 h 0 min"),
        (172_769, "47 h 59 min"),
        (172_770, "2 d 0 h"),
        (5_326_080, "61 d 15 h"),
    ],
)
def test_durations_are_read_by_people(seconds: float, text: str) -> None:
    assert human_seconds(seconds) == text


def test_what_a_tool_names_is_told_where_it_came_to_no_count() -> None:
    out = BytesSource(b"FAILED tests/test_a.py::test_sum - assert 1 == 2\n" + b"tests/test_b.py ...\n" * 3)
    examination = Examination(out, NONE, "pytest")
    told = summary(out, NONE, exit_code=None, seconds=9, timed_out=True, examination=examination)
    unread = "timed out after 9.0 s: 4 lines, 109 B; what pytest counts was not recognised"
    assert told == f"{unread} — FAILED: tests/test_a.py::test_sum"


def test_nothing_is_named_as_failed_in_what_went_well() -> None:
    out = BytesSource(b"FAILED tests/test_a.py::test_sum - assert 1 == 2\n")
    told = summary(out, NONE, exit_code=0, seconds=9, examination=Examination(out, NONE, "pytest"))
    assert told == "ok in 9.0 s: 1 line, 49 B; what pytest counts was not recognised"


def _told(text: str, command: str) -> str:
    out = BytesSource(text.encode())
    return summary(out, NONE, exit_code=0, examination=Examination(out, NONE, command)).partition(" (ok")[0]


def test_a_number_that_no_line_states_is_told_as_counted() -> None:
    passed = "".join(f"--- PASS: TestCase{number} (0.00s)\n" for number in range(173))
    assert _told(f"{passed}PASS\n", "go test -v ./...") == "173 passed (counted)"
    assert _told("=== 173 passed in 2.00s ===\n", "pytest") == "173 passed"


def test_a_sum_of_several_totals_is_told_as_counted_and_one_told_again_is_no_other() -> None:
    first, second = "=== 5 passed in 2.00s ===\n", "=== 7 passed, 1 skipped in 3.10s ===\n"
    assert _told(first + second, "pytest a; pytest b") == "12 passed (counted), 1 skipped"
    assert _told(first + "Summary of the log:\n" + first, "pytest | tee log; cat log") == "5 passed"
