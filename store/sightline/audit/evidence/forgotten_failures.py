"""Finds failures of checks that the context once had, and has lost."""

from collections.abc import Iterator

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.buffer_failures import Failure, failures_if_quick
from sightline.audit.evidence.call_facts import command_of
from sightline.audit.evidence.check_relations import tells_anew
from sightline.audit.evidence.checks import FAILED, Check
from sightline.audit.evidence.evidence_records import COMMAND_CHARACTERS, MOST_NAMES, Alarm, ground_of_call
from sightline.audit.evidence.trail import Trail
from sightline.audit.finding_kinds import FORGOTTEN
from sightline.audit.held_lines import Holding, Holdings, held_of
from sightline.audit.line_spans import common, union
from sightline.base.errors import SightlineError
from sightline.base.records import Session
from sightline.shape.summary import one_line
from sightline.store import Reading


def forgotten(store: Reading, session: Session, trail: Trail, holding: Holding) -> Iterator[Alarm]:
    """Yield alarms for failures of checks that the context once had, and that no later run made good."""
    if not holding.has_lost:
        return
    holdings, newest = Holdings(store), dict[tuple[str, str, str], Check]()
    for at, check in enumerate(trail.checks):
        later = [one for one in trail.checks[at + 1 :] if one.outcome != FAILED]
        made_good = any(tells_anew(one, check) for one in later)
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
            names = ", ".join(_failure_name(one) for one in gone[:MOST_NAMES])
            more = f" and {len(gone) - MOST_NAMES} more" if len(gone) > MOST_NAMES else ""
            fate = holding.fate(call.view)
            what = fate.change.event if fate.change else "compacted"
            text = f"{names}{more}: seen only before the context was {what}, and not shown again"
            yield Alarm(FORGOTTEN, text, (ground_of_call(call),), command, gone[0].ref(buffer.name))


def _failure_name(failure: Failure) -> str:
    return one_line(failure.name or failure.text, COMMAND_CHARACTERS)
