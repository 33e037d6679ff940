"""The diff screen: what it shows of two outputs, where its keys lead, and what it hands on."""

import contextlib
import threading
from collections.abc import AsyncIterator

import pytest
from textual.pilot import Pilot

from sightline.base.errors import StoreFailed
from sightline.base.records import Buffer
from sightline.store import Store, Target
from sightline_tui.diff import comparison as comparing
from sightline_tui.diff.diff_view import DiffView
from sightline_tui.diff.screen import DiffScreen
from tests.tui.tui_kit import NOW, add, buffers, burst, numbered, opened, press, rest, run, text, until, viewer

WIDE, NARROW = (140, 30), (80, 24)


@contextlib.asynccontextmanager
async def compared(
    store: Store, left: Buffer | Target, right: Buffer | Target, size: tuple[int, int] = WIDE
) -> AsyncIterator[Pilot[None]]:
    """The screen on two outputs, at rest."""
    async with opened(store, size) as pilot:
        await pilot.app.push_screen(DiffScreen(store, left, right, clock=lambda: NOW))
        await rest(pilot)
        yield pilot


def rows(pilot: Pilot[None]) -> list[str]:
    return [" ".join(row.split()) for row in text(pilot.app.screen.query_one(DiffView))]


def header(pilot: Pilot[None]) -> list[str]:
    return text(pilot.app.screen.query_one("#diff-header"))


def notice(pilot: Pilot[None]) -> str:
    found = pilot.app.screen.query_one("#notice")
    return " ".join(" ".join(text(found)).split()) if found.display else ""


def toasts(pilot: Pilot[None]) -> list[str]:
    return [toast.message for toast in pilot.app._notifications]


@pytest.fixture
def pair(store: Store) -> tuple[Buffer, Buffer]:
    """Twenty lines; the fifth changed, one added at the end."""
    left = numbered(20)
    right = left.replace(b"line 5\n", b"LINE 5\n") + b"line 21\n"
    return (
        add(store, "cmd_00000a", "make test", left, ago=600, exit_code=1),
        add(store, "cmd_00000b", "make test", right),
    )


def test_both_sides_stand_beside_each_other(store: Store, pair: tuple[Buffer, Buffer]) -> None:
    async def body() -> None:
        async with compared(store, *pair) as pilot:
            assert rows(pilot) == [
                "1 line 1 │ 1 line 1", "2 line 2 │ 2 line 2", "3 line 3 │ 3 line 3", "4 line 4 │ 4 line 4",
                "5 - line 5 │ 5 + LINE 5",
                "6 line 6 │ 6 line 6", "7 line 7 │ 7 line 7", "8 line 8 │ 8 line 8",
                "⋯ 9 equal lines",
                "18 line 18 │ 18 line 18", "19 line 19 │ 19 line 19", "20 line 20 │ 20 line 20",
                "│ 21 + line 21",
            ]  # fmt: skip
            assert "-1 +2" in header(pilot)[0]
            assert "1 of 2 changes" in header(pilot)[0]
            assert "- @cmd_00000a  make test" in header(pilot)[1]
            assert "exit 1" in header(pilot)[1]
            assert "+ @cmd_00000b  make test" in header(pilot)[2]

    run(body)


def test_where_it_is_narrow_they_stand_under_each_other(store: Store, pair: tuple[Buffer, Buffer]) -> None:
    async def body() -> None:
        async with compared(store, *pair, NARROW) as pilot:
            assert rows(pilot)[3:7] == ["4 4 line 4", "5 - line 5", "5 + LINE 5", "6 6 line 6"]
            await press(pilot, "vertical_line")
            assert rows(pilot)[4] == "5 - line 5 │ 5 + LINE 5"
            await pilot.resize_terminal(60, 24)  # what was chosen stays
            await rest(pilot)
            assert "│" in rows(pilot)[4]

    run(body)


def test_the_layout_follows_the_width(store: Store, pair: tuple[Buffer, Buffer]) -> None:
    async def body() -> None:
        async with compared(store, *pair) as pilot:
            await pilot.resize_terminal(*NARROW)
            await rest(pilot)
            assert "5 - line 5" in rows(pilot)

    run(body)


def test_what_is_not_looked_at_is_told(store: Store) -> None:
    left = add(store, "cmd_00000a", "run", b"took 12 ms\na b\nkept\nend\n")
    right = add(store, "cmd_00000b", "run", b"took 3.4s\na  b\nchanged\nend\n")

    async def body() -> None:
        async with compared(store, left, right) as pilot:
            assert "-3 +3" in header(pilot)[0]
            await press(pilot, "W")
            assert "without volatile tokens" in header(pilot)[0]
            assert "-2 +2" in header(pilot)[0]
            assert rows(pilot)[0] == "1 took 12 ms │ 1 took 3.4s"  # the originals
            await press(pilot, "w")
            assert "without whitespace and volatile tokens" in header(pilot)[0]
            assert "-1 +1" in header(pilot)[0]
            await press(pilot, "W", "w")
            assert "without" not in header(pilot)[0]

    run(body)


def test_that_nothing_differs_is_said(store: Store) -> None:
    left, right = add(store, "cmd_00000a", "a", b"x 1\n"), add(store, "cmd_00000b", "b", b"x 2\n")

    async def body() -> None:
        async with compared(store, left, left) as pilot:
            assert notice(pilot) == "No differences Line for line the same."
        async with compared(store, left, right) as pilot:
            assert notice(pilot) == ""
            await press(pilot, "W")
            assert notice(pilot) == "No differences They differ at most in volatile tokens."
            await press(pilot, "W", "n", "j")
            assert rows(pilot) == ["1 - x 1 │ 1 + x 2"]

    run(body)


def test_keys_lead_from_change_to_change(store: Store) -> None:
    lines = [b"%d\n" % number for number in range(1, 2_001)]
    other = [line if number % 500 else b"changed\n" for number, line in enumerate(lines, 1)]
    left, right = (add(store, f"cmd_00000{at}", "seq", b"".join(data)) for at, data in (("a", lines), ("b", other)))

    async def body() -> None:
        async with compared(store, left, right) as pilot:
            view = pilot.app.screen.query_one(DiffView)
            assert "1 of 4 changes" in header(pilot)[0]
            await press(pilot, "z")  # all lines, so that there is something to scroll
            await press(pilot, "n")
            assert "2 of 4 changes" in header(pilot)[0]
            assert "1000 - 1000 │ 1000 + changed" in rows(pilot)
            await press(pilot, "right_square_bracket", "c", "n")
            assert "4 of 4 changes" in header(pilot)[0]
            await press(pilot, "n")
            assert toasts(pilot) == ["No change further down"]
            await press(pilot, "N", "left_square_bracket")
            assert "2 of 4 changes" in header(pilot)[0]
            await press(pilot, "g")
            assert rows(pilot)[0] == "1 1 │ 1 1"
            await press(pilot, "G")
            assert rows(pilot)[-1] == "2000 - 2000 │ 2000 + changed"
            await press(pilot, *"1234G")
            assert "1234 1234 │ 1234 1234" in rows(pilot)
            await press(pilot, "z")
            assert len(view.rows or ()) == 29

    run(body)


def test_a_fold_is_opened_where_the_cursor_stands(store: Store, pair: tuple[Buffer, Buffer]) -> None:
    async def body() -> None:
        async with compared(store, *pair) as pilot:
            await press(pilot, "4", "j", "enter")
            assert "12 line 12 │ 12 line 12" in rows(pilot)
            assert "⋯" not in " ".join(rows(pilot))

    run(body)


def test_a_fold_is_opened_by_a_click(store: Store, pair: tuple[Buffer, Buffer]) -> None:
    async def body() -> None:
        async with compared(store, *pair) as pilot:
            await pilot.click(DiffView, offset=(20, 8))
            await rest(pilot)
            assert "12 line 12 │ 12 line 12" in rows(pilot)

    run(body)


def test_refs_of_lines_are_copied(store: Store, pair: tuple[Buffer, Buffer]) -> None:
    async def body() -> None:
        async with compared(store, *pair) as pilot:
            await press(pilot, "y")
            assert pilot.app.clipboard == "@cmd_00000b:5-5"
            await press(pilot, "tab", "y")
            assert pilot.app.clipboard == "@cmd_00000a:5-5"
            await press(pilot, "k", "v", "j", "j", "Y")
            assert pilot.app.clipboard == "@cmd_00000a:4-6"
            await press(pilot, "v", "3", "j", "Y")  # on to the fold, with all that it hides
            assert pilot.app.clipboard == "@cmd_00000a:6-17"
            await press(pilot, "n", "y")  # only the right side has that line
            assert pilot.app.clipboard == "@cmd_00000b:21-21"

    run(body)


def test_lines_are_copied(store: Store, pair: tuple[Buffer, Buffer]) -> None:
    async def body() -> None:
        async with compared(store, *pair) as pilot:
            await press(pilot, "v", "j", "y")
            assert pilot.app.clipboard == "LINE 5\nline 6\n"
            assert toasts(pilot) == ["Copied 2 lines of @cmd_00000b"]
            await press(pilot, "v", "3", "j", "escape", "Y")
            assert pilot.app.clipboard == "@cmd_00000b:9-17"

    run(body)


def test_more_than_a_terminal_takes_is_not_copied(store: Store) -> None:
    left, right = (add(store, f"cmd_00000{at}", "seq", numbered(20_000) + at.encode()) for at in "ab")

    async def body() -> None:
        async with compared(store, left, right) as pilot:
            await press(pilot, "v", "g", "y")
            assert toasts(pilot) == ["That is more than a terminal takes: Y copies the ref"]
            assert pilot.app.clipboard == ""

    run(body)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [("j", ("cmd_00000b", "6 line 6")), ("tab", ("cmd_00000a", "5 line 5"))],
    ids=["right", "left"],
)
def test_a_line_is_opened_in_its_buffer(
    store: Store, pair: tuple[Buffer, Buffer], keys: str, expected: tuple[str, str]
) -> None:
    async def body() -> None:
        async with compared(store, *pair) as pilot:
            await press(pilot, keys, "enter")
            assert not isinstance(pilot.app.screen, DiffScreen)
            shown = viewer(pilot)
            assert buffers(pilot).rows.selected == expected[0]
            assert expected[1] in [" ".join(row.split()) for row in text(shown)]

    run(body)


def test_streams_can_be_compared_one_by_one(store: Store) -> None:
    left = add(store, "cmd_00000a", "make", b"out\n", b"warning\n")
    right = add(store, "cmd_00000b", "make", b"out\n", b"error\n")

    async def body() -> None:
        async with compared(store, left, right) as pilot:
            assert "-1 +1" in header(pilot)[0]
            await press(pilot, "s")
            assert notice(pilot).startswith("No differences")
            assert "@cmd_00000a  " in header(pilot)[1]
            await press(pilot, "s")
            assert rows(pilot) == ["1 - warning │ 1 + error"]
            await press(pilot, "y")
            assert pilot.app.clipboard == "@cmd_00000b.err:1-1"
            await press(pilot, "s")
            assert len(rows(pilot)) == 2

    run(body)


def test_long_lines_scroll_sideways_together(store: Store) -> None:
    left = add(store, "cmd_00000a", "a", b"a" * 300 + b"LEFT\nx\n")
    right = add(store, "cmd_00000b", "b", b"a" * 300 + b"RIGHT\nx\n")

    async def body() -> None:
        async with compared(store, left, right) as pilot:
            assert "LEFT" not in rows(pilot)[0]
            assert rows(pilot)[0].endswith("a›")
            await press(pilot, "dollar_sign")
            assert "LEFT" in rows(pilot)[0]
            assert rows(pilot)[0].endswith("RIGHT")
            await press(pilot, "circumflex_accent")
            assert rows(pilot)[0].startswith("1 - aaa")
            view = pilot.app.screen.query_one(DiffView)
            assert {view.render_line(y).cell_length for y in range(view.size.height)} == {
                view.scrollable_content_region.width
            }

    run(body)


def test_what_an_output_holds_cannot_act(store: Store) -> None:
    left = add(store, "cmd_00000a", "a [red]", b"plain\n")
    right = add(store, "cmd_00000b", "b\x1b[2J", "[b]x[/b] \x1b]0;gone\x07\x1b[2J \u202eevil\t日本\n".encode())

    async def body() -> None:
        async with compared(store, left, right) as pilot:
            assert rows(pilot)[0].startswith("1 - plain │ 1 + [b]x[/b] ")
            shown = "".join(text(pilot.app.screen.query_one(DiffView)) + header(pilot))
            assert not {"\x1b", "\x07", "\u202e"} & set(shown)
            assert "‹U+202E›evil" in shown
            assert "b␛[2J" in shown

    run(body)


def test_a_comparison_can_be_stopped(
    store: Store, pair: tuple[Buffer, Buffer], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()
    real = comparing.compare

    def endless(*arguments: object, cancel: comparing.Cancel, **options: object) -> object:
        begun.set()
        stopped = threading.Event()
        monkeypatch.setattr(cancel, "attach", lambda group: None)
        while not cancel.cancelled:
            stopped.wait(0.01)
        raise comparing.Cancelled("the comparison was cancelled")

    async def body() -> None:
        async with opened(store, WIDE) as pilot:
            monkeypatch.setattr(comparing, "compare", endless)
            pilot.app.push_screen(DiffScreen(store, *pair, clock=lambda: NOW))
            await until(pilot, begun.is_set)
            assert notice(pilot) == "Comparing 0% Esc stops it"
            await press(pilot, "escape")
            assert notice(pilot) == "Not compared R compares again"
            monkeypatch.setattr(comparing, "compare", real)
            await press(pilot, "R")
            assert "-1 +2" in header(pilot)[0]
            monkeypatch.setattr(comparing, "compare", endless)
            await pilot.press("W")
            await until(pilot, lambda: "comparing" in header(pilot)[0])
            await press(pilot, "escape")
            assert "without" not in header(pilot)[0]  # what stands there is still the old one
            assert len(rows(pilot)) == 13
            await pilot.press("i", "q")
            await rest(pilot)
            assert not isinstance(pilot.app.screen, DiffScreen)

    run(body)


def test_what_cannot_be_compared_is_told(
    store: Store, pair: tuple[Buffer, Buffer], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> object:
        raise StoreFailed("the disk is gone", "plug it in")

    monkeypatch.setattr(comparing, "compare", failing)

    async def body() -> None:
        async with compared(store, *pair) as pilot:
            assert toasts(pilot) == ["plug it in"]
            assert notice(pilot).startswith("Not compared")

    run(body)


def test_an_output_that_was_evicted_is_told(store: Store, pair: tuple[Buffer, Buffer]) -> None:
    store.remove(pair[0], "evicted")

    async def body() -> None:
        async with compared(store, *pair) as pilot:
            assert notice(pilot).startswith("Not compared")
            assert len(toasts(pilot)) == 1

    run(body)


def test_keys_typed_ahead_are_kept(store: Store, pair: tuple[Buffer, Buffer]) -> None:
    async def body() -> None:
        async with compared(store, *pair) as pilot:
            await burst(pilot, "nNy")
            assert pilot.app.clipboard == "@cmd_00000b:5-5"

    run(body)


def test_its_keys_are_told(store: Store, pair: tuple[Buffer, Buffer]) -> None:
    async def body() -> None:
        async with compared(store, *pair) as pilot:
            keys = pilot.app.screen.query_one("#keys")
            assert "n Next change" in " ".join(text(keys))
            await press(pilot, "question_mark")
            assert len(pilot.app.screen_stack) == 3
            await press(pilot, "escape", "q")
            assert len(pilot.app.screen_stack) == 1

    run(body)


def test_no_key_of_the_diff_has_another_meaning_on_the_main_screen() -> None:
    keys = {key for binding in DiffScreen.BINDINGS for key in binding.key.split(",")}
    assert not keys & {"u", "i", "enter"}
