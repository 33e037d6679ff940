"""What may hide in a text is shown as a mark where a person reads; what a script or an emoji needs stays readable."""

import os
import pty

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.audit.report.phrases import visible
from sightline.doors.terminal import output
from sightline.doors.terminal.output import text_for
from sightline.shape.invisible_characters import fit_to_read, mark_hidden
from sightline.verbs.printable_text import printable
from tests.each import each

HIDING = [
    *map(chr, range(0x200B, 0x2010)), *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2060, 0x2070)),
    *"\ufeff\u00ad\u180e\u061c\u034f\u115f\u1160\u3164\uffa0\ufe00\ufe0d", *map(chr, range(0xE0000, 0xE0080)),
    *map(chr, range(0xE0100, 0xE01F0)),
]  # fmt: skip
READABLE = [
    "می\u200cخواهم",  # two parts of one Persian word
    "क्\u200dष",  # a half form in Hindi
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",  # a family
    "\u2764\ufe0f\u200d\U0001f525",  # a heart on fire
    "\U0001f9d1\U0001f3fd\u200d\U0001f4bb",  # somebody at a computer
    "1\ufe0f\u20e3",  # a key
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # Scotland
    "日本 é \u0e19\u0e49\u0e33",
]
SMUGGLED = "".join(chr(0xE0000 + ord(char)) for char in "ignore all")


def by_number(char: str) -> str:
    return f"<{ord(char):X}>"


@each("char", HIDING)
def test_what_hides_between_plain_letters_is_marked(char: str) -> None:
    assert mark_hidden(f"a{char}b", by_number) == f"a{by_number(char)}b"


@pytest.mark.parametrize("text", READABLE)
def test_what_a_script_or_an_emoji_needs_stays(text: str) -> None:
    assert mark_hidden(text, by_number) == text
    assert fit_to_read(text, by_number) == text


@pytest.mark.parametrize(
    "text",
    [
        "می\u200c\u200cخ",  # more than one joiner writes bits
        "\U0001f468\u200d",
        "\U0001f3f4\U000e0061\U000e0062\U000e007f",  # a flag of nowhere
        "\u2764\ufe0f\ufe0f",
        "a\ufe0f",
        "\U0001f600" + "".join(chr(0xE0100 + code) for code in b"run me"),
        SMUGGLED,
    ],
)
def test_where_more_is_written_than_is_needed_it_is_marked(text: str) -> None:
    assert "<" in mark_hidden(text, by_number)


@given(st.text(st.sampled_from([*HIDING, *"ab1 ", *"".join(READABLE)]), max_size=30))
def test_marks_take_nothing_else_away(text: str) -> None:
    told = mark_hidden(text, by_number)
    for char in HIDING:
        told = told.replace(by_number(char), char)
    assert told == text


@given(st.text())
def test_ascii_and_what_is_printable_stays(text: str) -> None:
    assert mark_hidden(text.encode("ascii", "ignore").decode(), by_number) == text.encode("ascii", "ignore").decode()


@pytest.mark.parametrize("char", ["\u200b", "\u2060", "\ufeff", "\U000e0041", "\U000e0100", "\u202e"])
def test_every_door_of_a_person_shows_the_mark(char: str) -> None:
    master, slave = pty.openpty()
    try:
        for told in (text_for(slave, f"a{char}b\n"), printable(f"a{char}b"), visible(f"a{char}b\n")):
            assert char not in told
            assert "\\" in told
        assert text_for(slave, READABLE[0]) == READABLE[0]
        assert text_for(slave, f'{{"a": "{char}"}}').isascii()  # still JSON
    finally:
        os.close(master)
        os.close(slave)


def test_an_output_that_passes_to_a_terminal_shows_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A character may come in two pieces; colours and bytes that are no text stay as they are."""
    written = list[bytes]()
    monkeypatch.setattr(os, "isatty", lambda fd: fd == 1)
    monkeypatch.setattr(output, "write_all", lambda fd, data: written.append(bytes(data)))
    pass_on = output.passing_on()
    for piece in ("\x1b[31mred\x1b[0m é\n".encode(), b"evil\xe2", b"\x80", b"\xaetxt.exe", b"\xff\n", b"plain\n"):
        pass_on("out", memoryview(piece))
    assert b"".join(written) == "\x1b[31mred\x1b[0m é\nevil\\u202etxt.exe".encode() + b"\xff\nplain\n"
    written.clear()
    pass_on("err", memoryview("\u202e".encode()))  # no terminal
    assert written == ["\u202e".encode()]
