"""Makes partitions in advance, and drops old ones: the work of `fleet maintain`, once a day or at any time.

No host depends on it, because rows of a day without a partition go into the one for the rest.
"""

import datetime

from psycopg import sql

from sightline.fleet.administration import LIFECYCLE_DAYS_MORE
from sightline.fleet.database import Connection, lock_for_owner, tables_of
from sightline.fleet.janitor import PINNED, begin_of_kept
from sightline.fleet.schema import PARTITIONED
from sightline.light.named_tuple import NamedTuple

DAYS_AHEAD = 7
_TIME = {"buffers": "created", "changes": "created", "entries": "time"}


class Maintained(NamedTuple):
    """The result of the maintenance.

    Attributes:
        made: partitions that were made.
        dropped: partitions that were dropped.
        rows: number of rows that were removed one by one.
        waiting: due partitions that stay, because a pinned output in them is not kept elsewhere yet.
    """

    made: list[str]
    dropped: list[str]
    rows: int
    waiting: list[str]


def maintain(connection: Connection, today: datetime.date | None = None) -> Maintained:
    """Make the partitions of the next days, and drop what is older than the retention.

    Args:
        connection: a connection as the owner.
        today: the date in UTC; by default from the database's clock.
    """
    with connection.transaction():
        lock_for_owner(connection)
        if today is None:
            row = connection.execute("SELECT (now() AT TIME ZONE 'UTC')::date").fetchone()
            assert row is not None
            today = row[0]
        retention = tables_of(connection).retention_days
        days = [today + datetime.timedelta(days=days) for days in range(-1, DAYS_AHEAD + 1)]
        made, dropped, waiting = [], [], []
        before = begin_of_kept(connection, today)
        for table in PARTITIONED:
            there = _partitions(connection, table)
            made += [_make(connection, table, day) for day in days if day not in there]
            for day in sorted(there):
                name = _name(table, day)
                if day >= before.date():
                    continue
                if table != "entries" and _has_unkept(connection, day):
                    waiting.append(name)
                else:
                    _drop(connection, name, table)
                    dropped.append(name)
        return Maintained(made, dropped, _expire(connection, retention), waiting)


def _has_unkept(connection: Connection, day: datetime.date) -> bool:
    """Return whether a day has a pinned output that is not kept elsewhere yet, so that the day must stay."""
    begin = datetime.datetime.combine(day, datetime.time(), datetime.UTC)
    found = connection.execute(
        (
            "SELECT FROM sightline.buffers AS found WHERE created >= %s AND created < %s"
            f" AND NOT kept AND state <> 'evicted' AND {PINNED} LIMIT 1"
        ).encode(),
        (begin, begin + datetime.timedelta(days=1)),
    )
    return found.fetchone() is not None


def _drop(connection: Connection, name: str, table: str) -> None:
    """Drop a day's partition, after moving its kept rows to the rest."""
    parts = {"parent": sql.Identifier("sightline", table), "partition": sql.Identifier("sightline", name)}
    connection.execute(sql.SQL("ALTER TABLE {parent} DETACH PARTITION {partition}").format(**parts))
    if table == "buffers":
        connection.execute(sql.SQL("INSERT INTO {parent} SELECT * FROM {partition} WHERE kept").format(**parts))
    connection.execute(sql.SQL("DROP TABLE {partition}").format(**parts))


def _partitions(connection: Connection, table: str) -> set[datetime.date]:
    rows = connection.execute(
        "SELECT child.relname FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid"
        " WHERE inhparent = %s::regclass",
        (f"sightline.{table}",),
    )
    ends = (name.removeprefix(f"{table}_") for (name,) in rows)
    return {datetime.datetime.strptime(end, "%Y%m%d").date() for end in ends if end.isdigit()}


def _name(table: str, day: datetime.date) -> str:
    return f"{table}_{day:%Y%m%d}"


def _make(connection: Connection, table: str, day: datetime.date) -> str:
    """Make a day's partition, and move rows from the rest into it."""
    name, rest = _name(table, day), f"{table}_rest"
    begin, end = f"{day} 00:00+00", f"{day + datetime.timedelta(days=1)} 00:00+00"
    parts = {
        "parent": sql.SQL("sightline.{}").format(sql.Identifier(table)),
        "name": sql.SQL("sightline.{}").format(sql.Identifier(name)),
        "rest": sql.SQL("sightline.{}").format(sql.Identifier(rest)),
        "begin": sql.Literal(begin),
        "end": sql.Literal(end),
        "time": sql.Identifier(_TIME[table]),
    }
    in_rest = sql.SQL("{rest} WHERE {time} >= {begin} AND {time} < {end}").format(**parts)
    make = sql.SQL("CREATE TABLE {name} PARTITION OF {parent} FOR VALUES FROM ({begin}) TO ({end})").format(**parts)
    if connection.execute(sql.SQL("SELECT 1 FROM {} LIMIT 1").format(in_rest)).fetchone() is None:
        connection.execute(make)
        return name
    connection.execute(sql.SQL("ALTER TABLE {parent} DETACH PARTITION {rest}").format(**parts))
    connection.execute(make)
    connection.execute(sql.SQL("INSERT INTO {name} SELECT * FROM {rows}").format(**parts, rows=in_rest))
    connection.execute(sql.SQL("DELETE FROM {}").format(in_rest))
    connection.execute(sql.SQL("ALTER TABLE {parent} ATTACH PARTITION {rest} DEFAULT").format(**parts))
    return name


def _expire(connection: Connection, retention: int) -> int:
    """Remove rows that belong to no day's partition."""
    count: int = 0
    for table in PARTITIONED:
        done = connection.execute(
            sql.SQL("DELETE FROM sightline.{} AS found WHERE announced < now() - make_interval(days => %s)").format(
                sql.Identifier(f"{table}_rest")
            )
            + sql.SQL(f" AND NOT kept AND NOT ({PINNED})" if table == "buffers" else ""),
            (retention,),
        )
        count += done.rowcount
    count += connection.execute(
        "DELETE FROM sightline.packs WHERE NOT kept AND announced < now() - make_interval(days => %s)",
        (retention + LIFECYCLE_DAYS_MORE,),
    ).rowcount
    count += connection.execute(
        "DELETE FROM sightline.sessions WHERE announced < now() - make_interval(days => %s) AND NOT EXISTS"
        " (SELECT FROM sightline.entries WHERE entries.host = sessions.host AND entries.session = sessions.name)",
        (retention,),
    ).rowcount
    count += connection.execute(
        "DELETE FROM sightline.facts WHERE NOT EXISTS (SELECT FROM sightline.buffers WHERE buffers.host = facts.host"
        " AND buffers.created = facts.created AND buffers.name = facts.name)"
    ).rowcount
    for table in ("judgements", "alarms"):
        count += connection.execute(
            f"DELETE FROM sightline.{table} WHERE told < now() - make_interval(days => %s)".encode(),  # noqa: S608
            (retention,),
        ).rowcount
    count += connection.execute("DELETE FROM sightline.live WHERE told < now() - interval '1 hour'").rowcount
    count += connection.execute(
        "DELETE FROM sightline.running WHERE host IN"
        " (SELECT id FROM sightline.hosts WHERE seen < now() - interval '1 day')"
    ).rowcount
    count += connection.execute(
        "DELETE FROM sightline.remarks WHERE made < now() - make_interval(days => %s)", (retention,)
    ).rowcount
    count += connection.execute("DELETE FROM sightline.watches WHERE until < now()").rowcount
    return count
