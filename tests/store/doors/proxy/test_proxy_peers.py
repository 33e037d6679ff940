"""Servers that others wrote: the same requests with the proxy and without it differ only where a result was kept.

Those on Node are found as `node_peers` says; ``tests/peers/README.md`` tells how to run them.
"""

import asyncio
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import node_peers
from tests.store.doors.proxy.proxy_kit import PROGRAM, Client

Make = Callable[..., Client]
Request = tuple[str, dict[str, Any]]

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "a-client", "version": "1"},
}
LEGACY: list[Request] = [
    (
        "initialize",
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a-client", "version": "1"}},
    ),
    ("notifications/initialized", {}),
]
ADDED = {"read_output", "query"}


def tool(name: str, **arguments: object) -> Request:
    return "tools/call", {"name": name, "arguments": arguments}


def conversation(client: Client, requests: list[Request], meta: dict[str, Any]) -> Iterator[list[Any]]:
    """Send one request after the other; for each all that came, its answer last."""
    for number, (method, params) in enumerate(requests):
        params = {**params, "_meta": {**params.get("_meta", {}), **meta}}
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if method.startswith("notifications/"):
            client.send(json.dumps(message) + "\n")
            continue
        client.send(json.dumps({**message, "id": number}) + "\n")
        told: list[Any] = []
        while not told or told[-1].get("id") != number or "method" in told[-1]:
            line = client.read()
            assert line, "the server has ended"
            told.append(json.loads(line))
        yield told


def compare(make: Make, command: list[str], requests: list[Request], **options: Any) -> int:
    """Talk to two servers alike, one of them proxied; how many results were kept."""
    meta, environment = options.get("meta", {}), options.get("environment", dict[str, str]())
    direct = make(command=command, proxied=False, **environment)
    without = list(conversation(direct, requests, meta))
    direct.close()
    proxied = make(command=command, **environment)
    kept = 0
    for (method, _), plain, through in zip(
        [one for one in requests if not one[0].startswith("notifications/")],
        without,
        conversation(proxied, requests, meta),
        strict=True,
    ):
        assert through[:-1] == plain[:-1]
        result = through[-1].get("result", {})
        if method == "tools/list":
            check_list(plain[-1]["result"], result)
        elif "sightline/outputs" in result.get("_meta", {}):
            check_kept(proxied, plain[-1]["result"], result)
            kept += 1
        else:
            assert through == plain
    assert proxied.close()[1] == 0
    return kept


def check_list(plain: Any, through: Any) -> None:
    """All is the same but for schemas of results, and two tools more."""
    for one in plain["tools"]:
        one.pop("outputSchema", None)
    assert {one["name"] for one in through["tools"][len(plain["tools"]) :]} == ADDED
    del through["tools"][len(plain["tools"]) :]
    assert through == plain


def check_kept(proxied: Client, plain: Any, through: Any) -> None:
    """The texts and the structure are in the store as they were; what else the result had is still there."""
    assert len(json.dumps(through)) < 20_000
    ref = through["_meta"]["sightline/outputs"][0]["ref"]
    for number, block in enumerate(plain["content"]):
        assert block["type"] == "text"
        assert proxied.stream(f"{ref}.{number}").decode() == block["text"]
    if "structuredContent" in plain:
        assert json.loads(proxied.stream(f"{ref}.{len(plain['content'])}")) == plain["structuredContent"]
    changed = ("content", "structuredContent", "_meta")
    assert {name: through[name] for name in through if name not in changed} == {
        name: plain[name] for name in plain if name not in changed
    }


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository of 300 commits; skips where the server for it, or git itself, is not installed."""
    if importlib.util.find_spec("mcp_server_git") is None:
        pytest.skip("mcp-server-git is not installed")
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path / "repository"
    folder.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        **{f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }

    def git(*words: str, **more: Any) -> None:
        subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True, **more)

    git("init", "-b", "main")
    stream = "".join(
        f"commit refs/heads/main\nmark :{n}\ncommitter A <a@b.c> {1_700_000_000 + n} +0000\ndata <<E\ncommit {n}\nE\n"
        f"M 100644 inline file-{n % 60}.txt\ndata <<E\n{f'text {n} é' * 40}\nE\n\n"
        for n in range(1, 301)
    )
    git("fast-import", input=stream.encode())
    git("reset", "--hard")
    return folder


@pytest.mark.peers
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_git_server_says_the_same_but_for_what_is_kept(client: Make, repository: Path, era: str) -> None:
    where = {"repo_path": str(repository)}
    requests = [
        *(LEGACY if era == "legacy" else [("server/discover", {})]),
        ("tools/list", {}),
        tool("git_status", **where),
        tool("git_log", **where, max_count=300),
        tool("git_show", **where, revision="HEAD"),
        tool("git_diff", **where, target="HEAD~200"),
        tool("git_diff", **where, target="no-such-branch"),
        tool("git_no_such_tool"),
        ("prompts/list", {}),
        ("no/such/method", {}),
    ]
    command = [sys.executable, "-m", "mcp_server_git", "--repository", str(repository)]
    meta = MODERN if era == "modern" else {}
    assert compare(client, command, requests, meta=meta) >= 2


@pytest.mark.peers
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_takes_all_of_it(tmp_path: Path, repository: Path, mode: str) -> None:
    mcp = pytest.importorskip("mcp")
    stdio = pytest.importorskip("mcp.client.stdio")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "store")}
    words = [*PROGRAM[1:], "--", sys.executable, "-m", "mcp_server_git"]

    async def talk() -> None:
        server = mcp.StdioServerParameters(command=PROGRAM[0], args=words, env=environment)
        async with mcp.Client(stdio.stdio_client(server), mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names[-2:] == ["read_output", "query"]
            log = await client.call_tool("git_log", {"repo_path": str(repository), "max_count": 300})
            ref = json.loads(log.content[0].text)["output_id"]
            lines = await client.call_tool("read_output", {"ref": ref, "lines": "1-1"})
            assert lines.content[1].text == "Commit history:\n"
            count = await client.call_tool("query", {"pipeline": f"grep -c ^Commit: {ref}"})
            assert count.content[-1].text == "300\n"

    asyncio.run(talk())


def node_server(name: str) -> list[str]:
    """How a server on Node is run; skips where it cannot be."""
    return [node_peers.node(), node_peers.program(f"@modelcontextprotocol/server-{name}")]


@pytest.mark.peers_node
def test_a_filesystem_server_says_the_same_but_for_what_is_kept(client: Make, tmp_path: Path) -> None:
    command = node_server("filesystem")
    files = tmp_path / "files"
    (files / "deep").mkdir(parents=True)
    (files / "large.txt").write_text("".join(f"line {n} é\n" for n in range(50_000)))
    (files / "small.txt").write_text("small\n")
    for n in range(300):
        (files / "deep" / f"{n}.txt").write_text("x")
    requests = [
        *LEGACY,
        ("tools/list", {}),
        tool("read_text_file", path=str(files / "small.txt")),
        tool("read_text_file", path=str(files / "large.txt")),
        tool("directory_tree", path=str(files)),
        tool("search_files", path=str(files), pattern="**/*.txt"),
        tool("read_text_file", path="/etc/passwd"),
        tool("read_multiple_files", paths=[str(files / "small.txt"), str(files / "large.txt")]),
    ]
    assert compare(client, [*command, str(files)], requests) >= 4


@pytest.mark.peers_node
def test_a_memory_server_says_the_same_but_for_what_is_kept(client: Make, tmp_path: Path) -> None:
    command = node_server("memory")
    graph = tmp_path / "graph.jsonl"
    entity = {"type": "entity", "name": "{n}", "entityType": "thing", "observations": ["it is number {n}"]}
    graph.write_text("".join(json.dumps(entity).replace("{n}", str(n)) + "\n" for n in range(800)))
    requests = [
        *LEGACY,
        ("tools/list", {}),
        tool("open_nodes", names=["7"]),
        tool("read_graph"),
        tool("search_nodes", query="no such thing"),
    ]
    assert compare(client, command, requests, environment={"MEMORY_FILE_PATH": str(graph)}) == 1


@pytest.mark.peers_node
def test_a_server_of_everything_says_the_same(client: Make) -> None:
    command = node_server("everything")
    progress = {"_meta": {"progressToken": 7}}
    operation = tool("trigger-long-running-operation", duration=0.2, steps=2)
    requests = [
        *LEGACY,
        ("tools/list", {}),
        ("resources/list", {}),
        ("prompts/list", {}),
        tool("echo", message="é"),
        tool("get-tiny-image"),
        tool("get-resource-links", count=10),
        tool("get-structured-content", location="New York"),
        tool("get-sum", a=1, b=2),
        tool("get-annotated-message", messageType="error", includeImage=True),
        (operation[0], {**operation[1], **progress}),
    ]
    assert compare(client, [*command, "stdio"], requests) == 0
