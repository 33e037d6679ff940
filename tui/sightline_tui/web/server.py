"""The inspector in a browser: each page that is opened gets a process of its own, behind the guard."""

import asyncio
import contextlib
import html
import os
import re
import secrets
import shlex
import signal
import socket
import stat
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from string import Template
from urllib.parse import quote, urlsplit, urlunsplit

from aiohttp import web
from textual_serve.server import Server

from sightline.base.errors import BadRef, SightlineError, UsageError
from sightline.base.http_guard import Address, Guard, address_of
from sightline.base.refs import format_ref, parse_ref
from sightline.light.named_tuple import NamedTuple
from sightline.store import STORE_VARIABLE
from sightline_tui.web.visitors import SECRET_VARIABLE, SignIn, sign_in

TOKEN_VARIABLE = "SIGHTLINE_SERVE_TOKEN"  # noqa: S105 (the name of a variable)
LEAST_TOKEN_CHARACTERS = 16

POLICY = "Content-Security-Policy"
HEADERS = {
    POLICY: "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers of each reply: load nothing from elsewhere, show it in no frame, cache nothing."""

_FOLDER = os.path.dirname(__file__)
_REFUSED = "Open the link that `sightline serve` has printed: it has the token.\n"
_FONT_PIXELS = 15

_NOT_SIGNED_IN = "The proxy in front of this page has not said who you are.\n"


class Visit(NamedTuple):
    """What a page asks for.

    Attributes:
        words: the words that open it on an output or a session.
        store: address of the fleet as its reader; empty for what the server itself reads.
    """

    words: tuple[str, ...] = ()
    store: str = ""


class Proxied(NamedTuple):
    """Where a page behind a proxy listens, and whom it trusts.

    Attributes:
        header: the header with the name of the reader.
        proxies: addresses of the proxies, with commas between them; empty on a socket.
        public: the name under which the proxy shows the page; empty for its own.
        socket: path of the Unix socket; empty to listen on host and port.
        host: the host to listen on.
        port: likewise; 0 for any that is free.
    """

    header: str
    proxies: str
    public: str
    socket: str
    host: str
    port: int


_USUAL = Visit()
_visit = ContextVar("visit", default=_USUAL)  # each request is served in a context of its own

_SESSION = re.compile(r"(?:[A-Za-z][A-Za-z0-9-]{0,127}/)?[A-Za-z0-9_][A-Za-z0-9._-]{0,254}")
"""The name of a session in an address, with its host in a fleet."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class InspectorServer(Server):
    """Textual's server with our page, behind the guard. It serves no files but its own."""

    def __init__(
        self,
        address: Address,
        port: int,
        token: str,
        words: Sequence[str] = (),
        *,
        sign_in: SignIn | None = None,
        public: str = "",
    ) -> None:
        """Make the server.

        Args:
            address: the host to listen on.
            port: likewise; 0 on a Unix socket.
            token: the token that a request must have, unless readers are signed in.
            words: the words of `sightline_tui.__main__` with which each inspector is opened.
            sign_in: how readers are signed in; each reads with the database role of that name.
            public: the name under which a proxy shows the page; empty for its own.
        """
        self._words, self._sign_in, self._public = words, sign_in, public.lower()
        super().__init__("", host=address.host, port=port, title="Sightline")
        self._guard = Guard(address, token)
        self._token = token
        self._cookie = f"sightline-{port}"  # cookies do not distinguish ports, so the name has the port
        with open(os.path.join(_FOLDER, "page.html"), encoding="utf-8") as file:
            self._page = Template(file.read())

    @property
    def command(self) -> str:
        """The command for the page that asks; the server of textual-serve starts it."""
        visit = _visit.get()
        words = [sys.executable, "-m", "sightline_tui", *self._words, *visit.words]
        return shlex.join([*(["env", f"{STORE_VARIABLE}={visit.store}"] if visit.store else []), *words])

    @command.setter
    def command(self, _: str) -> None:
        """Take none: it is another for each page."""

    def application(self) -> web.Application:
        """What answers requests."""
        made = web.Application(middlewares=[self._guarded])
        made.add_routes(
            [
                web.get("/", self._index),
                web.get("/o/{name:.+}", self._index),
                web.get("/s/{session:.+}", self._index),
                web.get("/ws", self._socket),
                web.get("/ws/o/{name:.+?}{line:(?:/L[0-9]{1,15})?}", self._socket),
                web.get("/ws/s/{session:.+}", self._socket),
                web.get("/page.js", self._script),
                web.static("/static", self.statics_path),
            ]
        )
        return made

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            response = await self._let_in(request, handler)
        except web.HTTPException as refused:
            refused.headers.update(HEADERS)
            raise
        if not response.prepared:
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
        return response

    async def _let_in(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self._is_foreign(request.headers.get("Host", ""), request.headers.get("Origin")):
            return web.Response(status=403, text="This server answers only its own page, under its own name.\n")
        if self._sign_in:
            reader = self._sign_in.reader(request.headers, request.remote or "")
            if not reader:
                return web.Response(status=403, text=_NOT_SIGNED_IN)
            _visit.set(Visit(store=as_reader(os.environ.get(STORE_VARIABLE, ""), reader)))
            return await handler(request)
        if self._guard.has_token(request.cookies.get(self._cookie)):
            return await handler(request)
        if _is_page(request.path) and self._guard.has_token(request.query.get("token")):
            response = web.Response(status=303, headers={"Location": request.path})  # the token leaves the history
            response.set_cookie(self._cookie, self._token, httponly=True, samesite="Lax", path="/")
            return response
        return web.Response(status=403, text=_REFUSED)

    def _is_foreign(self, host: str, origin: str | None) -> bool:
        if self._public and host.partition(":")[0].lower() == self._public:
            return origin not in (None, f"https://{host}", f"http://{host}")
        return self._guard.refusal(host, origin) is not None

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        """Open the inspector on what the address of the page names."""
        _visit.set(_visit.get()._replace(words=words_for(request.match_info)))
        return await self.handle_websocket(request)

    async def _index(self, request: web.Request) -> web.Response:
        host = request.headers["Host"]
        words_for(request.match_info)  # refuses what names nothing
        asked = quote(request.path.rstrip("/"))
        scheme = "wss" if request.headers.get("X-Forwarded-Proto", request.scheme) == "https" else "ws"
        page = self._page.substitute(
            title=html.escape(self.title),
            socket=html.escape(f"{scheme}://{host}/ws{asked}"),
            font_pixels=_FONT_PIXELS,
        )
        # For some browsers 'self' does not include web sockets.
        policy = HEADERS[POLICY].replace("connect-src 'self'", f"connect-src 'self' ws://{host} wss://{host}")
        return web.Response(text=page, content_type="text/html", headers={POLICY: policy})

    async def _script(self, _: web.Request) -> web.FileResponse:
        return web.FileResponse(os.path.join(_FOLDER, "page.js"))


def _is_page(path: str) -> bool:
    return path == "/" or path.startswith(("/o/", "/s/"))


def words_for(asked: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that open an inspector on an output, a line of it, or a session; none for the list.

    Args:
        asked: ``name`` of an output, with a ``line`` of it as ``/L217``, or a ``session``.

    Raises:
        HTTPNotFound: it names nothing that could be there.
    """
    if session := asked.get("session", ""):
        if not _SESSION.fullmatch(session):
            raise web.HTTPNotFound(text="That is no name of a session.\n")
        return "--session", session
    if not (name := asked.get("name", "")):
        return ()
    line = asked.get("line", "").removeprefix("/L")
    ref = format_ref(name) + (f":{line}" if line else "")
    try:
        parse_ref(ref)
    except BadRef as error:
        raise web.HTTPNotFound(text="That is no name of an output.\n") from error
    return (ref,)


def as_reader(store: str, reader: str) -> str:
    """Return the address of a fleet with the role of a reader in place of the one in it."""
    parts = urlsplit(store)
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{quote(reader)}@{place}"))


def listen_on_socket(path: str) -> socket.socket:
    """Return a Unix socket that listens at a path, for whoever may open its folder. Raises SightlineError."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISSOCK(os.stat(path).st_mode):
                os.unlink(path)  # left by a server that was killed
        made.bind(path)
        os.chmod(path, 0o660)
        made.listen()
    except OSError as error:
        made.close()
        raise SightlineError(f"{path} cannot be used: {error.strerror}", "--socket names another path") from error
    return made


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 for any free port. Raises SightlineError if it cannot."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(where)
            made.listen()
        except OSError:
            made.close()
            raise
    except OSError as error:
        told = f"port {port} of {host} cannot be used: {error.strerror}"
        raise SightlineError(told, "--port 0 takes one that is free") from error
    return made


def token_for(address: Address, environment: Mapping[str, str], made: str) -> str:
    """The token: the person's own or, on loopback only, one that was made.

    Args:
        address: the address that will ask for it.
        environment: the variables that may have the person's own, since other users can read a command line.
        made: a random token.

    Raises:
        UsageError: the person's own is missing on an address that others can reach, or is too short.
    """
    given = environment.get(TOKEN_VARIABLE, "")
    if given and len(given) < LEAST_TOKEN_CHARACTERS:
        raise UsageError(f"{TOKEN_VARIABLE} is too short to be safe", f"{LEAST_TOKEN_CHARACTERS} characters at least")
    if not given and not address.is_loopback:
        raise UsageError(
            f"{address.host} can be reached from other machines, and there is no token of yours",
            f"set {TOKEN_VARIABLE} to a long secret, or leave --host out and use a tunnel: ssh -L 8000:localhost:8000",
        )
    return given or made


def link(host: str, port: int, token: str) -> str:
    """The link for the browser."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/?token={token}"


def serve_behind_proxy(where: Proxied, words: Sequence[str], say: Callable[[str], None]) -> int:
    """Serve the inspector to readers whom a proxy signs in, until it is interrupted, and return the exit code.

    Args:
        where: where it listens, and whom it trusts.
        words: the words of `sightline_tui.__main__` with which each inspector is opened.
        say: is called with the place where it listens.

    Raises:
        SightlineError: it cannot listen there, or anybody could sign in as anybody.
    """
    secret = os.environ.get(SECRET_VARIABLE, "")
    trusted = sign_in(where.header, where.proxies, secret, over_socket=bool(where.socket))
    address = address_of(where.host)
    listening = listen_on_socket(where.socket) if where.socket else listen(where.host, where.port)
    bound = 0 if where.socket else int(listening.getsockname()[1])
    made = InspectorServer(address, bound, secrets.token_urlsafe(24), words, sign_in=trusted, public=where.public)
    say(where.socket or f"{where.host}:{bound}")
    try:
        asyncio.run(_until_interrupted(made.application(), listening))
    finally:
        if where.socket:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(where.socket)
    return 0


def serve(host: str, port: int, words: Sequence[str], say: Callable[[str], None]) -> int:
    """Serve the inspector until it is interrupted.

    Args:
        host: the host to listen on.
        port: likewise; 0 for any that is free.
        words: the words of `sightline_tui.__main__` with which each inspector is opened.
        say: is called with the link.

    Returns:
        The exit code.

    Raises:
        SightlineError: it cannot listen there, or must not without a token.
    """
    address = address_of(host)
    token = token_for(address, os.environ, secrets.token_urlsafe(24))
    listening = listen(host, port)
    bound = int(listening.getsockname()[1])
    server = InspectorServer(address, bound, token, words)
    say(link(host, bound, token))
    asyncio.run(_until_interrupted(server.application(), listening))
    return 0


async def _until_interrupted(application: web.Application, listening: socket.socket) -> None:
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        await over.wait()
    finally:
        await runner.cleanup()
