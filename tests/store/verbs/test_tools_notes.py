"""A person's notes in replies: once, whole, logged, and never past the hard limit."""

from typing import Any

import pytest

from sightline.base.records import Note
from sightline.log.notes import ANYONE, MAX_CHARACTERS, list_notes, send_note, write_note
from sightline.store import Target
from sightline.verbs.query import query
from sightline.verbs.reply import serialised_bytes
from sightline.verbs.requests import QueryRequest

HARD_LIMIT_BYTES = 65_536


@pytest.fixture
def note(agent: Any, person: Any) -> Note:
    agent.run("seq 1 9")
    target = Target(agent.newest(), "out", 2, 3)
    return write_note(agent.store, person.asking.session, target, "look")


def _send(person: Any, note: Note, to: str) -> None:
    send_note(person.store, person.asking.session, note, to)


def test_the_next_reply_carries_a_note_once_and_the_log_has_it(agent: Any, person: Any, note: Note) -> None:
    _send(person, note, "claude-code-1")
    person.run("true")
    assert "look" not in person.told
    agent.run("echo hi")
    assert agent.told.startswith('[exit_code=0 notes=[{"ref":')
    assert agent.told.endswith("\nhi\n")
    assert agent.logged() == agent.told
    agent.run("echo hi")
    assert agent.told == "hi\n"
    (kept,) = list_notes(agent.store)
    assert kept.sent_to == "claude-code-1"


def test_several_notes_go_together_in_the_order_they_were_sent(agent: Any, person: Any, note: Note) -> None:
    second = write_note(person.store, person.asking.session, Target(agent.newest(), "out"), "and here")
    _send(person, note, "claude-code-1")
    _send(person, second, ANYONE)
    reply = query(agent.asking, QueryRequest("wc -l @last"))
    agent.deliver(reply)
    assert agent.told.index("look") < agent.told.index("and here")


def test_a_note_for_anyone_is_not_for_the_person_at_the_terminal(
    agent: Any, person: Any, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    _send(person, note, ANYONE)
    monkeypatch.setattr("os.isatty", lambda _: True)
    person.read(f"{note.ref.partition(':')[0]}", lines="1")
    assert "look" not in person.told
    agent.read(f"{note.ref.partition(':')[0]}", lines="1")
    assert "look" in agent.told


def test_a_note_that_does_not_fit_into_a_reply_waits_for_one_it_fits_into(agent: Any, person: Any, note: Note) -> None:
    long = write_note(person.store, person.asking.session, Target(agent.newest(), "out"), "x" * MAX_CHARACTERS)
    _send(person, long, "claude-code-1")
    agent.run("for i in $(seq 900); do printf '%099d\\n' $i; done", verbosity="full")
    assert "xxx" not in agent.told
    assert len(agent.told.encode()) <= HARD_LIMIT_BYTES
    reply = agent.run("echo hi")
    assert "x" * MAX_CHARACTERS in agent.told
    assert serialised_bytes(reply.fields, agent.told) <= HARD_LIMIT_BYTES


def test_a_note_waits_on_where_the_reply_could_not_be_sent(agent: Any, person: Any, note: Note) -> None:
    from sightline.verbs.delivery import deliver
    from sightline.verbs.head_line import render_text

    _send(person, note, "claude-code-1")

    def gone(_: str) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        deliver(agent.asking, query(agent.asking, QueryRequest("wc -l @last")), render_text, gone)
    agent.run("echo hi")
    assert "look" in agent.told


def test_a_note_waits_on_where_a_door_writes_the_body_alone(agent: Any, person: Any, note: Note) -> None:
    from sightline.verbs.delivery import deliver

    _send(person, note, "claude-code-1")
    sent: list[str] = []
    deliver(agent.asking, query(agent.asking, QueryRequest("head -n 1 @last")), lambda reply: reply.body, sent.append)
    assert sent == ["1\n"]
    agent.run("echo hi")
    assert "look" in agent.told
