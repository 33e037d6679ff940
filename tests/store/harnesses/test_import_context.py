"""What transcripts tell of a context and of what its agent said, imported beside the calls."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.past_sessions.importer import Importer
from sightline.harnesses.formats import find_sources
from sightline.log.session_events import (
    COMPACTED,
    PRUNED,
    REWOUND,
    STARTED,
    AgentMessage,
    ContextChange,
)
from sightline.log.session_history import SessionEvents, events_of
from sightline.log.session_list import list_sessions
from sightline.settings.config import EvidenceSettings, Settings
from sightline.store import Store
from tests.store.harnesses.past_kit import Claude, Import, views, write_lines

STAMP = "2026-01-02T10:00:{:02}.000Z"


def of(store: Store, session: str) -> SessionEvents:
    return events_of(store, session)


def facts(changes: tuple[ContextChange, ...]) -> list[tuple[str, str, int | None]]:
    return [(one.event, one.trigger, one.before) for one in changes]


def words(messages: tuple[AgentMessage, ...]) -> list[str | None]:
    return [one.text for one in messages]


def prompted(found: SessionEvents) -> list[str | None]:
    return [one.text for one in found.prompts]


class Talk(Claude):
    """Lines of Claude Code's that are no calls."""

    def record(self, kind: str, name: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "uuid": name, "timestamp": self._stamp(), **self.common, **more}

    def say(self, name: str, text: str) -> dict[str, Any]:
        return self.record(
            "assistant", name, message={"role": "assistant", "content": [{"type": "text", "text": text}]}
        )

    def ask(self, name: str, text: str, parent: str = "", **more: Any) -> dict[str, Any]:
        parents = {"parentUuid": parent} if parent else {}
        return self.record("user", name, message={"role": "user", "content": text}, **parents, **more)

    def boundary(self, *kept: str) -> dict[str, Any]:
        about = {"trigger": "auto", "preTokens": 155_000, "preservedMessages": {"allUuids": list(kept)}}
        return self.record("system", "b1", subtype="compact_boundary", compactMetadata=about)


def test_a_compaction_of_claude_code_with_its_summary_and_what_stays(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    talk = Talk()
    lines = [*talk.ran(1, "one\n"), *talk.ran(2, "two\n"), talk.say("m1", "All tests pass."), talk.boundary("r2", "m1")]
    lines.append(talk.ask("c1", "This session is being continued. Summary: one.", isCompactSummary=True))
    imported(write_lines(tmp_path / "s.jsonl", *lines))
    found = of(store, "claude-code-5e551011")
    assert facts(found.changes) == [(STARTED, "", None), (COMPACTED, "automatic", 155_000)]
    assert found.changes[1].kept == ("toolu_2",)
    assert found.changes[1].summary == "This session is being continued. Summary: one."
    assert words(found.messages) == ["All tests pass."]
    assert found.told_from is not None


def test_a_file_that_claude_code_reads_again_itself_is_a_view(store: Store, imported: Import, tmp_path: Path) -> None:
    talk = Talk()
    file = {"filePath": "/home/user/project/cart.py", "content": "a = 1\nb = 2\n", "startLine": 1, "numLines": 2}
    attached = {"type": "file", "content": {"type": "text", "file": {**file, "totalLines": 2}}}
    imported(
        write_lines(
            tmp_path / "s.jsonl",
            *talk.ran(1, "one\n"),
            talk.boundary(),
            talk.record("attachment", "f1", attachment=attached),
        )
    )
    view, text = views(store)[-1]
    assert (view.verb, json.loads(view.request)["path"]) == ("read_file", "/home/user/project/cart.py")
    assert "b = 2" in text
    assert [(one.first, one.last) for one in view.shown] == [(1, 2)]


def test_results_that_claude_code_cleared(store: Store, imported: Import, tmp_path: Path) -> None:
    talk = Talk()
    about = {"trigger": "auto", "preTokens": 9_000, "compactedToolIds": ["toolu_1"]}
    lines = talk.ran(1, "one\n")
    lines.append(talk.record("system", "p1", subtype="microcompact_boundary", microcompactMetadata=about))
    imported(write_lines(tmp_path / "s.jsonl", *lines))
    assert [(one.event, one.lost) for one in of(store, "claude-code-5e551011").changes[1:]] == [(PRUNED, ("toolu_1",))]


def test_a_prompt_that_goes_on_from_further_back_was_written_after_a_rewind(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    talk = Talk()
    lines = [talk.ask("p1", "begin"), *talk.ran(1, "one\n"), talk.say("m1", "one"), talk.ask("p2", "go on", "m1")]
    lines += [*talk.ran(2, "two\n"), talk.say("m2", "two"), talk.ask("p3", "no: otherwise", "m1"), *talk.ran(3, "3\n")]
    imported(write_lines(tmp_path / "s.jsonl", *lines))
    assert [(one.event, one.lost) for one in of(store, "claude-code-5e551011").changes[1:]] == [(REWOUND, ("toolu_2",))]


def test_what_is_imported_again_is_not_told_again(store: Store, imported: Import, tmp_path: Path) -> None:
    talk = Talk()
    path = write_lines(tmp_path / "s.jsonl", *talk.ran(1, "one\n"), talk.say("m1", "one"), talk.boundary())
    imported(path)
    with path.open("ab") as file:
        file.write(json.dumps(talk.say("m2", "two")).encode() + b"\n")
    imported(path)
    found = of(store, "claude-code-5e551011")
    assert words(found.messages) == ["one", "two"]
    assert [one.event for one in found.changes] == [STARTED, COMPACTED]


def test_prompts_of_claude_code_are_kept_whole_without_what_is_added(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    talk = Talk()
    helper = {"agentId": "a1b2", "isSidechain": True}
    lines = [
        talk.ask("p1", "Fix the parser\n\nIt fails on tabs."),
        *talk.ran(1, "one\n"),
        talk.ask("p2", "<system-reminder>rules</system-reminder>\nNow **all** tests"),
        talk.ask("p3", "<task-notification><task-id>x</task-id></task-notification>\nRead the file."),
        talk.ask("p4", "<local-command-stdout>done</local-command-stdout>"),
        talk.ask("p5", "a rule of the harness", isMeta=True),
        talk.ask("h1", "Look for the parser.", **helper),
    ]
    imported(write_lines(tmp_path / "s.jsonl", *lines))
    own = of(store, "claude-code-5e551011")
    assert prompted(own) == ["Fix the parser\n\nIt fails on tabs.", "Now **all** tests"]
    assert [one.by_agent for one in own.prompts] == [False, False]
    assert [(one.text, one.by_agent) for one in of(store, "claude-code-5e551011-a1b2").prompts] == [
        ("Look for the parser.", True)
    ]


def test_messages_are_not_kept_where_a_person_wants_none(tmp_path: Path) -> None:
    talk = Talk()
    lines = [*talk.ran(1, "one\n"), talk.say("m1", "private words"), talk.boundary(), talk.ask("p1", "go on")]
    path = write_lines(tmp_path / "s.jsonl", *lines)
    with Store(str(tmp_path / "root"), Settings(evidence=EvidenceSettings(messages=False))) as store:
        Importer(store).run(find_sources(str(path)))
        found = of(store, "claude-code-5e551011")
        assert (words(found.messages), [one.event for one in found.changes]) == ([], [STARTED, COMPACTED])
        assert found.prompts == ()


def test_nothing_is_kept_of_a_folder_that_is_not_captured(tmp_path: Path) -> None:
    talk = Talk()
    path = write_lines(tmp_path / "s.jsonl", *talk.ran(1, "one\n"), talk.say("m1", "private words"))
    with path.open("ab") as file:
        file.write(json.dumps(talk.ask("p1", "private, too")).encode() + b"\n")
    with Store(str(tmp_path / "root"), Settings(capture_off=("/home/user/project",))) as store:
        Importer(store).run(find_sources(str(path)))
        assert of(store, "claude-code-5e551011") == SessionEvents()


def test_secrets_in_messages_are_hidden(tmp_path: Path) -> None:
    talk = Talk()
    path = write_lines(tmp_path / "s.jsonl", *talk.ran(1, "one\n"), talk.say("m1", "the word is hush-12345"))
    with path.open("ab") as file:
        file.write(json.dumps(talk.ask("p1", "I said hush-12345")).encode() + b"\n")
    with Store(str(tmp_path / "root"), Settings(redact_patterns=("hush-[0-9]+",))) as store:
        Importer(store).run(find_sources(str(path)))
        found = of(store, "claude-code-5e551011")
        assert len(found.prompts) == 1 and "hush" not in str(words(found.messages) + prompted(found))


def _codex(*payloads: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"timestamp": STAMP.format(at), "type": kind, "payload": payload} for at, (kind, payload) in enumerate(payloads)
    ]


def test_a_compaction_of_codex_and_what_it_says(store: Store, imported: Import, tmp_path: Path) -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "The build succeeds."}]}
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}
    lines = _codex(
        ("session_meta", {"id": "c0de", "cwd": "/p", "timestamp": STAMP.format(0)}),
        ("response_item", asked),
        ("response_item", said),
        ("compacted", {"message": "what was done"}),
        ("event_msg", {"type": "thread_rolled_back", "num_turns": 1}),
    )
    imported(write_lines(tmp_path / "rollout.jsonl", *lines))
    found = of(store, "codex-c0de")
    assert [(one.event, one.summary) for one in found.changes] == [
        (STARTED, ""),
        (COMPACTED, "what was done"),
        (REWOUND, ""),
    ]
    assert words(found.messages) == ["The build succeeds."]
    assert prompted(found) == ["go"]


def test_a_rewind_of_gemini_cli_and_what_it_says(store: Store, imported: Import, tmp_path: Path) -> None:
    call = {"id": "call-1", "name": "run_shell_command", "args": {"command": "ls"}, "status": "success"}
    response = {"functionResponse": {"id": "call-1", "response": {"output": "Output: x"}}}
    lines: list[dict[str, Any]] = [
        {"sessionId": "9e3", "projectHash": "h", "startTime": STAMP.format(0), "kind": "main"},
        {"id": "g0", "timestamp": STAMP.format(1), "type": "user", "content": [{"text": "list"}, {"text": "all"}]},
        {"id": "g1", "timestamp": STAMP.format(1), "type": "gemini", "content": "I ran ls.", "toolCalls": []},
        {
            "id": "g2",
            "timestamp": STAMP.format(2),
            "type": "gemini",
            "content": "",
            "toolCalls": [{**call, "result": [response], "resultDisplay": "x"}],
        },
        {"$rewindTo": "g2"},
    ]
    imported(write_lines(tmp_path / "project/chats/session-1.jsonl", *lines))
    found = of(store, "gemini-9e3")
    assert [(one.event, one.lost) for one in found.changes] == [(REWOUND, ("call-1",))]
    assert prompted(found) == ["list\nall"]
    assert (words(found.messages), found.told_from) == (["I ran ls."], None)  # of compressions it tells nothing


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A session of opencode's that was compacted, and one of whose results was pruned."""
    path = tmp_path / "opencode.db"
    made = sqlite3.connect(path)
    made.execute("CREATE TABLE session (id, directory, version, time_created, time_updated)")
    made.execute("CREATE TABLE message (id, session_id, time_created, data)")
    made.execute("CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data)")
    made.execute("INSERT INTO session VALUES ('ses', '/p', '1.18.33', 1000000, 1000000)")
    messages = {"u": {"role": "user"}, "a": {"role": "assistant"}, "s": {"role": "assistant", "summary": True}}
    for name, data in messages.items():
        made.execute("INSERT INTO message VALUES (?, 'ses', 1000000, ?)", (name, json.dumps(data)))
    state = {"status": "completed", "input": {"command": "ls"}, "output": "x", "metadata": {"output": "x", "exit": 0}}
    state["time"] = {"start": 1_001_000, "end": 1_002_000, "compacted": 1_004_000}
    parts = [
        ("p1", "a", {"type": "tool", "tool": "bash", "callID": "call-1", "state": state}),
        ("p2", "a", {"type": "text", "text": "Lint is clean.", "time": {"start": 1_002_500, "end": 1_003_000}}),
        ("p3", "u", {"type": "text", "text": "go"}),
        ("p4", "u", {"type": "compaction", "auto": True}),
        ("p5", "s", {"type": "text", "text": "what was done", "time": {"start": 1_005_000, "end": 1_006_000}}),
    ]
    for at, (name, message, data) in enumerate(parts):
        made.execute("INSERT INTO part VALUES (?, ?, 'ses', ?, ?, ?)", (name, message, at, at, json.dumps(data)))
    made.commit()
    made.close()
    return path


def test_a_compaction_and_a_pruning_of_opencode(store: Store, imported: Import, database: Path) -> None:
    imported(database)
    found = of(store, "opencode-ses")
    assert [(one.event, one.trigger, one.lost) for one in found.changes] == [
        (STARTED, "", None),
        (PRUNED, "", ("call-1",)),
        (COMPACTED, "automatic", None),
    ]
    assert found.changes[2].summary == "what was done"
    assert words(found.messages) == ["Lint is clean."]
    assert prompted(found) == ["go"]


def test_an_imported_session_is_called_by_its_first_prompt(store: Store, imported: Import, tmp_path: Path) -> None:
    talk = Talk()
    lines = [
        talk.ask("u0", "<local-command-stdout></local-command-stdout>", isMeta=True),
        talk.ask("u1", "Fix the parser\nIt fails."),
        *talk.ran(1, "one\n"),
        talk.ask("u2", "Now the docs"),
    ]
    imported(write_lines(tmp_path / "s.jsonl", *lines))
    imported(write_lines(tmp_path / "s.jsonl", *lines, talk.ask("u3", "More")))
    assert [one.session.title for one in list_sessions(store)] == ["Fix the parser"]
