"""How facts are worded."""

import pytest
from sightline.tui.goto import line_meant
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
    ("text", "line"),
    [
        ("42", 42),
        ("42-80", 42),
        ("42,80", 42),
        (" 7 ", 7),
        ("50%", 500),
        ("100%", 1000),
        ("$", 1000),
        ("99999", 1000),
        ("0", 1),
    ],
)
def test_go_to_line(text: str, line: int) -> None:
    assert line_meant(text, 1000) == line


@pytest.mark.parametrize("text", ["", "x", "-4", "%", "4 2", "1e3"])
def test_what_is_no_line(text: str) -> None:
    assert line_meant(text, 1000) is None


def test_text_is_cut_by_cells_and_not_by_characters() -> None:
    assert cut("日本語テキスト", 7) == "日本語…"
    assert pad("日本", 6) == "日本  "
    assert [part.text for part in fitted([Part("abc"), Part("defgh")], 6)] == ["abc", "de…"]
