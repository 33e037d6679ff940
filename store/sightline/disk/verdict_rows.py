"""Rows for the verdict: what was found in each output and session, and sums of it for a scope.

Triggers of the schema put an output in doubt when its row, or a reply about it, changes. What is kept here holds for
the rules that it names. An index that cannot be written to gets a copy of these tables that only its connection has.
"""

from sightline.base.project import ALL, Project, Scope
from sightline.base.records import Buffer, KeptFacts, OutputFacts, ReplyTotals, Tally
from sightline.disk.log_rows import LogRows
from sightline.disk.sqlite import sqlite3
from sightline.light.json_text import dumps
from sightline.light.library import suppress
from sightline.light.typing_names import Any, Iterable, Sequence

_OF_PROJECT = "(project = ? OR (project = '' AND cwd IN (SELECT value FROM json_each(?))))"
_COPIES = {"verdicts": "(judged)", "session_verdicts": "(session)"}
# A tilde stands in the place of the rules while a command runs.
_IN_DOUBT = "(judged < ? OR (judged > ? AND judged < '~'))"
# Each combination of flags is found by a step in the index; there are a few dozen.
_FLAGS_THERE = """
    WITH RECURSIVE one (flags) AS (
        SELECT MIN(flags) FROM verdicts WHERE judged = ?
        UNION ALL
        SELECT (SELECT MIN(flags) FROM verdicts WHERE judged = ? AND verdicts.flags > one.flags)
        FROM one WHERE one.flags IS NOT NULL
    )
    SELECT flags FROM one WHERE flags & ?
"""


class VerdictRows(LogRows):
    """Statements on what is known of outputs and sessions."""

    unwritable = ""
    is_patient = False  # whether to wait for others that write, since nobody waits for what is found
    _copied: int | None = None  # version of the data of which this connection has a copy

    def renew_copies(self) -> None:
        """Use the tables themselves again, or a fresh copy, if this connection has one that may be old."""
        if self._copied is not None and (not self.unwritable or self._copied != self._db.data_version()):
            for table in _COPIES:
                self._db.execute(f"DROP TABLE temp.{table}")
            self._copied = None

    def _change(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Change many rows at once; where nothing can be written now, in a copy."""
        kept = list(rows)
        if self._copied is None:
            with suppress(sqlite3.OperationalError), self._db.hurried(patient=self.is_patient), self._db.writing():
                self._db.execute_all(statement, kept)
                return
            for table, key in _COPIES.items():
                self._db.execute(f"CREATE TEMP TABLE {table} AS SELECT * FROM main.{table}")  # noqa: S608 - ours
                self._db.execute(f"CREATE INDEX temp.copy_of_{table} ON {table} {key}")
            self._copied = self._db.data_version()
        self._db.execute_all(statement, kept)  # of this connection alone, so it waits for nobody

    # outputs

    def in_doubt(self, rules: str, limit: int) -> list[tuple[str, str]]:
        """Return (name, doubt) of outputs that have ended and are not judged by some rules."""
        rows = self._db.rows(
            f"SELECT buffer, judged FROM verdicts WHERE {_IN_DOUBT} LIMIT ?",  # noqa: S608
            (rules, rules, limit),
        )
        return [(str(name), str(doubt)) for name, doubt in rows]

    def count_in_doubt(self, rules: str) -> int:
        """Return the number of these."""
        row = self._db.row(f"SELECT COUNT(*) FROM verdicts WHERE {_IN_DOUBT}", (rules, rules))  # noqa: S608
        return int(row[0]) if row else 0

    def doubts_of(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Return (name, doubt) of some outputs, as far as they have ended."""
        rows = self._db.rows(
            "SELECT buffer, judged FROM verdicts WHERE judged <> '~' AND buffer IN (SELECT value FROM json_each(?))",
            (dumps(list(names)),),
        )
        return [(str(name), str(doubt)) for name, doubt in rows]

    def keep_facts(self, rules: str, found: Iterable[tuple[str, str, OutputFacts]]) -> None:
        """Keep (name, doubt, facts) of outputs, except of those that came in doubt again since."""
        self._change(
            "UPDATE verdicts SET judged = ?, flags = ?, failures = ?, unseen = ?, lines = ?, seen = ?, again = ?"
            " WHERE buffer = ? AND judged = ?",
            [(rules, *facts, name, doubt) for name, doubt, facts in found],
        )

    def place_removed(self, removed: Iterable[Buffer]) -> None:
        """Keep of removed outputs what tells to which scopes they belong."""
        self._change(
            "UPDATE verdicts SET session = ?, project = ?, cwd = ?, created = ? WHERE buffer = ?",
            [(one.session, one.project, one.cwd, one.created, one.name) for one in removed],
        )

    def facts_of(self, rules: str, names: Iterable[str]) -> dict[str, OutputFacts]:
        """Return what is kept of some outputs, by name."""
        rows = self._db.rows(
            "SELECT buffer, flags, failures, unseen, lines, seen, again FROM verdicts"
            " WHERE judged = ? AND buffer IN (SELECT value FROM json_each(?))",
            (rules, dumps(list(names))),
        )
        return {str(row[0]): OutputFacts._make(row[1:]) for row in rows}

    def facts_after(self, rules: str, name: str, limit: int) -> list[KeptFacts]:
        """Return what is kept of the first outputs behind a name, in the order of names, whatever rules judged them."""
        rows = self._db.rows(
            "SELECT buffer, session, iif(project <> '', project, cwd), cwd, created,"
            " EXISTS (SELECT 1 FROM buffers WHERE name = buffer), judged = ?,"
            " flags, failures, unseen, lines, seen, again FROM verdicts WHERE buffer > ? ORDER BY buffer LIMIT ?",
            (rules, name, limit),
        )
        return [KeptFacts._make((*row[:5], *map(bool, row[5:7]), OutputFacts._make(row[7:]))) for row in rows]

    def all_facts(self, rules: str) -> list[tuple[str, int, int, float, bool]]:
        """Return (name, flags, lines, seen lines, whether it is partial) of all outputs that are judged and there."""
        return self._db.rows(
            "SELECT buffer, flags, lines, seen, partial <> '' OR state = 'interrupted'"
            " FROM verdicts JOIN buffers ON name = buffer WHERE judged = ?",
            (rules,),
        )

    def ended_badly(self) -> list[str]:
        """Return the names of the buffers that ended badly, or with an answer, such as *no match*."""
        rows = self._db.rows("SELECT name FROM buffers WHERE exit_code <> 0 OR timed_out OR state = 'interrupted'")
        return [str(name) for (name,) in rows]

    def _counted(self, scope: Scope) -> tuple[str, list[Any]]:
        """Return the condition for the outputs of a scope that count by what is kept here, and its parameters."""
        return _within(scope)

    def tallies(self, rules: str, scope: Scope = ALL, by: str = "''") -> list[tuple[str, Tally]]:
        """Return sums over what is judged in a scope, each with the value of a column by which they are apart."""
        where, parameters = self._counted(scope)
        rows = self._db.rows(
            f"SELECT {by}, flags, COUNT(*), SUM(failures), SUM(unseen), SUM(lines), SUM(seen)"  # noqa: S608
            f" FROM verdicts WHERE judged = ? AND {where} GROUP BY {by}, flags",
            (rules, *parameters),
        )
        return [(str(row[0]), Tally._make(row[1:])) for row in rows]

    def with_flags(
        self,
        rules: str,
        any_of: int,
        scope: Scope = ALL,
        *,
        order: str = "created DESC, buffer DESC",
        limit: int = -1,
    ) -> list[tuple[str, OutputFacts]]:
        """Return (name, facts) of the judged outputs in a scope that have any of some flags, the newest first."""
        where, parameters = self._counted(scope)
        rows = self._db.rows(
            "SELECT buffer, flags, failures, unseen, lines, seen, again FROM verdicts"  # noqa: S608
            f" WHERE judged = ? AND flags IN ({_FLAGS_THERE}) AND {where} ORDER BY {order} LIMIT ?",
            (rules, rules, rules, any_of, *parameters, limit),
        )
        return [(str(row[0]), OutputFacts._make(row[1:])) for row in rows]

    def seals(self, after: str, limit: int) -> list[tuple[str, str]]:
        """Return (name, seals) of the first outputs behind a name that have any, in the order of names."""
        return self._db.rows(
            "SELECT name, seals FROM buffers WHERE name > ? AND seals <> '' AND state <> 'evicted'"
            " ORDER BY name LIMIT ?",
            (after, limit),
        )

    def seen_lines(self) -> dict[str, float]:
        """Return the number of seen lines of each output of which any were shown, as last judged."""
        return dict(self._db.rows("SELECT buffer, seen FROM verdicts WHERE seen > 0"))

    def sessions_about(self, scope: Scope) -> set[str]:
        """Return the names of the sessions that were shown the outputs of a scope."""
        where, parameters = _within(scope)
        rows = self._db.rows(
            f"SELECT DISTINCT replies.session FROM replies JOIN verdicts USING (buffer) WHERE {where}",  # noqa: S608
            parameters,
        )
        return {str(name) for (name,) in rows}

    # sessions

    def session_verdicts(self) -> dict[str, tuple[str, str]]:
        """Return what is kept of sessions, by name: what it was made from, and the record."""
        rows = self._db.rows("SELECT session, judged, record FROM session_verdicts")
        return {str(name): (str(judged), str(record)) for name, judged, record in rows}

    def session_evidence(self, session: str, judged: str) -> str:
        """Return the evidence that is kept of a session, if it was made from this; empty for none."""
        found = self._db.row(
            "SELECT evidence FROM session_verdicts WHERE session = ? AND judged = ?", (session, judged)
        )
        return str(found[0]) if found else ""

    def put_session_verdict(self, session: str, judged: str, record: str, evidence: str) -> None:
        """Keep what was found in a session, and its evidence."""
        statement = "INSERT OR REPLACE INTO session_verdicts (session, judged, record, evidence) VALUES (?, ?, ?, ?)"
        if self._copied is not None:  # the copy has no primary key
            self._change("DELETE FROM session_verdicts WHERE session = ?", [(session,)])
        self._change(statement, [(session, judged, record, evidence)])

    def forget_session_verdicts(self, naming: str = "") -> None:
        """Forget what was found in sessions: in all, or where it names an output."""
        with suppress(sqlite3.OperationalError):
            self._db.execute(
                "DELETE FROM session_verdicts WHERE ? = '' OR instr(record, ?) OR instr(evidence, ?)",
                (naming, naming, naming),
            )

    def forget_verdicts_of(self, sessions: Iterable[str]) -> None:
        """Forget what was found in some sessions."""
        self._change("DELETE FROM session_verdicts WHERE session = ?", [(one,) for one in sessions])

    # replies

    def active_since(self, when: float) -> set[str]:
        """Return the names of sessions that asked or captured anything since a time."""
        rows = self._db.rows(
            "SELECT session FROM replies WHERE time >= ? UNION SELECT session FROM verdicts WHERE created >= ?",
            (when, when),
        )
        return {str(name) for (name,) in rows}

    def reply_totals(self, scope: Scope, unit: int, begun: Iterable[str] = ()) -> ReplyTotals:
        """Return sums over the replies of a scope.

        Args:
            scope: the scope; of a project, those about its outputs.
            unit: bytes of a unit; the last of a reply may be smaller.
            begun: sessions of which replies about no output count for a project, too.
        """
        where, parameters = ["time >= ?"], list[Any]([scope.since])
        if scope.session is not None:
            where.append("replies.session = ?")
            parameters.append(scope.session)
        if scope.project is not None:
            inside, given = _within(Scope(project=scope.project))
            where.append(
                f"(EXISTS (SELECT 1 FROM verdicts WHERE verdicts.buffer = replies.buffer AND {inside})"  # noqa: S608
                " OR replies.session IN (SELECT value FROM json_each(?))"
                " AND NOT EXISTS (SELECT 1 FROM verdicts WHERE verdicts.buffer = replies.buffer))"
            )
            parameters += [*given, dumps(list(begun))]
        row = self._db.row(
            "SELECT COUNT(*), COALESCE(SUM(cut), 0), COALESCE(SUM(bytes), 0), COALESCE(SUM((bytes + ?) / ?), 0)"  # noqa: S608
            f" FROM replies WHERE {' AND '.join(where)}",
            (unit - 1, unit, *parameters),
        )
        return ReplyTotals(*row) if row else ReplyTotals()


def _within(scope: Scope) -> tuple[str, list[Any]]:
    """Return the condition for the outputs of a scope, and its parameters."""
    where, parameters = list[str](), list[Any]()
    if scope.since:
        where.append("created >= ?")
        parameters.append(scope.since)
    if scope.session is not None:
        where.append("verdicts.session = ?")
        parameters.append(scope.session)
    if scope.project is not None:
        inside, given = in_project(scope.project)
        where.append(inside.replace("name ", "verdicts.buffer "))
        parameters += given
    return " AND ".join(where) or "1", parameters


def in_project(project: Project) -> tuple[str, list[Any]]:
    """Return the condition for the buffers of a project, and its parameters."""
    conditions, parameters = list[str](), list[Any]()
    if project.root is not None:
        conditions.append(_OF_PROJECT)
        parameters += [project.root, dumps(project.folders)]
    if project.host:
        conditions.append("name >= ? AND name < ?")
        parameters += [f"{project.host}/", f"{project.host}0"]  # 0 follows the slash
    return " AND ".join(conditions) or "1", parameters
