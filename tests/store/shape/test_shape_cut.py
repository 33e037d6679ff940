"""Bodies of known outputs: what stands in them, in which order, and what marks the rest."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.errors import UsageError
from sightline.shape.budgets import HARD_LIMIT_BYTES, budget_for
from sightline.shape.cut import shape
from sightline.shape.failure.examination import Examination
from sightline.shape.failure.failure_scan import Failures
from sightline.shape.markers import CLIPPED
from sightline.shape.memory_stream import BytesSource
from sightline.shape.repeated_lines import EqualLines, clip, read_rows, singles, take
from sightline.shape.segments import Shaped, join_segments
from sightline.shape.source import LINE_LIMIT, Line, Source

OUT, ERR = "@cmd_a1b2c3", "@cmd_a1b2c3.err"


def cut(out: bytes, err: bytes = b"", *, budget: int | None = 1024, failed: bool = False) -> tuple[str, Shaped]:
    shaped = shape(BytesSource(out, OUT), BytesSource(err, ERR), budget=budget, failed=failed)
    return join_segments(shaped.segments), shaped


def numbered(count: int, special: dict[int, bytes] | None = None) -> bytes:
    return b"".join((special or {}).get(n, b"line %d of an output" % n) + b"\n" for n in range(1, count + 1))


@pytest.mark.parametrize(
    ("verbosity", "exit_ok", "budget"),
    [
        ("auto", True, 1024),
        ("auto", False, 8192),
        ("silent", False, 200),
        ("concise", True, 2048),
        ("normal", True, 8192),
        ("verbose", True, 16384),
        ("full", False, None),
    ],
)
def test_each_verbosity_has_its_budget(verbosity: str, exit_ok: bool, budget: int | None) -> None:
    assert budget_for(verbosity, exit_ok) == budget


def test_an_unknown_verbosity_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError) as refused:
        budget_for("loud", True)
    assert refused.value.hint == "it is one of auto, silent, concise, normal, verbose, full"


@pytest.mark.parametrize(
    ("out", "err", "body"),
    [
        (b"", b"", ""),
        (b"hello\n", b"", "hello\n"),
        (b"hello", b"", "hello"),
        (b"hello\n", b"oops\n", "hello\n[stderr]\noops\n"),
        (b"hello", b"oops", "hello\n[stderr]\noops"),
        (b"", b"oops\n", "[stderr]\noops\n"),
        (b"\x1b[32mok\x1b[0m\r\n", b"", "ok\n"),
    ],
)
def test_what_is_small_is_given_whole(out: bytes, err: bytes, body: str) -> None:
    text, shaped = cut(out, err)
    assert text == body
    assert not shaped.truncated


def test_repeated_lines_fold_where_that_is_shorter() -> None:
    text, shaped = cut(b"start\n" + b"connection refused, trying again\n" * 100 + b"y\ny\ny\n")
    assert text == (
        "start\nconnection refused, trying again\n[… previous line ×99 more: @cmd_a1b2c3:3-101 …]\ny\ny\ny\n"
    )
    assert shaped.out_shown == shaped.out_total == 104
    assert not shaped.truncated
    assert [(s.first, s.last, s.partial) for s in shaped.segments] == [(1, 2, False), (3, 101, True), (102, 104, False)]


def test_a_line_is_taken_for_the_one_before_only_where_it_repeats_all_of_it() -> None:
    long = b"x" * (LINE_LIMIT + 9)
    rows = list(read_rows(BytesSource(b"\n\na\na\n" + long + b"\n\n" + long + b"\nb\n"), [(1, 8)], None))
    assert [(row.first, row.last, row.text[:2], row.unread > 0) for row in rows] == [
        (1, 2, "", False),
        (3, 4, "a", False),
        (5, 5, "xx", True),
        (6, 6, "", False),
        (7, 7, "xx", True),
        (8, 8, "b", False),
    ]


@given(
    st.lists(
        st.tuples(st.sampled_from((b"", b"a", b"\x1b[1ma\x1b[0m", b"a longer line")), st.integers(1, 600)), max_size=5
    ),
    st.integers(0, 300),
    st.integers(1, 60),
    st.booleans(),
)
def test_equal_lines_are_taken_at_once_as_they_would_be_one_by_one(
    groups: list[tuple[bytes, int]], room: int, fold_bytes: int, backward: bool
) -> None:
    source = BytesSource(b"".join((line + b"\n") * times for line, times in groups))

    def rows() -> Iterator[EqualLines]:
        return read_rows(source, [(1, source.line_count)], None, backward=backward)

    lines = (line for run in rows() for line in sorted(singles(run), reverse=backward))
    one_by_one = take(lines, room, fold_bytes, backward=backward)
    assert take(rows(), room, fold_bytes, backward=backward) == one_by_one


def test_success_keeps_a_fifth_of_head_and_the_tail() -> None:
    text, shaped = cut(numbered(2000, {1000: b"error: buried"}))
    head, marker, tail = re.split(r"(\[… .* …\]\n)", text)
    first = len(head.splitlines())
    assert head.startswith("line 1 of")
    assert tail.endswith("line 2000 of an output\n")
    assert 2.5 < len(tail) / len(head) < 6
    last = 2000 - len(tail.splitlines())
    assert marker == f"[… {last - first:,} lines elided: @cmd_a1b2c3:{first + 1}-{last} …]\n"
    assert "buried" not in text
    assert 900 < len(text.encode()) <= 1024
    assert shaped.truncated


def test_failure_shows_a_buried_error_with_its_context_and_the_end() -> None:
    text, shaped = cut(numbered(2000, {1000: b"main.c:3:1: error: buried"}), failed=True)
    assert "line 995 of an output\n" in text
    assert "main.c:3:1: error: buried\nline 1001 of an output\n" in text
    assert "line 1005 of an output\n" in text
    assert text.endswith("line 2000 of an output\n")
    assert "more error" not in text
    assert shaped.errors_elided == 0


def test_the_most_specific_error_comes_before_bare_words() -> None:
    special = {n: b"job %d has failed somehow" % n for n in range(10, 1000, 10)}
    text, shaped = cut(numbered(2000, {**special, 1500: b"ValueError: the cause"}), budget=600, failed=True)
    assert "ValueError: the cause" in text
    counted = re.search(r"\[… (\d+) more error lines: @cmd_a1b2c3:[\d, ]* and others …\]\n$", text)
    assert counted
    assert int(counted[1]) == shaped.errors_elided == 99 - text.count("has failed somehow")


def test_a_traceback_stays_in_one_piece() -> None:
    trace = {
        500: b"Traceback (most recent call last):",
        501: b'  File "app.py", line 3, in <module>',
        502: b"    main()",
        503: b"KeyError: 'name'",
    }
    text, _ = cut(numbered(1000, trace), budget=800, failed=True)
    assert b"\n".join(trace.values()).decode() in text


def test_the_same_error_again_gives_way_to_another() -> None:
    special = dict.fromkeys(range(100, 1900, 20), b"error: connection lost")
    text, _ = cut(numbered(2000, {**special, 1910: b"error: disk full"}), budget=900, failed=True)
    assert "disk full" in text


def test_an_enormous_line_is_cut_in_its_middle() -> None:
    line = "é".encode() * 500_000
    text, shaped = cut(line, budget=1024)
    cut_out = re.search(CLIPPED, text)
    assert cut_out
    assert text.startswith("éé")
    assert text.endswith("éé\n")
    elided = int(re.sub(r"\D", "", cut_out[0].split("bytes")[0]))
    assert elided + len(text.replace(cut_out[0], "").encode()) - 1 == 1_000_000
    assert 950 < len(text.encode()) <= 1024
    assert (shaped.out_shown, shaped.truncated) == (1, True)
    assert shaped.segments[0].partial


def test_a_line_beyond_what_is_read_of_it_tells_its_length_too() -> None:
    text, _ = cut(b"a" + "日".encode() * (LINE_LIMIT // 3 + 7) + b"zz\nlast\n", budget=400)
    cut_out = re.search(CLIPPED, text)
    assert cut_out
    assert "\ufffd" not in text
    elided = int(re.sub(r"\D", "", cut_out[0].split("bytes")[0]))
    shown_bytes = len(text.replace(cut_out[0], "").split("\n")[0].encode())
    assert elided + shown_bytes == 1 + 3 * (LINE_LIMIT // 3 + 7) + 2


def test_long_context_lines_are_clipped_and_marked() -> None:
    text, _ = cut(numbered(200, {100: b"x" * 30_000, 101: b"ValueError: here"}), budget=2048, failed=True)
    assert "ValueError: here" in text
    assert "bytes of this line elided: @cmd_a1b2c3:100 …]xx" in text


def test_small_stderr_is_given_whole_beside_a_large_output() -> None:
    text, shaped = cut(numbered(5000), b"warning: deprecated\n" * 2)
    assert text.endswith("[stderr]\nwarning: deprecated\nwarning: deprecated\n")
    assert shaped.err_shown == shaped.err_total == 2


@pytest.mark.parametrize("failed", [False, True])
def test_neither_of_two_large_streams_starves(failed: bool) -> None:
    text, shaped = cut(numbered(5000), numbered(5000), budget=2048, failed=failed)
    assert shaped.out_shown > 10
    assert shaped.err_shown > 10
    assert f"{ERR}:" in text.split("[stderr]\n")[1]
    assert f"{ERR}:" not in text.split("[stderr]\n")[0]
    assert 1800 < len(text.encode()) <= 2048


def test_errors_of_stderr_are_shown_too() -> None:
    text, _ = cut(numbered(5000), numbered(5000, {2500: b"panic: at last"}), budget=2048, failed=True)
    assert "panic: at last" in text.split("[stderr]\n")[1]


def test_a_tiny_budget_still_says_what_there_is() -> None:
    assert cut(numbered(1204), budget=0)[0] == "[… 1,204 lines elided: @cmd_a1b2c3:1-1204 …]\n"
    assert cut(numbered(1204, {7: b"error: x"}), budget=0, failed=True)[0] == (
        "[… 1,204 lines elided, 1 error line among them: @cmd_a1b2c3:1-1204 …]\n"
    )
    assert cut(b"x\n", budget=0)[0] == "x\n"


def test_without_a_budget_the_hard_limit_keeps_the_head() -> None:
    text, shaped = cut(numbered(100_000), budget=None)
    assert HARD_LIMIT_BYTES - 100 < len(text.encode()) <= HARD_LIMIT_BYTES
    assert re.search(r"\n\[… [\d,]+ lines elided: @cmd_a1b2c3:\d+-100000 …\]\n$", text)
    assert shaped.truncated


def test_no_budget_exceeds_the_limit_given() -> None:
    shaped = shape(BytesSource(numbered(9000), OUT), BytesSource(b""), budget=16384, failed=True, limit=3000)
    assert 2800 < len(join_segments(shaped.segments).encode()) <= 3000


def test_a_gap_no_longer_than_its_marker_is_filled() -> None:
    special = dict.fromkeys(range(1, 300), b"ok") | {100: b"ValueError: a", 112: b"ValueError: b"}
    text, _ = cut(numbered(300, special), budget=500, failed=True)
    assert "ValueError: a" in text
    assert "1 line elided" not in text


class Endless:
    """A gigabyte of lines that no one could hold, made as they are asked for."""

    ref = OUT
    line_count = 10_000_000
    byte_count = line_count * 100

    def __init__(self) -> None:
        self.given = 0

    def lines(self, first: int, last: int, limit: int = LINE_LIMIT) -> Iterator[Line]:
        for number in range(first, min(last, self.line_count) + 1):
            self.given += 1
            yield Line(number, b"%099d" % number, 99)

    def blocks(self, first: int = 1) -> Iterator[tuple[int, bytes]]:
        raise AssertionError("a success is not scanned")

    def read(self, offset: int, length: int) -> bytes:
        return b"\n"


def test_a_success_is_read_at_its_ends_only() -> None:
    source = Endless()
    shaped = shape(source, BytesSource(b""), budget=8192, failed=False)
    assert shaped.out_shown > 70
    assert source.given < 1000


def test_a_failure_that_is_shown_whole_is_not_looked_into() -> None:
    class Unasked(Examination):
        def failures(self, source: Source) -> Failures:
            raise AssertionError("what is shown whole is not looked into")

    out, err = BytesSource(b"error: x\n", OUT), BytesSource(b"")
    assert not shape(out, err, budget=200, failed=True, examination=Unasked(out, err)).truncated


def test_lines_that_a_display_wrote_over_are_left_out_and_told() -> None:
    frames = b"".join(b"\x1b[2A\x1b[2Kone %d\n\x1b[2Ktwo %d\n" % (number, number) for number in range(50))
    text, shaped = cut(b"begin\n\n\n" + frames + b"end\n", budget=8192)
    assert text == f"begin\n[… 100 lines rewritten in place: {OUT}:2-101 …]\none 49\ntwo 49\nend\n"
    assert (shaped.out_shown, shaped.out_total, shaped.truncated) == (4, 104, False)


def test_an_error_that_a_display_wrote_over_is_still_found() -> None:
    frames = [b"\x1b[1A\x1b[2Kframe %d\n" % number for number in range(300)]
    frames[100] = b"\x1b[1A\x1b[2Kerror: disk full\n"
    text, _ = cut(b"begin\n\n" + b"".join(frames) + b"end\n" + b"more\n" * 3, budget=300, failed=True)
    assert "error: disk full\n" in text


@given(st.integers(0, 400), st.integers(30, 400), st.booleans())
def test_no_line_is_cut_to_save_less_than_a_few_bytes(length: int, limit: int, short: bool) -> None:
    line = EqualLines(82, 82, "x" * length)
    made = clip(line, "@cmd_a1b2c3", limit, short=short)
    if made:
        assert len(made.text.encode()) <= min(limit - 1, length - 24)
        assert re.search(CLIPPED, made.text)
