"""The proxy in front of a server over HTTP: the official SDK carries the messages, the client still speaks lines.

Needs the extra ``http``; nothing else imports this module. Messages arrive parsed and are written again as JSON, so
only the texts in them are byte for byte those of the server.
"""

import asyncio
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError

from sightline.base.distribution import install_extra
from sightline.base.errors import SightlineError, UsageError
from sightline.doors.proxy.relay import Proxy
from sightline.doors.tools.line_io import LineWriter, PassingLines
from sightline.doors.tools.protocol import (
    INVALID_REQUEST,
    META,
    CallRequest,
    Invalid,
    MessageBatch,
    Notification,
    Response,
    decode,
    encode,
    error_of,
)
from sightline.light.json_text import loads
from sightline.light.typing_names import Any

try:
    import anyio
    import httpx2
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.inbound import (
        MCP_METHOD_HEADER,
        MCP_NAME_HEADER,
        MCP_PROTOCOL_VERSION_HEADER,
        NAME_BEARING_METHODS,
        encode_header_value,
        mcp_param_headers,
        x_mcp_header_map,
    )
    from mcp.shared.message import ClientMessageMetadata, SessionMessage
    from mcp_types import jsonrpc_message_adapter
except ImportError as missing:
    raise UsageError(
        f"a server over HTTP needs the official SDK ({missing.name} is not installed)", install_extra("http")
    ) from missing

ANSWER_SECONDS = 60.0
"""How long we wait for answers after the client's input has ended."""

_TOLD_CHARACTERS = 300

_CONNECT_SECONDS, _READ_SECONDS = 30.0, 300.0  # the SDK's own defaults: a call may be silent for long


class Unreachable(SightlineError):
    """The server over HTTP cannot be reached, or has closed the connection."""


def serve_url(url: str, proxy: Proxy | None, client: LineWriter, *, token: str = "") -> int:
    """Copy messages both ways until the client's input ends; the exit code.

    Args:
        url: the server's endpoint.
        proxy: decides about each line; None to pass them on as they are.
        client: standard output; the client's lines come from standard input.
        token: a bearer token for the server; empty for none.

    Raises:
        Unreachable: there is no server at the URL, or it has gone.
    """
    if proxy:
        proxy.prepare()
    bridge = _Bridge(proxy, client)
    try:
        return asyncio.run(bridge.run(url, token))
    except* (httpx2.HTTPError, httpx2.InvalidURL) as group:
        raise Unreachable(
            f"{url} cannot be reached: {_first(group)}", "is the server running, and the URL right?"
        ) from None


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Bridge:
    """Both directions, each with a thread for what blocks: reading the client, and keeping and writing for it."""

    def __init__(self, proxy: Proxy | None, client: LineWriter) -> None:
        self._proxy = proxy
        self._client = client
        self._headers = _Headers()
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting: set[Any] = set()  # ids of requests that wait for an answer
        self._is_answered = asyncio.Event()
        self._is_over = asyncio.Event()

    async def run(self, url: str, token: str) -> int:
        """Run until the client has ended, or a signal asks for the end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._is_over.set)
        writing = threading.Thread(target=self._write, args=(loop,), daemon=True)
        writing.start()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
        async with (
            httpx2.AsyncClient(headers=headers, timeout=timeout) as http,
            # A result may be of any size, so an event may.
            streamable_http_client(url, http_client=http, max_sse_event_size=None) as (source, sink),
        ):
            receiving = asyncio.create_task(self._receive(source))
            threading.Thread(target=self._read, args=(loop, sink), daemon=True).start()
            over = asyncio.create_task(self._is_over.wait())
            await asyncio.wait([receiving, over], return_when=asyncio.FIRST_COMPLETED)
            for task in (receiving, over):
                task.cancel()
        self._lines.put(None)
        await asyncio.to_thread(writing.join, ANSWER_SECONDS)
        return 0

    def _read(self, loop: asyncio.AbstractEventLoop, sink: Any) -> None:
        """The client's lines, on a thread of their own."""
        lines = PassingLines(0, lambda: True)
        try:
            while (line := lines.next()) is not None:
                data = line if isinstance(line, bytes) else b"".join(line)
                for message in self._messages(self._proxy.from_client(data) if self._proxy else data):
                    asyncio.run_coroutine_threadsafe(sink.send(message), loop).result()
            asyncio.run_coroutine_threadsafe(self._finish(), loop).result()
            if self._proxy:
                self._proxy.finish(ANSWER_SECONDS)
        except (OSError, RuntimeError, CancelledError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass  # the loop has ended already
        finally:
            self._end(loop)

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        """End `run` from a thread, whatever ended the thread, so that nothing waits for it in vain."""
        try:
            loop.call_soon_threadsafe(self._is_over.set)
        except RuntimeError:
            pass  # it has

    async def _finish(self) -> None:
        """Wait for the answers that are still to come."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                while self._waiting:
                    self._is_answered.clear()
                    await self._is_answered.wait()
        except TimeoutError:
            pass

    def _messages(self, line: bytes) -> Iterator[SessionMessage]:
        """Send a client's line. HTTP takes single messages only, neither batches nor anything else."""
        if not line.strip():
            return
        decoded = decode(line)
        if isinstance(decoded, MessageBatch):
            for one in loads(line):
                yield from self._messages(encode(one))
            return
        if isinstance(decoded, Invalid):
            self._client.write(encode(error_of(decoded.id, decoded.code, decoded.message)))
            return
        try:
            message = _carried(line)
        except ValueError as error:
            told = f"the official SDK does not carry this message: {error}"[:_TOLD_CHARACTERS]
            if isinstance(decoded, CallRequest):
                self._client.write(encode(error_of(decoded.id, INVALID_REQUEST, told)))
            else:
                print(f"sightline proxy: {told}", file=sys.stderr, flush=True)
            return
        if isinstance(decoded, CallRequest):
            self._waiting.add(decoded.id)
        elif isinstance(decoded, Notification) and decoded.method == "notifications/cancelled":
            self._withdraw(decoded.params.get("requestId"))
        yield SessionMessage(message, ClientMessageMetadata(headers=self._headers.of(decoded)))

    def _withdraw(self, number: Any) -> None:
        """Expect no answer to a request that was cancelled."""
        if isinstance(number, int | str):
            self._waiting.discard(number)

    async def _receive(self, source: Any) -> None:
        """The server's messages, in order."""
        async for item in source:
            if isinstance(item, Exception):
                print(f"sightline proxy: {item}", file=sys.stderr, flush=True)
                continue
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            decoded = decode(line)
            if isinstance(decoded, Response):
                self._headers.learn(decoded)
                self._waiting.discard(decoded.id)
            self._lines.put(line + b"\n")
            self._is_answered.set()

    def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        """Handle the server's lines, on a thread of their own."""
        try:
            while (line := self._lines.get()) is not None:
                if self._proxy:
                    self._proxy.from_server(line)
                else:
                    self._client.write_pieces(iter((line,)))
        except BrokenPipeError:
            pass  # the client has gone
        finally:
            self._end(loop)


def _carried(line: bytes) -> Any:
    """A line as a message of the SDK; what UTF-8 cannot encode is replaced. Raises ValueError."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return jsonrpc_message_adapter.validate_json(encode(loads(line)), by_name=False)


class _Headers:
    """The headers that each message must carry, which repeat some of what it says."""

    def __init__(self) -> None:
        self._version = ""
        self._of_tools: dict[str, Any] = {}

    def of(self, message: Any) -> dict[str, str]:
        """The headers of a client's message."""
        if not isinstance(message, CallRequest | Notification):
            return {}
        meta = message.params.get("_meta")
        version = meta.get(META + "protocolVersion") if isinstance(meta, dict) else None
        if not isinstance(version, str):
            is_opening = message.method == "initialize"
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version and not is_opening else {}
        headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: message.method}
        name = message.params.get(NAME_BEARING_METHODS.get(message.method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            arguments = message.params.get("arguments")
            if name in self._of_tools and isinstance(arguments, dict):
                headers |= mcp_param_headers(self._of_tools[name], arguments)
        return headers

    def learn(self, answer: Response) -> None:
        """Take from the server's messages what headers need: the protocol's version, and arguments to repeat there."""
        result = answer.result if isinstance(answer.result, dict) else {}
        version, tools = result.get("protocolVersion"), result.get("tools")
        if isinstance(version, str):
            self._version = version
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                self._of_tools[tool["name"]] = x_mcp_header_map(tool.get("inputSchema"))
