"""A server over HTTP behind the proxy; here it is our own, which the official SDK carries."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.fork_server import ForkServer
from tests.store.doors.proxy.proxy_kit import PATIENCE_SECONDS, Client

pytest.importorskip("mcp", reason="the extra http is not installed")

Make = Callable[..., Client]
LARGE = {"command": "seq 1 9000", "verbosity": "full"}


class Upstream(NamedTuple):
    """A server that runs."""

    url: str
    token: str


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory, http_fork_server: ForkServer) -> Iterator[Upstream]:
    folder = tmp_path_factory.mktemp("upstream")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "SIGHTLINE_HOME": str(folder / "store")}
    words = ["mcp", "--http", "--port", "0"]
    server = http_fork_server.start(words, stdout=subprocess.PIPE, cwd=folder, env=environment)
    assert server.stdout
    url = server.stdout.readline().decode().split()[-1]
    token = server.stdout.readline().decode().split()[-1]
    yield Upstream(url, token)
    server.send_signal(signal.SIGTERM)
    server.wait(PATIENCE_SECONDS)
    server.stdout.close()


@pytest.fixture
def through(client: Make, upstream: Upstream) -> Callable[..., Client]:
    """Makes clients of the server."""

    def make(*options: str) -> Client:
        return client("--url", upstream.url, "--bearer-env", "TOKEN", *options, TOKEN=upstream.token)

    return make


def opened(client: Client) -> Client:
    """After the handshake."""
    info = {"name": "a-client", "version": "1"}
    told = client.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
    assert json.loads(told)["result"]["serverInfo"]["name"] == "sightline"
    client.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    return client


def test_large_results_are_kept_and_can_be_read_on_in(through: Make) -> None:
    client = opened(through())
    names = [tool["name"] for tool in json.loads(client.ask("tools/list"))["result"]["tools"]]
    assert names[-2:] == ["sightline_read_output", "sightline_query"]
    result = client.own("run_command", **LARGE)
    ref = json.loads(result["content"][0]["text"])["output_id"]
    assert ref.startswith("@tool_")
    assert client.stream(f"{ref}.1").startswith(b"1\n2\n3\n")
    told = client.own("sightline_read_output", ref=f"{ref}.1", lines="3-3")
    assert told["content"][1]["text"] == "3\n"
    small = client.own("run_command", command="echo hi")
    assert small["content"][1]["text"] == "hi\n"
    assert client.close() == (b"", 0)


def test_requests_that_stand_alone_carry_the_headers_of_their_era(through: Make) -> None:
    client = through()
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "a-client", "version": "1"},
    }
    client.request("server/discover", meta=meta)
    assert "2026-07-28" in json.loads(client.read())["result"]["supportedVersions"]
    client.request("tools/call", name="run_command", arguments=LARGE, meta=meta)
    result = json.loads(client.read())["result"]
    assert (result["resultType"], "@tool_" in result["content"][0]["text"]) == ("complete", True)


def test_answers_are_waited_for_after_the_input_has_ended(through: Make) -> None:
    client = opened(through())
    number = client.request("tools/call", name="run_command", arguments={"command": "sleep 0.3; echo late"})
    rest, code = client.close()
    assert (json.loads(rest)["id"], code) == (number, 0)


def test_what_is_no_message_is_answered_and_a_batch_taken_apart(through: Make) -> None:
    client = opened(through())
    client.send("no JSON\n\n")
    assert json.loads(client.read())["error"]["code"] == -32700
    client.send('{"jsonrpc":"2.0","id":70}\n')
    assert json.loads(client.read())["error"]["code"] == -32600
    client.send('[{"jsonrpc":"2.0","id":71,"method":"ping"},{"jsonrpc":"2.0","id":72,"method":"ping"}]\n')
    assert {json.loads(client.read())["id"] for _ in range(2)} == {71, 72}


def test_half_a_character_is_replaced_on_its_way(through: Make) -> None:
    client = opened(through())
    call = {"name": "run_command", "arguments": {"command": "echo \ud83d"}}
    client.send(json.dumps({"jsonrpc": "2.0", "id": 70, "method": "tools/call", "params": call}) + "\n")
    assert json.loads(client.read())["result"]["content"][1]["text"] == "�\n"


def test_what_the_sdk_does_not_carry_is_answered_and_what_follows_goes_on(through: Make) -> None:
    client = opened(through())
    client.send('{"jsonrpc":"2.0","id":70,"method":"x","params":{"deep":' + "[" * 400 + "]" * 400 + "}}\n")
    answer = json.loads(client.read())
    assert (answer["id"], answer["error"]["code"]) == (70, -32600)
    client.send('{"jsonrpc":"2.0","id":71,"error":{"message":"no code"}}\n')  # nobody waits for an answer to this one
    client.send('{"jsonrpc":"2.0","id":72,"method":"ping"}\n')
    assert json.loads(client.read())["id"] == 72
    client.close()
    assert "does not carry" in client.errors


def test_the_end_waits_for_no_answer_to_what_was_cancelled(through: Make) -> None:
    client = through()
    key = "io.modelcontextprotocol/"
    meta = {key + "protocolVersion": "2026-07-28", key + "clientCapabilities": {}}
    number = client.request("tools/call", meta=meta, name="run_command", arguments={"command": "sleep 1000"})
    cancelled = {"requestId": number, "_meta": meta}
    client.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}) + "\n")
    assert client.close() == (b"", 0)


def test_nothing_is_touched_where_nothing_may_be_kept(through: Make, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "config.toml").write_text(f'[directories."{tmp_path}"]\ncapture = "off"\n')
    client = opened(through())
    assert "@tool_" not in client.own("run_command", **LARGE)["content"][0]["text"]


def test_a_signal_ends_it(through: Make) -> None:
    client = opened(through())
    client.process.terminate()
    assert client.process.wait(PATIENCE_SECONDS) == 0


def test_a_server_that_is_not_there_is_told(client: Make) -> None:
    lost = client("--url", "http://127.0.0.1:1/mcp")
    lost.request("ping")
    assert lost.process.wait(PATIENCE_SECONDS) == 1
    assert "http://127.0.0.1:1/mcp cannot be reached" in lost.errors


def test_a_token_is_taken_from_the_environment_only(cli: Any) -> None:
    ran = cli("proxy", "--url", "http://127.0.0.1:1/", "--bearer-env", "NO_SUCH_VARIABLE")
    assert (ran.code, "NO_SUCH_VARIABLE" in ran.err) == (2, True)
    assert cli("proxy", "--bearer-env", "HOME", "--", "cat").code == 2
