"""The object store: packs under keys that name their host, put once and never changed."""

import os
import re
import time
from collections.abc import Iterator
from datetime import datetime, timedelta

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import S3Store

from sightline.base.private_files import read_file
from sightline.fleet import KEY_FILE, QUEUE_FOLDER
from sightline.fleet.address import ObjectsAddress
from sightline.fleet.database import SHIP_HINT, FleetRefused, FleetUnreachable
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, cast

_TIMEOUT = timedelta(seconds=60)
_CONNECT_TIMEOUT = timedelta(seconds=10)
_REFUSED = re.compile(r"\bstatus code: 40[13]\b")
"""obstore 0.12 has no error class for a refused listing. Keys and times in its text have any digits."""
_BEYOND_END = re.compile(r"\bstatus code: 416\b")
"""Nor has it one for a range that begins where an object has ended."""
_SKEWED = "RequestTimeTooSkewed"
"""The code of S3 for a request that is signed at a time too far from the store's own."""
_STORES_TIME = re.compile(r"<ServerTime>([^<]{1,40})</ServerTime>")
_KEYS_HINT = (
    "its keys come from AWS_ACCESS_KEY_ID, a web identity or the machine's role; `fleet add-host` prints its rights"
)


class ObjectMissing(FleetRefused):
    """An object that a row names is missing."""


class Key(NamedTuple):
    """A key of the object store."""

    id: str
    secret: str


def key_in(text: str) -> Key | None:
    """Return the key in lines such as ``AWS_ACCESS_KEY_ID=…``; None if one of both is not there."""
    lines = (line.strip().removeprefix("export ") for line in text.splitlines())
    found = {name: value.strip("\"'") for name, _, value in (line.partition("=") for line in lines)}
    key = Key(found.get("AWS_ACCESS_KEY_ID", ""), found.get("AWS_SECRET_ACCESS_KEY", ""))
    return key if all(key) else None


def key_of(root: str) -> Key | None:
    """Return the key that a host got when it joined; None if it has another way. Raises UnsafeStore for a link."""
    try:
        return key_in(read_file(os.path.join(root, QUEUE_FOLDER, KEY_FILE)).decode())
    except FileNotFoundError:
        return None


class StoredObject(NamedTuple):
    """An object in a listing: its key below the fleet's prefix, and its bytes."""

    key: str
    bytes: int


def host_prefix(team: str, member: str) -> str:
    """Return the prefix of what a member of the fleet writes, for all of its stores."""
    return f"t/{team}/h/{member}/"


def kept_prefix(team: str, member: str) -> str:
    """Return the prefix for a member's pinned outputs, which the lifecycle rule does not cover."""
    return f"kept/{team}/h/{member}/"


def pack_key(team: str, member: str, store: str, day: str, sha256: str, *, is_kept: bool = False) -> str:
    """Return the key of a pack, made only of what the owner has set, and of a hash, but of nothing that a host says.

    Args:
        team: team of the host.
        member: role under which it ships.
        store: id of the store, in hex.
        day: day of the pack, ``2026-11-23``.
        sha256: hash of the object, in hex.
        is_kept: whether it has pinned outputs, past the retention.
    """
    prefix = kept_prefix(team, member) if is_kept else host_prefix(team, member)
    return f"{prefix}{store}/packs/{day}/{sha256}"


class Objects:
    """One fleet's part of a bucket."""

    def __init__(
        self, address: ObjectsAddress, *, key: Key | None = None, retries: int = 2, hint: str = SHIP_HINT
    ) -> None:
        """Prepare; nothing is asked yet.

        Args:
            address: the bucket and the prefix.
            key: the key; without one, the client looks for it where it always does.
            retries: how often the client repeats a request.
            hint: what the caller can do while the store does not answer.
        """
        self.address = address
        self._hint = hint
        client: dict[str, Any] = {"timeout": _TIMEOUT, "connect_timeout": _CONNECT_TIMEOUT}
        more: dict[str, Any] = {}
        if address.endpoint:
            more["endpoint"] = address.endpoint
            client["allow_http"] = address.endpoint.startswith("http://")  # on this machine, see `objects_address`
        if key:
            more |= {"access_key_id": key.id, "secret_access_key": key.secret}
        self._store = S3Store(
            address.bucket,
            prefix=address.prefix or None,
            client_options=cast(Any, client),
            retry_config={"max_retries": retries, "retry_timeout": _TIMEOUT},
            **more,
        )

    def put(self, key: str, data: bytes) -> bool:
        """Put an object unless one is there; return whether it was put.

        Raises:
            FleetUnreachable, FleetRefused: as far as can be told, it is not there.
        """
        try:
            obstore.put(self._store, key, data, mode="create", use_multipart=False)
        except (AlreadyExistsError, PreconditionError):
            return False
        except (BaseError, OSError) as error:
            raise self._told(error, key) from error
        return True

    def get(self, key: str) -> bytes:
        """Return a whole object. Raises ObjectMissing, FleetUnreachable, FleetRefused."""
        try:
            return bytes(obstore.get(self._store, key).bytes())
        except (BaseError, OSError) as error:
            raise self._told(error, key) from error

    def get_range(self, key: str, offset: int, length: int) -> bytes:
        """Return some bytes of an object; fewer, or none, if it ends before them.

        Raises:
            ObjectMissing, FleetUnreachable, FleetRefused: they cannot be had.
        """
        try:
            return bytes(obstore.get_range(self._store, key, start=offset, length=length))
        except (BaseError, OSError) as error:
            if _BEYOND_END.search(str(error)):
                return b""
            raise self._told(error, key) from error

    def delete(self, key: str) -> None:
        """Remove an object. Raises FleetUnreachable, FleetRefused; some stores also ObjectMissing."""
        try:
            obstore.delete(self._store, key)
        except (BaseError, OSError) as error:
            raise self._told(error, key) from error

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """Yield the objects below a prefix. Raises FleetUnreachable, FleetRefused."""
        try:
            for batch in obstore.list(self._store, prefix):
                for found in batch:
                    yield StoredObject(str(found["path"]), int(found["size"]))
        except (BaseError, OSError) as error:
            raise self._told(error, prefix) from error

    def _told(self, error: Exception, key: str) -> FleetUnreachable | FleetRefused:
        where = f"{self.address} ({key})"
        text = str(error)
        if isinstance(error, NotFoundError | FileNotFoundError) and "NoSuchBucket" not in text:
            return ObjectMissing(f"{where} is not there", "`sightline fleet verify` tells what else is missing")
        if _SKEWED in text:
            return FleetRefused(f"{_clock_off(text)}, so {self.address} refused this", "set this machine's clock")
        refusals = PermissionDeniedError | UnauthenticatedError | FileNotFoundError
        if isinstance(error, refusals) or _REFUSED.search(text):
            return FleetRefused(f"the object store refused {where}", _KEYS_HINT)
        return FleetUnreachable(
            f"{where}: the object store does not take this now: {_reason(text)}",
            self._hint,
        )


def _clock_off(text: str) -> str:
    """Return by how much this machine's clock is off, as far as the store's answer has its time."""
    stated = _STORES_TIME.search(text)
    try:
        minutes = (time.time() - datetime.fromisoformat(stated[1]).timestamp()) / 60 if stated else 0.0
    except ValueError:
        minutes = 0.0
    if not minutes:
        return "this machine's clock is too far from the object store's"
    return (
        f"this machine's clock is {abs(minutes):,.0f} min {'ahead of' if minutes > 0 else 'behind'} the object store's"
    )


def _reason(text: str) -> str:
    """Return the first line of the client's message, without its text for developers."""
    return text.partition("\n")[0].partition("<?xml")[0].strip()[:300]
