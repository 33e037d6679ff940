"""Words are quoted for a shell as `shlex` quotes them."""

import shlex

from hypothesis import given
from hypothesis import strategies as st

from sightline.shell_words.quoting import join_quoted, quoted


@given(st.text(st.one_of(st.sampled_from("aZ9_@%+=:,./-'\"$ \n\\é²"), st.characters())))
def test_a_word_is_quoted_where_a_shell_would_read_something_else(word: str) -> None:
    assert quoted(word) == shlex.quote(word)


@given(st.lists(st.sampled_from(["", "a", "a b", "it's", "-x"])))
def test_words_are_joined_into_a_line(words: list[str]) -> None:
    assert join_quoted(words) == shlex.join(words)
