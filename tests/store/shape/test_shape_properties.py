"""What holds of every body, whatever the output and the budget."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.clean import clean_text
from sightline.shape.cut import shape
from sightline.shape.failure.judge import Judge
from sightline.shape.markers import CLIPPED, MARKER
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import Segment, Shaped, join_segments, render_lines, shown_ranges
from tests.examples import examples

OUT, ERR = "@cmd_a1b2c3", "@cmd_a1b2c3.err"

LINES = st.one_of(
    st.sampled_from(
        [
            b"",
            b"ok",
            b"compiling module seventeen of the large project",
            b"error: something broke",
            b"ValueError: bad",
            b"\x1b[31mFAILED\x1b[0m tests/test_a.py::test_b",
            b"10%\r20%\rdone",
            b"main.c:12:5: error: expected ';'\r",
            "日本語のテキスト é 🚀".encode(),
            b"x" * 300,
            b"y" * 900 + "é".encode() * 500,
            b"error " + b"z" * 2500,
            b"\xff\xfe",
        ]
    ),
    st.integers(0, 999).map(lambda number: b"line number %d" % number),
    st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")),
)
RUNS = st.lists(st.tuples(LINES, st.sampled_from([1, 1, 1, 2, 5, 60])), max_size=25)


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    data = b"".join((line + b"\n") * (count if len(line) < 100 else 1) for line, count in draw(RUNS))
    return data if draw(st.booleans()) else data[:-1]


unhurried = settings(deadline=None)  # a busy machine is no defect

BUDGETS = st.one_of(st.integers(0, 400), st.integers(400, 4000), st.integers(4000, 70_000), st.none())


def body_of(shaped: Shaped) -> str:
    return join_segments(shaped.segments)


def elided(segments: tuple[Segment, ...], ref: str) -> list[tuple[int, int]]:
    pattern = re.compile(rf"\[… [\d,]+ lines? elided(?:, .*)?: {re.escape(ref)}:(\d+)(?:-(\d+))? …\]\n")
    found = (pattern.fullmatch(segment.text) for segment in segments if not segment.ref)
    return [(int(match[1]), int(match[2] or match[1])) for match in found if match]


def shown(segments: tuple[Segment, ...], ref: str) -> list[tuple[int, int]]:
    return [(first, last) for name, first, last in shown_ranges(segments) if name == ref]


def smallest(out: bytes, err: bytes, failed: bool) -> int:
    return len(body_of(shape(BytesSource(out, OUT), BytesSource(err, ERR), budget=0, failed=failed)).encode())


@unhurried
@example(b"error " + b"z" * 2500, b"line number 0\n" * 4, 119, True)  # all of err would leave out less than its marker
@given(streams(), streams(), BUDGETS, st.booleans())
def test_a_body_keeps_to_its_budget(out: bytes, err: bytes, budget: int | None, failed: bool) -> None:
    shaped = shape(BytesSource(out, OUT), BytesSource(err, ERR), budget=budget, failed=failed)
    limit = HARD_LIMIT_BYTES if budget is None else min(budget, HARD_LIMIT_BYTES)
    assert len(body_of(shaped).encode()) <= max(limit, smallest(out, err, failed))


@unhurried
@given(streams(), streams())
def test_the_smallest_body_is_little_more_than_its_markers(out: bytes, err: bytes) -> None:
    assert (
        smallest(out, err, True)
        <= 2 * len("[… 1,000 lines elided, 1,000 error lines among them: @cmd_a1b2c3.err:1-1000 …]") + 40
    )


@unhurried
@given(streams(), streams(), BUDGETS, st.booleans())
def test_every_line_of_a_body_is_the_sources_or_a_marker(
    out: bytes, err: bytes, budget: int | None, failed: bool
) -> None:
    shaped = shape(BytesSource(out, OUT), BytesSource(err, ERR), budget=budget, failed=failed)
    known = {"", *clean_text(out).split("\n"), *clean_text(err).split("\n")}
    for line in body_of(shaped).split("\n"):
        cut = re.search(CLIPPED, line)
        assert line in known or re.fullmatch(MARKER, line) or cut
        if cut and line not in known:
            head, tail = line[: cut.start()], line[cut.end() :]
            assert any(text.startswith(head) and text.endswith(tail) for text in known)


@unhurried
@given(streams(), streams(), BUDGETS, st.booleans())
def test_shown_and_elided_lines_make_up_the_whole(out: bytes, err: bytes, budget: int | None, failed: bool) -> None:
    sources = BytesSource(out, OUT), BytesSource(err, ERR)
    shaped = shape(*sources, budget=budget, failed=failed)
    counts = (shaped.out_shown, shaped.out_total), (shaped.err_shown, shaped.err_total)
    for source, (shown_count, total) in zip(sources, counts, strict=True):
        ranges = shown(shaped.segments, source.ref)
        assert sum(last - first + 1 for first, last in ranges) == shown_count
        assert total == source.line_count
        expected = 1
        for first, last in sorted(ranges + elided(shaped.segments, source.ref)):
            assert first == expected
            expected = last + 1
        assert expected == total + 1


@unhurried
@given(streams(), streams(), BUDGETS)
def test_every_error_line_is_shown_or_counted(out: bytes, err: bytes, budget: int | None) -> None:
    shaped = shape(BytesSource(out, OUT), BytesSource(err, ERR), budget=budget, failed=True)
    hidden = 0
    for data, ref in ((out, OUT), (err, ERR)):
        spans = shown(shaped.segments, ref)
        errors = [n for n, line in enumerate(data.split(b"\n"), 1) if Judge().verdict(line)]
        missing = [n for n in errors if not any(first <= n <= last for first, last in spans)]
        hidden += len(missing)
        listed = re.search(
            rf"\[… [\d,]+ more error lines?: {re.escape(ref)}:([\d, -]+?)( and others)? …\]", body_of(shaped)
        )
        if listed:
            numbers = [n for part in listed[1].split(", ") for n in numbered(part)]
            assert numbers == missing[: len(numbers)]
            assert bool(listed[2]) == (len(numbers) < len(missing))
    counted = re.findall(
        r"\[… (?:[\d,]+ lines? elided, )?([\d,]+) (?:more error lines?|error lines? among them)\b", body_of(shaped)
    )
    assert sum(int(count.replace(",", "")) for count in counted) == hidden == shaped.errors_elided


def numbered(part: str) -> range:
    first, _, last = part.partition("-")
    return range(int(first), int(last or first) + 1)


@unhurried
@given(streams(), streams(), BUDGETS, st.booleans())
def test_the_same_bytes_make_the_same_body(out: bytes, err: bytes, budget: int | None, failed: bool) -> None:
    one = shape(BytesSource(out, OUT), BytesSource(err, ERR), budget=budget, failed=failed)
    assert one == shape(BytesSource(out, OUT), BytesSource(err, ERR), budget=budget, failed=failed)


@unhurried
@given(streams(), streams(), BUDGETS, st.booleans())
def test_shown_ranges_render_again_byte_for_byte(out: bytes, err: bytes, budget: int | None, failed: bool) -> None:
    sources = {OUT: BytesSource(out, OUT), ERR: BytesSource(err, ERR)}
    shaped = shape(sources[OUT], sources[ERR], budget=budget, failed=failed)
    for segment in shaped.segments:
        if segment.ref and not segment.partial:
            assert render_lines(sources[segment.ref], segment.first, segment.last) == segment.text


@unhurried
@given(streams(), BUDGETS, st.booleans())
def test_without_a_ref_nothing_refers_to_one(out: bytes, budget: int | None, failed: bool) -> None:
    shaped = shape(BytesSource(out), BytesSource(b""), budget=budget, failed=failed)
    assert all(not segment.ref and not segment.first for segment in shaped.segments)
    known = {"", *clean_text(out).split("\n")}
    for line in body_of(shaped).split("\n"):
        assert line in known or re.fullmatch(MARKER, line) or re.search(CLIPPED, line)


@unhurried
@given(streams(), streams(), st.booleans())
def test_what_fits_is_given_whole(out: bytes, err: bytes, failed: bool) -> None:
    whole = clean_text(out) + ("\n" if err and out and not out.endswith(b"\n") else "")
    whole += f"[stderr]\n{clean_text(err)}" if err else ""
    if len(whole.encode()) <= HARD_LIMIT_BYTES:
        shaped = shape(BytesSource(out, OUT), BytesSource(err, ERR), budget=len(whole.encode()), failed=failed)
        assert not shaped.truncated
        assert (shaped.out_shown, shaped.err_shown) == (shaped.out_total, shaped.err_total)
        if "previous line ×" not in body_of(shaped):
            assert body_of(shaped) == whole


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 70_000), st.integers(1, 70_000), st.booleans())
@pytest.mark.parametrize("pattern", [b"error: %d\n", b"%d\n", b"\n", b"z%d", b"ok %d\nValueError: same\n"])
def test_long_streams_keep_to_their_budget(pattern: bytes, budget: int, lines: int, failed: bool) -> None:
    lines = lines // 20
    out = b"".join(pattern % n if b"%" in pattern else pattern for n in range(lines))
    shaped = shape(BytesSource(out, OUT), BytesSource(out, ERR), budget=budget, failed=failed)
    assert len(body_of(shaped).encode()) <= max(min(budget, HARD_LIMIT_BYTES), smallest(out, out, failed))
    assert shaped.truncated == bool(
        elided(shaped.segments, OUT) + elided(shaped.segments, ERR) or re.search(CLIPPED, body_of(shaped))
    )
