"""Who may talk to the HTTP server: whoever has the token, and no web page that a browser was lured to.

A page can make a browser send requests to a local address, by a name that it has pointed there: such requests name
that page's host, and are refused for it.
"""

import hmac
import os
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from sightline.disk.layout import Layout, open_private, read_file, write_all
from sightline.errors import UsageError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_WILDCARDS = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, never listened on unless told
_TOKEN_FILE = "http-token"  # noqa: S105 - a file's name

App = Callable[[Any, Any, Any], Awaitable[None]]
"""An ASGI application."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address to listen on."""
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_address(host: str, *, with_token: bool) -> None:
    """Raises UsageError where others could reach the address, and would need no token."""
    if not with_token and not is_loopback(host):
        raise UsageError(f"{host} can be reached by others, and would run commands for anyone", "leave --no-token out")


def token_of(layout: Layout) -> tuple[str, bool, str]:
    """The bearer token, whether it was made just now, and the file that keeps it."""
    path = os.path.join(layout.root, _TOKEN_FILE)
    try:
        if token := read_file(path).decode(errors="replace").strip():
            return token, False, path
    except FileNotFoundError:
        pass
    import secrets

    token = secrets.token_urlsafe(32)
    fd = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        write_all(fd, token.encode() + b"\n")
    finally:
        os.close(fd)
    return token, True, path


class Guard:
    """Lets requests through to an application, or refuses them.

    Args:
        app: the application.
        token: the bearer token; empty where none is asked for.
        host: the address that is listened on.
    """

    def __init__(self, app: App, token: str, host: str) -> None:
        self._app = app
        self._token = token
        self._hosts = None if host in _WILDCARDS else frozenset({*LOOPBACK, host} if is_loopback(host) else {host})

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request, or the application's own start and end."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing here speaks anything else, and nobody would have been asked for a token
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        status, reason = self.verdict(headers)
        if status == 200:
            await self._app(scope, receive, send)
            return
        more = [(b"www-authenticate", b"Bearer")] if status == 401 else []
        start = {"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/plain"), *more]}
        await send(start)
        await send({"type": "http.response.body", "body": reason.encode() + b"\n"})

    def verdict(self, headers: dict[str, str]) -> tuple[int, str]:
        """The status for a request's headers, whose names are small letters; 200 lets it through. And why not."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if self._hosts is not None and _name(host) not in self._hosts:
            return 421, "this server is not called by that Host"
        if origin is not None and not self._is_ours(origin, host):
            return 403, "requests of this Origin are refused"
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if self._token and not (
            scheme.lower() == "bearer" and hmac.compare_digest(token.encode(), self._token.encode())
        ):
            return 401, "a bearer token is needed"
        return 200, ""

    def _is_ours(self, origin: str, host: str) -> bool:
        try:
            place = urlsplit(origin).netloc
        except ValueError:
            return False
        return bool(place) and (place == host if self._hosts is None else _name(place) in self._hosts)


def _name(place: str) -> str:
    """``::1`` of ``[::1]:8423``, ``localhost`` of ``localhost:8423``; empty for what is no place."""
    try:
        return urlsplit(f"//{place}").hostname or ""
    except ValueError:
        return ""
