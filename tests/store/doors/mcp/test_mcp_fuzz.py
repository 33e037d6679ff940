"""Whatever a client sends, every request gets exactly one answer, and the server goes on."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples

KEY = "io.modelcontextprotocol/"
METHODS = (
    "initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read",
    "resources/templates/list", "resources/subscribe", "resources/unsubscribe", "completion/complete", "prompts/list",
)  # fmt: skip
TOOLS = ("read_file", "read_output", "query", "list_outputs", "run_command")  # the last one is not offered
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda more: st.lists(more, max_size=3) | st.dictionaries(st.text(max_size=5), more, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(
    st.sampled_from(("ref", "path", "pipeline", "lines", "search", "limit", "match", "stream", "offset")) | st.text(),
    values | st.sampled_from(("@last", "@cmd_a1b2c3:1-2", "cat @last", "1-", "[", "$.a[0]")),
    max_size=3,
)
envelopes = st.fixed_dictionaries(
    {},
    optional={
        KEY + "protocolVersion": st.sampled_from(("2026-07-28", "2025-11-25")) | values,
        KEY + "clientCapabilities": st.just({}) | values,
        KEY + "clientInfo": st.fixed_dictionaries({"name": values, "version": values}) | values,
        "progressToken": values,
        "sessionId": values,
    },
)
params = st.fixed_dictionaries(
    {},
    optional={
        "_meta": envelopes | values,
        "name": st.sampled_from(TOOLS) | values,
        "arguments": arguments | values,
        "uri": st.sampled_from(("sightline://buffers/last", "sightline://buffers/@cmd_a?from=1")) | values,
        "cursor": values,
        "ref": st.just({"type": "ref/resource", "uri": "sightline://buffers/{ref}"}) | values,
        "argument": st.fixed_dictionaries({"name": st.just("ref"), "value": values}) | values,
        "protocolVersion": st.just("2025-06-18") | values,
    },
)
requests = st.fixed_dictionaries({"method": st.sampled_from(METHODS) | st.text(max_size=9), "params": params | values})
strangers = (
    st.fixed_dictionaries({"method": st.sampled_from(("notifications/cancelled", "x")), "params": params}) | values
)


@pytest.fixture
def client_once(connect: Callable[..., Any]) -> Callable[[], Any]:
    """One client for all examples; its server runs no commands."""
    started: list[Any] = []

    def once() -> Any:
        if not started:
            started.append(connect("--read-only"))
        return started[0]

    return once


@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.lists(st.tuples(requests, strangers), min_size=1, max_size=8))
def test_every_request_gets_exactly_one_answer(client_once: Any, messages: list[tuple[Any, Any]]) -> None:
    client = client_once()
    heard_before, asked = len(client.heard), []
    for request, stranger in messages:
        client._number += 1
        asked.append(client._number)
        client.write(json.dumps({"jsonrpc": "2.0", "id": asked[-1], **request}).encode())
        whole = {"jsonrpc": "2.0", **stranger} if isinstance(stranger, dict) else stranger
        client.write(json.dumps(whole).encode())
    client.until(lambda: all(map(client.answered, asked)))
    asked.append(client.send("ping"))
    client.answer(asked[-1])
    told = Counter(one["id"] for one in client.heard[heard_before:] if isinstance(one, dict) and one.get("id"))
    assert told == Counter(asked)
