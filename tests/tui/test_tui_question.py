"""What a text in the query bar means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.errors import QueryRefused, UsageError
from sightline.pipeline.options import GRAMMARS
from sightline.pipeline.parse import parse
from sightline_tui.asking.question import (
    KEPT,
    PartQuestion,
    PlaceQuestion,
    QueryQuestion,
    completions,
    earlier,
    later,
    over,
    parse_question,
    with_newest,
)
from tests.each import each

REF = "@cmd_a1b2c3.all"


@pytest.mark.parametrize("text", ["42", "42,80", "42-80", "50%", "12.5 %", "$"])
def test_places(text: str) -> None:
    assert parse_question(f" {text} ", REF) == PlaceQuestion(text)


def test_nothing_is_asked_by_nothing() -> None:
    assert parse_question("  ", REF) is None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("grep x", "grep x @cmd_a1b2c3.all"),
        ("grep x | sort", "grep x @cmd_a1b2c3.all | sort"),
        ("grep 'a|b' | wc -l", "grep 'a|b' @cmd_a1b2c3.all | wc -l"),
        ('grep "a|b|c"|wc -l', 'grep "a|b|c" @cmd_a1b2c3.all |wc -l'),
        (r"grep -E a\|b | head", r"grep -E a\|b @cmd_a1b2c3.all | head"),
        ("tr a-z A-Z | head", "cat @cmd_a1b2c3.all | tr a-z A-Z | head"),
        ("grep x @last", "grep x @last"),
        ("sort | comm - @cmd_ffffff", "sort | comm - @cmd_ffffff"),
        ("grep '@last'", "grep '@last' @cmd_a1b2c3.all"),
    ],
)
def test_a_pipeline_reads_what_is_shown_where_it_names_no_ref(text: str, meant: str) -> None:
    assert parse_question(text, REF) == QueryQuestion(meant)


@given(st.text("ab|'\" \\", min_size=1, max_size=12), st.text("ab|'\" \\", max_size=12))
def test_the_ref_goes_to_the_first_program_whatever_is_quoted(pattern: str, rest: str) -> None:
    text = f"grep -e {pattern!r} | sort {rest}"
    try:
        before = parse(f"cat @cmd_a1b2c3 | {text}", lambda ref: "/" + ref)
    except (QueryRefused, UsageError):
        return
    after = parse(over(text, "@cmd_a1b2c3"), lambda ref: "/" + ref)
    assert after.stages[0].words == (*before.stages[1].words, "@cmd_a1b2c3")
    assert [stage.words for stage in after.stages[1:]] == [stage.words for stage in before.stages[2:]]


@each("program", sorted(GRAMMARS))
def test_no_pipeline_is_left_without_a_ref(program: str) -> None:
    assert "@cmd_a1b2c3" in over(f"{program} x", "@cmd_a1b2c3")


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("show", {}),
        ("show 42-80", {"lines": "42-80"}),
        ("show 42,80", {"lines": "42-80"}),
        ("show 42-", {"lines": "42-"}),
        ("show 42", {"lines": "42"}),
        ("show @cmd_ffffff.err:3-9", {"ref": "@cmd_ffffff.err:3-9"}),
        ("show --search 'two words' --context 2", {"search": "two words", "context": 2}),
        (r"show --search=a\.b --case", {"search": r"a\.b", "ignore_case": False}),
        ("show @last /panic --ignore-case", {"ref": "@last", "search": "panic", "ignore_case": True}),
        ("/a|b c", {"search": "a|b c"}),
        ("/it's", {"search": "it's"}),
        ("$.items[0]", {"ref": "@cmd_a1b2c3", "path": "$.items[0]"}),
        ("show --schema", {"ref": "@cmd_a1b2c3", "schema": True}),
        ("show --offset 10 --limit=20 --stream err", {"offset": 10, "limit": 20, "stream": "err"}),
    ],
)
def test_parts_are_asked_for_as_with_show(text: str, given: dict[str, object]) -> None:
    meant = parse_question(text, REF)
    assert isinstance(meant, PartQuestion)
    assert meant.request.logged() == {"ref": REF} | given


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("show x", "does not know what 'x' is"),
        ("show --lines", "--lines needs a value"),
        ("show --width 3", "no option --width"),
        ("show --context two", "--context is a number"),
        ("show 'a", "a quote is not closed"),
        ("grep x > y", "redirection"),
        ("grep 'x", "quote"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(text: str, told: str) -> None:
    with pytest.raises((UsageError, QueryRefused), match=told):
        parse_question(text, REF)


@pytest.mark.parametrize("text", ["grep x", "show", "/x", "$.a"])
def test_with_nothing_shown_a_ref_must_be_named(text: str) -> None:
    with pytest.raises(UsageError, match="no output is shown"):
        parse_question(text, "")


@pytest.mark.parametrize(
    ("text", "start", "first"),
    [
        ("gre", 0, "grep"),
        ("grep x | so", 9, "sort"),
        ("grep x|so", 7, "sort"),
        ("grep x @l", 7, "@last"),
        ("grep x @cmd_b", 7, "@cmd_bbbbbb"),
        ("show --se", 5, "--search"),
        ("sh", 0, "show"),
    ],
)
def test_completions(text: str, start: int, first: str) -> None:
    found = completions(text, ["@cmd_aaaaaa", "@cmd_bbbbbb"])
    assert (found.start, found.words[0]) == (start, first)


@pytest.mark.parametrize("text", ["grep x ", "grep xy", "grep x | show", "--se"])
def test_nothing_is_completed_where_anything_may_follow(text: str) -> None:
    assert completions(text, ["@cmd_aaaaaa"]).words == ()


def test_the_history_is_bounded_and_has_each_text_once() -> None:
    texts: list[str] = []
    for number in range(KEPT + 5):
        texts = with_newest(texts, f"grep {number}")
    assert (len(texts), texts[0]) == (KEPT, "grep 5")
    assert with_newest(["a", "b", "c"], "a") == ["b", "c", "a"]


def test_going_through_the_history_keeps_to_a_beginning() -> None:
    texts = ["grep a", "sort", "grep b"]
    assert earlier(texts, "grep", 3) == 2
    assert earlier(texts, "grep", 2) == 0
    assert earlier(texts, "grep", 0) is None
    assert later(texts, "grep", 0) == 2
    assert later(texts, "", 2) is None
