"""What was said between calls: in order, by whom, and why something was done."""

import pytest

from sightline.audit.conversation import PROMPT, SAYS, TASK, Said, said_before, said_in
from sightline.base.records import Session
from sightline.log import log
from sightline.log.session_events import AgentMessage, Prompt, append_events
from sightline.store import Store

AGENT = Session("claude-code-1", "claude-code", "1", "", "/", 100.0)


@pytest.fixture
def said(store: Store) -> list[Said]:
    told = [AgentMessage(30.0, "First the\n**tests**."), Prompt(20.0, "Fix it"), Prompt(50.0, "Go on", by_agent=True)]
    append_events(store.root, AGENT, told)
    return said_in(store, AGENT.name)


def test_prompts_tasks_and_sentences_come_in_order(said: list[Said]) -> None:
    assert [(one.what, one.line) for one in said] == [
        (PROMPT, "Fix it"),
        (SAYS, "First the **tests**."),
        (TASK, "Go on"),
    ]
    assert [one.id for one in said] == ["claude-code-1:2", "claude-code-1:1", "claude-code-1:3"]


def test_the_reason_is_the_last_prompt_and_what_was_said_last_since(said: list[Said]) -> None:
    def reason(when: float) -> list[str]:
        return [one.line for one in said_before(said, when)]

    assert reason(10.0) == []
    assert reason(20.0) == ["Fix it"]
    assert reason(40.0) == ["Fix it", "First the **tests**."]
    assert reason(60.0) == ["Go on"]


def test_words_that_were_blanked_stay_as_such(store: Store, said: list[Said]) -> None:
    log.blank(store.layout.audit_file(AGENT.name), lambda _: True)
    assert {(one.text, one.line) for one in said_in(store, AGENT.name)} == {(None, "(blanked)")}


def test_nothing_is_said_in_a_session_without_a_log(store: Store) -> None:
    assert said_in(store, "no-such-session") == []
