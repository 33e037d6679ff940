"""Commands of plain words: found without parsing, and the same as by parsing."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.shell_words import programs
from sightline.shell_words.lexer import tokens_of
from sightline.shell_words.pipelines import Pipelines, plain_words
from tests.each import each

WORDS = st.sampled_from(
    [
        "make",
        "sudo",
        "-n",
        "time",
        "if",
        "A=1",
        "-c",
        "./run.sh",
        "bash",
        "ssh",
        "host",
        "find",
        ".",
        "-exec",
        "git",
        "in",
    ]
)


@given(st.lists(WORDS, min_size=1, max_size=6), st.sampled_from([" ", "  "]))
def test_a_plain_command_runs_the_programs_that_parsing_finds(words: list[str], space: str) -> None:
    command = space.join(words)
    if plain_words(command):
        parsed = tuple(programs._of_list(Pipelines(tokens_of(command).tokens).all_pipelines(), ends=True, depth=0))
        assert programs.programs_of(command) == parsed


@each("command", ["a; b", "a | b", "a\nb", "a 'b'", "a #b", "a $b", "a ~/b", "a *", "if a", "! a", "a é", "", " "])
def test_any_other_command_is_parsed(command: str) -> None:
    assert plain_words(command) == ()
