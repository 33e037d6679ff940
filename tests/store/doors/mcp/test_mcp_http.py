"""The server on HTTP: who is let in, and the same answers through the official SDK."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from sightline.base.errors import UsageError
from sightline.base.http_guard import Address, Guard
from sightline.disk.layout import Layout
from sightline.doors.mcp.http import refused, serve_http, token_of
from sightline.doors.tools.tools import Options
from sightline.store import Store
from tests.fork_server import ForkServer

WORDS = ["mcp", "--http", "--port", "0"]
GO = "until [ -e go ]; do sleep 0.1; done"
Until = Callable[[Callable[[], object]], None]


class HttpServer:
    """A server, a process of its own."""

    def __init__(self, forks: ForkServer, folder: Path, *words: str) -> None:
        self.home = folder / "a store"
        self.process = forks.start(
            [*WORDS, *words],
            stdout=subprocess.PIPE,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "SIGHTLINE_HOME": str(self.home)},
        )
        assert self.process.stdout
        self.url = self.process.stdout.readline().decode().split()[-1]
        self.told = "" if "--no-token" in words else self.process.stdout.readline().decode()

    @property
    def token(self) -> str:
        return (self.home / "http-token").read_text().strip()

    def use(self, act: Callable[[Client], Awaitable[Any]], mode: str = "auto") -> Any:
        """What a client of the SDK gets."""

        async def within() -> Any:
            headers = {"Authorization": f"Bearer {self.token}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=30) as http,
                Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
            ):
                return await act(client)

        return asyncio.run(within())

    def post(self, **headers: str) -> int:
        """The status of a request with some headers."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _OPENING}
        accept = {"Accept": "application/json, text/event-stream"}
        return httpx2.post(self.url, json=body, headers={**accept, **headers}, timeout=30).status_code

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


_OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}


@pytest.fixture
def serve(tmp_path: Path, http_fork_server: ForkServer) -> Iterator[Callable[..., HttpServer]]:
    """Starts servers, and ends them."""
    servers: list[HttpServer] = []

    def start(*words: str) -> HttpServer:
        servers.append(HttpServer(http_fork_server, tmp_path, *words))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.process.kill()
        server.process.communicate()


def test_only_who_has_the_token_and_comes_from_no_web_page_is_let_in(serve: Callable[..., HttpServer]) -> None:
    server = serve()
    bearer = f"Bearer {server.token}"
    assert server.post(Authorization=bearer) == 200
    assert server.post() == 401
    assert server.post(Authorization="Bearer wrong") == 401
    assert server.post(Authorization=bearer, Host="a-page.example") == 421
    assert server.post(Authorization=bearer, Origin="http://a-page.example") == 403
    assert server.post(Authorization=bearer, Origin="null") == 403


def test_the_token_is_made_and_shown_once_and_kept_private(serve: Callable[..., HttpServer], tmp_path: Path) -> None:
    first = serve()
    assert first.told == f"Authorization: Bearer {first.token}\n"
    assert (first.home / "http-token").stat().st_mode & 0o777 == 0o600
    token = first.token
    assert first.end() == 0
    again = serve()
    assert again.token == token
    assert token not in again.told
    assert str(again.home / "http-token") in again.told


def test_a_loopback_address_may_do_without_a_token(serve: Callable[..., HttpServer]) -> None:
    assert serve("--no-token").post() == 200


def test_a_public_address_never_does(tmp_path: Path, http_fork_server: ForkServer) -> None:
    done = http_fork_server.run(
        [*WORDS, "--no-token", "--host", "0.0.0.0"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "store")},
    )
    assert done.returncode == 2
    assert b"--no-token" in done.stderr


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_gets_what_standard_output_gives(
    serve: Callable[..., HttpServer], connect: Callable[..., Any], mode: str
) -> None:
    server, stdio = serve(), connect()

    async def act(client: Client) -> Any:
        tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools]
        result = await client.call_tool("run_command", {"command": "seq 1 5000; echo oh >&2"})
        fields = json.loads(result.content[0].text)
        uri = f"sightline://buffers/{fields['output_id'][1:]}?from=42&to=43"
        read = (await client.read_resource(uri)).contents[0].text
        refused = await client.call_tool("read_output", {"ref": "@cmd_000000"})
        with pytest.raises(Exception, match="Unknown tool"):
            await client.call_tool("no_such_tool", {})
        return tools, result, read, refused, client.instructions

    tools, result, read, refused, instructions = server.use(act, mode)
    assert tools == stdio.request("tools/list")["tools"]
    assert instructions == stdio.opened["instructions"]
    _, body = stdio.call("read_output", ref=json.loads(result.content[0].text)["output_id"], lines="1-3")
    assert result.content[1].text.startswith(body)
    assert (result.structured_content, result.is_error) == (None, False)
    assert read == "42\n43\n"
    assert refused.is_error is True


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_progress_arrives(serve: Callable[..., HttpServer], tmp_path: Path, mode: str) -> None:
    server = serve()

    async def act(client: Client) -> Any:
        async def progress(_: float, __: float | None, message: str | None) -> None:
            if "1 line, 4 B" in (message or ""):
                (tmp_path / "go").touch()

        return await client.call_tool("run_command", {"command": f"echo one; {GO}"}, progress_callback=progress)

    fields, body = server.use(act, mode).content
    assert (json.loads(fields.text), body.text) == ({"exit_code": 0}, "one\n")  # it ends once this was told


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_running_reply_arrives(serve: Callable[..., HttpServer], tmp_path: Path, mode: str) -> None:
    server = serve("--patience", "0.2")

    async def act(client: Client) -> Any:
        async def fields(tool: str, **arguments: Any) -> Any:
            return json.loads((await client.call_tool(tool, arguments)).content[0].text)

        first = then = await fields("run_command", command=GO, timeout_secs=60)
        (tmp_path / "go").touch()
        while then.get("status") == "running":
            then = await fields("read_output", ref=first["output_id"], wait=20)
        return first, then

    first, then = server.use(act, mode)
    assert (first["status"], first["exit_code"], then["exit_code"]) == ("running", None, 0)


def test_a_client_that_leaves_cancels_its_query(serve: Callable[..., HttpServer], until: Until) -> None:
    server = serve()

    async def act(client: Client) -> None:
        await client.call_tool("run_command", {"command": "echo x"})
        asked = asyncio.create_task(client.call_tool("query", {"pipeline": "sed -e :a -e ba @last"}))
        await asyncio.to_thread(until, lambda: _seds(server.process.pid))
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    server.use(act)
    until(lambda: not _seds(server.process.pid))
    assert server.process.poll() is None


def _seds(parent: int) -> list[str]:
    tasks = Path(f"/proc/{parent}/task").iterdir()
    children = [child for task in tasks for child in _read(task / "children").split()]
    return [name for child in children if "sed" in (name := _read(Path(f"/proc/{child}/comm")))]


def _read(path: Path) -> str:
    """What a file says of a thread or a process; nothing of one that has ended."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_subscribers_are_told_of_growth(serve: Callable[..., HttpServer], tmp_path: Path, mode: str) -> None:
    server, uri = serve("--patience", "0.2"), "sightline://buffers/last"

    async def act(client: Client) -> str:
        await client.call_tool("run_command", {"command": f"echo one; {GO}; echo two"})
        async with client.listen(resource_subscriptions=[uri]) as events:
            (tmp_path / "go").touch()
            async for event in events:
                return str(event.uri)
        return ""

    if mode == "auto":
        assert server.use(act) == uri
    else:
        told = asyncio.run(_subscribed(server, uri, tmp_path))
        assert told == uri


async def _subscribed(server: HttpServer, uri: str, folder: Path) -> str:
    """What a client of before is told on its own stream."""
    heard: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def on_message(message: Any) -> None:
        params = getattr(message, "params", None)
        if getattr(params, "uri", None) and not heard.done():
            heard.set_result(str(params.uri))

    headers = {"Authorization": f"Bearer {server.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(server.url, http_client=http)
        async with Client(transport, mode="legacy", message_handler=on_message) as client:
            await client.call_tool("run_command", {"command": f"echo one; {GO}; echo two"})
            await client.subscribe_resource(uri)
            (folder / "go").touch()
            return await asyncio.wait_for(heard, 20)


def test_the_end_seals_what_runs(serve: Callable[..., HttpServer], tmp_path: Path) -> None:
    server = serve("--patience", "0.2")

    async def act(client: Client) -> Any:
        return await client.call_tool("run_command", {"command": "echo kept; sleep 600"})

    server.use(act)
    assert server.end() == 0
    with Store(str(server.home)) as store:
        [kept] = store.listed(2)
        assert (kept.buffer.state, kept.buffer.signal) == ("sealed", signal.SIGTERM)


def test_views_say_which_client_asked(serve: Callable[..., HttpServer]) -> None:
    from sightline.log.log_index import list_views

    server = serve()

    async def act(client: Client) -> Any:
        return await client.call_tool("list_outputs", {})

    server.use(act)
    server.use(act, "legacy")
    with Store(str(server.home)) as store:
        legacy, modern = (json.loads(indexed.view.request)["caller"] for indexed in list_views(store))
        assert legacy["client"] == modern["client"] != ""
        assert legacy["harness_session"]  # the transport's own; today's has none
        assert "harness_session" not in modern
        assert len(store.index.sessions()) == 2


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({}, 200),
        ({"origin": "http://localhost:3000"}, 200),
        ({"host": "a-page.example:8423"}, 421),
        ({"origin": "http://a-page.example"}, 403),
        ({"authorization": "bearer right"}, 200),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Basic right"}, 401),
        ({"authorization": "Bearer é"}, 401),
        ({"authorization": ""}, 401),
    ],
)
def test_requests_are_judged_by_host_origin_and_bearer(told: dict[str, str], status: int) -> None:
    headers = {"host": "127.0.0.1:8423", "authorization": "Bearer right", **told}
    refusal = refused(Guard(Address("127.0.0.1", is_loopback=True), "right", other_ports=True), headers)
    assert (refusal.status if refusal else 200) == status


def test_an_address_that_others_can_reach_needs_a_token() -> None:
    with pytest.raises(UsageError, match="others can reach"):
        serve_http(Options(), host="0.0.0.0", port=0, with_token=False)


def test_a_token_is_long_and_each_store_has_its_own(tmp_path: Path) -> None:
    tokens = []
    for name in ("a", "b"):
        layout = Layout(str(tmp_path / name))
        layout.ensure()
        token, is_new, _ = token_of(layout)
        assert is_new
        assert token_of(layout)[:2] == (token, False)
        tokens.append(token)
    assert len(set(tokens)) == 2
    assert min(map(len, tokens)) >= 40
