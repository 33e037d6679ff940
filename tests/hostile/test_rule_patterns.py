"""Patterns of rules that begin with a run of characters find what they say, in a time that grows with the line."""

import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.records import Session
from sightline.doors.terminal.output import cli_call, render_text
from sightline.shape.failure.catalogue import built_in
from sightline.shape.failure.classes import CLASSES, Way
from sightline.shape.failure.tool_rules import LatePattern, begun_once
from sightline.store import Store
from sightline.verbs.asker import Asker
from sightline.verbs.delivery import deliver
from sightline.verbs.read_output import read_output
from sightline.verbs.requests import ReadRequest
from tests.each import each
from tests.hostile.shapes import SECONDS, SLOWNESS, in_bounded_time
from tests.hostile.slow_lines import slow_lines

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


LINES = {
    "gcc": ["a.c:1: error: " + "." * 4_900, "a.c:1: error: " + "-" * 4_900 + "!", "  at " + "a" * 4_900 + " error"],
    "ctest": ["1/2 Test #1: " + "." * 4_900],
    "dotnet test": ["  Failed a " + "[1" * 2_400],
    "next build": ["1:2  Error: x" + " " * 4_900 + "!", "error: " + "0" * 4_900],
    "eslint .": ["  1:2  error  x" + " " * 4_900 + "!", "✖ 2 problems (" + "1" * 4_900],
}


@pytest.mark.parametrize("command", LINES)
def test_a_megabyte_of_long_hostile_lines_is_viewed_in_bounded_time(store: Store, command: str) -> None:
    recording = store.begin("cmd", command, "/", "s")
    for number in range(200 // len(LINES[command])):
        for line in LINES[command]:
            recording.append("out", f"{line}{number}\n".encode())
    recording.seal(exit_code=1)
    asking = Asker(store, Session("s", "shell", "", "", "/", 0.0), cli_call)
    with in_bounded_time(command, 3 * SECONDS):
        deliver(asking, read_output(asking, ReadRequest("@last")), render_text, lambda _: None)


LENGTH = 2_500
LINE_SECONDS = 0.002
"""Processor time for a pattern on a line; what takes the square of its length takes some ten times as much or more."""


def patterns_of(part: object, has: tuple[str, ...] = ()) -> Iterator[tuple[LatePattern, tuple[str, ...]]]:
    """All patterns of a rule with the literals of the lines that they are given first."""
    if isinstance(part, LatePattern):
        yield part, has
    elif isinstance(part, dict):
        for one in part.values():
            yield from patterns_of(one)
    elif isinstance(part, tuple):
        for name, one in zip(getattr(part, "_fields", [""] * len(part)), part, strict=True):
            yield from patterns_of(one, getattr(part, "has", ()) if name in ("line", "start") else ())


def takes(pattern: LatePattern, line: str) -> float:
    """Processor time of a search, in seconds: the best of three, since something else may come between."""
    best = float("inf")
    for _ in range(3):
        began = time.thread_time()
        pattern.search(line)
        best = min(best, time.thread_time() - began)
        if best < LINE_SECONDS:
            break
    return best


@each("way", [way for one in CLASSES for way in one.ways])
def test_no_pattern_of_a_class_is_slow_on_a_line_made_for_it(way: Way) -> None:
    lines = slow_lines(way.pattern.text, way.has, LENGTH)
    assert [line[:60] for line in lines if takes(way.pattern, line) > LINE_SECONDS * SLOWNESS] == []


@each("tool", [known.name for known in built_in().known])
def test_no_pattern_of_a_rule_is_slow_on_a_line_made_for_it(tool: str) -> None:
    rule = built_in().rule(tool)
    slow = [
        (pattern.text, line[:60])
        for pattern, has in patterns_of(rule)
        for line in slow_lines(pattern.text, has, LENGTH)
        if takes(pattern, line) > LINE_SECONDS * SLOWNESS
    ]
    assert slow == []
    assert any(True for _ in patterns_of(rule))


def test_a_pattern_that_is_slow_is_found() -> None:
    pattern = LatePattern(r"^(?P<name>\S.*?)\s+FAIL$")
    assert any(takes(pattern, line) > LINE_SECONDS * SLOWNESS for line in slow_lines(pattern.text, (), LENGTH))
