"""What a filter finds, and in which order."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.search.matcher import terms_of
from sightline_tui.buffers.buffer_row import marked
from sightline_tui.buffers.matcher import Guesses, MatchPass, wants_guesses
from sightline_tui.buffers.packed_entries import Entries, ListEntry, entries_of

TITLES = st.lists(st.text("abc_ \n", max_size=12), max_size=30)


def entries(titles: list[str]) -> Entries:
    return entries_of(ListEntry(str(at), at, title, "s", 0, 0, 0.0, 0) for at, title in enumerate(titles))


def finished(search: MatchPass) -> list[str]:
    while not search.done:
        search.step(7)
    return [entry.title for entry in search.best()]


def found(titles: list[str], query: str) -> list[str]:
    return finished(MatchPass(terms_of(query), entries(titles)))


def test_a_word_comes_before_a_words_start_that_before_its_middle_and_that_before_scattered_letters() -> None:
    titles = ["xtestx", "t-e-s-t", "run tests", "nothing", "go test all"]
    assert found(titles, "test") == ["go test all", "run tests", "xtestx", "t-e-s-t"]


def test_a_word_counts_wherever_in_the_title_it_stands() -> None:
    assert found(["latest tests", "latest test"], "test") == ["latest test", "latest tests"]


def test_a_subsequence_finds_a_command_and_the_closer_its_letters_the_better() -> None:
    titles = ["c r g t s t of it all", "cargo test --all", "git status"]
    assert found(titles, "crgtst") == ["cargo test --all", "c r g t s t of it all"]


def test_letters_are_scattered_over_a_command_and_not_over_refs_and_sessions() -> None:
    titles = ["ls\n@cmd_d0e0f0\n\ndeaf", "dig even further\n@cmd_111111\n\nshell-1"]
    assert found(titles, "def") == titles[1:]
    assert marked("@cmd_d0e0f0", terms_of("def"), is_command=False) == set()


def test_every_word_must_be_there() -> None:
    assert found(["cargo test", "cargo build", "go test"], "test cargo") == ["cargo test"]


def test_ties_keep_their_order() -> None:
    assert found(["make b", "make a", "make c"], "make") == ["make b", "make a", "make c"]


def test_characters_of_regular_expressions_are_letters() -> None:
    assert found(["a[b]*c", "abc"], "[b]*") == ["a[b]*c"]
    assert found(["a^]b-c", "abc"], "a]-c") == ["a^]b-c"]


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("'crg", []),
        ("'carg", ["cargo test", "run cargo"]),
        ("^cargo", ["cargo test"]),
        ("test$", ["cargo test"]),
        ("!cargo", ["go build"]),
        ("cargo !^run", ["cargo test"]),
        ("!", ["cargo test", "run cargo", "go build"]),
    ],
)
def test_signs_as_fzf_has_them(query: str, kept: list[str]) -> None:
    titles = ["cargo test", "run cargo", "go build"]
    assert [title for title in titles if title in found(titles, query)] == kept if terms_of(query) else query == "!"


def test_a_command_ends_before_ref_and_session() -> None:
    assert found(["cargo test\n@cmd_a1b2c3\n\nshell-1", "test it\n@cmd_a1b2c4\n\nlatest"], "test$") == [
        "cargo test\n@cmd_a1b2c3\n\nshell-1"
    ]


@given(TITLES, st.lists(st.text("abc_ '!^$", max_size=5), min_size=1, max_size=4), st.integers(0, 5))
def test_narrowing_finds_what_a_new_search_finds(titles: list[str], queries: list[str], steps: int) -> None:
    search, query, of = None, "", entries(titles)
    for more in queries:
        query += more
        terms = terms_of(query)
        if not terms:
            continue
        search = (search.narrowed(terms) if search else None) or MatchPass(terms, of)
        for _ in range(steps):
            search.step(3)
        assert finished(search) == finished(MatchPass(terms, of))


@given(TITLES, TITLES, st.text("abc", min_size=1, max_size=3), st.integers(0, 5))
def test_going_on_with_more_entries_finds_what_a_new_search_finds(
    titles: list[str], more: list[str], query: str, steps: int
) -> None:
    of, terms = entries([*titles, *more]), terms_of(query)
    search = MatchPass(terms, of[: len(titles)])
    for _ in range(steps):
        search.step(3)
    search.extend(of[len(titles) :])
    assert finished(search) == finished(MatchPass(terms, of))


def test_a_typo_is_forgiven_where_little_is_found() -> None:
    of = entries(["ls -la", "pytest -q tests"])
    search = MatchPass(terms_of("pytezt"), of)
    assert finished(search) == []
    assert wants_guesses(search)
    guesses = Guesses(search.terms, of, [])
    while not guesses.done:
        guesses.step(1)
    assert [entry.title for entry in guesses.best()] == ["pytest -q tests"]


def test_nobody_guesses_where_enough_is_found_or_hardly_anything_typed() -> None:
    many = MatchPass(terms_of("make"), entries(["make"] * 9))
    finished(many)
    short = MatchPass(terms_of("zz"), entries(["make"]))
    finished(short)
    assert not wants_guesses(many)
    assert not wants_guesses(short)


def test_no_title_takes_more_than_linear_time() -> None:
    began = time.thread_time()
    found(["e" * 20_000], "e" * 30 + "x")
    assert time.thread_time() - began < 2


@pytest.mark.parametrize(
    ("text", "query", "letters"),
    [
        ("cargo test", "crgtst", "crgtst"),
        ("cargo Test", "test", "Test"),
        ("cargo test", "zz", ""),
        ("İstanbul test", "test", "test"),
        ("cargo test", "!go tes", "tes"),
        ("cargo test", "^car st$", "carst"),
    ],
)
def test_what_was_found_can_be_marked(text: str, query: str, letters: str) -> None:
    assert "".join(text[at] for at in sorted(marked(text, terms_of(query), is_command=True))) == letters
