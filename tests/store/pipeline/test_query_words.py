"""Words are split as a POSIX shell splits them; what a shell would act on is refused by name."""

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.base.errors import QueryRefused
from sightline.pipeline.query_words import quoted, split
from tests.each import each
from tests.examples import examples


def texts(query: str) -> list[list[str]]:
    return [[word.text for word in stage] for stage in split(query)]


@each(
    ("query", "words"),
    [
        ("grep a b", [["grep", "a", "b"]]),
        ("  grep\ta   b \n", [["grep", "a", "b"]]),
        ("grep 'a  b' c", [["grep", "a  b", "c"]]),
        ('grep "a  b" c', [["grep", "a  b", "c"]]),
        ("grep a\\ b c", [["grep", "a b", "c"]]),
        ("grep '' \"\" c", [["grep", "", "", "c"]]),
        ("grep a'b'\"c\"d", [["grep", "abcd"]]),
        ("grep 'it'\\''s'", [["grep", "it's"]]),
        ('grep "a\\"b\\\\c\\$d\\`e\\n"', [["grep", 'a"b\\c$d`e\\n']]),
        ("grep '^50$' x", [["grep", "^50$", "x"]]),
        ("grep ^foo$ x", [["grep", "^foo$", "x"]]),
        ("grep $ x", [["grep", "$", "x"]]),
        ('grep "foo$" x', [["grep", "foo$", "x"]]),
        ('grep "$|" x', [["grep", "$|", "x"]]),
        ("grep a$|cat", [["grep", "a$"], ["cat"]]),
        ("a | b|c", [["a"], ["b"], ["c"]]),
        ("grep 'a|b' | wc", [["grep", "a|b"], ["wc"]]),
        ("grep a#b", [["grep", "a#b"]]),
        ("grep a~ x", [["grep", "a~", "x"]]),
        ("awk {print} x", [["awk", "{print}", "x"]]),
        ("grep a{2} x", [["grep", "a{2}", "x"]]),
        ("grep ] x", [["grep", "]", "x"]]),
        ('grep "don\'t!" x', [["grep", "don't!", "x"]]),
        ("grep -e X=1 x", [["grep", "-e", "X=1", "x"]]),
        ("grep a \\\n b", [["grep", "a", "b"]]),
        ("grep 'a\nb'", [["grep", "a\nb"]]),
        ("grep é 日本", [["grep", "é", "日本"]]),
    ],
)
def test_words_are_a_shells_words(query: str, words: list[list[str]]) -> None:
    assert texts(query) == words


@each(
    ("query", "named"),
    [
        ("grep x @last > f", "`>`"),
        ("grep x @last >> f", "`>>`"),
        ("grep x @last 2> f", "`2>`"),
        ("grep x @last 2>errors", "`2>`"),
        ("grep x @last 2 >&1", "`>`"),
        ("grep x @last >&2", "`>`"),
        ("grep x < f", "`<`"),
        ("grep x << EOF", "`<<`"),
        ("grep x <<< word", "`<<`"),
        ("grep x <(cat f)", "`<(`"),
        ("tee >(cat)", "`>(`"),
        ("grep x @last &> f", "`&>`"),
        ("grep x @last; id", "`;`"),
        ("grep x @last & id", "`&`"),
        ("grep x @last&", "`&`"),
        ("grep x @last && id", "`&&`"),
        ("grep x @last || id", "`||`"),
        ("grep x @last |& cat", "`|&`"),
        ("grep x @last\nid", "newline"),
        ("(grep x @last)", "`(`"),
        ("grep a(b @last", "`(`"),
        ("grep a) @last", "`)`"),
        ("grep $(id) @last", "`$(`"),
        ('grep "$(id)" @last', "`$(`"),
        ("grep $((1+1)) @last", "`$(`"),
        ("grep `id` @last", "backtick"),
        ('grep "`id`" @last', "backtick"),
        ("grep $HOME @last", "`$H` (a variable)"),
        ('grep "$HOME" @last', "variable"),
        ("grep ${HOME} @last", "`${`"),
        ('grep "${HOME}" @last', "`${`"),
        ("awk $1 @last", "`$1`"),
        ("grep $? @last", "`$?`"),
        ("grep $$ @last", "`$$`"),
        ("grep $@ @last", "`$@`"),
        ("grep $'a' @last", "`$'`"),
        ('grep $"a" @last', '`$"`'),
        ("grep a.*b @last", "`*`"),
        ("grep a? @last", "`?`"),
        ("tr [a-z] x", "`[`"),
        ("cat /etc/*", "`*`"),
        ("cat ~/x", "`~`"),
        ("cat ~root", "`~`"),
        ("cat {a,b}", "braces"),
        ("cat {1..3}", "braces"),
        ("! grep x @last", "`!`"),
        ("grep !x @last", "`!`"),
        ("grep !! @last", "`!`"),
        ("X=1 grep x @last", "assignment"),
        ("LD_PRELOAD=/tmp/x.so cat @last", "assignment"),
        ("A+=b cat @last", "assignment"),
        ("cat @last | X=1 wc", "assignment"),
        ("grep x @last # all", "`#`"),
        ("#x", "`#`"),
        ("grep 'x", "single quote"),
        ('grep "x', "double quote"),
        ("grep x\\", "backslash"),
        ("grep x |", "`|`"),
        ("| grep x", "`|`"),
        ("grep x | | wc", "`|`"),
        ("grep \x00", "NUL"),
        ("grep \ud800", "surrogate"),
    ],
)
def test_what_a_shell_would_act_on_is_refused_by_name(query: str, named: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        split(query)
    assert named in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize("query", ["", "  ", "\n"])
def test_an_empty_query_is_refused(query: str) -> None:
    with pytest.raises(QueryRefused, match="empty"):
        split(query)


def test_an_unquoted_glob_is_shown_quoted() -> None:
    with pytest.raises(QueryRefused) as refused:
        split("grep a.*b @last")
    assert "'a.*b'" in refused.value.hint


_TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=40)


@given(st.lists(_TEXT, min_size=1, max_size=5))
def test_quoted_words_come_back_whole(words: list[str]) -> None:
    assert texts(shlex.join(["grep", *words])) == [["grep", *words]]
    assert texts(" ".join(["grep", *map(quoted, words)])) == [["grep", *words]]


@given(st.lists(_TEXT, min_size=1, max_size=5))
def test_a_quoted_word_is_never_a_ref(words: list[str]) -> None:
    assert all(word.literal for word in split(" ".join(map(quoted, words)))[0])


@settings(max_examples=examples(40), deadline=None)
@given(st.text(st.sampled_from("ab \t'\"\\$|*?[~{},.;&<>()`!#=^@1%"), min_size=1, max_size=12))
def test_what_is_split_is_what_a_shell_would_give(text: str) -> None:
    query = "printf '%s\\0' x " + text
    try:
        stages = split(query)
    except QueryRefused:
        return
    if len(stages) > 1:
        return
    shell = subprocess.run(["/bin/sh", "-c", query], capture_output=True, cwd="/")
    assert shell.stdout.split(b"\0")[:-1] == [word.text.encode() for word in stages[0][2:]]
