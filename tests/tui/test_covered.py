"""An output at a step of a session: every line has its place, and long runs that nobody saw take one row."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.audit.coverage import GradedLines, PartSeen
from sightline.audit.line_spans import holds, spans_of
from sightline_tui.timeline.step_coverage import (
    ASKED,
    BEFORE,
    CUT,
    FOLDED_LINES,
    MISSED,
    NOW,
    UNSEEN,
    Standing,
    StepRows,
    counts,
    map_cells,
    runs_of,
    standing,
)

_LINE = st.integers(1, 60)
_SPANS = st.lists(st.tuples(_LINE, _LINE), max_size=5).map(spans_of)


@st.composite
def _standing(draw: st.DrawFn) -> Standing:
    total = draw(st.integers(1, 60))
    now, before = GradedLines(exact=draw(_SPANS)), GradedLines(exact=draw(_SPANS), asked=draw(_SPANS))
    return standing("out", total, now, before._replace(exact=spans_of([*before.exact, *now.exact])), draw(_SPANS))


@given(_standing(), st.booleans())
def test_every_line_stands_in_one_run_in_order(one: Standing, folds: bool) -> None:
    runs = runs_of([one], folds=folds)
    lines = [line for run in runs for line in range(run.first, run.last + 1)]
    assert lines == list(range(1, one.total + 1))
    for run in runs:
        for line in range(run.first, run.last + 1):
            assert (run.how == NOW) == holds(one.now, line)
            assert (run.how == BEFORE) == holds(one.before, line)
            assert (run.how == MISSED) == holds(one.missed, line)
        assert run.folded == (folds and run.how in (ASKED, UNSEEN) and run.last - run.first + 1 > FOLDED_LINES)


@given(st.lists(_standing(), min_size=1, max_size=3), st.booleans())
def test_a_row_is_found_by_its_line_and_a_line_by_its_row(streams: list[Standing], folds: bool) -> None:
    named = [one._replace(stream=f"part.{at}") for at, one in enumerate(streams)]
    rows = StepRows(runs_of(named, folds=folds))
    headings = 0
    for at in range(len(rows)):
        run, line = rows.at(at)
        headings += not line
        if line:
            assert rows.row_of(run.stream, line) == at
    assert headings == (len(streams) if len(streams) > 1 else 0)


@given(st.lists(_standing(), min_size=1, max_size=3), st.integers(1, 90))
def test_the_map_shows_whatever_there_is_of_each_kind(streams: list[Standing], cells: int) -> None:
    made = map_cells(streams, cells)
    assert len(made) == cells
    assert (MISSED in made) == any(one.missed for one in streams)
    if not any(one.seen or one.missed or one.asked for one in streams):
        assert set(made) == {UNSEEN}
    if all(one.seen == ((1, one.total),) for one in streams):
        assert UNSEEN not in made


def test_a_failure_that_was_shown_is_not_missed() -> None:
    shown = standing("out", 20, GradedLines(exact=((5, 6),)), GradedLines(exact=((5, 6),)), ((5, 5), (9, 9)))
    assert shown.missed == ((9, 9),)
    assert counts([shown]) == (2, 2, 20)
    assert StepRows(runs_of([shown], folds=True)).first_of(NOW) == 4
    assert StepRows(runs_of([shown], folds=True)).first_of(BEFORE, MISSED) == 8


def test_a_line_that_was_shown_in_part_stands_by_itself() -> None:
    shown = standing("out", 9, None, GradedLines(exact=((1, 1),), cut={3: PartSeen(10, ((1, 4),))}), ())
    assert [(run.first, run.last, run.how) for run in runs_of([shown], folds=True)] == [
        (1, 1, BEFORE), (2, 2, UNSEEN), (3, 3, CUT), (4, 9, UNSEEN),
    ]  # fmt: skip
    assert (shown.cut_weight, counts([shown])) == (0.4, (1, 0, 9))
    assert map_cells([shown], 9) == [BEFORE, UNSEEN, CUT, *[UNSEEN] * 6]
