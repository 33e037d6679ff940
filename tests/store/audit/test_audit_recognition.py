"""Lines are recognised in what a pipeline made of them: by what they read, in order, each of them once."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline.audit import quoted_lines as matching
from sightline.audit.line_spans import Spans, size
from sightline.audit.quoted_lines import How, has_long_lines, how_made, match_lines, match_parts
from sightline.search import line_search as lines
from sightline.search.line_search import find_lines
from sightline.search.processes import Group
from sightline.search.sandbox import describe
from sightline.shape.memory_stream import BytesSource
from sightline.shape.source import BLOCK_BYTES, CutLine

ROWS = ["alpha one", "beta two", "", "gamma three", "beta two", "delta four"]
SOURCE = BytesSource("".join(f"{row}\n" for row in ROWS).encode(), "@cmd_a1b2c3")
ALL: Spans = ((1, len(ROWS)),)


def _match(text: str, how: How | None = None, among: Spans = ALL) -> Spans:
    return match_lines(text.split("\n"), SOURCE, among, how or How())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("beta two\ngamma three", ((2, 2), (4, 4))),
        ("beta two\n\ngamma three", ((2, 4),)),
        ("2:beta two\n4-gamma three", ((2, 2), (4, 4))),
        ("     1\talpha one", ((1, 1),)),
        ("      2 beta two", ((2, 2),)),
        ("@cmd_a1b2c3:alpha one\n@cmd_ffffff:beta two", ((1, 1),)),
        ("@cmd_a1b2c3:4:gamma three", ((4, 4),)),
        ("[output_id=@cmd_a1b2c3]\nalpha one", ((1, 1),)),
        ("gamma three\nalpha one\nbeta two", ((1, 2),)),
        ("1\talpha one\n2\tbeta two\n3\t\n4\tgamma three", ((1, 4),)),
        ("2→beta two\n3→", ((2, 3),)),
        ("3→\n4→gamma three", ((3, 4),)),
        ("2→beta two\n7→", ((2, 2),)),
        ("6→delta four\n7→", ((6, 6),)),
        ("alpha\nbeta", ()),
        ("", ()),
    ],
)
def test_lines_are_found_by_what_they_read(text: str, found: Spans) -> None:
    assert _match(text) == found


def test_of_two_that_read_the_same_the_order_tells_which() -> None:
    assert _match("gamma three\nbeta two") == ((4, 5),)
    assert _match("beta two\ndelta four", How(from_end=True)) == ((5, 6),)


def test_a_sorted_text_is_matched_line_by_line() -> None:
    assert _match("alpha one\nbeta two\nbeta two\ndelta four", How(ordered=False)) == ((1, 2), (5, 6))


@pytest.mark.parametrize("how", [How(), How(from_end=True), How(ordered=False)])
def test_what_stands_before_a_line_is_its_own_where_it_occurs_so(how: How) -> None:
    rows = ["GET /", "1 GET /", "GET /", "2 GET /", "GET /"]
    source = BytesSource("".join(f"{row}\n" for row in rows).encode(), "@cmd_a1b2c3")
    asked = list[frozenset[bytes]]()

    def find(sought: frozenset[bytes]) -> list[tuple[int, bytes]]:
        asked.append(sought)
        return [(number, row.encode()) for number, row in enumerate(rows, start=1) if row.encode() in sought]

    for one in (None, find):
        assert match_lines(["1 GET /", "2 GET /"], source, ((1, 5),), how, one) == ((2, 2), (4, 4))
    assert asked == [{b"1 GET /", b"2 GET /"}]


def test_a_diff_has_a_mark_before_each_line() -> None:
    assert _match("--- a\n alpha one\n-beta two\n+new", How(marked=True)) == ((1, 2),)


def test_only_lines_that_went_in_are_looked_at() -> None:
    assert _match("alpha one\nbeta two", among=((2, 4),)) == ((2, 2),)


def test_a_count_holds_no_line() -> None:
    assert match_lines(["6 @cmd_a1b2c3"], BytesSource(b"6 @cmd_a1b2c3\n"), ((1, 1),), how_made("wc -l @x")) == ()


def test_coloured_and_rewritten_lines_are_matched_by_what_is_shown_of_them() -> None:
    source = BytesSource(b"\x1b[31mred\x1b[0m\n10 %\r100 %\nplain\r\n")
    assert match_lines(["red", "100 %", "plain"], source, ((1, 3),), How()) == ((1, 3),)


@pytest.mark.parametrize(
    ("command", "how"),
    [
        ("grep x @last", How()),
        ("wc -l @last", How(lines=False)),
        ("grep -c x @last", How(lines=False)),
        ("grep -nic x @last", How(lines=False)),
        ("grep 'wc | sort' @last", How()),
        ("grep x @last | sort | uniq -c", How(ordered=False)),
        ("cat @last | tail -5", How(from_end=True)),
        ("diff -u @a @b", How(marked=True)),
        ("an 'unended quote", How()),
        ("", How()),
    ],
)
def test_what_programs_do_to_lines_is_known(command: str, how: How) -> None:
    assert how_made(command) == how


WORDS = st.lists(st.sampled_from(["a", "bb", "ccc", "", "dd d"]), max_size=30)


@given(WORDS, st.lists(st.booleans(), max_size=30))
def test_lines_that_a_filter_let_through_are_found_again(rows: list[str], kept: list[bool]) -> None:
    """As many as came through, and each where its text stands."""
    source = BytesSource("".join(f"{row}\n" for row in rows).encode())
    text = [row for row, keep in zip(rows, kept, strict=False) if keep]
    found = match_lines(text, source, ((1, len(rows)),) if rows else (), How())
    words = [row for row in text if row]
    lines = [rows[line - 1] for first, last in found for line in range(first, last + 1)]
    assert [line for line in lines if line] == words
    assert size(found) <= len(text)


@pytest.mark.parametrize("how", [How(), How(ordered=False), How(from_end=True)])
def test_grep_finds_what_reading_does(tmp_path: Path, how: How) -> None:
    path = tmp_path / "out"
    path.write_bytes("".join(f"{row}\n" for row in ROWS).encode())
    text = ["4:gamma three", "beta two", "", "alpha one", "nothing such"]
    assert match_lines(text, SOURCE, ALL, how, partial(find_lines, str(path))) == match_lines(text, SOURCE, ALL, how)


@pytest.fixture(params=["rg", "grep"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "grep":
        monkeypatch.setattr(lines, "ripgrep", lambda: "")
    return str(request.param)


@pytest.mark.usefixtures("engine")
def test_only_whole_lines_are_found_whatever_they_are_made_of(tmp_path: Path) -> None:
    rows = [b"a", b"ab", b"  ", b"b a", b"", b"a", b"\xffa", b"a\r", b"\xc3\xa9", b"x" * 70_000, b"a\0b", b"[a]", b"ab"]
    path = tmp_path / "out"
    path.write_bytes(b"\n".join(rows))
    for sought in ([b"a"], [b"ab", b"b"], [b"\xffa", b"a"], [b"\xc3\xa9"], [b"[a]", b"x" * 70_000], [b"zz"]):
        wanted = [(number, row) for number, row in enumerate(rows, 1) if row in sought]
        assert find_lines(str(path), frozenset(sought)) == wanted


def test_a_text_that_stands_within_nearly_every_line_is_still_found_as_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MOST_FOUND", 50)
    path = tmp_path / "out"
    path.write_bytes(b"a line\n" * 100 + b"a\n")
    assert find_lines(str(path), frozenset([b"a"])) == [(101, b"a")]


def test_grep_that_cannot_read_finds_nothing(tmp_path: Path) -> None:
    assert find_lines(str(tmp_path / "none"), frozenset([b"x"])) == []


def test_neither_path_nor_settings_choose_what_looks_for_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    tricks = tmp_path / "bin"
    tricks.mkdir()
    for name in ("rg", "grep"):
        (tricks / name).write_text("#!/bin/sh\necho 1:a\n")
        (tricks / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tricks))
    monkeypatch.setenv("GREP_OPTIONS", "-v")
    path = tmp_path / "out"
    path.write_bytes(b"b\na\n")
    assert find_lines(str(path), frozenset([b"a"])) == [(2, b"a")]


def test_what_looks_for_lines_is_held_as_queries_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"a\n")
    held: list[tuple[object, ...]] = []

    class Watched(Group):
        def __init__(self, programs: Any, **how: Any) -> None:
            held.append((how["backing"], how["reads"]))
            super().__init__(programs, **how)

    monkeypatch.setattr("sightline.search.engine.Group", Watched)
    assert find_lines(str(path), frozenset([b"a"])) == [(1, b"a")]
    assert held == [(describe(), (str(path),))]


def test_scattered_lines_of_a_large_stream_are_read_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "SCANNED_BYTES", 0)
    assert _match("alpha one\nbeta two\ndelta four", among=((1, 1), (5, 6))) == ((1, 1), (5, 6))


LONG = [f"{number} " + " ".join(str(number * at) for at in range(40, 90)) for number in range(1, 30)]


@given(
    st.integers(0, 1_500),
    st.integers(0, 1_500),
    st.sampled_from(["\n... [1,234 characters truncated] ...\n", "…12 tokens…"]),
)
def test_a_line_that_a_harness_cut_is_known_by_its_ends_next_to_whole_ones(head: int, tail: int, marker: str) -> None:
    written = "".join(f"{row}\n" for row in LONG)
    source = BytesSource(written.encode())
    text = written[:head] + marker + written[len(written) - tail :]
    found = match_parts(text.split("\n"), source, How())
    told = size(found.lines) + len(found.cuts)
    starts = [line.data.decode() for line in source.lines(1, len(LONG))]
    for cut in found.cuts:
        for first, last in cut.seen:
            assert starts[cut.line - 1][first - 1 : last] in text
            assert last - first + 1 >= 24
    for first, last in found.lines:
        assert all(starts[at - 1] in text for at in range(first, last + 1))
    whole = sum(row + "\n" in written[:head] or row + "\n" in written[len(written) - tail :] for row in LONG)
    assert whole <= told <= whole + 2


NUMBERED = st.lists(st.sampled_from(["7:", "8:", "8", "", " ", "x", "7:x", "8→x", "9→", "9\ty"]), max_size=9)


@given(rows=NUMBERED, text=NUMBERED, straight=st.booleans())
@example(rows=["7:", "8:", "x"], text=["7:", "8:", "x"], straight=True)
def test_a_line_that_is_only_a_number_is_found_where_it_stands(
    rows: list[str], text: list[str], *, straight: bool
) -> None:
    found = match_parts(text, BytesSource("".join(f"{row}\n" for row in rows).encode()), How(straight=straight))
    for first, last in found.lines:
        assert all(not row.strip() or any(line.endswith(row) for line in text) for row in rows[first - 1 : last])
    if rows == text and rows and all(row.strip() for row in rows):
        assert size(found.lines) == len(rows)


@given(
    period=st.integers(100, 3_000),
    head=st.integers(200, 2_000),
    tail=st.integers(200, 2_000),
    end=st.integers(6_000, 20_000),
)
@example(period=10_000, head=5_000, tail=5_000, end=30_000)
def test_fragments_beside_a_cut_are_found_beside_their_neighbours(period: int, head: int, tail: int, end: int) -> None:
    """A counter that begins anew lets each fragment stand elsewhere as a whole line."""
    written = "".join(f"{number % period}\n" for number in range(40_000))
    source = BytesSource(written.encode())
    text = f"{written[:head]}\n\n... [123 characters truncated] ...\n\n{written[end - tail : end]}"
    found = match_parts(text.split("\n"), source, How(straight=True))
    seen = size(found.lines) + len(found.cuts)
    shown = written[:head].count("\n") + written[end - tail : end].count("\n") + 2
    assert shown - 3 <= seen <= shown
    assert all(first == 1 or last - first > 20 for first, last in found.lines)


def test_a_fragment_is_no_line_of_another_place() -> None:
    written = "".join(f"{number % 10_000 + 1}\n" for number in range(40_000))
    text = f"{written[:5_000]}\n\n... [20000 characters truncated] ...\n\n{written[25_000:30_000]}"
    found = match_parts(text.split("\n"), BytesSource(written.encode()), How(straight=True))
    assert found.lines == ((1, 1_221), (5_223, 6_221))
    assert [(cut.line, cut.seen) for cut in found.cuts] == [(1_222, ((1, 2),)), (5_222, ((3, 4),)), (6_222, ((1, 2),))]


def test_lines_that_only_begin_alike_elsewhere_are_not_taken_for_each_other() -> None:
    rows = [f"2026-11-22 19:33:04 UTC INFO worker {number} said something" for number in range(20)]
    source = BytesSource("".join(f"{row}\n" for row in rows).encode())
    found = match_parts([rows[0], "---", rows[7][:50]], source, How())
    assert found == (((1, 1),), ())


def test_one_very_long_line_is_seen_as_far_as_its_beginning_and_its_end_were_shown() -> None:
    data = b" ".join(b"%d" % number for number in range(90_000))
    source = BytesSource(data)
    text = f"Output:\n{data[:9_000].decode()}…123 characters truncated…{data[-700:].decode()}\n\n[exit code: 0]"
    [cut] = match_parts(text.split("\n"), source, How()).cuts
    assert cut == CutLine(1, len(data), ((1, 9_000), (len(data) - 699, len(data))))


def test_the_beginning_of_a_line_is_no_line() -> None:
    data = b"x" * (BLOCK_BYTES + 5)
    for known in (BLOCK_BYTES, BLOCK_BYTES + 4):
        assert match_lines([data[:known].decode()], BytesSource(data + b"\n"), ((1, 1),), How()) == ()
    assert match_lines([data.decode()], BytesSource(data + b"\n"), ((1, 1),), How()) == ((1, 1),)


def test_a_file_whose_long_lines_were_cut_did_not_stand_there_whole() -> None:
    content = b"short\n" + b"long " * 900
    assert has_long_lines(content, f"     1\tshort\n     2\t{'long ' * 900}")
    assert not has_long_lines(content, f"     1\tshort\n     2\t{'long ' * 400}... (line truncated to 2000 chars)")
