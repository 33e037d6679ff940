"""How the viewer shows an output: which streams, in which look, on how many rows, with times, as bytes."""

import pytest
from textual.pilot import Pilot

from sightline.store import Store
from sightline_tui.app import InspectorApp
from sightline_tui.viewer.overview_strip import COLUMNS
from sightline_tui.viewer.row_painter import TIME_COLUMNS, WAIT_COLUMNS, is_long, time_text, wait_text
from tests.tui.tui_kit import add, begin, numbered, opened, press, rest, run, text, viewer

SECOND = 1_000_000_000


def place(pilot: Pilot[None]) -> str:
    return text(pilot.app.query_one("#info"))[0]


def interleaved(store: Store, count: int = 300) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    for number in range(1, count + 1):
        stream = "err" if number % 3 == 0 else "out"
        recording.append(stream, b"%s %d\n" % (stream.encode(), number))
    recording.seal(exit_code=0)


def test_one_stream_is_shown_where_one_was(store: Store) -> None:
    interleaved(store)

    async def body() -> None:
        async with opened(store) as pilot:
            shown = viewer(pilot)
            await press(pilot, "enter", *":150", "enter")
            top = text(shown)[0]
            await press(pilot, "s")
            assert "stdout only" in place(pilot)
            assert all(" out " in row for row in text(shown))
            await press(pilot, "s")
            assert "stderr only" in place(pilot)
            assert all("▌ err " in row for row in text(shown))
            await press(pilot, "s")
            assert abs(int(text(shown)[0].split()[0]) - int(top.split()[0])) <= 3

    run(body)


def test_where_there_is_one_stream_that_is_said(store: Store) -> None:
    add(store, "cmd_00000a", "true", err=b"x\n")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "s")
            assert [toast.message for toast in pilot.app._notifications] == ["There is only standard error"]

    run(body)


def test_blocks_can_be_looked_at_one_by_one(store: Store) -> None:
    recording = begin(store, "tool_00000a", "search {}")
    recording.register()
    recording.append("part.0", b"first\n")
    recording.append("part.1", b"second\n")
    recording.seal(exit_code=None)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "s", "s")
            assert text(viewer(pilot)) == ["  1   second"]
            assert "block 1 only" in place(pilot)
            await press(pilot, "Y")
            assert pilot.app.clipboard == "@tool_00000a"
            await press(pilot, *":1", "enter", "Y")
            assert pilot.app.clipboard == "@tool_00000a.1:1-1"

    run(body)


def test_looks(store: Store) -> None:
    add(store, "cmd_00000a", "make", b"\x1b[31mred\x1b[0m old\rnew\n\xff\r\n")

    async def body() -> None:
        async with opened(store) as pilot:
            shown = viewer(pilot)
            assert text(shown) == ["  1   new old", "  2   �"]
            coloured = {segment.style.color for segment in shown.drawn(1).strip if segment.style}
            await press(pilot, "enter", "r")
            assert text(shown) == ["  1   new old", "  2   �"]
            assert len({segment.style.color for segment in shown.drawn(1).strip if segment.style}) == 1
            assert "cleaned" in place(pilot)
            await press(pilot, "r")
            assert text(shown) == ["  1   ␛[31mred␛[0m old␍new", "  2   ‹xFF›␍"]
            assert "raw" in place(pilot)
            await press(pilot, "r")
            assert {segment.style.color for segment in shown.drawn(1).strip if segment.style} == coloured

    run(body)


def test_a_colour_goes_on_below_the_line_that_opened_it(store: Store) -> None:
    add(store, "cmd_00000a", "make", b"\x1b[31mred\n" + b"still\n" * 150 + b"\x1b[0mplain\n", b"other\n")

    async def body() -> None:
        async with opened(store) as pilot:
            shown = viewer(pilot)
            await press(pilot, "enter", "G")

            def colour(number: int) -> object:
                return next(iter(shown.drawn(number).strip)).style.color

            assert colour(151) == colour(1) != colour(152)
            assert colour(153) == colour(152)  # the other stream has a pen of its own

    run(body)


def test_long_lines_take_several_rows(store: Store) -> None:
    lines = [b"short", b"x" * 200, "日本語".encode() * 40, b"last"]
    add(store, "cmd_00000a", "cat", b"\n".join(lines) + b"\n" + numbered(100))

    async def body() -> None:
        async with opened(store, (100, 30)) as pilot:
            shown = viewer(pilot)
            await press(pilot, "enter", "w")
            rows = text(shown)
            assert "wrap" in place(pilot)
            assert rows[0] == "   1   short"
            assert rows[1].startswith("   2   xxx")
            assert rows[2].startswith("       xxx")
            assert "".join(row[7:] for row in rows).startswith("short" + "x" * 200 + "日本語" * 40 + "last")
            await press(pilot, "j", "j")
            assert text(shown)[0].startswith("       xxx")
            await press(pilot, "G")
            assert text(shown)[-1].split() == ["104", "line", "100"]
            await press(pilot, "g", *":4", "enter")
            assert "   4   last" in text(shown)
            await press(pilot, "w")
            assert "   4   last" in text(shown)

    run(body)


def test_nothing_of_a_line_stands_behind_the_overview(store: Store) -> None:
    numbers = " ".join(f"{number:04d}" for number in range(300))
    add(store, "cmd_00000a", "seq -s ' '", numbers.encode() + b"\n" + numbered(50))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "w")
            shown = viewer(pilot)
            left, right = shown.region.x + 6, shown.region.right - COLUMNS
            rows = [strip.text[left:right] for strip in pilot.app.screen._compositor.render_strips()]
            assert numbers in "".join(rows[shown.region.y : shown.region.bottom])
            await press(pilot, "w", "dollar_sign")
            rows = [strip.text[left:right] for strip in pilot.app.screen._compositor.render_strips()]
            assert rows[shown.region.y].rstrip().endswith("0298 0299")

    run(body)


def test_following_and_searching_work_on_several_rows(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    recording.append("out", (b"x" * 300 + b"\n") * 30)

    async def body() -> None:
        async with opened(store) as pilot:
            shown = viewer(pilot)
            await press(pilot, "enter", "w", "G")
            assert shown.following
            for number in range(3):
                recording.append("out", b"y" * 200 + b"end %d\n" % number)
                shown.went_on(frozenset({"cmd_00000a"}))
                await rest(pilot)
                assert text(shown)[-1].endswith(f"end {number}")
            await press(pilot, "k")
            assert not shown.following
            await press(pilot, "g", *"/end 2", "enter")
            assert "end 2" in "".join(text(shown))
            recording.seal(exit_code=0)

    run(body)


def test_times_tell_where_it_was_slow(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    times = iter((0.5, 4.5, 4.55))
    recording.time_by(lambda: int(next(times) * SECOND))
    for data in (b"one\n", b"two\nthree\n", b"four\n"):
        recording.append("out", data)
    recording.seal(exit_code=0)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "T")
            assert [row.split()[1:] for row in text(viewer(pilot))] == [
                ["0.500", "+4.0s", "one"],
                ["4.500", "two"],
                ["4.500", "three"],
                ["4.550", "four"],
            ]
            await press(pilot, "T")
            assert text(viewer(pilot))[0].split() == ["1", "one"]

    run(body)


def test_where_no_times_are_known_that_is_said(store: Store) -> None:
    add(store, "file_00000a", "notes.txt", b"one\n", exit_code=None)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "T")
            assert "was not captured from a running command" in next(iter(pilot.app._notifications)).message
            assert text(viewer(pilot)) == ["  1   one"]

    run(body)


@pytest.mark.parametrize(
    ("seconds", "worded"),
    [(0, "0.000"), (12.3456, "12.345"), (187.25, "3:07.2"), (3723, "1:02:03"), (86_399, "23:59:59")],
)
def test_times_are_worded(seconds: float, worded: str) -> None:
    assert time_text(int(seconds * SECOND)) == worded
    assert len(worded) <= TIME_COLUMNS


@pytest.mark.parametrize(
    ("seconds", "worded"), [(0.4, "+0.4s"), (12, "+12s"), (59.7, "+1m00s"), (200, "+3m20s"), (7_500, "+2h05m")]
)
def test_waits_are_worded(seconds: float, worded: str) -> None:
    assert wait_text(int(seconds * SECOND)) == worded
    assert len(worded) <= WAIT_COLUMNS


@pytest.mark.parametrize(
    ("wait", "whole", "stands_out"), [(1, 10_000, True), (0.5, 600, False), (0.5, 10, True), (0.05, 0.1, False)]
)
def test_waits_that_stand_out(wait: float, whole: float, stands_out: bool) -> None:
    assert is_long(int(wait * SECOND), int(whole * SECOND)) == stands_out


def test_what_is_no_text_is_shown_as_bytes(store: Store) -> None:
    add(store, "cmd_00000a", "cat", bytes(range(256)) * 100, b"\x00")

    async def body() -> None:
        async with opened(store, (160, 40)) as pilot:
            shown = viewer(pilot)
            assert "hex" in place(pilot)
            assert text(shown)[6] == ("00000060   60 61 62 63 64 65 66 67  68 69 6a 6b 6c 6d 6e 6f │`abcdefghijklmno│")
            await press(pilot, "enter", *":0x6400", "enter")
            assert shown.target == 1601  # of err: its bytes follow those of out
            await press(pilot, "k", "Y")
            await press(pilot, *":0x100", "enter", "Y")
            assert pilot.app.clipboard == "@cmd_00000a --stream out --offset 256 --limit 16"
            await press(pilot, *"/xyz", "enter")
            assert shown.target == 22  # XYZ
            await press(pilot, "n")
            assert shown.target == 24
            await press(pilot, "r")  # what changes nothing of bytes says so
            assert [toast.message for toast in pilot.app._notifications][-1] == "These are bytes: x shows lines"
            await pilot.resize_terminal(80, 24)
            await rest(pilot)
            assert text(shown)[0].endswith("│")  # with the overview and the scrollbar they just have room
            await press(pilot, "x")
            assert "hex" not in place(pilot)

    run(body)


def test_bytes_of_text_can_be_looked_at_too(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(1_000))

    async def body() -> None:
        async with opened(store, (160, 40)) as pilot:
            await press(pilot, "enter", *":500", "enter")
            top = text(viewer(pilot))[0].split()
            await press(pilot, "x")
            assert top[-1] in "".join(row.split("│")[1] for row in text(viewer(pilot))[:2])
            await press(pilot, "x")
            assert abs(int(text(viewer(pilot))[0].split()[0]) - int(top[0])) <= 2  # rows of 16 bytes, lines of 9

    run(body)


def test_selected_lines_are_copied_as_text_or_as_their_ref(store: Store) -> None:
    interleaved(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *":40", "enter", "v", "j", "j")
            assert "40-42 selected" in place(pilot)
            await press(pilot, "Y")
            assert pilot.app.clipboard == "@cmd_00000a.all:40-42"
            await press(pilot, "y")
            assert pilot.app.clipboard == "out 40\nout 41\nerr 42\n"
            assert "selected" not in place(pilot)
            await press(pilot, "s", *":7,5", "enter", "Y")
            assert pilot.app.clipboard == "@cmd_00000a:5-7"
            await press(pilot, "escape", "y")
            assert pilot.app.clipboard == "@cmd_00000a"
            await press(pilot, "v", "G", "Y")
            assert pilot.app.clipboard.endswith("-200")
            await press(pilot, "v")
            assert "selected" not in place(pilot)

    run(body)


def test_the_mouse_selects_lines(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(1_000))

    async def body() -> None:
        async with opened(store) as pilot:
            shown = viewer(pilot)
            await pilot.mouse_down(shown, offset=(20, 2))
            await pilot.hover(shown, offset=(10, 5))
            await pilot.mouse_up(shown, offset=(10, 5))
            await press(pilot, "Y")
            assert pilot.app.clipboard == "@cmd_00000a:3-6"
            await pilot.click(shown, offset=(20, 8))
            await press(pilot, "Y")
            assert pilot.app.clipboard == "@cmd_00000a:9-9"

    run(body)


def test_what_no_terminal_takes_is_not_copied_and_it_is_said_what_to_do(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(100_000))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *":1,$", "enter", "y")
            (toast,) = pilot.app._notifications
            assert (toast.title, "Y copies the ref" in toast.message) == ("Not copied", True)
            assert pilot.app.clipboard == ""

    run(body)


def test_one_huge_line_opens_and_wraps(store: Store) -> None:
    add(store, "cmd_00000a", "cat", b'{"a": "' + b"one, two, three, four, five, six; " * 300_000 + b'"}')

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "w", "G")
            assert text(viewer(pilot))[-1].endswith('"}')
            await press(pilot, "g", *"/five", "enter")
            assert "1 of 1" in place(pilot)

    run(body)


@pytest.mark.parametrize("theme", ["textual-light", "dracula", "ansi-dark"])
def test_a_theme_of_textual_s_own_will_do(store: Store, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTUAL_THEME", theme)

    async def body() -> None:
        app = InspectorApp(store, live=False)
        app.set_reactive(InspectorApp.theme, theme)  # as Textual has it from the variable, before anything is parsed
        app.stylesheet.set_variables(app.get_css_variables())
        async with app.run_test() as pilot:
            await rest(pilot)
            assert app.current_theme.name == theme

    run(body)
