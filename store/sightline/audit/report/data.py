"""Encodes a report as JSON data, for programs."""

from sightline.audit.coverage import cut_data, rounded
from sightline.audit.held_lines import STATE_WORDS
from sightline.audit.line_spans import written
from sightline.audit.report.report import Report, ReportedOutput, ToldCall, halves
from sightline.audit.timeline import CallTotals
from sightline.audit.verdict import Verdict
from sightline.base.refs import format_ref
from sightline.light.typing_names import Any
from sightline.log.views import ref_of_shown


def as_data(report: Report) -> dict[str, Any]:
    """Encode a report; times are seconds since the epoch, lines are text such as ``"3-9"``."""
    return {
        "title": report.title,
        "made": report.made,
        "since": report.since or None,
        "sessions": [{**one.session._asdict(), "calls": one.counts.calls} for one in report.sessions],
        "totals": totals_data(report.totals, report.judged),
        "overlooked": [
            {
                "ref": missed.ref,
                "name": missed.failure.name,
                "at": missed.failure.at,
                "text": missed.failure.text,
                "command": missed.buffer.command,
                "lines": [line._asdict() for line in missed.excerpt],
            }
            for missed in report.missed
        ],
        "gone": list(map(format_ref, report.gone)),
        "context": {
            "tokens_estimated": {
                "held": report.held.held,
                "went": report.held.went,
                "not_known": report.held.unknown,
            },
            "held_by_output": {format_ref(one.buffer): one.tokens for one in report.held.outputs if one.buffer},
            "losses": [
                {
                    "session": session,
                    "event": loss.change.event,
                    "time": loss.change.time,
                    "replies": loss.replies,
                    "tokens_estimated": loss.tokens,
                }
                for session, loss in report.losses
            ],
        },
        "cost": {
            "sentences": list(report.cost.sentences),
            "days": [one._asdict() for one in report.cost.days],
            "dearest": [one._asdict() for one in report.cost.dearest],
        },
        "findings": [finding._asdict() for finding in report.findings],
        "claims": [
            {
                "session": claim.session,
                "time": claim.time,
                "kind": claim.claim.kind,
                "words": claim.claim.words,
                "verdict": claim.verdict,
                "why": claim.why,
                "grounds": [ground._asdict() for ground in claim.grounds],
            }
            for claim in report.claims
        ],
        "outputs": [_output(output) for output in report.outputs],
        "calls": [_call(told) for told in report.calls],
        "notes": [note._asdict() for note in report.notes],
        "left_out": list(report.left_out),
    }


def _output(output: ReportedOutput) -> dict[str, Any]:
    buffer = output.buffer
    return {
        "ref": buffer.ref,
        "command": buffer.command,
        "exit_code": buffer.exit_code,
        "state": buffer.shown_state,
        "partial": buffer.lost or None,
        "altered": buffer.altered or None,
        "gaps": [gap._asdict() for gap in buffer.gaps],
        "lines": output.coverage.total,
        "seen": output.coverage.seen_lines,
        "share": round(output.coverage.share, 6),
        "at_most": output.coverage.at_most,
        "failures": output.failures,
        "overlooked": output.unseen,
        "at_least": output.is_least,
        "held": {
            name: {state: written(getattr(lines, state)) for state in STATE_WORDS}
            for name, lines in output.held.streams.items()
        }
        if output.held
        else None,
        "streams": {
            stretch.ref: {
                **{grade: written(spans) for grade, spans in stretch.covered.lines.by_grade()},
                "cut": cut_data(stretch.covered.lines),
                "unseen": written(stretch.covered.never),
            }
            for stretch in output.stretches
        },
    }


def _call(told: ToldCall) -> dict[str, Any]:
    view = told.call.view
    head, tail = halves(told)
    return {
        "id": view.id,
        "time": view.time,
        "verb": view.verb,
        "asked": told.call.asked,
        "refs": list(map(format_ref, view.refs)),
        "exit_code": view.exit_code,
        "failed": told.call.failed,
        "truncated": view.truncated,
        "shown": [ref_of_shown(shown) for shown in view.shown],
        "matched": [ref_of_shown(matched) for matched in view.matched],
        "new_lines": told.call.new,
        "again_lines": told.call.again,
        "lines_total": view.lines_total,
        "bytes_shown": view.bytes_shown,
        "tokens_estimated": told.call.tokens,
        "text": None if told.text is None else head,
        "text_end": tail or None,
        "text_left_out": told.cut_characters,
        "not_shown": {ref: written(spans) for ref, spans in told.unseen},
    }


def totals_data(totals: CallTotals, judged: Verdict) -> dict[str, Any]:
    """Encode totals with the numbers of the verdict, for ``timeline --json``, too."""
    return {
        **totals._asdict(),
        "accounted": {**totals.accounted._asdict(), "saved_bytes": totals.accounted.saved_bytes},
        "tokens_estimated": totals.tokens,
        "captured_lines": judged.lines,
        "seen_lines": int(judged.seen),
        "partial": judged.partial,
        "unsure": judged.unsure,
        "share_seen": rounded(judged.share),
        "at_most": judged.at_most,
        "again_ratio": round(totals.again_ratio, 6),
        "overlooked_failures": judged.unseen,
        "overlooked_at_least": judged.at_least,
        "gone_outputs": judged.gone,
        "not_judged_outputs": judged.unjudged,
        "unread": len(judged.unread),
        "verdict": judged.counts,
    }
