"""Invites a host into a fleet by one line, and accepts it: the line has a password that is good for an hour, and once.

The line is a secret while it is good. Whoever accepts it gives the role a new password, which never leaves that host.
"""

import binascii
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode

from sightline.base.errors import UsageError
from sightline.fleet.address import database_address, objects_address
from sightline.fleet.database import connected_with
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple

_MARK = "sightline-join:"
_MOST_CHARACTERS = 8_192


class Invitation(NamedTuple):
    """What a host needs to join.

    Attributes:
        db: address of the database, with the host's role.
        objects: address of the object store.
        password: the role's password until it has joined.
        key_id: id of the key of the object store; empty where the host has one already.
        key_secret: its secret.
    """

    db: str
    objects: str
    password: str
    key_id: str = ""
    key_secret: str = ""

    def line(self) -> str:
        """Return it as one line."""
        return _MARK + urlsafe_b64encode(dumps(self._asdict()).encode()).decode()


def invitation_of(text: str) -> Invitation:
    """Read an invitation from the text that holds its line. Raises UsageError, which does not repeat the text."""
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith(_MARK)]
    try:
        if len(lines) != 1 or len(lines[0]) > _MOST_CHARACTERS:
            raise ValueError("not one line")
        given = loads(urlsafe_b64decode(lines[0].removeprefix(_MARK)))
        found = Invitation(**{name: given[name] for name in Invitation._fields if name in given})
        if not all(isinstance(value, str) for value in found):
            raise TypeError("not a text")
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error) as error:
        raise UsageError(
            "that is not a line of `sightline fleet add-host`",
            f"it begins with {_MARK} and is one line; pass it on standard input, or name a file with it",
        ) from error
    database_address(found.db), objects_address(found.objects)  # refuse what is no address
    return found


def new_password() -> str:
    """Return a password that nobody else knows."""
    return secrets.token_urlsafe(24)


def accept(invitation: Invitation, password: str) -> None:
    """Give the host's role a new password. The server gets it in hashed form, so that no log has it.

    Raises:
        FleetUnreachable, FleetRefused: the invitation is not good any more, or the database does not answer.
    """
    address = database_address(invitation.db)
    with connected_with(address, invitation.password) as connection:
        hashed = connection.pgconn.encrypt_password(password.encode(), address.user.encode(), b"scram-sha-256").decode()
        connection.execute("SELECT sightline.join_with(%s)", (hashed,))
