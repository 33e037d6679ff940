"""What a filter finds, and in which order."""

import time

from sightline.tui.ranking import rank


def found(titles: list[str], query: str) -> list[str]:
    return [titles[at] for at in rank(titles, query)]


def test_a_words_start_comes_before_its_middle_and_that_before_scattered_letters() -> None:
    titles = ["xtestx", "t-e-s-t", "run tests", "nothing"]
    assert found(titles, "test") == ["run tests", "xtestx", "t-e-s-t"]


def test_a_subsequence_finds_a_command() -> None:
    assert found(["cargo test --all", "git status"], "crgtst")[0] == "cargo test --all"


def test_every_word_must_be_there() -> None:
    titles = ["cargo test", "cargo build", "go test"]
    assert found(titles, "test cargo")[0] == "cargo test"
    assert "cargo build" not in found(titles, "test cargo")[:1]


def test_ties_keep_their_order() -> None:
    assert found(["make b", "make a", "make c"], "make") == ["make b", "make a", "make c"]


def test_a_typo_is_forgiven_where_little_is_found() -> None:
    assert found(["pytest -q tests", "ls -la"], "pytset -q") == ["pytest -q tests"]


def test_characters_of_regular_expressions_are_letters() -> None:
    assert found(["a[b]*c", "abc"], "[b]*") == ["a[b]*c"]


def test_no_title_takes_more_than_linear_time() -> None:
    began = time.perf_counter()
    rank(["e" * 20_000], "e" * 30 + "x")
    assert time.perf_counter() - began < 2


def test_an_answer_that_is_not_wanted_any_more_is_cut_short() -> None:
    assert rank(["a"] * 10_000, "a", lambda: True) == []
