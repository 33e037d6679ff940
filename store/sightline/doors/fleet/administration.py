"""``sightline fleet …``: lets the owner of a fleet make it, add hosts, grant reading, and maintain it."""

import contextlib
import datetime
import os
from argparse import ArgumentTypeError
from collections.abc import Iterator

from sightline.base.distribution import version
from sightline.base.errors import SightlineError, StoreFailed, UsageError
from sightline.base.private_files import new_file, write_all
from sightline.base.regular_files import read_regular
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import print_json, red, write_err, write_out
from sightline.fleet import ExtraMissing
from sightline.settings.config import default_root, load_settings
from sightline.shape.summary import counted, human_bytes
from sightline.verbs.printable_text import printable

try:
    from sightline.fleet import administration
    from sightline.fleet.address import (
        DatabaseAddress,
        ObjectsAddress,
        database_address,
        objects_address,
        password_program,
    )
    from sightline.fleet.database import Connection, connected, may_read, tables_of
    from sightline.fleet.host_list import HostRow, hosts
    from sightline.fleet.invitation import Invitation
    from sightline.fleet.janitor import Janitor, Tidied
    from sightline.fleet.maintenance import maintain
    from sightline.fleet.objects import Key, Objects, key_in
    from sightline.fleet.retention_plan import going
    from sightline.fleet.verification import Verification
except ImportError as error:
    _MISSING: ImportError | None = error
else:
    _MISSING = None

_RETENTION_DAYS, _MOST_DAYS = 30, 36_500
_DESCRIBED = {
    "init": "Set up the tables, roles and policies of a fleet in a database, or upgrade them to this version. "
    "It prints the lifecycle rule to set in the object store.",
    "add-host": "Make a role of the database for one machine, and print the line with which the machine joins: "
    "`sightline fleet join` reads it there. The line is a secret, good for an hour and for once. With --kind ci, for "
    "any number of short-lived machines, or with --passfile, it prints the settings instead, and writes the password "
    "into a file that only you can read.",
    "grant": (
        "Let a role of the database read the outputs of a team or of an owner. A role that does not exist is made."
    ),
    "retention": "Set how many days the fleet keeps outputs; without DAYS list what goes when, by day and host, and "
    "what is pinned and stays. With --dry-run, list what another number of days would let go.",
    "maintain": (
        "Make the partitions of the next days, and drop those that are older than the retention, less what is pinned. "
        "It also removes what hosts have purged (`rm --purge`), bytes and texts of replies. Let cron run it once a day."
    ),
    "verify": (
        "Check that the object store has everything that the database lists, and the other way round, and that no "
        "log has a gap."
    ),
    "status": "List the machines: when each was last heard of, and how far behind it is. Those that were added and "
    "have shipped nothing yet are listed, too.",
}
_EXAMPLES = {
    "init": "sightline fleet init --db postgresql://owner@db.example/fleet --objects s3://outputs/fleet",
    "add-host": "sightline fleet add-host host7 --team backend | ssh host7 sightline fleet join",
    "grant": "sightline fleet grant ann backend",
    "retention": "sightline fleet retention 30d",
    "maintain": "sightline fleet maintain",
    "verify": "sightline fleet verify --contents",
    "status": "sightline fleet status --json",
}


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    does = name.partition(" ")[2] or "status"
    made = command_parser(name, _DESCRIBED[does], _EXAMPLES[does])
    made.add_argument(
        *("--db", "--store")[: 1 + (does == "status")],  # a reader of a fleet knows it as a store
        metavar="URL",
        help="the database, as postgresql://user@host/db without a password (default: [fleet] db"
        f"{', else [fleet] store' * (does == 'status')})",
    )
    if does == "init":
        made.add_argument(
            "--objects", metavar="URL", help="the object store, as s3://bucket/prefix (default: [fleet] objects)"
        )
        made.add_argument(
            "--retention",
            metavar="DAYS",
            type=days_of,
            default=_RETENTION_DAYS,
            help="keep outputs this long, such as 30d",
        )
    elif does == "add-host":
        made.add_argument("host", metavar="NAME", help="the name of the machine")
        made.add_argument(
            "--kind",
            default="host",
            choices=("host", "ci"),
            help="make the role for one machine (host), or for many under one role (ci)",
        )
        made.add_argument(
            "--team", default="team", metavar="TEAM", help="the team that its outputs belong to (default: team)"
        )
        made.add_argument(
            "--owner", default="", metavar="OWNER", help="the person that its outputs belong to (default: NAME)"
        )
        made.add_argument(
            "--again",
            action="store_true",
            help="print a new line for a host that there is; its old password is not good any more",
        )
        made.add_argument(
            "--key-file",
            default="",
            metavar="FILE",
            help="put the host's key of the object store into the line, from a file with AWS_ACCESS_KEY_ID=… and "
            "AWS_SECRET_ACCESS_KEY=… on lines of their own",
        )
        _declare_passfile(made)
    elif does == "grant":
        made.add_argument("reader", metavar="READER", help="the role of the reader")
        made.add_argument(
            "scope",
            metavar="OWNER|TEAM",
            help="whose outputs it may read; write owner:NAME or team:NAME if an owner and a team have the same name",
        )
        made.add_argument("--revoke", action="store_true", help="revoke the right to read that an earlier call granted")
        _declare_passfile(made)
    elif does == "retention":
        made.add_argument("days", nargs="?", metavar="DAYS", type=days_of, help="how many days, such as 30d")
        made.add_argument("--dry-run", action="store_true", help="set nothing, and list what these days would let go")
    elif does == "verify":
        made.add_argument("--contents", action="store_true", help="also fetch every object, and check each byte in it")
    return made


@contextlib.contextmanager
def _opened(given: Namespace) -> "Iterator[Connection]":
    """Open the database, with the rights of the user that the address names."""
    if _MISSING:
        raise ExtraMissing(_MISSING) from _MISSING
    settings = load_settings(os.path.join(default_root(), "config.toml")).fleet
    known = settings.db or settings.store
    if not (given.db or known):
        raise UsageError("no database is named", "give --db postgresql://user@host/db, or set [fleet] db")
    given.database = database_address(given.db or known)
    if hasattr(given, "objects"):
        if not (given.objects or settings.objects):
            raise UsageError("no object store is named", "give --objects s3://bucket/prefix")
        given.objects = objects_address(given.objects or settings.objects)
    with connected(given.database, password_program(settings, given.database), patient=True) as connection:
        yield connection


def _declare_passfile(made: CommandParser) -> None:
    made.add_argument("--passfile", metavar="FILE", help="write the password into this new file (default: ROLE.pgpass)")


def init(given: Namespace) -> int:
    """Make a fleet, and return the exit code."""
    with _opened(given) as connection:
        objects = given.objects
        done = administration.initialise(connection, objects, given.retention)
        retention = tables_of(connection).retention_days
        maintain(connection)
        if given.json:
            print_json({"done": done, "retention_days": retention, "objects": str(objects)})
            return 0
        write_out(
            f"{'made: ' + ', '.join(done) if done else 'it is there, and of this version'}\n\n"
            f"the bucket's lifecycle, so that bytes go {administration.LIFECYCLE_DAYS_MORE} days after their rows:\n"
            f"{administration.lifecycle(objects, retention)}\n\n"
            "next: `sightline fleet add-host NAME`, and each day `sightline fleet maintain`\n"
        )
        return 0


def add_host(given: Namespace) -> int:
    """Add a host, and return the exit code."""
    with _opened(given) as connection:
        objects = objects_address(tables_of(connection).objects)
        rights = administration.object_rights(objects, given.team, given.host)
        if given.kind == "host" and not given.passfile:
            return _invite(given, connection, objects, rights)
        if given.again or given.key_file:
            raise UsageError("--again and --key-file are for the line with which a host joins", "leave --passfile out")
        owner = given.owner or given.host
        with _Passfile(given, f"sightline_{given.host}") as file:
            added = administration.add_host(
                connection, given.host, team=given.team, owner=owner, kind=given.kind, password=True
            )
            file.write(added.role, added.password)
        settings = administration.host_settings(given.database, objects, added.role)
        if given.json:
            print_json({"role": added.role, "settings": settings, "object_rights": rights, "passfile": file.path})
            return 0
        write_out(
            f"into config.toml of the store on {given.host}:\n{settings}\n"
            f"what its key of the object store may:\n{rights}\n\n"
            f"the role's password is in {file.path}: it goes into the file that PGPASSFILE names there (mode 0600)\n"
        )
        return 0


def _invite(given: Namespace, connection: "Connection", objects: "ObjectsAddress", rights: str) -> int:
    """Print the line with which a host joins; what a person should know of it goes to standard error."""
    key = _key_in(given.key_file) if given.key_file else ("", "")
    if given.again:
        added = administration.invite_again(connection, given.host)
    else:
        owner = given.owner or given.host
        added = administration.add_host(
            connection, given.host, team=given.team, owner=owner, kind="host", password=True, invites=True
        )
    assert added.password is not None
    line = Invitation(str(given.database._replace(user=added.role)), str(objects), added.password, *key).line()
    if given.json:
        print_json({"role": added.role, "line": line, "object_rights": rights})
        return 0
    write_out(f"{line}\n")
    told = f"a secret, good for an hour and for once: `sightline fleet join` reads it on {given.host}\n"
    if not given.key_file:
        told += f"the key of the object store that the host has, or --key-file gives it, may:\n{rights}\n"
    write_err(told)
    return 0


def _key_in(path: str) -> "Key":
    try:
        key = key_in(read_regular(path).decode())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "name a file with the key") from error
    if key is None:
        raise UsageError(f"{path} has no key", "AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=…, a line each")
    return key


def grant(given: Namespace) -> int:
    """Grant somebody the right to read, or revoke it, and return the exit code."""
    with _opened(given) as connection:
        objects = objects_address(tables_of(connection).objects)
        scope = given.scope.partition(":")[2] or given.scope
        if given.revoke:
            kind = administration.revoke(connection, given.reader, given.scope)
            if given.json:
                print_json({"reader": given.reader, kind: scope})
            else:
                write_out(f"{given.reader} no longer reads what the {kind} {scope} has\n")
            return 0
        with _Passfile(given, given.reader) as file:
            granted = administration.grant(connection, given.reader, given.scope)
            file.write(given.reader, granted.password)
        if given.json:
            print_json({"reader": given.reader, granted.kind: scope, "passfile": file.path})
            return 0
        write_out(f"{given.reader} reads what the {granted.kind} {scope} has\n")
        if granted.kind == "team":
            write_out(
                f"what a key of the object store needs for that:\n{administration.reader_rights(objects, [scope])}\n"
            )
        if file.path:
            write_out(f"the role was made; its password is in {file.path}\n")
        return 0


def retention(given: Namespace) -> int:
    """Set the retention, or list what goes when, and return the exit code."""
    with _opened(given) as connection:
        tables = tables_of(connection)
        if given.days is None or given.dry_run:
            _list_going(connection, given.days or tables.retention_days, as_json=given.json)
            return 0
        days = given.days
        administration.set_retention(connection, days)
        if given.json:
            print_json({"retention_days": days})
            return 0
        write_out(
            f"rows are kept for {days} days from the next `fleet maintain` on; the bucket's lifecycle for that:\n"
            f"{administration.lifecycle(objects_address(tables.objects), days)}\n"
        )
        return 0


def _list_going(connection: "Connection", days: int, *, as_json: bool) -> None:
    rows = going(connection, days)
    if as_json:
        print_json({"retention_days": days, "going": [{**row._asdict(), "day": str(row.day)} for row in rows]})
        return
    today = datetime.datetime.now(datetime.UTC).date()
    write_out(f"kept for {days} days; `fleet maintain` then removes\n")
    for row in rows:
        when = "the next time" if row.day <= today else f"on {row.day}"
        stay = f"; {counted(row.pinned, 'pinned output')} stay, {human_bytes(row.pinned_bytes)}" if row.pinned else ""
        gone = f"{counted(row.outputs, 'output')}, {human_bytes(row.bytes)}"
        write_out(printable(f"  {when:14} {row.host:24} {gone}{stay}") + "\n")


def maintain_it(given: Namespace) -> int:
    """Make and drop partitions, and return the exit code."""
    with _opened(given) as connection:
        failure: SightlineError | None = None
        tidied = Tidied(0, 0, 0, 0, [])
        try:
            tidied = Janitor(connection, Objects(objects_address(tables_of(connection).objects))).tidy()
        except StoreFailed as error:  # the partitions are made; old ones that hold a pinned output wait
            failure = error
        done = maintain(connection)
        if given.json:
            print_json({**done._asdict(), **tidied._asdict(), "failure": str(failure) if failure else ""})
        else:
            write_out(
                f"{counted(len(done.made), 'partition')} made, {len(done.dropped):,} dropped, "
                f"{counted(done.rows, 'other row')} let go\n"
                f"purged: {counted(tidied.purged, 'output')} and the texts of {counted(tidied.blanked, 'line')} of logs"
                f"; pinned outputs: {tidied.kept:,} kept past the retention, {tidied.let_go:,} let go\n"
            )
            for problem in tidied.problems:
                write_err(printable(problem) + "\n")
        if failure:
            raise failure
        return int(bool(tidied.problems))


def verify(given: Namespace) -> int:
    """Verify the fleet, and return 1 if something is wrong."""
    with _opened(given) as connection:
        tables = tables_of(connection)
        if newer := may_read(tables):
            write_err(newer + "\n")
        verification = Verification(connection, Objects(objects_address(tables.objects)), contents=given.contents)
        findings = []
        for finding in verification.findings():
            findings.append(finding)
            if not given.json:
                row = printable(f"{finding.kind}: {finding.host}: {finding.text}")
                write_out((red(row) if finding.kind == "problem" else row) + "\n")
        looked = verification.verified
        if given.json:
            print_json({**looked._asdict(), "findings": [finding._asdict() for finding in findings]})
        else:
            how = "every byte of them was read" if given.contents else "--contents reads every byte of them, too"
            write_out(
                f"{counted(looked.hosts, 'host')}: {counted(looked.buffers, 'output')}, "
                f"{counted(looked.entries, 'line')} of logs, {counted(looked.packs, 'pack')} with "
                f"{human_bytes(looked.bytes)}; {how}\n"
            )
        return int(any(finding.kind == "problem" for finding in findings))


def status(given: Namespace) -> int:
    """List the hosts, and return the exit code."""
    with _opened(given) as connection:
        tables = tables_of(connection)
        rows = list(hosts(connection))
        if given.json:
            print_json({**tables._asdict(), "hosts": [row._asdict() for row in rows]})
            return 0
        write_out(
            f"version {tables.version}, rows are kept {tables.retention_days} days, objects at {tables.objects}\n"
        )
        is_usual = any(row.redacts for row in rows)
        for row in rows:
            marks = "".join(f"; {mark}" for mark in _marks(row, version(), redacting_is_usual=is_usual))
            write_out(printable(f"{row.name:24} {row.kind:4} {row.team}/{row.owner}  {_state(row)}{marks}") + "\n")
        return 0


def _marks(row: "HostRow", own: str, *, redacting_is_usual: bool) -> Iterator[str]:
    """Yield what a host should change, as far as it says what it is like.

    Args:
        row: the host.
        own: the version here.
        redacting_is_usual: whether any host of the fleet hides known secrets, which is no default.
    """
    if row.silent_seconds is None:
        return
    if row.version != own:
        yield f"version {row.version} (this one is {own})" if row.version else "its version is not known"
    if row.redacts is False and redacting_is_usual:
        yield "does not hide known secrets, as others do"


def _state(row: "HostRow") -> str:
    if row.silent_seconds is None:
        return "never heard of"
    behind = f"{counted(row.items, 'item')} ({human_bytes(row.bytes)}) behind" if row.items else "all shipped"
    return f"{counted(row.buffers, 'output')}, {behind}, heard of {row.silent_seconds:,.0f} s ago"


def days_of(text: str) -> int:
    """Read a number of days, as ``30d`` or ``30``. Raises ArgumentTypeError."""
    number = text.removesuffix("d")
    if not (number.isdecimal() and 1 <= int(number) <= _MOST_DAYS):
        raise ArgumentTypeError(f"{text!r} is no number of days, such as 30d")
    return int(number)


class _Passfile:
    """A new file for a password. It is made before the role, so that no role exists whose password nobody has."""

    def __init__(self, given: Namespace, role: str) -> None:
        self.path = given.passfile or f"{role}.pgpass"
        self._database: DatabaseAddress = given.database
        self._fd = -1

    def __enter__(self) -> "_Passfile":
        try:
            self._fd = new_file(self.path, 0o600)
        except OSError as error:
            raise SightlineError(
                f"{self.path} cannot be made: {error.strerror}", "name another file: --passfile FILE"
            ) from error
        return self

    def write(self, role: str, password: str | None) -> None:
        """Write the password into the file; without a password, remove the file."""
        if password is not None:
            write_all(self._fd, administration.passfile_line(self._database, role, password).encode())
        else:
            os.unlink(self.path)
            self.path = ""

    def __exit__(self, kind: object, *_: object) -> None:
        os.close(self._fd)
        if kind is not None and self.path:
            os.unlink(self.path)
