"""Other rules of cleaning: what a profile may have instead of the terminal's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.clean import CLEAN_VERSION, clean_line, clean_text
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import render_lines
from sightline.shape.source import LINE_LIMIT
from sightline.shape.variants import (
    VERSION,
    cleaned,
    cleaned_line,
    cleaning_of,
    last_segment,
    text_of,
    version_of,
)

RAW = st.lists(
    st.sampled_from([b"a", b"\r", b"\x1b[31m", b"\x1b", b"[", b"\x1b]0;t\x07", b"\x08", "é".encode(), b"\xff", b" "])
).map(b"".join)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"10%\r50%\r100%", "100%"),
        (b"10%\r100%\r", "100%"),
        (b"over\r", "over"),
        (b"tab\tstays\x07", "tab\tstays"),
        (b"\xff", "\ufffd"),
    ],
)
def test_last_segment_is_what_follows_the_last_return(raw: bytes, text: str) -> None:
    assert last_segment(raw) == text


@given(RAW)
def test_what_is_cleaned_by_another_rule_is_not_changed_by_the_terminals(raw: bytes) -> None:
    assert clean_line(last_segment(raw).encode()) == last_segment(raw)


@given(st.lists(RAW, min_size=1), st.sampled_from(["terminal", "last-segment"]))
def test_lines_and_text_and_what_is_rendered_again_are_the_same(lines: list[bytes], cleaning: str) -> None:
    data = b"\n".join(lines) + b"\n"
    source = cleaned(BytesSource(data, "@cmd_a1b2c3"), cleaning)
    assert render_lines(source, 1, source.line_count) == text_of(data, cleaning)
    raw = BytesSource(data).lines(1, len(lines))
    assert [clean_line(cleaned_line(line, cleaning).data) + "\n" for line in raw] == text_of(data, cleaning).splitlines(
        keepends=True
    )


def test_a_line_that_is_long_only_for_what_was_overwritten_is_whole() -> None:
    data = b"".join(b"%d%%\r" % share for share in range(50_000)) + b"done"
    (line,) = cleaned(BytesSource(data), "last-segment").lines(1, 1)
    assert line.whole
    assert line.data == b"done"


def test_a_line_that_is_too_long_even_cleaned_gives_its_ends() -> None:
    data = b"gone\r" + b"a" * LINE_LIMIT + b"b" * LINE_LIMIT
    (line,) = cleaned(BytesSource(data), "last-segment").lines(1, 1)
    assert (line.whole, line.length) == (False, 2 * LINE_LIMIT)
    assert line.data == b"a" * (LINE_LIMIT // 2) + b"b" * (LINE_LIMIT // 2)


def test_a_line_too_long_to_be_read_whole_gives_ends_of_one_length() -> None:
    data = b"\x1b[31m" + b"a" * (9 << 20) + b"b"
    (line,) = cleaned(BytesSource(data), "last-segment").lines(1, 1)
    half = len(line.data) // 2
    assert (line.whole, line.length) == (False, len(data))
    assert set(line.data[:half]) == {ord("a")}
    assert line.data.endswith(b"ab")


def test_csi_removes_csi_sequences_and_leaves_all_else() -> None:
    assert text_of(b"\x1b[38;5;196mred\x1b[0m\n\x1b=x\ry\xff", "csi") == "red\n\x1b=x\ry\ufffd"


def test_the_log_names_the_rule_and_its_version() -> None:
    assert version_of("terminal") == CLEAN_VERSION
    assert version_of("last-segment") == f"last-segment/{VERSION}"
    assert [cleaning_of(version_of(name)) for name in ("terminal", "last-segment")] == ["terminal", "last-segment"]
    assert text_of(b"a\rb", "terminal") == clean_text(b"a\rb")
