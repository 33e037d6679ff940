"""The viewer: lines of any number and length, both streams, the places one goes to."""

import pytest

from sightline.store import Store
from sightline_tui.viewer import line_strips
from sightline_tui.viewer.line_strips import LINE_BYTES
from tests.tui.tui_kit import add, begin, buffers, burst, numbered, opened, press, rest, run, text, until, viewer


def test_stderr_is_marked_where_it_arrived(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    for stream, data in (("out", b"one\n"), ("err", b"oops\n"), ("out", b"two\n")):
        recording.append(stream, data)
    recording.seal(exit_code=0)

    async def body() -> None:
        async with opened(store) as pilot:
            assert text(viewer(pilot)) == ["  1   one", "  2 ▌ oops", "  3   two"]

    run(body)


def test_places(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(10_000))

    async def body() -> None:
        async with opened(store) as pilot:
            shown = viewer(pilot)
            await press(pilot, "enter", "G")
            assert text(shown)[-1] == " 10000   line 10000"
            await press(pilot, "g")
            assert text(shown)[0] == "     1   line 1"
            await press(pilot, *"5000G")
            assert "5000   line 5000" in "\n".join(text(shown))
            await press(pilot, *":7777", "enter")
            assert "  7777   line 7777" in text(shown)
            await press(pilot, "colon", "5", "0", "percent_sign", "enter")
            assert "  5000   line 5000" in text(shown)
            await press(pilot, "pagedown")
            assert "  5000   line 5000" not in text(shown)
            await press(pilot, "home", "3", "j")
            assert text(shown)[0] == "     4   line 4"
            await press(pilot, "2", "5", "percent_sign")  # as in less
            assert "  2500   line 2500" in text(shown)

    run(body)


def test_keys_typed_ahead_reach_go_to_line(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(10_000))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "slash", *"seq", "ctrl+j")  # a line feed ends what is typed, too
            assert buffers(pilot).has_focus
            await burst(pilot, ":9123\r")
            assert "  9123   line 9123" in text(viewer(pilot))
            assert viewer(pilot).has_focus

    run(body)


def test_a_huge_line_is_read_at_its_ends_only(store: Store) -> None:
    add(store, "cmd_00000a", "cat huge", b"START" + b"x" * 5_000_000 + b"END\nnext\n")

    async def body() -> None:
        async with opened(store) as pilot:
            shown = viewer(pilot)
            assert text(shown)[0].startswith("  1   STARTxxx")
            assert text(shown)[0].endswith("x›")  # it goes on
            assert text(shown)[1] == "  2   next"
            assert shown._rows.longest() < LINE_BYTES + 100
            await press(pilot, "enter", "dollar_sign")
            assert text(shown)[0].endswith("END")
            await press(pilot, "circumflex_accent", "right")
            assert text(shown)[0].startswith("  1   xxxx")

    run(body)


def test_wide_characters_and_tabs_keep_their_columns(store: Store) -> None:
    add(store, "cmd_00000a", "cat", "日本\t|\nab\t|\n\x1b[31mred\x1b[0m\n".encode())

    async def body() -> None:
        async with opened(store) as pilot:
            shown = viewer(pilot)
            assert text(shown) == ["  1   日本    |", "  2   ab      |", "  3   red"]
            await press(pilot, "enter", "right")
            assert {shown.render_line(y).cell_length for y in range(3)} == {shown.columns}

    run(body)


def test_it_follows_a_capture_until_one_scrolls_up(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    recording.append("out", numbered(100))

    async def body() -> None:
        async with opened(store) as pilot:
            shown = viewer(pilot)

            async def grow(line: bytes) -> None:
                recording.append("out", line)
                shown.went_on(frozenset({"cmd_00000a"}))
                await rest(pilot)

            assert text(shown)[-1] == " 100   line 100"
            await grow(b"more\n")
            assert text(shown)[-1] == " 101   more"
            await press(pilot, "enter", "k")
            place = text(shown)[-1]
            assert not shown.following
            await grow(b"unseen\n")
            assert text(shown)[-1] == place
            await press(pilot, "F")
            await grow(b"seen\n")
            assert text(shown)[-1] == " 103   seen"
            recording.seal(exit_code=0)
            buffers(pilot).store_changed(index=True, live=frozenset())
            await rest(pilot)
            assert not shown.grows
            assert "ok" in text(pilot.app.query_one("#info"))[1]

    run(body)


def test_no_output_is_said(store: Store) -> None:
    add(store, "cmd_00000a", "true")

    async def body() -> None:
        async with opened(store) as pilot:
            assert text(pilot.app.query_one("#notice"))[0].strip() == "No output"
            await press(pilot, "enter")  # there is nothing to read
            assert buffers(pilot).has_focus

    run(body)


def test_what_an_evicted_buffer_was_is_said(store: Store) -> None:
    store.remove(add(store, "cmd_00000a", "make [all]", numbered(7)), "evicted")

    async def body() -> None:
        async with opened(store) as pilot:
            said = "\n".join(text(pilot.app.query_one("#notice")))
            assert "@cmd_00000a has expired" in said
            assert "make [all]" in said
            assert "7 lines" in said
            assert "Run the command again" in said

    run(body)


def test_a_buffer_that_is_evicted_while_open_stays_no_lie(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", numbered(7))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter")
            store.remove(buffer, "evicted")
            buffers(pilot).store_changed(index=True, live=frozenset())
            await rest(pilot)
            assert "has expired" in text(pilot.app.query_one("#notice"))[0]
            assert buffers(pilot).has_focus  # and no pane that is not there

    run(body)


def test_it_opens_on_a_ref_and_its_line(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(1_000))
    add(store, "cmd_00000b", "true")

    async def body() -> None:
        async with opened(store, target=store.resolve("@cmd_00000a:400-410")) as pilot:
            assert buffers(pilot).rows.selected == "cmd_00000a"
            assert "  400   line 400" in text(viewer(pilot))

    run(body)


def test_blocks_of_a_result_follow_each_other(store: Store) -> None:
    recording = begin(store, "tool_00000a", "search {}")
    recording.register()
    recording.append("part.0", b"first\n")
    recording.append("part.10", b"third\n")
    recording.append("part.2", b"second\n")
    recording.seal(exit_code=None)

    async def body() -> None:
        async with opened(store) as pilot:
            assert text(viewer(pilot)) == ["  1   first", "  2   second", "  3   third"]

    run(body)


def test_keys_typed_behind_enter_go_to_the_viewer(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(10_000))

    async def body() -> None:
        async with opened(store) as pilot:
            await burst(pilot, ":9123\r:42\rjj")
            third = viewer(pilot).size.height // 3
            assert text(viewer(pilot))[third - 2].split() == ["42", "line", "42"]

    run(body)


def test_keys_typed_behind_the_one_that_opens_reach_the_viewer(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(10_000))

    async def body() -> None:
        async with opened(store) as pilot:
            await burst(pilot, "\r5000Gj")
            third = viewer(pilot).size.height // 3
            assert text(viewer(pilot))[third - 1].split() == ["5000", "line", "5000"]

    run(body)


@pytest.mark.parametrize("key", ["pagedown", "pageup"])
def test_the_next_page_is_drawn_before_it_is_asked_for(store: Store, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    add(store, "cmd_00000a", "seq", numbered(1_000))
    drawn = set[int]()
    draw = line_strips.draw
    monkeypatch.setattr(line_strips, "draw", lambda line, *more: (drawn.add(line.number), draw(line, *more))[1])

    async def body() -> None:
        async with opened(store) as pilot:
            shown, window = viewer(pilot), viewer(pilot).window
            await until(pilot, lambda: shown.opened is not None and shown.opened.syntax is not None)  # redraws it all
            await press(pilot, "enter", *"500G", key)
            top, rows = window.top.line, window.rows
            following = range(top + rows, top + 2 * rows - 1) if key == "pagedown" else range(top - rows + 1, top)
            await until(pilot, lambda: drawn.issuperset(following))
            monkeypatch.setattr("sightline_tui.viewer.viewer.AHEAD_SECONDS", 60.0)
            drawn.clear()
            await press(pilot, key)
            assert following[0] in range(window.top.line, window.top.line + rows)
            assert not drawn

    run(body)
