"""Decides whom an HTTP server answers: requests to a name of ours, from no foreign page, with the token.

The name is checked, because a page can make a browser ask for the page's own name and lead that to this machine; the
origin is checked, because any page can make a browser send a request here.
"""

import hmac
import ipaddress
import re
import socket

from sightline.base.errors import UsageError
from sightline.light.named_tuple import NamedTuple

_PLACE = r"(?:(?P<name>[A-Za-z0-9._-]+)|\[(?P<number>[0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?"
_HOST, _ORIGIN = re.compile(_PLACE), re.compile(rf"https?://(?P<place>{_PLACE})")
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, never listened on unless told


class Address(NamedTuple):
    """Where a server listens.

    Attributes:
        host: the host, as given.
        is_loopback: whether only this machine can reach it.
    """

    host: str
    is_loopback: bool


def address_of(host: str) -> Address:
    """Return what a host means. Raises UsageError for an unknown one."""
    if host in _EVERYWHERE:
        return Address(host, is_loopback=False)
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError as error:
        raise UsageError(f"there is no host {host!r}: {error.strerror or error}", "--host 127.0.0.1") from error
    return Address(host, all(ipaddress.ip_address(str(one).partition("%")[0]).is_loopback for one in found))


class Refusal(NamedTuple):
    """The reason why a request is not answered.

    Attributes:
        status: the status code.
        reason: the reason, in a sentence.
    """

    status: int
    reason: str


class Guard:
    """Judges requests by their headers.

    Args:
        address: where the server listens.
        token: the required token; empty if none is required.
        other_ports: whether pages from other ports of this machine may ask, too. They must not if the token is a
            cookie, because cookies ignore ports.
    """

    def __init__(self, address: Address, token: str, *, other_ports: bool = False) -> None:
        self._address = address
        self._token = token
        self._other_ports = other_ports

    def refusal(self, host: str, origin: str | None) -> Refusal | None:
        """Return why nobody gets an answer there, with any token; None if the token decides.

        Args:
            host: the request's ``Host``, whose port may be a tunnel's.
            origin: its ``Origin``; a request without one does not come from a page.
        """
        name = _name_in(host)
        if name is None or not self._is_ours(name):
            return Refusal(421, "this server is not called by that Host")
        if origin is not None and not self._is_from_here(origin, host, name):
            return Refusal(403, "requests of this Origin are refused")
        return None

    def has_token(self, given: str | None) -> bool:
        """Return whether this is the token, or none is required; the comparison takes the same time for any text."""
        if not self._token:
            return True
        return given is not None and hmac.compare_digest(given.encode(errors="replace"), self._token.encode())

    def _is_ours(self, name: str) -> bool:
        """Return whether a name can only mean this server; a server on all addresses relies on the token alone."""
        host, is_loopback = self._address
        if host in _EVERYWHERE or name in ("localhost", host.lower()):
            return True
        try:
            number = ipaddress.ip_address(name)
        except ValueError:
            return not is_loopback and name == socket.gethostname().lower()
        return number.is_loopback or not is_loopback  # nobody else's number leads here

    def _is_from_here(self, origin: str, host: str, name: str) -> bool:
        if not self._other_ports:
            return origin in (f"http://{host}", f"https://{host}")
        match = _ORIGIN.fullmatch(origin)
        other = _name_in(match["place"]) if match else None
        return other == name or (other is not None and _is_this_machine(other) and _is_this_machine(name))


def _name_in(place: str) -> str | None:
    """Return ``::1`` for ``[::1]:8423``, ``localhost`` for ``LOCALHOST:8423``; None for an invalid place."""
    match = _HOST.fullmatch(place)
    return (match["name"] or match["number"]).lower() if match else None


def _is_this_machine(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"
