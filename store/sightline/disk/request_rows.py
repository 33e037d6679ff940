"""The index's rows about requests to models: which tokens each took, and their sums."""

from itertools import chain

from sightline.base.request_usage import COUNTS, MOST_TOKENS, RequestSum, RequestUsage
from sightline.disk.database import Database
from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Iterable, Iterator, Sequence

_BLANKED = 1 << 62  # fullness of a request whose numbers were removed, so that none replaces it


class RequestRow(NamedTuple):
    """A request as the index has it; see `base.request_usage.RequestUsage`. A row without a model was blanked."""

    id: str
    session: str
    time: float
    model: str | None
    fresh: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_1h: int | None = None
    output: int | None = None
    reasoning: int | None = None
    computed: str = ""
    at_least: str = ""
    tier: str = ""
    own_price: float | None = None


def row_of_entry(session: str, entry: dict[str, Any]) -> RequestRow:
    """Return the row of an entry of a session's log.

    Raises:
        KeyError, TypeError, ValueError: the entry was changed from outside.
    """
    about, counts = entry["request"], list[int | None]()
    if "model" not in about:
        return RequestRow(str(entry["id"]), session, float(entry["time"]), None)
    for name in COUNTS:
        count = about.get(name)
        if count is not None and (type(count) is not int or not 0 <= count < MOST_TOKENS):
            raise ValueError(f"{name} is not a count")
        counts.append(count)
    marks = (" ".join(map(str, about.get(name, ()))) for name in ("computed", "at_least"))
    price = None if about.get("own_price") is None else float(about["own_price"])
    fixed = (str(entry["id"]), session, float(entry["time"]), str(about["model"]))
    return RequestRow._make((*fixed, *counts, *marks, str(about.get("tier", "")), price))


_COLUMNS = ", ".join(RequestRow._fields)
_USAGE = ", ".join(RequestUsage._fields[:-1])
_BETTER = ", ".join(f"{name} = excluded.{name}" for name in RequestRow._fields[3:])
_FULLNESS = "2 * COALESCE({0}.output, -1) + ({0}.at_least = '')"
"""See `RequestUsage.fullness`."""

_PUT = (
    f"INSERT INTO requests ({_COLUMNS}) VALUES ({', '.join('?' * len(RequestRow._fields))})"  # noqa: S608
    f" ON CONFLICT (id) DO UPDATE SET time = MIN(time, excluded.time), {_BETTER}"
    f" WHERE requests.model IS NOT NULL AND (excluded.model IS NULL OR {_FULLNESS.format('excluded')}"
    f" > {_FULLNESS.format('requests')})"
)
_SUMS = ", ".join(
    [
        "COUNT(*)",
        *(f"COALESCE(SUM({name}), 0)" for name in COUNTS),
        "SUM(fresh IS NULL OR cache_read IS NULL OR (cache_write IS NULL AND cache_write_1h IS NULL))",
        "SUM(output IS NULL)",
        "SUM(at_least <> '')",
        "SUM(computed <> '')",
        "COALESCE(SUM(own_price), 0.0)",
        "COUNT(own_price)",
    ]
)
_CONTEXT = " + ".join(f"COALESCE({name}, 0)" for name in COUNTS[:4])
_CACHED = " + ".join(f"COALESCE({name}, 0)" for name in COUNTS[1:4])
_HAS_INPUT = f"COALESCE({', '.join(COUNTS[:4])}) IS NOT NULL"
_GROUPS = {"day": "date(time, 'unixepoch', 'localtime')", "session": "session", "": "''"}


class RequestRows:
    """Statements on requests. The audit files are the truth."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def put(self, rows: Sequence[RequestRow]) -> None:
        """Insert requests; a known one is replaced by a record with more output, or with none if it was blanked.

        Its time stays that of its first record.
        """
        with self._db.writing():
            self._db.execute_all(_PUT, rows)

    def known(self, ids: Iterable[str]) -> dict[str, int]:
        """Return those of these ids that are known, with their fullness, which is above all others if blanked."""
        statement = (
            f"SELECT id, CASE WHEN model IS NULL THEN ? ELSE {_FULLNESS.format('requests')} END FROM requests"  # noqa: S608
            " WHERE id IN (SELECT value FROM json_each(?))"
        )
        return {str(name): fullness for name, fullness in self._db.rows(statement, (_BLANKED, dumps(list(ids))))}

    def of(self, sessions: Iterable[str] | None = None) -> dict[str, list[RequestUsage]]:
        """Return the requests of some sessions, or of all, by session and in order of time, but those blanked."""
        found = dict[str, list[RequestUsage]]()
        among = "1" if sessions is None else "session IN (SELECT value FROM json_each(?))"
        for session, usage in self._usages(among, [] if sessions is None else [dumps(list(sessions))]):
            found.setdefault(session, []).append(usage)
        return found

    def without_cache(
        self, least: int, share: float, sessions: Iterable[str] | None = None, *, since: float = 0.0
    ) -> list[tuple[str, RequestUsage, RequestUsage]]:
        """Return requests that read little of what was cached: session, the request before, and each itself.

        Args:
            least: tokens that the request before has read from the cache or written to it, at least.
            share: the share of these, or of the context if that is smaller, that is not little any more.
            sessions: only requests of these sessions; None for all.
            since: only requests since this time, in seconds since the epoch.
        """
        among, given = "1", list[Any]()
        if sessions is not None:
            among, given = "session IN (SELECT value FROM json_each(?))", [dumps(list(sessions))]
        pairs = self._db.rows(
            f"WITH steps AS (SELECT id, time, {_CONTEXT} AS context, COALESCE(cache_read, 0) AS read,"  # noqa: S608
            f" LAG(id) OVER steps AS earlier, LAG({_CACHED}) OVER steps AS cached"
            f" FROM requests WHERE model IS NOT NULL AND {_HAS_INPUT} AND {among}"
            " WINDOW steps AS (PARTITION BY session ORDER BY time))"
            " SELECT earlier, id FROM steps WHERE cached >= ? AND read < ? * MIN(cached, context) AND time >= ?",
            [*given, least, share, since],
        )
        wanted = "id IN (SELECT value FROM json_each(?))"
        of_id = {usage.id: (session, usage) for session, usage in self._usages(wanted, [dumps([*{*chain(*pairs)}])])}
        return [(of_id[one][0], of_id[before][1], of_id[one][1]) for before, one in pairs]

    def _usages(self, where: str, parameters: Sequence[Any]) -> Iterator[tuple[str, RequestUsage]]:
        """Yield requests with their sessions, in order of time."""
        statement = f"SELECT session, {_USAGE} FROM requests WHERE model IS NOT NULL AND {where} ORDER BY time"  # noqa: S608
        for session, *counts, computed, at_least, tier, price in self._db.rows(statement, parameters):
            usage = (*counts, tuple(computed.split()), tuple(at_least.split()), tier, price, ())
            yield session, RequestUsage._make(usage)

    def models(self) -> list[str]:
        """Return the names of the models that requests were made to."""
        return [str(name) for (name,) in self._db.rows("SELECT DISTINCT model FROM requests WHERE model IS NOT NULL")]

    def sessions(self) -> list[str]:
        """Return the names of the sessions that made requests."""
        return [str(name) for (name,) in self._db.rows("SELECT DISTINCT session FROM requests WHERE model IS NOT NULL")]

    def blank(self, session: str) -> None:
        """Remove all numbers of a session's requests."""
        gone = ", ".join(f"{name} = NULL" for name in ("model", *COUNTS, "own_price"))
        self._db.execute(f"UPDATE requests SET {gone}, tier = '' WHERE session = ?", (session,))  # noqa: S608

    def forget(self) -> None:
        """Remove all rows, so that they can be indexed anew."""
        self._db.execute("DELETE FROM requests")

    def sums(
        self,
        group: str,
        *,
        since: float = 0.0,
        sessions: Iterable[str] | None = None,
        times: Sequence[float] = (),
        sizes: Sequence[int] = (),
    ) -> list[RequestSum]:
        """Return sums of requests by group, model and whatever else changes a price.

        Args:
            group: ``day`` of this machine's clock, ``session``, or empty for one group.
            since: only requests since this time, in seconds since the epoch.
            sessions: only requests of these sessions; None for all.
            times: times at which prices changed, in seconds since the epoch.
            sizes: sizes of a context, in tokens, above which prices differ.
        """
        parameters: list[Any] = [*times, *sizes, since]
        period = " + ".join(["0", *("(time >= ?)" for _ in times)])
        band = " + ".join(["0", *(f"({_CONTEXT} > ?)" for _ in sizes)])
        where = "model IS NOT NULL AND time >= ?"
        if sessions is not None:
            where += " AND session IN (SELECT value FROM json_each(?))"
            parameters.append(dumps(list(sessions)))
        rows = self._db.rows(
            f"SELECT {_GROUPS[group]}, model, tier, {period}, {band}, {_SUMS} FROM requests"  # noqa: S608
            f" WHERE {where} GROUP BY 1, 2, 3, 4, 5 ORDER BY 1",
            parameters,
        )
        return [RequestSum(*row) for row in rows]
