"""Announces a batch: one transaction with all of its rows, which counts only if the cursor is where it should be."""

from psycopg import errors

from sightline.base.errors import SightlineError
from sightline.fleet.batch import Batch, QueueCursor
from sightline.fleet.database import Connection
from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any


class Fenced(SightlineError):
    """Another shipper was first, or the cursor is not of this queue; nothing was announced."""


class OwnHost(NamedTuple):
    """What the fleet knows about this store.

    Attributes:
        id: its number.
        name: its name for readers.
        team: its team, to whose readers it may be granted.
        member: the role under which it ships, and the prefix for its packs.
        cursor: how far it has announced.
        is_watched: whether somebody looks at its running outputs.
    """

    id: int
    name: str
    team: str
    member: str
    cursor: QueueCursor
    is_watched: bool


# The columns of each table, in JSON. `on conflict` names none, which is denied to a role that may only add.
_COLUMNS = {
    "packs": "sha256 text, day date, bytes bigint, raw bigint",
    "buffers": "seq bigint, name text, created float8, ended float8, kind text, state text, session text, command text,"
    " cwd text, label text, exit_code integer, failed boolean, partial text, bytes bigint, lines bigint, record jsonb,"
    " packs jsonb, frames jsonb, redacted integer",
    "changes": "seq bigint, name text, created float8, digest text, record jsonb",
    "sessions": "name text, started float8, record jsonb",
    "entries": "seq bigint, session text, number bigint, time float8, kind text, refs jsonb, record jsonb, prev text,"
    " hash text, redacted integer, pack text, frame_offset bigint, frame_bytes bigint, line_offset bigint,"
    " line_bytes bigint",
}
_TIMES = ("created", "ended", "started", "time")
_HASHES = ("sha256", "pack")


def _insert(table: str) -> str:
    names = [column.split()[0] for column in _COLUMNS[table].split(", ")]
    values = []
    for name in names:
        value = f"given.{name}"
        if name in _TIMES:
            value = f"to_timestamp({value})"
        elif name in _HASHES:
            value = f"decode({value}, 'hex')"
        elif name == "packs":
            value = f"ARRAY(SELECT decode(one, 'hex') FROM jsonb_array_elements_text({value}) AS one)"  # noqa: S608 - names of ours
        elif name == "refs":
            value = f"ARRAY(SELECT jsonb_array_elements_text({value}))"
        values.append(value)
    columns = ", ".join("raw_bytes" if name == "raw" else name for name in names)
    return (
        f"INSERT INTO sightline.{table} (host, {columns}) SELECT %s, {', '.join(values)}"  # noqa: S608
        f" FROM jsonb_to_recordset(%s::jsonb) AS given ({_COLUMNS[table]}) ON CONFLICT DO NOTHING"
    )


_INSERTS = {table: _insert(table) for table in _COLUMNS}


def enter(connection: Connection, store: str, wish: str) -> OwnHost:
    """Return what the fleet knows about a store, which gets a name the first time.

    Args:
        connection: a connection as the host's role.
        store: id of the store, in hex.
        wish: the wanted name among those of its role, for a role of CI.
    """
    connection.execute("SELECT sightline.enter(%s::uuid, %s)", (store, wish))
    row = connection.execute(
        (
            "SELECT id, name, team, member, shipped_seq, shipped_mark, EXISTS (SELECT FROM sightline.watches"
            " WHERE host = id AND until > now()) FROM sightline.hosts WHERE store = %s::uuid"
        ),
        (store,),
    ).fetchone()
    if row is None:
        raise Fenced("the fleet has no host of this store", "ask the fleet's owner: `sightline fleet status`")
    number, name, team, member, seq, mark, watched = row
    return OwnHost(number, name, team, member, QueueCursor(seq, mark), watched)


def announce(connection: Connection, host: OwnHost, batch: Batch, behind: dict[str, Any]) -> None:
    """Announce a batch whose packs are stored: all of it, or nothing if it raises.

    Args:
        connection: a connection as the host's role.
        host: the host.
        batch: the batch.
        behind: how much still waits, for the owner's status.

    Raises:
        Fenced: the cursor is not where the batch begins.
        psycopg.DataError: the database does not accept a row.
    """
    with connection.transaction():
        moved = connection.execute(
            (
                "UPDATE sightline.hosts SET shipped_seq = %s, shipped_mark = %s, seen = now(), behind = %s::jsonb"
                " WHERE id = %s AND shipped_seq = %s AND shipped_mark = %s"
            ),
            (*batch.end, dumps(behind), host.id, *batch.begin),
        )
        if moved.rowcount != 1:
            raise Fenced("another shipper of this store was first", "it goes on from there")
        tables = {"packs": [row._asdict() for row in batch.packs], **batch.rows._asdict()}
        for table, rows in tables.items():
            if rows:
                connection.execute(_INSERTS[table], (host.id, dumps(rows)))


def greet(connection: Connection, host: OwnHost, behind: dict[str, Any]) -> None:
    """Tell the fleet that the host is there, and how much waits."""
    connection.execute(
        "UPDATE sightline.hosts SET seen = now(), behind = %s::jsonb WHERE id = %s",
        (dumps(behind), host.id),
    )


UNFIT = (errors.DataError, errors.IntegrityError, errors.ProgramLimitExceeded)
"""Errors of the database for a row that it can never accept."""
