"""What was said between the calls: in the timeline a line each, opened by Enter; and why an output was captured."""

import json
from pathlib import Path

import pytest
from textual.pilot import Pilot

from sightline.agents.past_sessions.importer import Importer
from sightline.audit.timeline import Call
from sightline.base.records import Buffer
from sightline.harnesses.formats import find_sources
from sightline.log import log
from sightline.log.session_events import AgentMessage, Prompt, append_events
from sightline.store import Store, Target
from sightline_tui.timeline.call_rows import CallRows
from sightline_tui.timeline.screen import TimelineScreen
from tests.store.harnesses.past_kit import Claude, write_lines
from tests.tui.audit_kit import AGENT, OTHER, ask, bar, rows, session
from tests.tui.tui_kit import NOW, add, burst, opened, press, run, until

HOSTILE = "Paint it \x1b[31mred\x1b[0m\u202e, please.\n\n- **first** the door\n- then " + "the long wall " * 20


@pytest.fixture
def buffer(store: Store) -> Buffer:
    """Run by an agent after a prompt and a sentence, and followed by its summary; another agent had a task."""
    made = add(store, "cmd_00000a", "make paint", b"wet\n", ago=52)
    ask(store, made, [(1, 1)], verb="run_command", ago=50, exit_code=0)
    said = [
        Prompt(NOW - 60, HOSTILE),
        AgentMessage(NOW - 55, "Now I run `make paint`."),
        AgentMessage(NOW - 40, "Wet."),
    ]
    append_events(store.root, session(AGENT), said)
    file = add(store, "file_00000b", "src/main.c", b"int main;\n", session=OTHER, exit_code=None, ago=30)
    ask(store, file, [(1, 1)], by=OTHER, verb="read_file", ago=30)
    append_events(store.root, session(OTHER), [Prompt(NOW - 45, "Look for the paint.", by_agent=True)])
    return made


def calls(pilot: Pilot[None]) -> CallRows:
    return pilot.app.screen.query_one(CallRows)


def shown(pilot: Pilot[None]) -> str:
    return "\n".join(rows(pilot, "calls"))


def test_words_stand_between_the_calls_a_line_each(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (160, 30)) as pilot:
            await press(pilot, "t")
            await until(pilot, lambda: len(rows(pilot, "calls")) == 6)
            prompt, says, run_, task, summary, read = rows(pilot, "calls")
            assert (
                prompt.startswith(" ❯") and "prompt       Paint it ␛[31mred␛[0m‹U+202E›, please. - **first**" in prompt
            )
            assert says.startswith(" “") and "Now I run `make paint`." in says
            assert "run_command" in run_ and "task         Look for the paint." in task
            assert "Wet." in summary and "read_file" in read
            assert "1 of 6" in bar(pilot, "timeline-head").replace("6 of 6", "1 of 6")

    run(body)


def test_enter_unfolds_all_that_was_said_and_folds_it_again(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (80, 40)) as pilot:
            await press(pilot, "t", "g", "enter")
            await until(pilot, lambda: " │  - **first** the door" in shown(pilot))
            unfolded = [one for one in rows(pilot, "calls") if one.startswith(" │")]
            assert unfolded[0].strip() == "│  Paint it ␛[31mred␛[0m‹U+202E›, please."
            assert "".join(unfolded).count("wall") == 20 and max(map(len, unfolded)) <= 80
            assert "\x1b" not in shown(pilot) and "\u202e" not in shown(pilot)
            assert "1 of 6" in bar(pilot, "timeline-head")
            await press(pilot, "j", "j")
            assert "1 of 6" in bar(pilot, "timeline-head")  # still in the words of the same row
            await pilot.resize_terminal(120, 40)
            await until(
                pilot, lambda: "2 of 6" in bar(pilot, "timeline-head") or "1 of 6" in bar(pilot, "timeline-head")
            )
            await press(pilot, "g", "enter")
            await until(pilot, lambda: " │" not in shown(pilot))

    run(body)


def test_the_reason_of_an_output_is_the_sentence_before_it(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (120, 30), target=Target(buffer, "out")) as pilot:
            await press(pilot, "I")
            await until(pilot, lambda: isinstance(pilot.app.screen, TimelineScreen))
            await until(pilot, lambda: " │  Now I run `make paint`." in shown(pilot))
            assert getattr(calls(pilot).row, "text", "") == "Now I run `make paint`."
            assert "Look for the paint." not in shown(pilot)  # it is another session's

    run(body)


def test_the_same_key_leads_from_a_call_to_the_sentence_before_it(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (120, 30)) as pilot:
            await press(pilot, "t")
            await until(pilot, lambda: len(rows(pilot, "calls")) == 6)
            calls(pilot).go_to(2)
            await press(pilot, "I")
            await until(pilot, lambda: getattr(calls(pilot).row, "text", "") == "Now I run `make paint`.")

    run(body)


def test_without_any_words_the_call_itself_is_gone_to(store: Store) -> None:
    made = add(store, "cmd_00000a", "make paint", b"wet\n", ago=52)
    ask(store, made, [(1, 1)], verb="run_command", ago=50, exit_code=0)
    later = add(store, "cmd_00000c", "make more", b"wet\n", ago=32)
    ask(store, later, [(1, 1)], verb="run_command", ago=30, exit_code=0)

    async def body() -> None:
        async with opened(store, (120, 30), target=Target(made, "out")) as pilot:
            await press(pilot, "I")
            await until(pilot, lambda: isinstance(pilot.app.screen, TimelineScreen) and len(rows(pilot, "calls")) == 2)
            await until(pilot, lambda: "Nothing is kept of what was said" in str(list(pilot.app._notifications)))
            assert "make paint" in getattr(calls(pilot).row, "asked", "")

    run(body)


def test_a_filter_finds_words_and_drops_them_where_calls_are_meant(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (120, 30)) as pilot:
            await press(pilot, "t")
            await burst(pilot, "/LOOK FOR\r")
            await until(pilot, lambda: len(rows(pilot, "calls")) == 1)
            assert "Look for the paint." in shown(pilot)
            await press(pilot, "escape")
            await burst(pilot, "/verb:says\r")
            await until(pilot, lambda: len(rows(pilot, "calls")) == 2)
            await press(pilot, "escape")
            await burst(pilot, "/@cmd_00000a\r")
            await until(pilot, lambda: len(rows(pilot, "calls")) == 1)
            assert "run_command" in shown(pilot)

    run(body)


@pytest.fixture
def helped(store: Store, tmp_path: Path) -> Store:
    """An agent that started a helper, which ran a command."""
    claude = Claude("aaaa0000-0000-0000-0000-000000000000")
    name = claude.common["sessionId"]
    helper = Claude(name, agentId="a1", isSidechain=True)
    lines = [*claude.ran("first_of_the_agent_01", "1\n", "make first")]
    use = claude.use("task_of_the_agent_02", name="Task", input={"prompt": "look", "description": "look for drops"})
    helper.minute = claude.minute
    ran = helper.ran("first_of_the_helper_03", "2\n", "grep drops")
    claude.minute = helper.minute
    lines += [use, claude.result("task_of_the_agent_02", "found none")]
    lines += claude.ran("last_of_the_agent_04", "3\n", "make last")
    write_lines(tmp_path / f"{name}.jsonl", *lines)
    folder = tmp_path / name / "subagents"
    write_lines(folder / "agent-a1.jsonl", *ran)
    (folder / "agent-a1.meta.json").write_text(
        json.dumps({"agentType": "Explore", "toolUseId": "toolu_task_of_the_agent_02"})
    )
    Importer(store).run(find_sources(str(tmp_path)))
    return store


def test_helpers_stand_inline_or_apart_and_the_call_that_started_one_is_a_jump(helped: Store) -> None:
    def commands(pilot: Pilot[None]) -> list[str]:
        return [one.asked for one in calls(pilot).rows if isinstance(one, Call)]

    async def body() -> None:
        async with opened(helped, (140, 30)) as pilot:
            await press(pilot, "t")
            (own,) = (one.name for one in helped.index.sessions() if not one.name.endswith("-a1"))
            screen = pilot.app.screen
            assert isinstance(screen, TimelineScreen)
            screen.show_session(own)
            apart = ["make first", "Task look for drops", "make last"]
            await until(pilot, lambda: commands(pilot) == apart)
            calls(pilot).go_to(1)
            await until(pilot, lambda: "> shows its helper" in bar(pilot, "timeline-detail"))
            await press(pilot, "greater_than_sign")
            await until(pilot, lambda: commands(pilot) == ["grep drops"])
            await press(pilot, "less_than_sign")
            await until(pilot, lambda: commands(pilot) == apart)
            assert getattr(calls(pilot).row, "asked", "") == "Task look for drops"
            await press(pilot, "H")
            await until(pilot, lambda: commands(pilot) == ["make first", "grep drops", *apart[1:]])
            assert "with helpers" in bar(pilot, "timeline-head")
            assert "3 calls" in bar(pilot, "timeline-totals")  # of the session itself
            await press(pilot, "H")
            await until(pilot, lambda: commands(pilot) == apart)

    run(body)


def test_blanked_words_are_named_as_such(store: Store, buffer: Buffer) -> None:
    log.blank(store.layout.audit_file(AGENT), lambda entry: entry.get("kind") in ("prompt", "message"))

    async def body() -> None:
        async with opened(store, (120, 30)) as pilot:
            await press(pilot, "t")
            await until(pilot, lambda: shown(pilot).count("(blanked)") == 3)
            await press(pilot, "g", "enter")
            assert " │" not in shown(pilot)

    run(body)


def test_the_replay_says_why_before_each_call_and_in_full(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (120, 40)) as pilot:
            await press(pilot, "t")
            await until(pilot, lambda: len(rows(pilot, "calls")) == 6)
            calls(pilot).go_to(2)
            await press(pilot, "r")
            await until(pilot, lambda: "Now I run" in bar(pilot, "replay-asked"))
            why, says, asked, _ = bar(pilot, "replay-asked").splitlines()
            assert why.startswith(" ❯ Paint it ␛[31mred␛[0m‹U+202E›, please. - **first** the door")
            assert (says.strip(), asked.strip()) == ("“ Now I run `make paint`.", "run_command  make paint")
            await press(pilot, "I")
            assert "What was said before it" in bar(pilot, "reply-title")
            said = rows(pilot, "reply")
            assert said[0].startswith("❯ prompt  ") and "- **first** the door" in said
            assert said[-1] == "Now I run `make paint`." and "\u202e" not in "".join(said)
            await press(pilot, "I")
            assert rows(pilot, "reply") == ["what was shown"]

    run(body)
