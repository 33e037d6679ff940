"""The index's rows about what outputs cost as a part of later requests, kept by session until its log grows."""

from sightline.base.price_row import KindSum, PriceRow
from sightline.disk.database import Database
from sightline.disk.sqlite import sqlite3
from sightline.light.json_text import dumps
from sightline.light.typing_names import Any, Iterable, Mapping, Sequence

_COLUMNS = ", ".join(PriceRow._fields)
_SUMS = (
    "COUNT(*), SUM(tokens), SUM(carried), COALESCE(SUM(dollars), 0.0), SUM(again), SUM(dollars IS NULL), SUM(at_least),"
    " SUM(measure = 'estimated')"
)


class PriceRows:
    """Statements on what outputs cost. All of it can be worked out again."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def made_from(self) -> dict[str, str]:
        """Return for each session that is kept what its rows were worked out from."""
        return {str(name): str(made) for name, made in self._db.rows("SELECT session, made_from FROM priced_sessions")}

    def put(self, session: str, made_from: str, rows: Iterable[PriceRow]) -> None:
        """Replace the rows of a session; where nothing can be written, in a copy of this connection's."""
        kept = list(rows)
        try:
            with self._db.writing():
                self._replace(session, made_from, kept)
        except sqlite3.OperationalError:
            for table in ("priced_sessions", "output_prices"):
                self._db.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} AS SELECT * FROM main.{table}")  # noqa: S608
            self._replace(session, made_from, kept)

    def _replace(self, session: str, made_from: str, rows: list[PriceRow]) -> None:
        marks = ", ".join("?" * len(PriceRow._fields))
        self._db.execute("DELETE FROM output_prices WHERE session = ?", (session,))
        self._db.execute("DELETE FROM priced_sessions WHERE session = ?", (session,))
        self._db.execute_all(f"INSERT INTO output_prices ({_COLUMNS}) VALUES ({marks})", rows)  # noqa: S608
        self._db.execute("INSERT INTO priced_sessions VALUES (?, ?)", (session, made_from))

    def forget(self) -> None:
        """Remove all rows, to be worked out again."""
        with self._db.writing():
            self._db.execute("DELETE FROM output_prices")
            self._db.execute("DELETE FROM priced_sessions")

    def dearest(self, most: int, *, since: float = 0.0, sessions: Iterable[str] | None = None) -> list[PriceRow]:
        """Return the dearest outputs; those without a price behind all others, by their tokens.

        Args:
            most: number of outputs at most.
            since: only those that were first shown since this time, in seconds since the epoch.
            sessions: only those of these sessions; None for all.
        """
        where, parameters = _scope(since, sessions)
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM output_prices WHERE {where}"  # noqa: S608
            " ORDER BY COALESCE(dollars, 0.0) DESC, carried DESC, session, view LIMIT ?",
            (*parameters, most),
        )
        return [PriceRow._make((*row[:11], bool(row[11]), row[12])) for row in rows]

    def by_kind(self, *, since: float = 0.0, sessions: Iterable[str] | None = None) -> list[KindSum]:
        """Return sums by the kind of command, the dearest first; arguments as for `dearest`."""
        where, parameters = _scope(since, sessions)
        rows = self._db.rows(
            f"SELECT kind, {_SUMS} FROM output_prices WHERE {where} GROUP BY kind"  # noqa: S608
            " ORDER BY 5 DESC, 4 DESC, 1",
            parameters,
        )
        return [KindSum(*row) for row in rows]

    def of(self, outputs: Iterable[str]) -> Mapping[str, Sequence[PriceRow]]:
        """Return what is kept of some outputs, by output: a row for each session that was shown it."""
        found = dict[str, list[PriceRow]]()
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM output_prices WHERE output IN (SELECT value FROM json_each(?))",  # noqa: S608
            (dumps(list(outputs)),),
        )
        for row in rows:
            found.setdefault(str(row[1]), []).append(PriceRow._make((*row[:11], bool(row[11]), row[12])))
        return found


def _scope(since: float, sessions: Iterable[str] | None) -> tuple[str, list[Any]]:
    if sessions is None:
        return "time >= ?", [since]
    return "time >= ? AND session IN (SELECT value FROM json_each(?))", [since, dumps(list(sessions))]
