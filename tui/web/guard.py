"""Who may talk to the inspector in a browser: whoever has the token, from a page of ours, under a name that is ours.

The name is looked at because of pages whose own name leads to this machine; where the request comes from, because a
page of anyone's can open a connection to here with the cookies that the browser keeps.
"""

import hmac
import ipaddress
import re
import socket
from collections.abc import Mapping
from typing import NamedTuple

from sightline.errors import UsageError

TOKEN_VARIABLE = "SIGHTLINE_SERVE_TOKEN"  # noqa: S105 (the name of a variable)
LEAST_TOKEN_CHARACTERS = 16

_HOST = re.compile(r"(?:(?P<name>[A-Za-z0-9.-]+)|\[(?P<number>[0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?")

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
"""What each reply says to the browser: nothing from elsewhere, no page around it, nothing kept."""


class Address(NamedTuple):
    """Where it listens.

    Attributes:
        host: as it was given.
        is_loopback: whether only this machine can reach it.
    """

    host: str
    is_loopback: bool


def address_of(host: str) -> Address:
    """What a host stands for. Raises UsageError for one that is not known."""
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError as error:
        raise UsageError(f"there is no host {host!r}: {error.strerror or error}", "--host 127.0.0.1") from error
    return Address(host, all(ipaddress.ip_address(str(one).partition("%")[0]).is_loopback for one in found))


def is_ours(header: str, address: Address) -> bool:
    """Whether a request's ``Host`` can only mean this server; its port may be a tunnel's."""
    match = _HOST.fullmatch(header)
    if not match:
        return False
    name = (match["name"] or match["number"]).lower()
    try:
        number = ipaddress.ip_address(name)
    except ValueError:
        names = {"localhost"} if address.is_loopback else {"localhost", socket.gethostname().lower()}
        return name in names | {address.host.lower()}
    return number.is_loopback or not address.is_loopback


def is_from_here(origin: str | None, host: str) -> bool:
    """Whether a request comes from a page of ours; one that names no page is no page's."""
    return origin is None or origin in (f"http://{host}", f"https://{host}")


def is_token(given: str | None, token: str) -> bool:
    """Whether it is the token, found out in the same time whatever it is."""
    return given is not None and hmac.compare_digest(given.encode(errors="replace"), token.encode())


def token_for(address: Address, environment: Mapping[str, str], made: str) -> str:
    """The token: a person's own, or on loopback one that was made.

    Args:
        address: where it will be asked for.
        environment: where the person's is looked for, since other users can read a command line.
        made: a random one.

    Raises:
        UsageError: the address can be reached from outside and there is no token of the person's, or it is too short.
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
