"""What is a string or a pattern in a script of awk or jq hides nothing, and what follows it is not hidden by it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.errors import QueryRefused
from sightline.pipeline.scripts import check_awk, check_jq

STRINGS = st.lists(st.sampled_from(["a", "/", "|", " ", r"\"", r"\\", r"\n", "é", "system"]), max_size=12).map("".join)
REGEXES = st.lists(
    st.sampled_from(
        [
            "a",
            "|",
            '"',
            "]",
            r"\/",
            r"\\",
            r"\[",
            "[/]",
            "[]/]",
            "[^]/]",
            "[^/]",
            "[[:alpha:]/]",
            "[[:x/]",
            "[[a]",
            r"[\]/]",
        ]
    ),
    max_size=8,
).map("".join)


@given(STRINGS)
def test_an_awk_string_ends_where_it_ends(text: str) -> None:
    check_awk(f'{{ x = "{text}"; print x }}')
    with pytest.raises(QueryRefused, match="`system`"):
        check_awk(f'{{ x = "{text}"; system(x) }}')
    with pytest.raises(QueryRefused, match="does not end"):
        check_awk(f'{{ x = "{text}')


@given(REGEXES)
def test_an_awk_pattern_ends_where_it_ends(text: str) -> None:
    check_awk(f"/{text}/ {{ print }}")
    with pytest.raises(QueryRefused, match="`system`"):
        check_awk(f'/{text}/ {{ system("x") }}')
    with pytest.raises(QueryRefused, match="does not end"):
        check_awk(f"/{text}[[:alpha:]/")


@given(STRINGS.filter(lambda text: "(" not in text))
def test_a_jq_string_ends_where_it_ends(text: str) -> None:
    check_jq(f'."{text}" | .a')
    with pytest.raises(QueryRefused, match="input_filename"):
        check_jq(f'."{text}" | input_filename')
    with pytest.raises(QueryRefused, match="does not end"):
        check_jq(f'."{text}')


PROGRAMS = st.recursive(
    st.sampled_from([".a", ". | length", "[1, (2)]", '"text"', '"("', "{a: (1)}"]),
    lambda inner: inner.map(lambda one: f'"x \\({one}) y"') | inner.map(lambda one: f"({one})"),
    max_leaves=4,
)


@given(PROGRAMS)
def test_a_program_within_a_string_of_jq_is_read_as_one(program: str) -> None:
    check_jq(program)
    for forbidden in ("input_filename", "env"):
        with pytest.raises(QueryRefused, match=forbidden):
            check_jq(f'"\\({program} | {forbidden})"')
    with pytest.raises(QueryRefused, match="does not end"):
        check_jq(f'"\\({program}')
    check_jq(f'"\\({program}) input_filename env"')


@pytest.mark.parametrize(
    "script", ['"' + r"\\" * 50_000, "/" + "[[:a" * 20_000, "/" + "[a]" * 20_000, '"' + "a" * 100_000]
)
def test_a_long_script_without_an_end_costs_its_length(script: str) -> None:
    # What tries each way of reading it does not come back within anyone's life.
    with pytest.raises(QueryRefused, match="does not end"):
        check_awk(script)
