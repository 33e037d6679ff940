"""A client of the MCP server that is written here: a process of its own, lines through pipes."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.store import Store
from tests.fork_server import Forked, ForkServer

PATIENCE_SECONDS = 30.0
MODERN = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "a-client", "version": "1.2"},
}


class McpClient:
    """A client of its own server, which is a fork unless a program is given."""

    def __init__(
        self,
        server: ForkServer,
        folder: Path,
        *words: str,
        version: str = "2025-06-18",
        name: str = "a-client",
        program: list[str] | None = None,
        capabilities: dict[str, Any] | None = None,
        **environment: str,
    ) -> None:
        """Start the server; unless the version is the modern one, with the handshake."""
        self.home = folder / "a store"
        self.version = version
        self.heard: list[dict[str, Any]] = []
        self._answers: dict[Any, dict[str, Any]] = {}
        self._changed = threading.Condition()
        self._number = 0
        self._ended = False
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "SIGHTLINE_HOME": str(self.home),
            **environment,
        }
        pipe = subprocess.PIPE
        self.process: subprocess.Popen[bytes] | Forked
        if program:
            self.process = subprocess.Popen([*program, *words], stdin=pipe, stdout=pipe, cwd=folder, env=environment)
        else:
            self.process = server.start(["mcp", *words], stdin=pipe, stdout=pipe, cwd=folder, env=environment)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.opened: dict[str, Any] = {}
        if version != MODERN:
            told = {"name": name, "version": "1.2"}
            able = capabilities or {}
            self.opened = self.request("initialize", protocolVersion=version, capabilities=able, clientInfo=told)
            self.notify("notifications/initialized")

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            message = json.loads(line)
            with self._changed:
                for one in message if isinstance(message, list) else [message]:
                    if "id" in one:
                        self._answers[one["id"]] = one
                self.heard.append(message)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def write(self, line: bytes) -> None:
        """Send a line as it stands."""
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, /, *, meta: dict[str, Any] | None = None, **params: Any) -> int:
        """Send a request; its id."""
        self._number += 1
        envelope = {**(ENVELOPE if self.version == MODERN else {}), **(meta or {})}
        if envelope:
            params["_meta"] = envelope
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.write(json.dumps(message).encode())
        return self._number

    def notify(self, method: str, /, **params: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def cancel(self, number: int) -> None:
        self.notify("notifications/cancelled", requestId=number, reason="a test")

    def answer(self, number: int | None) -> dict[str, Any]:
        """The whole answer to a request, waited for."""
        self.until(lambda: number in self._answers)
        return self._answers[number]

    def answered(self, number: int) -> bool:
        return number in self._answers

    def request(self, method: str, /, **params: Any) -> dict[str, Any]:
        """A request's result."""
        told = self.answer(self.send(method, **params))
        assert "result" in told, told
        result: dict[str, Any] = told["result"]
        return result

    def error(self, method: str, /, **params: Any) -> dict[str, Any]:
        """A request's error."""
        told = self.answer(self.send(method, **params))
        assert "error" in told, told
        error: dict[str, Any] = told["error"]
        return error

    def begin(self, tool: str, /, meta: dict[str, Any] | None = None, **arguments: Any) -> int:
        """Call a tool; the request's id."""
        return self.send("tools/call", meta=meta, name=tool, arguments=arguments)

    def call(self, tool: str, /, meta: dict[str, Any] | None = None, **arguments: Any) -> tuple[dict[str, Any], str]:
        """Call a tool; the fields of its reply, and the body."""
        return self.reply(self.begin(tool, meta, **arguments))

    def reply(self, number: int) -> tuple[dict[str, Any], str]:
        """The reply to a tool's call: its fields and its body."""
        told = self.answer(number)
        assert "result" in told, told
        texts = [block["text"] for block in told["result"]["content"]]
        assert all(block["type"] == "text" for block in told["result"]["content"])
        return json.loads(texts[0]), "".join(texts[1:])

    def notifications(self, method: str) -> list[dict[str, Any]]:
        """The parameters of those that came."""
        with self._changed:
            return [one["params"] for one in self.heard if isinstance(one, dict) and one.get("method") == method]

    def until(self, condition: Callable[[], object]) -> None:
        """Wait for what the server will send."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        with self._changed:
            while not condition():
                left = deadline - time.monotonic()
                assert left > 0, f"it never came; heard: {str(self.heard)[-2000:]}"
                assert not self._ended or condition(), f"the server has ended; heard: {str(self.heard)[-2000:]}"
                self._changed.wait(min(left, 1.0))

    def store(self) -> Store:
        """The store that it serves."""
        return Store(str(self.home))

    def end(self) -> int:
        """End the input; the server's exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        code = self.process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        return code


@pytest.fixture
def connect(tmp_path: Path, fork_server: ForkServer) -> Iterator[Callable[..., McpClient]]:
    """Starts servers in a folder with a store of its own, and ends them."""
    clients: list[McpClient] = []

    def make(*words: str, **more: Any) -> McpClient:
        clients.append(McpClient(fork_server, tmp_path, *words, **more))
        return clients[-1]

    yield make
    for client in clients:
        if client.process.poll() is None:
            client.process.kill()
        client.process.wait()
        for pipe in (client.process.stdin, client.process.stdout):
            assert pipe
            try:
                pipe.close()
            except BrokenPipeError:
                pass


@pytest.fixture
def client(connect: Callable[..., McpClient]) -> McpClient:
    """A client of before 2026-07-28."""
    return connect()


@pytest.fixture
def modern(connect: Callable[..., McpClient]) -> McpClient:
    """A client of 2026-07-28."""
    return connect(version=MODERN)
