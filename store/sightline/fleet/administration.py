"""Does the owner's work on a fleet: makes its schema and roles, adds hosts, and grants reading."""

import datetime
import re
import secrets

from psycopg import errors, sql

from sightline.base.distribution import upgrade
from sightline.base.errors import UsageError
from sightline.fleet.address import DatabaseAddress, ObjectsAddress
from sightline.fleet.database import Connection, FleetRefused, NewerFleet, lock_for_owner, tables_of
from sightline.fleet.objects import host_prefix
from sightline.fleet.schema import (
    CREATE,
    HOST_GROUP,
    LEAST_READER,
    LEAST_WRITER,
    MIGRATIONS,
    READER_GROUP,
    VERSION,
)
from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple

_MEMBER = r"[a-z][a-z0-9-]{0,39}"
_ROLE = r"[a-z_][a-z0-9_.@-]{0,62}"
INVITED = datetime.timedelta(hours=1)
"""So long the line of `fleet add-host` is good."""

LIFECYCLE_DAYS_MORE = 8
"""Objects are kept longer than rows, because a stream that is shipped again may be found in them for seven days."""


class Added(NamedTuple):
    """The result of `add_host`: the database's role, and its password, None if none was wanted."""

    role: str
    password: str | None


class Granted(NamedTuple):
    """The result of `grant`: ``team`` or ``owner``, and the password of the role if it was made."""

    kind: str
    password: str | None


def initialise(connection: Connection, objects: ObjectsAddress, retention_days: int) -> list[str]:
    """Make a fleet's schema and roles, or bring them to this version; return what was done, in words.

    Raises:
        NewerFleet: the tables are from a newer version.
        FleetRefused: the owner's role lacks a right, or the fleet has another object store.
    """
    try:
        return _initialised(connection, objects, retention_days)
    except errors.UniqueViolation:  # another has made it at the same time
        return _initialised(connection, objects, retention_days)


def _initialised(connection: Connection, objects: ObjectsAddress, retention_days: int) -> list[str]:
    done: list[str] = []
    with connection.transaction():
        for group in (HOST_GROUP, READER_GROUP):
            if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (group,)).fetchone() is None:
                connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(group)))
                done.append(f"role {group}")
        if connection.execute("SELECT to_regclass(%s)", ("sightline.fleet",)).fetchone() == (None,):
            connection.execute(CREATE)
            connection.execute(
                (
                    "INSERT INTO sightline.fleet (version, least_writer, least_reader, objects, retention_days)"
                    " VALUES (%s, %s, %s, %s, %s)"
                ),
                (VERSION, LEAST_WRITER, LEAST_READER, str(objects), retention_days),
            )
            done.append(f"schema sightline, version {VERSION}")
            return done
        lock_for_owner(connection)
        tables = tables_of(connection)
        if tables.version > VERSION:
            raise NewerFleet(
                f"the fleet's tables are of version {tables.version}, and this Sightline makes {VERSION}",
                upgrade("fleet"),
            )
        if tables.objects != str(objects):
            raise FleetRefused(
                f"the fleet's objects are at {tables.objects}",
                "docs/fleet.md says how a fleet is moved to another object store",
            )
        for version in range(tables.version, VERSION):
            connection.execute(MIGRATIONS[version])
            connection.execute("UPDATE sightline.fleet SET version = %s", (version + 1,))
            done.append(f"version {version} → {version + 1}")
    return done


def add_host(
    connection: Connection, name: str, *, team: str, owner: str, kind: str, password: bool, invites: bool = False
) -> Added:
    """Make a role under which a host ships or, for ``ci``, many.

    Args:
        connection: a connection as the owner.
        name: name of the host.
        team: the team that its outputs belong to.
        owner: the person that they belong to.
        kind: ``host`` or ``ci``.
        password: whether the role gets a password.
        invites: whether that is only good for an hour, until the host joins with it.

    Raises:
        UsageError: the name is not possible, or taken.
    """
    for what, text in (("a host's name", name), ("a team", team), ("an owner", owner)):
        if not re.fullmatch(_MEMBER, text):
            raise UsageError(
                f"{text!r} cannot be {what}", ("use at most 40 letters, digits and `-`, and begin with a letter")
            )
    role = f"sightline_{name}"
    try:
        with connection.transaction():
            tables_of(connection)
            secret = _make_role(connection, role, HOST_GROUP, password=password)
            connection.execute(
                "INSERT INTO sightline.members (name, role, team, owner, kind) VALUES (%s, %s, %s, %s, %s)",
                (name, role, team, owner, kind),
            )
            if invites:
                _invite(connection, role)
    except (errors.UniqueViolation, errors.DuplicateObject):
        raise UsageError(
            f"there is a host {name} or a role {role} already",
            ("choose another name; `sightline fleet status` lists the hosts"),
        ) from None
    return Added(role, secret)


def invite_again(connection: Connection, name: str) -> Added:
    """Give the role of a host another password, good for an hour, until the host joins with it.

    Raises:
        UsageError: there is no such host.
    """
    with connection.transaction():
        known = connection.execute("SELECT role FROM sightline.members WHERE name = %s", (name,)).fetchone()
        if known is None:
            raise UsageError(f"there is no host {name}", "`sightline fleet status` lists the hosts")
        role = str(known[0])
        secret = secrets.token_urlsafe(24)
        changed = sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), _hashed(connection, role, secret))
        connection.execute(changed)
        _invite(connection, role)
    return Added(role, secret)


def _invite(connection: Connection, role: str) -> None:
    row = connection.execute("SELECT now() + %s", (INVITED,)).fetchone()
    assert row is not None
    until = row[0]
    connection.execute(sql.SQL("ALTER ROLE {} VALID UNTIL {}").format(sql.Identifier(role), sql.Literal(str(until))))
    connection.execute(
        "INSERT INTO sightline.invitations VALUES (%s, %s) ON CONFLICT (role) DO UPDATE SET until = excluded.until",
        (role, until),
    )


def grant(connection: Connection, reader: str, scope: str) -> Granted:
    """Let a role read what a team or an owner has; a missing role is made.

    Args:
        connection: a connection as the owner.
        reader: the database's role.
        scope: a team or an owner; ``team:NAME`` or ``owner:NAME`` if a name means both.

    Raises:
        UsageError: there is no such team or owner, or the name means both.
    """
    if not re.fullmatch(_ROLE, reader) or reader in (HOST_GROUP, READER_GROUP):
        raise UsageError(
            f"{reader!r} cannot be a reader's role", "use letters, digits and `_`, and begin with a letter"
        )
    kind = _kind_of(connection, scope)
    name = scope.partition(":")[2] or scope
    secret = None
    with connection.transaction():
        if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (reader,)).fetchone() is None:
            secret = _make_role(connection, reader, READER_GROUP, password=True)
        else:
            _join(connection, reader, READER_GROUP)
        connection.execute(
            "INSERT INTO sightline.grants (reader, kind, scope) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            (reader, kind, name),
        )
    return Granted(kind, secret)


def revoke(connection: Connection, reader: str, scope: str) -> str:
    """Take a reader's right to read what a team or an owner has; return ``team`` or ``owner``.

    Raises:
        UsageError: there is no such team or owner, the name means both, or the role had no such right.
    """
    kind, name = _kind_of(connection, scope), scope.partition(":")[2] or scope
    taken = connection.execute(
        "DELETE FROM sightline.grants WHERE reader = %s AND kind = %s AND scope = %s", (reader, kind, name)
    )
    if not taken.rowcount:
        raise UsageError(f"{reader} had no grant for the {kind} {name}", "nothing has changed; is the name right?")
    return kind


def _kind_of(connection: Connection, scope: str) -> str:
    kind, colon, name = scope.partition(":")
    if colon and kind in ("team", "owner"):
        return kind
    name = scope
    known = connection.execute(
        "SELECT bool_or(team = %s), bool_or(owner = %s) FROM sightline.members", (name, name)
    ).fetchone()
    is_team, is_owner = known or (False, False)
    if is_team and is_owner:
        raise UsageError(f"{name} is a team and an owner", f"say which: team:{name} or owner:{name}")
    if not is_team and not is_owner:
        raise UsageError(f"no host belongs to a team or an owner {name!r}", "`sightline fleet status` lists them")
    return "team" if is_team else "owner"


def _make_role(connection: Connection, role: str, group: str, *, password: bool) -> str | None:
    """Make a role that may log in; the server gets its password in hashed form, so that no log has it."""
    secret = secrets.token_urlsafe(24) if password else None
    made = sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role))
    if secret is not None:
        made += sql.SQL(" PASSWORD {}").format(_hashed(connection, role, secret))
    connection.execute(made)
    _join(connection, role, group)
    return secret


def _hashed(connection: Connection, role: str, secret: str) -> sql.Literal:
    return sql.Literal(connection.pgconn.encrypt_password(secret.encode(), role.encode(), b"scram-sha-256").decode())


def _join(connection: Connection, role: str, group: str) -> None:
    connection.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(group), sql.Identifier(role)))


def host_settings(address: DatabaseAddress, objects: ObjectsAddress, role: str) -> str:
    """Return what a host writes into its ``config.toml``."""
    return f'[fleet]\ndb = "{address._replace(user=role)}"\nobjects = "{objects}"\n'


def passfile_line(address: DatabaseAddress, role: str, password: str) -> str:
    """Return a line for the file that PGPASSFILE names."""
    fields = (address.host, str(address.port or "*"), address.name, role, password)
    return ":".join(field.replace("\\", "\\\\").replace(":", "\\:") for field in fields) + "\n"


def object_rights(objects: ObjectsAddress, team: str, member: str) -> str:
    """Return the rights of a host's key, as Amazon's stores and many others read them: to add below its prefix."""
    prefix = f"{objects.prefix}/" if objects.prefix else ""
    return _policy(["s3:PutObject"], [f"{objects.bucket}/{prefix}{host_prefix(team, member)}*"])


def reader_rights(objects: ObjectsAddress, teams: list[str]) -> str:
    """Return the rights of a reader's key: to read what the teams have."""
    prefix = f"{objects.prefix}/" if objects.prefix else ""
    folders = [f"{folder}/{team}" for team in teams for folder in ("t", "kept")]
    return _policy(["s3:GetObject"], [f"{objects.bucket}/{prefix}{folder}/*" for folder in folders])


def lifecycle(objects: ObjectsAddress, retention_days: int) -> str:
    """Return the rule by which the object store removes what no row mentions any more."""
    prefix = f"{objects.prefix}/" if objects.prefix else ""
    rule = {
        "ID": "sightline",
        "Status": "Enabled",
        "Filter": {"Prefix": f"{prefix}t/"},
        "Expiration": {"Days": retention_days + LIFECYCLE_DAYS_MORE},
    }
    return dumps({"Rules": [rule]}, indent=2)


def _policy(actions: list[str], resources: list[str]) -> str:
    allowed = {
        "Effect": "Allow",
        "Action": actions,
        "Resource": [f"arn:aws:s3:::{resource}" for resource in resources],
    }
    return dumps({"Version": "2012-10-17", "Statement": [allowed]}, indent=2)


def set_retention(connection: Connection, days: int) -> None:
    """Set how long rows are kept; `maintain` drops older ones."""
    connection.execute("UPDATE sightline.fleet SET retention_days = %s", (days,))
