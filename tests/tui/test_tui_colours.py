"""The colours that a command wrote: which are taken over, and that the text stays the cleaned one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.color import Color, ColorSystem
from rich.style import Style
from textual._ansi_theme import MONOKAI

from sightline.shape.clean import clean_line
from sightline_tui.common.line_painter import coloured
from sightline_tui.common.pens import PLAIN, SIXTEEN, Pen, pen_after, style_of

RED = Pen(fg=1)
BASE = Style(color="#d7dde5", bgcolor="#10151c")
_TEXTS = (
    "a",
    "bc ",
    "日本",
    "e\u0301",
    "\t",
    "\r",
    "\b",
    "\x00",
    "\x7f",
    "\x1b[K",
    "\x1b[1K",
    "\x1b[2K",
    "\x1b[3G",
    "\x1b[2D",
)
_COLOURS = ("\x1b[31m", "\x1b[1;42m", "\x1b[0m", "\x1b[38;5;200m", "\x1b[38;2;1;2;3m", "\x1b[4:3m", "\x1b[38:2::9:8:7m")
_OTHERS = ("\x1b[?25l", "\x1b]0;t\x07", "\x9b32m", "\x1b[", "\x1b", "\x1b[999999999m", "\x1b[38;5m", "\x1b[;;;m")
_PIECES = st.sampled_from((*_TEXTS, *_COLOURS, *_OTHERS))
_SHORT = st.sampled_from(["a", "日", "\r", "\b", "\x1b[K", "\x1b[31m", "\x1b[1;42m", "\x1b[m", "\x9b7m"])


@settings(max_examples=100)
@given(st.lists(_PIECES, max_size=30).map("".join) | st.text(max_size=60))
def test_coloured_runs_are_the_cleaned_line(text: str) -> None:
    data = text.replace("\n", "").encode("utf-8", "surrogatepass")
    runs, _ = coloured(data, PLAIN)
    assert "".join(run for run, _ in runs) == clean_line(data)


@given(
    st.lists(st.sampled_from(["a", "日", "\r", "\b", "\x1b[K", "\x1b[31m", "\x1b[1;42m", "\x1b[m", "\x9b7m"])).map(
        "".join
    )
)
def test_what_a_line_leaves_behind_is_known_without_reading_its_text(text: str) -> None:
    assert coloured(text.encode(), RED)[1] == pen_after(text.encode(), RED)


@pytest.mark.parametrize(
    ("data", "runs", "after"),
    [
        (b"a\x1b[31mb\x1b[0mc", [("a", PLAIN), ("b", RED), ("c", PLAIN)], PLAIN),
        (b"\x1b[1;91;48;5;17mx", [("x", Pen(fg=9, bg=17, bold=True))], Pen(fg=9, bg=17, bold=True)),
        (b"\x1b[38;2;1;2;3mx\x1b[39my", [("x", Pen(fg=(1, 2, 3))), ("y", PLAIN)], PLAIN),
        (b"\x1b[38:2::1:2:3mx\x1b[m", [("x", Pen(fg=(1, 2, 3)))], PLAIN),
        (b"\x1b[4:3mx\x1b[4:0my", [("x", Pen(underline=True)), ("y", PLAIN)], PLAIN),
        (b"\x1b[8mhidden\x1b[5mblinking", [("hidden", PLAIN), ("blinking", PLAIN)], PLAIN),
        (b"\x1b[38;5;999mx", [("x", PLAIN)], PLAIN),
        (b"\x1b[?31mx\x1b[31 mx", [("x", PLAIN), ("x", PLAIN)], PLAIN),
        (b"\x1b[31mold text\r\x1b[32mnew", [("new", Pen(fg=2)), (" text", RED)], Pen(fg=2)),
        (b"gone\r\x1b[K\x1b[31mE", [("E", RED)], RED),
    ],
)  # fmt: skip
def test_pens(data: bytes, runs: list[tuple[str, Pen]], after: Pen) -> None:
    assert coloured(data, PLAIN) == (runs, after)


def test_a_pen_goes_on_to_the_next_line() -> None:
    _, pen = coloured(b"\x1b[31mred", PLAIN)
    assert pen == pen_after(b"\x1b[31mred", PLAIN) == RED
    assert coloured(b"still", pen) == ([("still", RED)], RED)


@pytest.mark.parametrize("pen", [Pen(fg=(16, 21, 28)), Pen(fg=0, bg=0), Pen(bg=(215, 221, 229)), Pen(fg=231, bg=231)])
def test_nothing_is_written_in_invisible_ink(pen: Pen) -> None:
    style = style_of(pen, BASE, MONOKAI)
    assert style.color != style.bgcolor
    assert {style.color, style.bgcolor} & {BASE.color, BASE.bgcolor}


def test_the_sixteen_colours_are_the_themes() -> None:
    assert style_of(RED, BASE, MONOKAI).color == Color.from_triplet(MONOKAI.ansi_colors[1])
    assert style_of(PLAIN, BASE, MONOKAI) == BASE


@pytest.mark.parametrize("colour", range(1, 16))
def test_a_terminal_of_sixteen_colours_shows_the_very_one(colour: int) -> None:
    shown = style_of(Pen(fg=colour), BASE, SIXTEEN).color
    assert shown is not None
    assert shown.downgrade(ColorSystem.STANDARD).number == colour


def test_where_colours_are_not_wanted_there_are_none() -> None:
    assert style_of(Pen(fg=1, bg=2, bold=True), BASE, None) == BASE + Style(bold=True)
