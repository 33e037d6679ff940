"""Which raw lines a reply showed is told where it is exactly known, and never guessed."""

from typing import Any

import pytest

from sightline.pipeline.ranges import exact_ranges
from sightline.pipeline.run import QueryLimits, run

Buffers = Any
REF = "@cmd_a1b2c3"

KNOWN = [
    ("cat @cmd_a1b2c3", [(1, 100)]),
    ("cat -n @cmd_a1b2c3", [(1, 100)]),
    ("head @cmd_a1b2c3", [(1, 10)]),
    ("head -n 5 @cmd_a1b2c3", [(1, 5)]),
    ("head -7 @cmd_a1b2c3", [(1, 7)]),
    ("head -n -2990 @cmd_a1b2c3", [(1, 10)]),
    ("head -n -9000 @cmd_a1b2c3", []),
    ("head -n 200 @cmd_a1b2c3", [(1, 100)]),
    ("tail @cmd_a1b2c3", [(2991, 3000)]),
    ("tail -n 3 @cmd_a1b2c3", [(2998, 3000)]),
    ("tail -3 @cmd_a1b2c3", [(2998, 3000)]),
    ("tail -n +2999 @cmd_a1b2c3", [(2999, 3000)]),
    ("tail -n 5000 @cmd_a1b2c3", [(1, 100)]),
    ("sed -n 5,9p @cmd_a1b2c3", [(5, 9)]),
    ("sed -n 5p @cmd_a1b2c3", [(5, 5)]),
    ("sed -n '2990,$p' @cmd_a1b2c3", [(2990, 3000)]),
    ("sed -n '5,9p;20p;30,31p' @cmd_a1b2c3", [(5, 9), (20, 20), (30, 31)]),
    ("sed -n -e 5,9p -e 9q @cmd_a1b2c3", [(5, 9)]),
    ("sed -n '5,20p;7q' @cmd_a1b2c3", [(5, 7)]),
    ("sed -n 9,5p @cmd_a1b2c3", [(9, 9)]),
    ("sed -n 2990,4000p @cmd_a1b2c3", [(2990, 3000)]),
    ("grep '^50$' @cmd_a1b2c3", [(50, 50)]),
    ("grep -n '^5.$' @cmd_a1b2c3", [(50, 59)]),
    ("egrep -x '7|70' @cmd_a1b2c3", [(7, 7), (70, 70)]),
    ("fgrep -x -e 7 -e 9 @cmd_a1b2c3", [(7, 7), (9, 9)]),
    ("grep -A2 -B1 '^50$' @cmd_a1b2c3", [(49, 52)]),
    ("grep -C1 -e '^50$' -e '^60$' @cmd_a1b2c3", [(49, 51), (59, 61)]),
    ("grep -m 2 99 @cmd_a1b2c3", [(99, 99), (199, 199)]),
    ("grep -v 1 @cmd_a1b2c3", [(2, 9), (20, 20), (22, 30), (32, 40), (42, 50), (52, 60), (62, 70), (72, 80), (82, 90),
                               (92, 99), (200, 200), (202, 209), (220, 220), (222, 230), (232, 232)]),
    ("grep nothing @cmd_a1b2c3", []),
    ("rg '^50$' @cmd_a1b2c3", [(50, 50)]),
    ("rg -N -A1 '^50$' @cmd_a1b2c3", [(50, 51)]),
    ("cat @cmd_a1b2c3 | sed -n '101,200p'", [(101, 200)]),
    ("cat @cmd_a1b2c3 | head -n 3", [(1, 3)]),
    ("tail -n +100 @cmd_a1b2c3 | sed -n 5,9p | head -n 2", [(104, 105)]),
    ("grep 99 @cmd_a1b2c3 | sed -n 2,3p", [(199, 199), (299, 299)]),
    ("grep -C1 50 @cmd_a1b2c3 | head -n 5", [(49, 51), (149, 149)]),
    ("cat @cmd_a1b2c3 | sed -n '2990,3089p'", [(2990, 3000)]),
]  # fmt: skip


@pytest.mark.parametrize(("query", "lines"), KNOWN, ids=[query for query, _ in KNOWN])
def test_lines_that_were_shown_are_known(buffers: Buffers, query: str, lines: list[tuple[int, int]]) -> None:
    pipeline = buffers.parse(query)
    shown = run(pipeline).stdout_shown
    assert exact_ranges(pipeline, shown, lines_of=lambda ref: 3000) == {REF: lines}
    assert sum(last - first + 1 for first, last in lines) <= shown


@pytest.mark.parametrize(
    "query",
    [
        "grep -c 5 @cmd_a1b2c3",
        "grep -l 5 @cmd_a1b2c3",
        "grep -o 5 @cmd_a1b2c3",
        "grep -q 5 @cmd_a1b2c3",
        "grep -H 5 @cmd_a1b2c3",
        "grep 5 @cmd_a1b2c3 @last",
        "rg --json 5 @cmd_a1b2c3",
        "rg -c 5 @cmd_a1b2c3",
        "head -c 5 @cmd_a1b2c3",
        "tail -c 5 @cmd_a1b2c3",
        "cat -s @cmd_a1b2c3",
        "cat @cmd_a1b2c3 @cmd_a1b2c3",
        "sed 5,9p @cmd_a1b2c3",
        "sed -n '5,9p;7p' @cmd_a1b2c3",
        "sed -n '/x/p' @cmd_a1b2c3",
        "sed -n '7q;5,9p' @cmd_a1b2c3",
        "sort @cmd_a1b2c3",
        "wc -l @cmd_a1b2c3",
        "cat @cmd_a1b2c3 | sort",
        "cat @cmd_a1b2c3 | tail -n 3",
        "cat @cmd_a1b2c3 | head -n -3",
        "awk 1 @cmd_a1b2c3",
        "diff @cmd_a1b2c3 @last",
        "cat @cmd_a1b2c3 | head -n 3 - @last",
    ],
)
def test_nothing_is_guessed(buffers: Buffers, query: str) -> None:
    pipeline = buffers.parse(query)
    assert exact_ranges(pipeline, 3, lines_of=lambda ref: 3000) is None


def test_a_binary_file_that_only_matches_shows_no_line(buffers: Buffers) -> None:
    for query, lines in (("grep nul @cmd_0dd000", None), ("grep -a nul @cmd_0dd000", [(2, 2)])):
        pipeline = buffers.parse(query)
        known = exact_ranges(pipeline, 1, lines_of=lambda ref: 3)
        assert known == (None if lines is None else {"@cmd_0dd000": lines})


def test_text_that_looks_like_a_ref_is_still_text(buffers: Buffers) -> None:
    pipeline = buffers.parse("grep -v '@last' @last")
    assert exact_ranges(pipeline, 1, lines_of=lambda ref: 1) == {"@last": [(1, 1)]}


def test_only_lines_that_fitted_the_caps_count(buffers: Buffers) -> None:
    pipeline = buffers.parse("grep 5 @cmd_a1b2c3")
    result = run(pipeline, limits=QueryLimits(max_lines=3))
    assert exact_ranges(pipeline, result.stdout_shown, lines_of=lambda ref: 3000) == {REF: [(5, 5), (15, 15), (25, 25)]}
    assert exact_ranges(pipeline, 0, lines_of=lambda ref: 3000) == {REF: []}
