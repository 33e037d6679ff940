"""How facts are worded."""

import pytest
from sightline.tui.asking.goto import lines_meant
from sightline.tui.strips import Part, cut, fitted, pad
from sightline.tui.wording import age, short_bytes


@pytest.mark.parametrize(
    ("seconds", "worded"),
    [
        (-5, "now"),
        (0, "now"),
        (9, "now"),
        (34, "30s"),
        (61, "1m"),
        (7300, "2h"),
        (86400 * 3, "3d"),
        (86400 * 800, "2y"),
    ],
)
def test_ages(seconds: float, worded: str) -> None:
    assert age(seconds) == worded


@pytest.mark.parametrize(
    ("count", "worded"),
    [
        (0, "0B"),
        (999, "999B"),
        (1000, "1.0K"),
        (65_536, "64K"),
        (1 << 20, "1.0M"),
        (1023 << 10, "1.0M"),
        (3 << 30, "3.0G"),
    ],
)
def test_short_sizes(count: int, worded: str) -> None:
    assert short_bytes(count) == worded
    assert len(worded) <= 5


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("42", (42, 0)),
        ("42-80", (42, 80)),
        ("42,80", (42, 80)),
        ("80,42", (42, 80)),
        ("42,", (42, 1000)),
        ("10%,$", (100, 1000)),
        (" 7 ", (7, 0)),
        ("50%", (500, 0)),
        ("12.5 %", (125, 0)),
        ("100%", (1000, 0)),
        ("$", (1000, 0)),
        ("99999", (1000, 0)),
        ("0", (1, 0)),
    ],
)
def test_go_to_line(text: str, lines: tuple[int, int]) -> None:
    assert lines_meant(text, 1000) == lines


def test_where_bytes_are_shown_one_goes_to_offsets() -> None:
    assert lines_meant("0x20", 1000, 16) == (3, 0)
    assert lines_meant("0x20,0x3f", 1000, 16) == (3, 4)


@pytest.mark.parametrize("text", ["", "x", "-4", "%", "4 2", "1e3", "0x20", "1,2,3", "42,x"])
def test_what_is_no_line(text: str) -> None:
    assert lines_meant(text, 1000) is None


def test_text_is_cut_by_cells_and_not_by_characters() -> None:
    assert cut("日本語テキスト", 7) == "日本語…"
    assert pad("日本", 6) == "日本  "
    assert [part.text for part in fitted([Part("abc"), Part("defgh")], 6)] == ["abc", "de…"]
