"""A command line is read as `argparse` reads it, whether or not `argparse` is loaded for it."""

import contextlib
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.doors.cli.commands import COMMANDS, command_of
from sightline.doors.terminal.arguments import REMAINDER, YES_OR_NO, CommandParser, Namespace, command_parser, seconds

_WORDS = st.sampled_from(
    [
        "",
        "-",
        "--",
        "-h",
        "--help",
        "a",
        "@last",
        "a b",
        "-x",
        "-5",
        "3",
        "7.5",
        "=",
        "--no",
        "--jso",
        "--json=",
        "keep",
    ]
)


def _outcome(read: Any, words: list[str]) -> Any:
    """All values in their order, in which the log has them; or how it ended, and what it said."""
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(told):
        try:
            return list(vars(read(words)).items())
        except SystemExit as ended:
            return ended.code, told.getvalue()


def _check(parser: CommandParser, words: list[str]) -> None:
    assert _outcome(parser.parse_args, words) == _outcome(
        lambda given: parser.whole().parse_args(given, Namespace()), words
    )


@given(st.data())
def test_any_words_of_any_command_are_read_as_argparse_reads_them(data: st.DataObject) -> None:
    parser, _ = command_of(data.draw(st.sampled_from(sorted(COMMANDS))))
    options = [name for one in parser.declared for name in one.names if name.startswith("-")]
    declared = st.sampled_from(options or ["--json"])
    values = st.builds("{}={}".format, declared, _WORDS)
    _check(parser, data.draw(st.lists(st.one_of(_WORDS, declared, values), max_size=6)))


def _declared() -> CommandParser:
    made = command_parser("try", "Try it.", "sightline try", profile=True)
    made.add_argument("first", metavar="A", help="one word")
    made.add_argument("second", nargs="?", default="none", metavar="B", help="another word")
    made.add_argument("-n", "--number", type=int, default=3, metavar="N", help="a number")
    made.add_argument("--kind", choices=("x", "y"), default="x", help="a choice")
    made.add_argument("--after", type=seconds, default="2", help="a default that is read as a text is")
    made.add_argument("--same", action=YES_OR_NO, help="yes or no")
    group = made.add_mutually_exclusive_group()
    group.add_argument("--this", action="store_true", help="one of two")
    group.add_argument("--that", action="store_true", help="the other of two")
    return made


_KINDS_OF_WORDS = st.sampled_from(
    ["-n", "--number", "--number=4", "-n5", "--kind", "--kind=y", "--kind=z", "--same", "--no-same", "--this", "--that"]
)


@given(st.lists(st.one_of(_WORDS, _KINDS_OF_WORDS, st.sampled_from(["--after", "--after=-1", "y"])), max_size=6))
def test_any_words_of_a_command_with_all_kinds_of_arguments_are_read_so(words: list[str]) -> None:
    _check(_declared(), words)


@pytest.mark.parametrize(
    "words",
    [
        "--this --that a",
        "--that a --that",
        "-n=4 a",
        "--profile -x a",
        "--profile - a",
        "a --this b",
        "--this=1 a",
        "--this= a",
        "a b c",
        "-n",
        "a --profile",
        "a -- b",
        "a --number 7.5",
    ],
)
def test_what_is_not_plain_is_read_so_too(words: str) -> None:
    _check(_declared(), words.split())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a"], {"first": "a", "second": "none", "number": 3}),
        (["-n", "4", "a", "b", "--kind=y"], {"first": "a", "second": "b", "number": 4, "kind": "y"}),
        (["a", "--that", "--json"], {"that": True, "this": False, "json": True, "same": None}),
    ],
)
def test_what_is_given_has_its_value_and_all_else_its_default(words: list[str], expected: dict[str, Any]) -> None:
    assert vars(_declared().parse_args(words)).items() >= expected.items()


def test_an_option_that_is_required_has_to_be_given() -> None:
    made = command_parser("try", "Try it.", "sightline try")
    made.add_argument("--from", dest="ref", required=True, help="from where")
    assert made.parse_args(["--from", "@last"]).ref == "@last"
    with pytest.raises(SystemExit):
        made.parse_args(["--json"])


def test_what_follows_the_program_is_for_the_program() -> None:
    made = command_parser("try", "Try it.", "sightline try")
    made.add_argument("argv", nargs=REMAINDER, help="the program")
    assert vars(made.parse_args(["--json", "--", "make", "--json"])) == {"json": True, "argv": ["--", "make", "--json"]}
    assert vars(made.parse_args(["make", "--json", "-j4"])) == {"json": False, "argv": ["make", "--json", "-j4"]}
    assert vars(made.parse_args(["make", "--json"])) == {"json": False, "argv": ["make", "--json"]}
    assert vars(made.parse_args([])) == {"json": False, "argv": []}
