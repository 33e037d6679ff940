"""The Info panel: everything that is known of a buffer, and what was shown of it, word for word."""

import os
import time

import pytest
from textual.pilot import Pilot

from sightline.base.records import StreamInfo
from sightline.log.sessions import current_session
from sightline.store import Store
from sightline.verbs.asker import Asker
from sightline.verbs.delivery import deliver
from sightline.verbs.query import query
from sightline.verbs.requests import QueryRequest
from sightline_tui.evidence.dossier import Fact, facts_of, read_dossier
from sightline_tui.evidence.info_screen import FactRows, InfoScreen, ViewScreen, folded
from sightline_tui.inspector import Inspector
from tests.tui.tui_kit import NOW, add, begin, numbered, opened, press, rest, run, text


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.localtime", time.gmtime)


def ask(store: Store, pipeline: str, session: str) -> None:
    """Ask as an agent does."""
    agent = current_session({"CLAUDE_CODE_SESSION_ID": "x"}, name=session, client="probe 1.0")
    asking = Asker(store, agent, lambda verb, **_: verb)
    reply = query(asking, QueryRequest(pipeline))
    deliver(asking, reply, lambda reply: reply.body, lambda _: None, is_use=False)


def told(store: Store, name: str) -> dict[str, str]:
    facts = facts_of(read_dossier(store, name), NOW)
    return {fact.label: fact.text for fact in facts if fact.label and fact.view is None}


def facts(pilot: Pilot[None]) -> FactRows:
    return pilot.app.screen.query_one(FactRows)


def test_what_is_known_of_a_command(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "make\n  all", b"out\n", b"err\n", exit_code=2, label="build", pinned=True)
    store.index.put_session(current_session({}, name="claude-code-7f3a", client="probe 1.0"))
    shown = told(store, "cmd_00000a")
    assert shown["command"] == "make\n  all"
    assert shown["in"] == "/home/ada/project"
    assert shown["state"] == "done, pinned"
    assert shown["ended"] == "exit 2"
    assert shown["began"] == "2026-09-21 14:12:18"
    assert shown["took"] == "1.5 s"
    assert shown["label"] == "build"
    assert shown["session"] == "claude-code-7f3a"
    assert shown["by"] == "shell, probe 1.0"
    assert shown["out"] == "1 line, 4 bytes"
    assert shown["sha256"] == buffer.stream("err").sha256
    assert os.path.samefile(shown["file"], store.layout.stream("cmd_00000a", "err"))


@pytest.mark.parametrize(
    ("fields", "ended"),
    [
        ({"exit_code": None, "signal": 9}, "signal 9 (SIGKILL)"),
        ({"exit_code": None, "signal": 199}, "signal 199"),
        ({"exit_code": None, "timed_out": True}, "timed out"),
    ],
)
def test_how_it_ended(store: Store, fields: dict[str, object], ended: str) -> None:
    add(store, "cmd_00000a", "make", b"x", **fields)
    assert told(store, "cmd_00000a")["ended"] == ended


def test_a_running_capture_counts_on(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    recording.append("out", b"one\ntwo\n")
    store.index.put_buffer(recording.buffer._replace(created=NOW - 75))
    shown = told(store, "cmd_00000a")
    assert shown["took"] == "1 min 15 s"
    assert shown["out"] == "2 lines, 8 bytes"
    assert "until" not in shown
    recording.seal(exit_code=0)


def test_what_is_left_of_one_that_is_gone(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "make", b"x\n")
    ask(store, "cat @cmd_00000a", "agent-1")
    store.remove(buffer, "evicted")
    shown = told(store, "cmd_00000a")
    assert shown["gone"].startswith("expired 20")
    assert "lies in" not in shown
    assert len(read_dossier(store, "cmd_00000a").views) == 1


def test_no_more_views_than_can_be_looked_at(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline_tui.evidence.dossier.VIEWS", 2)
    add(store, "cmd_00000a", "make", b"x\n")
    for _ in range(3):
        ask(store, "cat @cmd_00000a", "agent-1")
    rows = facts_of(read_dossier(store, "cmd_00000a"), NOW)
    assert [row.text for row in rows if row.is_heading][-1] == "the newest 2 views"
    assert sum(row.view is not None for row in rows) == 2


def test_i_shows_it_and_enter_the_exact_text_of_a_view(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(300))
    ask(store, "grep -n 7 @cmd_00000a | head -3", "agent-1")
    ask(store, "wc -l @cmd_00000a", "agent-2")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "i")
            await rest(pilot)
            shown = "\n".join(text(facts(pilot)))
            assert isinstance(pilot.app.screen, InfoScreen)
            assert "2 views" in shown
            assert "agent-1  query  3 of 300 lines, 31 bytes  grep -n 7" in shown
            await press(pilot, "G", "enter")
            await rest(pilot)
            assert isinstance(pilot.app.screen, ViewScreen)
            assert text(pilot.app.screen.query_one("#view-text")) == ["7:line 7", "17:line 17", "27:line 27"]
            await press(pilot, "escape", "escape")
            assert isinstance(pilot.app.screen, Inspector)

    run(body)


def test_y_copies_the_row(store: Store) -> None:
    add(store, "cmd_00000a", "seq 3", numbered(3))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "i")
            await rest(pilot)
            await press(pilot, "j", "y")
            assert pilot.app.clipboard == "seq 3"

    run(body)


def test_a_view_whose_text_is_gone_says_so(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(3))
    ask(store, "cat @cmd_00000a", "agent-1")
    os.unlink(store.layout.audit_file("agent-1"))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "i")
            await rest(pilot)
            await press(pilot, "G", "enter")
            await rest(pilot)
            assert isinstance(pilot.app.screen, InfoScreen)
            (notice,) = pilot.app._notifications
            assert "the log of session agent-1 is gone" in notice.title

    run(body)


def test_hostile_facts_are_drawn_safely(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "evil \x1b]0;x\x07 [red]\u202e", b"x\n", label="[/b]\x9b31m")
    store.index.put_buffer(buffer._replace(streams={"out": StreamInfo(2, 1, "", "text/\x1b[31m")}))

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "i")
            await rest(pilot)
            shown = "\n".join(text(facts(pilot)))
            assert not set(shown) & set("\x1b\x07\x9b\u202e")
            assert "[red]" in shown
            assert "[/b]" in shown

    run(body)


def test_long_facts_are_folded_by_cells() -> None:
    assert folded(Fact("command", "日本語日本語\nx"), 7) == [("command", "日本語"), ("", "日本語"), ("", "x")]
