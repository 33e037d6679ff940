"""Sets of lines: whatever is done to their spans is what would be done to the lines."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sightline.audit.line_spans import Spans, common, holds, minus, size, spans_of, union, written

PAIRS = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), max_size=12)
SETS = PAIRS.map(spans_of)


def _lines(spans: Spans) -> set[int]:
    return {line for first, last in spans for line in range(first, last + 1)}


@given(PAIRS)
def test_spans_hold_the_lines_of_their_ranges_and_neither_overlap_nor_touch(pairs: list[tuple[int, int]]) -> None:
    spans = spans_of(pairs)
    assert _lines(spans) == {line for first, last in pairs for line in range(first, last + 1)}
    assert all(before[1] + 1 < after[0] for before, after in pairwise(spans))


@given(SETS, SETS, SETS)
def test_union_common_and_minus_are_those_of_sets(a: Spans, b: Spans, c: Spans) -> None:
    assert union(a, b, c) == spans_of([*a, *b, *c])
    assert _lines(common(a, b)) == _lines(a) & _lines(b)
    assert _lines(minus(a, b)) == _lines(a) - _lines(b)
    assert all(first <= last for first, last in (*common(a, b), *minus(a, b)))


@given(SETS, st.integers(0, 61))
def test_size_and_membership_are_those_of_the_lines(spans: Spans, line: int) -> None:
    assert size(spans) == len(_lines(spans))
    assert holds(spans, line) == (line in _lines(spans))


def test_spans_are_written_as_refs_have_them() -> None:
    assert written(((1, 40), (97, 97))) == ["1-40", "97"]
