"""Reads from the shared database what hosts found in what they shipped, and what an audit has to examine itself.

An output of which its host says that nothing failed, and that ended well, is not even listed. What hosts say is checked
before it is used; if it is not what they should say, it is found here.
"""

from collections.abc import Iterator, Sequence

from sightline.audit.buffer_failures import HostJudgement
from sightline.audit.finding_kinds import ALARMS
from sightline.base.errors import SightlineError
from sightline.base.project import Project
from sightline.base.refs import on_host, parse_ref
from sightline.fleet.database import LastingConnection
from sightline.fleet.reader.rows import BUFFER, ENTRY, LogEntry, StoredOutput, among_all, entries_in, list_in, stored_in
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.sessions import INSPECTOR, SHELL, TERMINAL
from sightline.store import JudgedSession, StatedAlarm

_CLOCK_SECONDS = 86_400.0
"""A host's clock may be slow by this much: a view of an output is looked for from then on."""

_JUDGED = """
FROM sightline.buffers AS found JOIN sightline.hosts AS host ON host.id = found.host
LEFT JOIN sightline.judgements AS judged
    ON judged.created = found.created AND judged.host = found.host AND judged.name = found.name
LEFT JOIN (SELECT DISTINCT host, created, name FROM sightline.changes WHERE created >= to_timestamp(%(since)s))
    AS changed ON changed.host = found.host AND changed.created = found.created AND changed.name = found.name
WHERE found.created >= to_timestamp(%(since)s) AND found.announced >= to_timestamp(%(since)s) AND WITHIN
"""

_TO_EXAMINE = """(
    found.state <> 'sealed' OR found.partial <> '' OR found.exit_code <> 0 OR found.record -> 'timed_out' = 'true'
    OR changed.name IS NOT NULL OR found.kind = 'cmd' AND found.bytes > 0
        AND (judged.rules IS DISTINCT FROM %(rules)s OR judged.failures <> '[]')
)"""

_OUTPUTS = (
    BUFFER
    + ", changed.name IS NOT NULL, judged.rules, judged.why_not, judged.failures::text"
    + _JUDGED
    + f"AND {_TO_EXAMINE} ORDER BY found.created"
)

_OTHERS = f"""
SELECT count(*), count(*) FILTER (WHERE found.bytes > 0 AND (found.kind <> 'cmd' OR judged.why_not <> ''))
{_JUDGED} AND {_TO_EXAMINE} IS NOT TRUE
"""

_OF_SESSION = """(
    found.host = (SELECT id FROM sightline.hosts WHERE name = %(host)s) AND found.record ->> 'session' = %(session)s
)"""
_OF_PROJECT = """(
    (%(at)s = '' OR found.host = (SELECT id FROM sightline.hosts WHERE name = %(at)s)) AND (%(root)s::text IS NULL
    OR coalesce(nullif(found.record ->> 'project', ''), found.record ->> 'cwd') = %(root)s)
)"""

# Calls whose reply was cut, about outputs that are not among those that were looked for, or that are not known to have
# ended well.
_CUT = """
WITH cut AS MATERIALIZED (
    SELECT host, name, bool_or(may_have_failed) AS may_have_failed FROM (
        SELECT found.host, found.refs[1] AS name, found.record ->> 'verb' = 'tool'
            OR found.record -> 'failed' = 'true' OR coalesce(found.record ->> 'exit_code', '0') <> '0'
            AS may_have_failed
        FROM sightline.entries AS found WHERE found.time >= to_timestamp(%(since)s) AND found.kind = 'view'
        AND cardinality(found.refs) > 0 AND found.record -> 'truncated' = 'true' AND CALLS OFFSET 0
    ) AS one GROUP BY host, name
)
SELECT host.name, cut.name FROM cut JOIN sightline.hosts AS host ON host.id = cut.host
WHERE (cut.may_have_failed OR NOT EXISTS (SELECT FROM sightline.buffers AS found
    WHERE found.host = cut.host AND found.name = cut.name AND found.created >= to_timestamp(%(since)s) AND WITHIN))
"""
_CALLS_OF_SESSION = (
    "found.host = (SELECT id FROM sightline.hosts WHERE name = %(host)s) AND found.session = %(session)s"
)

# Outputs of another host may be of any project.
_NOT_ELSEWHERE = """
AND NOT EXISTS (SELECT FROM sightline.buffers AS found
    WHERE found.host = cut.host AND found.name = cut.name AND NOT WITHIN)
""".replace("WITHIN", _OF_PROJECT)

_ABOUT = """
WITH wanted AS MATERIALIZED (
    SELECT host.id, given.name, given.host || '/' || given.name AS among_all
    FROM unnest(%(hosts)s::text[], %(names)s::text[]) AS given (host, name)
    JOIN sightline.hosts AS host ON host.name = given.host
)
ENTRY FROM sightline.entries AS found JOIN sightline.hosts AS host ON host.id = found.host
WHERE found.time >= to_timestamp(%(since)s) AND found.kind IN ('view', 'shown') AND EXISTS (
    SELECT FROM unnest(found.refs || CASE found.kind WHEN 'shown' THEN ARRAY(
        SELECT one ->> 0 FROM jsonb_path_query(found.record, '$.*[*]') AS one WHERE jsonb_typeof(one) = 'array'
    ) ELSE '{}' END) AS ref
    WHERE (found.host, ref) IN (SELECT id, name FROM wanted) OR ref IN (SELECT among_all FROM wanted)
)
ORDER BY found.time, found.number
""".replace("ENTRY", ENTRY)

# Older tables have no numbers of messages.
_TOLD = """told.number >= one.last AND told.rules = %(rules)s, told.record::text,
    coalesce((to_jsonb(told.*) ->> 'messages')::integer, 0), coalesce((to_jsonb(told.*) ->> 'not_read')::integer, 0)"""

_ALARMS = """
SELECT host.name, one.session, TOLD
FROM (
    SELECT host, session, max(number) AS last FROM sightline.entries WHERE time >= to_timestamp(%(since)s)
    GROUP BY host, session HAVING bool_or(kind = 'view') OR %(since)s <= 0
) AS one
JOIN sightline.hosts AS host ON host.id = one.host
LEFT JOIN sightline.alarms AS told ON told.host = one.host AND told.session = one.session
WHERE NOT EXISTS (SELECT FROM sightline.sessions AS looking WHERE looking.host = one.host AND looking.name = one.session
    AND looking.record ->> 'harness' = %(shell)s AND looking.record ->> 'client' = ANY (%(onlookers)s))
ORDER BY host.name, one.session
""".replace("TOLD", _TOLD)

_ALARMS_OF = """
SELECT given.host, given.name, TOLD
FROM unnest(%(hosts)s::text[], %(names)s::text[]) AS given (host, name)
JOIN sightline.hosts AS host ON host.name = given.host
CROSS JOIN LATERAL (SELECT max(line.number) AS last FROM sightline.entries AS line
    WHERE line.host = host.id AND line.session = given.name) AS one
LEFT JOIN sightline.alarms AS told ON told.host = host.id AND told.session = given.name
""".replace("TOLD", _TOLD)

# Sessions that began in a project, or with a call about an output of it.
_AT_PROJECT = """
SELECT given.host, given.name FROM unnest(%(hosts)s::text[], %(names)s::text[]) AS given (host, name)
JOIN sightline.hosts AS own ON own.name = given.host
WHERE %(at)s IN ('', own.name) AND (%(root)s::text IS NULL OR EXISTS (SELECT FROM sightline.sessions AS begun
    WHERE begun.host = own.id AND begun.name = given.name AND begun.record ->> 'cwd' = %(root)s))
OR EXISTS (
    SELECT FROM sightline.entries AS line
    CROSS JOIN split_part(line.refs[1], '/', 1) AS ref_host CROSS JOIN split_part(line.refs[1], '/', 2) AS ref_name
    JOIN sightline.hosts AS host ON host.name = CASE ref_name WHEN '' THEN own.name ELSE ref_host END
    JOIN sightline.buffers AS found ON found.host = host.id AND found.name = coalesce(nullif(ref_name, ''), ref_host)
    WHERE line.host = own.id AND line.session = given.name AND line.kind = 'view' AND WITHIN
)
""".replace("WITHIN", _OF_PROJECT)

_JUDGEMENTS = """
SELECT host.name, judged.name, judged.rules, judged.why_not, judged.failures::text
FROM unnest(%(hosts)s::text[], %(names)s::text[]) AS given (host, name)
JOIN sightline.hosts AS host ON host.name = given.host
JOIN sightline.judgements AS judged ON judged.host = host.id AND judged.name = given.name
"""

_RELATIVES = """
SELECT DISTINCT host.name, other.name FROM unnest(%(hosts)s::text[], %(names)s::text[]) AS given (host, name)
JOIN sightline.hosts AS host ON host.name = given.host
JOIN sightline.sessions AS one ON one.host = host.id AND one.name = given.name
JOIN sightline.sessions AS other ON other.host = one.host AND other.name <> one.name
    AND other.record ->> 'harness_id' = one.record ->> 'harness_id' AND one.record ->> 'harness_id' <> ''
"""

_OF_SESSIONS = """
ENTRY FROM sightline.entries AS found JOIN sightline.hosts AS host ON host.id = found.host
WHERE (host.name, found.session) IN (SELECT * FROM unnest(%(hosts)s::text[], %(names)s::text[]))
ORDER BY found.time, found.number
""".replace("ENTRY", ENTRY)


class SuspectOutput(NamedTuple):
    """An output that an audit has to look at.

    Attributes:
        stored: the output.
        judgement: what its host found in it; None if that is not known.
        has_changed: whether its host has told of a change since it was shipped.
    """

    stored: StoredOutput
    judgement: HostJudgement | None
    has_changed: bool


def judgements_of(connection: LastingConnection, outputs: Sequence[str]) -> dict[str, HostJudgement]:
    """Return what hosts found in some outputs, by name, as far as they have told. Raises what `HostFindings` raises."""
    found = {}
    for host, name, rules, why_not, failures in connection.rows(_JUDGEMENTS, _parted(outputs)):
        if (told := list_in(failures)) is not None:
            found[on_host(host, name)] = HostJudgement(str(rules), str(why_not), told)
    return found


class HostFindings:
    """The statements that an audit needs. All of them raise FleetUnreachable, FleetRefused."""

    def __init__(
        self,
        connection: LastingConnection,
        since: float,
        rules: str,
        alarm_rules: str,
        session: str = "",
        project: Project | None = None,
    ) -> None:
        """Prepare to read.

        Args:
            connection: the connection.
            since: earliest time, seconds since the epoch.
            rules: name of the rules by which failures are found here.
            alarm_rules: name of those by which alarms are.
            session: the only session whose outputs and calls are wanted, with its host; empty for all.
            project: the only project whose are; None for all.
        """
        self._connection, self._project = connection, project
        self._given = {"since": since, "rules": rules}
        self._alarms = {"since": since, "rules": alarm_rules, "shell": SHELL, "onlookers": [INSPECTOR, TERMINAL]}
        self._views = {"since": since - _CLOCK_SECONDS}
        within = []
        if session:
            host, _, own = session.rpartition("/")
            self._given |= {"host": host, "session": own}
            within.append(_OF_SESSION)
        if project is not None:
            self._given |= {"root": project.root, "at": project.host}
            within.append(_OF_PROJECT)
        self._within = " AND ".join(within) or "true"
        self._cut = _CUT.replace("CALLS", _CALLS_OF_SESSION if session else "true").replace("WITHIN", self._within)
        self._cut += _NOT_ELSEWHERE if project is not None else ""

    def suspects(self) -> Iterator[SuspectOutput]:
        """Yield outputs that an audit has to look at, oldest first."""
        for *row, has_changed, judged_by, why_not, failures in self._connection.each(
            _OUTPUTS.replace("WITHIN", self._within), self._given
        ):
            for stored in stored_in([tuple(row)]):
                is_told = judged_by == self._given["rules"] and stored.buffer.state != "evicted"
                told = list_in(failures) if is_told else None
                judgement = None if told is None else HostJudgement(judged_by, str(why_not), told)
                yield SuspectOutput(stored, judgement, has_changed)

    def others(self) -> tuple[int, int]:
        """Return how many further outputs there are, and how many of these are not judged."""
        [(count, not_judged)] = self._connection.rows(_OTHERS.replace("WITHIN", self._within), self._given)
        return int(count), int(not_judged)

    def cut(self) -> list[str]:
        """Return names of outputs of which a reply was cut, and that may have failed, each once.

        Logs of several hosts may be about one output.
        """
        rows = self._connection.rows(self._cut, self._given)
        return list(dict.fromkeys(among_all(host, name) for host, name in rows))

    def about(self, outputs: Sequence[str]) -> Iterator[LogEntry]:
        """Yield the views of outputs, on whichever host, by time."""
        return entries_in(self._connection.each(_ABOUT, self._views | _parted(outputs)))

    def alarms(self) -> dict[str, JudgedSession | None]:
        """Return what hosts found wrong in each session; None where that is not known."""
        return self._told(_ALARMS, self._alarms)

    def alarms_of(self, sessions: Sequence[str]) -> dict[str, JudgedSession | None]:
        """Return what hosts found wrong in some sessions, whenever they had calls; None where that is not known."""
        return self._told(_ALARMS_OF, self._alarms | _parted(sessions))

    def at_project(self, sessions: Sequence[str]) -> list[str]:
        """Return those of some sessions that began in the project, or had calls about its outputs."""
        rows = self._connection.rows(_AT_PROJECT, self._given | _parted(sessions)) if sessions else []
        return [on_host(host, name) for host, name in rows]

    def _told(self, statement: str, given: dict[str, Any]) -> dict[str, JudgedSession | None]:
        found = dict[str, JudgedSession | None]()
        for host, session, is_known, record, *messages in self._connection.rows(statement, given):
            rows = list_in(record) if is_known else None
            alarms = tuple(one for row in rows or () if (one := _alarm(host, row)))
            is_sound = rows is not None and len(alarms) == len(rows)
            found[on_host(host, session)] = JudgedSession(alarms, *messages) if is_sound else None
        return found

    def with_relatives(self, sessions: Sequence[str]) -> list[str]:
        """Return sessions, with their helpers or the sessions whose helpers they are."""
        rows = self._connection.rows(_RELATIVES, _parted(sessions)) if sessions else []
        return list(dict.fromkeys((*sessions, *(on_host(host, name) for host, name in rows))))

    def entries_of(self, sessions: Sequence[str]) -> Iterator[LogEntry]:
        """Yield the lines of sessions' logs, by time."""
        return entries_in(self._connection.each(_OF_SESSIONS, _parted(sessions)))


def _parted(names: Sequence[str]) -> dict[str, Any]:
    """Return names with hosts as parameters."""
    parts = [name.rpartition("/") for name in names]
    return {"hosts": [host for host, _, _ in parts], "names": [own for _, _, own in parts]}


def _alarm(host: str, row: Any) -> StatedAlarm | None:
    """Return a row of a host as an alarm, with the host in its names; None if it is none."""
    if not (isinstance(row, list) and len(row) == 5 and isinstance(row[4], list)):
        return None
    if not all(isinstance(text, str) for text in (*row[:4], *row[4])) or row[0] not in ALARMS:
        return None
    kind, text, command, ref, views = row
    try:
        named = f"{host}/{ref}" if ref and not parse_ref(ref).host else ref
    except SightlineError:
        return None
    return StatedAlarm(kind, text, command, named, tuple(on_host(host, view) for view in views))
