"""What differs within a pair of lines, and which lines are a pair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.search.diff.engines import Ignore
from sightline.search.diff.word_diff import MOST_PAIRS, aligned, inline

TEXT = st.text("ab1 .\t", max_size=30)


def parts(left: str, right: str, ignore: Ignore = Ignore()) -> list[list[str]] | None:  # noqa: B008
    """The stretches that differ on both sides; those that make no difference in brackets."""
    found = inline(left, right, ignore)
    if found is None:
        return None
    return [
        [f"({text[span.start : span.end]})" if span.ignored else text[span.start : span.end] for span in spans]
        for text, spans in zip((left, right), found, strict=True)
    ]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("the quick fox", "the slow fox runs", [["quick"], ["slow", " runs"]]),
        ("test_parse PASSED", "test_parse FAILED", [["PASSED"], ["FAILED"]]),
        ('"version": "1.2.3",', '"version": "1.3.0",', [["1.2.3"], ["1.3.0"]]),
        ("same", "same", [[], []]),
        ("naïve 日本", "naïve 日", [["日本"], ["日"]]),
        ("hello there", "completely different", None),
    ],
)
def test_words_that_differ(left: str, right: str, expected: list[list[str]] | None) -> None:
    assert parts(left, right) == expected


def test_what_is_ignored_is_told_apart() -> None:
    volatile, blank = Ignore(volatile=True), Ignore(whitespace=True)
    assert parts("took 12 ms, ok", "took 1.2s, failed", volatile) == [["( 12 ms)", "ok"], ["( 1.2s)", "failed"]]
    assert parts("in /tmp/a1 now", "in /tmp/b2 now", volatile) == [["(/tmp/a1)"], ["(/tmp/b2)"]]
    assert parts("a  b c", "a b d", blank) == [["(  )", "c"], ["( )", "d"]]
    assert parts("one two", "one two ", blank) == [[], ["( )"]]


@given(left=TEXT, right=TEXT)
def test_without_what_differs_both_are_the_same(left: str, right: str) -> None:
    found = inline("ab ab ab " + left, "ab ab ab " + right)
    if found is None:
        return
    kept = []
    for text, spans in zip(("ab ab ab " + left, "ab ab ab " + right), found, strict=True):
        at, rest = 0, ""
        for span in spans:
            assert at <= span.start < span.end <= len(text)
            rest, at = rest + text[at : span.start], span.end
        kept.append(rest + text[at:])
    assert kept[0] == kept[1]


def test_very_long_lines_differ_in_their_middle() -> None:
    left, right = "a b " * 2_000 + "x" + " c" * 2_000, "a b " * 2_000 + "yy" + " c" * 2_000
    assert parts(left, right) == [["x"], ["yy"]]


def test_lines_stand_beside_those_they_are_like() -> None:
    assert aligned(["beta 2", "delta 4"], ["alpha", "beta 3", "gamma", "delta 5", "epsilon"]) == [1, 3]
    assert aligned(["same"], ["same", "same"]) == [0]
    assert aligned([], ["a"]) == []
    assert aligned(["a", "b"], ["a", "b"]) == [0, 1]


@given(few=st.lists(TEXT, max_size=5), more=st.lists(TEXT, max_size=5))
def test_the_order_of_lines_is_kept(few: list[str], more: list[str]) -> None:
    order = aligned(few, [*more, *few])
    assert order == sorted(set(order))
    assert len(order) == len(few)
    assert all(0 <= at < len(few) + len(more) for at in order)


def test_a_huge_hunk_is_not_looked_at() -> None:
    assert aligned(["z"] * 100, ["a"] * (MOST_PAIRS // 100) + ["z"] * 100) == list(range(100))
