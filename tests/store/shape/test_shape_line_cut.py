"""Which bytes of a raw line a piece of its cleaned text stands for: those, or fewer."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.clean import clean_line
from sightline.shape.line_cut import common_head, cut_at_ends, raw_range
from sightline.shape.memory_stream import BytesSource
from sightline.shape.source import CutLine, Line
from sightline.shape.variants import cleaned

PIECES = st.sampled_from(
    [b"plain", "é€".encode(), b"\x1b[31m", b"\x1b[0m", b"\t", b"\x07", b"\x1b]0;title\x07", b"x" * 9]
)
LINES = st.lists(PIECES, max_size=12).map(b"".join)


@given(LINES, st.integers(0, 60), st.integers(0, 60))
def test_a_range_of_a_cleaned_text_is_made_of_the_raw_bytes_that_are_told(data: bytes, one: int, other: int) -> None:
    text = clean_line(data)
    start, end = min(one, other, len(text)), min(max(one, other), len(text))
    first, last = raw_range(data, len(text[:start].encode()), len(text[:end].encode()))
    assert clean_line(data[first:last]) == text[start:end]


@given(LINES, st.integers(0, 60))
def test_the_two_halves_of_a_text_are_all_of_its_line(data: bytes, place: int) -> None:
    text = clean_line(data)
    head, tail = text[:place], text[place:]
    cut = cut_at_ends(Line(3, data, len(data)), head, tail)
    seen = [one for first, last in cut.seen for one in range(first, last + 1)]
    assert (cut.line, cut.length, sorted(set(seen))) == (3, len(data), list(range(1, len(data) + 1)) if text else [])


def test_what_a_carriage_return_wrote_over_is_told_of_no_bytes() -> None:
    data = b"first\rother and more"
    assert cut_at_ends(Line(1, data, len(data)), "other", "") == CutLine(1, len(data), ())


def test_text_that_is_no_utf8_is_told_up_to_its_first_wrong_byte() -> None:
    data = b"good\xffbad"
    assert cut_at_ends(Line(1, data, len(data)), "go", "").seen == ((1, 2),)
    assert cut_at_ends(Line(1, data, len(data)), "", "bad").seen == ()


def test_the_ends_of_a_line_that_was_not_read_whole_are_told_by_its_length() -> None:
    line = Line(1, b"a" * 50 + b"z" * 50, 1_000)
    assert cut_at_ends(line, "aaa", "zz").seen == ((1, 3), (999, 1000))


def test_a_line_that_another_rule_has_cleaned_is_told_in_raw_bytes() -> None:
    [line] = cleaned(BytesSource(b"10 %\r20 %\rdone, all of it\r\n"), "last-segment").lines(1, 1)
    assert line.data == b"done, all of it"
    assert line.cut((5, 8)) == CutLine(1, 26, ((16, 18),))
    assert line.cut((0, 4), (11, 15)).seen == ((1, 14), (22, 26))
    [line] = cleaned(BytesSource(b"\x1b[31mred\x1b[0m and more\n"), "last-segment").lines(1, 1)
    assert line.cut((0, 4)) == CutLine(1, 21, ())


@given(st.binary(max_size=9), st.binary(max_size=9), st.binary(max_size=9))
def test_texts_begin_alike_for_so_long(head: bytes, one: bytes, other: bytes) -> None:
    same = common_head(head + one, head + other)
    assert same >= len(head)
    assert (head + one)[:same] == (head + other)[:same]
    assert (head + one)[same : same + 1] != (head + other)[same : same + 1] or same >= len(head) + min(
        len(one), len(other)
    )
