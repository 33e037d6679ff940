"""What hooks tell of a session's context, and of what its agent said; payloads as Claude Code 2.1.329 sends them."""

import json
from pathlib import Path

from sightline.log.session_events import (
    COMPACTED,
    RESUMED,
    STARTED,
)
from sightline.log.session_history import SessionEvents, events_of
from sightline.log.session_list import list_sessions
from sightline.store import Store
from tests.store.agents.hooks.hook_kit import Harness


def told(root: Path) -> SessionEvents:
    with Store(str(root)) as store:
        return events_of(store, "claude-code-s1")


def compact(claude: Harness) -> None:
    claude.tell("PreCompact", trigger="manual", custom_instructions=None, prompt_id="p1")
    claude.tell("SessionStart", source="compact", model="m", prompt_id="p1")
    claude.tell("PostCompact", trigger="manual", compact_summary="what was done", prompt_id="p1")


def test_a_compaction_is_told_by_three_events(claude: Harness, root: Path) -> None:
    claude.tell("SessionStart", source="startup")
    compact(claude)
    found = told(root)
    assert [one.event for one in found.changes] == [STARTED, COMPACTED]
    assert (found.changes[1].trigger, found.changes[1].summary) == ("manual", "what was done")
    assert found.told_from == found.changes[0].time


HELPER = {"agent_id": "add4981bc82c50ae4", "agent_type": "general-purpose"}


def test_what_a_helper_is_shown_is_its_own_and_so_is_its_compaction(claude: Harness, root: Path) -> None:
    claude.tell("SessionStart", source="startup")
    call = {"tool_name": "Bash", "tool_input": {"command": "seq 2"}, "tool_response": {"stdout": "1\n2", "stderr": ""}}
    claude.tell("PostToolUse", **call, tool_use_id="use1")
    claude.tell("PostToolUse", **call, tool_use_id="use2", **HELPER)
    claude.tell("PostToolBatch", tool_calls=[{**call, "tool_use_id": "use1"}])
    claude.tell("PostToolBatch", tool_calls=[{**call, "tool_use_id": "use2"}], **HELPER)
    claude.tell("PreCompact", trigger="auto", **HELPER)
    claude.tell("PostCompact", trigger="auto", compact_summary="so far", **HELPER)
    with Store(str(root)) as store:
        own, helper = sorted((one.session for one in list_sessions(store)), key=lambda one: len(one.name))
        assert (own.name, own.harness_id, helper.harness_id) == ("claude-code-s1", "s1", "s1")
        assert [one.event for one in events_of(store, own.name).changes] == [STARTED]
        assert [one.event for one in events_of(store, helper.name).changes] == [COMPACTED]
        shown = {name: len(store.index.views(session=name)) for name in (own.name, helper.name)}
    assert shown == {own.name: 1, helper.name: 1}


def test_two_hooks_of_ours_at_one_event_tell_it_once(claude: Harness, root: Path) -> None:
    claude.tell("SessionStart", source="resume")
    compact(claude)
    for _ in range(2):
        claude.tell("Stop", last_assistant_message="All done.", stop_hook_active=False, prompt_id="p2")
    assert [one.event for one in told(root).changes] == [RESUMED, COMPACTED]
    assert [one.text for one in told(root).messages] == ["All done."]


def test_each_prompt_is_kept_whole_and_the_first_names_the_session(claude: Harness, root: Path) -> None:
    claude.tell("SessionStart", source="startup")
    claude.tell("UserPromptSubmit", prompt="Fix the parser\n\nIt fails on tabs.", prompt_id="p1")
    claude.tell("UserPromptSubmit", prompt="<task-notification>done</task-notification>", prompt_id="p2")
    claude.tell("UserPromptSubmit", prompt="<system-reminder>x</system-reminder>Now the tests", prompt_id="p3")
    assert [(one.text, one.by_agent) for one in told(root).prompts] == [
        ("Fix the parser\n\nIt fails on tabs.", False),
        ("Now the tests", False),
    ]
    with Store(str(root)) as store:
        assert [one.session.title for one in list_sessions(store)] == ["Fix the parser"]


def test_secrets_in_prompts_are_hidden_before_they_are_written(claude: Harness, root: Path) -> None:
    claude.tell("SessionStart", source="startup")
    (root / "config.toml").write_text('[redact]\npatterns = ["hunter[0-9]"]\n')
    claude.tell("UserPromptSubmit", prompt="log in with hunter2")
    (prompt,) = told(root).prompts
    assert prompt.text and "hunter2" not in prompt.text
    assert "hunter2" not in (root / "audit" / "claude-code-s1.jsonl").read_text()


def test_no_message_is_kept_where_a_person_wants_none(claude: Harness, root: Path) -> None:
    claude.tell("SessionStart", source="startup")
    (root / "config.toml").write_text("[evidence]\nmessages = false\n")
    claude.tell("UserPromptSubmit", prompt="private, too")
    claude.tell("Stop", last_assistant_message="private", stop_hook_active=False)
    assert (told(root).messages, told(root).prompts) == ((), ())
    assert "private" not in (root / "audit" / "claude-code-s1.jsonl").read_text()


def test_nothing_is_kept_in_a_folder_that_is_not_captured(claude: Harness, root: Path) -> None:
    claude.tell("SessionStart", source="startup")
    (root / "config.toml").write_text(f'[directories."{claude.cwd}"]\ncapture = "off"\n')
    claude.tell("UserPromptSubmit", prompt="private, too")
    claude.tell("Stop", last_assistant_message="private")
    compact(claude)
    assert (told(root).messages, told(root).prompts) == ((), ())
    assert ([], [one.event for one in told(root).changes]) == ([], [STARTED])


def test_secrets_are_hidden_in_what_is_kept(claude: Harness, root: Path) -> None:
    claude.tell("SessionStart", source="startup")
    (root / "config.toml").write_text('[redact]\npatterns = ["hush-[0-9]+"]\n')
    claude.tell("Stop", last_assistant_message="the word is hush-12345")
    assert "hush" not in str(told(root).messages)


def test_a_gemini_compression_is_told_only_before_it_happens(root: Path, tmp_path: Path) -> None:
    gemini = Harness("gemini", root, tmp_path)
    gemini.tell("SessionStart", source="startup")
    gemini.tell("PreCompress", trigger="auto")
    with Store(str(root)) as store:
        changes = events_of(store, "gemini-s1").changes
    assert [(one.event, one.trigger) for one in changes] == [("started", ""), ("compacting", "automatic")]


def subject(root: Path) -> str:
    with Store(str(root)) as store:
        return "".join(one.session.title for one in list_sessions(store))


def test_the_first_prompt_says_what_a_session_is_about(claude: Harness, root: Path) -> None:
    claude.tell("SessionStart", source="startup")
    claude.tell("UserPromptSubmit", prompt="Fix the parser\nIt fails on tabs.", prompt_id="p1")
    claude.tell("UserPromptSubmit", prompt="And now the docs", prompt_id="p2")
    assert subject(root) == "Fix the parser"


def test_no_prompt_is_kept_where_a_person_wants_none(claude: Harness, root: Path) -> None:
    claude.tell("SessionStart", source="startup")
    (root / "config.toml").write_text("[evidence]\nmessages = false\n")
    claude.tell("UserPromptSubmit", prompt="private", prompt_id="p1")
    (root / "config.toml").write_text(f'[directories."{claude.cwd}"]\ncapture = "off"\n')
    claude.tell("UserPromptSubmit", prompt="private", prompt_id="p2")
    assert subject(root) == ""


def test_secrets_are_hidden_in_a_prompt(claude: Harness, root: Path) -> None:
    claude.tell("SessionStart", source="startup")
    (root / "config.toml").write_text('[redact]\nknown = false\npatterns = ["hush[a-z]+"]\n')
    claude.tell("UserPromptSubmit", prompt="Log in with hushhush", prompt_id="p1")
    assert "hushhush" not in subject(root) and subject(root).startswith("Log in with")


FAILED = """=================================== FAILURES ===================================
__________________________________ test_total __________________________________
>       assert 2 == 3
E       assert 2 == 3
tests/test_cart.py:9: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - assert 2 == 3
========================= 1 failed, 11 passed in 0.42s =========================
"""


def fail(claude: Harness) -> None:
    claude.tell("SessionStart", source="startup")
    about = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "tool_use_id": "toolu_1"}
    claude.tell("PostToolUseFailure", error=f"Exit code 1\n{FAILED}", **about)
    claude.tell("PostToolBatch", tool_calls=[{**about, "tool_response": f"Exit code 1\n{FAILED}"}])


def switch_on(root: Path, name: str) -> None:
    (root / "config.toml").write_text(f"[evidence]\n{name} = true\n")


def test_after_a_compaction_a_session_is_reminded_of_what_failed_where_a_person_wants_that(
    claude: Harness, root: Path
) -> None:
    fail(claude)
    switch_on(root, "remind")
    claude.tell("PreCompact", trigger="auto")
    told = str(claude.tell("SessionStart", source="compact"))
    assert "test_total: seen only before the context was compacted" in told
    assert "@cmd_" in told
    assert "test_total" not in str(claude.tell("SessionStart", source="resume"))


def test_by_default_nobody_is_reminded_or_asked(claude: Harness) -> None:
    fail(claude)
    claude.tell("PreCompact", trigger="auto")
    assert "test_total" not in str(claude.tell("SessionStart", source="compact"))
    assert claude.tell("Stop", last_assistant_message="All tests pass.", stop_hook_active=False) is None


def test_an_agent_is_told_once_what_its_claim_lacks_where_a_person_wants_that(claude: Harness, root: Path) -> None:
    fail(claude)
    switch_on(root, "ask")
    answer = claude.tell("Stop", last_assistant_message="Done. All tests pass.", stop_hook_active=False)
    assert answer["decision"] == "block"
    assert "“All tests pass.”: the last run failed (@cmd_" in answer["reason"]
    assert claude.tell("Stop", last_assistant_message="All tests pass.", stop_hook_active=True) is None
    assert claude.tell("Stop", last_assistant_message="I looked around.", stop_hook_active=False) is None


def test_what_a_followed_transcript_tells_of_a_context_is_logged_once(root: Path, tmp_path: Path) -> None:
    codex, rollout = Harness("codex", root, tmp_path), tmp_path / "rollout-1.jsonl"

    def write(kind: str, second: int, **payload: object) -> None:
        line = {"timestamp": f"2026-01-02T10:00:{second:02}.000Z", "type": kind, "payload": payload}
        with rollout.open("a") as file:
            file.write(json.dumps(line) + "\n")

    write("session_meta", 0, id="s1", cwd=str(tmp_path), timestamp="2026-01-02T10:00:00.000Z")
    codex.tell("SessionStart", source="startup", transcript_path=str(rollout))
    write("turn_context", 1, cwd=str(tmp_path))
    write("compacted", 2, message="what was done")
    said = {"type": "output_text", "text": "All tests pass."}
    write("response_item", 3, type="message", role="assistant", content=[said])
    for _ in range(2):
        codex.tell("Stop", transcript_path=str(rollout))
    with Store(str(root)) as store:
        found = events_of(store, "codex-s1")
    assert [(one.event, one.summary) for one in found.changes if one.event == COMPACTED] == [
        (COMPACTED, "what was done")
    ]
    assert [one.text for one in found.messages] == ["All tests pass."]
