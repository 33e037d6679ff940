"""The inspector in a browser: each page that is opened gets a process of its own, behind the guard."""

import asyncio
import html
import os
import secrets
import shlex
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from string import Template

from aiohttp import web
from textual_serve.server import Server

from sightline.base.errors import SightlineError, UsageError
from sightline.base.http_guard import Address, Guard, address_of

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

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class InspectorServer(Server):
    """Textual's server with our page, behind the guard. It serves no files but its own."""

    def __init__(self, address: Address, port: int, token: str, words: Sequence[str] = ()) -> None:
        """Make the server.

        Args:
            address: the host to listen on.
            port: likewise.
            token: the token that a request must have.
            words: the words of `sightline_tui.__main__` with which each inspector is opened.
        """
        command = shlex.join([sys.executable, "-m", "sightline_tui", *words])
        super().__init__(command, host=address.host, port=port, title="Sightline")
        self._guard = Guard(address, token)
        self._token = token
        self._cookie = f"sightline-{port}"  # cookies do not distinguish ports, so the name has the port
        with open(os.path.join(_FOLDER, "page.html"), encoding="utf-8") as file:
            self._page = Template(file.read())

    def application(self) -> web.Application:
        """What answers requests."""
        made = web.Application(middlewares=[self._guarded])
        made.add_routes(
            [
                web.get("/", self._index),
                web.get("/ws", self.handle_websocket),
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
        if self._guard.refusal(request.headers.get("Host", ""), request.headers.get("Origin")):
            return web.Response(status=403, text="This server answers only its own page, under its own name.\n")
        if self._guard.has_token(request.cookies.get(self._cookie)):
            return await handler(request)
        if request.path == "/" and self._guard.has_token(request.query.get("token")):
            response = web.Response(status=303, headers={"Location": "/"})  # the token leaves the history
            response.set_cookie(self._cookie, self._token, httponly=True, samesite="Lax", path="/")
            return response
        return web.Response(status=403, text=_REFUSED)

    async def _index(self, request: web.Request) -> web.Response:
        host = request.headers["Host"]
        scheme = "wss" if request.headers.get("X-Forwarded-Proto", request.scheme) == "https" else "ws"
        page = self._page.substitute(
            title=html.escape(self.title),
            socket=html.escape(f"{scheme}://{host}/ws"),
            font_pixels=_FONT_PIXELS,
        )
        # For some browsers 'self' does not include web sockets.
        policy = HEADERS[POLICY].replace("connect-src 'self'", f"connect-src 'self' ws://{host} wss://{host}")
        return web.Response(text=page, content_type="text/html", headers={POLICY: policy})

    async def _script(self, _: web.Request) -> web.FileResponse:
        return web.FileResponse(os.path.join(_FOLDER, "page.js"))


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
