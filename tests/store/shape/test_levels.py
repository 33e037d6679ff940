"""The levels of lines: by the first word that names one, with the lines that belong to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.failure.prefilter import Prefilter
from sightline.shape.levels import DEBUG, ERROR, INFO, STEMS, WARN, LineLevels, is_error_entry, level_of
from tests.each import each


@pytest.mark.parametrize(
    ("line", "level"),
    [
        (b"2026-01-02 12:00:00 ERROR pool: gone", ERROR),
        (b"2026-01-02 INFO error_handler: 3 failed before", INFO),
        (b"12:00 DEBUG error in retry 1", DEBUG),
        (b"src/a.c:3:1: error: expected ';'", ERROR),
        (b"error[E0308]: mismatched types", ERROR),
        (b"warning: unused variable", WARN),
        (b'{"time":"12:00","level":"error","msg":"gone"}', ERROR),
        (b"ts=12:00 level=warn msg=slow", WARN),
        (b"[ warn ] slow", WARN),
        (b"npm warn deprecated a@1", WARN),
        (b"npm ERR! code E404", ERROR),
        (b"ValueError: no such key", ERROR),
        (b"java.lang.IllegalStateException: closed", ERROR),
        (b"FAILED tests/test_a.py::test_b - assert 1 == 2", ERROR),
        (b"a.py:3: DeprecationWarning: old", WARN),
        (b"\x1b[31mERROR\x1b[0m gone", ERROR),
        (b"0 ERRORS, 3 passed", ""),
        (b"FAILED: 0", ""),
        (b"errors: 0", ""),
        (b"no error occurred", ""),
        (b"stderr is closed", ""),
        (b"an ERROR-free run", ""),
    ],
)
def test_the_first_word_that_names_a_level_decides(line: bytes, level: str) -> None:
    assert level_of(line) == level
    assert level in ("", INFO) or list(Prefilter(STEMS, ()).lines([(1, line + b"\n")]))


LOG = (
    b"12:00 INFO start\n"
    b"12:01 ERROR gone\n"
    b"  at a (a.js:1)\n"
    b"\tat b (b.js:2)\n"
    b"12:02 WARN slow\n"
    b"plain\n"
    b"12:03 DEBUG details\n"
    b"  of them\n"
    b"\n"
    b"  alone\n"
    b"12:04 INFO end\n"
)


def taken(data: bytes, at: list[int], failing: tuple[int, ...] = ()) -> LineLevels:
    """Take lines in blocks that end after some of them."""
    levels, lines = LineLevels(), data.splitlines(keepends=True)
    for first, last in zip([0, *at], [*at, len(lines)], strict=True):
        block = b"".join(lines[first:last])
        named = list(Prefilter(STEMS, ()).lines([(first + 1, block)]))
        levels.take(block, named, [number for number in failing if first < number <= last])
    return levels


@given(st.sets(st.integers(1, 10)))
def test_indented_lines_belong_to_the_line_before_wherever_blocks_end(at: set[int]) -> None:
    levels = taken(LOG, sorted(at))
    assert levels.lines == 11
    assert levels.spans(ERROR) == [(2, 4)]
    assert sum(last - first + 1 for first, last in levels.spans(WARN)) == 4
    assert {n for first, last in levels.spans(INFO) for n in range(first, last + 1)} == {*range(1, 12)} - {7, 8}
    assert (levels.count(ERROR), levels.count(WARN), levels.count(INFO)) == (3, 4, 9)


def test_what_is_known_to_fail_is_an_error() -> None:
    assert taken(LOG, [5], failing=(6,)).spans(ERROR) == [(2, 4), (6, 6)]


@each(
    ("line", "is_error"),
    [
        ("kern  :emerg : [   12.3] watchdog: BUG: soft lockup", True),
        ("daemon:err   : [   12.5] till: no coins", True),
        ("kern  :info  : [    0.1] no error yet", False),
        ("user  :warn  : the error budget is low", False),
        ("2026-01-02 12:00:00 ERROR pool: gone", True),
        ("reads err : 7", False),
    ],
)
def test_level_behind_a_facility_is_that_of_the_entry(line: str, is_error: bool) -> None:
    assert is_error_entry(line) == is_error
