"""Gathers from the store what a report contains, bounded in size; it says what was left out."""

import time
from collections.abc import Iterable, Sequence

from sightline.audit.buffer_coverage import coverage_of, filtered_from
from sightline.audit.buffer_failures import Failure, Overlooked, failures_of
from sightline.audit.coverage import Coverage, StreamCoverage
from sightline.audit.evidence.evidence_records import VERDICTS, JudgedClaim
from sightline.audit.finding_kinds import CUT
from sightline.audit.findings import Finding, found_in, of_sessions
from sightline.audit.held_lines import (
    HeldCoverage,
    HeldOutput,
    HeldTokens,
    Holdings,
    Loss,
    held_of,
    held_tokens,
    is_told,
    losses_of,
)
from sightline.audit.kept_sessions import KeptSessions, log_sizes
from sightline.audit.line_spans import Span, Spans, minus, spans_of
from sightline.audit.project_scope import buffers_in, calls_in
from sightline.audit.report.costs import ReportedCost, reported_cost
from sightline.audit.timeline import BYTES_A_TOKEN, Call, CallTotals, calls_of, captured_by, totals_of
from sightline.audit.verdict import Scope, Verdict, verdict_of
from sightline.base.errors import SightlineError
from sightline.base.project import Project
from sightline.base.records import Buffer, Note, View
from sightline.light.named_tuple import NamedTuple
from sightline.log.notes import list_notes, notes_for
from sightline.log.session_list import SessionFacts, list_sessions
from sightline.log.view_text import TextGone, view_text
from sightline.shape.clean import clean_line, clean_text
from sightline.store import Reading, Target

MOST_CALLS, MOST_OUTPUTS, MOST_OVERLOOKED = 400, 200, 100
MOST_CLAIMS, MOST_CLAIMING = 100, 20  # of a session; sessions
TEXT_CHARACTERS = 6000
"""Characters of one reply; of a longer one, the report has its beginning and its end."""

ALL_TEXT_CHARACTERS = 4 << 20  # of all replies together; further ones come without text
EXCERPT_LINES, EXCERPT_AROUND, EXCERPT_LINE_CHARACTERS = 16, 1, 400


class ExcerptLine(NamedTuple):
    """A line of an excerpt: its number, its text, and whether it tells of the failure."""

    number: int
    text: str
    tells: bool


class Missed(NamedTuple):
    """An overlooked failure, with lines that nobody was shown."""

    failure: Failure
    buffer: Buffer
    ref: str
    excerpt: tuple[ExcerptLine, ...]
    left_out: int


class Stretch(NamedTuple):
    """One stream: its ref, what was shown of it, and its lines that tell of failures."""

    ref: str
    covered: StreamCoverage
    failing: Spans


class ReportedOutput(NamedTuple):
    """A captured output.

    Attributes:
        buffer: its record.
        coverage: what was shown of it.
        stretches: its streams.
        failures: what failed in it.
        unseen: number of these that stood in no view.
        filtered: whether it is what a command's own filters left out.
        held: which of its lines contexts still have; None where nothing at all is told of any context.
        is_least: whether more failures may be there than are told apart, so that both numbers are at least so many.
    """

    buffer: Buffer
    coverage: Coverage
    stretches: tuple[Stretch, ...]
    failures: int
    unseen: int
    filtered: bool
    held: HeldCoverage | None = None
    is_least: bool = False


class ToldCall(NamedTuple):
    """A call with the text of its reply.

    Attributes:
        call: the call.
        text: the reply, cut in the middle if it is long; None if it is gone, or was left out.
        cut_characters: number of characters that are cut from its middle.
        why: why there is no text; empty if there is one.
        unseen: (ref, lines) that it did not show, for each stream that it is about.
    """

    call: Call
    text: str | None
    cut_characters: int
    why: str
    unseen: tuple[tuple[str, Spans], ...]


class Report(NamedTuple):
    """The content of a report.

    Attributes:
        title: title of the report.
        made: when it was made, seconds since the epoch.
        since: beginning of the period, in the same unit; 0 for the beginning of the log.
        sessions: the sessions whose calls these are.
        totals: totals of the calls.
        missed: the overlooked failures.
        findings: what else went wrong unseen.
        outputs: the captured outputs, those with overlooked failures first, then the least seen.
        calls: the calls, oldest first.
        notes: notes on the outputs.
        left_out: what there was no room for, in words.
        judged: the verdict.
        gone: names of outputs that were removed before they were shown whole.
        claims: what agents claimed, with its verdict; of a session those not supported first.
        losses: what contexts lost, in order, each with the name of its session.
        held: what contexts hold now, as far as anything is told of them.
        cost: what requests cost, and the dearest outputs.
    """

    title: str
    made: float
    since: float
    sessions: tuple[SessionFacts, ...]
    totals: CallTotals
    missed: tuple[Missed, ...]
    findings: tuple[Finding, ...]
    outputs: tuple[ReportedOutput, ...]
    calls: tuple[ToldCall, ...]
    notes: tuple[Note, ...]
    left_out: tuple[str, ...]
    judged: Verdict
    gone: tuple[str, ...] = ()
    losses: tuple[tuple[str, Loss], ...] = ()
    claims: tuple[JudgedClaim, ...] = ()
    held: HeldTokens = HeldTokens(0, 0, 0, ())
    cost: ReportedCost = ReportedCost()


def gather(store: Reading, *, session: str | None = None, since: float = 0.0, project: Project | None = None) -> Report:
    """Gather a report on one session, or on all.

    Args:
        store: the store.
        session: name of the session; None for all.
        since: beginning of the period, seconds since the epoch.
        project: the only project; None for all.
    """
    scope = Scope(session, since, project)
    calls = calls_in(store, calls_of(store, session=session, since=since), project)
    everyone = {one.session.name: one for one in list_sessions(store)}
    names = [session] if session else [name for name, one in everyone.items() if one.counts.last >= since]
    captured = list(map(store.checked, buffers_in(captured_by(store, names, since), project)))
    judged = verdict_of(store, scope)
    found = found_in(store, scope)
    unseen, unread, gone = found.overlooked, judged.unread, [*found.gone, *judged.removed]
    outputs = _outputs(store, captured)
    missed = [_missed(store, one) for one in unseen[:MOST_OVERLOOKED]]
    told = _told(store, calls[-MOST_CALLS:])
    of_read = [call for call in calls if call.view.session not in unread]
    claiming = list(dict.fromkeys(call.view.session for call in of_read))
    losses, held = _contexts(store, of_read)
    facts = [everyone[name] for name in names if name in everyone]
    return Report(
        title=facts[0].name if session and facts else project.title if project else "All sessions",
        made=time.time(),
        since=since,
        sessions=tuple(facts),
        totals=totals_of(calls, captured),
        missed=tuple(missed),
        findings=tuple(sorted([*found.others, *of_sessions(judged)], key=lambda one: one.kind == CUT)),
        outputs=tuple(outputs[:MOST_OUTPUTS]),
        calls=tuple(told),
        notes=tuple(notes_for(list_notes(store), (call.view for call in calls), session, since)),
        left_out=tuple(_left_out(len(calls), len(outputs), len(unseen), len(gone), len(unread), len(claiming))),
        judged=judged,
        gone=tuple(gone),
        losses=tuple(losses),
        claims=tuple(_claims(store, claiming[-MOST_CLAIMING:], since)),
        held=held,
        cost=reported_cost(store, scope),
    )


def _claims(store: Reading, sessions: Iterable[str], since: float) -> list[JudgedClaim]:
    """Return the claims of some sessions, at most so many of each."""
    found, kept = list[JudgedClaim](), KeptSessions(store, log_sizes(store))
    for name in sessions:
        evidence = kept.evidence(name)
        claims = [one for one in evidence.claims if one.time >= since] if evidence else []
        found += sorted(claims, key=lambda one: (VERDICTS.index(one.verdict), one.time))[:MOST_CLAIMS]
    return found


def _contexts(store: Reading, calls: Sequence[Call]) -> tuple[list[tuple[str, Loss]], HeldTokens]:
    """(what went from contexts, in order; what they hold now)."""
    views = dict[str, list[View]]()
    for call in calls:
        if not call.unanswered:
            views.setdefault(call.view.session, []).append(call.view)
    holdings, losses = Holdings(store), list[tuple[str, Loss]]()
    sums, outputs = [0, 0, 0], list[HeldOutput]()
    for name, shown in views.items():
        holding = holdings.of(name)
        if holding.events.changes:
            losses += [(name, one) for one in losses_of(holding, shown, BYTES_A_TOKEN)]
            held = held_tokens(holding, shown, BYTES_A_TOKEN)
            sums = [sums[0] + held.held, sums[1] + held.went, sums[2] + held.unknown]
            outputs += held.outputs
    losses.sort(key=lambda one: one[1].change.time)
    return losses, HeldTokens(sums[0], sums[1], sums[2], tuple(sorted(outputs, key=lambda one: -one.tokens)))


def _left_out(calls: int, outputs: int, unseen: int, gone: int, unread: int, claiming: int) -> Iterable[str]:
    for count, most, what in (
        (unseen, MOST_OVERLOOKED, "overlooked failure"),
        (outputs, MOST_OUTPUTS, "output"),
        (calls, MOST_CALLS, "earlier call"),
    ):
        if count > most:
            yield f"{count - most:,} more {what}{'' if count - most == 1 else 's'}"
    if claiming > MOST_CLAIMING:
        yield f"the claims of {claiming - MOST_CLAIMING:,} earlier sessions"
    if gone:
        yield f"what failed in {gone:,} output{'' if gone == 1 else 's'} that went before all was shown"
    if unread:
        yield f"what failed in {unread:,} of the outputs and logs, which could not be read"


def _outputs(store: Reading, captured: Sequence[Buffer]) -> list[ReportedOutput]:
    made, holdings = [], Holdings(store)
    for buffer in captured:
        try:
            coverage = coverage_of(store, buffer)
            failures = failures_of(store, buffer)
            held = held_of(store, buffer, coverage, holdings=holdings) if is_told(store, coverage.sessions) else None
        except SightlineError:
            continue  # it was removed meanwhile, or cannot be read
        stretches = tuple(
            Stretch(Target(buffer, name).ref, covered, _failing(failures, name))
            for name, covered in coverage.streams.items()
        )
        unseen = sum(not failure.is_seen(coverage) for failure in failures)
        is_least = any(failure.is_rest for failure in failures)
        is_filtered = bool(filtered_from(buffer))
        made.append(ReportedOutput(buffer, coverage, stretches, len(failures), unseen, is_filtered, held, is_least))
    return sorted(made, key=lambda one: (-one.unseen, one.coverage.share, -one.buffer.lines))


def _failing(failures: Iterable[Failure], stream: str) -> Spans:
    spans: list[Span] = []
    for failure in failures:
        for place in failure.places:
            if place.stream == stream:
                spans += place.telling
    return spans_of(spans)


def _missed(store: Reading, one: Overlooked) -> Missed:
    place = one.failure.places[0]
    telling = {number for first, last in place.telling for number in range(first, min(last, first + EXCERPT_LINES) + 1)}
    first = max(1, place.first - EXCERPT_AROUND)
    last = place.last + EXCERPT_AROUND
    end = min(last, first + EXCERPT_LINES - 1)
    lines = []
    with store.open_text(Target(one.buffer, place.stream)) as source:
        for line in source.lines(first, end):
            text = clean_line(line.data)
            shown = text if len(text) <= EXCERPT_LINE_CHARACTERS else text[:EXCERPT_LINE_CHARACTERS] + " …"
            lines.append(ExcerptLine(line.number, shown, line.number in telling))
    return Missed(one.failure, one.buffer, one.ref, tuple(lines), max(place.last - end, 0))


def _told(store: Reading, calls: Sequence[Call]) -> list[ToldCall]:
    told = []
    left = ALL_TEXT_CHARACTERS
    for call in reversed(calls):  # the last calls get their texts first
        text, why = None, "there was no room for more texts"
        if left > 0:
            text, why = _text(store, call)
        cut = max(len(text or "") - TEXT_CHARACTERS, 0)
        if text and cut:
            half = TEXT_CHARACTERS // 2
            text = text[:half] + _GAP + text[-half:]
        left -= len(text or "")
        told.append(ToldCall(call, text, cut, why, tuple(_unseen(call))))
    return told[::-1]


_GAP = "\x00"
"""Stands for a gap in a text until that is written; a cleaned text never contains it."""


def halves(told: ToldCall) -> tuple[str, str]:
    """Return the beginning of a reply's text, and its end if its middle is missing."""
    head, _, tail = (told.text or "").partition(_GAP)
    return head, tail


def _text(store: Reading, call: Call) -> tuple[str | None, str]:
    try:
        return clean_text(view_text(store, call.indexed).encode(errors="surrogateescape")), ""
    except TextGone as gone:
        return None, gone.message
    except SightlineError as error:
        return None, error.message


def _unseen(call: Call) -> Iterable[tuple[str, Spans]]:
    """Yield what a reply left out, for the streams of which it showed something, or that its buffer has."""
    buffer = call.buffer
    if buffer is None or not call.view.truncated or buffer.name not in call.parts:
        return
    lines = call.parts[buffer.name].streams
    for name, info in buffer.streams.items():
        seen = lines[name].seen if name in lines else ()
        if info.lines and (missing := minus(((1, info.lines),), seen)):
            yield Target(buffer, name).ref, missing
