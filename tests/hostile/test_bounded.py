"""Patterns that explode, JSON made to burst, and whoever knocks at a door: answered in bounded time, or refused."""

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.base.errors import SightlineError
from sightline.base.http_guard import Address, Guard
from sightline.base.records import Buffer, Session
from sightline.capture.result import ResultBlock, capture_result
from sightline.doors.mcp.http import guarded, refused
from sightline.pipeline.parse import parse
from sightline.pipeline.run import QueryLimits, run
from sightline.search.errors import Cancelled, SearchFailed
from sightline.search.line_search import search
from sightline.search.processes import Cancel
from sightline.shape.json.scanner import MEMBERS_LOOKED_AT
from sightline.store import Store
from sightline.verbs.asker import Asker
from sightline.verbs.next_call import cli_call
from sightline.verbs.result_view import result_reply
from tests.examples import examples
from tests.hostile.bombs import BOMBS

ALARM_SECONDS = 60.0
"""What has not ended by then is ended, and has failed."""

LOCAL = Address("127.0.0.1", is_loopback=True)
EXPLODING = [r"(a+)+$", r"(a|a)*$", r"(a|aa)+$", r"(.*a){25}$", r"((a*)*)*b", r"(?:a?){40}a{40}$", r"([a-z]+)*[0-9]"]


@pytest.fixture
def alarm() -> Iterator[Cancel]:
    """Ends what goes on for far longer than its limit."""
    cancel = Cancel()
    timer = threading.Timer(ALARM_SECONDS, cancel.cancel)
    timer.start()
    yield cancel
    timer.cancel()


@pytest.mark.parametrize("engine", ["rg", "grep -P", "re"])
@pytest.mark.parametrize("pattern", EXPLODING[:3] + EXPLODING[4:5])
def test_a_pattern_that_explodes_ends_by_its_limit(tmp_path: Any, alarm: Cancel, engine: str, pattern: str) -> None:
    path = tmp_path / "out"
    path.write_bytes((b"a" * 4000 + b"!\n") * 3)
    try:
        search(str(path), pattern, seconds=0.5, engines=[engine], cancel=alarm)
    except SearchFailed as error:
        assert "took more than" in error.message or "backtracking limit" in error.message


def test_a_search_that_explodes_can_be_cancelled(tmp_path: Any) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"a" * 4000 + b"!\n")
    cancel = Cancel()
    threading.Timer(0.2, cancel.cancel).start()
    with pytest.raises(Cancelled):  # and not SearchFailed, by its limit
        search(str(path), EXPLODING[0], seconds=ALARM_SECONDS, engines=["re"], cancel=cancel)


@pytest.mark.parametrize("query", ["grep -P '(a+)+$' @last", "sed -E 's/((a*)*)*b//' @last", "awk '/((a*)*)*b/' @last"])
def test_a_query_that_explodes_ends_by_its_limit(tmp_path: Any, alarm: Cancel, query: str) -> None:
    path = tmp_path / "out"
    path.write_bytes((b"a" * 5000 + b"!\n") * 5)
    result = run(parse(query, lambda ref: str(path)), limits=QueryLimits(seconds=0.5), cancel=alarm)
    assert result.timed_out or result.exit_code is not None
    assert not alarm.cancelled


def _lines_run(query: str) -> int:
    """How many lines of Python run while a query is read."""
    count = 0

    def traced(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        count += event == "line"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        with contextlib.suppress(SightlineError):
            parse(query, lambda ref: "/dev/null")
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    ("begin", "again", "end", "times"),
    [
        ("cat ", "x", "", 3_000_000),
        ("cat ", "x ", "", 30_000),
        ("awk '", "/[", "' @last", 30_000),
        ("awk '/[", "\\", "' @last", 60_000),
        ("awk '/[", "[:a", "' @last", 20_000),
        ("awk '", '"\\', "' @last", 30_000),
        ("awk '{print ", "(", "' @last", 60_000),
        ("awk '", "/a/ ", "' @last", 15_000),
        ("jq '", '"\\', "' @last", 30_000),
        ("sed 's/[", "\\", "' @last", 60_000),
        ("sed '", "{", "' @last", 60_000),
        ("grep ", "'", "", 60_001),
        ("cat ", "| cat ", "", 10_000),
        ("", "$(", "", 30_000),
    ],
)
def test_reading_a_query_costs_no_more_than_its_length(begin: str, again: str, end: str, times: int) -> None:
    with contextlib.suppress(SightlineError):
        parse(begin + again * times + end, lambda ref: "/dev/null")
    once, twice = (_lines_run(begin + again * count + end) for count in (200, 400))
    assert twice <= 2.5 * once + 100  # four times as many, if each looked at all before it


@pytest.mark.parametrize("names", [sorted(BOMBS)[::2], sorted(BOMBS)[1::2]], ids=["one half", "the other"])
def test_json_that_is_made_to_burst_is_shown_in_bounded_time_and_memory(tmp_path: Path, names: list[str]) -> None:
    """In a process of its own, since memory once taken is not given back."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("bombs.py")), str(tmp_path / "root"), *names],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split("\n")[:-1] == names


def test_of_a_key_that_is_there_many_times_only_so_many_are_looked_at(store: Store) -> None:
    asking = Asker(store, Session("s", "shell", "", "", "/", 0.0), cli_call)
    data = b"{" + b",".join([b'"k":1'] * (MEMBERS_LOOKED_AT + 5)) + b"}"
    buffer = capture_result(store, [ResultBlock([data])], command="t", cwd="/", session="s")
    assert isinstance(buffer, Buffer)
    told = result_reply(asking, buffer, verb="tool", request={}).fields["description"]
    assert told == f"{{k, ...}} ({MEMBERS_LOOKED_AT + 5} keys)"


def _lines(*messages: object) -> bytes:
    return b"".join(
        (one if isinstance(one, bytes) else json.dumps(one, ensure_ascii=False).encode(errors="surrogatepass")) + b"\n"
        for one in messages
    )


def _request(number: object, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def test_an_mcp_server_survives_what_is_malformed_gigantic_and_out_of_order() -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x" * 100_000, "version": {}}}
    call = _request(7, "tools/call", name="list_outputs", arguments={})
    sent = _lines(
        _request(1, "tools/call", name="read_output", arguments={"ref": "@last"}),  # before initialize
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        _request(2, "initialize", **hello),
        _request(3, "initialize", **hello),
        b"",
        b"{",
        b"null",
        b"[]",
        b"[[[[",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":4,"id":5,"method":"ping"}',
        b'{"id":' + b"9" * 10_000 + b',"jsonrpc":"2.0","method":"ping"}',
        _request(None, "ping"),
        _request([1], "ping"),
        _request({"a": 1}, "ping"),
        _request("\ud800", "ping"),
        _request(6, "tools/call", name="query", arguments={"pipeline": "cat " + "x" * 3_000_000}),
        _request(8, "tools/call", name="read_output", arguments={"ref": "@last", "limit": 10**30, "offset": -(10**30)}),
        _request(9, "tools/call", name="read_file", arguments={"path": "a\0b"}),
        _request(10, "tools/call", name="read_file", arguments={"path": "/" + "x/" * 100_000}),
        _request(11, "tools/call", name="query", arguments={"pipeline": "\ud800 @last"}),
        _request(12, "resources/read", uri="sightline://buffers/../../etc/passwd"),
        _request(13, "resources/read", uri="file:///etc/passwd"),
        b'{"jsonrpc":"2.0","id":14,"method":"ping","params":' + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"}",
        {"jsonrpc": "2.0", "id": 99, "result": {}},  # an answer to nothing
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}},  # ahead of the request
        call,
        call,  # the same id twice
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nobody"}},
        _request(100, "ping"),
    )
    wanted = {1, 2, 6, 8, 9, 10, 11, 12, 13, 100}
    answers = _answers(sent, wanted)
    ids = [one.get("id") for one in answers if isinstance(one, dict)]
    assert {number: ids.count(number) for number in wanted} == dict.fromkeys(wanted, 1)
    assert "root:" not in json.dumps(answers)


def _answers(sent: bytes, wanted: set[int]) -> list[Any]:
    """What a server says until it has answered what is wanted; it then ends well."""
    argv = [sys.executable, "-m", "sightline.doors.cli.main", "mcp", "--read-only"]
    server = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert server.stdin and server.stdout and server.stderr
    alarm = threading.Timer(60, server.kill)
    alarm.start()
    writer = threading.Thread(target=lambda: (server.stdin.write(sent), server.stdin.flush()))
    writer.start()
    answers: list[Any] = []
    for line in server.stdout:
        answers.append(json.loads(line))
        if wanted <= {one.get("id") for one in answers if isinstance(one, dict) and isinstance(one.get("id"), int)}:
            break
    writer.join()
    server.stdin.close()
    answers += [json.loads(line) for line in server.stdout]
    errors = server.stderr.read()
    server.stdout.close()
    server.stderr.close()
    assert server.wait() == 0, errors
    alarm.cancel()
    assert b"Traceback" not in errors
    return answers


_HEADERS = st.dictionaries(
    st.sampled_from(("host", "origin", "authorization")),
    st.text(st.characters(max_codepoint=255), max_size=30)
    | st.sampled_from(
        (
            "localhost",
            "127.0.0.1:1",
            "[::1]:9",
            "[",
            "http://[",
            "null",
            "http://localhost.evil.example",
            "localhost@evil.example",
            "evil.example#localhost",
            "Bearer",
            "Bearer ",
            "bearer x",
            "Basic dG9rZW4=",
            "http://127.0.0.1.evil.example",
            "127.0.0.1\t",
            "localhost,evil.example",
            "0x7f.1",
            "[::ffff:127.0.0.1]",
        )
    ),
)


@settings(max_examples=examples(30), deadline=None)
@given(_HEADERS)
def test_nobody_without_the_token_is_let_in_whatever_the_headers_say(headers: dict[str, str]) -> None:
    refusal = refused(Guard(LOCAL, "the-token", other_ports=True), headers)
    assert refusal is not None
    assert refusal.status in (401, 403, 421)
    assert refusal.reason


@settings(max_examples=examples(30), deadline=None)
@given(_HEADERS)
def test_without_tokens_only_our_own_names_are_answered(headers: dict[str, str]) -> None:
    if refused(Guard(LOCAL, "", other_ports=True), headers) is None:
        name = headers["host"].rpartition(":")[0] or headers["host"]
        assert name.strip().rpartition("@")[2].lower() in ("localhost", "127.0.0.1", "[::1]", "::1"), headers
        assert "evil" not in headers.get("origin", "")


async def _never(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("it was let in")


@pytest.mark.parametrize("kind", ["websocket", "unheard-of"])
def test_what_is_no_plain_request_is_not_passed_on_past_the_guard(kind: str) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(guarded(_never, Guard(LOCAL, "the-token"))({"type": kind, "headers": []}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


_GUARDED = {"type": "http", "headers": [(b"host", b"127.0.0.1"), (b"authorization", b"Bearer the-token")]}
_WITHOUT_TOKEN = {"type": "http", "headers": [(b"host", b"127.0.0.1")]}


def _answer_to(scope: dict[str, Any], chunks: Iterator[bytes], app: Any = _never) -> tuple[int, dict[bytes, bytes]]:
    """The status and headers of what a guarded application answers to a body in chunks."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": next(chunks), "more_body": True}

    asyncio.run(guarded(app, Guard(LOCAL, "the-token"))(scope, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"])


def test_without_the_token_no_byte_of_a_body_is_read_and_the_connection_is_closed() -> None:
    chunks = iter([b"x"] * 10)
    status, headers = _answer_to(_WITHOUT_TOKEN, chunks)
    assert (status, headers[b"connection"], len(list(chunks))) == (401, b"close", 10)


def test_with_the_token_a_body_of_unknown_length_is_read_up_to_a_mebibyte() -> None:
    chunks = iter([b"x" * 1000] * 2000)
    status, headers = _answer_to(_GUARDED, chunks)
    assert (status, headers[b"connection"]) == (413, b"close")
    assert 900 < len(list(chunks)) < 1000


@pytest.mark.parametrize("length", [b"16777217", b"9" * 5000])
def test_a_body_that_says_that_it_is_too_large_is_not_read(length: bytes) -> None:
    chunks = iter([b"x"] * 10)
    scope = {**_GUARDED, "headers": [*_GUARDED["headers"], (b"content-length", length)]}
    assert _answer_to(scope, chunks)[0] == 413
    assert len(list(chunks)) == 10
