"""What a log has beside views: changes of a context, and messages; that they are kept, blanked and told once."""

from pathlib import Path
from typing import Any

import pytest

from sightline.base.records import Session
from sightline.log import log, retention
from sightline.log.log_index import append_entry
from sightline.log.session_events import (
    COMPACTED,
    COMPACTING,
    HOOK,
    STARTED,
    TRANSCRIPT,
    AgentMessage,
    ContextChange,
    Prompt,
    SessionEvent,
    append_events,
)
from sightline.log.session_history import events_of, write_events
from sightline.log.session_list import list_sessions, rename_session
from sightline.log.views import Shows, record_view
from sightline.settings.config import Settings
from sightline.shape.segments import Segment
from sightline.store import Store

SESSION = Session("claude-code-1", "claude-code", "1", "", "/", 100.0)


def put(store: Store, *events: SessionEvent) -> None:
    append_events(store.root, SESSION, events)


def test_what_several_tell_of_one_compaction_is_one(store: Store) -> None:
    put(
        store,
        ContextChange(100.0, STARTED, whole=True),
        ContextChange(200.0, COMPACTING, "manual"),
        ContextChange(230.0, COMPACTED),
        ContextChange(230.1, COMPACTED, "manual", summary="what was done"),
        ContextChange(229.9, COMPACTED, before=900, id="u1", told=TRANSCRIPT, kept=()),
    )
    found = events_of(store, SESSION.name)
    assert [one.event for one in found.changes] == [STARTED, COMPACTED]
    compacted = found.changes[1]
    assert (compacted.trigger, compacted.before, compacted.summary) == ("manual", 900, "what was done")
    assert (compacted.kept, compacted.time, found.told_from) == ((), 229.9, 100.0)


def test_two_compactions_soon_after_each_other_are_two(store: Store) -> None:
    put(store, ContextChange(200.0, COMPACTING), ContextChange(201.0, COMPACTED))
    put(store, ContextChange(260.0, COMPACTING), ContextChange(261.0, COMPACTED))
    assert [one.time for one in events_of(store, SESSION.name).changes] == [201.0, 261.0]


def test_a_compaction_that_never_came_to_it_stays_one_that_began(store: Store) -> None:
    put(store, ContextChange(200.0, COMPACTING))
    assert [one.event for one in events_of(store, SESSION.name).changes] == [COMPACTING]


def test_a_transcript_that_is_read_again_adds_nothing(store: Store) -> None:
    told = [
        ContextChange(100.0, STARTED, told=TRANSCRIPT, whole=True),
        ContextChange(200.0, COMPACTED, id="u1", told=TRANSCRIPT),
        AgentMessage(300.0, "All tests pass.", "u2", TRANSCRIPT),
        Prompt(290.0, "All tests pass.", "u3", TRANSCRIPT),
    ]
    write_events(store, SESSION, told)
    write_events(store, SESSION, told)
    assert log.verify(store.layout.audit_file(SESSION.name)) == 5


def test_a_message_that_a_hook_and_a_transcript_tell_is_one(store: Store) -> None:
    put(store, AgentMessage(300.0, "Done.", told=HOOK), AgentMessage(301.0, "Done.", "u", TRANSCRIPT))
    put(store, AgentMessage(900.0, "Done.", told=HOOK))
    put(store, Prompt(290.0, "Done?", told=HOOK), Prompt(291.0, "Done?", "v", TRANSCRIPT))
    assert [one.time for one in events_of(store, SESSION.name).prompts] == [290.0]
    assert [one.time for one in events_of(store, SESSION.name).messages] == [300.0, 900.0]


def test_what_came_since_is_read_and_what_was_blanked_read_again(store: Store) -> None:
    put(store, AgentMessage(300.0, "first"))
    assert [one.text for one in events_of(store, SESSION.name).messages] == ["first"]
    put(store, AgentMessage(400.0, "second"))
    assert [one.text for one in events_of(store, SESSION.name).messages] == ["first", "second"]
    log.blank(store.layout.audit_file(SESSION.name), lambda entry: entry.get("kind") == "message")
    assert [one.text for one in events_of(store, SESSION.name).messages] == [None, None]
    log.verify(store.layout.audit_file(SESSION.name))


def test_purging_an_output_blanks_what_was_said_after_it_was_shown(store: Store) -> None:
    recording = store.begin("cmd", "secrets", "/", SESSION.name)
    recording.append("out", b"hush\n")
    buffer = recording.seal(exit_code=0)
    put(store, AgentMessage(1.0, "before"))
    shows = Shows("run_command", {"command": "secrets"}, (buffer.name,))
    view = record_view(store, SESSION, shows, (Segment("hush\n"),))
    put(store, AgentMessage(view.time + 1, "it says hush"), Prompt(view.time + 1, "why hush?"))
    put(store, ContextChange(view.time + 2, COMPACTED, summary="it said hush"))
    retention.remove(store, [buffer], purge=True)
    found = events_of(store, SESSION.name)
    assert [one.text for one in found.messages] == ["before", None]
    assert [one.summary for one in found.changes] == [None]
    assert [one.text for one in found.prompts] == [None]
    assert b"why hush" not in Path(store.layout.audit_file(SESSION.name)).read_bytes()


def test_removing_a_session_blanks_all_that_was_said(store: Store) -> None:
    put(store, AgentMessage(300.0, "private"), ContextChange(400.0, COMPACTED, summary="private, too"))
    put(store, Prompt(450.0, "private as well"))
    append_entry(store, SESSION, {"kind": "titled", "time": 500.0, "title": "a title"})
    retention.remove_session(store, SESSION)
    assert b"private" not in Path(store.layout.audit_file(SESSION.name)).read_bytes()


def test_what_others_make_of_a_session_before_its_writer_has_indexed_it_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = log.append

    def appended(path: str, *words: Any, **more: Any) -> log.LinePlace:
        place = append(path, *words, **more)
        monkeypatch.undo()
        with Store(store.root) as other:
            (facts,) = list_sessions(other)
            rename_session(other, facts.session, "release 2.1")
        return place

    monkeypatch.setattr("sightline.log.log.append", appended)
    append_entry(store, SESSION, {"kind": "about", "time": 500.0, "title": "", "text": "Fix the parser"})
    assert [one.session.title for one in list_sessions(store)] == ["release 2.1"]


def test_the_limit_of_view_text_holds_for_messages(tmp_path: Path) -> None:
    with Store(str(tmp_path / "root"), Settings(max_view_bytes=1_000)) as store:
        put(store, AgentMessage(300.0, "long " * 1_000), Prompt(301.0, "longer " * 1_000))
        retention.collect(store)
        assert [one.text for one in events_of(store, SESSION.name).prompts] == [None]
        assert [one.text for one in events_of(store, SESSION.name).messages] == [None]


def test_a_session_of_which_nothing_is_known_but_that_it_began_is_not_listed(store: Store) -> None:
    put(store, ContextChange(100.0, STARTED, whole=True))
    assert not list_sessions(store)
    record_view(store, SESSION, Shows("query", {}), (Segment("x"),))
    assert [one.session.name for one in list_sessions(store)] == [SESSION.name]


@pytest.mark.parametrize(
    "damaged", [b'{"kind":"message","n":1}\n', b'{"kind":"context","n":"x"}\n', b'["kind":"context"\n']
)
def test_an_entry_that_was_changed_from_outside_is_left_out(store: Store, damaged: bytes) -> None:
    put(store, AgentMessage(300.0, "said"))
    with open(store.layout.audit_file(SESSION.name), "ab") as file:
        file.write(damaged)
    assert [one.text for one in events_of(store, SESSION.name).messages] == ["said"]
