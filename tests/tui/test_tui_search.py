"""Searching in the viewer: every hit, wherever it stands, as one types and from one to the next."""

from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from sightline.search.engine import SearchPattern
from sightline.search.hits import Hits
from sightline.store import Store, Target
from sightline_tui.common import stream_search as module
from sightline_tui.common.output_reader import open_reader
from sightline_tui.common.stream_search import HitStep, StreamSearch
from tests.tui.tui_kit import add, begin, burst, numbered, opened, press, rest, run, text, until, viewer

unhurried = settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
LINES = st.lists(
    st.tuples(st.sampled_from(["out", "err"]), st.sampled_from([b"hit", b"miss", b"hit hit", b""])), max_size=30
)


def search_in(store: Store, lines: list[tuple[str, bytes]], number: int, stream: str = "") -> StreamSearch:
    recording = store.begin("cmd", "true", "/", "s")
    for name, data in lines:
        recording.append(name, data + b"\n")
    buffer = recording.seal(exit_code=0)
    return StreamSearch(
        SearchPattern("hit", literal=True),
        lambda: open_reader(store, buffer, stream),
        lambda name: store.path(Target(buffer, name)),
        number,
    )


@pytest.mark.parametrize("kept", [1 << 17, 2], ids=["all kept", "thinned"])
@unhurried
@given(lines=LINES, place=st.floats(0, 1), begin_at=st.floats(0, 1), back=st.booleans(), data=st.data())
def test_from_any_line_the_next_hit_is_found(  # type: ignore[no-untyped-def]
    store: Store, kept: int, lines, place, begin_at, back, data
) -> None:
    stream = data.draw(st.sampled_from(["", *{name for name, _ in lines}]))
    shown = [line for name, line in lines if not stream or name == stream]
    hits = [number for number, line in enumerate(shown, 1) if b"hit" in line]
    number = 1 + int(place * max(len(shown) - 1, 0))
    with patch.object(module, "Hits", lambda: Hits(kept)), patch.object(module, "SMALL_BYTES", 20):
        search = search_in(store, lines, 1 + int(begin_at * max(len(shown) - 1, 0)), stream)
        search.run(lambda: None)
    assert (search.complete, search.total) == (True, len(hits))
    wanted = [hit for hit in hits if (hit < number if back else hit > number)]
    step = search.step(number, back=back)
    assert step is not None
    expected = (wanted or hits or [0])[-1 if back else 0]
    assert step.number == expected
    assert step.wrapped == (not wanted) or not hits
    if step.exact and step.number:
        assert step.rank == hits.index(expected) + 1


def test_a_hit_is_known_before_all_has_been_looked_through(store: Store) -> None:
    search = search_in(store, [("out", b"miss")] * 5 + [("out", b"hit")] * 5, 3)
    seen: list[HitStep | None] = []
    search.run(lambda: seen.append(search.step(3, here=True)) if not search.complete else None)
    assert HitStep(6) in seen


def shown_of(pilot: Pilot[None]) -> str:
    return "\n".join(text(viewer(pilot)))


def place(pilot: Pilot[None]) -> str:
    return text(pilot.app.query_one("#info"))[0]


def marked(pilot: Pilot[None], part: str) -> list[str]:
    """What stands on the screen in the style of a part."""
    shown = viewer(pilot)
    style = shown.part_style(part)
    return [
        segment.text
        for y in range(shown.size.height)
        for segment in shown.render_line(y)
        if segment.style and segment.style.bgcolor == style.bgcolor and style.bgcolor
    ]


def test_search_goes_to_the_first_hit_and_on(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(10_000))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"/line 77", "enter")
            assert viewer(pilot).target == 77
            assert "/line 77 1 of 111" in place(pilot)
            assert marked(pilot, "here") == ["line 77"]
            await press(pilot, "n", "n")
            assert viewer(pilot).target == 771
            assert "3 of 111" in place(pilot)
            await press(pilot, "N", "N", "N")
            assert viewer(pilot).target == 7799  # the last one
            assert "111 of 111 wrapped" in place(pilot)
            await press(pilot, "escape")
            assert "/line" not in place(pilot)
            assert marked(pilot, "match") == marked(pilot, "here") == []

    run(body)


def test_all_hits_on_the_screen_are_marked(store: Store) -> None:
    add(store, "cmd_00000a", "cat", b"one two one\n\x1b[31mo\x1b[0mne\nONE\n\xe6\x97\xa5 one\n")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"/one", "enter")
            assert marked(pilot, "here") == ["one", "one"]
            assert marked(pilot, "match") == ["o", "ne", "ONE", "one"]
            await press(pilot, *"/o[n]e", "enter")
            assert marked(pilot, "match") == ["o", "ne", "ONE", "one"]

    run(body)


def test_text_is_found_where_its_colour_changes(store: Store) -> None:
    add(store, "cmd_00000a", "pytest", b"fine\n\x1b[31mFAILED\x1b[0m tests/\x1b[1mtest_a.py\x1b[0m[x]\n")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"/failed tests/test_a.py[x", "enter")
            assert "1 of 1" in place(pilot)
            assert "".join(marked(pilot, "here")) == "FAILED tests/test_a.py[x"

    run(body)


def test_letters_typed_ahead_begin_no_search_of_their_own(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, "cmd_00000a", "seq", numbered(1_000))
    monkeypatch.setattr("sightline_tui.common.pane_search.TYPING_SECONDS", 60.0)  # all come before that is over
    searched = list[str]()
    run_it = StreamSearch.run
    monkeypatch.setattr(
        StreamSearch, "run", lambda self, tell: (searched.append(self.pattern.text), run_it(self, tell))
    )

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter")
            await burst(pilot, "/line 77\r")
            await rest(pilot)
            assert viewer(pilot).target == 77
            assert searched == ["line 77"]

    run(body)


def test_keys_pressed_ahead_each_go_a_hit_further(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(10_000))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter")
            await burst(pilot, "/line 77\rnnnN")
            await rest(pilot)
            assert viewer(pilot).target == 771

    run(body)


def test_small_letters_match_either_case_until_told_otherwise(store: Store) -> None:
    add(store, "cmd_00000a", "cat", b"Error\nerror\nERROR\n")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"/error", "enter")
            assert "of 3" in place(pilot)
            await press(pilot, *"/Error", "enter")
            assert "of 1" in place(pilot)
            await press(pilot, *"/error", "alt+c", "enter")
            assert "match case 1 of 1" in place(pilot)
            await press(pilot, *"/ERROR", "alt+c", "enter")
            assert "ignore case 2 of 3" in place(pilot)

    run(body)


def test_what_is_no_regex_is_taken_literally_and_said(store: Store) -> None:
    add(store, "cmd_00000a", "cat", b"a\nb [x c\n")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"/[x", "enter")
            assert viewer(pilot).target == 2
            assert "/[x literally 1 of 1" in place(pilot)

    run(body)


def test_it_shows_the_first_hit_while_one_types_and_goes_back_when_one_leaves(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(10_000))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"500G")
            before = shown_of(pilot)
            await press(pilot, *"/line 90")
            assert viewer(pilot).target == 900
            await press(pilot, "0", "5")
            assert viewer(pilot).target == 9005
            await press(pilot, "backspace")
            assert viewer(pilot).target == 900
            await press(pilot, "escape")
            assert shown_of(pilot) == before
            assert viewer(pilot).target == 500

    run(body)


def test_nothing_found_is_said(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(10))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"/x[b]", "enter")
            assert [toast.message for toast in pilot.app._notifications] == ["No line matches x[b]"]
            assert pilot.app.is_running
            await press(pilot, "n")

    run(body)


def test_an_empty_search_is_the_last_one_again(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(100))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"/line 9", "enter", "escape", "slash", "enter")
            assert viewer(pilot).target == 90
            await press(pilot, "escape", "n")
            assert viewer(pilot).target == 91

    run(body)


def test_a_hit_beyond_the_edge_is_scrolled_to(store: Store) -> None:
    add(store, "cmd_00000a", "cat", b"x" * 500 + b"needle\n")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"/needle", "enter")
            assert "needle" in shown_of(pilot)
            await press(pilot, *"/n[e]edle", "enter")
            assert "needle" in shown_of(pilot)

    run(body)


def test_an_exploding_pattern_leaves_the_keys_alive(store: Store) -> None:
    add(store, "cmd_00000a", "cat", (b"a" * 60 + b"b\n") * 20)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"/(a+)+$", "enter")
            await press(pilot, "G")
            assert pilot.app.is_running

    run(body)


def test_hits_in_what_comes_later_count_too(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    recording.append("out", b"hit\nmiss\n")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"/hit", "enter")
            assert "of 1" in place(pilot)
            for stream, data in (("out", b"hi"), ("out", b"t\n"), ("err", b"hit\n")):
                recording.append(stream, data)
                viewer(pilot).went_on(frozenset({"cmd_00000a"}))
                await rest(pilot)
            await press(pilot, "n")
            assert "2 of 3" in place(pilot)
            recording.seal(exit_code=0)

    run(body)


def test_search_looks_through_the_stream_that_is_shown(store: Store) -> None:
    add(store, "cmd_00000a", "make", b"hit\n" * 3, b"hit\n" * 2)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"/hit", "enter")
            assert "of 5" in place(pilot)
            await press(pilot, "s", "s")
            assert "/hit 2" in place(pilot)

    run(body)


def test_hits_within_a_line_that_is_too_long_to_be_read_whole_are_shown_one_by_one(store: Store) -> None:
    filling = b"x" * 40_000
    add(
        store,
        "cmd_00000a",
        "cat min.js",
        b"short\n" + filling + b"needle 1" + filling + b"needle 2" + filling + b"\nend\n",
    )

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *"/needle", "enter")
            assert "needle 1" in shown_of(pilot)
            await press(pilot, "n")
            assert "needle 2" in shown_of(pilot)
            assert "needle 1" not in shown_of(pilot)
            await press(pilot, "N")
            assert "needle 1" in shown_of(pilot)
            await press(pilot, "N")
            assert "needle 2" in shown_of(pilot)
            assert "wrapped" in place(pilot)
            await burst(pilot, "NnN")  # each key counts, however fast they come
            await until(pilot, lambda: "needle 1" in shown_of(pilot))
            await press(pilot, "w", *"/ne[e]dle 1", "enter")
            assert "needle 1" in shown_of(pilot)
            assert marked(pilot, "here") == ["needle 1"]

    run(body)


def test_what_is_searched_for_is_told_before_how_lines_are_shown(store: Store) -> None:
    add(store, "cmd_00000a", "seq 1 10000", numbered(10_000))

    async def body() -> None:
        async with opened(store, (104, 30)) as pilot:
            await press(pilot, "enter", "w", "r", *"/line 77", "enter")
            assert "/line 77 1 of 111" in place(pilot)
            assert "cleaned" not in place(pilot)  # for all there is no room

    run(body)
