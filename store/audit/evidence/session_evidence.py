"""Judges the claims of a session's agent by its log: by checks, and by the edits between them.

Everything here comes from the log. A message means only what a rule matches, and if the log does not tell, the verdict
is *no evidence*.
"""

import re
import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.buffer_failures import Failure, failures_if_quick, rules_of
from sightline.audit.evidence.check_names import NOUNS, covers_operands, may_be_the_same
from sightline.audit.evidence.checks import (
    BY_OUTPUT,
    BY_SILENCE,
    FAILED,
    PASSED,
    UNKNOWN,
    Check,
    checks_of,
    command_of,
    exit_code_of,
    request_of,
    shows_verdict,
)
from sightline.audit.evidence.claims import RAN, Claim, claims_in
from sightline.audit.evidence.edits import Edit, edits_of, may_have_edited, replaced_lines_of
from sightline.audit.held_lines import Holding, Holdings, held_of
from sightline.audit.line_spans import common, union
from sightline.audit.project_scope import started_in
from sightline.audit.timeline import Call, calls_of
from sightline.errors import SightlineError
from sightline.json_text import dumps
from sightline.log.session_events import FORKED, RESUMED, AgentMessage
from sightline.log.session_history import events_of
from sightline.log.view_text import view_text
from sightline.named_tuple import NamedTuple
from sightline.project import Project
from sightline.records import Session
from sightline.refs import format_ref, parse_ref
from sightline.shape.summary import one_line
from sightline.store import Reading

SUPPORTED, CONTRADICTED, STALE, NO_EVIDENCE = "supported", "contradicted", "stale", "no evidence"
VERDICTS = (CONTRADICTED, STALE, NO_EVIDENCE, SUPPORTED)
NO_MESSAGES = "no message of an agent is known, so there is no claim to judge"

FORGOTTEN, STALE_CHECK, FAILING_CHECK = "forgotten-failure", "stale-check", "failing-check"
UNREAD_EDIT, UNSEEN_RESULT, MASKED_EXIT = "unread-edit", "unseen-result", "masked-exit"
CONTRADICTED_CLAIM, STALE_CLAIM, UNSUPPORTED_CLAIM = "contradicted", "stale-claim", "no-evidence"

ALARMS = {
    FORGOTTEN: "a failure that was seen only before the context was compacted or cleared, was not shown again, and "
    "whose command has not succeeded since",
    STALE_CHECK: "tests, a build, a type check or lint that last ran well before the last edit of a file that it could "
    "depend on",
    FAILING_CHECK: "one of these whose last run failed",
    UNREAD_EDIT: "lines that were changed though none of them had been shown",
    UNSEEN_RESULT: "success that was claimed on a run whose result the reply did not show",
    MASKED_EXIT: "a check that failed in a line of commands that ended well, as before `| tail` or `|| true`",
    CONTRADICTED_CLAIM: "an agent's claim that the last run contradicts",
    STALE_CLAIM: "a claim whose runs are older than the last edit",
    UNSUPPORTED_CLAIM: "a claim for which there is no evidence in the log",
}
"""The kinds of alarm, and what each means."""

QUOTING = (UNSEEN_RESULT, CONTRADICTED_CLAIM, STALE_CLAIM, UNSUPPORTED_CLAIM)
"""Those that quote what an agent said."""

_EVIDENCE = "evidence/1"  # raise the number when the same log would be judged differently

NEWEST_SESSIONS = 20  # newest sessions whose claims are listed unless one session is named

_SLACK_SECONDS = 0.5  # a message may be written down this long before the call it follows
_COMMAND_CHARACTERS = 80
_SEARCHED_VIEWS = 400
_EDITED_NAMES = 3


class Ground(NamedTuple):
    """A call on which a verdict or an alarm rests.

    Attributes:
        view: id of the call in the log.
        ref: ref of its output; empty for none.
        time: seconds since the epoch.
        text: what it is, in a few words.
    """

    view: str
    ref: str
    time: float
    text: str


class JudgedClaim(NamedTuple):
    """A claim, and the verdict on it.

    Attributes:
        claim: the claim, with its words.
        session: name of its session.
        message: number of the message in the session's log.
        time: when it was made, seconds since the epoch.
        verdict: one of VERDICTS.
        why: the reason, in one line.
        grounds: the calls on which the verdict rests; empty if there are none.
    """

    claim: Claim
    session: str
    message: int
    time: float
    verdict: str
    why: str
    grounds: tuple[Ground, ...]


class Alarm(NamedTuple):
    """Something that is wrong, with the calls on which it rests; ``kind`` is one of ALARMS."""

    kind: str
    text: str
    grounds: tuple[Ground, ...]
    command: str = ""
    ref: str = ""

    @property
    def at(self) -> str:
        """Ref of the output that it is about; empty for none."""
        return self.ref or next((one.ref for one in self.grounds if one.ref), "")

    @property
    def outputs(self) -> set[str]:
        """Names of the outputs that it is about, or rests on."""
        refs = (self.ref, *(ground.ref for ground in self.grounds))
        return {parse_ref(ref).name for ref in refs if ref}


class SessionEvidence(NamedTuple):
    """The evidence about one session.

    Attributes:
        session: name of the session.
        checks: its checks that have ended, in order.
        edits: its edits, in order.
        claims: the claims of its agent, in order.
        alarms: what is wrong in it.
        messages: number of its agent's messages.
        not_read: number of these that no rule matches, or that were blanked.
        open_commands: number of commands whose edits nobody can name.
    """

    session: str
    checks: tuple[Check, ...]
    edits: tuple[Edit, ...]
    claims: tuple[JudgedClaim, ...]
    alarms: tuple[Alarm, ...]
    messages: int
    not_read: int
    open_commands: int

    @property
    def lacking(self) -> int:
        """Number of claims that are not supported."""
        return sum(one.verdict != SUPPORTED for one in self.claims)


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
    others = _relatives(store, session)
    calls = _with_those_of(store, others, calls)
    checks = [check for call in calls for check in checks_of(store, call, session.cwd)]
    edits = [edit for call in calls for edit in edits_of(store, call, session.cwd)]
    events = events_of(store, session.name)
    trail = _Trail(checks, edits, calls, _clock_in_utc if in_utc else _clock)
    claims = [judged for message in events.messages for judged in _judged(trail, session.name, message)]
    read = {judged.message for judged in claims}
    is_helper = any(session.name.startswith(f"{name}-") for name in others)
    of_all = () if is_helper else _check_alarms(trail)  # the session whose helper it is raises them
    alarms = [
        *_forgotten(store, session, calls, Holding(events)),
        *of_all,
        *_unread_edits(store, trail, starts_here=not (is_helper or _goes_on(events.changes))),
        *_unseen_results(store, trail, claims),
        *(_claim_alarm(one) for one in claims if one.verdict != SUPPORTED),
    ]
    return SessionEvidence(
        session.name,
        tuple(checks),
        tuple(edits),
        tuple(claims),
        tuple(alarms),
        len(events.messages),
        sum(one.number not in read for one in events.messages),
        sum(may_have_edited(call) for call in calls),
    )


class DoubtedClaims:
    """Counts the claims that nothing supports in the newest sessions.

    The verdict on a claim depends only on what came before it. So a session is judged again if it has new messages, or
    calls that were logged late: they came before its last message.
    """

    def __init__(self, store: Reading, project: Project | None = None) -> None:
        """Prepare to count, for the sessions that were begun in a project, or for all."""
        self._store = store
        self._project = project
        self._judged: dict[str, tuple[int, int]] = {}  # number of messages, and of their unsupported claims
        self._after = 0  # number of the last view that was looked at

    def count(self) -> int:
        """Return the present number."""
        counts = self._store.index.session_counts()
        started = None if self._project is None else started_in(self._store, self._project)
        sessions = [one for one in self._store.index.sessions() if started is None or one.name in started]
        asked = sorted((one for one in sessions if one.name in counts), key=lambda one: counts[one.name].last)
        found: dict[str, tuple[int, int]] = {}
        newest = self._store.index.newest_view()
        for session in asked[-NEWEST_SESSIONS:]:
            messages = events_of(self._store, session.name).messages
            before = self._judged.get(session.name)
            is_judged = before and before[0] == len(messages) and not self._came_late(session.name, messages[-1:])
            if not messages or is_judged:
                found[session.name] = before or (0, 0)
            else:
                found[session.name] = len(messages), evidence_of(self._store, session).lacking
        self._judged, self._after = found, newest
        return sum(lacking for _, lacking in found.values())

    def _came_late(self, session: str, last: Sequence[AgentMessage]) -> bool:
        """Return whether calls before the last message were logged since the last count."""
        rows = self._store.index.views_after(self._after, session=session) if last else []
        return any(indexed.view.time <= last[0].time for _, indexed in rows)


def forgotten_failures(store: Reading, session: Session) -> list[Alarm]:
    """Return the failures that a session's context once had, and has lost."""
    calls = calls_of(store, session=session.name)
    return list(_forgotten(store, session, calls, Holding(events_of(store, session.name))))


def _goes_on(changes: Sequence[object]) -> bool:
    """Return whether a session was resumed or forked, so that its log lacks what came before."""
    return bool(changes) and getattr(changes[0], "event", "") in (RESUMED, FORKED)


def _relatives(store: Reading, session: Session) -> list[str]:
    """Return the names of a session's helpers, or of the session whose helper it is, which share its id."""
    return [
        one.name
        for one in (store.index.sessions() if session.harness_id else ())
        if one.harness_id == session.harness_id and one.harness == session.harness and one.name != session.name
    ]


def _with_those_of(store: Reading, others: Sequence[str], calls: Sequence[Call]) -> list[Call]:
    """Return the calls of a session and of others, in order of time.

    The log has them in the order of writing, and an import may be older than what is there.
    """
    more = [call for name in others for call in calls_of(store, session=name)]
    return sorted([*calls, *more], key=lambda call: call.view.time)


class _Trail:
    """Checks, edits and calls in order, up to a time."""

    def __init__(
        self, checks: Sequence[Check], edits: Sequence[Edit], calls: Sequence[Call], clock: Callable[[float], str]
    ) -> None:
        self.checks = checks
        self.clock = clock
        self.all_edits = edits
        self.calls = calls
        self.edits = [edit for edit in edits if edit.bears_on_checks]
        self._times = (
            [one.view.time for one in checks],
            [one.time for one in self.edits],
            [one.view.time for one in calls],
        )

    def before(self, when: float) -> "_Trail":
        """Return what there was before a time."""
        made = object.__new__(_Trail)
        checks, edits, calls = (bisect_right(times, when) for times in self._times)
        made.checks, made.edits, made.calls = self.checks[:checks], self.edits[:edits], self.calls[:calls]
        made.all_edits, made._times, made.clock = self.all_edits, self._times, self.clock
        return made

    def edited_since(self, check: Check) -> list[Edit]:
        """Return the edits after a check of files on which it could depend."""
        first = bisect_right(self._times[1], check.view.time)
        return [one for one in self.edits[first:] if _concerns(one, check)]

    def may_have_edited_since(self, check: Check) -> Call | None:
        """Return the first call after a check of which nobody can tell what files it changed; None for none."""
        later = self.calls[bisect_right(self._times[2], check.view.time, hi=len(self.calls)) :]
        unsure = {edit.call.view.id for edit in self.all_edits if not edit.sure}
        return next((call for call in later if may_have_edited(call) or call.view.id in unsure), None)

    def unresolved(self, kinds: Iterable[str]) -> list[Check]:
        """Return failed runs of some kinds for which no later run of the same check, on as much, succeeded."""
        wanted = [one for one in self.checks if one.kind in kinds]
        return [
            run
            for at, run in enumerate(wanted)
            if run.outcome == FAILED and not any(_makes_good(later, run) for later in wanted[at + 1 :])
        ]


def _makes_good(later: Check, run: Check) -> bool:
    """Return whether a later run tells anew what a failed run told: the same check of as much, or all of it."""
    if later.key == run.key:
        covers = later.is_whole or covers_operands(later.operands, run.operands)
        return covers and (later.outcome == PASSED or (later.outcome == FAILED and not run.is_whole))
    same = later.kind == run.kind and later.folder == run.folder and may_be_the_same(later.phrase, run.phrase)
    return same and later.is_whole and later.outcome == PASSED


def _concerns(edit: Edit, check: Check) -> bool:
    """Return whether a check could depend on an edited file, which is so if the file lies below where the check ran."""
    return not check.folder or edit.path.startswith(check.folder.rstrip("/") + "/")


# claims


def _judged(trail: _Trail, session: str, message: AgentMessage) -> Iterator[JudgedClaim]:
    claims = claims_in(message.text) if message.text else []
    if not claims:
        return
    known = trail.before(message.time + _SLACK_SECONDS)
    for claim in claims:
        verdict, why, grounds = _verdict(claim, known)
        yield JudgedClaim(claim, session, message.number, message.time, verdict, why, tuple(grounds))


_Verdict = tuple[str, str, list[Ground]]


def _verdict(claim: Claim, trail: _Trail) -> _Verdict:
    if claim.kind == RAN:
        return _of_run(claim, trail)
    runs = [one for one in trail.checks if one.kind in claim.checks]
    noun = "check" if claim.vague else NOUNS[claim.checks[0]]
    if not runs:
        verb = "were" if noun == "tests" else "was"
        edited = trail.edits[-1:]
        return NO_EVIDENCE, f"no {noun} {verb} run before it", [_of_edit(one) for one in edited]
    last = runs[-1]
    if edited := trail.edited_since(last):
        ended = {PASSED: "", FAILED: ", and failed,", UNKNOWN: ", how is not known,"}[last.outcome]
        why = f"{NOUNS[last.kind]} last ran {trail.clock(last.view.time)}{ended} before {_names(edited)} was edited"
        return STALE, f"{why} {trail.clock(edited[-1].time)}", [_of_check(last), _of_edit(edited[-1])]
    if last.outcome == FAILED:
        if not claim.is_whole or claim.vague:
            return NO_EVIDENCE, "the last run failed", [_of_check(last)]
        if opened := trail.may_have_edited_since(last):
            why = "the last run failed, and nobody can tell what a command changed since"
            return NO_EVIDENCE, why, [_of_check(last), _of_call(opened)]
        return CONTRADICTED, "the last run failed", [_of_check(last)]
    if last.outcome == UNKNOWN:
        return NO_EVIDENCE, "how the last run ended is not known", [_of_check(last)]
    if claim.is_whole and not claim.vague and (failing := trail.unresolved(claim.checks)):
        why = "another run failed, and only a part of it, or something else, was run since"
        return NO_EVIDENCE, why, [_of_check(failing[-1]), _of_check(last)]
    how = {BY_OUTPUT: ", as its last lines say", BY_SILENCE: ", as it printed nothing"}.get(last.known_by, "")
    return SUPPORTED, f"the last run ended well {trail.clock(last.view.time)}{how}", [_of_check(last)]


def _of_run(claim: Claim, trail: _Trail) -> _Verdict:
    """Judge ``I ran …``."""
    if claim.command:
        wanted = " ".join(claim.command.split())
        for call in reversed(trail.calls):
            if wanted in " ".join(command_of(call).split()):
                return SUPPORTED, f"it ran {trail.clock(call.view.time)}", [_of_call(call)]
        return NO_EVIDENCE, "no such run is in the log", []
    runs = [one for one in trail.checks if one.kind in claim.checks]
    if runs:
        return SUPPORTED, f"it ran {trail.clock(runs[-1].view.time)}", [_of_check(runs[-1])]
    return NO_EVIDENCE, "no such run is in the log", []


def _names(edits: Sequence[Edit]) -> str:
    names = list(dict.fromkeys(one.name for one in edits))
    more = f" and {len(names) - _EDITED_NAMES} more" if len(names) > _EDITED_NAMES else ""
    return ", ".join(names[:_EDITED_NAMES]) + more


def _clock(when: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(when))


def _clock_in_utc(when: float) -> str:
    return time.strftime("%H:%M:%S UTC", time.gmtime(when))


def _of_check(check: Check) -> Ground:
    return Ground(check.view.id, check.ref, check.view.time, f"{check.phrase} {check.outcome}")


def _of_edit(edit: Edit) -> Ground:
    return Ground(edit.call.view.id, "", edit.time, f"{edit.name} edited")


def _of_call(call: Call) -> Ground:
    ref = format_ref(call.view.refs[0]) if call.view.refs else ""
    return Ground(call.view.id, ref, call.view.time, one_line(call.asked, _COMMAND_CHARACTERS))


# alarms


_CLAIM_ALARMS = {CONTRADICTED: CONTRADICTED_CLAIM, STALE: STALE_CLAIM, NO_EVIDENCE: UNSUPPORTED_CLAIM}


def _claim_alarm(one: JudgedClaim) -> Alarm:
    return Alarm(_CLAIM_ALARMS[one.verdict], f"“{one_line(one.claim.words, 120)}”: {one.why}", one.grounds)


def _check_alarms(trail: _Trail) -> Iterator[Alarm]:
    """Yield an alarm for each check in each place whose last run failed, or is older than an edit."""
    last: dict[tuple[str, str], Check] = {}
    for check in trail.checks:
        last[check.kind, check.folder] = check
        if check.masked and check.outcome == FAILED and exit_code_of(check.call) == 0:
            text = f"{check.phrase} failed, and the line that it ran in ended with exit 0"
            yield Alarm(MASKED_EXIT, text, (_of_check(check),), check.call.asked)
    for check in last.values():
        edited = trail.edited_since(check)
        if check.outcome == FAILED:
            since = f"; {_names(edited)} was edited since, and it was not run again" if edited else ""
            grounds = (_of_check(check), *(_of_edit(one) for one in edited[-1:]))
            yield Alarm(FAILING_CHECK, f"the last run of the {_noun(check)} failed{since}", grounds, check.call.asked)
        elif check.outcome == PASSED and edited:
            text = f"the {_noun(check)} last ran {trail.clock(check.view.time)}, before {_names(edited)} was edited"
            grounds = (_of_check(check), _of_edit(edited[-1]))
            yield Alarm(STALE_CHECK, f"{text} {trail.clock(edited[-1].time)}", grounds, check.call.asked)


def _noun(check: Check) -> str:
    return NOUNS[check.kind]


def _unseen_results(store: Reading, trail: _Trail, claims: Iterable[JudgedClaim]) -> Iterator[Alarm]:
    """Yield alarms for runs on which claims rest, and whose result no reply showed."""
    by_view = {check.view.id: check for check in trail.checks if check.masked}
    told: set[str] = set()
    for claim in claims:
        if claim.claim.kind == RAN or claim.verdict not in (SUPPORTED, NO_EVIDENCE):
            continue
        for ground in claim.grounds[-1:]:
            check = by_view.get(ground.view)
            if check and ground.view not in told and check.outcome != FAILED and not shows_verdict(store, check):
                told.add(ground.view)
                text = f"“{one_line(claim.claim.words, 120)}”, though the reply did not show how {check.phrase} ended"
                yield Alarm(UNSEEN_RESULT, text, (_of_check(check),), check.call.asked)


def _unread_edits(store: Reading, trail: _Trail, *, starts_here: bool) -> Iterator[Alarm]:
    """Yield alarms for edits of what had not been shown: the lines that they name or, without any, the file.

    Only edits by commands, and those of imported sessions, are judged: the file of an editing tool that a hook reports
    may have been shown to the model in a way that hooks do not report. What a session has written itself it knows.
    """
    if not starts_here:
        return
    known: set[str] = set()
    of_call: dict[str, list[Edit]] = {}
    for edit in trail.all_edits:
        of_call.setdefault(edit.call.view.id, []).append(edit)
    named: dict[str, list[Call]] = {}
    for place, call in enumerate(trail.calls):
        for edit in of_call.get(call.view.id, ()):
            is_new, before = edit.path not in known, trail.calls[:place]
            known.add(edit.path)
            if edit.path and edit.sure and is_new and _is_unread(store, edit, before, named):
                what = "written over" if edit.wrote else "changed"
                text = f"{edit.name} was {what}, and nothing of {'it' if edit.wrote else 'what changed'} had been shown"
                yield Alarm(UNREAD_EDIT, text, (_of_call(call),))
        for name in set(_NAME.findall(call.view.request)):
            named.setdefault(name, []).append(call)


_NAME = re.compile(r"[\w.+@~-]+")
_WORD = re.compile(r"\w.*\w.*\w")
_WRITTEN_OVER = re.compile(r"(?i)\b(?:has been updated|overwrote|overwritten|successfully overwr)")


def _is_unread(store: Reading, edit: Edit, before: Sequence[Call], named: Mapping[str, Sequence[Call]]) -> bool:
    """Return whether nothing of what an edit changed stood in an earlier reply, as far as that is known."""
    request = request_of(edit.call.view)
    by_command = bool(command_of(edit.call))
    if edit.wrote:
        if by_command or "imported" not in request or not _stands_in(store, edit.call, _WRITTEN_OVER.search):
            return False  # it may have been new
    elif not by_command and "imported" not in request:
        return False
    name = edit.path.rpartition("/")[2]
    lines = [] if by_command else [line for line in replaced_lines_of(edit) if _WORD.search(line)]
    if not lines:
        can_tell = edit.wrote or by_command or request.get("tool") not in ("apply_patch", "patch")
        return can_tell and name not in named and not _was_shown(store, (name,), before)
    wanted = {*lines, *(dumps(line, ensure_ascii=False)[1:-1] for line in lines)}
    return not (_was_shown(store, wanted, named.get(name, ())) or _was_shown(store, wanted, before))


def _was_shown(store: Reading, texts: Collection[str], before: Sequence[Call]) -> bool:
    """Return whether any earlier reply may have shown one of some texts."""
    return any(
        _stands_in(store, call, lambda shown: any(text in shown for text in texts))
        for call in reversed(before[-_SEARCHED_VIEWS:])
    )


def _stands_in(store: Reading, call: Call, find: Callable[[str], object]) -> bool:
    """Return whether something is found in the text of a reply; also if nobody can tell any more."""
    try:
        return bool(call.view.bytes_shown and find(view_text(store, call.indexed)))
    except SightlineError:
        return True


def _forgotten(store: Reading, session: Session, calls: Sequence[Call], holding: Holding) -> Iterator[Alarm]:
    """Yield alarms for failures that the context once had."""
    if not holding.has_lost:
        return
    well = {command_of(call): call.view.time for call in calls if call.ended_well and command_of(call)}
    holdings, newest = Holdings(store), {command_of(call): call for call in calls if call.failed}
    for command, call in newest.items():
        buffer = call.buffer
        if buffer is None or not call.failed or not command or buffer.state not in ("sealed", "interrupted"):
            continue
        if call.view.session != session.name or well.get(command, 0.0) > call.view.time:
            continue
        try:
            failures = failures_if_quick(store, buffer) or ()
            coverage = coverage_of(store, buffer, session=session.name)
            held = held_of(store, buffer, coverage, holdings=holdings)
        except SightlineError:
            continue
        gone = [
            one
            for one in failures
            if one.is_seen(coverage)
            and all(
                place.stream not in held.streams
                or not common(place.telling, union(held.streams[place.stream].held, held.streams[place.stream].unknown))
                for place in one.places
            )
            and holding.fate(call.view).state == "went"
        ]
        if gone:
            names = ", ".join(_failure_name(one) for one in gone[:_EDITED_NAMES])
            more = f" and {len(gone) - _EDITED_NAMES} more" if len(gone) > _EDITED_NAMES else ""
            fate = holding.fate(call.view)
            what = fate.change.event if fate.change else "compacted"
            text = f"{names}{more}: seen only before the context was {what}, and not shown again"
            yield Alarm(FORGOTTEN, text, (_of_call(call),), command, gone[0].ref(buffer.name))


def _failure_name(failure: Failure) -> str:
    return one_line(failure.name or failure.text, _COMMAND_CHARACTERS)
