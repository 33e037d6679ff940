"""The Shown screen: the exact replies about an output, in order, and the way from each to its lines."""

import os
import threading
from typing import Any

import pytest
from textual.pilot import Pilot

from sightline.base.records import Buffer, Session, Shown
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store
from sightline_tui.common.text_rows import TextRows
from sightline_tui.evidence import replies, shown_screen
from sightline_tui.evidence.replies import ShowingReply, line_behind, read_replies
from sightline_tui.evidence.reply_rows import CUT_BADGE, ReplyRows
from sightline_tui.evidence.shown_screen import ShownScreen
from sightline_tui.inspector import Inspector
from tests.tui.tui_kit import add, numbered, opened, press, rest, run, text, until, viewer

AGENT = Session("claude-1", "claude-code", "", "", "/", 1.0)
OTHER = Session("codex-1", "codex", "", "", "/", 1.0)


def reply(store: Store, buffer: Buffer, said: str, *ranges: tuple[int, int], **more: Any) -> None:
    """Have an agent get a reply."""
    session = more.pop("session", AGENT)
    lines = tuple(Shown(buffer.name, "out", first, last) for first, last in ranges)
    fields = {"verb": "read_output", "request": {}, "refs": (buffer.name,), "shown": lines, "lines_total": 100, **more}
    record_view(store, session, Shows(**fields), [Segment(said)])


@pytest.fixture
def asked(store: Store) -> Buffer:
    """An output that was shown three times."""
    buffer = add(store, "cmd_00000a", "seq", numbered(100))
    reply(store, buffer, "[head of it]\nline 1\nline 2\n", (1, 2), verb="run_command", truncated=True)
    reply(
        store, buffer, "40:line 40\n42:line 42\n", (40, 40), (42, 42), verb="query", request={"pipeline": "grep -n 4"}
    )
    more = (Shown("cmd_00000a", "out", 1, 100),)
    reply(store, buffer, "\x1b[31m100 [b]\n", verb="query", request={"pipeline": "wc -l"}, asked=more, session=OTHER)
    return buffer


def rows(pilot: Pilot[None]) -> list[str]:
    return text(pilot.app.screen.query_one(ReplyRows))


def said(pilot: Pilot[None]) -> list[str]:
    return text(pilot.app.screen.query_one(TextRows))


def test_replies_stand_in_order_each_with_its_exact_text(store: Store, asked: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "V")
            assert isinstance(pilot.app.screen, ShownScreen)
            assert [row.split()[2:4] for row in rows(pilot)] == [
                *(["claude-1", "run_command"], ["claude-1", "query"], ["codex-1", "query"]),
            ]
            assert ["2 lines" in row for row in rows(pilot)] == [True, True, False]
            assert "asked 100" in rows(pilot)[2]
            assert [CUT_BADGE.strip() in row for row in rows(pilot)] == [True, False, False]
            assert said(pilot) == ["100 [b]"]  # the newest; its colours and its markup do nothing
            await press(pilot, "k", "k")
            assert said(pilot) == ["[head of it]", "line 1", "line 2"]
            assert "3 replies · 1 cut" in text(pilot.app.screen.query_one("#shown-head"))[0]
            await press(pilot, "escape")
            assert isinstance(pilot.app.screen, Inspector)

    run(body)


def test_enter_on_a_reply_leads_to_its_lines_which_stand_out(store: Store, asked: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "V", "k", "enter")
            await until(pilot, lambda: viewer(pilot).target == 40)
            pointed = viewer(pilot).part_style("pointed").bgcolor
            coloured = [
                row.text.split()[-1]
                for row in (viewer(pilot).render_line(y) for y in range(viewer(pilot).size.height))
                if any(segment.style and segment.style.bgcolor == pointed and segment.text.strip() for segment in row)
            ]
            assert coloured == ["40", "42"]
            assert viewer(pilot).has_focus
            assert "reply 2 of 3: 2 lines" in text(pilot.app.query_one("#info"))[0]
            await press(pilot, "V")
            assert said(pilot) == ["40:line 40", "42:line 42"]  # one comes back to it
            await press(pilot, "escape", "escape")
            assert "reply" not in text(pilot.app.query_one("#info"))[0]

    run(body)


def test_enter_on_a_line_of_a_reply_leads_to_that_line(store: Store, asked: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "V", "k", "tab", "j", "enter")
            await until(pilot, lambda: viewer(pilot).target == 42)

    run(body)


def test_what_leads_nowhere_says_so(store: Store, asked: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "V", "enter")
            await press(pilot, "g", "tab", "enter")
            assert [toast.message for toast in pilot.app._notifications] == [
                "No line of the output stands in this reply: it was made of 100",
                "This line of the reply is none of the output's",
            ]
            assert isinstance(pilot.app.screen, ShownScreen)

    run(body)


def test_a_new_reply_appears_and_the_cursor_stays(store: Store, asked: Buffer) -> None:
    async def body() -> None:
        async with opened(store, live=True) as pilot:
            await until(pilot, lambda: pilot.app._feed._changes._thread is not None)
            await press(pilot, "V", "k")
            reply(store, asked, "again\n", (7, 7))
            await until(pilot, lambda: len(rows(pilot)) == 4)
            assert said(pilot) == ["40:line 40", "42:line 42"]

    run(body)


def test_only_the_session_that_marks_follow_is_told_of(store: Store, asked: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await until(
                pilot, lambda: viewer(pilot).known_audit is not None and viewer(pilot).known_audit.marks is not None
            )
            await press(pilot, "enter", "left_square_bracket")
            await until(pilot, lambda: viewer(pilot).known_audit.marks.session == "codex-1")
            await press(pilot, "V")
            assert len(rows(pilot)) == 1
            assert "to codex-1 only" in text(pilot.app.screen.query_one("#shown-head"))[0]

    run(body)


def test_of_what_nobody_was_shown_there_are_no_replies(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(10))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "V")
            assert rows(pilot) == []
            assert "Nothing of it was shown to anyone" in text(pilot.app.screen.query_one("#reply-head"))[0]
            await press(pilot, "enter", "q")
            assert isinstance(pilot.app.screen, Inspector)

    run(body)


def test_a_text_that_is_gone_is_not_another_replys(store: Store, asked: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "V")
            os.unlink(store.layout.audit_file(AGENT.name))
            await press(pilot, "k")
            assert said(pilot) == []
            assert "is gone" in text(pilot.app.screen.query_one("#reply-head"))[0]
            assert "claude-1 is gone" in next(iter(pilot.app._notifications)).title
            await press(pilot, "j")
            assert said(pilot) == ["100 [b]"]

    run(body)


def test_texts_are_read_off_the_screens_thread(store: Store, asked: Buffer, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set[int]()

    def watched(*given: Any) -> str:
        threads.add(threading.get_ident())
        return replies.text_of(*given)

    monkeypatch.setattr(shown_screen, "text_of", watched)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "V", "k")
            await rest(pilot)

    run(body)
    assert threads
    assert threading.get_ident() not in threads


# the line behind


def _found(store: Store, buffer: Buffer, text: list[str], at: int, which: int = -1) -> tuple[str, int] | None:
    made: ShowingReply = read_replies(store, buffer)[which]
    return line_behind(store, buffer, made, text, at)


def test_of_lines_that_read_alike_each_stands_for_its_own(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", b"same\nother\nsame\nsame\n")
    reply(store, buffer, "same\nother\nsame\n", (1, 3))
    lines = ["same", "other", "same", ""]
    assert [_found(store, buffer, lines, at) for at in range(3)] == [("out", 1), ("out", 2), ("out", 3)]


def test_numbers_before_lines_are_believed_only_with_the_lines(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", b"a\nb\n3:c\n")
    reply(store, buffer, "2:b\n3:c\n", (1, 3))
    assert _found(store, buffer, ["2:b", "3:c"], 0) == ("out", 2)
    assert _found(store, buffer, ["2:b", "3:c"], 1) == ("out", 3)
    assert _found(store, buffer, ["1:b"], 0) is None
