"""Notes: kept in the log, sent once, and found again when the index is lost."""

import os
from collections.abc import Callable

import pytest

from sightline.base.errors import UsageError
from sightline.base.records import Buffer, Note, Session
from sightline.log import log, retention
from sightline.log.log_index import catch_up, rebuild_views
from sightline.log.notes import (
    ANYONE,
    MAX_CHARACTERS,
    UnknownNote,
    WaitingNote,
    hold_waiting,
    list_notes,
    release,
    send_note,
    take_back,
    whereto,
    withdraw_note,
    write_note,
)
from sightline.store import Store, Target

Keep = Callable[..., Buffer]
ME = Session("me", "shell", "", "", "/", 1.0)
AGENT = Session("agent", "claude-code", "7", "", "/", 1.0)


@pytest.fixture
def note(store: Store, keep: Keep) -> Note:
    return write_note(store, ME, Target(keep(b"a\nb\nc\n"), "out", 1, 2), "look here")


def _take(store: Store, session: Session, *, anyone: bool = True) -> list[str]:
    held = hold_waiting(store, session.name, anyone=anyone)
    release(store, held, session)
    return [waiting.text for waiting in held]


def test_a_note_is_kept_with_its_lines(store: Store, note: Note) -> None:
    assert note.ref.endswith(":1-2")
    assert list_notes(store) == [note]
    assert list_notes(store, buffer=note.ref[1:11]) == [note]
    assert list_notes(store, buffer="cmd_000000") == []


@pytest.mark.parametrize("text", ["", "  \n ", "x" * (MAX_CHARACTERS + 1)])
def test_a_note_that_says_nothing_or_too_much_is_refused(store: Store, keep: Keep, text: str) -> None:
    with pytest.raises(UsageError):
        write_note(store, ME, Target(keep(b"a\n"), "out"), text)


def test_nothing_waits_where_nothing_was_sent(store: Store, note: Note) -> None:
    assert not os.path.exists(store.layout.outbox)
    assert _take(store, AGENT) == []


def test_a_note_goes_once_to_whom_it_is_for(store: Store, note: Note) -> None:
    send_note(store, ME, note, "agent")
    assert _take(store, ME) == []
    assert _take(store, AGENT) == ["look here"]
    assert _take(store, AGENT) == []
    (sent,) = list_notes(store)
    assert (sent.to, sent.sent_to, sent.sent > 0) == ("agent", "agent", True)
    assert not os.path.exists(store.layout.outbox), "the next reply pays one look for nothing"


def test_a_note_for_anyone_goes_to_the_first_who_takes_it(store: Store, note: Note) -> None:
    send_note(store, ME, note, ANYONE)
    assert _take(store, AGENT, anyone=False) == []
    assert _take(store, AGENT) == ["look here"]


def test_a_held_note_is_nobody_else_s_and_waits_on_if_it_did_not_go_out(store: Store, note: Note) -> None:
    send_note(store, ME, note, ANYONE)
    held: list[WaitingNote] = hold_waiting(store, "agent", anyone=True)
    assert [waiting.field for waiting in held] == [{"ref": note.ref, "text": "look here"}]
    assert hold_waiting(store, "other", anyone=True) == []
    release(store, held, None)
    assert _take(store, AGENT) == ["look here"]


def test_a_note_can_be_sent_elsewhere_or_taken_back_while_it_waits(store: Store, note: Note) -> None:
    send_note(store, ME, note, "agent")
    send_note(store, ME, note, "other")
    assert _take(store, AGENT) == []
    assert take_back(store, note)
    assert not take_back(store, note)
    assert _take(store, AGENT._replace(name="other")) == []


def test_a_file_that_was_changed_from_outside_is_left_alone(store: Store, note: Note) -> None:
    send_note(store, ME, note, "agent")
    (name,) = os.listdir(store.layout.outbox)
    with open(os.path.join(store.layout.outbox, name), "w") as file:
        file.write("{")
    assert _take(store, AGENT) == []


def test_an_index_made_anew_knows_all_notes(store: Store, note: Note, keep: Keep) -> None:
    other = write_note(store, AGENT, Target(keep(b"x\n"), "out"), "mine")
    send_note(store, ME, note, "agent")
    _take(store, AGENT)
    known = list_notes(store)
    store.access.start_anew()
    rebuild_views(store)
    assert list_notes(store) == known
    assert {one.id for one in known} == {note.id, other.id}


def test_the_chain_holds_with_notes_in_it_and_tells_when_one_was_changed(store: Store, note: Note) -> None:
    path = store.layout.audit_file("me")
    assert log.verify(path) == 2
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace("look here", "look away"))
    with pytest.raises(log.BrokenChain):
        log.verify(path)


def test_a_purge_blanks_the_notes_on_a_buffer_and_keeps_them_from_going_out(store: Store, note: Note) -> None:
    send_note(store, ME, note, "agent")
    retention.remove(store, [store.resolve("@" + note.ref[1:11]).buffer], purge=True)
    (blanked,) = list_notes(store)
    assert blanked.text is None
    assert _take(store, AGENT) == []
    assert log.verify(store.layout.audit_file("me")) >= 2
    with pytest.raises(UnknownNote):
        send_note(store, ME, blanked, "agent")


def test_a_note_that_is_taken_back_waits_for_nobody(store: Store, note: Note) -> None:
    send_note(store, ME, note, "agent")
    assert [one.to for one in list_notes(store)] == ["agent"]
    assert withdraw_note(store, ME, note)
    assert not withdraw_note(store, ME, note)
    assert [(one.to, whereto(one)) for one in list_notes(store)] == [("", "")]
    rebuild_views(store)
    assert [one.to for one in list_notes(store)] == [""]
    assert _take(store, AGENT) == []


def test_a_note_that_is_sent_once_more_waits_again(store: Store, note: Note) -> None:
    send_note(store, ME, note, "agent")
    assert _take(store, AGENT) == ["look here"]
    assert [whereto(one) for one in list_notes(store)] == ["sent to agent"]
    send_note(store, ME, note, "other")
    assert [whereto(one) for one in list_notes(store)] == ["waits for other"]


def test_entries_that_are_indexed_once_more_take_back_nothing_that_came_after_them(store: Store, note: Note) -> None:
    send_note(store, ME, note, "agent")
    assert _take(store, AGENT) == ["look here"]
    store.index.set_log(ME.name, 0)  # as if whoever wrote them had died before they were indexed
    catch_up(store, [ME.name])
    assert [whereto(one) for one in list_notes(store)] == ["sent to agent"]
