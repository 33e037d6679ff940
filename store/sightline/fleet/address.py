"""The addresses of a fleet's database and its object store, which never contain a password or a key.

They are printed, logged and kept in settings, so a secret in one is refused, with the place where it belongs.
"""

import ipaddress
import subprocess
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from sightline.base.errors import UsageError
from sightline.light.named_tuple import NamedTuple
from sightline.settings.config import FleetSettings

_ELSEWHERE = (
    "put the password into a file that PGPASSFILE names (HOST:PORT:DATABASE:USER:PASSWORD, mode 0600), "
    'into PGPASSWORD, or let [fleet] password_command = "…" print it'
)
_KEYS_ELSEWHERE = (
    "keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a web identity, or the machine's own role"
)
_COMMAND_SECONDS = 60
_SECRETS = ("password", "passfile", "sslpassword", "service")


class SecretInAddress(UsageError):
    """An address contains a password or a key."""


class BadAddress(UsageError):
    """An address cannot be one of a fleet."""


class PasswordMissing(UsageError):
    """The command that should print the password did not."""


class DatabaseAddress(NamedTuple):
    """``postgresql://user@host:port/database``.

    Attributes:
        user: the role; empty for the client's default.
        host: a name, an IP address, or the folder of a socket.
        port: 0 for the usual one.
        name: name of the database.
        options: further parameters of the client, as (name, value).
    """

    user: str
    host: str
    port: int
    name: str
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        user = f"{quote(self.user)}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else quote(self.host, safe="")
        port = f":{self.port}" if self.port else ""
        more = f"?{urlencode(self.options)}" if self.options else ""
        return f"postgresql://{user}{host}{port}/{quote(self.name)}{more}"

    @property
    def parameters(self) -> dict[str, str]:
        """Return the client's parameters; to another machine it is encrypted, unless the address says how."""
        given = dict(self.options)
        if not is_here(self.host):
            given.setdefault("sslmode", "require")
        named = {"user": self.user, "host": self.host, "dbname": self.name, "port": str(self.port or "")}
        return {**given, **{name: value for name, value in named.items() if value}}


class ObjectsAddress(NamedTuple):
    """``s3://bucket/prefix``; a store that is not Amazon's has ``?endpoint=https://host``.

    Attributes:
        bucket: name of the bucket.
        prefix: where all of the fleet lies, without slashes at its ends; may be empty.
        endpoint: URL of the store; empty for the client's default.
    """

    bucket: str
    prefix: str
    endpoint: str = ""

    def __str__(self) -> str:
        more = f"?{urlencode({'endpoint': self.endpoint}, safe=':/')}" if self.endpoint else ""
        return f"s3://{self.bucket}/{self.prefix}{more}"


def database_address(text: str) -> DatabaseAddress:
    """Parse an address. Raises SecretInAddress, BadAddress; neither repeats what may be secret."""
    parts = urlsplit(text)
    if parts.scheme not in ("postgresql", "postgres"):
        if "password" in text.lower():
            raise SecretInAddress("the database's address holds a password", _ELSEWHERE)
        raise BadAddress("the database's address does not begin with postgresql://", "postgresql://user@host/database")
    options = parse_qsl(parts.query, keep_blank_values=True)
    if parts.password is not None or any(name.lower() in _SECRETS for name, _ in options):
        raise SecretInAddress("the database's address holds a password, or says where one is", _ELSEWHERE)
    try:
        port = parts.port or 0
    except ValueError:
        raise BadAddress("the port in the database's address is no number", "postgresql://user@host:5432/db") from None
    name = unquote(parts.path.strip("/"))
    host = unquote(parts.hostname or "") or dict(options).get("host", "")
    if not name or not host:
        raise BadAddress("the database's address lacks its host or its database", "postgresql://user@host/database")
    kept = tuple((key, value) for key, value in options if key != "host")
    return DatabaseAddress(unquote(parts.username or ""), host, port, name, kept)


def objects_address(text: str) -> ObjectsAddress:
    """Parse an address. Raises SecretInAddress, BadAddress."""
    parts = urlsplit(text)
    if parts.username is not None or "@" in parts.netloc:
        raise SecretInAddress("the object store's address holds a key", _KEYS_ELSEWHERE)
    if parts.scheme != "s3" or not parts.netloc:
        raise BadAddress("the object store's address does not begin with s3://bucket", "s3://bucket/prefix")
    options = dict(parse_qsl(parts.query))
    if set(options) - {"endpoint"}:
        raise SecretInAddress("the object store's address has more than an endpoint after `?`", _KEYS_ELSEWHERE)
    endpoint = options.get("endpoint", "")
    found = urlsplit(endpoint)
    if endpoint and (found.scheme not in ("http", "https") or not found.hostname or "@" in found.netloc):
        raise BadAddress("the object store's endpoint is no URL of a host", "s3://bucket/prefix?endpoint=https://host")
    if found.scheme == "http" and not is_here(found.hostname or ""):
        raise BadAddress("the object store's endpoint is not encrypted", "https:// is asked for beyond this machine")
    return ObjectsAddress(parts.netloc, parts.path.strip("/"), endpoint)


def is_here(host: str) -> bool:
    """Return whether a host is this machine: a socket's folder, or loopback."""
    if not host or host.startswith("/") or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def password_program(settings: FleetSettings, address: DatabaseAddress) -> str:
    """Return the command that prints the password of an address; empty for another role than that which ships.

    A machine that ships may also read the fleet, or be its owner's, with roles that have passwords of their own.

    Raises:
        SettingError: the command must not be run.
    """
    is_anothers = bool(settings.db) and database_address(settings.db).user != address.user
    return "" if is_anothers else settings.password_program()


def password_for(command: str, environment: Mapping[str, str]) -> str | None:
    """Return what a command of the settings prints, without its newline; None without one: the client then searches.

    Raises:
        PasswordMissing: the command failed, or printed nothing.
    """
    if not command:
        return None
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        done = None
    password = done.stdout.decode(errors="replace").splitlines()[:1] if done and not done.returncode else []
    if not password or not password[0]:
        raise PasswordMissing("[fleet] password_command printed no password", "run it by hand to see why")
    return password[0]
