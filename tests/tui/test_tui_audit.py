"""The audit in the viewer: what was seen is marked and told, what was not is walked, the whole stands beside it."""

from typing import Any

from textual.pilot import Pilot

from sightline.base.records import Buffer, Session, Shown
from sightline.log.notes import write_note
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store, Target
from sightline_tui.viewer.row_painter import SEEN_MARKS
from tests.tui.tui_kit import add, begin, burst, numbered, opened, press, rest, run, text, until, viewer

AGENT = Session("claude-1", "claude-code", "", "", "/", 1.0)
OTHER = Session("codex-1", "codex", "", "", "/", 1.0)
BROKEN = numbered(100) + b"ERROR: one\n" + numbered(100) + b"ERROR: two\n" + numbered(100)


def show(store: Store, buffer: Buffer, *ranges: tuple[int, int], stream: str = "out", **more: Any) -> None:
    """Have an agent be shown some lines."""
    session, said = more.pop("session", AGENT), more.pop("text", "text\n")
    lines = tuple(Shown(buffer.name, stream, first, last) for first, last in ranges)
    fields = {"verb": "read_output", "request": {}, "refs": (buffer.name,), "shown": lines, **more}
    record_view(store, session, Shows(**fields), [Segment(said)])


def info(pilot: Pilot[None]) -> str:
    return "\n".join(text(pilot.app.query_one("#info")))


def toasts(pilot: Pilot[None]) -> list[str]:
    return [toast.message for toast in pilot.app._notifications]


async def told(pilot: Pilot[None], words: str) -> None:
    """Until the rows above the viewer say something."""
    await until(pilot, lambda: words in info(pilot))


def marks(pilot: Pilot[None]) -> str:
    """The first column of the viewer, from its top."""
    shown = viewer(pilot)
    return "".join(shown.render_line(y).text[:1] for y in range(shown.size.height))


def strip(pilot: Pilot[None]) -> list[str]:
    return [viewer(pilot).overview.render_line(y).text for y in range(viewer(pilot).size.height)]


def row_of(pilot: Pilot[None], line: int) -> int:
    """The row of the strip that stands for a line."""
    return next(y for y, cell in enumerate(viewer(pilot).overview.cells) if cell.first <= line <= cell.last)


# the gutter


def test_seen_lines_are_marked_and_told_by_whom_and_how_often(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", numbered(20))
    show(store, buffer, (1, 3))
    show(store, buffer, (3, 4), session=OTHER)
    show(store, buffer, verb="query", request={"pipeline": "sort"}, text="line 6\n")
    show(store, buffer, verb="query", request={"pipeline": "wc -l"}, asked=(Shown("cmd_00000a", "out", 8, 8),))

    async def body() -> None:
        async with opened(store) as pilot:
            await told(pilot, "seen 25 % in 4 views")
            exact, matched, asked = (SEEN_MARKS[grade] for grade in ("exact", "matched", "asked"))
            assert marks(pilot)[:9] == f"{exact * 4}○{matched}○{asked}○"
            await press(pilot, "enter", *"3G")
            await told(pilot, "seen 2× by claude-1, codex-1 (exact)")
            await press(pilot, *"6G")
            await told(pilot, "seen 1× by claude-1 (matched)")
            await press(pilot, *"8G")
            await told(pilot, "line 8: no agent saw it · asked about 1× by claude-1")

    run(body)


def test_marks_follow_one_session_or_all(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", numbered(20))
    show(store, buffer, (1, 10))
    show(store, buffer, (11, 15), session=OTHER)

    async def body() -> None:
        async with opened(store) as pilot:
            await told(pilot, "seen 75 % in 2 views")
            await press(pilot, "enter", "right_square_bracket")
            await told(pilot, "only claude-1: seen 50 % in 1 view")
            await press(pilot, "right_square_bracket")
            await told(pilot, "only codex-1: seen 25 % in 1 view")
            assert marks(pilot)[:16] == "○" * 10 + SEEN_MARKS["exact"] * 5 + "○"
            await press(pilot, "right_square_bracket")
            await until(pilot, lambda: "only" not in info(pilot))
            await press(pilot, "left_square_bracket")
            await told(pilot, "only codex-1")

    run(body)


def test_where_nobody_was_shown_anything_that_is_said(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(20))

    async def body() -> None:
        async with opened(store) as pilot:
            await told(pilot, "shown to nobody")
            await press(pilot, "enter", "right_square_bracket")
            assert toasts(pilot) == ["Nobody was shown any of it"]
            assert set(marks(pilot).strip()) <= {"○"}

    run(body)


def test_a_new_view_is_marked_while_one_looks(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", numbered(20))

    async def body() -> None:
        async with opened(store, live=True) as pilot:
            await told(pilot, "shown to nobody")
            await until(pilot, lambda: pilot.app._feed._changes._thread is not None)
            show(store, buffer, (1, 2))
            await told(pilot, "seen 10 % in 1 view")
            assert marks(pilot)[:3] == SEEN_MARKS["exact"] * 2 + "○"

    run(body)


def test_what_grows_is_no_longer_all_seen(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    recording.append("out", numbered(10))
    show(store, recording.buffer, (1, 10))

    async def body() -> None:
        async with opened(store) as pilot:
            await told(pilot, "seen 100 %")
            recording.append("out", numbered(10))
            viewer(pilot).went_on(frozenset({"cmd_00000a"}))
            await told(pilot, "seen 50 %")
            assert marks(pilot)[:20] == SEEN_MARKS["exact"] * 10 + "○" * 10
            recording.seal(exit_code=0)

    run(body)


def test_another_output_has_marks_of_its_own(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", numbered(20), ago=90)
    add(store, "cmd_00000b", "seq", numbered(20), ago=10)
    show(store, buffer, (1, 20))

    async def body() -> None:
        async with opened(store) as pilot:
            await told(pilot, "shown to nobody")
            await press(pilot, "j")
            await told(pilot, "seen 100 %")
            await press(pilot, "k")
            assert set(marks(pilot).strip()) <= {"○"}
            await told(pilot, "shown to nobody")

    run(body)


def test_lines_of_both_streams_are_marked_by_stream(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    for stream, line in (("out", b"a\n"), ("err", b"b\n"), ("out", b"c\n"), ("err", b"d\n")):
        recording.append(stream, line)
    buffer = recording.seal(exit_code=0)
    show(store, buffer, (2, 2), stream="err")

    async def body() -> None:
        async with opened(store) as pilot:
            await told(pilot, "seen 25 %")
            assert marks(pilot)[:4] == "○○○" + SEEN_MARKS["exact"]
            await press(pilot, "enter", "s", "s")
            await until(pilot, lambda: marks(pilot)[:2] == "○" + SEEN_MARKS["exact"])

    run(body)


def test_bytes_have_no_marks(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", numbered(20))
    show(store, buffer, (1, 20))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "x")
            await told(pilot, "seen 100 %")
            await until(pilot, lambda: not viewer(pilot).overview.cells)
            assert set(marks(pilot)) == {"0", " "}
            await press(pilot, "u", "exclamation_mark")
            assert (viewer(pilot).target, toasts(pilot)) == (0, [])

    run(body)


# notes


def test_notes_are_marked_and_told_and_cannot_do_anything(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", numbered(20))
    write_note(store, OTHER, Target(buffer, "all", 4, 5), "mind \x1b[31m[b]this")

    async def body() -> None:
        async with opened(store) as pilot:
            await told(pilot, "shown to nobody")
            assert [row for row in text(viewer(pilot)) if "✎" in row] == ["  4✎   line 4", "  5✎   line 5"]
            await press(pilot, "enter", *"4G")
            await told(pilot, "line 4: no agent saw it · ✎ mind ␛[31m[b]this")
            assert viewer(pilot).overview.cells[3].holds == "note"

    run(body)


# going to what was not seen


def test_unseen_regions_are_walked_down_and_up(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", numbered(100))
    show(store, buffer, (1, 10), (21, 50), (53, 100))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "u")
            assert viewer(pilot).target == 11
            await press(pilot, "u")
            assert viewer(pilot).target == 51
            await press(pilot, "u")
            assert (viewer(pilot).target, toasts(pilot)) == (51, ["Lines 51-52, here, are the last unseen ones"])
            await press(pilot, "U")
            assert viewer(pilot).target == 11

    run(body)


def test_an_unseen_region_ends_where_the_other_stream_was_seen_and_the_last_one_says_how_far_it_goes(
    store: Store,
) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    recording.append("out", numbered(20))
    recording.append("err", b"warning: seen\n")
    recording.append("out", numbered(860))
    buffer = recording.seal(exit_code=0)
    show(store, buffer, (1, 1), stream="err")

    async def body() -> None:
        async with opened(store) as pilot:
            await told(pilot, "in 1 view")
            await press(pilot, "enter", "u")
            assert (viewer(pilot).target, "unseen 1-20" in info(pilot)) == (1, True)
            await press(pilot, "u")
            assert (viewer(pilot).target, "unseen 22-881" in info(pilot)) == (22, True)
            await press(pilot, "u")
            assert (viewer(pilot).target, toasts(pilot)) == (22, ["Lines 22-881, here, are the last unseen ones"])
            await press(pilot, "U")
            assert viewer(pilot).target == 1
            await press(pilot, "s", "u", "u")
            assert toasts(pilot)[1:] == ["Lines 1-880, here, are the last unseen ones"]  # of stdout alone

    run(body)


def test_steps_typed_ahead_all_count(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", numbered(100))
    show(store, buffer, *((line, line) for line in range(10, 100, 10)))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter")
            await burst(pilot, "uuuuu")
            assert viewer(pilot).target == 41
            await burst(pilot, "UU")
            assert viewer(pilot).target == 21
            await burst(pilot, "u" * 30)
            assert viewer(pilot).target == 91
            assert set(toasts(pilot)) == {"Lines 91-100, here, are the last unseen ones"}

    run(body)


def test_a_wrapped_line_that_begins_above_the_screen_is_above(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "cat", numbered(10) + b"x" * 20_000 + b"\n" + numbered(10))
    show(store, buffer, (1, 10), (12, 21))

    async def body() -> None:
        async with opened(store) as pilot:
            await told(pilot, "in 1 view")
            await press(pilot, "enter", "w", *"11G", "space", "space")
            assert viewer(pilot).window.top.line == 11
            assert viewer(pilot).window.top.row > 0
            await press(pilot, "u")
            assert toasts(pilot) == ["Line 11, here, is the last unseen one"]
            await press(pilot, "U")
            assert viewer(pilot).window.on_screen(11)

    run(body)


def test_new_lines_of_a_running_command_are_unseen_ones(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    recording.append("out", numbered(10))
    show(store, recording.buffer, (1, 10))

    async def body() -> None:
        async with opened(store) as pilot:
            await told(pilot, "seen 100 %")
            await press(pilot, "enter", "u")
            assert toasts(pilot) == ["All of it was seen"]
            recording.append("out", numbered(10))
            viewer(pilot).went_on(frozenset({"cmd_00000a"}))
            await until(pilot, lambda: viewer(pilot).line_count == 20)
            await press(pilot, "u")
            assert viewer(pilot).target == 11
            recording.seal(exit_code=0)

    run(body)


def test_overlooked_failures_are_walked_and_stand_out(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "make", BROKEN, exit_code=2)
    show(store, buffer, (1, 50), (190, 210))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "exclamation_mark")
            assert viewer(pilot).target == 101
            assert "1 of 1 that no agent saw" in info(pilot)
            row = next(y for y, row in enumerate(text(viewer(pilot))) if "ERROR: one" in row)
            mark = next(segment for segment in viewer(pilot).render_line(row) if segment.text == "!")
            assert mark.style.reverse
            await press(pilot, "exclamation_mark")
            assert viewer(pilot).target == 101

    run(body)


def test_with_nothing_overlooked_it_is_said_why(store: Store) -> None:
    seen = add(store, "cmd_00000a", "make", BROKEN, exit_code=2, ago=10)
    show(store, seen, (1, 302))
    add(store, "cmd_00000b", "seq", numbered(30), ago=90)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "exclamation_mark")
            assert toasts(pilot)[-1] == "No failure here: nothing to overlook"
            await press(pilot, "tab", "j", "enter", "exclamation_mark")
            assert toasts(pilot)[-1] == "All 2 failures were seen"

    run(body)


def test_what_only_shows_is_not_judged_and_gutter_key_and_words_agree(store: Store) -> None:
    read = add(store, "cmd_00000a", "cat app.log", BROKEN)
    show(store, read, (1, 50))

    async def body() -> None:
        async with opened(store) as pilot:
            await told(pilot, "not judged")
            await press(pilot, "enter", "exclamation_mark")
            assert toasts(pilot)[-1] == "2 error lines unseen; not judged, since cat only reads"
            await press(pilot, "e")
            assert viewer(pilot).target == 101
            await until(pilot, lambda: any("101?" in row for row in text(viewer(pilot))))
            assert not any("!" in row for row in text(viewer(pilot)))

    run(body)


def test_of_what_nobody_looked_at_that_is_said(store: Store) -> None:
    add(store, "cmd_00000a", "make", BROKEN, exit_code=2)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "exclamation_mark")
            assert viewer(pilot).target == 101
            assert "1 of 2 that no agent saw" in info(pilot)
            assert "line 101: no agent saw it" in info(pilot)

    run(body)


# the overview


def test_the_strip_shows_the_whole_output_and_where_one_is(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "make", BROKEN, exit_code=2)
    show(store, buffer, (1, 50), (190, 215))

    async def body() -> None:
        async with opened(store, (120, 34)) as pilot:
            await told(pilot, "1 failure no agent saw")
            height = viewer(pilot).size.height
            rows = strip(pilot)
            assert len(rows) == height
            assert rows[0] == " █"
            assert [row[0] for row in rows].count("!") == 1
            assert rows[row_of(pilot, 101)] == "! "
            assert rows[row_of(pilot, 202)] == "•█"
            assert rows[-1] == "  "
            here = [y for y in range(height) if viewer(pilot).overview._is_in_window(y)]
            assert here[0] == 0
            await press(pilot, "enter", "G")
            here = [y for y in range(height) if viewer(pilot).overview._is_in_window(y)]
            assert here[-1] == height - 1

    run(body)


def test_clicks_on_the_strip_go_there_and_on_a_sign_to_its_line(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "make", BROKEN, exit_code=2)
    show(store, buffer, (190, 210))

    async def body() -> None:
        async with opened(store, (120, 34)) as pilot:
            await told(pilot, "1 failure no agent saw")
            overview, height = viewer(pilot).overview, viewer(pilot).size.height
            await pilot.click(overview, offset=(0, row_of(pilot, 101)))
            await rest(pilot)
            assert viewer(pilot).target == 101
            await pilot.click(overview, offset=(1, height - 1))
            await rest(pilot)
            assert viewer(pilot).window.at_end
            await pilot.mouse_down(overview, offset=(1, height - 1))
            await pilot.hover(overview, offset=(1, height // 2))
            await pilot.mouse_up(overview, offset=(1, height // 2))
            await rest(pilot)
            assert abs(viewer(pilot).window.top.line + height // 2 - 151) <= 8

    run(body)
