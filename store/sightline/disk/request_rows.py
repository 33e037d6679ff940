"""The index's rows about requests to models: which tokens each took, and their sums."""

from sightline.base.request_usage import COUNTS, MOST_TOKENS, RequestSum, RequestUsage
from sightline.disk.database import Database
from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Iterable, Sequence

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
        where, parameters = "model IS NOT NULL", list[Any]()
        if sessions is not None:
            where += " AND session IN (SELECT value FROM json_each(?))"
            parameters.append(dumps(list(sessions)))
        found = dict[str, list[RequestUsage]]()
        statement = f"SELECT session, {_USAGE} FROM requests WHERE {where} ORDER BY time"  # noqa: S608
        for session, *fields in self._db.rows(statement, parameters):
            *counts, computed, at_least, tier, price = fields
            usage = (*counts, tuple(computed.split()), tuple(at_least.split()), tier, price, ())
            found.setdefault(session, []).append(RequestUsage._make(usage))
        return found

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
