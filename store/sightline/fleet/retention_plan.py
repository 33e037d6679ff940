"""Lists what a fleet lets go, and when: by the day that it goes on, and by host."""

import datetime

from sightline.fleet.database import Connection
from sightline.fleet.janitor import PINNED
from sightline.light.named_tuple import NamedTuple

_GOING = f"""
SELECT (found.created AT TIME ZONE 'UTC')::date + %s + 1, hosts.name,
    count(*) FILTER (WHERE NOT stays), coalesce(sum(found.bytes) FILTER (WHERE NOT stays), 0)::bigint,
    count(*) FILTER (WHERE stays), coalesce(sum(found.bytes) FILTER (WHERE stays), 0)::bigint
FROM sightline.buffers AS found JOIN sightline.hosts ON hosts.id = found.host,
    LATERAL (SELECT found.kept OR coalesce({PINNED}, false) AS stays) AS pin
WHERE found.state <> 'evicted' GROUP BY 1, 2 ORDER BY 1, 2
"""  # noqa: S608 - values come as parameters


class Going(NamedTuple):
    """What of a host goes on a day.

    Attributes:
        day: the day, in UTC, on which `fleet maintain` removes it.
        host: name of the host.
        outputs: number of its outputs that go.
        bytes: bytes of their streams.
        pinned: number of its outputs of that age that stay, since they are pinned.
        pinned_bytes: bytes of these.
    """

    day: datetime.date
    host: str
    outputs: int
    bytes: int
    pinned: int
    pinned_bytes: int


def going(connection: Connection, retention: int) -> list[Going]:
    """Return what goes, the soonest first; what is due has a day that has passed.

    Args:
        connection: a connection as the owner.
        retention: for how many days rows are kept: those that are set, or others, to see what they would do.
    """
    return [Going(*row) for row in connection.execute(_GOING.encode(), (retention,))]
