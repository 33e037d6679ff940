"""Adds up what requests to models took, in the shared database: from rows of logs alone, without any output.

Hosts ship these rows only with ``[fleet] messages = true``. A request that was logged again, with more output, counts
once for its host, by its fullest row. What a host says of itself can change nobody else's numbers.
"""

import time
from collections.abc import Callable, Iterable, Sequence

from sightline.base.request_usage import COUNTS, MOST_TOKENS, RequestSum
from sightline.fleet.reader.rows import SharedRows

_HOUR = 3600
"""Requests are added up by the hour, so that the days are those of the reader's clock."""


def _member(name: str, least: str = "0") -> str:
    """Return SQL for a number of a request; NULL for what is no such number."""
    value = f"(about -> '{name}')::numeric"
    is_sound = f"{value} >= {least} AND {value} < {MOST_TOKENS}"
    return f"CASE WHEN jsonb_typeof(about -> '{name}') = 'number' AND {is_sound} THEN {value} END"


_IS_EXACT = "(about -> 'at_least' IS NULL OR about -> 'at_least' IN ('[]', '\"\"'))"
_REQUESTS = f"""
WITH told AS (
    SELECT host.name AS host, host.team, found.session, found.record ->> 'id' AS id,
        extract(epoch FROM found.time)::float8 AS time, found.record -> 'request' AS about
    FROM sightline.entries AS found JOIN sightline.hosts AS host ON host.id = found.host
    WHERE found.kind = 'usage' AND found.time >= to_timestamp(%(since)s)
        AND jsonb_typeof(found.record -> 'request' -> 'model') = 'string'
        AND NOT EXISTS (SELECT FROM sightline.entries AS gone WHERE gone.kind = 'removed' AND gone.host = found.host
            AND gone.session = found.session AND gone.number > found.number)
        AND (%(session)s = '' OR host.name || '/' || found.session = %(session)s)
), requests AS (
    SELECT DISTINCT ON (host, id) host, team, session, time, about ->> 'model' AS model,
        coalesce(about ->> 'tier', '') AS tier, {", ".join(f"{_member(name)} AS {name}" for name in COUNTS)},
        NOT {_IS_EXACT} AS is_least, about -> 'computed' IS NOT NULL AS is_computed, {_member("own_price")} AS own_price
    FROM told ORDER BY host, id, 2 * coalesce({_member("output")}, -1) + {_IS_EXACT}::integer DESC, time
)
"""  # noqa: S608 - names of ours
_CONTEXT = " + ".join(f"coalesce({name}, 0)" for name in COUNTS[:4])
_SUMS = ", ".join(
    (
        "count(*)",
        *(f"coalesce(sum({name}), 0)::bigint" for name in COUNTS),
        "count(*) FILTER (WHERE fresh IS NULL OR cache_read IS NULL"
        " OR (cache_write IS NULL AND cache_write_1h IS NULL))",
        "count(*) FILTER (WHERE output IS NULL)",
        "count(*) FILTER (WHERE is_least)",
        "count(*) FILTER (WHERE is_computed)",
        "coalesce(sum(own_price), 0)::float8",
        "count(own_price)",
    )
)
_GROUPS = {
    "day": f"(floor(time / {_HOUR}) * {_HOUR})::bigint::text",
    "session": "host || '/' || session",
    "host": "host",
    "team": "team",
    "": "''",
}


class SharedRequests:
    """The sums of requests that hosts have shipped. Its methods raise FleetUnreachable, FleetRefused."""

    def __init__(self, rows: SharedRows, know: Callable[[Sequence[str]], None]) -> None:
        """Prepare; nothing is asked yet.

        Args:
            rows: the statements for the database.
            know: takes in the records of sessions, given their names.
        """
        self._rows, self._know = rows, know

    def models(self) -> list[str]:
        """Return the names of the models that requests were made to."""
        statement = f"{_REQUESTS} SELECT DISTINCT model FROM requests ORDER BY model"  # noqa: S608 - names of ours
        return [str(name) for (name,) in self._rows.asked(statement, {"since": 0.0, "session": ""})]

    def sums(
        self,
        group: str,
        *,
        since: float = 0.0,
        sessions: Iterable[str] | None = None,
        times: Sequence[float] = (),
        sizes: Sequence[int] = (),
    ) -> list[RequestSum]:
        """Return sums of requests, as `disk.request_rows.RequestRows.sums` does; also by ``host`` and ``team``.

        Of several sessions, the first is meant.
        """
        period = " + ".join(["0", *(f"(time >= {when!r})::integer" for when in times)])
        band = " + ".join(["0", *(f"({_CONTEXT} > {int(size)})::integer" for size in sizes)])
        rows = self._rows.asked(
            f"{_REQUESTS} SELECT {_GROUPS[group]}, model, tier, {period}, {band}, {_SUMS} FROM requests"  # noqa: S608
            " GROUP BY 1, 2, 3, 4, 5 ORDER BY 1",
            {"since": since, "session": next(iter(sessions or ()), "")},
        )
        found = [RequestSum(*row) for row in rows]
        if group == "session":
            self._know(list({one.group for one in found}))
        if group == "day":
            found = [one._replace(group=time.strftime("%Y-%m-%d", time.localtime(float(one.group)))) for one in found]
        return found
