"""Nothing that a text contains can act on a terminal, hide or reorder."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.clean import clean_line
from sightline.shape.invisible_characters import JOINING
from sightline_tui.common.visible_text import lone_controls_shown, pieces, title, visible

_ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_NASTY = st.text(
    st.one_of(st.characters(), st.sampled_from("\x00\x07\x1b\x9b\x7f\u202e\u200b\ufeff\u2028\ud800\ufe0f"))
)


def acts(text: str) -> bool:
    text = re.sub(JOINING, "", text)
    return any(unicodedata.category(char) in _ACTING for char in text)


@given(_NASTY)
def test_what_is_visible_can_do_nothing(text: str) -> None:
    assert not acts(visible(text))
    assert not acts(title(text))


@given(_NASTY)
def test_pieces_together_are_the_visible_text_but_for_tabs(text: str) -> None:
    joined = "".join(piece.text for piece in pieces(text))
    assert not acts(joined.replace("\t", ""))
    assert joined.replace("\t", "") == visible(text.replace("\t", ""))


@given(
    st.text(st.characters(categories=["L", "N", "P", "Sm", "Sc", "Zs"], exclude_characters="\u115f\u1160\u3164\uffa0"))
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", "a␛[31mb"),
        ("\x07\x7f", "␇␡"),
        ("\x9b", "‹U+009B›"),
        ("pay\u202egpj.exe", "pay‹U+202E›gpj.exe"),
        ("zero\u200bwidth", "zero‹U+200B›width"),
        ("\u2764\ufe0f", "\u2764"),
        ("x\ufe0f\ufe0f", "x‹U+FE0F›"),
        ("a\U000e0041\U000e0100", "a‹U+E0041›‹U+E0100›"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("a\u200cb", "a‹U+200C›b"),
        ("日本 é", "日本 é"),
    ],
)
def test_what_acts_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_title_is_one_line() -> None:
    assert title("  if x; then\r\n\techo hi\nfi\n") == "if x; then↵ echo hi↵fi"


def test_stray_controls_survive_cleaning_as_pictures() -> None:
    assert clean_line(lone_controls_shown(b"a\x00b\x0cc")) == "a␀b␌c"
    assert clean_line(lone_controls_shown(b"\x1b[31mred\x1b[0m\tkept")) == "red\tkept"
