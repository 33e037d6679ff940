"""The words and figures of a report, which all of its formats share."""

import time

from sightline.audit.coverage import percent, told_share
from sightline.audit.held_lines import counts_told
from sightline.audit.line_spans import Spans, size, written
from sightline.audit.report.costs import DearOutput
from sightline.audit.report.report import Report, ReportedOutput, ToldCall
from sightline.base.records import Buffer
from sightline.shape.invisible_characters import fit_to_read
from sightline.shape.summary import counted, human_bytes

HOW = (
    "A line counts as seen where it stood in a reply: known exactly, or recognised in what a pipeline made of it. "
    "Of an output of which only a part reached the store that is a share of this part, and so the most. "
    "Lines that only went into a count or a calculation are asked about, not seen. An overlooked failure is one of "
    "whose telling lines none was seen. Tokens are estimated as a quarter of the bytes."
)
_LISTED = 6


def visible(text: str) -> str:
    """Escape what cannot be seen in a text, except newlines and tabs."""
    return fit_to_read(text, _escape, keep="\n\t")


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def when(seconds: float) -> str:
    """Write a time, to the second."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def clock(seconds: float) -> str:
    """Write a time of day."""
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def figures(report: Report) -> list[tuple[str, str, str]]:
    """Return (figure, meaning, details) for each figure, the most important first."""
    totals, judged = report.totals, report.judged
    partial = (f"{judged.partial:,}", "partial outputs", "of which only a part reached the store")
    held = report.held
    went = f"~{held.went:,} no longer" if held.went else "nothing has gone"
    went += f", ~{held.unknown:,} unknown" if held.unknown else ""
    is_told, least = bool(held.held or held.went or held.unknown), "≥ " if report.judged.at_least else ""
    return [
        (
            f"{least}{report.judged.unseen:,}",
            "overlooked failures",
            "no line of them stood in any reply",
        ),
        (f"{judged.failed:,}", "commands failed", f"of {judged.ran:,}"),
        (told_share(judged, 0), "of the lines seen", f"of {judged.lines:,}"),
        (human_bytes(totals.shown_bytes), "shown", f"~{totals.tokens:,} tokens, estimated"),
        (human_bytes(totals.captured_bytes), "captured", counted(totals.captured, "output")),
        (human_bytes(totals.saved_bytes), "not sent", "of what was captured"),
        (percent(totals.again_ratio, 0), "shown again", f"{totals.again:,} of {totals.lines:,} lines"),
        (f"{totals.cut:,}", "replies cut", f"of {totals.calls:,}"),
        *([partial] if judged.partial else []),
        *([(f"~{held.held:,}", "tokens in context", went)] if is_told else []),
    ]


def none_missed(report: Report) -> str:
    """Return the sentence for a report without any known overlooked failure."""
    where = " in what could be read" if report.judged.unread else " in what is still there" if report.gone else ""
    where += " and reached the store" if where and report.judged.partial else ""
    where = where or (" in what reached the store" if report.judged.partial else "")
    left = f" {counted(report.judged.unjudged, 'output')} only show what others wrote, and were not judged."
    return f"None{where}: something of every failure stood in a reply.{left if report.judged.unjudged else ''}"


def span_of_time(report: Report) -> str:
    """Write the time from the first call to the last; empty without calls."""
    if not report.calls:
        return ""
    first, last = report.calls[0].call.view.time, report.calls[-1].call.view.time
    return f"{when(first)} – {when(last)}"


def who(report: Report) -> list[str]:
    """Return a line for each session: who it was, and where."""
    lines = []
    for facts in report.sessions:
        session = facts.session
        name = f"{session.title} ({session.name})" if session.title else session.name
        parts = (name, session.harness, session.client, session.cwd, counted(facts.counts.calls, "call"))
        lines.append(" · ".join(filter(None, parts)))
    return lines


def ending(buffer: Buffer) -> str:
    """Say how a capture ended, in a word or two."""
    if buffer.state != "sealed":
        return buffer.shown_state
    if buffer.timed_out:
        return "timed out"
    if buffer.signal:
        return f"signal {buffer.signal}"
    if buffer.exit_code is None:
        return "exit unknown" if buffer.kind == "cmd" else buffer.kind
    return f"exit {buffer.exit_code}" + (f", {buffer.exit_meaning}" if buffer.exit_meaning else "")


def seen_of(output: ReportedOutput) -> str:
    """Say how much of an output was seen."""
    coverage = output.coverage
    in_part = f", {coverage.cut_lines:,} in part" if coverage.cut_lines else ""
    told = f"{told_share(coverage, 0)} seen, {coverage.seen_lines:,} of {counted(coverage.total, 'line')}{in_part}"
    told += f", of what reached the store; partial: {output.buffer.lost}" if output.buffer.is_partial else ""
    return told + (f"; altered: {output.buffer.altered}" if output.buffer.altered else "")


def held_of_output(output: ReportedOutput) -> str:
    """How many of its lines contexts still have; empty where nothing is told of any, or none was seen."""
    told = counts_told(output.held, never=False) if output.held else ""
    return f"In context: {told}" if told else ""


def rules_before(report: Report, told: ToldCall | None, after: float) -> list[str]:
    """What went from contexts before a call, or after the last one for None, and after the call before it."""
    until = told.call.view.time if told else float("inf")
    many = len(report.sessions) > 1
    return [
        f"{clock(loss.change.time)} {f'{session} ' if many else ''}{loss.told}"
        for session, loss in report.losses
        if after <= loss.change.time < until
    ]


def overlooked_of(output: ReportedOutput) -> str:
    """Say how many of an output's failures were overlooked."""
    failures = f"{'at least ' if output.is_least else ''}{counted(output.failures, 'failure')}"
    return f"{output.unseen:,} of {failures} overlooked" if output.unseen else f"{failures}, none overlooked"


def facts_of(told: ToldCall) -> list[str]:
    """Return what else to say of a call."""
    call, view = told.call, told.call.view
    return [
        fact
        for fact in (
            f"{call.lines:,} of {counted(view.lines_total, 'line')} shown" if view.lines_total else "",
            f"{human_bytes(view.bytes_shown)}, ~{call.tokens:,} tokens",
            f"{counted(call.again, 'line')} shown again" if call.again else "",
            call.first_ref,
        )
        if fact
    ]


def ranges(spans: Spans) -> str:
    """Write the first ranges, and the number of all their lines."""
    shown = ", ".join(written(spans[:_LISTED]))
    more = f" and {counted(len(spans) - _LISTED, 'more range')}" if len(spans) > _LISTED else ""
    return f"{shown}{more} ({counted(size(spans), 'line')})"


def money(dollars: float, at_least: bool) -> str:
    """Write a number of dollars, with a sign where it is a lower bound."""
    return f"{'≥ ' * at_least}${dollars:,.2f}"


def carried(one: DearOutput) -> str:
    """Say how large an output was for the model, and how often it went along."""
    about = "about " * one.estimated
    return f"{about}{counted(one.tokens, 'token')} in {counted(one.requests, 'request')}"
