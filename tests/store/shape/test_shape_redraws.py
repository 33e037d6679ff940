"""Lines that progress displays write over: found as a terminal would lose them, and never one that it still shows."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shape import markers
from sightline.shape.memory_stream import BytesSource
from sightline.shape.redraws import LONGEST_MOVE_ROWS, SCREEN_ROWS, rewritten
from sightline.shape.source import BLOCK_BYTES


def gone(text: str) -> tuple[tuple[int, int], ...]:
    return rewritten(BytesSource(text.encode(), "@cmd_a1b2c3"))


def frames(count: int, rows: int, end: str = "\x1b[K\n", width: int = 0) -> str:
    """A display of so many rows, written so many times."""
    drawn = ["".join(f"row {row} of frame {frame}".ljust(width) + end for row in range(rows)) for frame in range(count)]
    return f"\x1b[{rows}A".join(drawn)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("before\n" + frames(3, 4) + "after\n", ((2, 9),)),
        ("a 10%\n\x1b[1A\x1b[2Ka 20%\n\x1b[Aa 30%\n", ((1, 2),)),
        ("a 10%\n\x1b[Fa 20%\n", ((1, 1),)),
        ("a 10%\n\x1bM\ra 20%\n", ((1, 1),)),
        ("a 10%\r\n\x1b[1Aa 20%\r\n", ((1, 1),)),
        ("one\ntwo\n\x1b[2A\x1b[Jthree\n", ((1, 2),)),
        ("one\n\ntwo\n\x1b[3Athree\nfour\nfive\n", ((1, 3),)),
        ("one\ntwo\nthree\n\x1b[2A\x1b[2Ktwo again\r\x1b[2Bend\n", ((2, 2),)),
        ("one\ntwo\n\x1b[1A\x1b[2K\r\x1b[1A\x1b[2K\rthree\n", ((1, 2),)),
        ("one\ntwo\n\x1b[2Alog line\n\x1b[Kone\x1b[K\ntwo\n", ((1, 2),)),
        ("spin \u280b\n\x1b[1Aspin \u2819\n", ((1, 1),)),
        ("\x1b[31mred\x1b[0m\n\x1b[1A\x1b[32mgreen\x1b[0m\n", ((1, 1),)),
        ("one\n\x1b7two\x1b8\x1b[K\x1b[1A\rthree\n", ((1, 1),)),
    ],
)
def test_lines_whose_rows_are_written_anew_are_found(text: str, expected: tuple[tuple[int, int], ...]) -> None:
    assert gone(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain\ntext\n",
        "\x1b[31mred\x1b[0m\n\x1b[2K\rother\n",
        "10%\r20%\r30%\n",
        "a longer line\n\x1b[1Ashort\n",
        "one\ntwo\n\x1b[2A",
        "one\ntwo\n\x1b[2A\n\n",
        "one\n\x1b[1A\x1b[20Gtwo\n",
        "one\ntwo\x1b[1A",
        "\x1b[2A\x1b[2A\x1b[Aone\n",
        "x" * 120 + "\n\x1b[1Aover it\x1b[K\n",
        "one\n\x1b[3;1Hsomewhere\n\x1b[2Aelse\n",
        "one\n\x1b[?1049h\x1b[1Aanother screen\n",
        "one\n\x1b[1;5r\x1b[1Aregion\n",
        "one\n\x1b7two\nthree\n\x1b8four\n",
        f"one\ntwo\n\x1b[{LONGEST_MOVE_ROWS + 1}Athree\nfour\n",
        "\x1b[999999999999A\x1b[;;;A\x1b[?A\x1b[",
    ],
)
def test_line_of_which_anything_may_be_seen_is_not(text: str) -> None:
    assert gone(text) == ()


def test_log_that_scrolled_off_before_a_screen_is_cleared_stays() -> None:
    assert gone("".join(f"line {number}\n" for number in range(500)) + "\x1b[2J\x1b[3J\x1b[Hwaiting\n") == ()


def test_screens_written_from_the_top_left_corner_replace_each_other() -> None:
    for clear in ("\x1b[H\x1b[J", "\x1b[H\x1b[2J", "\x1b[2J\x1b[H", "\x1bc", "\x1b[1;1H\x1b[0J"):
        screens = [f"{clear}every 2 s {at}\nload {at}\n" for at in range(4)]
        assert gone("log\n" + "".join(screens)) == ((2, 7),)


def test_screen_of_more_rows_than_any_may_have_is_not_replaced() -> None:
    tall = "".join(f"row {row}\n" for row in range(SCREEN_ROWS + 2))
    assert gone(f"\x1b[H\x1b[J{tall}\x1b[H\x1b[Jend\n") == ()


def test_wide_display_is_understood_once_it_has_been_written_twice() -> None:
    assert gone(frames(4, 3, width=100)) == ((4, 9),), "blanks may fill a second row as well as text"
    wide = "".join(f"\x1b[2A{'w' * 100}{frame}\n{'v' * 100}{frame}\n" for frame in range(5))
    assert gone("build\n" * 3 + wide) == ((2, 11),), "the first is written over what stands there, on purpose"


def test_display_is_found_behind_much_else_and_around_the_edges_of_blocks() -> None:
    plain = "a line of the log, as there are many of them\n"
    count = 3 * BLOCK_BYTES // len(plain)
    text = plain * count + frames(400, 7) + plain * count + frames(2, 3) + plain
    start = count + 1
    second = start + 400 * 7 + count
    assert gone(text) == ((start, start + 399 * 7 - 1), (second, second + 2))


def test_display_that_begins_where_a_block_does_finds_the_lines_before_it() -> None:
    line = "x" * 63 + "\n"
    text = line * (BLOCK_BYTES // len(line) - 1) + "y" * 63 + "\n" + "\x1b[1A\x1b[2Kz\n"
    number = BLOCK_BYTES // len(line)
    assert gone(text) == ((number, number),)


def test_marker_names_the_lines_that_were_rewritten() -> None:
    marker = markers.rewritten("@cmd_a1b2c3", 1, 38)
    assert marker == "[… 38 lines rewritten in place: @cmd_a1b2c3:1-38 …]"
    for one in (marker, markers.rewritten("", 7, 7)):
        assert re.fullmatch(markers.MARKER, one)


MOVES = st.one_of(
    st.just("text"),
    st.just("text"),
    st.sampled_from(["\r", "\x1b[K", "\x1b[2K", "\x1b[1K", "\x1b[J", "\b", "  ", "\x1b[1m", "\x1b[5G"]),
    st.integers(1, 9).map(lambda count: f"\x1b[{count}A"),
    st.integers(1, 9).map(lambda count: f"\x1b[{count}F"),
)
LINES = st.lists(st.lists(MOVES, max_size=4), max_size=30)


class Paper:
    """A terminal that is as high as need be, one character a line: which of them can still be seen."""

    TOKEN = re.compile(r"\x1b\[(\d*)([A-Za-z])|(.)", re.DOTALL)

    def __init__(self, text: str) -> None:
        self.cells: dict[tuple[int, int], str] = {}
        self.row = self.column = 0
        for number, final, char in self.TOKEN.findall(text):
            if char:
                self.write(char)
            else:
                self.obey(final, number)

    def write(self, char: str) -> None:
        if char == "\n":
            self.row, self.column = self.row + 1, 0
        elif char == "\r":
            self.column = 0
        elif char == "\b":
            self.column = max(0, self.column - 1)
        else:
            self.cells[self.row, self.column] = char
            self.column += 1

    def obey(self, final: str, number: str) -> None:
        count = int(number or "0")
        if final in "AF":
            self.row = max(0, self.row - max(1, count))
        if final == "G":
            self.column = count - 1
        if final == "F":
            self.column = 0
        if final in "KJ":
            first, last = {0: (self.column, 999), 1: (0, self.column), 2: (0, 999)}[count]
            self.cells = {
                (row, column): char
                for (row, column), char in self.cells.items()
                if not ((row == self.row and first <= column <= last) or (final == "J" and row > self.row))
            }


@given(LINES)
def test_what_is_found_cannot_be_seen_and_what_cannot_be_seen_is_found(lines: list[list[str]]) -> None:
    names = [chr(0x3B1 + number) for number in range(len(lines))]
    drawn = [
        "".join(name * 6 if part == "text" else part for part in parts)
        for name, parts in zip(names, lines, strict=True)
    ]
    seen = set(Paper("".join(f"{line}\n" for line in drawn)).cells.values())
    found = {
        number for first, last in gone("".join(f"{line}\n" for line in drawn)) for number in range(first, last + 1)
    }
    for number, (name, line) in enumerate(zip(names, drawn, strict=True), 1):
        if number in found:
            assert name not in seen
        elif name in re.sub(r".*\x1b\[[12]?K|.*\x1b\[J|.*[\r\b]|.*\x1b\[\d+[AFG]", "", line):
            assert name in seen
