"""Finds what went wrong unseen in a session, or in all: failures that nobody was shown, or only in part."""

from collections.abc import Sequence

from sightline.audit.buffer_coverage import filtered_from
from sightline.audit.buffer_failures import Overlooked, not_judged, overlooked
from sightline.audit.evidence.session_evidence import ALARMS, Alarm, evidence_of
from sightline.audit.project_scope import calls_in
from sightline.audit.timeline import Call, Timeline, not_shown_whole
from sightline.errors import SightlineError, StoreFailed
from sightline.log.log_index import last_known, verify_log
from sightline.named_tuple import NamedTuple
from sightline.project import Project
from sightline.records import TOOL_FAILED, Buffer
from sightline.refs import format_ref
from sightline.store import Reading

OVERLOOKED, CUT, UNTOLD, BROKEN = "overlooked-failure", "cut-failure", "untold-failure", "broken-log"
PARTIAL = "failed-partial"
ALTERED = "altered-output"

KINDS = {
    OVERLOOKED: "a failure in an output, of which no line was in any reply",
    CUT: "a failed command whose reply was cut, and whose output was never asked for again",
    PARTIAL: (
        "an output of which only a part reached the store, for instance because a harness cut it, and which failed "
        "or may have failed"
    ),
    ALTERED: "an output whose bytes in the store were changed after its capture, or are missing",
    UNTOLD: "a command, for instance one in the background, that failed after the last reply about it",
    **ALARMS,
    BROKEN: "a log that was changed or cut: its chain of hashes does not hold",
}
"""The kinds of finding, and what each means."""

_IN_ORDER = (ALTERED, PARTIAL, UNTOLD, CUT)  # those about outputs
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

    kind: str
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


def audited(store: Reading, since: float, session: str = "", project: Project | None = None) -> Audited | None:
    """Return all findings since a time where hosts have judged what they shipped; None for any other store.

    Args:
        store: the store.
        since: time of the earliest capture or call, seconds since the epoch.
        session: the only session to look at, by its name or the beginning of it; empty for all.
        project: the only project to look at; None for all.
    """
    wanted = store.to_examine(since, session, project)
    if wanted is None:
        return None
    unseen, others, gone, unread = list[Finding](), list[Finding](), list[str](), set[str]()
    count, unjudged = wanted.others, wanted.not_judged
    timeline = Timeline(store, session=wanted.session or None, since=since)
    listed = [*wanted.outputs, *wanted.cut]
    for start in range(0, len(listed), _AT_ONCE):
        names = listed[start : start + _AT_ONCE]
        calls = calls_in(store, timeline.about(names), project)
        examined = names[: max(len(wanted.outputs) - start, 0)]
        known = [buffer for name in examined if (buffer := store.index.buffer(name))]
        captured = [buffer for buffer in known if buffer.state != "evicted" and not buffer.is_unanswered]
        overlooked_here = overlooked(store, captured, session=wanted.session or None, unread=unread)
        unseen += [_overlooked(one) for one in overlooked_here]
        of_these = {format_ref(name) for name in names}
        others += [one for one in _of_outputs(calls, captured) if one.ref in of_these]
        gone += not_shown_whole([buffer for buffer in known if buffer.state == "evicted"], calls)
        count += len(captured)
        unjudged += not_judged(captured)
    others.sort(key=lambda one: _IN_ORDER.index(one.kind))
    told = [Finding(one.kind, one.ref, one.text, one.command, *_parted(one.views)) for one in wanted.alarms]
    here = [one for name in wanted.sessions for one in _evidence(store, name, [], unread)]
    alarms = dict.fromkeys((*told, *here))
    found = [*unseen, *others, *alarms]
    return Audited(found, gone, count, unjudged, wanted.unexamined, wanted.running, len(unread))


def find_all(
    store: Reading,
    calls: Sequence[Call],
    captured: Sequence[Buffer],
    session: str | None,
    unread: set[str] | None = None,
) -> list[Finding]:
    """Return all findings, the overlooked failures first.

    Args:
        store: the store.
        calls: the calls to look at, oldest first.
        captured: the buffers to look at, after `Reading.checked`.
        session: the session whose views count; None for all.
        unread: gets the names of outputs and sessions that cannot be read, so that nothing is known of them.
            Without it, a session that cannot be read is an error.
    """
    unseen = overlooked(store, captured, session=session, unread=unread)
    return [*(_overlooked(one) for one in unseen), *find_others(store, calls, captured, session, unread)]


def find_others(
    store: Reading,
    calls: Sequence[Call],
    captured: Sequence[Buffer],
    session: str | None,
    unread: set[str] | None = None,
) -> list[Finding]:
    """Return all findings except overlooked failures; it takes what `find_all` takes."""
    names = [session] if session else sorted({call.view.session for call in calls})
    of_session = dict[str, list[Call]]()
    for call in calls:
        of_session.setdefault(call.view.session, []).append(call)
    # A session and its helpers share alarms.
    alarms = dict.fromkeys(one for name in names for one in _evidence(store, name, of_session.get(name, []), unread))
    return [*_of_outputs(calls, captured), *alarms, *_broken(store, names)]


def _of_outputs(calls: Sequence[Call], captured: Sequence[Buffer]) -> list[Finding]:
    """Return findings about outputs, which depend on the calls about these alone."""
    told = [call for call in calls if not call.looks_on]
    return [*_altered(captured), *_partial(captured), *_untold(told, captured), *_cut(told)]  # as in _IN_ORDER


def _evidence(store: Reading, name: str, own: Sequence[Call], unread: set[str] | None) -> list[Finding]:
    """Return the alarms from the evidence of a session, judged by all of its calls, whichever of them are given."""
    session = store.index.session(name)
    if session is None:
        return []
    is_whole = sum(bool(call.view.number) for call in own) == store.index.view_count(name)
    try:
        return [_of_alarm(alarm) for alarm in evidence_of(store, session, own if is_whole else None).alarms]
    except StoreFailed:
        if unread is None:
            raise
        unread.add(name)
        return []


def _of_alarm(alarm: Alarm) -> Finding:
    views = tuple(dict.fromkeys(ground.view for ground in alarm.grounds))
    return Finding(alarm.kind, alarm.at, alarm.text, alarm.command, *_parted(views))


def _parted(views: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the first view, and the others."""
    return (views[0] if views else ""), views[1:]


def _overlooked(one: Overlooked) -> Finding:
    failure = one.failure
    text = f"{failure.name} ({failure.at})" if failure.name and failure.at else failure.name or failure.text
    return Finding(OVERLOOKED, one.ref, text, one.buffer.command)


def _altered(captured: Sequence[Buffer]) -> list[Finding]:
    return [Finding(ALTERED, one.ref, one.altered, one.command) for one in captured if one.altered]


def _partial(captured: Sequence[Buffer]) -> list[Finding]:
    """Return findings for buffers that failed, or may have, and are partial."""
    return [
        Finding(PARTIAL, buffer.ref, f"{_ended(buffer)}; {buffer.lost}", buffer.command)
        for buffer in captured
        if buffer.is_partial and buffer.may_have_failed
    ]


def _cut(calls: Sequence[Call]) -> list[Finding]:
    """Return findings for failed calls with a cut reply whose buffer no later call is about."""
    later: set[str] = set()
    found = []
    for call in reversed(calls):
        view = call.view
        has_all = call.buffer is not None and call.buffer.is_partial and view.lines_shown >= view.lines_total
        if call.failed and view.truncated and not has_all and view.refs and view.refs[0] not in later:
            in_part = f", {call.cut_lines:,} in part" if call.cut_lines else ""
            text = f"{view.lines_shown:,} of {view.lines_total:,} lines shown{in_part}, never read again"
            found.append(Finding(CUT, format_ref(view.refs[0]), text, call.asked, view.id))
        later.update(view.refs)
    return found[::-1]


def _untold(calls: Sequence[Call], captured: Sequence[Buffer]) -> list[Finding]:
    """Return findings for buffers that failed after the last call about them.

    A reply with the exit code has told of the failure, whatever the times say, as a harness may have another clock.
    """
    last: dict[str, float] = {}
    told = {(name, call.view.exit_code) for call in calls for name in call.view.refs[:1]}
    for call in calls:
        for name in call.view.refs if call.view.number else ():
            last[name] = call.view.time
    return [
        Finding(UNTOLD, buffer.ref, f"{_ended(buffer)}, and nobody was told", buffer.command)
        for buffer in captured
        if buffer.failed and not filtered_from(buffer) and buffer.ended and last.get(buffer.name, 0.0) < buffer.ended
        if buffer.exit_code is None or (buffer.name, buffer.exit_code) not in told
    ]


def _ended(buffer: Buffer) -> str:
    if buffer.timed_out:
        return "timed out"
    if buffer.exit_code is not None:
        return f"ended with exit {buffer.exit_code}"
    if buffer.state == "interrupted":
        return "was interrupted"
    return TOOL_FAILED if buffer.kind != "cmd" else "ended with an exit code that is not known"


def _broken(store: Reading, sessions: Sequence[str]) -> list[Finding]:
    if store.place is not None:
        return []  # lines may have been withheld before shipping; `fleet verify` knows which
    found, known = [], last_known(store)
    for name in sessions:
        try:
            verify_log(store, name, known.get(name, 0))
        except SightlineError as error:
            found.append(Finding(BROKEN, "", error.message))
    return found
