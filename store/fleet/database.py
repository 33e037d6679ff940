"""Connections to the shared database: opened for one purpose and left, with errors that say what to do."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

import psycopg
from psycopg import errors

from sightline.errors import SightlineError
from sightline.fleet.address import DatabaseAddress, password_for
from sightline.fleet.schema import VERSION
from sightline.named_tuple import NamedTuple

CONNECT_SECONDS = 10
_STATEMENT_MILLISECONDS = 60_000
_LOCK_MILLISECONDS = 20_000

Connection: TypeAlias = "psycopg.Connection[Any]"
"""As `connected` hands it out: rows are tuples, and each statement is its own transaction unless one is begun."""


class FleetUnreachable(SightlineError):
    """The database or the object store does not answer, or has no room now: later it may."""


class FleetRefused(SightlineError):
    """The database or the object store answers, and does not allow what was asked."""


class NotAFleet(SightlineError):
    """The database has nothing of a fleet."""


class NewerFleet(SightlineError):
    """The database's tables are of a version that this one may not use so."""


class Tables(NamedTuple):
    """What the fleet says of itself.

    Attributes:
        version: of its tables.
        least_writer: the lowest version that may ship to it.
        least_reader: the lowest version that may read it.
        objects: address of its object store.
        retention_days: how long rows are kept.
    """

    version: int
    least_writer: int
    least_reader: int
    objects: str
    retention_days: int


@contextlib.contextmanager
def connected(address: DatabaseAddress, password_command: str = "", *, patient: bool = False) -> Iterator[Connection]:
    """A connection as long as it is needed.

    Args:
        address: of the database.
        password_command: of the settings; empty where the client finds the password itself.
        patient: whether a statement may take long, as those of the owner may.

    Raises:
        FleetUnreachable, FleetRefused: from the opening, and from whatever is done with it.
    """
    with told(str(address)):
        connection = psycopg.connect(
            **cast(dict[str, Any], address.parameters),
            password=password_for(password_command, os.environ),
            connect_timeout=CONNECT_SECONDS,
            autocommit=True,
            prepare_threshold=None,  # a pooler between may hand each transaction to another server process
            application_name="sightline",
        )
        try:
            if not patient:
                connection.execute(f"SET statement_timeout = {_STATEMENT_MILLISECONDS}")
                connection.execute(f"SET lock_timeout = {_LOCK_MILLISECONDS}")
            yield connection
        finally:
            connection.close()


@contextlib.contextmanager
def told(where: str) -> Iterator[None]:
    """Tell errors of the database as what they mean for whoever asked; ``where`` is its address."""
    try:
        yield
    except (errors.InvalidPassword, errors.InvalidAuthorizationSpecification) as error:
        raise _refused(where, error) from error
    except (errors.InsufficientPrivilege, errors.InvalidCatalogName, errors.CheckViolation) as error:
        raise _refused(where, error) from error
    except (errors.UndefinedTable, errors.InvalidSchemaName) as error:
        raise NotAFleet(
            f"{where} has no fleet", "`sightline fleet init --db … --objects …` makes one, as the database's owner"
        ) from error
    except psycopg.OperationalError as error:
        if error.sqlstate is None and any(text in str(error) for text in _REFUSALS):
            raise _refused(where, error) from error
        raise FleetUnreachable(
            f"{where} does not take this now: {_first_line(error)}", "what is not shipped stays here, and goes later"
        ) from error
    except psycopg.Error as error:
        raise FleetRefused(
            f"{where} refused this: {_first_line(error)}", "`sightline fleet status` lists what is there"
        ) from error


_REFUSALS = ("authentication failed", "no password supplied", "no pg_hba.conf entry", "is not permitted to log in")
"""What the client says of a connection that was never made: it has no code then."""


def _refused(where: str, error: Exception) -> FleetRefused:
    return FleetRefused(
        f"{where} refused the connection: {_first_line(error)}",
        "PGPASSFILE, PGPASSWORD or [fleet] password_command give the password; `fleet add-host` makes the role",
    )


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def tables_of(connection: Connection) -> Tables:
    """What the fleet says of itself. Raises NotAFleet."""
    try:
        row = connection.execute(
            "SELECT version, least_writer, least_reader, objects, retention_days FROM sightline.fleet"
        ).fetchone()
    except errors.InsufficientPrivilege as error:
        raise FleetRefused(
            "this role belongs to no fleet in this database",
            ("the owner adds it: `sightline fleet add-host NAME`, or `sightline fleet grant` for a reader"),
        ) from error
    if row is None:
        raise NotAFleet("the database's fleet is not whole", "`sightline fleet init` makes it, as the database's owner")
    return Tables(*row)


def may_write(tables: Tables) -> None:
    """Raises NewerFleet where this version is too old to ship."""
    if tables.least_writer > VERSION:
        raise NewerFleet(
            f"the fleet's tables are of version {tables.version}, and this Sightline ships to {VERSION}",
            "upgrade this one: `python -m pip install --upgrade 'sightline[fleet]'`; what is not shipped stays here",
        )


def may_read(tables: Tables) -> str:
    """What a reader of an older version should know; empty where nothing. Raises NewerFleet where it may not read."""
    if tables.least_reader > VERSION:
        raise NewerFleet(
            f"the fleet's tables are of version {tables.version}, and this Sightline reads {VERSION}",
            "upgrade this one: `python -m pip install --upgrade 'sightline[fleet]'`",
        )
    if tables.version > VERSION:
        return (
            f"the fleet is of a newer version ({tables.version}; this one knows {VERSION}): what it added is not shown"
        )
    return ""
