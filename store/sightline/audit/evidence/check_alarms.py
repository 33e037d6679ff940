"""Finds checks that failed, were masked, or are older than an edit, and claims that are doubted."""

from collections.abc import Iterable, Iterator, Sequence

from sightline.audit.evidence.call_facts import exit_code_of
from sightline.audit.evidence.check_counts import hides_lines
from sightline.audit.evidence.check_names import KINDS, NOUNS, OWN_SCRIPTS
from sightline.audit.evidence.check_relations import are_nested, bears_on, covers, is_made_good, tells_anew
from sightline.audit.evidence.checks import FAILED, PASSED, UNKNOWN, Check
from sightline.audit.evidence.claims import RAN
from sightline.audit.evidence.evidence_records import (
    CONTRADICTED,
    DOUBTED,
    NO_EVIDENCE,
    STALE,
    Alarm,
    JudgedClaim,
    ground_of_check,
    ground_of_edit,
    were_edited,
)
from sightline.audit.evidence.trail import Trail
from sightline.audit.finding_kinds import (
    CONTRADICTED_CLAIM,
    FAILING_CHECK,
    MASKED_EXIT,
    STALE_CHECK,
    STALE_CLAIM,
    UNSEEN_RESULT,
    UNSUPPORTED_CLAIM,
)
from sightline.shape.summary import one_line

_CLAIM_ALARMS = {CONTRADICTED: CONTRADICTED_CLAIM, STALE: STALE_CLAIM, NO_EVIDENCE: UNSUPPORTED_CLAIM}


def claim_alarms(trail: Trail, claims: Iterable[JudgedClaim]) -> Iterator[Alarm]:
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


def check_alarms(trail: Trail) -> Iterator[Alarm]:
    """Yield an alarm for each check whose last run failed, or is older than an edit that no later check covers."""
    masked = _unmasked(trail)
    for check in masked:
        text = f"{check.phrase} failed, and the line that it ran in ended with exit 0"
        yield Alarm(MASKED_EXIT, text, (ground_of_check(check),), check.call.asked)
    told: set[str] = set()
    for check in _last_of_each(trail.checks):
        edited = [one for one in trail.edited_since(check) if bears_on(one, check)]
        later = [one for one in trail.checks if one.view.time > check.view.time and one.outcome == PASSED]
        whole = [one for one in trail.checks if one.kind == check.kind and one.is_whole and one.outcome == PASSED]
        is_part = not check.is_whole and any(not trail.edited_since(one) for one in whole)
        made_good = is_made_good(check, later) or any(covers(one, check) for one in later)
        made_good = made_good or trail.formatted_since(check)
        if check.outcome == FAILED and not (check in masked or is_part or made_good or trail.may_show_since(check)):
            since = f"; {were_edited(edited)} since, and it was not run again" if edited else ""
            grounds = (ground_of_check(check), *(ground_of_edit(one) for one in edited[-1:]))
            yield Alarm(
                FAILING_CHECK, f"the last run of {_the(trail.what(check))} failed{since}", grounds, check.call.asked
            )
        elif check.outcome == PASSED and edited:
            covered = any(one.view.time >= edited[-1].time and covers(one, check) for one in later)
            if not covered and edited[-1].path not in told and not trail.may_show_since(check):
                told.add(edited[-1].path)
                ran = f"{_the(trail.what(check))} last ran {trail.clock(check.view.time)}"
                grounds = (ground_of_check(check), ground_of_edit(edited[-1]))
                text = f"{ran}, before {were_edited(edited)} {trail.clock(edited[-1].time)}"
                yield Alarm(STALE_CHECK, text, grounds, check.call.asked)


def _last_of_each(checks: Sequence[Check]) -> list[Check]:
    """Return the last run of each kind of check; runs in folders that lie in one another are runs of one place."""
    last: list[Check] = []
    for check in reversed(checks):
        if not any(one.kind == check.kind and are_nested(one.folder, check.folder) for one in last):
            last.append(check)
    return sorted(last, key=lambda check: KINDS.index(check.kind))


def _unmasked(trail: Trail) -> list[Check]:
    """Return the last failed run of each check whose line ended well, if no later run succeeded."""
    failed: dict[tuple[str, str], Check] = {}
    for at, check in enumerate(trail.checks):
        if check.masked and check.outcome == FAILED and exit_code_of(check.call) == 0:
            later = [one for one in trail.checks[at + 1 :] if one.outcome == PASSED or _is_our_lack(one)]
            made_good = any(tells_anew(one, check) for one in later) or trail.formatted_since(check)
            if not (made_good or trail.went_through_since(check)):
                failed[check.kind, check.phrase] = check
    return list(failed.values())


def _is_our_lack(check: Check) -> bool:
    """Return whether the end of a check is not known although its agent may have seen it."""
    hides = check.phrase in OWN_SCRIPTS and check.filters  # a trace has none of the words that a filter looks for
    return check.outcome == UNKNOWN and not (hides or hides_lines(check.call, check.filters, check.kind))


def _the(what: str) -> str:
    return f"the {what}" if what in NOUNS.values() else what
