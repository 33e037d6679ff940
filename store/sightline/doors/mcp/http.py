"""The MCP server on HTTP: the official SDK carries the requests, and the same service answers them.

Needs the extra ``http``; nothing else imports this module.
"""

import asyncio
import os
import secrets
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial

from sightline.base.distribution import install_extra, version
from sightline.base.errors import UnsafeStore, UsageError
from sightline.base.http_guard import Guard, Refusal, address_of
from sightline.base.ownership import others_could_write
from sightline.base.private_files import open_private, read_file, write_all
from sightline.doors.mcp.signals import call_at_signals, ignore_signals
from sightline.doors.tools.protocol import (
    EVERY_SECONDS,
    Context,
    OpenCall,
    Outcome,
    Rejected,
    client_label,
    finished,
    wanted_uris,
)
from sightline.doors.tools.service import METHODS, Handler, Service
from sightline.doors.tools.tools import Options
from sightline.light.typing_names import Any
from sightline.store import Layout

try:
    import mcp_types as types
    import uvicorn
    from mcp import MCPError
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
except ImportError as missing:
    raise UsageError(
        f"serving HTTP needs the official SDK ({missing.name} is not installed)", install_extra("http")
    ) from missing

PATH = "/mcp"
_TOKEN_FILE = "http-token"  # noqa: S105 - a file's name
_CONNECTIONS = 1024  # more at once are refused with 503
_BODY_BYTES = 16 << 20  # as for a line of standard input
_CHUNKED_BYTES = 1 << 20  # of unknown length: in chunks of a byte, each takes 2 us to parse
_GRACE_SECONDS = 1  # for requests that are being answered when the server is asked to end

_PARAMS: dict[str, Any] = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "completion/complete": types.CompleteRequestParams,
}
_Request = ServerRequestContext[Any, Any]

App = Callable[[Any, Any, Any], Awaitable[None]]
"""An ASGI application."""


def serve_http(options: Options, *, host: str, port: int, with_token: bool) -> int:
    """Serve until a signal asks for the end; the exit code.

    Raises:
        UsageError: the address is public without a token, or cannot be listened on.
        SightlineError: the store cannot be used.
    """
    address = address_of(host)
    if not with_token and not address.is_loopback:
        raise UsageError(
            f"others can reach {host}, and without a token anyone could run commands through it", "leave --no-token out"
        )
    service = Service(options)
    token, is_new, path = token_of(service.handlers().store.layout) if with_token else ("", False, "")
    listener = _listen_on(host, port)
    server = _server(guarded(app_of(service, host), Guard(address, token, other_ports=True)))
    try:
        call_at_signals(server.end)
        _tell(_url(host, listener.getsockname()[1]), token, is_new, path)
        server.run(sockets=[listener])
    finally:
        ignore_signals()
        service.close()
    return 0


def token_of(layout: Layout) -> tuple[str, bool, str]:
    """The bearer token, whether it was made just now, and the path of the file that keeps it."""
    path = os.path.join(layout.root, _TOKEN_FILE)
    if os.path.exists(path) and (why := others_could_write(path)):
        raise UnsafeStore(f"the token in {path} is not used: {why}", "set SIGHTLINE_HOME to a folder of your own")
    try:
        if token := read_file(path).decode(errors="replace").strip():
            return token, False, path
    except FileNotFoundError:
        pass
    token = secrets.token_urlsafe(32)
    fd = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        write_all(fd, token.encode() + b"\n")
    finally:
        os.close(fd)
    return token, True, path


def guarded(app: App, guard: Guard) -> App:
    """An application behind the guard, which gets only requests that the guard lets through."""

    async def asked(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":  # these are the application's own start and end
            await app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing else is served here, and the guard would not have asked for a token
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = refused(guard, headers)
        body = await _body(headers, receive) if refusal is None else b""
        if body is not None and refusal is None:
            await app(scope, _after(body, receive), send)
            return
        refusal = refusal or Refusal(413, "the body is too large")
        more = [(b"www-authenticate", b"Bearer")] if refusal.status == 401 else []
        # Without the last header the server would read, and parse, the rest of a body that nobody wants.
        told = [(b"content-type", b"text/plain"), *more, (b"connection", b"close")]
        await send({"type": "http.response.start", "status": refusal.status, "headers": told})
        await send({"type": "http.response.body", "body": refusal.reason.encode() + b"\n"})

    return asked


async def _body(headers: dict[str, str], receive: Any) -> bytes | None:
    """The body of a request; None if it is larger than it may be."""
    length = headers.get("content-length", "")
    most = _CHUNKED_BYTES if not length else _BODY_BYTES
    if len(length) > len(str(_BODY_BYTES)) or (length.isdecimal() and int(length) > most):
        return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b""  # nobody waits for an answer to the part that came
        body += message.get("body", b"")
        if len(body) > most:
            return None
        if not message.get("more_body"):
            return bytes(body)


def _after(body: bytes, receive: Any) -> Callable[[], Awaitable[Any]]:
    """What gives an application a body that was read, and then all else that comes."""
    given: list[bytes] = [body]

    async def received() -> Any:
        return {"type": "http.request", "body": given.pop()} if given else await receive()

    return received


def refused(guard: Guard, headers: dict[str, str]) -> Refusal | None:
    """Why a request with these headers, their names in lower case, is refused; None if it is let through."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    has_token = guard.has_token(token if scheme.lower() == "bearer" else None)
    refusal = guard.refusal(headers.get("host", ""), headers.get("origin"))
    return refusal or (None if has_token else Refusal(401, "a bearer token is needed"))


def _tell(url: str, token: str, is_new: bool, path: str) -> None:
    print(f"Sightline serves MCP on {url}", flush=True)
    if is_new:
        print(f"Authorization: Bearer {token}\n(made now, and kept in {path})", flush=True)
    elif token:
        print(f"(the bearer token is the one in {path})", flush=True)


class _Server(uvicorn.Server):
    """A server that ends when it is told to, and does not raise the signal again."""

    def end(self, *_: object) -> None:
        """Take no more requests, and return from ``run``, even if that has not begun yet."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the handlers of signals as they are."""
        yield


def _server(app: App) -> _Server:
    return _Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            lifespan="on",
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )


def _listen_on(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error}", "name another --host or --port") from error


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"


def app_of(service: Service, host: str) -> App:
    """The SDK's server as an application, with our service behind each of its methods."""
    server: Server[Any] = Server(
        "sightline",
        version=version() or "0",
        title="Sightline",
        instructions=service.instructions(),
        on_subscriptions_listen=partial(_listen, service),
    )
    for method in METHODS:
        server.add_request_handler(method, _PARAMS[method], partial(_answer, service))
    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, partial(_subscribe, service))
    server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, partial(_unsubscribe, service))
    app: App = server.streamable_http_app(streamable_http_path=PATH, host=host)
    return app


def _context(request: _Request) -> Context:
    params = request.session.client_params
    client = params.client_info.model_dump(by_alias=True) if params and params.client_info else None
    session = {"http/sessionId": found} if (found := _session_id(request)) else {}  # if the client gives no better name
    return Context(
        request.protocol_version, client_label(client), {**session, **((request.params or {}).get("_meta") or {})}
    )


def _session_id(request: _Request) -> str:
    """The transport's own id of a client's session, which only clients before 2026-07-28 have."""
    return str(getattr(request.request, "headers", {}).get("mcp-session-id", ""))


class _Waiting:
    """A call that a thread answers while the event loop waits for it."""

    def __init__(self, request: _Request) -> None:
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[Outcome] = self._loop.create_future()
        self.call = OpenCall(request.method, dict(request.params or {}), _context(request), self._reply)

    def _reply(self, outcome: Outcome) -> None:
        try:
            self._loop.call_soon_threadsafe(self._settle, outcome)
        except RuntimeError:  # the loop is closed: the server ends, and nobody waits
            return

    def _settle(self, outcome: Outcome) -> None:
        if not self._done.done():
            self._done.set_result(outcome)

    async def outcome(self, request: _Request, service: Service, handler: Handler | None = None) -> dict[str, Any]:
        """The outcome of a handler in a thread of its own; a client that leaves meanwhile cancels the call."""
        service.threads.start(partial(service.answer, self.call, handler))
        began = time.monotonic()
        try:
            while not (await asyncio.wait([self._done], timeout=EVERY_SECONDS))[0]:
                seconds = round(time.monotonic() - began, 1)
                await request.session.report_progress(seconds, message=self.call.telling() or None)
        except asyncio.CancelledError:
            self.call.cancel()
            raise
        outcome = self._done.result()
        if isinstance(outcome, Rejected):
            raise MCPError(outcome.code, outcome.message, outcome.data)
        return finished(outcome, request.method, self.call.context)


async def _answer(service: Service, request: _Request, _: Any) -> dict[str, Any]:
    return await _Waiting(request).outcome(request, service)


def _soon(loop: asyncio.AbstractEventLoop, send: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Send something from a thread, unless the server ends and the loop has been closed."""
    if not loop.is_closed():
        asyncio.run_coroutine_threadsafe(send(), loop)


def _key(request: _Request, uri: str) -> tuple[str, str]:
    return _session_id(request), uri


async def _subscribe(service: Service, request: _Request, params: Any) -> dict[str, Any]:
    loop, uri = asyncio.get_running_loop(), str(params.uri)

    def tell(uri: str) -> None:
        _soon(loop, partial(request.session.send_resource_updated, uri))

    def begin(service: Service, call: OpenCall) -> None:
        handlers = service.handlers()
        handlers.watch.add(_key(request, uri), handlers.ref_of(uri, call), uri, tell)
        call.answer({})

    return await _Waiting(request).outcome(request, service, begin)


async def _unsubscribe(service: Service, request: _Request, params: Any) -> dict[str, Any]:
    service.handlers().watch.remove(_key(request, str(params.uri)))
    return {}


class _Bus(InMemorySubscriptionBus):
    """Records when the one stream that it serves has begun to listen."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = threading.Event()

    def subscribe(self, listener: Any) -> Any:
        unsubscribe = super().subscribe(listener)
        self.heard.set()
        return unsubscribe


async def _listen(service: Service, request: _Request, params: Any) -> Any:
    """One stream of notifications, open until its client leaves."""
    loop, bus, ends = asyncio.get_running_loop(), _Bus(), list[Callable[[], None]]()

    def tell(uri: str) -> None:
        bus.heard.wait()
        _soon(loop, partial(bus.publish, ResourceUpdated(uri)))

    def begin(service: Service, call: OpenCall) -> None:
        for uri in wanted_uris(call.params.get("notifications")):
            handlers, key = service.handlers(), (bus, uri)
            try:
                handlers.watch.add(key, handlers.ref_of(uri, call), uri, tell)
            except Rejected:
                continue
            ends.append(partial(handlers.watch.remove, key))
        call.answer({})

    try:
        await _Waiting(request).outcome(request, service, begin)
        return await ListenHandler(bus)(request, params)
    finally:
        for end in ends:
            end()
