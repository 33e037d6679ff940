"""What the inspector makes of an audit before it draws it: marks, ways, the overview, words. Without a screen."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.audit.buffer_failures import Failure, FailurePlace
from sightline.audit.coverage import Contribution, Coverage, GradedLines, PartSeen, contribution, cover, percent
from sightline.audit.line_spans import Spans, spans_of
from sightline.base.records import Gap, LinePart, Note, Shown, View
from sightline_tui.buffers.seen_reader import percent as list_percent
from sightline_tui.viewer.audit_model import UnseenRegions, destination, of_line, of_output
from sightline_tui.viewer.marks import ASKED, CUT, EXACT, MATCHED, UNSEEN, Marks, Remark
from sightline_tui.viewer.overview import FAILED, MISSING, NOTED, OVERLOOKED, LineTally, cells_of, eighths, first_in

MILLIONS = 10_000_000


class OneStream:
    """A reading of one stream."""

    streams: Sequence[str] = ("out",)

    def __init__(self, line_count: int = 0) -> None:
        self.line_count = line_count

    def before(self, number: int) -> dict[str, int]:
        return {"out": number - 1}

    def number_of(self, stream: str, line: int) -> int:
        assert stream == "out"
        return line


class Alternating:
    """A reading of two streams, whose lines come by turns: those of ``out`` have the odd numbers."""

    streams: Sequence[str] = ("out", "err")

    def __init__(self, line_count: int = 0) -> None:
        self.line_count = line_count

    def before(self, number: int) -> dict[str, int]:
        return {"out": number // 2, "err": (number - 1) // 2}

    def number_of(self, stream: str, line: int) -> int:
        return 2 * line - (stream == "out")


def view(number: int, session: str, *, cut: bool = False, **ranges: tuple[int, int]) -> View:
    shown = tuple(Shown("cmd_a", "out", *ranges[name]) for name in ("shown",) if name in ranges)
    asked = tuple(Shown("cmd_a", "out", *ranges[name]) for name in ("asked",) if name in ranges)
    return View(
        f"{session}:{number}", session, number, float(number), "query", "{}", ("cmd_a",), shown,
        0, 0, 0, 0, 0, cut, "", asked,
    )  # fmt: skip


def covered(total: int, *views: View, matched: Mapping[str, Spans] | None = None) -> Coverage:
    return cover("cmd_a", {"out": total}, [contribution(one, "cmd_a", matched) for one in views])


def failure(*lines: int) -> Failure:
    return Failure("", "", "boom", tuple(FailurePlace("out", line, line, ((line, line),)) for line in lines))


def note(first: int, last: int) -> Remark:
    return Remark(Note("p:1", "p", 1.0, "@cmd_a", "look [here]"), {"out": (first, last)})


def words(parts: Sequence[tuple[str, str]]) -> str:
    return "".join(text for text, _ in parts)


# marks


def test_a_line_has_the_best_grade_that_anyone_saw_it_in() -> None:
    marks = Marks(
        cover(
            "cmd_a",
            {"out": 50},
            [
                contribution(view(1, "a", asked=(1, 50)), "cmd_a"),
                contribution(view(2, "a"), "cmd_a", {"out": ((10, 20),)}),
                contribution(view(3, "b", shown=(15, 16)), "cmd_a"),
            ],
        )
    )
    assert [marks.grade("out", line) for line in (9, 10, 15, 51)] == [ASKED, MATCHED, EXACT, UNSEEN]
    assert marks.grade("err", 10) == UNSEEN
    assert marks.sight("out", 15)[:3] == (EXACT, 2, ("a", "b"))
    assert marks.sight("out", 9)[:3] == (ASKED, 1, ("a",))
    assert marks.sight("out", 51)[:3] == (UNSEEN, 0, ())


def test_marks_of_one_session_leave_out_what_others_saw() -> None:
    whole = covered(50, view(1, "a", shown=(1, 10)), view(2, "b", shown=(20, 30)))
    all_, one = Marks(whole, failures=(failure(25),)), Marks(whole, "a", (failure(25),))
    assert (all_.grade("out", 25), all_.overlooked) == (EXACT, ())
    assert (one.grade("out", 25), one.overlooked, one.overlooks("out", 25)) == (UNSEEN, (failure(25),), True)


def test_what_nobody_looked_at_was_overlooked() -> None:
    marks = Marks(covered(50), failures=(failure(25),))
    assert marks.overlooked == (failure(25),)
    assert marks.overlooks("out", 25)
    assert [cell.holds for cell in cells_of(marks, OneStream(), 50, 2)] == [OVERLOOKED, ""]


# ways


class Merged:
    """A reading of lines of streams in an order of its own."""

    def __init__(self, order: Sequence[str]) -> None:
        self.order = order
        self.streams = tuple(dict.fromkeys(order))
        self.line_count = len(order)

    def before(self, number: int) -> dict[str, int]:
        return {stream: list(self.order[: number - 1]).count(stream) for stream in self.streams}

    def number_of(self, stream: str, line: int) -> int:
        return [at for at, one in enumerate(self.order, 1) if one == stream][line - 1]

    def seen(self, numbers: set[int]) -> dict[str, Spans]:
        """By stream, the lines at some numbers."""
        places = {number: (stream, self.before(number)[stream] + 1) for number, stream in enumerate(self.order, 1)}
        return {
            stream: spans_of((line, line) for number in numbers for one, line in (places[number],) if one == stream)
            for stream in self.streams
        }


@st.composite
def partly_seen(draw: st.DrawFn) -> tuple[Merged, set[int], set[int]]:
    """A reading of up to three streams, the numbers that were seen, and all others."""
    streams = draw(st.sampled_from((("out",), ("out", "err"), ("part.0", "part.1", "part.2"))))
    text = Merged(draw(st.lists(st.sampled_from(streams), max_size=30)))
    numbers = range(1, text.line_count + 1)
    seen = draw(st.sets(st.sampled_from(numbers))) if numbers else set()
    return text, seen, set(numbers) - seen


def runs(numbers: set[int]) -> list[tuple[int, int]]:
    return list(spans_of((number, number) for number in numbers))


@given(partly_seen())
def test_going_down_until_there_is_no_more_comes_to_every_unseen_run_once_in_order(
    case: tuple[Merged, set[int], set[int]],
) -> None:
    text, seen, unseen = case
    regions, number, come = UnseenRegions(text.seen(seen), text), 0, []
    while region := regions.below(number):
        come.append(tuple(region))
        number = region.first
    assert come == runs(unseen)


@given(partly_seen())
def test_going_up_until_there_is_no_more_comes_to_every_unseen_run_once_from_the_last(
    case: tuple[Merged, set[int], set[int]],
) -> None:
    text, seen, unseen = case
    regions, number, come = UnseenRegions(text.seen(seen), text), text.line_count + 1, []
    while region := regions.above(number):
        come.append(tuple(region))
        number = region.first
    assert come == runs(unseen)[::-1]


@given(partly_seen(), st.integers(1, 32))
def test_from_anywhere_one_comes_to_the_run_that_begins_next(
    case: tuple[Merged, set[int], set[int]], number: int
) -> None:
    text, seen, unseen = case
    regions, expected = UnseenRegions(text.seen(seen), text), runs(unseen)
    assert regions.below(number) == min((one for one in expected if one[0] > number), default=None)
    assert regions.above(number) == max((one for one in expected if one[0] < number), default=None)
    assert regions.around(number) == next((one for one in expected if one[0] <= number <= one[1]), None)


@given(partly_seen(), st.integers(0, 30))
def test_one_goes_no_further_than_what_is_on_the_screen(case: tuple[Merged, set[int], set[int]], count: int) -> None:
    text, seen, unseen = case
    regions, expected = UnseenRegions(text.seen(seen), text, count), runs({one for one in unseen if one <= count})
    assert regions.below(0) == next(iter(expected), None)
    assert regions.above(count + 1) == next(iter(expected[::-1]), None)


def test_lines_written_since_the_views_were_looked_through_are_unseen() -> None:
    assert UnseenRegions({"out": ((1, 10),)}, OneStream(25)).below(0) == (11, 25)


def test_single_seen_lines_of_the_other_stream_part_the_unseen_ones() -> None:
    text = Merged(["out"] * 20 + ["err"] + ["out"] * 860)
    marks = Marks(
        cover("cmd_a", {"out": 880, "err": 1}, [Contribution(view(1, "a"), {"err": GradedLines(exact=((1, 1),))})])
    )
    assert destination(marks, text, 0, "unseen") == (1, "unseen 1-20")
    assert destination(marks, text, 1, "unseen") == (22, "unseen 22-881")
    assert destination(marks, text, 22, "unseen") == (0, "Lines 22-881, here, are the last unseen ones")
    assert destination(marks, text, 22, "unseen", back=True) == (1, "unseen 1-20")
    assert destination(marks, text, 1, "unseen", back=True) == (0, "Nothing unseen above")


def test_a_line_of_which_a_part_was_seen_is_not_done_with() -> None:
    lines = GradedLines(exact=((1, 9), (11, 20)), cut={10: PartSeen(5_000, ((1, 100),))})
    marks = Marks(cover("cmd_a", {"out": 20}, [Contribution(view(1, "a"), {"out": lines})]))
    assert destination(marks, OneStream(20), 0, "unseen") == (10, "unseen 10")
    assert destination(marks, OneStream(20), 10, "unseen") == (0, "Line 10, here, is the last unseen one")


def test_overlooked_failures_are_gone_round_and_counted() -> None:
    marks = Marks(covered(100, view(1, "a", shown=(1, 10))), failures=(failure(5), failure(30, 90), failure(70)))
    assert destination(marks, OneStream(), 0, "overlooked") == (30, "1 of 2 that no agent saw")
    assert destination(marks, OneStream(), 30, "overlooked") == (70, "2 of 2 that no agent saw")
    assert destination(marks, OneStream(), 70, "overlooked") == (30, "1 of 2 that no agent saw")


def test_where_there_is_nowhere_to_go_the_reason_is_said() -> None:
    seen = covered(10, view(1, "a", shown=(1, 10)))
    assert destination(Marks(seen, failures=()), OneStream(), 0, "overlooked")[1].startswith("No failure here")
    assert destination(Marks(seen, failures=(failure(3),)), OneStream(), 0, "overlooked") == (0, "Its failure was seen")
    both = Marks(seen, "a", (failure(3), failure(4)))
    assert destination(both, OneStream(), 0, "overlooked")[1] == "All 2 failures were seen by a"
    assert destination(Marks(seen), OneStream(10), 0, "unseen") == (0, "All of it was seen")
    half = Marks(covered(10, view(1, "a", shown=(1, 5))))
    assert destination(half, OneStream(10), 6, "unseen") == (0, "Lines 6-10, here, are the last unseen ones")
    assert destination(half, OneStream(10), 8, "unseen") == (0, "Lines 6-10, here, are the last unseen ones")
    assert destination(half, OneStream(10), 6, "unseen", back=True) == (0, "Nothing unseen above")
    rest = Marks(covered(10, view(1, "a", shown=(3, 10))))
    assert destination(rest, OneStream(10), 5, "unseen") == (0, "Nothing unseen below")
    untouched = Marks(covered(10), failures=(failure(3),))
    assert destination(untouched, OneStream(10), 1, "unseen")[1] == (
        "Nothing of it was shown to anyone: it is one unseen region"
    )
    assert destination(untouched, OneStream(), 0, "overlooked") == (3, "1 of 1 that no agent saw")


# the overview


@given(st.sets(st.integers(1, 300)), st.integers(0, 300), st.integers(0, 300))
def test_a_tally_counts_the_lines_between_two(lines: set[int], after: int, last: int) -> None:
    tally, spans = LineTally(spans_of((line, line) for line in lines)), spans_of((line, line) for line in lines)
    among = [line for line in sorted(lines) if after < line <= last]
    if after <= last:
        assert tally.among(after, last) == len(among)
        assert first_in(spans, after + 1, last) == next(iter(among), 0)


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_only_all_looks_like_all_and_only_none_like_none(part: int, whole: int) -> None:
    found = eighths(min(part, whole), whole)
    assert (found == 0) == (part == 0)
    assert (found == 8) == (part >= whole)


def test_one_seen_line_and_one_overlooked_failure_do_not_vanish_among_millions() -> None:
    marks = Marks(covered(MILLIONS, view(1, "a", shown=(7, 7))), failures=(failure(7), failure(9_999_998)))
    cells = cells_of(marks, OneStream(), MILLIONS, 40)
    assert [cell.eighths for cell in cells] == [1, *[0] * 39]
    assert [cell.holds for cell in cells] == [FAILED, *[""] * 38, OVERLOOKED]
    assert cells[-1].place == 9_999_998


def test_an_overlooked_failure_outdoes_a_note_and_a_note_a_failure_that_was_seen() -> None:
    whole = covered(100, view(1, "a", shown=(1, 60)))
    marks = Marks(whole, failures=(failure(5), failure(15), failure(70)), remarks=(note(12, 75),))
    assert [cell.holds for cell in cells_of(marks, OneStream(), 100, 10)] == [
        *(FAILED, NOTED, NOTED, NOTED, NOTED, NOTED, OVERLOOKED, NOTED, "", ""),
    ]


def test_where_something_is_missing_stands_out_beside_the_output() -> None:
    marks = Marks(covered(100, view(1, "a", shown=(1, 100))), gaps=(Gap("out", 35), Gap("out", 100)))
    cells = cells_of(marks, OneStream(), 100, 10)
    assert [cell.holds for cell in cells] == ["", "", "", MISSING, *[""] * 5, MISSING]
    assert cells[3].place == 35


def test_all_but_one_line_seen_does_not_look_like_all() -> None:
    marks = Marks(covered(100, view(1, "a", shown=(1, 14)), view(2, "a", shown=(16, 100))))
    assert [cell.eighths for cell in cells_of(marks, OneStream(), 100, 10)] == [8, 7, *[8] * 8]


@given(st.sets(st.integers(1, 90)), st.integers(1, 120))
def test_every_line_stands_on_one_row(seen: set[int], rows: int) -> None:
    spans = spans_of((line, line) for line in seen)
    marks = Marks(covered(90, view(1, "a"), matched={"out": spans}))
    cells = cells_of(marks, OneStream(), 90, rows)
    assert [line for cell in cells for line in range(cell.first, cell.last + 1)] == list(range(1, 91))
    for cell in cells:
        among = seen & set(range(cell.first, cell.last + 1))
        assert (cell.eighths > 0) == bool(among)
        assert (cell.eighths == 8) == (len(among) == cell.last - cell.first + 1)
        assert not cell.is_exact


def test_both_streams_of_a_row_count() -> None:
    whole = cover("cmd_a", {"out": 50, "err": 50}, [contribution(view(1, "a", shown=(1, 50)), "cmd_a")])
    assert {cell.eighths for cell in cells_of(Marks(whole), Alternating(), 100, 10)} == {4}


# words


@pytest.mark.parametrize(
    ("seen", "total", "text"),
    [(0, 10, "0 %"), (1, 1000, "< 1 %"), (999, 1000, "> 99 %"), (1000, 1000, "100 %"), (1, 3, "33 %"), (0, 0, "100 %")],
)
def test_a_share_is_never_rounded_to_nothing_or_to_all(seen: int, total: int, text: str) -> None:
    assert percent(seen / total if total else 1.0, 0) == text


@given(st.integers(1, 200).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_a_share_reads_alike_in_the_list_the_viewer_and_the_timeline(lines: tuple[int, int]) -> None:
    seen, total = lines
    told = percent(seen / total, 0)
    assert told.replace(" ", "").replace(">", "") == list_percent(seen / total)


def test_words_of_an_output() -> None:
    whole = covered(100, view(1, "a", shown=(1, 10), cut=True), view(2, "b", shown=(20, 29)))
    names = {"a": "ada", "b": "bob"}
    assert words(of_output(Marks(whole, failures=(failure(50),), names=names))) == (
        "seen 20 % in 2 views, 1 cut · 1 failure no agent saw "
    )
    assert words(of_output(Marks(whole, "a", (failure(5),), names=names))) == (
        "only ada: seen 10 % in 1 view, cut · 1 failure seen "
    )
    assert words(of_output(Marks(covered(100)))) == "shown to nobody "
    assert words(of_output(Marks(covered(100), failures=(failure(5),)))) == "shown to nobody · 1 failure no agent saw "
    assert words(of_output(Marks(whole, "c"))) == "only c: shown nothing of it "


def test_words_of_a_line() -> None:
    whole = covered(100, view(1, "a", shown=(1, 10)), view(2, "b", shown=(5, 9)), view(3, "b", asked=(1, 100)))
    marks = Marks(whole, "", (failure(50),), (note(9, 9),), {"a": "ada", "b": "bob"})
    assert words(of_line(marks, "out", 5)) == "seen 2× by ada, bob (exact) "
    assert words(of_line(marks, "out", 9)) == "seen 2× by ada, bob (exact) · ✎ look [here] "
    assert words(of_line(marks, "out", 60)) == "line 60: no agent saw it · asked about 1× by bob "
    assert words(of_line(marks, "out", 50)) == "line 50: no agent saw it · asked about 1× by bob "
    assert words(of_line(Marks(whole, "a"), "out", 60)) == "line 60: a never saw it "


def test_a_line_that_was_cut_is_marked_and_told_as_shown_in_part() -> None:
    one = view(1, "a", shown=(1, 1))._replace(parts=(LinePart("cmd_a", "out", 2, 4_000, ((1, 1_000),)),))
    marks = Marks(cover("cmd_a", {"out": 4}, [contribution(one, "cmd_a")]))
    assert [marks.grade("out", line) for line in range(1, 5)] == [EXACT, CUT, UNSEEN, UNSEEN]
    assert "".join(part.text for part in of_line(marks, "out", 2)) == "seen in part 1× by a (1,000 of 4,000 B) "
    assert "".join(part.text for part in of_output(marks)).startswith("seen 31 % in 1 view")
    assert [cell.eighths for cell in cells_of(marks, OneStream(4), 4, 4)] == [8, 1, 0, 0]
    assert marks.coverage.streams["out"].unseen == ((2, 4),)
    rest = view(2, "b")._replace(parts=(LinePart("cmd_a", "out", 2, 4_000, ((900, 4_000),)),))
    both = Marks(cover("cmd_a", {"out": 4}, [contribution(each, "cmd_a") for each in (one, rest)]))
    assert both.sight("out", 2)[:3] == (EXACT, 2, ("a", "b"))
    assert Marks(both.whole, "b").grade("out", 2) == CUT
