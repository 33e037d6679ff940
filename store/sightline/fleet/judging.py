"""Judges on the host what it has shipped, so that no reader of the fleet must fetch and examine each output.

It tells the fleet what failed in each output, and what is wrong in each session. Both name the rules by which they were
found: a reader with other rules, or with newer lines of a log, finds it itself.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from sightline.audit.buffer_failures import judge_for_others
from sightline.audit.evidence.evidence_records import Alarm
from sightline.audit.evidence.session_evidence import alarm_rules, evidence_of
from sightline.audit.finding_kinds import QUOTING
from sightline.audit.output_facts import ALTERED, EXPIRED, UNSEALED, output_rules
from sightline.audit.verdict import VerdictReader
from sightline.base.errors import SightlineError
from sightline.base.records import KeptFacts
from sightline.base.sha256 import sha256_hex
from sightline.fleet.announcement import OwnHost
from sightline.fleet.collector import Collector
from sightline.fleet.content import fit, redaction_of, row_time
from sightline.fleet.database import Connection
from sightline.fleet.queue import Queue
from sightline.light.json_text import dumps
from sightline.light.typing_names import Any
from sightline.store import Store

MOST_BYTES = 1 << 18
"""Bytes of what is told of one output or session, as JSON; of more, readers find it themselves."""

SESSION_SECONDS = 60.0
"""A session that goes on is judged this long after its first new line, and then of all that came by then."""

_AT_ONCE = 200  # outputs that are told of in one statement
_PAGE = 2_000  # outputs whose facts are compared with what was told at once
_WHOLE_SECONDS = 30.0  # between two such comparisons of all
_STEP_SECONDS = 0.2
_BEHIND_ALL = "~"  # a name that follows those of all outputs
_DIGEST_DIGITS = 16
_SHARE = 100  # a session is not judged again before this many times the seconds that it took
_OUTPUT, _SESSION = "buffer", "session"

_COLUMNS = {
    "judgements": "created float8, name text, rules text, why_not text, failures jsonb",
    "alarms": "session text, number bigint, rules text, record jsonb, messages integer, not_read integer",
    "facts": "created float8, name text, rules text, flags integer, failures bigint, unseen bigint, lines bigint,"
    " seen float8, again bigint, place jsonb",
}


class Judging:
    """Judges what one store has shipped. Only one thread may use it."""

    def __init__(self, store: Store, queue: Queue, collector: Collector) -> None:
        self._store, self._queue, self._collector = store, queue, collector
        self._not_before: dict[str, float] = {}
        self._with_facts = False
        self._verdict = VerdictReader(store, with_sessions=False)
        self._told_state: tuple[int, str] = (-1, "")
        self._told_at = float("-inf")

    def judge(
        self,
        connect: Callable[[], AbstractContextManager[Connection]],
        host: OwnHost,
        *,
        at_once: bool = False,
        with_facts: bool = True,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Tell the fleet what was found in what was shipped since the last time.

        Args:
            connect: opens a connection as the host's role; it is called only where there is something to tell.
            host: what the fleet knows about the store.
            at_once: whether sessions are judged that may go on, too.
            with_facts: whether the fleet's tables have a place for facts on outputs.
            stop: asked again and again; what is left is done the next time.

        Raises:
            FleetUnreachable, FleetRefused: it cannot be told now.
        """
        self._with_facts = with_facts
        with self._queue.turn("judging", waits=False) as is_ours:
            if not is_ours:
                return  # another process judges them
            self._queue.judge_anew_by(alarm_rules(self._store))
            while (names := self._queue.unjudged(_OUTPUT, _AT_ONCE)) and not stop():
                self._tell_outputs(connect, host, names, stop)
            if with_facts:
                self._tell_facts(connect, host, at_once, stop)
            now = time.time()
            waiting = self._queue.unjudged(_SESSION, -1, now if at_once else now - SESSION_SECONDS)
            due = [name for name in waiting if at_once or self._not_before.get(name, 0.0) <= now]
            for start in range(0, len(due), _AT_ONCE):
                if not stop():
                    self._tell_sessions(connect, host, due[start : start + _AT_ONCE], stop)

    def _tell_outputs(
        self,
        connect: Callable[[], AbstractContextManager[Connection]],
        host: OwnHost,
        names: Sequence[str],
        stop: Callable[[], bool],
    ) -> None:
        rows, done, gone = list[dict[str, Any]](), list[str](), list[str]()
        for name in names:
            rows += self._judged(name)
            done.append(name)
            if not self._store.index.has(name):
                gone.append(name)
            if stop():
                break
        with connect() as connection, connection.transaction():
            _replace(connection, "judgements", host, done, rows)
            for name in gone:  # what was found in it may quote it
                connection.execute(
                    "DELETE FROM sightline.alarms WHERE host = %s AND strpos(record::text, %s) > 0", (host.id, name)
                )
        self._queue.note_judged(_OUTPUT, done)

    def _tell_facts(
        self,
        connect: Callable[[], AbstractContextManager[Connection]],
        host: OwnHost,
        at_once: bool,
        stop: Callable[[], bool],
    ) -> None:
        """Tell what is known of outputs now, as far as it differs from what was told.

        Any process may have judged them, so all are compared, page by page, if anything was changed.
        """
        index, rules = self._store.index, output_rules(self._store)
        state = index.data_version(), rules
        if not at_once and (state == self._told_state or time.monotonic() < self._told_at + _WHOLE_SECONDS):
            return
        while not self._verdict.step(_STEP_SECONDS).is_done:
            if stop():
                return
        after = ""
        while not stop():
            page = index.facts_after(rules, after, _PAGE)
            last = page[-1].name if page else _BEHIND_ALL
            self._tell_page(connect, host, page, *self._queue.told_facts(after, last))
            after = last
            if not page:
                self._told_state, self._told_at = state, time.monotonic()
                return

    def _tell_page(
        self,
        connect: Callable[[], AbstractContextManager[Connection]],
        host: OwnHost,
        page: Sequence[KeptFacts],
        told: Mapping[str, str],
        shipped: Collection[str],
    ) -> None:
        """Tell of outputs that follow one another; what was altered or expired since it was shipped stays as told."""
        rules = output_rules(self._store)
        digests = dict.fromkeys(told.keys() - {one.name for one in page}, "")
        rows = list[dict[str, Any]]()
        for one in page:
            stays = one.facts.flags & ALTERED or (one.facts.flags & EXPIRED and one.is_there and one.name in told)
            if not one.is_judged or stays or not (one.name in shipped or one.name in told):
                continue
            facts = one.facts._replace(flags=one.facts.flags & ~UNSEALED)  # it was compared with its hash when shipped
            place = {"session": fit(one.session), "project": fit(one.project)}
            row = {"created": row_time(one.created), "name": one.name, "rules": rules, "place": place}
            row |= facts._asdict()
            digest = sha256_hex(dumps(row).encode())[:_DIGEST_DIGITS] if self._collector.ships(one.cwd) else ""
            if told.get(one.name, "") != digest:
                digests[one.name] = digest
                rows += [row] if digest else []
        if digests:
            with connect() as connection, connection.transaction():
                _replace(connection, "facts", host, list(digests), rows)
            self._queue.note_told_facts(digests)

    def _tell_sessions(
        self,
        connect: Callable[[], AbstractContextManager[Connection]],
        host: OwnHost,
        names: Sequence[str],
        stop: Callable[[], bool],
    ) -> None:
        rows, done, began = list[dict[str, Any]](), list[str](), time.time()
        for name in self._with_relatives(names):
            rows += self._found_in(name)
            done.append(name)
            if stop():
                break
        with connect() as connection, connection.transaction():
            _replace(connection, "alarms", host, [str(fit(name)) for name in done], rows)
        self._queue.note_judged(_SESSION, done, began)

    def _with_relatives(self, names: Sequence[str]) -> list[str]:
        """Return sessions, with their helpers and those whose helpers they are, as alarms rest on the calls of all."""
        sessions = self._store.index.sessions()
        ids = {(one.harness, one.harness_id) for one in sessions if one.name in names and one.harness_id}
        return list(dict.fromkeys((*names, *(one.name for one in sessions if (one.harness, one.harness_id) in ids))))

    def _judged(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the row of an output; none if it is not a command's, is gone, or has to be examined by readers."""
        buffer = self._store.index.buffer(name)
        if buffer is None or buffer.kind != "cmd" or buffer.state not in ("sealed", "interrupted"):
            return
        if self._collector.why_not(buffer) or self._store.checked(buffer).altered:
            return
        try:
            found = judge_for_others(self._store, buffer)
        except SightlineError:
            return  # its bytes are gone meanwhile
        told = redaction_of(self._store.settings)
        failures = told.value(found.failures) if told else found.failures
        if told and any(place[4] for failure in found.failures for place in failure[3]):
            return  # bytes of long lines are at other places where secrets were hidden
        row = {"created": row_time(buffer.created), "name": name, "rules": found.rules, "why_not": found.why_not}
        if len(dumps(failures)) <= MOST_BYTES:
            yield row | {"failures": fit(failures)}

    def _found_in(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the row of a session; none if it is not shipped, is gone, or has to be examined by readers."""
        began = time.time()
        end, session = self._queue.log_ends().get(name), self._store.index.session(name)
        if end is None or session is None or not self._collector.ships(session.cwd):
            return
        try:
            evidence = evidence_of(self._store, session, in_utc=True)
            record = self._alarms(evidence.alarms)
        except SightlineError:
            return  # something that it needs is gone
        self._not_before[name] = began + _SHARE * (time.time() - began)
        if record is not None:
            row = {"session": fit(name), "number": end.next - 1, "record": record, "rules": alarm_rules(self._store)}
            numbers = {"messages": evidence.messages, "not_read": evidence.not_read}
            yield row | (numbers if self._with_facts and self._store.settings.fleet.messages else {})

    def _alarms(self, alarms: Sequence[Alarm]) -> list[Any] | None:
        """Return alarms as rows; None if readers have to find them themselves."""
        messages, told = self._store.settings.fleet.messages, redaction_of(self._store.settings)
        left_out = self._queue.left_out()
        rows: list[Any] = []
        for alarm in alarms:
            if alarm.kind in QUOTING and not messages:
                continue
            if any(name in left_out for name in alarm.outputs):
                return None
            grounds = list(dict.fromkeys(ground.view for ground in alarm.grounds))
            rows.append([alarm.kind, alarm.text, alarm.command, alarm.at, grounds])
        fitting = fit(told.value(rows) if told else rows)
        return fitting if len(dumps(fitting)) <= MOST_BYTES else None


def _replace(
    connection: Connection, table: str, host: OwnHost, names: Sequence[str], rows: Sequence[dict[str, Any]]
) -> None:
    """Replace the rows of these names by others."""
    columns = [name for column in _COLUMNS[table].split(", ") if (name := column.split()[0]) in (rows or [{}])[0]]
    key = "session" if table == "alarms" else "name"
    connection.execute(
        f"DELETE FROM sightline.{table} WHERE host = %s AND {key} = ANY (%s)".encode(),  # noqa: S608 - names of ours
        (host.id, list(names)),
    )
    values = ", ".join("to_timestamp(given.created)" if name == "created" else f"given.{name}" for name in columns)
    if rows:
        connection.execute(
            (
                f"INSERT INTO sightline.{table} (host, {', '.join(columns)}) SELECT %s, {values}"  # noqa: S608
                f" FROM jsonb_to_recordset(%s::jsonb) AS given ({_COLUMNS[table]}) ON CONFLICT DO NOTHING"
            ).encode(),
            (host.id, dumps(rows)),
        )
