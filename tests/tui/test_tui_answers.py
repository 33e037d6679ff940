"""Answers, apart from the screen: which line is behind one of theirs, whole ones on disk, how they are told."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from sightline.audit.buffer_coverage import coverage_of
from sightline.log.log_index import list_views
from sightline.search.processes import Cancel
from sightline.shape.source import Line
from sightline.store import Store
from sightline_tui.asking import answers
from sightline_tui.asking.question import QueryQuestion, over
from sightline_tui.asking.result_pane import field_rows
from sightline_tui.common.answer_text import AnswerSpool
from sightline_tui.common.places import FoundPlace
from sightline_tui.common.text_rows import drawn
from tests.tui.tui_kit import add, numbered


def project(store: Store) -> None:
    add(store, "cmd_00000b", "seq 20", numbered(20), ago=90)
    add(store, "cmd_00000a", "seq 3000", numbered(3000), b"careful\nslow\n", ago=30)


def test_what_was_cancelled_is_not_logged_as_seen(store: Store) -> None:
    project(store)
    cancel = Cancel()
    cancel.cancel()
    who = answers.person(store)
    seen = list[answers.Answer]()
    answers.answer(who, QueryQuestion("grep x @cmd_00000a"), cancel, seen.append)
    answers.whole_answer(who, QueryQuestion("grep x @cmd_00000a"), cancel).text.close()
    assert seen == []
    assert list_views(store) == []


def test_what_a_person_asks_counts_as_seen_by_no_agent(store: Store) -> None:
    project(store)
    buffer = store.resolve("@cmd_00000a").buffer
    answers.answer(answers.person(store), QueryQuestion("grep careful @cmd_00000a.err"), Cancel(), lambda _: None)
    (view,) = list_views(store, buffer=buffer.name)
    assert coverage_of(store, buffer).seen_lines == 0
    assert coverage_of(store, buffer, session=view.view.session).seen_lines == 1


@given(st.binary(max_size=60))
def test_no_line_can_disturb_the_terminal(data: bytes) -> None:
    styles = {"control": Style(bold=True), "dim": Style(dim=True)}
    shown = drawn(Line(1, data, len(data)), Style(), styles).text
    assert not [char for char in shown if ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 or char in "\u202e\u2066\u200b"]


def test_a_spool_ends_an_answer_that_grows_too_large(store: Store) -> None:
    cancel = Cancel()
    spool = AnswerSpool(store.root, {b"/long/path": b"@x"}, cancel, limit=100)
    while not cancel.cancelled:
        spool.feed(b"0123456789\n")
    read = spool.ended(b"the end\n")
    assert spool.full
    assert [line.data for _, line in read.lines(1, 99, 99)][-1] == b"the end"
    read.close()
    assert [name for name in os.listdir(store.root) if "tmp" in name] == []


def test_a_spool_names_files_by_their_refs_wherever_chunks_end(store: Store) -> None:
    data = b"a /store/out:1\n/store/out\n/store/err\n/store"
    for size in range(1, 12):
        spool = AnswerSpool(store.root, {b"/store/out": b"@o", b"/store/err": b"@e"}, Cancel())
        for at in range(0, len(data), size):
            spool.feed(data[at : at + size])
        read = spool.ended(b"")
        assert [line.data for _, line in read.lines(1, 9, 99)] == [b"a @o:1", b"@o", b"@e", b"/store"]
        read.close()


def test_fields_are_laid_out_in_rows() -> None:
    rows = field_rows([("exit_code", 0), ("truncated", True), ("hint", "word " * 20)], 40)
    assert ["".join(part.text for part in row).rstrip() for row in rows[:2]] == [
        " exit_code 0  truncated true",
        " hint word word word word word word",
    ]


@pytest.mark.parametrize(
    ("pipeline", "line"),
    [
        ("grep -n 7 | sort -n", "17:line 17"),
        ("rg -n 7 | sort -rn | head -5", "17:line 17"),
        ("grep -in 7 | grep -v 27 | uniq | tail -3", "17:line 17"),
        ("grep -n 7 @cmd_00000b @cmd_00000a | sort", "@cmd_00000b:17:line 17"),
    ],
)
def test_numbered_lines_are_known_wherever_they_stand(store: Store, pipeline: str, line: str) -> None:
    project(store)
    assert behind(store, pipeline, 1, line) == FoundPlace("cmd_00000b", "out", 17)


@pytest.mark.parametrize(
    "pipeline",
    [
        "grep -n 7 | uniq -c",
        "grep -n 7 | grep -n 1",
        "grep -n 7 | grep -c 1",
        "grep -n 7 | cut -d: -f2",
        "sort",
        "grep -n 7 @cmd_00000b @cmd_00000a",
        "wc -l",
    ],
)
def test_a_number_that_may_be_anything_is_taken_for_none(store: Store, pipeline: str) -> None:
    project(store)
    assert behind(store, pipeline, 1, "12:34:56 started") is None


@pytest.mark.parametrize(
    ("pipeline", "number", "line"),
    [
        ("grep 7", 2, 17),
        ("grep -A1 7", 5, 18),
        ("head -3", 3, 3),
        ("tail -n +5 | head -2", 2, 6),
        ("sed -n '3,5p'", 2, 4),
        ("cat", 20, 20),
    ],
)
def test_lines_without_numbers_are_known_where_the_program_keeps_their_order(
    store: Store, pipeline: str, number: int, line: int
) -> None:
    project(store)
    assert behind(store, pipeline, number, "line") == FoundPlace("cmd_00000b", "out", line)


def behind(store: Store, pipeline: str, number: int, line: str) -> FoundPlace | None:
    """The line behind one of an answer's, over `seq 20` where no ref is named."""
    shown = list[answers.Answer]()
    asked = QueryQuestion(over(pipeline, "@cmd_00000b"))
    answers.answer(answers.person(store), asked, Cancel(), shown.append)
    return shown[0].find_hit(number, line)
