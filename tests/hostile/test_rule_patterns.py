"""Patterns of rules that begin with a run of characters find what they say, in a time that grows with the line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.failure.tool_rules import LatePattern, begun_once
from tests.hostile.shapes import in_bounded_time

BEGINNING = [
    r"(\d+) failed",
    r"(?P<name>[\w.-]+): (?P<kind>error|note)",
    r"\S+? at (\d+)",
    r"[^\s:]*:(\d+)",
    r"\w+\.x|(\d+) failed",
    r"\d+\b",
]
OTHERS = [r"(\d+)? failed", r"(\d+ a|b) c", r"(\d+)* x", r"\d{2} x", r"^\d+ x", r"(?:ab)+ x", r"[]a]+ x"]
TEXTS = st.lists(st.sampled_from(["0", "12", "a", ".x", ":", " ", " failed", ": error", " at 3", "é"])).map("".join)


@given(TEXTS, st.sampled_from([*BEGINNING, *OTHERS]))
def test_a_pattern_finds_the_same_place_as_before(text: str, pattern: str) -> None:
    was, now = re.search(pattern, text), LatePattern(pattern).search(text)
    assert (was and (was.span(), was.groups())) == (now and (now.span(), now.groups()))


@pytest.mark.parametrize(("pattern", "run"), zip(BEGINNING[:5], ["0", "a-", "x", "y", "a"], strict=True))
def test_a_run_that_leads_to_nothing_is_tried_once(pattern: str, run: str) -> None:
    with in_bounded_time(pattern):
        assert LatePattern(pattern).search(run * 100_000 + "!") is None


@pytest.mark.parametrize("pattern", OTHERS)
def test_what_may_begin_within_a_run_is_left_as_it_is(pattern: str) -> None:
    assert begun_once(pattern) == pattern
