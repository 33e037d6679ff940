"""Sessions: who asked, what each does now, captured and missed, who read whose; and on to the timeline of one."""

import asyncio
import queue
import threading

import pytest
from textual import events

from sightline.base.project import Project
from sightline.base.records import Buffer
from sightline.log.session_events import AgentMessage, append_events
from sightline.log.views import Shows, record_view
from sightline.store import Store
from sightline_tui.commands import Help
from sightline_tui.inspector import Inspector
from sightline_tui.timeline.board_reader import Agent, BoardReader
from sightline_tui.timeline.screen import TimelineScreen
from sightline_tui.timeline.session_parts import heading_parts, row_parts, widths
from sightline_tui.timeline.sessions_screen import SessionsScreen
from tests.tui.audit_kit import AGENT, OTHER, ask, bar, rows, session
from tests.tui.tui_kit import NOW, add, begin, opened, press, run, until, viewer


@pytest.fixture
def buffer(store: Store) -> Buffer:
    made = add(store, "cmd_00000a", "make paint", b"one\ntwo\n")
    add(store, "cmd_00000b", "ls", b"x\n", session=OTHER)
    ask(store, made, [(1, 1)], ago=600)
    ask(store, made, [(1, 2)], by=OTHER, ago=300)
    return made


def test_sessions_tell_who_they_are_and_what_they_did(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (220, 40)) as pilot:
            await press(pilot, "W")
            everyone, first, second = rows(pilot, "sessions")
            assert "all sessions" in everyone
            assert first.split()[:3] == [OTHER, "codex", "project"]
            assert first.split()[-4:] == ["1", "-", "-", "5m"]
            assert second.split()[0] == AGENT and second.split()[-1] == "10m"

    run(body)


def test_one_tells_what_it_captured_and_who_read_whose(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (80, 30)) as pilot:
            await press(pilot, "W", "j")
            told = rows(pilot, "session-facts")
            assert f" read 1 output of {AGENT}" in told
            assert any("@cmd_00000b" in row for row in told)
            assert any("@cmd_00000a" in row and f"read of {AGENT}" in row for row in told)
            await press(pilot, "j")
            told = rows(pilot, "session-facts")
            assert any("@cmd_00000a" in row and f"read by {OTHER}" in row for row in told)
            await press(pilot, "tab", "G", "enter")
            await until(pilot, lambda: viewer(pilot).shows("cmd_00000a"))

    run(body)


def test_enter_opens_the_timeline_of_a_session(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "W", "j", "enter")
            assert isinstance(pilot.app.screen, TimelineScreen)
            assert OTHER in bar(pilot, "timeline-head")
            await press(pilot, "s")
            assert isinstance(pilot.app.screen, SessionsScreen)
            assert rows(pilot, "sessions")[1].startswith(" ▸")
            await press(pilot, "g", "enter")
            assert "all sessions" in bar(pilot, "timeline-head")

    run(body)


def test_a_session_is_renamed(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "W", "j", "n", *"release", "enter")
            assert "release" in rows(pilot, "sessions")[1]
            assert OTHER in rows(pilot, "session-facts")[0]
            await press(pilot, "enter")
            assert "release" in bar(pilot, "timeline-head")

    run(body)


def test_without_sessions_that_is_said(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "W", "n", "y")
            assert rows(pilot, "session-facts") == [" Nobody has asked anything yet. Enter says how to begin"]
            await press(pilot, "escape")
            assert not isinstance(pilot.app.screen, SessionsScreen)

    run(body)


# what each does now, and what it missed


def judged(reader: BoardReader) -> tuple[Agent, ...]:
    """The agents, once all failures have been looked for."""
    reader.step(fresh=True)
    while not (board := reader.step(fresh=False)).is_judged:
        pass
    return board.agents


def shown(agent: Agent, width: int = 120, **more: bool) -> str:
    return "".join(part.text for part in row_parts(agent, width, NOW, chosen=False, **more))


def test_a_row_tells_what_runs_and_since_when(store: Store, buffer: Buffer) -> None:
    going = begin(store, "cmd_00000c", "npm run watch")
    going.register()
    store.index.put_buffer(going.buffer._replace(created=NOW - 65))
    first, second = BoardReader(store).step(fresh=True).agents
    assert first.name == AGENT  # at work, and so above the one that asked last
    assert "● 1m05 npm run watch" in shown(first)
    assert shown(first).split()[-1] == "now"
    assert "read_output" in shown(second)  # its last call, as nothing of it runs
    assert second.name == OTHER
    going.seal(exit_code=0)


def test_a_row_tells_what_was_overlooked_in_its_outputs(store: Store, buffer: Buffer) -> None:
    failed = add(store, "cmd_00000d", "make paint", b"fine\n" * 50 + b"ERROR: out of paint\n", exit_code=1)
    ask(store, failed, [(1, 3)], verb="run_command", exit_code=1)
    ask(store, None, by=OTHER)
    reader = BoardReader(store)
    assert shown(reader.step(fresh=True).agents[0], judged=False).split()[-3] == "…"
    missed = {agent.name: agent.verdict.unseen for agent in judged(reader)}
    assert missed == {AGENT: 1, OTHER: 0}

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "W", "j")
            await until(pilot, lambda: any("out of paint" in row for row in rows(pilot, "session-facts")))
            assert any("1 failure unseen" in row for row in rows(pilot, "session-facts"))
            at = next(at for at, row in enumerate(rows(pilot, "session-facts")) if "out of paint" in row)
            await press(pilot, "tab", *"j" * at, "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, Inspector) and viewer(pilot).shows("cmd_00000d"))

    run(body)


@pytest.mark.parametrize("width", [30, 58, 78, 118, 198])
def test_columns_fit_whatever_the_width(store: Store, buffer: Buffer, width: int) -> None:
    agent = BoardReader(store).step(fresh=True).agents[0]
    assert len(shown(agent, width)) == len("".join(part.text for part in heading_parts(width)))
    if width >= 58:
        assert len(shown(agent, width)) <= width
        assert widths(width).now >= 15


# the project that is looked at


def test_sessions_and_timeline_are_those_of_the_project(store: Store) -> None:
    here = add(store, "cmd_00000a", "make here", b"one\n", cwd="/home/ada/project")
    there = add(store, "cmd_00000b", "make there", b"two\n", cwd="/srv/other", session=OTHER)
    ask(store, here, [(1, 1)], verb="run_command", ago=600)
    elsewhere = session(OTHER)._replace(cwd="/srv/other")
    record_view(store, elsewhere, Shows("run_command", {"command": "make there"}, refs=(there.name,)), [])

    async def body() -> None:
        async with opened(store) as pilot:
            pilot.app.screen.show_project(Project("/srv/other", ("/srv/other",)))
            await press(pilot, "W")
            assert [OTHER in row for row in rows(pilot, "sessions")] == [False, True]
            assert "other" in bar(pilot, "sessions-head")
            await press(pilot, "escape", "t")
            assert "other" in bar(pilot, "timeline-head")
            assert [row for row in rows(pilot, "calls") if "make" in row and "there" not in row] == []
            assert any("make there" in row for row in rows(pilot, "calls"))
            await press(pilot, "right_square_bracket")
            assert OTHER in bar(pilot, "timeline-head")
            await press(pilot, "q", "asterisk", "t")
            assert any("make here" in row for row in rows(pilot, "calls"))
            assert "all sessions" in bar(pilot, "timeline-head")

    run(body)


def test_all_sessions_are_all_of_them_again(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "W", "j", "enter")
            assert OTHER in bar(pilot, "timeline-head")
            await press(pilot, "q", "W", "g", "enter")
            assert "all sessions" in bar(pilot, "timeline-head")

    run(body)


def test_it_opens_and_closes_in_any_haste_while_others_write(store: Store, buffer: Buffer) -> None:
    turns, written = 28, queue.SimpleQueue[int]()

    def write() -> None:
        while number := written.get():
            made = add(store, f"cmd_1{number:05x}", f"make {number}", b"ERROR: no\n" * 20, exit_code=1, session=OTHER)
            ask(store, made, [(1, 1)], by=f"codex-{number % 9}")

    async def body() -> None:
        async with opened(store, live=True) as pilot:
            writer = threading.Thread(target=write)
            writer.start()
            try:
                for turn in range(turns):
                    written.put(turn + 1)
                    for key in ("W", "j", "enter", "escape") if turn % 4 == 0 else ("W", "escape"):
                        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
                        for _ in range(turn % 7):
                            await asyncio.sleep(0)
            finally:
                written.put(0)
                writer.join()
            pilot.app.post_message(events.Key("question_mark", "?"))  # which is seen to when all others have been
            await until(pilot, lambda: isinstance(pilot.app.screen, Help))
            assert len(store.index.session_counts()) > 9

    run(body)


def test_a_session_is_called_by_its_prompt_wherever_it_is_named(store: Store) -> None:
    name = "claude-code-6f1c2d3e-aaaa-4bbb-8ccc-0123456789ab"
    made = add(store, "cmd_00000a", "make paint", b"one\n", session=name)
    known = session(name)._replace(title="Why is the total wrong?", harness_id=name[12:])
    record_view(store, known, Shows("run_command", {"command": "make paint"}, refs=(made.name,)), [])
    store.index.put_session(known)

    async def body() -> None:
        async with opened(store, (200, 40)) as pilot:

            def told() -> str:
                return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())

            await until(pilot, lambda: "Why is the total" in bar(pilot, "info"))
            for keys in (("W", "j"), ("t", "g", "r"), ("i",)):
                await press(pilot, *keys)
                await until(pilot, lambda: "Why is the total" in told())
                if keys != ("i",) and keys != ("W", "j"):  # these two tell the name, too
                    assert name not in told()
                await press(pilot, *("escape" for _ in keys))
                await until(pilot, lambda: isinstance(pilot.app.screen, Inspector))

    run(body)


def test_what_runs_shows_its_last_line_and_what_its_agent_said_last(store: Store) -> None:
    recording = begin(store, "cmd_00000c", "make all")
    recording.register()
    recording.append("out", b"step 1\nstep 2 of 9\n\n")
    append_events(
        store.root,
        session(AGENT),
        [AgentMessage(NOW - 40, "I build it first."), AgentMessage(NOW - 30, "Now\nthe rest.")],
    )
    ask(store, store.index.buffer("cmd_00000c"))

    async def body() -> None:
        async with opened(store, (180, 40)) as pilot:
            await press(pilot, "W", "j")
            await until(pilot, lambda: any("step 2 of 9" in row for row in rows(pilot, "session-facts")))
            assert any("said 30s ago “Now the rest.”" in row for row in rows(pilot, "session-facts"))
            recording.append("out", b"step 3 of 9\n")
            await until(pilot, lambda: any("step 3 of 9" in row for row in rows(pilot, "session-facts")))
            await press(pilot, "tab", "G", "k", "enter")
            recording.seal(exit_code=0)

    run(body)
