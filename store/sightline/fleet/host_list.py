"""Lists the hosts of a fleet, as far as the role that asks may know of them."""

from collections.abc import Iterator

from sightline.fleet.database import Connection
from sightline.light.named_tuple import NamedTuple


class HostRow(NamedTuple):
    """A host, with what it has shipped.

    Attributes:
        name: name of the host; of a member under which nothing was shipped yet, the member's.
        team: its team.
        owner: its owner.
        kind: ``host`` or ``ci``.
        seen: when the fleet last heard from it, by the database's clock, seconds since the epoch; 0 for never.
        silent_seconds: seconds since then; None for never.
        items: number of items that it had still to ship then.
        bytes: their bytes.
        oldest: when the oldest of them was done, by the host's clock, seconds since the epoch; 0 for none.
        buffers: number of its buffers that the fleet has.
        failed: number of those that failed.
        stored_bytes: bytes of their streams.
        version: version of Sightline that ships, as the host says; empty if it does not, as older versions do not.
        redacts: whether it hides known secrets in what it ships, as the host says; None if it does not say.
    """

    name: str
    team: str
    owner: str
    kind: str
    seen: float = 0.0
    silent_seconds: float | None = None
    items: int = 0
    bytes: int = 0
    oldest: float = 0.0
    buffers: int = 0
    failed: int = 0
    stored_bytes: int = 0
    version: str = ""
    redacts: bool | None = None


_HOSTS = f"""
SELECT name, team, owner, kind, extract(epoch FROM seen)::float8, extract(epoch FROM now() - seen)::float8,
    {
    ", ".join(
        f"CASE jsonb_typeof(behind -> '{key}') WHEN 'number' THEN (behind ->> '{key}')::numeric ELSE 0 END::float8"
        for key in ("items", "bytes", "oldest")
    )
},
    count, failed, stored, CASE jsonb_typeof(behind -> 'version') WHEN 'string' THEN left(behind ->> 'version', 40)
    ELSE '' END, CASE jsonb_typeof(behind -> 'redacts') WHEN 'boolean' THEN (behind ->> 'redacts')::boolean END
FROM sightline.hosts, LATERAL (
    SELECT count(*), count(*) FILTER (WHERE kept.failed) AS failed, coalesce(sum(kept.bytes), 0)::bigint AS stored
    FROM sightline.buffers AS kept WHERE host = id
) AS shipped ORDER BY seen DESC
"""  # noqa: S608 - the keys are ours


def hosts(connection: Connection) -> Iterator[HostRow]:
    """Yield the hosts, those last heard from first, and then the members under which nothing was shipped yet.

    A reader may know of hosts that it reads, and of no members.
    """
    for row in connection.execute(_HOSTS):
        made = HostRow(*row)
        yield made._replace(items=int(made.items), bytes=int(made.bytes))
    allowed = connection.execute("SELECT has_table_privilege('sightline.members', 'SELECT')").fetchone()
    if allowed == (False,):
        return
    for row in connection.execute(
        "SELECT name, team, owner, kind FROM sightline.members AS known"
        " WHERE NOT EXISTS (SELECT FROM sightline.hosts WHERE member = known.name) ORDER BY name"
    ):
        yield HostRow(*row)
