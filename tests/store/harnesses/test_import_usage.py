"""Requests to models are counted once, with what their records state, whichever files hold them."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from sightline.audit.prices import PriceList
from sightline.base.request_usage import RequestSum
from sightline.log.log_index import rebuild_views
from sightline.log.retention import remove_session
from sightline.settings.config import EvidenceSettings, ModelPrice, Settings
from sightline.store import Store
from tests.store.harnesses.past_kit import LONG_AGO, Claude, Import, Rollout, write_lines

SONNET, HAIKU = "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"
PARENT, FORK, SIBLING = (f"0000000{number}-0000-0000-0000-000000000000" for number in (1, 2, 3))


def sums(store: Store, group: str = "") -> list[RequestSum]:
    return store.index.requests.sums(group)


def only(store: Store) -> RequestSum:
    (one,) = sums(store)
    return one


def tokens(one: RequestSum) -> tuple[int, ...]:
    """Requests, then fresh, read, written, written for an hour, and output."""
    return one[5:11]


def by_session(store: Store) -> dict[str, tuple[int, ...]]:
    return {one.group: tokens(one) for one in sums(store, "session")}


class Replies(Claude):
    """Lines of Claude Code's that state usage."""

    def reply(
        self, name: str, output: int, *, stop: str | None = "end_turn", request: str = "req_1", **more: Any
    ) -> dict[str, Any]:
        """A line of a reply, by default the last one of the request ``req_1``."""
        usage = {"input_tokens": 3, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 50}
        usage |= {"output_tokens": output, **more.pop("usage", {})}
        said = {"id": name, "model": SONNET, "role": "assistant", "content": [{"type": "text", "text": "So."}]}
        said |= {"usage": usage, "stop_reason": stop, **more.pop("message", {})}
        self.minute += 1
        record = {"type": "assistant", "uuid": f"u{self.minute}", "timestamp": self._stamp(), **self.common}
        return {**record, **({"requestId": request} if request else {}), "message": said, **more}


def test_the_line_with_the_largest_output_counts_for_its_reply(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Replies()
    lines = [claude.reply("msg_1", 1, stop=None), claude.reply("msg_1", 5, stop=None), claude.reply("msg_1", 400)]
    imported(write_lines(tmp_path / "s.jsonl", *lines, claude.reply("msg_2", 30, request="req_2")))
    assert tokens(only(store)) == (2, 6, 2000, 100, 0, 430)
    assert only(store).at_least == 0


def test_a_reply_is_taken_from_one_line_as_a_whole(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Replies()
    begun = claude.reply("msg_1", 1, stop=None, usage={"input_tokens": 9000})
    ended = claude.reply("msg_1", 400, message={"model": HAIKU})  # another model took over
    imported(write_lines(tmp_path / "s.jsonl", begun, ended))
    assert tokens(only(store)) == (1, 3, 1000, 50, 0, 400)
    assert only(store).model == HAIKU


def test_an_output_that_was_stated_while_it_was_written_is_a_lower_bound(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    imported(write_lines(tmp_path / "s.jsonl", Replies().reply("msg_1", 8, stop=None)))
    assert (only(store).output, only(store).at_least) == (8, 1)


def test_replies_without_request_ids_count_by_their_messages(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Replies()
    lines = [claude.reply("msg_1", 8, request=""), claude.reply("msg_1", 8, request=""), claude.reply("msg_2", 8)]
    imported(write_lines(tmp_path / "s.jsonl", *lines))
    assert only(store).requests == 2


def test_replies_to_which_a_gateway_gave_one_id_are_told_apart_by_their_inputs(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    claude = Replies()
    lines = [claude.reply("msg", 8, request="", usage={"input_tokens": 10 + place}) for place in range(3)]
    imported(write_lines(tmp_path / "s.jsonl", *lines))
    assert tokens(only(store))[:2] == (3, 33)


def test_a_message_that_is_repeated_under_another_request_counts_once(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    beside = Replies(isSidechain=True, agentId="abc")
    write_lines(tmp_path / "s.jsonl", Replies().reply("msg_1", 8))
    write_lines(tmp_path / "s/subagents/agent-abc.jsonl", beside.reply("msg_1", 8, request="req_2"))
    imported(tmp_path)
    assert {name: found[0] for name, found in by_session(store).items()} == {"claude-code-5e551011": 1}


def test_a_helper_counts_once_though_its_replies_stand_in_two_files(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    helper = Replies(isSidechain=True, agentId="abc")
    reply = helper.reply("msg_2", 70, request="req_2")
    told = {"type": "agent_progress", "agentId": "abc", "message": reply}
    progress = {"type": "progress", "uuid": "p1", "timestamp": reply["timestamp"], **Replies().common, "data": told}
    task = Claude().result(1, "done", {"totalTokens": 1120, "usage": {"input_tokens": 1050, "output_tokens": 70}})
    write_lines(tmp_path / "a/b/c/d/5e551011.jsonl", Replies().reply("msg_1", 8), progress, task)
    write_lines(tmp_path / "a/b/c/d/5e551011/subagents/agent-abc.jsonl", reply)
    imported(tmp_path)
    found = by_session(store)
    assert found == {
        "claude-code-5e551011": (1, 3, 1000, 50, 0, 8),
        "claude-code-5e551011-abc": (1, 3, 1000, 50, 0, 70),
    }


def test_a_fork_of_claude_code_leaves_the_requests_with_their_session(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    own = Replies("5e551011").reply("msg_1", 8)
    copy = {**own, "sessionId": "f0f0f0f0", "forkedFrom": {"sessionId": "5e551011", "messageUuid": own["uuid"]}}
    write_lines(tmp_path / "5e551011.jsonl", own)
    write_lines(tmp_path / "f0f0f0f0.jsonl", copy, Replies("f0f0f0f0").reply("msg_2", 9, request="req_2"))
    imported(tmp_path)
    assert {name: found[0] for name, found in by_session(store).items()} == {
        "claude-code-5e551011": 1,
        "claude-code-f0f0f0f0": 1,
    }


def test_cache_writes_for_an_hour_are_kept_apart(store: Store, imported: Import, tmp_path: Path) -> None:
    split = {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 40}
    imported(write_lines(tmp_path / "s.jsonl", Replies().reply("msg_1", 8, usage={"cache_creation": split})))
    assert tokens(only(store)) == (1, 3, 1000, 10, 40, 8)


def test_thinking_is_a_part_of_the_output(store: Store, imported: Import, tmp_path: Path) -> None:
    thought = {"output_tokens_details": {"thinking_tokens": 60}}
    imported(write_lines(tmp_path / "s.jsonl", Replies().reply("msg_1", 80, usage=thought)))
    assert (only(store).output, only(store).reasoning) == (80, 60)


def test_zeros_beside_content_are_not_stated(store: Store, imported: Import, tmp_path: Path) -> None:
    zeros = dict.fromkeys(("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"), 0)
    claude = Replies()
    synthetic = claude.reply("msg_2", 0, request="", usage=zeros, message={"model": "<synthetic>"})
    imported(write_lines(tmp_path / "s.jsonl", claude.reply("msg_1", 0, usage=zeros), synthetic))
    assert tokens(only(store)) == (1, 0, 0, 0, 0, 0)
    assert (only(store).unstated_input, only(store).unstated_output) == (1, 1)


def test_lines_without_counts_belong_to_the_reply_whose_later_line_states_them(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    zeros, claude, lines = dict.fromkeys(("input_tokens", "cache_read_input_tokens"), 0), Replies(), []
    for place in range(3):
        name, usage = f"msg_{place}", {"input_tokens": 10 + place}
        lines += [claude.reply(name, 0, stop=None, request="", usage=zeros | {"cache_creation_input_tokens": None})]
        lines += [claude.reply("msg_9", 8, request="req_9")] * (place == 1)  # a helper's, beside it
        lines += [claude.reply(name, 8, request="", usage=usage)]
    silent = claude.reply("msg_4", 0, stop=None, request="", usage=zeros | {"cache_creation_input_tokens": 0})
    imported(write_lines(tmp_path / "s.jsonl", *lines, silent, silent))
    assert tokens(only(store))[:2] == (5, 36)
    assert (only(store).unstated_input, only(store).unstated_output) == (1, 1)


def test_what_changes_the_price_of_a_request_stands_beside_it(store: Store, imported: Import, tmp_path: Path) -> None:
    paid = {"speed": "fast", "service_tier": "standard", "inference_geo": "us"}
    imported(write_lines(tmp_path / "s.jsonl", Replies().reply("msg_1", 8, usage=paid)))
    assert only(store).tier == "fast us"


class Counted(Rollout):
    """A rollout that states usage."""

    def __init__(self, session: str, since: float = LONG_AGO, model: str = "gpt-5.5", **meta: Any) -> None:
        super().__init__(session, since, **meta)
        self.total = {"input": 0, "cached_input": 0, "output": 0, "reasoning_output": 0}
        self.lines.append(self.line("turn_context", model=model))

    def counted(self, *last: int, missing: int = 0, again: bool = False) -> "Counted":
        """Add a reply with its input, what of that was cached, its output, and reasoning therein."""
        self.now += 60
        one = dict(zip(self.total, last, strict=True))
        self.total = {name: self.total[name] + count for name, count in one.items()}
        self.total["input"] += missing
        both = ({f"{name}_tokens": count for name, count in of.items()} for of in (self.total, one))
        info = dict(zip(("total_token_usage", "last_token_usage"), both, strict=True))
        self.lines += [self.line("event_msg", type="token_count", info=info)] * (2 if again else 1)
        return self


def test_codex_states_a_running_total_whose_repeats_are_one_event(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    one = Counted(PARENT).counted(1000, 800, 50, 20, again=True).counted(1500, 1000, 40, 0)
    imported(one.write(tmp_path))
    assert tokens(only(store)) == (2, 700, 1800, 0, 0, 90)
    assert (only(store).model, only(store).reasoning, only(store).computed) == ("gpt-5.5", 20, 2)


def test_a_request_that_is_missing_from_codex_last_usage_is_in_its_total(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    imported(Counted(PARENT).counted(1000, 800, 50, 0).counted(1500, 1000, 40, 0, missing=700).write(tmp_path))
    assert tokens(only(store)) == (2, 1400, 1800, 0, 0, 90)


def test_a_total_of_codex_that_begins_anew_or_at_anothers_counts_what_was_used_last(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    one = Counted(PARENT)
    one.total["input"] = 90_000  # another session's
    one.counted(1000, 800, 50, 0)
    one.total = dict.fromkeys(one.total, 0)
    imported(one.counted(500, 400, 5, 0).counted(600, 500, 6, 0).write(tmp_path))
    assert tokens(only(store)) == (3, 400, 1700, 0, 0, 61)


def test_codex_requests_have_the_model_of_their_turn(store: Store, imported: Import, tmp_path: Path) -> None:
    one = Counted(PARENT).counted(1000, 800, 50, 0)
    one.lines.append(one.line("turn_context", model="gpt-5.4-mini"))
    imported(one.counted(2000, 900, 10, 0).write(tmp_path))
    assert {one.model: one.output for one in sums(store)} == {"gpt-5.5": 50, "gpt-5.4-mini": 10}


def test_a_fork_of_codex_repeats_no_request_and_equal_turns_of_siblings_both_count(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    parent = Counted(PARENT).counted(1000, 800, 50, 0).counted(1500, 1000, 40, 0)
    forks = []
    for place, session in enumerate((FORK, SIBLING), 1):
        fork = Counted(session, LONG_AGO + 3600 * place, forked_from_id=PARENT)
        fork.copy(parent)
        fork.total = dict(parent.total)
        forks.append(fork.counted(1600, 1500, 30, 0))
    parent.counted(1700, 1600, 20, 0)  # it went on
    for one in (parent, *forks):
        one.write(tmp_path)
    imported(tmp_path)
    assert {name: (one[0], one[5]) for name, one in by_session(store).items()} == {
        f"codex-{PARENT}": (3, 110),
        f"codex-{FORK}": (1, 30),
        f"codex-{SIBLING}": (1, 30),
    }


def test_a_fork_of_codex_whose_copy_has_other_times_repeats_no_request(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    parent = Counted(PARENT).counted(1000, 800, 50, 0).counted(1500, 1000, 40, 0)
    fork = Counted(FORK, LONG_AGO + 3600, forked_from_id=PARENT)
    fork.counted(1000, 800, 50, 0).counted(1500, 1000, 40, 0).counted(1600, 1500, 30, 0)
    parent.write(tmp_path)
    fork.write(tmp_path)
    imported(tmp_path)
    assert {name: one[0] for name, one in by_session(store).items()} == {f"codex-{PARENT}": 2, f"codex-{FORK}": 1}


def _message(created: int, output: int, reasoning: int, total: int, **more: Any) -> dict[str, Any]:
    counts = {"input": 100, "output": output, "reasoning": reasoning, "cache": {"read": 900, "write": 5}}
    about = {"role": "assistant", "modelID": "gpt-5.5", "time": {"created": created, "completed": created + 900}}
    return {**about, "tokens": {**counts, "total": total}, "cost": 0.25, **more}


def _opencode(path: Path, messages: dict[str, dict[str, Any]]) -> Path:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE session (id, directory, version, time_created)")
    database.execute("CREATE TABLE message (id, session_id, time_created, time_updated, data)")
    database.execute("CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data)")
    for place, (name, message) in enumerate(messages.items()):
        session = name.partition("/")[0]
        if not database.execute("SELECT 1 FROM session WHERE id = ?", (session,)).fetchone():
            database.execute("INSERT INTO session VALUES (?, '/repo', '1.2.20', ?)", (session, 1_700_000_000_000))
        row = (name, session, place, place, json.dumps(message))
        database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
    database.commit()
    database.close()
    return path


def test_opencode_states_reasoning_within_or_beside_the_output_as_its_total_says(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    within, beside = _message(1_700_000_000_000, 40, 30, 1045), _message(1_700_000_060_000, 40, 30, 1075)
    unclear = _message(1_700_000_120_000, 40, 30, 7)
    running = _message(1_700_000_180_000, 0, 0, 0, time={"created": 1_700_000_180_000})
    messages = {f"ses_1/{place}": one for place, one in enumerate((within, beside, unclear, running))}
    imported(_opencode(tmp_path / "opencode.db", messages))
    assert tokens(only(store)) == (3, 300, 2700, 15, 0, 40 + 70 + 40)
    assert (only(store).at_least, only(store).own_price, only(store).own_priced) == (1, 0.75, 3)


def test_a_fork_of_opencode_and_a_copy_of_its_database_repeat_no_request(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    own = _message(1_700_000_000_000, 40, 0, 1045)
    messages = {"ses_1/1": own, "ses_2/1": own, "ses_2/2": _message(1_700_000_060_000, 41, 0, 1046)}
    _opencode(tmp_path / "opencode.db", messages)
    _opencode(tmp_path / "opencode-backup.db", messages)
    imported(tmp_path)
    assert {name: one[0] for name, one in by_session(store).items()} == {"opencode-ses_1": 1, "opencode-ses_2": 1}


def test_a_fork_of_pi_repeats_no_request(store: Store, imported: Import, tmp_path: Path) -> None:
    usage = {"input": 10, "output": 7, "cacheRead": 90, "cacheWrite": 3, "cost": {"total": 0.5}}
    said = {"role": "assistant", "model": "claude-opus-4-5", "content": [{"type": "text", "text": "So."}]}
    stamps = [f"2026-01-02T10:00:0{place}.000Z" for place in range(3)]
    entries = [
        {"type": "message", "id": f"e{place}", "timestamp": stamps[place], "message": {**said, "usage": usage}}
        for place in range(2)
    ]
    head = {"type": "session", "version": 3, "timestamp": stamps[0], "cwd": "/repo"}
    parent = write_lines(tmp_path / "T_aaa.jsonl", {**head, "id": "aaa"}, *entries)
    own = {"type": "compaction", "id": "e9", "timestamp": stamps[2], "summary": "s", "usage": usage}
    write_lines(tmp_path / "T_bbb.jsonl", {**head, "id": "bbb", "parentSession": str(parent)}, *entries, own)
    imported(tmp_path)
    assert by_session(store) == {"pi-aaa": (2, 20, 180, 6, 0, 14), "pi-bbb": (1, 10, 90, 3, 0, 7)}
    assert sum(one.own_price for one in sums(store)) == 1.5


def test_a_message_of_gemini_cli_that_is_written_again_counts_once(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    counts = {"input": 1000, "output": 30, "cached": 600, "thoughts": 25, "tool": 7, "total": 1062}
    said = {"id": "m1", "type": "gemini", "content": "So.", "model": "gemini-2.5-pro"}
    said |= {"timestamp": "2026-01-02T10:00:00.000Z"}
    lines: list[Any] = [
        {"sessionId": "s1", "projectHash": "h", "startTime": "2026-01-02T10:00:00.000Z", "kind": "main"},
        {**said, "tokens": {**counts, "output": 1, "total": 1033}},
        {**said, "tokens": counts},
        {"$set": {"messages": [{**said, "tokens": counts}]}},
        {"$rewindTo": "m1"},
    ]
    imported(write_lines(tmp_path / "chats/session-1.jsonl", *lines))
    assert tokens(only(store)) == (1, 407, 600, 0, 0, 55)
    assert only(store).reasoning == 25


def test_mini_swe_agent_states_input_with_what_was_cached_and_a_price(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 90, "cost": 0.5}
    usage |= {"prompt_tokens_details": {"cached_tokens": 700}, "completion_tokens_details": {"reasoning_tokens": 60}}
    reply = {"id": "gen-1", "model": "google/gemini-3-pro-preview", "created": 1_700_000_000, "usage": usage}
    messages = [{"role": "user", "content": "do it"}, {"role": "assistant", "content": "Done.", "extra": {}}]
    messages[1]["extra"] = {"response": reply}  # type: ignore[assignment]
    document = {"info": {"mini_version": "2.0.0"}, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"}
    for place in ("a", "b"):  # the same run, kept twice
        (tmp_path / place).mkdir()
        (tmp_path / place / "one.traj.json").write_text(json.dumps(document, indent=2))
    imported(tmp_path)
    assert tokens(only(store)) == (1, 300, 700, 0, 0, 90)
    assert (only(store).reasoning, only(store).own_price) == (60, 0.5)


def _three(folder: Path) -> None:
    claude = Replies()
    write_lines(folder / "s.jsonl", *(claude.reply(f"msg_{place}", 8, request=f"r{place}") for place in range(3)))
    Counted(PARENT).counted(1000, 800, 50, 0).write(folder)


def test_importing_again_and_indexing_anew_change_no_sum(store: Store, imported: Import, tmp_path: Path) -> None:
    _three(tmp_path)
    imported(tmp_path)
    before, sizes = sums(store, "session"), [path.stat().st_size for path in Path(store.layout.audit).iterdir()]
    Path(store.layout.imports).unlink()
    imported(tmp_path)
    assert sums(store, "session") == before
    assert [path.stat().st_size for path in Path(store.layout.audit).iterdir()] == sizes
    rebuild_views(store)
    assert sums(store, "session") == before


def test_a_reply_that_ended_since_it_was_imported_is_counted_whole(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    claude = Replies()
    begun, later = claude.reply("msg_1", 4, stop=None), claude.reply("msg_1", 90, stop=None)
    imported(write_lines(tmp_path / "s.jsonl", begun))
    imported(write_lines(tmp_path / "s.jsonl", begun, later))
    assert (only(store).requests, only(store).output, only(store).at_least) == (1, 90, 1)
    imported(write_lines(tmp_path / "s.jsonl", begun, later, claude.reply("msg_1", 90)))
    assert (only(store).requests, only(store).output, only(store).at_least) == (1, 90, 0)
    rebuild_views(store)
    assert (only(store).requests, only(store).output, only(store).at_least) == (1, 90, 0)


def test_a_removed_session_leaves_no_numbers_and_does_not_come_back(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    _three(tmp_path)
    imported(tmp_path)
    session = store.index.session("claude-code-5e551011")
    assert session is not None
    remove_session(store, session)
    assert [one.group for one in sums(store, "session")] == [f"codex-{PARENT}"]
    assert SONNET.encode() not in Path(store.layout.audit_file(session.name)).read_bytes()
    Path(store.layout.imports).unlink()
    imported(tmp_path)
    rebuild_views(store)
    assert [one.group for one in sums(store, "session")] == [f"codex-{PARENT}"]


def test_no_usage_is_kept_where_messages_or_captures_are_off(tmp_path: Path) -> None:
    from sightline.agents.past_sessions.importer import Importer
    from sightline.harnesses.formats import find_sources

    _three(tmp_path / "sessions")
    for place, settings in enumerate(
        (Settings(evidence=EvidenceSettings(messages=False)), Settings(capture_off=("/home/user/project", "/repo")))
    ):
        with Store(str(tmp_path / f"store{place}"), settings=settings) as store:
            Importer(store).run(find_sources(str(tmp_path / "sessions")))
            assert sums(store) == []


def test_damaged_counts_are_not_stated(store: Store, imported: Import, tmp_path: Path) -> None:
    wrong = {"input_tokens": -5, "cache_read_input_tokens": 1e300, "cache_creation_input_tokens": True}
    imported(write_lines(tmp_path / "s.jsonl", Replies().reply("msg_1", 8, usage={**wrong, "output_tokens": 10**30})))
    assert (only(store).unstated_input, only(store).unstated_output, only(store).requests) == (1, 1, 1)


# harnesses that state less


def test_copilot_states_outputs_by_reply_and_inputs_by_process(store: Store, imported: Import, tmp_path: Path) -> None:
    def shutdown(read: int) -> dict[str, Any]:
        usage = {"inputTokens": 100 + read, "outputTokens": 12, "cacheReadTokens": read, "cacheWriteTokens": 40}
        return {"modelMetrics": {"claude-opus-4.8": {"usage": usage, "totalNanoAiu": 2_000_000_000}}}

    start = {"sessionId": "s1", "copilotVersion": "1.0.68", "context": {"cwd": "/repo"}}
    events: list[tuple[str, dict[str, Any]]] = [("session.start", start)]
    for call, output in (("msg_1", 5), ("msg_1", 5), ("msg_2", 7), ("msg_3", 0)):
        about = {"content": "So.", "model": "claude-opus-4.8", "apiCallId": call, "outputTokens": output}
        events.append(("assistant.message", about))
    events += [("session.shutdown", shutdown(1000)), ("session.shutdown", shutdown(2000))]
    lines = [
        {"type": kind, "data": data, "id": f"e{at}", "timestamp": f"2026-11-23T12:00:{at:02}.000Z"}
        for at, (kind, data) in enumerate(events)
    ]
    imported(write_lines(tmp_path / "s1/events.jsonl", *lines))
    replies, processes = sorted(sums(store), key=lambda one: one.tier)
    assert tokens(replies) == (3, 0, 0, 0, 0, 12)
    assert (replies.unstated_input, replies.unstated_output) == (3, 1)
    assert tokens(processes) == (2, 120, 3000, 80, 0, 0)
    assert (processes.tier, processes.own_price) == ("sum", 0.04)
    prices = PriceList(store.requests.models(), {"claude-opus-4.8": ModelPrice(1, 1, 1, 1, 1)})
    assert prices.dollars(processes) is None  # a price is one of a request


def test_qwen_code_states_output_as_what_the_total_has_beyond_the_input(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    def reply(number: int, **usage: int) -> dict[str, Any]:
        common = {"sessionId": "q1", "cwd": "/p", "version": "0.24.4", "uuid": f"u{number}", "model": "qwen3-coder"}
        message = {"role": "model", "parts": [{"text": "So."}]}
        time = f"2026-11-24T00:00:{number:02}.000Z"
        return {**common, "timestamp": time, "type": "assistant", "message": message, "usageMetadata": usage}

    inside = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 60,
        "candidatesTokenCount": 9,
        "thoughtsTokenCount": 4,
    }
    lines = [reply(1, **inside, totalTokenCount=109), reply(2, **inside, totalTokenCount=113)]
    imported(write_lines(tmp_path / "chats" / "q1.jsonl", *lines))
    assert tokens(only(store)) == (2, 80, 120, 0, 0, 22)
    assert (only(store).reasoning, only(store).unstated_input) == (8, 0)


def test_roo_code_states_input_only_where_nothing_was_cached(store: Store, imported: Import, tmp_path: Path) -> None:
    task = tmp_path / "tasks/0199-task"
    (task / "command-output").mkdir(parents=True)
    (task / "command-output/cmd-1706119234567.txt").write_text("line\n")
    told = [
        {"tokensIn": 50, "tokensOut": 5, "cacheReads": 0, "cacheWrites": 0, "cost": 0.25},
        {"tokensIn": 50, "tokensOut": 6, "cacheReads": 40, "cacheWrites": 3, "cost": 0.5},
        {"request": "not ended"},
    ]
    messages = [
        {"ts": 1706119230000 + at, "type": "say", "say": "api_req_started", "text": json.dumps(one)}
        for at, one in enumerate(told)
    ]
    (task / "ui_messages.json").write_text(json.dumps(messages))
    imported(tmp_path)
    assert tokens(only(store)) == (2, 50, 40, 3, 0, 11)
    assert (only(store).own_price, only(store).unstated_input) == (0.75, 1)


def test_swe_agent_states_the_sum_of_a_session_with_a_price_of_its_own(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    stats = {"instance_cost": 0.5, "tokens_sent": 900, "tokens_received": 30, "api_calls": 5}
    document = {"trajectory": [{"action": "ls", "observation": "a\n"}], "history": [], "environment": "main"}
    (tmp_path / "task.traj").write_text(json.dumps({**document, "info": {"model_stats": stats}}))
    imported(tmp_path)
    assert tokens(only(store)) == (1, 900, 0, 0, 0, 30)
    assert (only(store).tier, only(store).own_price, only(store).unstated_input) == ("sum", 0.5, 1)
