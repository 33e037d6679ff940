"""Who asked: what a request and the environment tell of it is recorded with every view."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.doors.tools.handlers import Caller, Sessions, caller_of, room_of
from sightline.doors.tools.protocol import Context
from sightline.log.sessions import current_session
from sightline.shape.budgets import HARD_LIMIT_BYTES

CLAUDE = {"CLAUDE_CODE_SESSION_ID": "aaa"}


@pytest.mark.parametrize(
    ("client", "meta", "environment", "caller"),
    [
        ("claude-code 2.1", {"claudecode/toolUseId": "toolu_1"}, CLAUDE, ("claude-code", "aaa", "toolu_1")),
        ("codex-mcp-client 0.1", {"sessionId": "s", "threadId": "t", "callId": "c"}, {}, ("codex", "s", "c")),
        ("codex-mcp-client 0.1", {"threadId": "t"}, {}, ("codex", "t", "")),
        ("gemini-cli-mcp-client 0.6", {}, {"GEMINI_SESSION_ID": "g"}, ("gemini", "g", "")),
        ("opencode 1.18", {"progressToken": 1}, {}, ("opencode", "", "")),
        ("inspector 2", {}, CLAUDE, ("inspector", "", "")),
        ("", {}, CLAUDE, ("claude-code", "aaa", "")),
        ("", {}, {}, ("mcp", "", "")),
        ("shell 1", {}, {}, ("mcp", "", "")),
        ("Visual Studio Code 1.106.0", {}, {}, ("Visual-Studio-Code", "", "")),
        ("some tool", {}, {}, ("some-tool", "", "")),
    ],
)
def test_a_caller_is_known_by_what_it_tells_and_what_surrounds_it(
    client: str, meta: dict[str, Any], environment: dict[str, str], caller: tuple[str, str, str]
) -> None:
    told = caller_of(Context("2025-11-25", client, meta), current_session(environment, name="unused"))
    assert told == Caller(*caller, client)


def test_sessions_are_named_by_harness_and_its_own_id() -> None:
    session, _ = Sessions(environment=CLAUDE).of(Context("2025-11-25", "claude-code 2.1"))
    assert session.name == "claude-code-aaa"  # the same as the command line's under that harness
    assert (session.harness_id, session.client) == ("aaa", "claude-code 2.1")


def test_a_client_that_tells_nothing_has_one_session_a_server() -> None:
    sessions, context = Sessions(environment={}), Context("2025-11-25", "some tool 1")
    assert sessions.of(context)[0] == sessions.of(context)[0]
    assert sessions.of(context)[0].name != Sessions(environment={}).of(context)[0].name


@pytest.mark.parametrize("words", [("--session", "mine"), ()])
def test_every_view_says_who_asked(connect: Callable[..., Any], words: tuple[str, ...]) -> None:
    from sightline.log.log_index import list_views

    client = connect(*words, CODEX_SESSION_ID="from-another-harness")
    client.call("run_command", meta={"callId": "c1", "sessionId": "s1"}, command="echo hi")
    client.call("read_output", meta={"callId": "c2", "sessionId": "s1"}, ref="@cmd_000000")
    client.request("resources/read", meta={"callId": "c3", "sessionId": "s1"}, uri="sightline://buffers/last")
    with client.store() as store:
        views = [indexed.view for indexed in reversed(list_views(store))]
        callers = [json.loads(view.request)["caller"] for view in views]
        assert callers == [
            {"client": "a-client 1.2", "harness_session": "s1", "tool_use": f"c{n}"} for n in range(1, 4)
        ]
        [session] = store.index.sessions()
        assert session.name == ("mine" if words else "a-client-s1")
        assert (session.harness, session.harness_id, session.client) == ("a-client", "s1", "a-client 1.2")
        assert {view.session for view in views} == {session.name}


def test_last_is_the_newest_command_of_the_asking_session(client: Any) -> None:
    client.call("run_command", meta={"sessionId": "one"}, command="echo of one")
    client.call("run_command", meta={"sessionId": "two"}, command="echo of two")
    assert client.call("read_output", meta={"sessionId": "one"}, ref="@last")[1] == "of one\n"
    assert "error" in client.call("read_output", meta={"sessionId": "three"}, ref="@last")[0]


def test_the_beginning_of_a_ref_will_do_and_what_comes_near_is_named(client: Any) -> None:
    ref = client.call("run_command", command="seq 1 5000")[0]["output_id"]
    assert client.call("read_output", ref=ref[:-2])[0]["output_id"] == ref
    wrong = ref[:-1] + ("0" if ref[-1] != "0" else "1")
    assert f"did you mean {ref}?" in client.call("read_output", ref=wrong)[0]["hint"]


def test_a_reply_is_never_larger_than_its_client_shows_whole() -> None:
    def room(client: str) -> tuple[int, int]:
        return room_of(caller_of(Context("2025-11-25", client), current_session({}, name="unused")))

    assert room("codex-mcp-client 0.169.0") < (40_000, 1)
    assert room("opencode 1.18.33") < (50 * 1024, 2_000)
    assert room("a-client 1") == (HARD_LIMIT_BYTES, 0)


def test_what_a_client_would_cut_goes_on_in_the_next_reply(connect: Callable[..., Any], tmp_path: Path) -> None:
    """opencode shows its model 2,000 lines of a result, whatever their size."""
    (tmp_path / "numbers").write_text("".join(f"{n}\n" for n in range(1, 3001)))
    client = connect(name="opencode")
    fields, body = client.call("read_file", path="numbers", start_line=1)
    assert fields["truncated"]
    ref, lines = fields["file_id"], body.splitlines()
    while "next" in fields and len(lines) < 3000:
        assert 1_000 < body.count("\n") < 2_000
        assert fields["next"].startswith("read_output(")
        fields, body = client.call("read_output", ref=ref, lines=f"{len(lines) + 1}-3000")
        lines += body.splitlines()
    assert lines == [str(n) for n in range(1, 3001)]
    for short in ("for i in {1..2500}; do echo $((i % 10)); done", "for i in {1..3000}; do echo $i; done; exit 1"):
        fields, body = client.call("run_command", command=short, verbosity="full")
        assert fields["truncated"]
        assert 500 < body.count("\n") < 2_000
