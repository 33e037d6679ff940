"""Long lines on several rows: where rows begin, and walking over them without knowing how many there are."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from sightline_tui.common.window import RowPlace, ShownLines, Walk, Window, fold, folds

TEXTS = st.text(st.sampled_from("ab 日本é😀\u0301"), max_size=60)
HEIGHTS = st.lists(st.integers(1, 9), min_size=1, max_size=30)


@given(TEXTS, st.integers(2, 20), st.integers(1, 30))
def test_rows_hold_the_whole_text_and_cut_no_character(text: str, width: int, cut: int) -> None:
    strip = Strip([Segment(text[:cut]), Segment(text[cut:])])
    rows = [fold(strip, width, row) for row in range(len(folds(strip, width)))]
    assert "".join(row.text for row in rows) == text
    assert all(cell_len(row.text) <= width for row in rows)
    assert all(cell_len(row.text) >= width - 1 for row in rows[:-1])
    assert fold(strip, width, len(rows)).text == ""


def every_place(heights: list[int]) -> list[RowPlace]:
    return [RowPlace(line, row) for line, height in enumerate(heights, 1) for row in range(height)]


@given(HEIGHTS, st.integers(0, 300), st.integers(-400, 400))
def test_walking_stays_on_the_rows_there_are(heights: list[int], start: int, rows: int) -> None:
    places = every_place(heights)
    start = min(start, len(places) - 1)
    walk = Walk(len(heights), lambda line: heights[line - 1])
    assert walk.on(places[start], rows) == places[max(0, min(start + rows, len(places) - 1))]


@given(
    HEIGHTS, st.integers(1, 40), st.lists(st.tuples(st.sampled_from(["by", "show", "in", "end"]), st.integers(-90, 90)))
)
def test_a_window_is_always_full(heights: list[int], rows: int, moves: list[tuple[str, int]]) -> None:
    places = every_place(heights)
    window = Window(lambda line: heights[line - 1])
    window.count, window.rows, window.wraps = len(heights), rows, True
    for move, by in moves:
        line = max(1, min(abs(by), len(heights)))
        if move == "by":
            window.move_by(by)
        elif move == "show":
            window.show(RowPlace(line), rows // 3)
        elif move == "in":
            window.bring_in(line)
            assert RowPlace(line) in window.places()
        else:
            window.move_to(window.end)
            assert window.at_end
        shown = window.places()
        at = places.index(window.top)
        assert shown == places[at : at + rows]
        assert len(shown) == min(rows, len(places))


@given(st.integers(1, 10**9), st.integers(1, 60), st.integers(-(10**12), 10**12))
def test_lines_of_one_row_are_counted_and_not_walked(count: int, rows: int, by: int) -> None:
    window = Window(lambda line: 1 // 0)
    window.count, window.rows = count, rows
    window.move_by(by)
    assert 1 <= window.top.line <= max(count - rows + 1, 1)


@given(
    HEIGHTS,
    st.sets(st.integers(1, 30)),
    st.booleans(),
    st.integers(1, 12),
    st.lists(st.tuples(st.sampled_from(["by", "show", "in", "end", "to"]), st.integers(-90, 90))),
)
def test_a_window_skips_what_is_hidden(
    heights: list[int], chosen: set[int], wraps: bool, rows: int, moves: list[tuple[str, int]]
) -> None:
    heights = heights if wraps else [1] * len(heights)
    lines = sorted(line for line in chosen if line <= len(heights))
    places = [place for place in every_place(heights) if place.line in lines]
    window = Window(lambda line: heights[line - 1])
    window.count, window.rows, window.wraps = len(heights), rows, wraps
    window.only = ShownLines([(line, line) for line in lines])
    window.move_to(RowPlace(1))
    for move, by in moves:
        line = max(1, min(abs(by), len(heights)))
        if move == "by":
            window.move_by(by)
        elif move == "show":
            window.show(RowPlace(line), rows // 3)
        elif move == "to":
            window.move_to(RowPlace(line))
        elif move == "in":
            window.bring_in(line)
            assert line not in lines or RowPlace(line) in window.places()
        else:
            window.move_to(window.end)
            assert window.at_end
        shown = window.places()
        assert len(shown) == min(rows, len(places))
        at = places.index(window.top) if places else 0
        assert shown == places[at : at + rows]
        if lines:
            assert window.further(line, 0) == next((one for one in lines if one >= line), lines[-1])
