"""Coverage as a pure function: the union of what views show, in the best grade that each line has."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.audit.coverage import Coverage, contribution, cover, percent, told_share
from sightline.audit.line_spans import Spans, spans_of
from sightline.base.records import Shown, View

TOTAL = 50
RANGES = st.lists(
    st.tuples(st.integers(1, TOTAL), st.integers(1, TOTAL)).map(lambda pair: (min(pair), max(pair))), max_size=6
)


def _view(
    number: int, shown: list[tuple[int, int]], asked: list[tuple[int, int]] | None = None, session: str = "s"
) -> View:
    def ranges(pairs: list[tuple[int, int]]) -> tuple[Shown, ...]:
        return tuple(Shown("cmd_a1b2c3", "out", first, last) for first, last in pairs)

    request = '{"ref": "@cmd_a1b2c3"}'
    return View(
        f"{session}:{number}", session, number, float(number), "read_output", request, ("cmd_a1b2c3",), ranges(shown),
        0, TOTAL, 0, 0, None, False, "", ranges(asked or []),
    )  # fmt: skip


def _cover(*views: View, total: int = TOTAL) -> Coverage:
    return cover("cmd_a1b2c3", {"out": total}, [contribution(view, "cmd_a1b2c3") for view in views])


@given(st.lists(RANGES, max_size=8))
def test_coverage_of_any_sequence_of_ranges_is_their_union(sequence: list[list[tuple[int, int]]]) -> None:
    made = _cover(*(_view(number, pairs) for number, pairs in enumerate(sequence)))
    assert made.streams["out"].seen == spans_of(pair for pairs in sequence for pair in pairs)
    assert made.streams["out"].lines.exact == made.streams["out"].seen


@given(RANGES, RANGES, RANGES)
def test_each_line_is_in_one_grade_or_unseen(
    exact: list[tuple[int, int]], matched: list[tuple[int, int]], asked: list[tuple[int, int]]
) -> None:
    part = contribution(_view(1, exact, asked), "cmd_a1b2c3", {"out": spans_of(matched)})
    stream = cover("cmd_a1b2c3", {"out": TOTAL}, [part]).streams["out"]
    best = {line: 3 for first, last in asked for line in range(first, last + 1)}
    best |= {line: 2 for first, last in matched for line in range(first, last + 1)}
    best |= {line: 1 for first, last in exact for line in range(first, last + 1)}

    def of(grade: int) -> Spans:
        return spans_of((line, line) for line, found in best.items() if found == grade)

    assert (*stream.lines.by_grade(),) == (("exact", of(1)), ("matched", of(2)), ("asked", of(3)))
    assert stream.unseen == spans_of((line, line) for line in range(1, TOTAL + 1) if best.get(line, 3) == 3)


def test_a_view_that_shows_the_whole_buffer_covers_it() -> None:
    made = _cover(_view(1, [(1, TOTAL)]))
    assert made.share == 1.0
    assert made.streams["out"].unseen == ()


def test_a_buffer_that_grows_is_no_longer_covered() -> None:
    assert _cover(_view(1, [(1, TOTAL)]), total=2 * TOTAL).share == 0.5


def test_lines_that_are_not_there_are_not_covered() -> None:
    assert _cover(_view(1, [(1, TOTAL)]), total=10).streams["out"].seen == ((1, 10),)


def test_coverage_is_told_by_session() -> None:
    made = _cover(_view(1, [(1, 10)]), _view(2, [(5, 20)], session="other"))
    assert made.sessions == ("s", "other")
    assert made.of_session("other").streams["out"].seen == ((5, 20),)
    assert made.seen_lines == 20


def test_other_buffers_and_streams_are_not_mixed_in() -> None:
    view = _view(1, [(1, 2)])
    view = view._replace(shown=(*view.shown, Shown("cmd_a1b2c3", "err", 7, 8), Shown("cmd_000000", "out", 30, 40)))
    made = cover("cmd_a1b2c3", {"out": TOTAL, "err": 9}, [contribution(view, "cmd_a1b2c3")])
    assert made.streams["out"].seen == ((1, 2),)
    assert made.streams["err"].seen == ((7, 8),)


def test_nothing_can_be_missed_of_what_is_empty() -> None:
    assert cover("cmd_a1b2c3", {}, []).share == 1.0


@given(RANGES, st.integers(0, 1))
def test_of_a_partial_buffer_all_is_never_told(ranges: list[tuple[int, int]], digits: int) -> None:
    made = cover("cmd_a1b2c3", {"out": TOTAL}, [contribution(_view(1, ranges), "cmd_a1b2c3")], partial=True)
    told = told_share(made, digits)
    assert made.at_most
    assert made.share < 1
    assert told == "0 %" if not made.seen_lines else told.startswith(("at most ", "less than 100 %"))
    assert "100 %" not in told.removeprefix("less than 100 %")
    assert made.of_session("s").at_most


@given(st.integers(1, 200).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_what_is_told_to_be_the_most_is_never_less_than_what_was_seen(lines: tuple[int, int]) -> None:
    seen, total = lines
    view = _view(1, [(1, seen)] if seen else [])
    told = told_share(cover("cmd_a1b2c3", {"out": total}, [contribution(view, "cmd_a1b2c3")], partial=True))
    assert float(told.split()[-2]) * total >= seen * 100 - 1e-6


def test_a_share_of_a_whole_buffer_is_told_as_it_is() -> None:
    made = _cover(_view(1, [(1, 25)]))
    assert told_share(made) == percent(made.share) == "50 %"
    assert told_share(_cover(_view(1, [(1, TOTAL)]))) == "100 %"
