"""Cleaning: what a terminal would show of a line, and never anything that could act on one."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.clean import clean_line, clean_text
from tests.each import each


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("", ""),
        ("array[0] = 1", "array[0] = 1"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[38;5;196mred\x1b[48;2;1;2;3m on\x1b[m", "red on"),
        ("\x1b[2J\x1b[Hhome", "home"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Bé€\x1b)0", "é€"),
        ("\x1b%G\x1b#8x", "x"),
        ("\x1b=hello\x1b>", "hello"),
        ("\x1bPq#0;1\x1b\\after", "after"),
        ("\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\after", "after"),
        ("\x9b31mred\x9b0m \x9d0;t\x9cx", "red x"),
        ("before\x1b[31", "before"),
        ("before\x1b]0;never ended", "before"),
        ("before\x1b", "before"),
        ("bell\x07 null\x00 del\x7f c1\x85", "bell null del c1"),
        ("tab\tkept", "tab\tkept"),
    ],
)
def test_escapes_and_controls_are_removed(raw: str, text: str) -> None:
    assert clean_line(raw.encode()) == text


@each(
    ("raw", "text"),
    [
        ("Line1\r", "Line1"),
        ("\r\r\r", ""),
        ("Step 1: In progress\rDone", "Done 1: In progress"),
        ("Updated Line 2\rFinal Line 2", "Final Line 2 2"),
        (
            "Progress: [===>---------] 30%\rProgress: [======>------] 60%\rProgress: [==========>] 100%",
            "Progress: [==========>] 100%%",
        ),
        ("Initial\r\r\r\rFinal", "Finalal"),
        ("Initial text\rnext\r", "nextial text"),
        ("你好世界啊\r你好地球", "你好地球啊"),
        ("Line with 🚀 emoji\rLine with a", "Line with a  emoji"),
        ("🚀\b-", " -"),
        ("🚀\b", "🚀"),  # moving alone changes nothing
        ("🚀\b\b", "🚀"),
        ("working\r\x1b[Kdone", "done"),
        ("working\x1b[2K\rdone", "done"),
        ("working\x1b[2K\x1b[1Gdone", "done"),
        ("abcdef\x1b[3D\x1b[1KX", "   Xef"),
        ("abcdef\r\x1b[1KX", "Xbcdef"),
        ("gone\x1b[2Kx", "    x"),
        ("abc\x1b[K\x1b[0m", "abc"),
        ("abc\b\bX", "aXc"),
        ("spinner |\b/\b-\b\\\bdone", "spinner done"),
        ("\b\b\bx", "x"),
        ("e\u0301clair\rE", "Eclair"),
        ("cafe\u0301\b", "cafe\u0301"),
        ("\tfoo\rbar", "bar     foo"),
        ("abcdefghijk\r\tX", "abcdefghXjk"),
        ("x\x1b[99999999999999999999Gy", "xy"),
    ],
)
def test_returns_backspaces_and_erasing_overwrite_like_a_terminal(raw: str, text: str) -> None:
    assert clean_line(raw.encode()) == text


def test_invalid_utf8_is_replaced_and_the_rest_kept() -> None:
    assert clean_line(b"a\xffb\xe2\x82") == "a\ufffdb\ufffd"
    assert clean_line(b"\x1b[1ma\xffb\xe2\x82\x1b[0m") == "a\ufffdb\ufffd"


def test_each_line_of_a_run_is_cleaned_by_itself() -> None:
    assert clean_text(b"a\x1b]0;open\nsecond\r\nthird\rT\n") == "a\nsecond\nThird\n"


@given(
    st.lists(
        st.sampled_from(
            [
                b"\x1b",
                b"[",
                b"]",
                b"P",
                b"\r",
                b"\b",
                b"\t",
                b"2K",
                b"5D",
                b"\xc2\x9b",
                b"\x07",
                b"\xff",
                b"\x00",
                b"\n",
                b"\xf0\x9f\x9a\x80",
                b"\xcc\x81",
                b"a",
                b"bc",
                b"\\",
                b";1m",
            ]
        )
    )
)
def test_no_control_character_but_the_tab_survives(pieces: list[bytes]) -> None:
    text = clean_line(b"".join(pieces))
    assert all(char == "\t" or unicodedata.category(char) not in ("Cc", "Cs") for char in text)


@given(st.binary())
def test_any_bytes_can_be_cleaned(data: bytes) -> None:
    assert all(char in "\t\n" or unicodedata.category(char) != "Cc" for char in clean_text(data))


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"), include_characters="\t")))
def test_plain_text_is_only_decoded(text: str) -> None:
    assert clean_line(text.encode()) == text


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x2FFF, exclude_categories=("Cc", "Cs", "M", "Cf"))))
def test_moving_to_where_the_cursor_is_changes_nothing(text: str) -> None:
    assert clean_line(f"\r{text}\x1b[0m".encode()) == text


def test_a_long_progress_line_is_cleaned_quickly() -> None:
    frames = b"\r".join(b"[%5d/20000] building" % number for number in range(3000))
    assert clean_line(frames) == "[ 2999/20000] building"
