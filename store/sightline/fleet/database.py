"""Opens connections to the shared database for one purpose each, and explains its errors."""

import contextlib
import os
import threading
from collections.abc import Iterator

import psycopg
from psycopg import errors

from sightline.base.distribution import upgrade
from sightline.base.errors import StoreFailed
from sightline.fleet.address import DatabaseAddress, password_for
from sightline.fleet.schema import VERSION
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, TypeAlias, cast

CONNECT_SECONDS = 10
_ROWS_AT_ONCE = 2_000
_LEAST_READ = 4  # of the tables: the lowest version that has all that is read
_STATEMENT_MILLISECONDS = 60_000
_LOCK_MILLISECONDS = 20_000

Connection: TypeAlias = "psycopg.Connection[Any]"
"""A connection from `connected`: rows are tuples, and each statement is a transaction unless one is begun."""


class FleetUnreachable(StoreFailed):
    """The database or the object store does not answer, or is overloaded; later it may work."""


class FleetRefused(StoreFailed):
    """The database or the object store answers, but does not allow the request."""


class NotAFleet(StoreFailed):
    """The database has no fleet."""


class NewerFleet(StoreFailed):
    """The database's tables have a version that this one must not use in this way."""


class Tables(NamedTuple):
    """What the fleet says about itself.

    Attributes:
        version: version of its tables.
        least_writer: lowest version that may ship to it.
        least_reader: lowest version that may read it.
        objects: address of its object store.
        retention_days: days for which rows are kept.
    """

    version: int
    least_writer: int
    least_reader: int
    objects: str
    retention_days: int


@contextlib.contextmanager
def connected(address: DatabaseAddress, password_command: str = "", *, patient: bool = False) -> Iterator[Connection]:
    """Open a connection for as long as it is needed.

    Args:
        address: address of the database.
        password_command: the command from the settings; empty if the client finds the password itself.
        patient: whether a statement may take long, as the owner's may.

    Raises:
        FleetUnreachable, FleetRefused: it cannot be opened, or what is done with it fails.
    """
    with told(str(address)):
        connection = _opened(address, password_for(password_command, os.environ), patient=patient)
        try:
            yield connection
        finally:
            connection.close()


@contextlib.contextmanager
def connected_with(address: DatabaseAddress, password: str) -> Iterator[Connection]:
    """Open a connection with a password that nothing keeps. Raises as `connected` does."""
    with told(str(address)), contextlib.closing(_opened(address, password)) as connection:
        yield connection


def _opened(address: DatabaseAddress, password: str | None, *, patient: bool = False) -> Connection:
    connection = psycopg.connect(
        **cast(dict[str, Any], address.parameters),
        password=password,
        connect_timeout=CONNECT_SECONDS,
        autocommit=True,
        prepare_threshold=None,  # a pooler may use another server process each time
        application_name="sightline",
    )
    if not patient:
        connection.execute(f"SET statement_timeout = {_STATEMENT_MILLISECONDS}")
        connection.execute(f"SET lock_timeout = {_LOCK_MILLISECONDS}")
    return connection


class LastingConnection:
    """A reader's connection, opened when it is needed, and again after a loss. Threads take turns with it."""

    def __init__(self, address: DatabaseAddress, password_command: str = "") -> None:
        """Prepare; nothing is opened yet."""
        self.address = address
        self._password_command = password_command
        self._connection: Connection | None = None
        self._lock = threading.RLock()

    def rows(self, statement: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a statement. Raises FleetUnreachable, FleetRefused, NotAFleet, NewerFleet."""
        with self._lock, told(str(self.address), READ_HINT):
            made_now = self._connection is None
            try:
                return self._rows(statement, parameters)
            except psycopg.OperationalError:
                if made_now or not self._is_lost():
                    raise
                self._let_go()
                return self._rows(statement, parameters)  # the server has restarted, or a proxy closed it

    def each(self, statement: str, parameters: Any = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement, which may be very many; other threads wait until the last is taken."""
        with self._lock, told(str(self.address), READ_HINT):
            self.rows("SELECT 1")  # opens a lost connection again
            assert self._connection is not None
            with self._connection.transaction(), self._connection.cursor(name="each") as cursor:
                cursor.itersize = _ROWS_AT_ONCE
                cursor.execute(statement.encode(), parameters)
                yield from cursor

    def _rows(self, statement: str, parameters: Any) -> list[tuple[Any, ...]]:
        if self._connection is None:
            connection = _opened(self.address, password_for(self._password_command, os.environ))
            try:
                may_read(tables_of(connection))
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        done = self._connection.execute(statement.encode(), parameters)
        return done.fetchall() if done.description else []

    def _is_lost(self) -> bool:
        return self._connection is None or self._connection.closed

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def close(self) -> None:
        """Close the connection; it is opened again when it is needed."""
        with self._lock:
            self._let_go()


READ_HINT = "what was read of it before can be read with --offline"
SHIP_HINT = "what is not shipped stays here, and goes later"


@contextlib.contextmanager
def told(where: str, hint: str = SHIP_HINT) -> Iterator[None]:
    """Turn errors of the database into what they mean for the caller.

    Args:
        where: its address.
        hint: what the caller can do while it does not answer.
    """
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
        raise FleetUnreachable(f"{where} does not take this now: {_first_line(error)}", hint) from error
    except psycopg.Error as error:
        raise FleetRefused(
            f"{where} refused this: {_first_line(error)}", "`sightline fleet status` lists what is there"
        ) from error


_REFUSALS = ("authentication failed", "no password supplied", "no pg_hba.conf entry", "is not permitted to log in")
"""The client's messages for a connection that was never made, which has no error code."""


def _refused(where: str, error: Exception) -> FleetRefused:
    return FleetRefused(
        f"{where} refused the connection: {_first_line(error)}",
        "PGPASSFILE, PGPASSWORD or [fleet] password_command give the password; `fleet add-host` makes the role",
    )


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def tables_of(connection: Connection) -> Tables:
    """Return what the fleet says about itself. Raises NotAFleet."""
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


def lock_for_owner(connection: Connection) -> None:
    """Let no other work of the owner go on beside this transaction; hosts and readers go on.

    An advisory lock would not do, since any role can take it and keep it. This one needs a right to change the table.
    """
    connection.execute("LOCK TABLE sightline.fleet IN SHARE UPDATE EXCLUSIVE MODE")


def may_write(tables: Tables) -> None:
    """Raise NewerFleet if this version is too old to ship."""
    if tables.least_writer > VERSION:
        raise NewerFleet(
            f"the fleet's tables are of version {tables.version}, and this Sightline ships to {VERSION}",
            f"{upgrade('fleet')}; what is not shipped stays here",
        )


def may_read(tables: Tables) -> str:
    """Return what a reader with an older version should know; empty for nothing.

    Raises:
        NewerFleet: this version is too old to read.
        NotAFleet: the tables are too old.
    """
    if tables.least_reader > VERSION:
        raise NewerFleet(
            f"the fleet's tables are of version {tables.version}, and this Sightline reads {VERSION}",
            upgrade("fleet"),
        )
    if tables.version < _LEAST_READ:
        raise NotAFleet(
            f"the fleet's tables are of version {tables.version}, which cannot be read like this yet",
            "its owner brings them to this one: `sightline fleet init`",
        )
    if tables.version > VERSION:
        return (
            f"the fleet is of a newer version ({tables.version}; this one knows {VERSION}): what it added is not shown"
        )
    return ""
