"""The MCP Inspector's command line, written by the authors of MCP: every method, in both eras, strictly, under load.

`README.md` beside this says how to run these, and what was seen.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sightline.log.log_index import list_views
from sightline.store import Store
from sightline.verbs.next_call import TOOLS
from tests import node_peers

INSPECTOR = "@modelcontextprotocol/inspector"
CALLS = 1_000
AT_ONCE = 10
SECONDS = 200
SIGHTLINE = [sys.executable, "-m", "sightline.doors.cli.main"]
ERAS = ("legacy", "modern", "auto")

pytestmark = [pytest.mark.peers_node, pytest.mark.xdist_group("inspector")]


class Told(NamedTuple):
    """What the inspector told of one method.

    Attributes:
        data: the result, or the report; None where it printed none.
        error: what it wrote to standard error.
        code: its exit code.
    """

    data: Any
    error: str
    code: int


Inspect = Callable[..., Told]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The store of the server."""
    return tmp_path / "a store"


@pytest.fixture
def inspect(tmp_path: Path, root: Path) -> Inspect:
    """Runs the inspector: with options of its own, and on a server, by default ours."""
    entry = node_peers.program(INSPECTOR, "mcp-inspector")
    environment = {"PATH": node_peers.path(), "HOME": str(tmp_path), "LANG": "C.UTF-8", "SIGHTLINE_HOME": str(root)}

    def run(*options: str, server: list[str] | None = None) -> Told:
        server = ["-e", f"SIGHTLINE_HOME={root}", *SIGHTLINE, "mcp"] if server is None else server
        done = subprocess.run(
            [node_peers.node(), entry, "--cli", *server, *options],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            cwd=tmp_path,
            env=environment,
            timeout=SECONDS,
        )
        return Told(json.loads(done.stdout) if done.stdout.strip() else None, done.stderr, done.returncode)

    return run


@pytest.fixture
def called(inspect: Inspect) -> Callable[..., Any]:
    """Calls a tool; what the inspector has of its result."""

    def call(tool: str, *options: str, **arguments: object) -> Any:
        told = inspect(
            *("--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)), *options
        )
        assert told.code == 0, told.error
        return told.data

    return call


@pytest.mark.parametrize("era", ERAS)
def test_it_lists_the_tools_and_finds_nothing_to_object_to(inspect: Inspect, era: str) -> None:
    told = inspect("--method", "tools/list", "--strict", "--protocol-era", era)
    assert (told.code, told.error) == (0, "")
    assert tuple(tool["name"] for tool in told.data["tools"]) == TOOLS


@pytest.mark.parametrize("era", ERAS)
def test_it_reads_what_a_command_has_printed(
    called: Callable[..., Any], inspect: Inspect, root: Path, era: str
) -> None:
    result = called("run_command", "--protocol-era", era, command="seq 1 30000; exit 3")
    fields = json.loads(result["content"][0]["text"])
    assert (fields["exit_code"], fields["stdout_total"], fields["truncated"]) == (3, 30_000, True)
    assert "isError" not in result
    ref = fields["output_id"]

    (page,) = called("read_output", "--protocol-era", era, ref=ref, lines="700-702")["content"][1:]
    assert page == {"type": "text", "text": "700\n701\n702\n"}

    uri = f"sightline://buffers/{ref.removeprefix('@')}"
    listed = inspect("--method", "resources/list", "--protocol-era", era).data["resources"]
    assert uri in [one["uri"] for one in listed]
    read = inspect("--method", "resources/read", "--uri", f"{uri}?from=9&to=10", "--protocol-era", era)
    assert read.code == 0, read.error
    assert [one["text"] for one in read.data["contents"]] == ["9\n10\n"]

    with Store(str(root)) as store:
        assert [one.view.verb for one in list_views(store)] == ["read_output", "read_output", "run_command"]
        assert {session.client for session in store.index.sessions()} == {
            f"inspector-cli {node_peers.version_of(INSPECTOR)}"
        }


def test_what_is_not_there_is_an_error_that_says_so(inspect: Inspect) -> None:
    told = inspect("--method", "resources/read", "--uri", "sightline://buffers/cmd_000000")
    assert told.code != 0
    assert "cmd_000000" in told.error
    assert inspect("--method", "tools/call", "--tool-name", "no_such_tool").code != 0


@pytest.mark.parametrize(
    ("tool", "arguments"), [("list_outputs", {"limit": 1}), ("run_command", {"command": "echo hi"})]
)
def test_it_calls_a_thousand_times_ten_at_once_without_an_error(
    inspect: Inspect, root: Path, tool: str, arguments: dict[str, object]
) -> None:
    options = ("--load", "--load-concurrency", str(AT_ONCE), "--load-requests", str(CALLS))
    call = ("--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
    told = inspect(*options, *call)
    assert told.code == 0, told.error
    assert {name: told.data[name] for name in ("requests", "ok", "toolErrors", "errors")} == {
        "requests": CALLS,
        "ok": CALLS,
        "toolErrors": 0,
        "errors": 0,
    }
    with Store(str(root)) as store:
        assert len(list_views(store)) == CALLS


@pytest.mark.parametrize("era", ERAS)
def test_it_speaks_http_with_the_token(tmp_path: Path, root: Path, inspect: Inspect, era: str) -> None:
    pytest.importorskip("uvicorn", reason="the extra http is not installed")
    server = subprocess.Popen(
        [*SIGHTLINE, "mcp", "--http", "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(root)},
    )
    try:
        assert server.stdout
        url = server.stdout.readline().split()[-1]
        server.stdout.readline()  # the token is there by now
        token = (root / "http-token").read_text().strip()
        where = ["--server-url", url, "--header", f"Authorization: Bearer {token}"]
        call = ("--method", "tools/call", "--tool-name", "run_command", "--tool-arg", "command=echo hi")
        told = inspect(*call, "--protocol-era", era, server=where)
        assert told.code == 0, told.error
        assert told.data["content"][1]["text"] == "hi\n"
        assert inspect(*call, "--stored-auth-only", server=where[:2]).code != 0
    finally:
        server.kill()
        server.communicate()


def test_a_server_behind_the_proxy_has_two_tools_more_and_is_as_strict(
    inspect: Inspect, tmp_path: Path, root: Path
) -> None:
    everything = [node_peers.node(), node_peers.program("@modelcontextprotocol/server-everything"), "stdio"]
    behind = [*SIGHTLINE, "proxy", "--", *everything]
    configured = tmp_path / "servers.json"  # its command line would take -- for its own
    configured.write_text(
        json.dumps(
            {"mcpServers": {"it": {"command": behind[0], "args": behind[1:], "env": {"SIGHTLINE_HOME": str(root)}}}}
        )
    )
    plain = inspect("--method", "tools/list", server=everything).data["tools"]
    told = inspect("--method", "tools/list", "--strict", server=["--config", str(configured), "--server", "it"])
    assert told.code == 0, told.error
    assert [one["name"] for one in told.data["tools"]] == [*(one["name"] for one in plain), "read_output", "query"]
