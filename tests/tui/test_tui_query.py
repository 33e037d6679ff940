"""The query bar and its results: asked as an agent asks, logged as a person's."""

import errno
import os
import stat
import threading

import pytest
from textual import events
from textual.pilot import Pilot

from sightline.log.log_index import list_views
from sightline.log.sessions import is_person
from sightline.log.view_text import view_text
from sightline.search.processes import Cancel
from sightline.store import Store
from sightline.verbs.asker import Asker
from sightline_tui.asking import answers
from sightline_tui.asking.question import QueryQuestion
from sightline_tui.asking.result_pane import ResultPane
from sightline_tui.common.answer_text import AnswerSpool
from tests.tui.tui_kit import add, begin, buffers, burst, numbered, opened, press, rest, run, text, until, viewer


def pane(pilot: Pilot[None]) -> ResultPane:
    return pilot.app.query_one(ResultPane)


def head(pilot: Pilot[None]) -> str:
    return "\n".join(text(pilot.app.query_one("#result-head")))


def hints(pilot: Pilot[None]) -> str:
    row = pilot.app.query_one("#query-hints")
    return "\n".join(text(row)) if row.display else ""


def line(pilot: Pilot[None]) -> str:
    return str(pilot.app.query_one("#query").value)  # type: ignore[attr-defined]


def project(store: Store) -> None:
    add(store, "cmd_00000b", "seq 20", numbered(20), ago=90)
    add(store, "cmd_00000a", "seq 3000", numbered(3000), b"careful\nslow\n", ago=30)


def test_a_query_gets_what_an_agent_gets(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":grep line", "enter")
            assert pane(pilot).lines.has_focus
            assert pane(pilot).lines.row_count == 100
            assert text(pane(pilot).lines)[0] == "line 1"
            assert "grep line @cmd_00000a.all" in head(pilot)
            assert "truncated true" in head(pilot)
            assert "stdout_total 3000" in head(pilot)
            assert "next grep line @cmd_00000a.all | sed -n 101,200p" in head(pilot)

    run(body)


def test_a_persons_query_is_logged_as_theirs_and_is_no_use(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "an-agent-s")
    project(store)
    order = [item.buffer.name for item in store.index.listed(9)]

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":grep -c line @cmd_00000b", "enter")

    run(body)
    (indexed,) = list_views(store)
    session = store.index.session(indexed.view.session)
    assert session is not None
    assert is_person(session)
    assert session.client == "inspector"
    assert view_text(store, indexed) == "[exit_code=0]\n20\n"
    assert [item.buffer.name for item in store.index.listed(9)] == order


def test_enter_goes_to_the_line_behind_a_hit(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":grep -n 77 | sort -r", "enter", "j")
            chosen = text(pane(pilot).lines)[1]
            await press(pilot, "enter")
            await rest(pilot)
            number = chosen.partition(":")[0]
            assert f" {number}   line {number}" in "\n".join(text(viewer(pilot)))
            assert pane(pilot).lines.has_focus

    run(body)


def test_a_hit_in_another_buffer_selects_it(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":grep 17 @cmd_00000b", "enter", "enter")
            await rest(pilot)
            assert buffers(pilot).rows.selected == "cmd_00000b"
            assert "17   line 17" in "\n".join(text(viewer(pilot)))

    run(body)


def test_a_search_shows_where_its_lines_of_stderr_stand(store: Store) -> None:
    recording = begin(store, "cmd_00000c", "make")
    recording.register()
    for _ in range(3):
        recording.append("out", numbered(500))
        recording.append("err", b"careful\n")
    recording.seal(exit_code=0)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":/careful", "enter")
            await press(pilot, "j", "enter")  # the lines are there by then
            await rest(pilot)
            assert any("1002" in row and "careful" in row for row in text(viewer(pilot)))

    run(body)


def test_where_one_stream_is_shown_that_is_meant_and_gone_to(store: Store) -> None:
    recording = begin(store, "cmd_00000c", "make")
    recording.register()
    for stream, data in (("out", numbered(50)), ("err", b"one\ntwo\n"), ("out", numbered(50)), ("err", b"three\n")):
        recording.append(stream, data)
    recording.seal(exit_code=0)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "s", "s")
            assert [row.split()[-1] for row in text(viewer(pilot))] == ["one", "two", "three"]
            await press(pilot, *":grep three", "enter")
            assert "grep three @cmd_00000c.err" in head(pilot)
            await press(pilot, "enter")
            await rest(pilot)
            assert viewer(pilot).target == 3
            await press(pilot, *":grep -n two @cmd_00000c.all", "enter", "enter")
            await rest(pilot)
            assert text(pane(pilot).lines) == ["52:two"]
            assert viewer(pilot).target == 2

    run(body)


def test_a_hit_in_a_block_of_a_result_goes_to_where_the_block_stands(store: Store) -> None:
    recording = begin(store, "tool_00000a", "fetch")
    recording.register()
    recording.append("part.0", numbered(40))
    recording.append("part.1", b"alpha\nbeta\n")
    recording.seal(exit_code=None)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":grep beta @tool_00000a.1", "enter", "enter")
            await rest(pilot)
            assert any(row[1:].split() == ["42", "beta"] for row in text(viewer(pilot)))

    run(body)


def test_a_line_that_is_no_hit_goes_nowhere(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":wc -l", "enter", "enter")
            await rest(pilot)
            assert [notice.message for notice in pilot.app._notifications] == [
                "No line is known behind this one; grep -n tells"
            ]

    run(body)


def test_f_gets_the_whole_result(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":grep -n line", "enter", "f")
            assert pane(pilot).lines.row_count == 3000
            await press(pilot, "G", "enter")
            await rest(pilot)
            assert "3000   line 3000" in "\n".join(text(viewer(pilot)))
            assert "whole · 3,000 lines" in head(pilot)

    run(body)
    newest = list_views(store)[0]
    assert '"answer_bytes": ' in newest.view.request
    assert newest.view.bytes_shown < 200


def test_f_after_a_search_gets_all_that_match(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":/LINE", "enter")
            shown = pane(pilot).lines.row_count
            await press(pilot, "f")
            assert shown < 3000 == pane(pilot).lines.row_count

    run(body)


def test_parts_are_shown_as_read_output_gives_them(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":show 40-44", "enter")
            assert text(pane(pilot).lines) == [f"line {number}" for number in range(40, 45)]
            assert "total_lines 3002" in head(pilot)
            await press(pilot, *":show @cmd_00000a.err", "enter")
            assert text(pane(pilot).lines) == ["careful", "slow"]

    run(body)


def test_what_cannot_be_read_stays_in_the_bar_with_the_reason(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":sort > x", "enter")
            assert line(pilot) == "sort > x"
            assert "a query cannot have `>` (redirection)" in hints(pilot)
            await press(pilot, "backspace")
            assert hints(pilot) == ""
            await press(pilot, "escape")
            assert not pilot.app.query_one("#query-bar").display
            assert buffers(pilot).has_focus

    run(body)


def test_a_refusal_is_told_with_its_hint(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store, (200, 50)) as pilot:
            await press(pilot, *":frobnicate x", "enter")
            assert "error not a program that a query may use: frobnicate" in head(pilot)
            assert "hint it may use grep" in head(pilot)
            await press(pilot, *":grep x @cmd_999999", "enter")
            assert "cmd_999999" in head(pilot)

    run(body)


def test_a_query_can_be_cancelled(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    project(store)
    begun = threading.Event()

    def endless(asking: Asker, asked: object, cancel: Cancel, show: object) -> None:
        begun.set()
        while not cancel.cancelled:
            threading.Event().wait(0.001)

    monkeypatch.setattr("sightline_tui.asking.result_pane.answer", endless)

    async def body() -> None:
        async with opened(store) as pilot:
            await pilot.press(*":grep x", "enter")
            await until(pilot, begun.is_set)
            assert "running" in head(pilot)
            await press(pilot, "escape")
            assert "cancelled" in head(pilot)
            await press(pilot, "escape")
            assert not pane(pilot).display
            assert viewer(pilot).has_focus

    run(body)


def test_a_newer_query_ends_the_one_before(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    project(store)
    ended = list[str]()

    def first_endless(asking: Asker, asked: QueryQuestion, cancel: Cancel, show: object) -> None:
        if "first" not in asked.text:
            answers.answer(asking, asked, cancel, show)  # type: ignore[arg-type]
            return
        while not cancel.cancelled:
            threading.Event().wait(0.001)
        ended.append(asked.text)

    monkeypatch.setattr("sightline_tui.asking.result_pane.answer", first_endless)

    async def body() -> None:
        async with opened(store) as pilot:
            await pilot.press(*":grep first", "enter")
            await press(pilot, *":grep 77", "enter")
            assert text(pane(pilot).lines)[0] == "line 77"

    run(body)
    assert ended == ["grep first @cmd_00000a.all"]


def test_keys_typed_ahead_reach_the_bar(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await burst(pilot, ":grep 2999\r")
            await rest(pilot)
            assert text(pane(pilot).lines) == ["line 2999"]

    run(body)


def test_history_is_kept_privately_and_gone_through(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":grep 7", "enter")
            await press(pilot, *":wc -l", "enter")
        async with opened(store) as pilot:
            await press(pilot, "colon", "up")
            assert line(pilot) == "wc -l"
            await press(pilot, "up")
            assert line(pilot) == "grep 7"
            await press(pilot, "up", "down")
            assert line(pilot) == "wc -l"
            await press(pilot, "down")
            assert line(pilot) == ""
            await press(pilot, "g", "up", "end")
            assert line(pilot) == "grep 7"

    run(body)
    path = os.path.join(store.root, "queries")
    with open(path) as file:
        assert file.read() == "grep 7\nwc -l\n"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_keys_typed_ahead_ask_again(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":grep 2999", "enter", "q")
            for key in (events.Key("colon", ":"), events.Key("up", None), events.Key("enter", "\r")):
                pilot.app.post_message(key)
            await rest(pilot)
            await rest(pilot)
            assert text(pane(pilot).lines) == ["line 2999"]
            await press(pilot, "y")
            assert pilot.app.clipboard == "line 2999"

    run(body)


def test_a_full_disk_is_said_and_survived(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    project(store)

    def full(self: AnswerSpool, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(AnswerSpool, "feed", full)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":grep line", "enter", "f")
            await rest(pilot)
            assert "failed" in head(pilot)
            assert text(pane(pilot).lines) == []
            assert "The disk is full" in "".join(notice.title for notice in pilot.app._notifications)
            await press(pilot, *":grep 77", "enter")
            assert text(pane(pilot).lines)[0] == "line 77"

    run(body)


def test_tab_completes_programs_refs_and_options(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":gre", "tab")
            assert line(pilot) == "grep "
            await press(pilot, *"x @cmd_", "tab")
            assert line(pilot) == "grep x @cmd_00000a"
            assert "@cmd_00000b" in hints(pilot)
            await press(pilot, "tab")
            assert line(pilot) == "grep x @cmd_00000b"
            await press(pilot, "shift+tab")
            assert line(pilot) == "grep x @cmd_00000a"
            await press(pilot, "space", *"| so", "tab")
            assert line(pilot) == "grep x @cmd_00000a | sort "

    run(body)


def test_tab_goes_round_the_panes(store: Store) -> None:
    project(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":wc -l", "enter", "tab")
            assert buffers(pilot).has_focus
            await press(pilot, "tab")
            assert viewer(pilot).has_focus
            await press(pilot, "tab", "q")
            await press(pilot, "tab")
            assert buffers(pilot).has_focus

    run(body)


def test_an_answer_is_drawn_safely(store: Store) -> None:
    add(store, "cmd_00000a", "evil", b"\x1b]0;owned\x07x \xe2\x80\xae y [b]bold[/b] \x07\n")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *":cat", "enter")
            (row,) = text(pane(pilot).lines)
            assert "\x1b" not in row
            assert "‹U+202E›" in row
            assert "[b]bold[/b]" in row

    run(body)
