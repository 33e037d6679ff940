"""The verb grep: lines of many outputs, in lines of any length."""

import re
from typing import Any

import pytest

from sightline.base.records import LinePart, Shown
from sightline.shape.source import BLOCK_BYTES
from sightline.verbs import grep_outputs as grep
from sightline.verbs import list_outputs as listing
from sightline.verbs.reply import Reply

LONG = 2 * BLOCK_BYTES


def _grep(caller: Any, pattern: str) -> Reply:
    return caller.deliver(grep.grep_outputs(caller.asking, grep.GrepRequest(pattern)))  # type: ignore[no-any-return]


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grep, "WINDOW_BYTES", BLOCK_BYTES // 2)


@pytest.fixture
def ref(agent: Any, keep: Any, windows: None) -> str:
    """A line of three parts, between two short ones."""
    data = b"first\n" + b"x" * LONG + b"needle" + b"y" * LONG + b"end\nlast\n"
    return str(keep(data, session=agent.asking.session.name).ref)


def test_a_match_is_found_and_shown_wherever_in_a_long_line_it_stands(agent: Any, ref: str) -> None:
    reply = _grep(agent, "needle")
    assert re.fullmatch(rf"{ref}:2: …x+needley+…\n", reply.text)
    (part,) = reply.shows.parts
    ((first, last),) = part.seen
    assert part == LinePart(ref[1:], "out", 2, 2 * LONG + 9, part.seen)
    assert first <= LONG + 1 <= LONG + 6 <= last
    assert "1 of 1 outputs, 1.0 MiB" in reply.fields["note"], "all of it was looked through"


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [("end$", [2]), ("^x", [2]), ("x$", []), ("^y", []), ("xn", [2]), ("^(first|last)$", [1, 3]), ("^needle", [])],
)
def test_beginning_and_end_are_those_of_the_line(agent: Any, ref: str, pattern: str, lines: list[int]) -> None:
    found = [int(row.split(":")[1]) for row in _grep(agent, pattern).text.splitlines()]
    assert found == lines


def test_a_short_line_is_shown_whole(agent: Any, ref: str) -> None:
    reply = _grep(agent, "last")
    assert reply.text == f"{ref}:3: last\n"
    assert reply.shows.shown == (Shown(ref[1:], "out", 3, 3),)


def test_every_output_is_searched_however_many_there_are(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grep, "_AT_ONCE", 2)
    monkeypatch.setattr(listing, "_PAGE_BUFFERS", 1)
    for number in range(5):
        agent.run(f"echo needle {number}")
    agent.run("true")
    reply = agent.deliver(grep.grep_outputs(agent.asking, grep.GrepRequest("needle", match="echo")))
    assert [line.rpartition(" ")[2] for line in reply.text.splitlines()] == ["4", "3", "2", "1", "0"]
    assert str(reply.fields["note"]).startswith("looked through 5 of 5 outputs")
