"""What the tests' own loop over cases tells."""

import pytest

from tests.each import each


def test_every_case_that_fails_is_told_with_what_it_was() -> None:
    seen = []

    @each(("number", "word"), [(1, "a"), (2, "b"), (3, "c")])
    def odd(number: int, word: str, limit: int) -> None:
        seen.append(word)
        assert number == limit

    with pytest.raises(ExceptionGroup, match="2 of 3 cases") as told:
        odd(limit=2)
    assert seen == ["a", "b", "c"]
    assert [error.__notes__ for error in told.value.exceptions] == [
        ["where number is 1, word is 'a'"],
        ["where number is 3, word is 'c'"],
    ]


@each("number", [1, 2])
@each("power", [1, 2])
def test_cases_of_two_kinds_are_joined_and_fixtures_are_given(number: int, power: int, request: object) -> None:
    assert number**power
    assert request


def test_where_there_are_no_cases_nothing_is_said_to_hold() -> None:
    with pytest.raises(AssertionError, match="no case"):
        each("number", [])
