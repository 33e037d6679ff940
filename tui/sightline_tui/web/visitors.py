"""Decides who visits the page: whoever has the link's token, or a reader whom a trusted proxy has signed in.

A header with a reader's name is worth nothing by itself, since anybody can send one. It counts over a Unix socket,
which only the proxy can open, and from listed addresses together with a secret that the proxy adds. From anywhere else
it is not read.
"""

import hmac
import ipaddress
import re
from collections.abc import Sequence
from typing import Protocol

from sightline.base.errors import UsageError
from sightline.light.named_tuple import NamedTuple

SECRET_HEADER = "X-Sightline-Proxy"  # noqa: S105 - its name
"""The header in which the proxy sends the secret that both know."""
SECRET_VARIABLE = "SIGHTLINE_PROXY_SECRET"  # noqa: S105 - the name of a variable
LEAST_SECRET_CHARACTERS = 16
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
_READER = re.compile(r"[a-z_][a-z0-9_.@-]{0,62}")
"""The names of database roles that `sightline fleet grant` makes."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Headers(Protocol):
    """The headers of a request."""

    def getall(self, key: str, default: list[str]) -> Sequence[str]:
        """Return all values of a header."""


class SignIn(NamedTuple):
    """How readers are signed in.

    Attributes:
        header: the header with a reader's name.
        proxies: the addresses from which it counts; empty where only the socket is open.
        secret: what such a proxy also sends; empty likewise.
    """

    header: str
    proxies: tuple[Network, ...] = ()
    secret: str = ""

    def reader(self, headers: Headers, peer: str) -> str:
        """Return the name of the reader who asks; empty if nobody whom the page trusts says so.

        Args:
            headers: the headers of the request.
            peer: the address that sent it; empty for a Unix socket.
        """
        named = headers.getall(self.header, [])
        if len(named) != 1 or not _READER.fullmatch(named[0]) or not (peer == "" or self._is_proxy(headers, peer)):
            return ""
        return named[0]

    def _is_proxy(self, headers: Headers, peer: str) -> bool:
        given = headers.getall(SECRET_HEADER, [])
        if not self.secret or len(given) != 1:
            return False
        if not hmac.compare_digest(given[0].encode(errors="replace"), self.secret.encode()):
            return False
        try:
            address = ipaddress.ip_address(peer.partition("%")[0])
        except ValueError:
            return False
        return any(address in network for network in self.proxies)


def sign_in(header: str, proxies: str, secret: str, *, over_socket: bool) -> SignIn:
    """Return how readers are signed in.

    Args:
        header: the header with a reader's name.
        proxies: addresses or networks of proxies, with commas between them; empty for none.
        secret: the secret of these proxies.
        over_socket: whether the page is served on a Unix socket.

    Raises:
        UsageError: a name would be trusted that anybody could send, or an argument is none.
    """
    if not _HEADER.fullmatch(header):
        raise UsageError(f"{header!r} is no name of a header", "for instance --sign-in X-Forwarded-User")
    try:
        networks = tuple(ipaddress.ip_network(one.strip()) for one in proxies.split(",") if one.strip())
    except ValueError as error:
        raise UsageError(f"--proxy: {error}", "addresses or networks, as 10.0.0.5,10.1.0.0/24") from error
    if networks and len(secret) < LEAST_SECRET_CHARACTERS:
        raise UsageError(
            f"{SECRET_VARIABLE} is too short to be safe",
            f"{LEAST_SECRET_CHARACTERS} characters at least, as the proxy sends",
        )
    if not networks and not over_socket:
        raise UsageError(
            "anybody could send the header of --sign-in",
            f"serve on --socket PATH, or name the proxy with --proxy ADDRESS and {SECRET_VARIABLE}",
        )
    return SignIn(header, networks, secret)
