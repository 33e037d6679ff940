"""Lines of now: what each agent at work runs, printed last and said last, without moving what a person reads."""

from unittest.mock import patch

import pytest

from sightline.audit.at_work import AtWork, at_work
from sightline.audit.brief import as_text, make_brief
from sightline.base.records import Buffer, Session
from sightline.disk.recording import Recording
from sightline.log.session_events import AgentMessage, append_events
from sightline.store import Store
from sightline_tui.buffers import now_lines
from sightline_tui.buffers.now_lines import LEAST_SECONDS, LINGER_SECONDS, AgentNow, agents_after, lines_of
from tests.tui.audit_kit import AGENT, OTHER, ask, rows, session
from tests.tui.tui_kit import NOW, add, begin, buffers, numbered, opened, press, run, text, until, viewer


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines are there with the first screen, and are read soon again."""
    monkeypatch.setattr(now_lines, "FIRST_SECONDS", 0.1)
    monkeypatch.setattr(now_lines, "LINE_SECONDS", 0.15)


def running(store: Store, name: str, command: str, ago: float, by: str = AGENT) -> Recording:
    with patch("time.time", lambda: NOW - ago):
        recording = begin(store, name, command, session=by)
        recording.register()
    return recording


def work(ago: float, by: str = AGENT, **fields: object) -> AtWork:
    buffer = Buffer(
        *("cmd_00000a", "cmd", "running", "make all", "/", by, NOW - ago, None, NOW, None),
        *(0, False, "", False, "", "", "", {}),
    )
    return AtWork(by, "claude-code", buffer, 0, "step 2 of 9", "Now the rest.", NOW)._replace(**fields)


def told(agent: AgentNow, width: int) -> list[str]:
    return ["".join(part.text for part in left).rstrip() for left, _ in lines_of(agent, width, NOW)]


def test_a_short_command_has_no_line_and_each_agent_keeps_its_place() -> None:
    assert agents_after([], [work(LEAST_SECONDS / 2)], {}, NOW) == []
    first, second = work(60), work(50, OTHER)
    shown = agents_after([], [first, second], {}, NOW)
    assert [one.work.session for one in shown] == [AGENT, OTHER]
    again = agents_after(shown, [second, work(0.1)], {}, NOW)
    assert [one.work.session for one in again] == [AGENT, OTHER]


def test_a_line_stays_for_a_while_after_its_command_and_goes_with_its_output() -> None:
    shown = agents_after([], [work(60)], {}, NOW)
    record = shown[0].work.buffer._replace(state="sealed", exit_code=2, ended=NOW)
    records = {record.name: record}
    ended = agents_after(shown, [], records, NOW)
    assert told(ended[0], 100) == [" ✗ exit 2, now claude-code make all  ↳ step 2 of 9  “Now the rest.”"]
    assert agents_after(ended, [], records, NOW + LINGER_SECONDS - 1) == ended
    assert agents_after(ended, [], records, NOW + LINGER_SECONDS) == []
    assert agents_after(shown, [], {}, NOW) == []


def test_a_narrow_pane_has_two_lines_for_an_agent() -> None:
    agent = AgentNow(work(125, others=1))
    assert told(agent, 100) == [" ● 2m05 +1 claude-code make all  ↳ step 2 of 9  “Now the rest.”"]
    assert told(agent, 50) == [" ● 2m05 +1 claude-code make all", "   ↳ step 2 of 9  “Now the rest.”"]
    assert told(agent, 30)[1] == "   ↳ step 2 of…  “Now the res…"
    buffer = agent.work.buffer._replace(command="cd /home/ada/payments && /usr/bin/make all")
    long = AgentNow(work(125, buffer=buffer))
    assert told(long, 80)[0].startswith(" ● 2m05  claude-code … make all  ↳")
    named = AgentNow(work(125, buffer=buffer._replace(label="server log")))
    assert told(named, 50)[0] == " ● 2m05  claude-code server log"
    hostile = AgentNow(work(125, last_line="\x1b[31m\u202ered", said=""))
    assert not {"\x1b", "\u202e"} & set(told(hostile, 50)[1])


def test_agents_at_work_are_those_whose_command_has_not_ended(store: Store) -> None:
    add(store, "cmd_00000a", "ls", b"x\n")
    recording = running(store, "cmd_00000b", "make all", 90)
    recording.append("out", b"step 1\nstep 2 of 9\n\n")
    other = running(store, "cmd_00000c", "pytest", 60, OTHER)
    ask(store, None, by=AGENT)
    append_events(
        store.root, session(AGENT), [AgentMessage(NOW - 40, "First."), AgentMessage(NOW - 30, "Now\nthe rest.")]
    )
    second, first = at_work(store, store.index.running())
    assert (first.session, first.agent, first.buffer.name) == (AGENT, "claude-code", "cmd_00000b")
    assert (first.last_line, first.said, first.said_at) == ("step 2 of 9", "Now the rest.", NOW - 30)
    assert (second.session, second.last_line, second.said) == (OTHER, "", "")
    text = as_text(make_brief(store))
    assert "↳ step 2 of 9 said “Now the rest.”" in text
    recording.seal(exit_code=0)
    other.seal(exit_code=0)
    assert at_work(store, store.index.running()) == []


def test_a_shell_is_called_by_the_name_that_its_session_was_given(store: Store) -> None:
    recordings = [
        running(store, f"cmd_00000{at}", f"make {by}", 30 + at, by) for at, by in enumerate(("red", "shell-71"))
    ]
    known = [Session(name, "shell", "", "", "/", NOW) for name in ("red", "shell-71")]
    with patch.object(type(store.index), "sessions", lambda _: known):
        assert [one.agent or one.session for one in at_work(store, store.index.running())] == ["red", "shell"]
        assert [one.agent for one in make_brief(store).sections[0].items] == ["red", "shell"]
    for recording in recordings:
        recording.seal(exit_code=0)


@pytest.mark.parametrize(("rows", "agents", "shown"), [(45, 3, [*"012"]), (24, 6, ["0", "1", "2", "3", "2 more: W"])])
def test_agents_are_named_as_far_as_the_list_has_room_for_them(
    store: Store, soon: None, rows: int, agents: int, shown: list[str]
) -> None:
    async def body() -> None:
        recordings = [running(store, f"cmd_00000{at}", f"make {at}", 65 + at, f"red-{at}") for at in range(agents)]
        async with opened(store, (160, rows)) as pilot:
            lines = pilot.app.query_one("#now")
            await until(pilot, lambda: lines.display)
            said = [line for line in text(lines) if "●" in line or "more" in line]
            assert len(said) == len(shown)
            assert all(one in line for one, line in zip(shown, said, strict=True))
            assert ["F follows all" in line for line in said] == [True, *[False] * (len(said) - 1)]
        for recording in recordings:
            recording.seal(exit_code=0)

    run(body)


def test_the_list_says_what_an_agent_does_and_nothing_that_is_read_moves(store: Store, soon: None) -> None:
    for number in range(60):
        add(store, f"cmd_0000{number:02x}", f"make {number}", numbered(200), ago=100 + number)
    ask(store, None)

    async def body() -> None:
        async with opened(store, (120, 30)) as pilot:
            lines = pilot.app.query_one("#now")
            await press(pilot, "ctrl+d", "ctrl+d", "ctrl+d", "k", "enter", *"100G")
            before = viewer(pilot).window.top, text(viewer(pilot))
            selected, row = buffers(pilot).rows.selected, buffers(pilot).rows.cursor - buffers(pilot).first_row
            assert not lines.display
            recording = running(store, "cmd_0000ff", "make all", 65)
            recording.append("out", b"step 1\n")
            pilot.app.query_one("#now").changed()
            await until(pilot, lambda: lines.display and "step 1" in "\n".join(text(lines)))
            assert "● 1m05  claude-code make all" in text(lines)[0]
            assert "F follows" in text(lines)[0]
            recording.append("out", b"step 2\n")
            lines.went_on(frozenset(["cmd_0000ff"]))
            await until(pilot, lambda: "step 2" in "\n".join(text(lines)))
            await until(pilot, lambda: lines.size.height == 2)
            assert (viewer(pilot).window.top, text(viewer(pilot))) == before
            assert buffers(pilot).rows.selected == selected
            assert buffers(pilot).region.y + buffers(pilot).rows.cursor - buffers(pilot).first_row == 2 + row
            recording.seal(exit_code=1)
            lines.changed()
            await until(pilot, lambda: "✗ exit 1" in text(lines)[0])
            assert (viewer(pilot).window.top, text(viewer(pilot))) == before

    run(body)


def test_the_brief_says_what_runs_first_and_follows_it(store: Store) -> None:
    add(store, "cmd_00000a", "ls", b"x\n")
    recording = running(store, "cmd_00000b", "make all", 90)
    recording.append("out", b"step 2 of 9\n")
    ask(store, None)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "b")
            await until(pilot, lambda: any("step 2 of 9" in row for row in rows(pilot, "brief")))
            recording.append("out", b"step 3 of 9\n")
            await until(pilot, lambda: any("step 3 of 9" in row for row in rows(pilot, "brief")))
            await press(pilot, "F")
            assert len(pilot.app.screen_stack) == 1
            assert "live" in "".join(text(pilot.app.query_one("#header")))
            assert buffers(pilot).rows.selected == "cmd_00000b"
            recording.seal(exit_code=0)

    run(body)
