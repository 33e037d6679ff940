"""The words of shell text: whatever it is, all who read it read the same, in time that grows as it does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shell_words.lexer import OPERATOR, Unclear, lexed, tokens_of
from sightline.shell_words.quoting import pieces_of, unquoted

SHELL_TEXT = st.text(st.sampled_from("ab 1\n\t\"'`$(){}[]<>|&;#\\=-@"), max_size=60)


@given(SHELL_TEXT)
def test_every_text_has_words_that_stand_in_it(text: str) -> None:
    tokens = lexed(text)
    for group in (tokens.tokens, *tokens.substituted.groups, tokens.substituted.backticked):
        at = 0
        for token in group:
            assert token.text == text[token.start : token.end]
            assert token.start >= at
            at = token.end


@given(SHELL_TEXT)
def test_what_is_clear_is_read_alike_by_all(text: str) -> None:
    tokens = lexed(text)
    if tokens.clear:
        assert tokens_of(text) == tokens
    else:
        with pytest.raises(Unclear):
            tokens_of(text)


@given(SHELL_TEXT)
def test_the_pieces_of_a_word_are_all_of_it(text: str) -> None:
    for token in lexed(text).tokens:
        if token.kind != OPERATOR:
            assert "".join(piece.text for piece in pieces_of(token.text)) == token.text


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("a'b c'd", "ab cd"),
        (r'"a\"b"', 'a"b'),
        (r"$'a\tb'", "a\tb"),
        (r"a\ b", "a b"),
        ("'open", "open"),
        ("$HOME", "$HOME"),
    ],
)
def test_words_without_quotes_are_what_programs_get(word: str, meant: str) -> None:
    assert unquoted(word) == meant


@pytest.mark.parametrize("text", ["echo 'a", 'echo "a', "echo `a", "echo $(a", "echo ${a", "cat <<END\na", "echo $[1]"])
def test_what_is_not_closed_goes_on_to_the_end(text: str) -> None:
    tokens = lexed(text)
    assert not tokens.clear
    assert tokens.tokens[0].text in ("echo", "cat")


@pytest.mark.parametrize("unit", ["$(", "((", '"$(', "${", "((a' ", "$((1 ", "'`a", "cat <<A\n$(\nA\n", "$(cat <<A)\n"])
def test_no_text_is_too_deep(unit: str) -> None:
    """Recursion has its limit; what lies deeper is text."""
    assert not lexed(unit * 3_001 + "x").clear


def test_each_document_is_read_for_itself() -> None:
    tokens = lexed("cat <<A; b <<B\n$(x\nA\n$(y z)\nB\nc")
    assert [[token.text for token in group] for group in tokens.in_documents.groups] == [["x", "\n"], ["y", "z"]]
    assert [token.start for token in tokens.in_documents.groups[1]] == [23, 25]
    assert tokens.tokens[-1].text == "c"
