"""Judges the claims of an agent by what came before them: checks, and the edits between them."""

import re
from collections.abc import Iterator, Sequence

from sightline.audit.evidence.call_facts import command_of
from sightline.audit.evidence.check_names import BUILD, NOUNS, OWN_SCRIPTS, TEST, TYPES
from sightline.audit.evidence.check_relations import covers
from sightline.audit.evidence.checks import BY_OUTPUT, BY_SILENCE, FAILED, PASSED, UNKNOWN, Check
from sightline.audit.evidence.claims import FIXED, RAN, SAME, Claim, claims_in
from sightline.audit.evidence.comparisons import comparison_of, may_mean
from sightline.audit.evidence.evidence_records import (
    CONTRADICTED,
    NO_EVIDENCE,
    NOT_KNOWN,
    STALE,
    SUPPORTED,
    Ground,
    JudgedClaim,
    ground_of_call,
    ground_of_check,
    ground_of_edit,
    were_edited,
)
from sightline.audit.evidence.named_runs import runs_named
from sightline.audit.evidence.trail import Trail
from sightline.log.session_events import AgentMessage


def judged_claims(trail: Trail, session: str, message: AgentMessage) -> Iterator[JudgedClaim]:
    claims = claims_in(message.text) if message.text else []
    if not claims:
        return
    known = trail.before(message.time)
    for claim in claims:
        if judged := _verdict(claim, known):
            verdict, why, grounds = judged
            yield JudgedClaim(claim, session, message.number, message.time, verdict, why, tuple(grounds))


_OF_BUILD = re.compile(r"\bbuil(?:d|ds|t)\b", re.IGNORECASE)
"""A word for what a build did, and no type check beside it."""

_Verdict = tuple[str, str, list[Ground]]


def _verdict(claim: Claim, trail: Trail) -> _Verdict | None:
    """Return the verdict on a claim, the reason, and its grounds; None for one that rests on no check."""
    if claim.kind == RAN:
        return _of_run(claim, trail)
    if claim.kind == SAME:
        return _of_comparison(claim, trail)
    runs: Sequence[Check] = [one for one in trail.checks if one.kind in claim.checks]
    if claim.command and (same := [one for one in runs if claim.command in command_of(one.call)]):
        runs = same
        covers_all = same[-1].is_whole or not claim.is_whole
        if covers_all and same[-1].outcome == PASSED and re.search(r"\b(?:passed|PASS)\b", claim.words):
            return SUPPORTED, f"it ran, and ended well, {trail.clock(same[-1].view.time)}", [ground_of_check(same[-1])]
    built = [one for one in runs if one.kind == BUILD] if _OF_BUILD.search(claim.words) else []
    runs = runs_named(claim.words, built or runs)
    if claim.kind == FIXED:
        failed = {one.kind for one in runs if one.outcome == FAILED}
        runs = [one for one in runs if one.kind in failed]
        if not runs:
            return None
    if not runs:
        return _without_runs(claim, trail)
    if claim.number and (meant := _run_of(claim.number, trail, runs)):
        return _supported(trail, meant)
    known = trail.last_known(runs)
    last = runs[-1] if known is None else known
    edited = trail.edited_since(last)
    if claim.vague:
        return _of_vague(trail, last, edited=bool(edited))
    since = [one for one in trail.checks if one.outcome == PASSED and not trail.edited_since(one)]
    if edited and {BUILD, TYPES} & {*claim.checks} and (later := [one for one in since if covers(one, last)]):
        return (
            SUPPORTED,
            f"{NOUNS[later[-1].kind]} ended well {trail.clock(later[-1].view.time)}",
            [ground_of_check(later[-1])],
        )
    if edited and not trail.may_show_since(last):
        ended = {PASSED: "", FAILED: ", and failed,", UNKNOWN: ", how is not known,"}[last.outcome]
        why = f"{trail.what(last)} last ran {trail.clock(last.view.time)}{ended} before {were_edited(edited)}"
        return STALE, f"{why} {trail.clock(edited[-1].time)}", [ground_of_check(last), ground_of_edit(edited[-1])]
    if edited:
        why = "another command may have checked it since the last run and edit"
        return NOT_KNOWN, why, [ground_of_check(last), ground_of_edit(edited[-1])]
    if last.outcome == FAILED:
        return _of_failed(claim, trail, runs, last)
    if last.outcome == UNKNOWN:
        if trail.hides(last):
            return NO_EVIDENCE, "its reply did not show how the last run ended", [ground_of_check(last)]
        return NOT_KNOWN, "how the last run ended is not known", [ground_of_check(last)]
    return _of_passed(claim, trail, runs, last)


def _run_of(number: int, trail: Trail, runs: Sequence[Check]) -> Check | None:
    """Return the last run in which just so many tests passed, if nothing was edited and no such run failed since."""
    for at in range(len(runs) - 1, -1, -1):
        run = runs[at]
        if trail.edited_since(run) or (run.outcome == FAILED and _may_be_of(number, trail, run)):
            return None
        if run.outcome == PASSED and trail.passed_in(run) == number:
            again = [one for one in runs[at + 1 :] if (one.key, one.operands) == (run.key, run.operands)]
            return run if all(one.outcome == PASSED for one in again) else None
    return None


def _may_be_of(number: int, trail: Trail, run: Check) -> bool:
    """Return whether so many tests may have run in a run that failed."""
    counts = trail.counts_of(run)
    return counts is None or counts.all <= number or counts.passed < 0 or counts.passed == number


def _supported(trail: Trail, run: Check) -> _Verdict:
    how = _HOW.get(run.known_by, "")
    return SUPPORTED, f"the last run ended well {trail.clock(run.view.time)}{how}", [ground_of_check(run)]


def _without_runs(claim: Claim, trail: Trail) -> _Verdict:
    """Judge a claim before which no check of its kind ran."""
    if BUILD in claim.checks and not claim.vague and (tested := [one for one in trail.checks if one.kind == TEST]):
        last = trail.last_known(tested) or tested[-1]
        if last.outcome == PASSED and not trail.edited_since(last):
            return SUPPORTED, f"its tests ran and ended well {trail.clock(last.view.time)}", [ground_of_check(last)]
        return NOT_KNOWN, "only tests were run, which may have been built", [ground_of_check(last)]
    if shown := trail.may_show_others(claim.checks):
        return NOT_KNOWN, "another command may have shown it", [ground_of_call(shown)]
    if claim.vague:
        return NOT_KNOWN, "no check was run before it", []
    if _ONE_TEST.search(claim.words) and (tried := trail.last_trial()):
        return NOT_KNOWN, "a trial by another command may be meant", [ground_of_call(tried)]
    if claim.number and (stated := trail.last_that_states(claim.number)):
        return NOT_KNOWN, "another command states that number", [ground_of_call(stated)]
    if trail.goes_on and not trail.edits:
        return NOT_KNOWN, "what came before is not in the log", []
    noun = NOUNS[claim.checks[0]]
    verb = "were" if noun == "tests" else "was"
    return NO_EVIDENCE, f"no {noun} {verb} run before it", [ground_of_edit(one) for one in trail.edits[-1:]]


_ONE_TEST = re.compile(r"\btest\b(?! (?:suite|run|case|file)s?\b)", re.IGNORECASE)
"""One test, by which people also mean that they tried something out."""


def _of_vague(trail: Trail, last: Check, *, edited: bool) -> _Verdict:
    """Judge a claim that may mean something else than the checks; a failed one does not contradict it."""
    if edited:
        return NOT_KNOWN, "files were edited since the last run", [ground_of_check(last)]
    if last.outcome != PASSED:
        return (
            NOT_KNOWN,
            "the last run failed" if last.outcome == FAILED else "how it ended is not known",
            [ground_of_check(last)],
        )
    return _supported(trail, last)


_HOW = {BY_OUTPUT: ", as its last lines say", BY_SILENCE: ", as it printed nothing"}


def _of_failed(claim: Claim, trail: Trail, runs: Sequence[Check], last: Check) -> _Verdict:
    """Judge a claim after which the last run of its checks failed, and nothing was edited since."""
    passed = trail.passed_in(last)
    if not claim.is_whole or (claim.number and claim.number == passed and not claim.is_total):
        if claim.number and claim.number == passed:
            return SUPPORTED, f"the last run failed, and counts {passed:,} passed", [ground_of_check(last)]
        return NOT_KNOWN, "the last run failed, perhaps in what the claim is not about", [ground_of_check(last)]
    if any(one.outcome == PASSED for one in runs if not trail.edited_since(one)):
        return NOT_KNOWN, "one run failed, and another ended well", [ground_of_check(last)]
    if runs[-1] is not last:
        return (
            NOT_KNOWN,
            "a run failed, and how the later one ended is not known",
            [ground_of_check(last), ground_of_check(runs[-1])],
        )
    if opened := trail.may_have_edited_since(last):
        why = "the last run failed, and nobody can tell what a command changed since"
        return NOT_KNOWN, why, [ground_of_check(last), ground_of_call(opened)]
    return CONTRADICTED, "the last run failed", [ground_of_check(last)]


def _of_passed(claim: Claim, trail: Trail, runs: Sequence[Check], last: Check) -> _Verdict:
    """Judge a claim before which the last run of its checks ended well, and nothing was edited since."""
    counts = trail.counts_of(last)
    if claim.number and counts and counts.passed >= 0 and claim.number != counts.passed:
        of_all = sum(max(trail.passed_in(one), 0) for one in runs)
        earlier = any(trail.passed_in(one) == claim.number for one in runs)
        skipped = claim.number == counts.all and claim.is_whole
        if skipped or (claim.number > max(counts.all, of_all) and not earlier):
            why = f"the last run counts {counts.passed:,} passed of {counts.all:,}"
            return NO_EVIDENCE, why, [ground_of_check(last)]
        if claim.number > counts.all:
            return NOT_KNOWN, f"the last run counts {counts.passed:,} passed", [ground_of_check(last)]
    meant = {id(one) for one in runs}
    failing = [one for one in trail.unresolved(claim.checks) if id(one) in meant] if claim.is_whole else []
    if failing:
        grounds = [ground_of_check(failing[-1]), ground_of_check(last)]
        of_command = claim.command and not last.is_whole and last.phrase == failing[-1].phrase
        if of_command and (edited := trail.edited_since(failing[-1])):
            why = f"{last.phrase} failed before {were_edited(edited)}, and only a part of it was run since"
            return STALE, why, grounds
        is_other = last.phrase != failing[-1].phrase or last.phrase in OWN_SCRIPTS
        if last.is_whole or is_other or not claim.is_total:
            return NOT_KNOWN, "another run failed, and something else was run since", grounds
        return NO_EVIDENCE, "another run failed, and only a part of it was run since", grounds
    return _supported(trail, last)


def _of_run(claim: Claim, trail: Trail) -> _Verdict:
    """Judge ``I ran …``."""
    if claim.command:
        wanted = " ".join(claim.command.split())
        for call in reversed(trail.calls):
            if wanted in " ".join(command_of(call).split()):
                return SUPPORTED, f"it ran {trail.clock(call.view.time)}", [ground_of_call(call)]
    elif runs := [one for one in trail.checks if one.kind in claim.checks]:
        return SUPPORTED, f"it ran {trail.clock(runs[-1].view.time)}", [ground_of_check(runs[-1])]
    if shown := trail.may_show_others(claim.checks):
        return NOT_KNOWN, "another command may have run it", [ground_of_call(shown)]
    return NO_EVIDENCE, "no such run is in the log", []


def _of_comparison(claim: Claim, trail: Trail) -> _Verdict | None:
    """Judge a claim that texts are the same by the last command, if that compared them; None for any other claim."""
    ran = next((call for call in reversed(trail.calls) if command_of(call)), None)
    compared = comparison_of(ran) if ran else None
    if compared is None or not may_mean(claim.words, compared):
        return None
    grounds = [ground_of_call(compared.call)]
    if any(edit.time > compared.call.view.time for edit in trail.edits):
        return NOT_KNOWN, "files were edited since the last comparison", grounds
    if compared.is_same:
        return SUPPORTED, f"the last comparison found no difference {trail.clock(compared.call.view.time)}", grounds
    return CONTRADICTED, "the last comparison found a difference", grounds
