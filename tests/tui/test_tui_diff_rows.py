"""The rows of a comparison: every line once, equal parts folded, every place found again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.search.diff.comparison import Comparison
from sightline.search.diff.hunks import Hunk, Hunks
from sightline_tui.diff.diff_rows import DiffRows, RowKind

GAPS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4), st.integers(0, 4)), max_size=6)


def comparison(*parts: tuple[int, int, int], equal: int = 0) -> Comparison:
    """Of (equal lines, lines removed, lines added) one after another, and more equal ones at the end."""
    hunks, left, right = Hunks(), 1, 1
    for before, removed, added in parts:
        left, right = left + before, right + before
        hunks.append(Hunk(left, removed, right, added))
        left, right = left + removed, right + added
    return Comparison(hunks, left + equal - 1, right + equal - 1)


def drawn(rows: DiffRows) -> list[str]:
    return [
        f"{row.kind.value} {row.left},{row.right}" + (f" +{row.hidden}" if row.hidden else "")
        for row in (rows[y] for y in range(len(rows)))
    ]


def test_equal_parts_are_folded_to_what_stands_beside_a_change() -> None:
    rows = DiffRows(comparison((10, 1, 1), equal=10), unified=True)
    assert drawn(rows) == [
        "fold 1,1 +7", "equal 8,8", "equal 9,9", "equal 10,10", "removed 11,0", "added 0,11",
        "equal 12,12", "equal 13,13", "equal 14,14", "fold 15,15 +7",
    ]  # fmt: skip
    rows.open(0)
    assert len(rows) == 16
    assert drawn(rows)[0] == "equal 1,1"
    rows.fold(False)
    assert [row for row in drawn(rows) if row.startswith("fold")] == []
    rows.fold(True)
    assert len(rows) == 10


def test_a_fold_is_never_as_long_as_what_it_hides() -> None:
    rows = DiffRows(comparison((4, 1, 0), (7, 0, 1), equal=4), unified=False)
    assert RowKind.FOLD not in {rows[y].kind for y in range(len(rows))}
    assert len(rows) == 4 + 1 + 7 + 1 + 4


@pytest.mark.parametrize("unified", [True, False])
def test_equal_outputs_are_one_fold(unified: bool) -> None:
    assert drawn(DiffRows(comparison(equal=5), unified=unified)) == ["fold 1,1 +5"]
    assert drawn(DiffRows(comparison(equal=1), unified=unified)) == ["equal 1,1"]
    assert drawn(DiffRows(comparison(), unified=unified)) == []


@given(parts=GAPS, equal=st.integers(0, 20), unified=st.booleans(), folds=st.booleans())
def test_every_line_has_its_row(parts: list[tuple[int, int, int]], equal: int, unified: bool, folds: bool) -> None:
    found = comparison(*parts, equal=equal)
    rows = DiffRows(found, unified=unified)
    rows.fold(folds)
    left, right = 1, 1
    for y in range(len(rows)):
        row = rows[y]
        if row.kind in (RowKind.EQUAL, RowKind.FOLD):
            assert (row.left, row.right) == (left, right)
            assert rows.row_of_line(left, right=False) == rows.row_of_line(right, right=True) == y
            left, right = left + max(row.hidden, 1), right + max(row.hidden, 1)
        elif row.kind is RowKind.CHANGE:
            hunk = rows.hunk(row.part)
            left, right = left + (row.at < hunk.left_count), right + (row.at < hunk.right_count)
        else:
            assert rows.row_of_line(row.left or row.right, right=not row.left) == y
            left, right = left + bool(row.left), right + bool(row.right)
    assert (left, right) == (found.left_lines + 1, found.right_lines + 1)
    with pytest.raises(IndexError):
        rows[len(rows)]


@given(parts=GAPS, equal=st.integers(0, 20), unified=st.booleans())
def test_hunks_are_found_from_any_row(parts: list[tuple[int, int, int]], equal: int, unified: bool) -> None:
    rows = DiffRows(comparison(*parts, equal=equal), unified=unified)
    starts = [rows.row_of_hunk(part) for part in range(rows.hunk_count)]
    for y in range(len(rows)):
        below, above = rows.next_hunk(y), rows.previous_hunk(y)
        assert (starts[below] if below is not None else None) == min((at for at in starts if at > y), default=None)
        assert (starts[above] if above is not None else None) == max((at for at in starts if at < y), default=None)


def test_what_grew_after_it_was_compared_is_left_out() -> None:
    hunks = Hunks()
    hunks.append(Hunk(2, 1, 2, 1))
    rows = DiffRows(Comparison(hunks, 3, 90), unified=True)
    assert drawn(rows)[-1] == "equal 3,3"
