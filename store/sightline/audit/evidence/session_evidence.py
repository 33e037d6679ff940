"""Judges the claims of a session's agent by its log: by checks, and by the edits between them.

Everything here comes from the log. A message means only what a rule matches, and if the log does not tell, the verdict
is *no evidence*.
"""

import os
import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.buffer_failures import Failure, failures_if_quick, rules_of
from sightline.audit.evidence.check_names import (
    BUILD,
    KINDS,
    LINT,
    NOUNS,
    TEST,
    TYPES,
    covers_operands,
    is_of_other_language,
    may_be_the_same,
)
from sightline.audit.evidence.checks import (
    BY_OUTPUT,
    BY_SILENCE,
    FAILED,
    PASSED,
    UNKNOWN,
    Check,
    CheckCounts,
    checks_of,
    command_of,
    counts_of,
    exit_code_of,
    hides_result,
    may_show_others,
    request_of,
)
from sightline.audit.evidence.claims import FIXED, OF_COMMAND, RAN, SAME, Claim, claims_in
from sightline.audit.evidence.comparisons import comparison_of, may_mean
from sightline.audit.evidence.edits import Edit, edits_of, may_have_edited, mends_layout, replaced_lines_of
from sightline.audit.evidence.languages import UnreadMessages, unread_among
from sightline.audit.evidence.named_runs import runs_named
from sightline.audit.evidence.shown_files import AT_LARGE, NAMED, NOTHING, shows_lines
from sightline.audit.held_lines import Holding, Holdings, held_of
from sightline.audit.line_spans import common, union
from sightline.audit.timeline import Call, calls_of
from sightline.base.errors import SightlineError
from sightline.base.records import Session
from sightline.base.refs import format_ref, parse_ref
from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple
from sightline.log.session_events import FORKED, RESUMED, AgentMessage
from sightline.log.session_history import events_of
from sightline.log.view_text import view_text
from sightline.shape.summary import one_line
from sightline.store import Reading

SUPPORTED, CONTRADICTED, STALE = "supported", "contradicted", "stale"
NO_EVIDENCE, NOT_KNOWN = "no evidence", "not known"
VERDICTS = (CONTRADICTED, STALE, NO_EVIDENCE, NOT_KNOWN, SUPPORTED)
DOUBTED = (CONTRADICTED, STALE, NO_EVIDENCE)
"""The verdicts that speak against a claim; that something is not known does not."""

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

_EVIDENCE = "evidence/5"  # raise the number when the same log would be judged differently

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
        unread: those of these in a language without rules, or that were blanked.
        open_commands: number of commands whose edits nobody can name.
    """

    session: str
    checks: tuple[Check, ...]
    edits: tuple[Edit, ...]
    claims: tuple[JudgedClaim, ...]
    alarms: tuple[Alarm, ...]
    messages: int
    unread: UnreadMessages
    open_commands: int

    @property
    def not_read(self) -> int:
        """Number of messages that no rule can read."""
        return self.unread.number

    @property
    def lacking(self) -> int:
        """Number of claims that the log speaks against."""
        return sum(one.verdict in DOUBTED for one in self.claims)


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
    clock, goes_on = _clock_in_utc if in_utc else _clock, _goes_on(events.changes)
    trail = _Trail(store, checks, edits, calls, clock, goes_on=goes_on)
    claims = [judged for message in events.messages for judged in _judged(trail, session.name, message)]
    is_helper = any(session.name.startswith(f"{name}-") for name in others)
    of_all = () if is_helper else _check_alarms(trail)  # the session whose helper it is raises them
    alarms = [
        *_forgotten(store, session, trail, Holding(events)),
        *of_all,
        *_unread_edits(store, trail, session, starts_here=not (is_helper or goes_on)),
        *_claim_alarms(trail, claims),
    ]
    return SessionEvidence(
        session.name,
        tuple(checks),
        tuple(edits),
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
    checks = [check for call in calls for check in checks_of(store, call, session.cwd)]
    return list(_forgotten(store, session, _Trail(store, checks, (), calls, _clock), Holding(events)))


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
        self,
        store: Reading,
        checks: Sequence[Check],
        edits: Sequence[Edit],
        calls: Sequence[Call],
        clock: Callable[[float], str],
        *,
        goes_on: bool = False,
    ) -> None:
        self.store = store
        self.checks = checks
        self.clock = clock
        self.all_edits = edits
        self.calls = calls
        self.goes_on = goes_on
        self.edits = [edit for edit in edits if edit.bears_on_checks]
        self._times = (
            [one.view.time for one in checks],
            [one.time for one in self.edits],
            [one.view.time for one in calls],
        )

    def before(self, when: float) -> "_Trail":
        """Return what there was before a time; what began with a message, such as its own calls, came after it."""
        made = object.__new__(_Trail)
        checks, edits, calls = (bisect_left(times, when) for times in self._times)
        made.checks, made.edits, made.calls = self.checks[:checks], self.edits[:edits], self.calls[:calls]
        made.all_edits, made._times, made.clock = self.all_edits, self._times, self.clock
        made.store, made.goes_on = self.store, self.goes_on
        return made

    def last_known(self, runs: Sequence[Check]) -> Check | None:
        """Return the last of some runs of which it is known how it ended, if nothing was edited since; else None."""
        known = next((one for one in reversed(runs) if one.outcome != UNKNOWN), None)
        if known is None or known is runs[-1] or not self.edited_since(known):
            return known
        return None

    def may_show_others(self) -> Call | None:
        """Return the last call that may have shown how checks ended which are not known; None for none."""
        return next((call for call in reversed(self.calls) if may_show_others(self.store, call)), None)

    def may_show_since(self, check: Check) -> bool:
        """Return whether a command behind a check, and behind the edits since, may have shown such a check."""
        edited = self.edited_since(check)
        after = max(check.view.time, edited[-1].time if edited else 0.0)
        later = self.calls[bisect_right(self._times[2], after, hi=len(self.calls)) :]
        return any(may_show_others(self.store, call) for call in later)

    def counts_of(self, check: Check) -> CheckCounts | None:
        """Return what a run counts; None if nothing is known."""
        return counts_of(self.store, check)

    def passed_in(self, check: Check) -> int:
        """Return the number of tests that passed in a run; -1 if it is not known."""
        counts = self.counts_of(check)
        return counts.passed if counts else -1

    def hides(self, check: Check) -> bool:
        """Return whether the reply of a check hid how it ended."""
        return hides_result(self.store, check)

    def edited_since(self, check: Check) -> list[Edit]:
        """Return the edits after a check of files on which it could depend."""
        first = bisect_right(self._times[1], check.view.time)
        return [one for one in self.edits[first:] if _concerns(one, check)]

    def what(self, check: Check) -> str:
        """Return what a check is called: by its kind or, where something else of that kind ran later, by its words."""
        later = [one for one in self.checks if one.kind == check.kind and one.view.time > check.view.time]
        if not later:
            return NOUNS[check.kind]
        elsewhere = not all(_are_nested(one.folder, check.folder) for one in later)
        return check.phrase + (f" in {os.path.basename(check.folder)}" if elsewhere else "")

    def may_have_edited_since(self, check: Check) -> Call | None:
        """Return the first call after a check of which nobody can tell what files it changed; None for none."""
        later = self.calls[bisect_right(self._times[2], check.view.time, hi=len(self.calls)) :]
        unsure = {edit.call.view.id for edit in self.all_edits if not edit.sure}
        return next((call for call in later if may_have_edited(call) or call.view.id in unsure), None)

    def formatted_since(self, check: Check) -> bool:
        """Return whether what only checks a layout was followed by the formatter that mends it."""
        later = self.calls[bisect_right(self._times[2], check.view.time, hi=len(self.calls)) :]
        return any(mends_layout(call, check.phrase) for call in later)

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
    same = (
        later.kind == run.kind and _are_nested(later.folder, run.folder) and may_be_the_same(later.phrase, run.phrase)
    )
    return same and later.outcome == PASSED and (later.is_whole or covers_operands(later.operands, run.operands))


def _concerns(edit: Edit, check: Check) -> bool:
    """Return whether a check could depend on an edited file.

    It could if the file lies below where the check ran; what compiles or lints one language reads no other's sources.
    """
    program = check.phrase.split()[0]
    if edit.is_script and program not in _OF_SCRIPTS:
        return False
    if check.kind != TEST and is_of_other_language(program, edit.path):
        return False
    return not check.folder or edit.path.startswith(check.folder.rstrip("/") + "/")


_OF_SCRIPTS = ("bats", "bash", "sh", "zsh", "shellspec", "shellcheck", "shfmt", "pre-commit")


# claims


def _judged(trail: _Trail, session: str, message: AgentMessage) -> Iterator[JudgedClaim]:
    claims = claims_in(message.text) if message.text else []
    if not claims:
        return
    known = trail.before(message.time)
    for claim in claims:
        if judged := _verdict(claim, known):
            verdict, why, grounds = judged
            yield JudgedClaim(claim, session, message.number, message.time, verdict, why, tuple(grounds))


_Verdict = tuple[str, str, list[Ground]]


def _verdict(claim: Claim, trail: _Trail) -> _Verdict | None:
    """Return the verdict on a claim, the reason, and its grounds; None for one that rests on no check."""
    if claim.kind == RAN:
        return _of_run(claim, trail)
    if claim.kind == SAME:
        return _of_comparison(claim, trail)
    runs: Sequence[Check] = [one for one in trail.checks if one.kind in claim.checks]
    if claim.kind == OF_COMMAND and (same := [one for one in runs if claim.command in command_of(one.call)]):
        runs = same
        if re.search(r"\b(?:passed|PASS)\b", claim.words) and same[-1].outcome == PASSED:
            return SUPPORTED, f"it ran, and ended well, {trail.clock(same[-1].view.time)}", [_of_check(same[-1])]
    runs = runs_named(claim.words, runs)
    if claim.kind == FIXED and not any(one.outcome == FAILED for one in runs):
        return None
    if not runs:
        return _without_runs(claim, trail)
    known = trail.last_known(runs)
    last = runs[-1] if known is None else known
    edited = trail.edited_since(last)
    if claim.vague:
        return _of_vague(trail, last, edited=bool(edited))
    since = [one for one in trail.checks if one.outcome == PASSED and not trail.edited_since(one)]
    if edited and {BUILD, TYPES} & {*claim.checks} and (later := [one for one in since if _covers(one, last)]):
        return (
            SUPPORTED,
            f"{NOUNS[later[-1].kind]} ended well {trail.clock(later[-1].view.time)}",
            [_of_check(later[-1])],
        )
    if edited and not trail.may_show_since(last):
        ended = {PASSED: "", FAILED: ", and failed,", UNKNOWN: ", how is not known,"}[last.outcome]
        why = f"{trail.what(last)} last ran {trail.clock(last.view.time)}{ended} before {_edited(edited)}"
        return STALE, f"{why} {trail.clock(edited[-1].time)}", [_of_check(last), _of_edit(edited[-1])]
    if edited:
        why = "another command may have checked it since the last run and edit"
        return NOT_KNOWN, why, [_of_check(last), _of_edit(edited[-1])]
    if last.outcome == FAILED:
        return _of_failed(claim, trail, runs, last)
    if last.outcome == UNKNOWN:
        if trail.hides(last):
            return NO_EVIDENCE, "its reply did not show how the last run ended", [_of_check(last)]
        return NOT_KNOWN, "how the last run ended is not known", [_of_check(last)]
    return _of_passed(claim, trail, runs, last)


def _without_runs(claim: Claim, trail: _Trail) -> _Verdict:
    """Judge a claim before which no check of its kind ran."""
    if BUILD in claim.checks and not claim.vague and (tested := [one for one in trail.checks if one.kind == TEST]):
        last = trail.last_known(tested) or tested[-1]
        if last.outcome == PASSED and not trail.edited_since(last):
            return SUPPORTED, f"its tests ran and ended well {trail.clock(last.view.time)}", [_of_check(last)]
        return NOT_KNOWN, "only tests were run, which may have been built", [_of_check(last)]
    if shown := trail.may_show_others():
        return NOT_KNOWN, "another command may have shown it", [_of_call(shown)]
    if claim.vague:
        return NOT_KNOWN, "no check was run before it", []
    noun = NOUNS[claim.checks[0]]
    verb = "were" if noun == "tests" else "was"
    return NO_EVIDENCE, f"no {noun} {verb} run before it", [_of_edit(one) for one in trail.edits[-1:]]


def _of_vague(trail: _Trail, last: Check, *, edited: bool) -> _Verdict:
    """Judge a claim that may mean something else than the checks; a failed one does not contradict it."""
    if edited:
        return NOT_KNOWN, "files were edited since the last run", [_of_check(last)]
    if last.outcome != PASSED:
        return (
            NOT_KNOWN,
            "the last run failed" if last.outcome == FAILED else "how it ended is not known",
            [_of_check(last)],
        )
    return (
        SUPPORTED,
        f"the last run ended well {trail.clock(last.view.time)}{_HOW.get(last.known_by, '')}",
        [_of_check(last)],
    )


_HOW = {BY_OUTPUT: ", as its last lines say", BY_SILENCE: ", as it printed nothing"}


def _of_failed(claim: Claim, trail: _Trail, runs: Sequence[Check], last: Check) -> _Verdict:
    """Judge a claim after which the last run of its checks failed, and nothing was edited since."""
    passed = trail.passed_in(last)
    if not claim.is_whole:
        if claim.number and claim.number == passed:
            return SUPPORTED, f"the last run failed, and counts {passed:,} passed", [_of_check(last)]
        return NOT_KNOWN, "the last run failed, perhaps in what the claim is not about", [_of_check(last)]
    if any(one.outcome == PASSED for one in runs if not trail.edited_since(one)):
        return NOT_KNOWN, "one run failed, and another ended well", [_of_check(last)]
    if runs[-1] is not last:
        return (
            NOT_KNOWN,
            "a run failed, and how the later one ended is not known",
            [_of_check(last), _of_check(runs[-1])],
        )
    if opened := trail.may_have_edited_since(last):
        why = "the last run failed, and nobody can tell what a command changed since"
        return NOT_KNOWN, why, [_of_check(last), _of_call(opened)]
    return CONTRADICTED, "the last run failed", [_of_check(last)]


def _of_passed(claim: Claim, trail: _Trail, runs: Sequence[Check], last: Check) -> _Verdict:
    """Judge a claim before which the last run of its checks ended well, and nothing was edited since."""
    counts = trail.counts_of(last)
    if claim.number and counts and counts.passed >= 0 and claim.number != counts.passed:
        of_all = sum(max(trail.passed_in(one), 0) for one in runs)
        earlier = any(trail.passed_in(one) == claim.number for one in runs)
        skipped = claim.number == counts.all and claim.is_whole
        if skipped or (claim.number > max(counts.all, of_all) and not earlier):
            why = f"the last run counts {counts.passed:,} passed of {counts.all:,}"
            return NO_EVIDENCE, why, [_of_check(last)]
        if claim.number > counts.all:
            return NOT_KNOWN, f"the last run counts {counts.passed:,} passed", [_of_check(last)]
    counted = claim.number and counts and counts.passed == claim.number
    meant = {id(one) for one in runs}
    failing = [one for one in trail.unresolved(claim.checks) if id(one) in meant] if claim.is_whole else []
    if failing and not counted:
        grounds = [_of_check(failing[-1]), _of_check(last)]
        if last.is_whole or last.phrase != failing[-1].phrase or not claim.is_total:
            return NOT_KNOWN, "another run failed, and something else was run since", grounds
        return NO_EVIDENCE, "another run failed, and only a part of it was run since", grounds
    how = _HOW.get(last.known_by, "")
    return SUPPORTED, f"the last run ended well {trail.clock(last.view.time)}{how}", [_of_check(last)]


def _of_run(claim: Claim, trail: _Trail) -> _Verdict:
    """Judge ``I ran …``."""
    if claim.command:
        wanted = " ".join(claim.command.split())
        for call in reversed(trail.calls):
            if wanted in " ".join(command_of(call).split()):
                return SUPPORTED, f"it ran {trail.clock(call.view.time)}", [_of_call(call)]
    elif runs := [one for one in trail.checks if one.kind in claim.checks]:
        return SUPPORTED, f"it ran {trail.clock(runs[-1].view.time)}", [_of_check(runs[-1])]
    if shown := trail.may_show_others():
        return NOT_KNOWN, "another command may have run it", [_of_call(shown)]
    return NO_EVIDENCE, "no such run is in the log", []


def _of_comparison(claim: Claim, trail: _Trail) -> _Verdict | None:
    """Judge a claim that texts are the same by the last command, if that compared them; None for any other claim."""
    ran = next((call for call in reversed(trail.calls) if command_of(call)), None)
    compared = comparison_of(ran) if ran else None
    if compared is None or not may_mean(claim.words, compared):
        return None
    grounds = [_of_call(compared.call)]
    if any(edit.time > compared.call.view.time for edit in trail.edits):
        return NOT_KNOWN, "files were edited since the last comparison", grounds
    if compared.is_same:
        return SUPPORTED, f"the last comparison found no difference {trail.clock(compared.call.view.time)}", grounds
    return CONTRADICTED, "the last comparison found a difference", grounds


def _names(edits: Sequence[Edit]) -> str:
    names = list(dict.fromkeys(one.name for one in edits))
    more = f" and {len(names) - _EDITED_NAMES} more" if len(names) > _EDITED_NAMES else ""
    return ", ".join(names[:_EDITED_NAMES]) + more


def _edited(edits: Sequence[Edit]) -> str:
    return f"{_names(edits)} {'was' if len({one.name for one in edits}) == 1 else 'were'} edited"


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


def _claim_alarms(trail: _Trail, claims: Iterable[JudgedClaim]) -> Iterator[Alarm]:
    """Yield an alarm for each claim that is doubted; those on the same ground are doubted once."""
    by_view = {check.view.id: check for check in trail.checks}
    told: set[tuple[object, ...]] = set()
    for one in claims:
        words, unseen = f"“{one_line(one.claim.words, 120)}”", None
        if one.verdict == NO_EVIDENCE and one.claim.kind != RAN and len(one.grounds) == 1:
            check = by_view.get(one.grounds[0].view)
            unseen = check if check and check.outcome == UNKNOWN else None
        about = (one.verdict, one.why) if unseen is None else (unseen.view.id,)
        if one.verdict not in DOUBTED or about in told:
            continue
        told.add(about)
        if unseen:
            text = f"{words}, though the reply did not show how {unseen.phrase} ended"
            yield Alarm(UNSEEN_RESULT, text, one.grounds, unseen.call.asked)
        else:
            yield Alarm(_CLAIM_ALARMS[one.verdict], f"{words}: {one.why}", one.grounds)


def _check_alarms(trail: _Trail) -> Iterator[Alarm]:
    """Yield an alarm for each check whose last run failed, or is older than an edit that no later check covers."""
    masked = _unmasked(trail)
    for check in masked:
        text = f"{check.phrase} failed, and the line that it ran in ended with exit 0"
        yield Alarm(MASKED_EXIT, text, (_of_check(check),), check.call.asked)
    told: set[str] = set()
    for check in _last_of_each(trail.checks):
        edited = [one for one in trail.edited_since(check) if _bears_on(one, check)]
        later = [one for one in trail.checks if one.view.time > check.view.time and one.outcome == PASSED]
        whole = [one for one in trail.checks if one.kind == check.kind and one.is_whole and one.outcome == PASSED]
        is_part = not check.is_whole and any(not trail.edited_since(one) for one in whole)
        made_good = any(_makes_good(one, check) or _covers(one, check) for one in later) or trail.formatted_since(check)
        if check.outcome == FAILED and not (check in masked or is_part or made_good or trail.may_show_since(check)):
            since = f"; {_edited(edited)} since, and it was not run again" if edited else ""
            grounds = (_of_check(check), *(_of_edit(one) for one in edited[-1:]))
            yield Alarm(
                FAILING_CHECK, f"the last run of {_the(trail.what(check))} failed{since}", grounds, check.call.asked
            )
        elif check.outcome == PASSED and edited:
            covered = any(one.view.time > edited[-1].time and _covers(one, check) for one in later)
            if not covered and edited[-1].path not in told and not trail.may_show_since(check):
                told.add(edited[-1].path)
                ran = f"{_the(trail.what(check))} last ran {trail.clock(check.view.time)}"
                grounds = (_of_check(check), _of_edit(edited[-1]))
                text = f"{ran}, before {_edited(edited)} {trail.clock(edited[-1].time)}"
                yield Alarm(STALE_CHECK, text, grounds, check.call.asked)


def _last_of_each(checks: Sequence[Check]) -> list[Check]:
    """Return the last run of each kind of check; runs in folders that lie in one another are runs of one place."""
    last: list[Check] = []
    for check in reversed(checks):
        if not any(one.kind == check.kind and _are_nested(one.folder, check.folder) for one in last):
            last.append(check)
    return sorted(last, key=lambda check: KINDS.index(check.kind))


def _are_nested(one: str, other: str) -> bool:
    one, other = one.rstrip("/") + "/", other.rstrip("/") + "/"
    return one.startswith(other) or other.startswith(one)


def _unmasked(trail: _Trail) -> list[Check]:
    """Return the last failed run of each check whose line ended well, if no later run succeeded."""
    failed: dict[tuple[str, str], Check] = {}
    for at, check in enumerate(trail.checks):
        if check.masked and check.outcome == FAILED and exit_code_of(check.call) == 0:
            later = [one for one in trail.checks[at + 1 :] if one.outcome != FAILED]  # what is not known is no alarm
            if not (any(_tells_anew(one, check) for one in later) or trail.formatted_since(check)):
                failed[check.kind, check.phrase] = check
    return list(failed.values())


_COVERED_BY = {TEST: (), BUILD: (BUILD, TYPES, TEST), TYPES: (TYPES, BUILD, TEST), LINT: (BUILD, TYPES, TEST)}
"""The kinds of check after which an older one of a kind is not worth an alarm: they have looked at the same files."""


def _covers(later: Check, check: Check) -> bool:
    """Return whether a check that ended well has looked at what an older one of the same place looked at."""
    if check.outcome == FAILED and (check.kind == LINT or (check.kind == TYPES and later.kind == TEST)):
        return False
    return later.kind in _COVERED_BY[check.kind] and _are_nested(later.folder, check.folder)


def _tells_anew(later: Check, check: Check) -> bool:
    """Return whether a later run is of the same kind and place, or has looked at as much."""
    same = later.kind == check.kind and _are_nested(later.folder, check.folder)
    return same or _covers(later, check)


def _bears_on(edit: Edit, check: Check) -> bool:
    """Return whether a check could depend on an edited file: lint of some files depends on these alone."""
    if check.kind == TEST or check.is_whole:
        return True
    return any(
        edit.path.endswith(one.removeprefix("./").rstrip("/")) or f"/{one.strip('./')}/" in edit.path
        for one in check.operands
    )


def _the(what: str) -> str:
    return f"the {what}" if what in NOUNS.values() else what


def _unread_edits(store: Reading, trail: _Trail, session: Session, *, starts_here: bool) -> Iterator[Alarm]:
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
    at_large = False  # whether an earlier call may have shown files that it did not name
    for place, call in enumerate(trail.calls):
        for edit in of_call.get(call.view.id, ()):
            is_new, before = edit.path not in known, trail.calls[:place]
            known.add(edit.path)
            if not (edit.path and edit.sure and is_new and edit.rewrites):
                continue
            by_itself = session.harness in _READ_FIRST and not command_of(call)
            if not by_itself and not at_large and _is_unread(store, edit, before, named):
                what = "written over" if edit.wrote else "changed"
                text = f"{edit.name} was {what}, and nothing of {'it' if edit.wrote else 'what changed'} had been shown"
                yield Alarm(UNREAD_EDIT, text, (_of_call(call),))
        shows = shows_lines(command_of(call)) if command_of(call) else NAMED
        at_large = at_large or shows == AT_LARGE
        for name in set(_NAME.findall(call.view.request)) if shows != NOTHING else ():
            named.setdefault(name, []).append(call)


_READ_FIRST = frozenset(("claude-code",))
"""Harnesses whose editing tools refuse a file that the model was not shown, in whatever way."""

_INSTRUCTION_FILES = "AGENTS.md CLAUDE.md GEMINI.md QWEN.md WARP.md .cursorrules .clinerules copilot-instructions.md"
_INSTRUCTIONS = frozenset(_INSTRUCTION_FILES.split())
"""Files that harnesses put into the context themselves."""

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
    if name in _INSTRUCTIONS:
        return False
    lines = [line for line in replaced_lines_of(edit) if _WORD.search(line)]
    if not lines:
        can_tell = edit.wrote or by_command or request.get("tool") not in ("apply_patch", "patch")
        in_reply = re.compile(rf"(?m)(?:^|[/ ]){re.escape(name)}(?::\d+[:-]|\s*<==|$(?=\n(?:\d+[:-]|@@|---|\+\+\+)))")
        return can_tell and name not in named and not _any_stands_in(store, before, in_reply.search)
    wanted = {*lines, *(dumps(line, ensure_ascii=False)[1:-1] for line in lines)}
    return not (_was_shown(store, wanted, named.get(name, ())) or _was_shown(store, wanted, before))


def _any_stands_in(store: Reading, before: Sequence[Call], find: Callable[[str], object]) -> bool:
    return any(_stands_in(store, call, find) for call in reversed(before[-_SEARCHED_VIEWS:]))


def _was_shown(store: Reading, texts: Collection[str], before: Sequence[Call]) -> bool:
    """Return whether any earlier reply may have shown one of some texts."""
    return _any_stands_in(store, before, lambda shown: any(text in shown for text in texts))


def _stands_in(store: Reading, call: Call, find: Callable[[str], object]) -> bool:
    """Return whether something is found in the text of a reply; also if nobody can tell any more."""
    try:
        return bool(call.view.bytes_shown and find(view_text(store, call.indexed)))
    except SightlineError:
        return True


def _forgotten(store: Reading, session: Session, trail: _Trail, holding: Holding) -> Iterator[Alarm]:
    """Yield alarms for failures of checks that the context once had, and that no later run made good."""
    if not holding.has_lost:
        return
    holdings, newest = Holdings(store), dict[tuple[str, str, str], Check]()
    for at, check in enumerate(trail.checks):
        later = [one for one in trail.checks[at + 1 :] if one.outcome != FAILED]
        made_good = any(_tells_anew(one, check) for one in later)
        if check.outcome == FAILED and not made_good and not trail.formatted_since(check):
            newest[check.key] = check
    for check in newest.values():
        call, buffer, command = check.call, check.call.buffer, command_of(check.call)
        if buffer is None or not command or buffer.state not in ("sealed", "interrupted"):
            continue
        if call.view.session != session.name:
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
