"""Cuts in the middle and to so many lines from either end."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.profile import Cut
from sightline.shape.cut_styles import WHOLE_BYTES, cut_middle, shape_as, split_bytes, whole_part
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import Segment, Shaped, join_segments, render_lines, shown_ranges

MIDDLE = Cut(style="middle", bytes_marker="\n\n[... {count} bytes omitted ...]\n\n")
HALVES = Cut(style="middle", head_percent=50, marker_bytes=0, bytes_marker="\n[...{count} bytes omitted...]\n")
ENDS = Cut(style="ends", head_lines=2, tail_lines=3)
FOLDING = ENDS._replace(repeats_marker="<again {count}>", lines_marker="<{count} lines>")
OUT, ERR = "@cmd_a1b2c3", "@cmd_a1b2c3.err"
DATA = st.lists(st.sampled_from([b"a", b"bb", "é😀".encode(), b"\n", b"\n", b"\xff", b"\x1b[1m", b"w" * 40])).map(
    b"".join
)


def body(shaped: Shaped) -> str:
    return join_segments(shaped.segments)


def cut(style: Cut, out: bytes, err: bytes = b"", **more: object) -> Shaped:
    given = {"budget": 200, "failed": False, **more}
    return shape_as(style, BytesSource(out, OUT), BytesSource(err, ERR), **given)  # type: ignore[arg-type]


def numbered(count: int) -> bytes:
    return b"".join(b"line %d\n" % number for number in range(1, count + 1))


@given(DATA, DATA, st.integers(80, 400))
def test_a_middle_cut_stays_in_its_budget_and_says_truly_what_it_shows(out: bytes, err: bytes, budget: int) -> None:
    shaped = cut(MIDDLE, out, err, budget=budget)
    assert len(body(shaped).encode()) <= budget
    sources = {OUT: BytesSource(out, OUT), ERR: BytesSource(err, ERR)}
    for segment in shaped.segments:
        if segment.ref and not segment.partial:
            assert render_lines(sources[segment.ref], segment.first, segment.last) == segment.text
        elif segment.ref:
            assert segment.text in render_lines(sources[segment.ref], segment.first, segment.last) + "\n"
    for ref, shown in ((OUT, shaped.out_shown), (ERR, shaped.err_shown)):
        ranges = [(first, last) for name, first, last in shown_ranges(shaped.segments) if name == ref]
        assert sum(last - first + 1 for first, last in ranges) == shown
        assert sorted(ranges) == ranges
        assert all(one[1] < other[0] for one, other in itertools.pairwise(ranges))
    assert shaped.truncated == ("bytes omitted" in body(shaped)) or budget < 200


@given(st.text(alphabet="ab\né😀"), st.integers(60, 120), st.integers(0, 100))
def test_a_middle_cut_has_the_two_ends_and_counts_the_bytes_between(text: str, room: int, percent: int) -> None:
    data = (text * 30).encode()
    style = HALVES._replace(head_percent=percent)
    source = BytesSource(data, OUT)
    whole = whole_part(source, room)
    if whole is not None:
        assert join_segments(whole.segments).encode() == data
        return
    shown = join_segments(cut_middle(source, room, style).segments)
    head, marker, rest = shown.partition("\n[...")
    count, _, tail = rest.partition(" bytes omitted...]\n")
    assert marker
    assert data.startswith(head.encode())
    assert data.endswith(tail.encode())
    assert int(count) == len(data) - len(head.encode()) - len(tail.encode())


def test_one_line_on_both_sides_of_the_marker_is_one_line() -> None:
    shaped = cut(MIDDLE, b"x" * 500)
    assert (shaped.out_shown, shaped.out_total, shaped.truncated) == (1, 1, True)
    assert list(shown_ranges(shaped.segments)) == [(OUT, 1, 1)]


def test_a_stream_that_cleans_away_to_little_is_whole_however_large() -> None:
    data = (b"\x1b[31m" * 10_000 + b"\n") * 22
    assert len(data) > WHOLE_BYTES
    shaped = cut(MIDDLE, data)
    assert (body(shaped), shaped.out_shown, shaped.truncated) == ("\n" * 22, 22, False)


def test_standard_error_has_its_share_of_a_middle_cut() -> None:
    shaped = cut(MIDDLE, b"o" * 5000, b"e" * 5000, budget=1000)
    out, _, err = body(shaped).partition("[stderr]\n")
    assert out.count("o") > err.count("e") > 100
    assert "[stderr]\nfew\n" in body(cut(MIDDLE, b"o" * 5000, b"few\n"))
    assert body(cut(MIDDLE, b"few\n", b"e" * 5000)).startswith("few\n[stderr]\n")
    assert body(cut(MIDDLE, b"", b"e" * 5000)).startswith("[stderr]\n")


def test_a_failure_is_never_cut_blindly() -> None:
    out = numbered(100) + b"error: it broke\n" + numbered(400)
    for style in (MIDDLE, HALVES, ENDS):
        assert "error: it broke" not in body(cut(style, out))
        assert "error: it broke" in body(cut(style, out, failed=True))


def test_without_a_budget_the_head_is_kept() -> None:
    shaped = cut(MIDDLE, numbered(20_000), budget=None, limit=1000)
    assert body(shaped).startswith("line 1\nline 2\n")
    assert body(shaped).count("[… ") == 1


def test_ends_are_so_many_lines_and_a_marker_with_the_range() -> None:
    shaped = cut(ENDS, numbered(10))
    assert body(shaped) == (f"line 1\nline 2\n[… 5 lines elided: {OUT}:3-7 …]\nline 8\nline 9\nline 10\n")
    assert (shaped.out_shown, shaped.out_total, shaped.truncated) == (5, 10, True)
    assert body(cut(ENDS, numbered(5))) == numbered(5).decode()
    assert body(cut(ENDS, b"a\nb")) == "a\nb"


def test_ends_that_do_not_fit_are_cut_by_the_budget() -> None:
    shaped = cut(ENDS, b"x" * 300 + b"\n" + numbered(10))
    assert len(body(shaped).encode()) <= 200
    assert shaped.truncated


def test_each_stream_has_its_ends() -> None:
    shaped = cut(ENDS, numbered(6), numbered(7), budget=500)
    assert body(shaped).count("elided") == 2
    assert (shaped.out_shown, shaped.err_shown) == (5, 5)
    assert f"{ERR}:3-4" in body(shaped)
    assert body(cut(ENDS, b"open", b"e\n")) == "open\n[stderr]\ne\n"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"repeat me\n" * 6, "repeat me\n<again 5>\n"),
        (b"y\n" * 5, "y\n" * 5),
        (b"", ""),
        (b"repeat me\nrepeat me\nrepeat me", "repeat me\n<again 2>"),
        (b"1\n2\n3\n4\n5\n6\n", "1\n2\n<1 lines>\n4\n5\n6\n"),
        (b"1\n" + b"repeat me\n" * 9 + b"3\n4\n", "1\nrepeat me\n<again 8>\n3\n4\n"),
    ],
)
def test_repeated_lines_fold_where_that_is_shorter(raw: bytes, text: str) -> None:
    shaped = cut(FOLDING, raw)
    assert body(shaped) == text
    assert shaped.truncated == ("lines" in text)


def test_folded_lines_count_as_shown_and_are_told_apart_in_the_log() -> None:
    shaped = cut(FOLDING, b"repeat me\n" * 6)
    assert shaped.out_shown == 6
    assert shaped.segments == (
        Segment("repeat me\n", OUT, 1, 1),
        Segment("<again 5>\n", OUT, 2, 6, True),
    )


def test_without_a_ref_no_segment_has_one() -> None:
    for style in (MIDDLE, ENDS, FOLDING):
        shaped = shape_as(style, BytesSource(numbered(90)), BytesSource(b""), budget=200, failed=False)
        assert not any(segment.ref or segment.first for segment in shaped.segments)


def test_split_characters_are_left_out() -> None:
    assert split_bytes("a€b", 2, 2) == ("a", "b")
    assert split_bytes("a€b", 9, 9) == ("a€b", "a€b")
