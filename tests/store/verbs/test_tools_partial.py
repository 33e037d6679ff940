"""Replies about an output of which only a part reached the store: nothing of them claims that it is the whole."""

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.records import Buffer, Gap
from sightline.shape.markers import MARKER
from sightline.shape.segments import Segment, join_segments
from sightline.store import Store
from sightline.verbs.delivery import with_gap
from sightline.verbs.reply import state_in_words

WHY = "cut by Claude Code"
MIDDLE, END = (
    "[… 20,012 characters missing: cut by Claude Code …]",
    "[… an unknown part missing: cut by Claude Code …]",
)
GAPS = (Gap("out", 3, 20_012), Gap("out", 6))


def keep(store: Store, text: str = "1\n2\n3\n4\n5\n6", gaps: tuple[Gap, ...] = GAPS, **how: Any) -> Buffer:
    recording = store.begin("cmd", "make", "/", "a-harness")
    recording.append("out", text.encode())
    return recording.seal(**{"exit_code": 5, "note": "merged", "partial": WHY, "gaps": gaps, **how})


def test_a_marker_stands_where_something_is_missing_and_the_head_says_what(store: Store, agent: Any) -> None:
    buffer = keep(store)
    agent.read(buffer.ref, lines="1-")
    head, body = agent.told.split("\n", 1)
    assert body == f"1\n2\n3\n{MIDDLE}\n4\n5\n6\n{END}\n"
    lost = "cut by Claude Code; missing: 20,012 characters after line 3, an unknown part at the end"
    assert head.startswith(f'[output_id={buffer.ref} exit_code=5 partial="{lost}"')
    assert agent.logged() == agent.told
    assert agent.views()[-1].truncated


@pytest.mark.parametrize(
    ("lines", "body"),
    [
        ("1-2", "1\n2\n"),
        ("2-3", f"2\n3\n{MIDDLE}\n"),
        ("4-5", f"{MIDDLE}\n4\n5\n"),
        ("3-4", f"3\n{MIDDLE}\n4\n"),
        ("6", f"6\n{END}\n"),
    ],
)
def test_a_page_has_the_markers_beside_its_lines(store: Store, agent: Any, lines: str, body: str) -> None:
    agent.read(keep(store).ref, lines=lines)
    assert agent.told.split("\n", 1)[1] == body
    assert "partial=" in agent.told.split("\n", 1)[0]


def test_what_is_missing_before_the_first_line_stands_before_it(store: Store, agent: Any) -> None:
    buffer = keep(store, gaps=(Gap("out", 0, 4, "lines"),))
    agent.read(buffer.ref, lines="1-2")
    assert agent.told.split("\n", 1)[1] == "[… 4 lines missing: cut by Claude Code …]\n1\n2\n"


def test_a_search_and_a_query_say_that_there_may_be_more(store: Store, agent: Any) -> None:
    buffer = keep(store)
    agent.read(buffer.ref, search="[1-9]")
    assert f'partial="{WHY}' in agent.told
    agent.run(f"grep -c . {buffer.ref}")
    assert f'partial="{WHY}' in agent.told
    agent.run(f"grep -c . {buffer.ref}", verbosity="normal")
    assert f"{buffer.ref}: {WHY}" in agent.told


def test_of_a_whole_output_nothing_of_the_kind_is_said(store: Store, agent: Any) -> None:
    agent.read(keep(store, partial="", gaps=()).ref, lines="1-")
    assert agent.told == "1\n2\n3\n4\n5\n6"


def test_every_marker_is_of_the_fixed_grammar() -> None:
    assert re.fullmatch(MARKER, MIDDLE)
    assert re.fullmatch(MARKER, END)


@given(st.lists(st.text("ab", max_size=3), min_size=1, max_size=8), st.integers(0, 8), st.integers(1, 8))
def test_a_marker_takes_nothing_of_a_body_away(lines: list[str], after: int, parts: int) -> None:
    after = min(after, len(lines))
    bounds = sorted({0, len(lines), *(len(lines) * part // parts for part in range(parts))})
    body = [
        Segment("".join(f"{line}\n" for line in lines[start:end]), "@cmd_a1b2c3", start + 1, end)
        for start, end in pairwise(bounds)
    ]
    buffer = Buffer(
        *("cmd_a1b2c3", "cmd", "sealed", "make", "/", "s", 0.0, 0.0, 0.0, 1, 0, False, "", False, "", "", "", {}, WHY)
    )
    made = list(with_gap(body, buffer, Gap("out", after)))
    assert [one for one in made if not one.ref] == [Segment(f"{END}\n")]
    assert join_segments(one for one in made if one.ref) == join_segments(body)
    at = next(place for place, one in enumerate(made) if not one.ref)
    assert join_segments(made[:at]) == "".join(f"{line}\n" for line in lines[:after])


def test_the_list_says_so(store: Store) -> None:
    assert state_in_words(keep(store)) == "exit 5 partial"
