"""Judges a session by its log: its checks and edits, its agent's claims of them, and what is wrong.

Everything here comes from the log. A message means only what a rule matches, and if the log does not tell, the verdict
is *no evidence*.
"""

import time
from collections.abc import Sequence

from sightline.audit.buffer_failures import rules_of
from sightline.audit.evidence.call_facts import with_commands
from sightline.audit.evidence.check_alarms import check_alarms, claim_alarms
from sightline.audit.evidence.checks import checks_in
from sightline.audit.evidence.claim_verdicts import judged_claims
from sightline.audit.evidence.edits import edits_of, may_have_edited
from sightline.audit.evidence.evidence_records import Alarm, SessionEvidence, stated_check, stated_edit
from sightline.audit.evidence.forgotten_failures import forgotten
from sightline.audit.evidence.languages import unread_among
from sightline.audit.evidence.loops import loops
from sightline.audit.evidence.trail import Trail, began
from sightline.audit.evidence.unread_edits import unread_edits
from sightline.audit.held_lines import Holding
from sightline.audit.timeline import Call, calls_of
from sightline.base.records import Session
from sightline.log.session_events import FORKED, RESUMED
from sightline.log.session_history import SessionEvents, events_of
from sightline.store import Reading

_EVIDENCE = "evidence/15"  # raise the number when the same log would be judged differently


def alarm_rules(store: Reading) -> str:
    """Return the name of the rules by which a store finds alarms; it changes with them."""
    return f"{_EVIDENCE} {rules_of(store)}"


def evidence_of(
    store: Reading, session: Session, calls: Sequence[Call] | None = None, *, in_utc: bool = False
) -> SessionEvidence:
    """Judge a session by its log.

    Args:
        store: the store.
        session: the session.
        calls: all of its calls, if they are known already.
        in_utc: whether texts tell times in UTC, and say so, as for a reader elsewhere.
    """
    calls = calls_of(store, session=session.name) if calls is None else calls
    others = store.index.relatives(session)
    calls = [one for call in _with_those_of(store, others, calls) for one in with_commands(store, call)]
    checks = checks_in(store, calls, session.cwd)
    edits = [edit for call in calls for edit in edits_of(store, call, session.cwd)]
    events = events_of(store, session.name)
    clock, goes_on = utc_clock if in_utc else local_clock, _goes_on(events, calls)
    trail = Trail(store, checks, edits, calls, clock, goes_on=goes_on)
    claims = [judged for message in events.messages for judged in judged_claims(trail, session.name, message)]
    is_helper = any(session.name.startswith(f"{name}-") for name in others)
    is_above = all(name.startswith(f"{session.name}-") for name in others)
    of_all = [] if is_helper else list(check_alarms(trail))  # the session whose helper it is raises them
    if not is_above:  # one of several helpers whose session is not here
        of_all = [one for one in of_all if one.grounds[0].view.startswith(f"{session.name}:")]
    alarms = [
        *forgotten(store, session, trail, Holding(events)),
        *of_all,
        *unread_edits(store, trail, session, starts_here=not (is_helper or goes_on)),
        *claim_alarms(trail, claims),
        *loops(store, trail, session.name, Holding(events)),
    ]
    return SessionEvidence(
        session.name,
        tuple(map(stated_check, checks)),
        tuple(map(stated_edit, edits)),
        tuple(claims),
        tuple(alarms),
        len(events.messages),
        unread_among(events.messages),
        sum(may_have_edited(call) for call in calls),
    )


def forgotten_failures(store: Reading, session: Session) -> list[Alarm]:
    """Return the failures that a session's context once had, and has lost."""
    events = events_of(store, session.name)
    if not Holding(events).has_lost:
        return []
    calls = calls_of(store, session=session.name)
    checks = checks_in(store, calls, session.cwd)
    return list(forgotten(store, session, Trail(store, checks, (), calls, local_clock), Holding(events)))


def _goes_on(events: SessionEvents, calls: Sequence[Call]) -> bool:
    """Return whether a session was resumed or forked, so that its log lacks what came before.

    What an older transcript copies are messages and calls; the calls are of the session that made them.
    """
    if events.changes and events.changes[0].event in (RESUMED, FORKED):
        return True
    return bool(calls) and sum(one.time < began(calls[0]) for one in events.messages) >= _TALKS


_TALKS = 2  # messages before the first call; an agent seldom says more before it does anything


def _with_those_of(store: Reading, others: Sequence[str], calls: Sequence[Call]) -> list[Call]:
    """Return the calls of a session and of others, in order of time.

    The log has them in the order of writing, and an import may be older than what is there.
    """
    more = [call for name in others for call in calls_of(store, session=name)]
    return sorted([*calls, *more], key=lambda call: call.view.time)


def local_clock(when: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(when))


def utc_clock(when: float) -> str:
    return time.strftime("%H:%M:%S UTC", time.gmtime(when))
