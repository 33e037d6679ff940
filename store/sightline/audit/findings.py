"""Lists what went wrong unseen in a scope: the findings behind the numbers of its verdict."""

from collections.abc import Iterable, Sequence

from sightline.audit.buffer_failures import Overlooked, not_judged, overlooked
from sightline.audit.evidence.session_evidence import evidence_of
from sightline.audit.finding_kinds import ALTERED, BROKEN, CUT, KINDS, OVERLOOKED, PARTIAL, UNTOLD, FindingKind
from sightline.audit.kept_facts import facts_for
from sightline.audit.kept_sessions import alarms_of
from sightline.audit.output_facts import ALTERED as IS_ALTERED
from sightline.audit.output_facts import CUT as IS_CUT
from sightline.audit.output_facts import FOUND, GONE, LOST, ended, gone_flag, output_rules
from sightline.audit.output_facts import UNTOLD as IS_UNTOLD
from sightline.audit.people_views import Onlookers
from sightline.audit.project_scope import belongs
from sightline.audit.timeline import Call, calls_about
from sightline.audit.verdict import Scope, Verdict, verdict_of
from sightline.base.errors import StoreFailed
from sightline.base.project import ALL
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading, StatedAlarm

_OF_FLAG = {IS_ALTERED: ALTERED, LOST: PARTIAL, IS_UNTOLD: UNTOLD, IS_CUT: CUT}
_ORDER = {kind: place for place, kind in enumerate(_OF_FLAG.values())}
_AT_ONCE = 500  # outputs whose calls are held at once


class Finding(NamedTuple):
    """Something that went wrong unseen.

    Attributes:
        kind: one of KINDS.
        ref: the lines or the output; empty if it is about none.
        text: what it is, in one line.
        command: command of the output; empty if there is none.
        view: id of the reply that it is about; empty if there was none.
        rests_on: ids of further replies that show it.
    """

    kind: FindingKind
    ref: str
    text: str
    command: str = ""
    view: str = ""
    rests_on: tuple[str, ...] = ()


class Audited(NamedTuple):
    """The result of an audit.

    Attributes:
        found: the findings, the overlooked failures first.
        gone: names of outputs that were removed before they were shown whole, so what was missed is unknown.
        captured: number of outputs that were looked at, or of which their hosts say that nothing failed.
        not_judged: number of these that are not judged, since they only show what others wrote.
        examined_here: number of outputs that were examined because no host has said what it found in them.
        running: number of outputs of other hosts that are still running, and were not looked at.
        unread: number of outputs and of logs that could not be read, so that nothing is known of them.
        unsealed: number of outputs that a version without seals captured, and that nobody has opened since, so that
            nobody knows whether they were changed.
    """

    found: list[Finding]
    gone: list[str]
    captured: int
    not_judged: int
    examined_here: int = 0
    running: int = 0
    unread: int = 0
    unsealed: int = 0


class OutputFindings(NamedTuple):
    """What is to be said of some outputs.

    Attributes:
        overlooked: the failures that stood in no reply.
        others: the other findings, by kind.
        gone: names of those that were removed before they were shown whole.
        captured: number of those that are there.
        unjudged: number of these that are not judged.
    """

    overlooked: list[Overlooked]
    others: list[Finding]
    gone: list[str]
    captured: int
    unjudged: int


def audited_by_hosts(store: Reading, scope: Scope) -> Audited | None:
    """Return all findings of a scope where hosts have judged what they shipped; None for any other store.

    The session of the scope may be given by the beginning of its name.
    """
    wanted = store.to_examine(scope.since, scope.session or "", scope.project)
    if wanted is None:
        return None
    unread = set[str]()
    of_outputs = findings_of(store, wanted.outputs, wanted.cut, scope._replace(session=wanted.session or None), unread)
    of_hosts = [finding_of(alarm) for alarm in wanted.alarms]
    here = [one for name in wanted.sessions for one in _evidence(store, name, unread)]
    return Audited(
        [*map(overlooked_finding, of_outputs.overlooked), *of_outputs.others, *dict.fromkeys((*of_hosts, *here))],
        of_outputs.gone,
        of_outputs.captured + wanted.others,
        of_outputs.unjudged + wanted.not_judged,
        wanted.unexamined,
        wanted.running,
        len(unread),
    )


def audited(store: Reading, scope: Scope) -> Audited:
    """Return all findings of a scope."""
    store.look_for_changes()
    verdict = verdict_of(store, scope)
    of_outputs = found_in(store, scope)
    return Audited(
        [*map(overlooked_finding, of_outputs.overlooked), *of_outputs.others, *of_sessions(verdict)],
        list(dict.fromkeys((*of_outputs.gone, *verdict.removed))),
        verdict.captured,
        verdict.unjudged,
        unread=len(verdict.unread),
        unsealed=verdict.unsealed,
    )


def found_in(store: Reading, scope: Scope) -> OutputFindings:
    """Return the findings about the outputs of a scope, oldest first, after `verdict_of` has judged them."""
    flagged = store.index.with_flags(output_rules(store), FOUND | GONE, scope, order="created, buffer")
    return findings_of(store, [name for name, _ in flagged])


def of_sessions(verdict: Verdict) -> list[Finding]:
    """Return the findings about sessions: alarms, and what is wrong with logs."""
    return [*map(finding_of, verdict.alarms), *(Finding(BROKEN, "", text) for text in verdict.broken)]


def findings_of(
    store: Reading,
    names: Sequence[str],
    only_cut: Sequence[str] = (),
    scope: Scope = ALL,
    unread: set[str] | None = None,
) -> OutputFindings:
    """Return the findings about some outputs.

    Args:
        store: the store.
        names: the outputs.
        only_cut: further outputs, of which only cut replies are of interest.
        scope: others than those of its session and project are left out.
        unread: gets the names of outputs that cannot be read.
    """
    found = OutputFindings([], [], [], 0, 0)
    listed, captured, unjudged, people = [*names, *only_cut], 0, 0, Onlookers(store)
    for start in range(0, len(listed), _AT_ONCE):
        batch = listed[start : start + _AT_ONCE]
        records = store.index.buffers(batch)
        there_is = (records[name] for name in batch if name in records)
        known = [store.checked(one) for one in there_is if _is_wanted(one, scope)]
        calls, facts = calls_about(store, {one.name: one for one in known}, people), facts_for(store, known)
        examined = {*names[start : start + _AT_ONCE]}
        there = [one for one in known if one.name in examined and one.state != "evicted" and not one.is_unanswered]
        found.overlooked.extend(overlooked(store, there, unread=unread))
        for buffer in known:
            is_told = buffer.name in facts and not facts[buffer.name].flags & IS_CUT
            about = calls[buffer.name]
            found.others.extend(_ended(buffer, about, only_cut=buffer not in there, is_told=is_told))
        expired = [one for one in known if one.name in examined and one.state == "evicted"]
        found.gone.extend(one.name for one in expired if gone_flag(one, calls[one.name]))
        captured, unjudged = captured + len(there), unjudged + not_judged(there)
    found.others.sort(key=lambda one: _ORDER[one.kind])
    return found._replace(captured=captured, unjudged=unjudged)


def _is_wanted(buffer: Buffer, scope: Scope) -> bool:
    return scope.session in (None, buffer.session) and belongs(buffer, scope.project)


def _ended(buffer: Buffer, calls: Sequence[Call], *, only_cut: bool, is_told: bool) -> Iterable[Finding]:
    for one in ended(buffer, calls, is_told=is_told):
        if only_cut and one.flag != IS_CUT:
            continue
        asked, view = (one.call.asked, one.call.view.id) if one.call else (buffer.command, "")
        yield Finding(_OF_FLAG[one.flag], format_ref(buffer.name), one.text, asked, view)


def _evidence(store: Reading, name: str, unread: set[str]) -> list[Finding]:
    """Return the alarms from the evidence of a session."""
    session = store.index.session(name)
    try:
        return [finding_of(one) for one in alarms_of(evidence_of(store, session))] if session else []
    except StoreFailed:
        unread.add(name)
        return []


def finding_of(alarm: StatedAlarm) -> Finding:
    """Return an alarm as a finding."""
    view, rests_on = (alarm.views[0] if alarm.views else ""), alarm.views[1:]
    return Finding(KINDS[alarm.kind], alarm.ref, alarm.text, alarm.command, view, rests_on)


def overlooked_finding(one: Overlooked) -> Finding:
    """Return a failure that stood in no reply as a finding."""
    failure = one.failure
    text = f"{failure.name} ({failure.at})" if failure.name and failure.at else failure.name or failure.text
    return Finding(OVERLOOKED, one.ref, text, one.buffer.command)
