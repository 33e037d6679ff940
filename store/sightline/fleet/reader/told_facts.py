"""Reads the verdict on what is older than the mirror from the database, as hosts have told it: a sum over rows.

No output is read for that. Two kinds of outputs are judged by the reader all the same: those that another host was
shown too, of which their own host knows nothing, and those of which no host has told anything by the rules that hold
here, if these are few. Of many, their number is told.
"""

import time
from collections.abc import Callable, Hashable

from sightline.base.project import ALL, Project, Scope
from sightline.base.records import OutputFacts, ReplyTotals, Tally
from sightline.base.refs import on_host
from sightline.fleet.database import LastingConnection
from sightline.light.typing_names import Any

MOST_HERE = 2_000
"""Outputs of which no host has told anything that a reader fetches and judges itself."""

_STALE_SECONDS = 60.0  # after which it is read again even if nothing seems to have changed
_QUICK_SECONDS = 0.05  # of asking; where it takes longer, it is not asked again before so many times that
_SHARE = 20

_STATE = """
SELECT (SELECT sum(shipped_seq) FROM sightline.hosts), (SELECT count(*) FROM sightline.hosts),
    (SELECT told FROM sightline.facts ORDER BY told DESC LIMIT 1),
    (SELECT told FROM sightline.alarms ORDER BY told DESC LIMIT 1)
"""

# Hosts go by their numbers: a join with their names would have each host's rows looked up apart.
_HERE = """
NOT EXISTS (SELECT FROM unnest(%(here_hosts)s::integer[], %(here_names)s::text[]) AS here (host, name)
    WHERE here.host = found.host AND here.name = found.name)
"""

_OUTPUTS = f"""
FROM sightline.facts AS found WHERE found.created >= to_timestamp(%(since)s)
AND found.created < to_timestamp(%(before)s) AND found.rules = %(rules)s AND WITHIN AND {_HERE}
"""

_TALLIES = f"""
SELECT BY, found.flags, count(*), sum(found.failures)::bigint, sum(found.unseen)::bigint, sum(found.lines)::bigint,
    sum(found.seen)
{_OUTPUTS} GROUP BY 1, 2, 3
"""

_FLAGGED = f"""
SELECT found.host, found.name, found.flags, found.failures, found.unseen, found.lines, found.seen, found.again
{_OUTPUTS} AND found.flags & %(any_of)s <> 0 ORDER BY ORDER_BY LIMIT %(limit)s
"""

# Those that a person has removed count only if their host tells of them.
_UNTOLD = f"""
FROM (
    SELECT host, created, name FROM sightline.buffers
    WHERE created >= to_timestamp(%(since)s) AND created < to_timestamp(%(before)s)
    EXCEPT SELECT host, created, name FROM sightline.facts WHERE rules = %(rules)s
) AS found
WHERE NOT EXISTS (SELECT FROM sightline.changes AS gone WHERE gone.host = found.host
    AND gone.created = found.created AND gone.name = found.name AND gone.record ->> 'state' = 'removed') AND {_HERE}
"""  # noqa: S608 - values come as parameters
_NAMES_UNTOLD = f"SELECT found.host, found.name {_UNTOLD} LIMIT %(limit)s"
_COUNTS_UNTOLD = f"""
SELECT BY, count(*), sum(found.lines)::bigint FROM sightline.buffers AS found WHERE WITHIN
AND (found.host, found.created, found.name) IN (SELECT found.host, found.created, found.name {_UNTOLD}) GROUP BY 1, 2
"""  # noqa: S608

_ACROSS = """
SELECT DISTINCT split_part(ref, '/', 1), split_part(ref, '/', 2) FROM sightline.entries AS line
CROSS JOIN unnest(line.refs) AS ref WHERE sightline.is_across(line.refs) AND strpos(ref, '/') > 0
"""

_OF_SESSION = "(found.host = %(host)s AND SESSION = %(session)s)"
_OF_PROJECT = "(%(at)s IN (0, found.host) AND (%(root)s::text IS NULL OR PROJECT = %(root)s))"
_FIELDS = {
    "place": {"SESSION": "found.place ->> 'session'", "PROJECT": "found.place ->> 'project'"},
    "record": {
        "SESSION": "found.record ->> 'session'",
        "PROJECT": "coalesce(nullif(found.record ->> 'project', ''), found.record ->> 'cwd')",
    },
}
_BY = {"''": "0, ''", "session": "found.host, SESSION"}


def _in_terms_of(column: str, statement: str) -> str:
    """Put what tells the session and the project of an output into a statement."""
    for field, told in _FIELDS[column].items():
        statement = statement.replace(field, told)
    return statement


_REPLIES = """
SELECT count(*), count(*) FILTER (WHERE line.record -> 'truncated' = 'true'), coalesce(sum(size.bytes), 0)::bigint,
    coalesce(sum((size.bytes + %(unit)s - 1) / %(unit)s), 0)::bigint
FROM sightline.entries AS line CROSS JOIN LATERAL (SELECT CASE jsonb_typeof(line.record -> 'bytes_shown')
    WHEN 'number' THEN (line.record -> 'bytes_shown')::bigint ELSE 0 END AS bytes) AS size
WHERE line.kind = 'view' AND line.time >= to_timestamp(%(since)s) AND line.time < to_timestamp(%(before)s) AND WITHIN
"""

# By the output or, without one, by the session.
_ABOUT_PROJECT = f"""
coalesce((SELECT bool_or({_in_terms_of("place", _OF_PROJECT)}) FROM sightline.facts AS found
    WHERE found.host = CASE strpos(line.refs[1], '/') WHEN 0 THEN line.host
        ELSE (SELECT id FROM sightline.hosts WHERE name = split_part(line.refs[1], '/', 1)) END
    AND found.name = split_part(line.refs[1], '/', 1 + sign(strpos(line.refs[1], '/'))::integer)),
    %(at)s IN (0, line.host) AND (%(root)s::text IS NULL OR EXISTS (SELECT FROM sightline.sessions AS begun
        WHERE begun.host = line.host AND begun.name = line.session AND begun.record ->> 'cwd' = %(root)s)))
"""  # noqa: S608

_ORDERS = {"lines DESC": "found.lines DESC", "again DESC": "found.again DESC", "created, buffer": "found.created"}


class ToldFacts:
    """What hosts have told of outputs, sessions and replies that are older than a mirror. Statements raise StoreFailed.

    Attributes:
        before: the time from which on the mirror has everything, in seconds since the epoch; 0 if the database is not
            asked: since the mirror has everything, or the database cannot be reached.
        here: names of older outputs that are judged by the reader.
    """

    def __init__(self, connection: LastingConnection) -> None:
        """Prepare; nothing is asked before `renew`."""
        self._connection = connection
        self._rules, self._state, self._read_at = "", (), float("-inf")
        self._not_before, self._lacks, self._untold = 0.0, False, 0
        self._answers = dict[Hashable, Any]()
        self._hosts = dict[str, int]()
        self.before = 0.0
        self.here: tuple[str, ...] = ()

    def renew(self, before: float, rules: str, untold: int) -> bool:
        """Find out whether hosts have told anything new, and return it.

        Args:
            before: the time from which on the mirror has everything.
            rules: the rules that outputs are judged by here.
            untold: the flag of outputs of which no host has told anything by these.
        """
        if (before, rules) == (self.before, self._rules) and time.monotonic() < self._not_before:
            return False
        [state] = self._connection.rows(_STATE)
        state = (*state, before, rules)
        if state == self._state and time.monotonic() < self._read_at + _STALE_SECONDS:
            return False
        began = time.monotonic()
        self._answers.clear()
        self._hosts = dict(self._connection.rows("SELECT name, id FROM sightline.hosts"))
        self._rules, self._untold, self.before, self.here = rules, untold, before, ()
        across = [on_host(host, name) for host, name in self._connection.rows(_ACROSS)]
        self.here = tuple(across)
        names = [self._named(*row) for row in self._rows("record", _NAMES_UNTOLD, ALL, limit=MOST_HERE + 1)]
        self._lacks = len(names) > MOST_HERE
        self.here = (*across, *(names if not self._lacks else ()))
        self._state, self._read_at = state, time.monotonic()
        took = self._read_at - began
        self._not_before = self._read_at + _SHARE * took if took > _QUICK_SECONDS else 0.0
        return True

    def turn_off(self) -> None:
        """Tell nothing until the next `renew`."""
        self.before, self.here, self._state = 0.0, (), ()

    def once(self, key: Hashable, answer: Callable[[], Any]) -> Any:
        """Return an answer that holds until hosts have told something new."""
        if key not in self._answers:
            self._answers[key] = answer()
        return self._answers[key]

    def tallies(self, scope: Scope, by: str) -> list[tuple[str, Tally]]:
        """Return sums over older outputs, as `VerdictRows.tallies` does over those that are here."""
        rows = self.once(("tallies", scope, by), lambda: self._sums(scope, by))
        return [(self._named(*row[:2]), Tally._make(row[2:])) for row in rows]

    def _sums(self, scope: Scope, by: str) -> list[tuple[Any, ...]]:
        told, untold = (one.replace("BY,", f"{_BY[by]},", 1) for one in (_TALLIES, _COUNTS_UNTOLD))
        rows = self._rows("place", told, scope)
        if self._lacks:
            counts = self._rows("record", untold, scope)
            rows += [(*key, self._untold, count, 0, 0, lines, 0.0) for *key, count, lines in counts]
        return rows

    def _rows(self, column: str, statement: str, scope: Scope, **more: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a statement on outputs, which tell by a column to which scope they belong."""
        inside = [_OF_SESSION] if scope.session is not None else []
        within = " AND ".join([*inside, *([_OF_PROJECT] if scope.project is not None else [])]) or "true"
        return self._connection.rows(
            _in_terms_of(column, statement.replace("WITHIN", within)), self._given(scope) | more
        )

    def with_flags(self, any_of: int, scope: Scope, order: str, limit: int) -> list[tuple[str, OutputFacts]]:
        """Return (name, facts) of older outputs with any of some flags, as `VerdictRows.with_flags` does."""
        statement = _FLAGGED.replace("ORDER_BY", _ORDERS.get(order, "found.created DESC, found.name DESC"))
        more = {"any_of": any_of, "limit": None if limit < 0 else limit}
        key = ("flagged", any_of, scope, order, limit)
        rows = self.once(key, lambda: self._rows("place", statement, scope, **more))
        return [(self._named(*row[:2]), OutputFacts._make(row[2:])) for row in rows]

    def reply_totals(self, scope: Scope, unit: int) -> ReplyTotals:
        """Return sums over older replies, as `VerdictRows.reply_totals` does over those that are here."""
        within = "(line.host = %(host)s AND line.session = %(session)s)" if scope.session is not None else "true"
        within += f" AND {_ABOUT_PROJECT}" if scope.project is not None else ""
        given = self._given(scope) | {"unit": unit}
        key = ("replies", scope, unit)
        [row] = self.once(key, lambda: self._connection.rows(_REPLIES.replace("WITHIN", within), given))
        return ReplyTotals._make(row)

    def _named(self, host: int, name: str) -> str:
        """Return a name of a host's with the host in it."""
        names = self.once("names", lambda: {number: name for name, number in self._hosts.items()})
        return on_host(names.get(host, ""), name)

    def _given(self, scope: Scope) -> dict[str, Any]:
        host, _, session = (scope.session or "").rpartition("/")
        project = scope.project or Project(None)
        parts = [name.rpartition("/") for name in self.here]
        return {
            "rules": self._rules,
            "since": scope.since,
            "before": self.before,
            "here_hosts": [self._hosts.get(part, 0) for part, _, _ in parts],
            "here_names": [own for _, _, own in parts],
            "host": self._hosts.get(host, 0),
            "session": session,
            "at": self._hosts.get(project.host, -1) if project.host else 0,
            "root": project.root,
        }
