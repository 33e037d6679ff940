"""Renders a report as one HTML page that has no scripts, needs no network, and contains nothing an output injected.

Every text goes through `_text`, which escapes markup and characters that cannot be seen.
"""

import html
import os
from collections.abc import Iterable, Iterator, Sequence

from sightline.audit.evidence.evidence_records import DOUBTED
from sightline.audit.held_lines import HeldLines
from sightline.audit.line_spans import Spans
from sightline.audit.report import phrases as words
from sightline.audit.report.costs import DayCost, ReportedCost
from sightline.audit.report.report import Missed, Report, ReportedOutput, Stretch, ToldCall, halves
from sightline.base.records import Note
from sightline.log.notes import whereto
from sightline.shape.summary import counted

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_WHO_LINES = 5
_PLOT = 120  # height of the plot of days
_STRIP_UNITS = 1000  # width of a strip for a stream of any length; finer parts cannot be seen


def render_html(report: Report) -> str:
    """Render the page."""
    return "\n".join(_page(report)) + "\n"


def _page(report: Report) -> Iterator[str]:
    title = f"{report.title} — Sightline report"
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
    yield f"<title>{_text(title)}</title>"
    yield f"<style>{_style()}</style></head><body><main>"
    yield from _head(report)
    yield from _missed_section(report)
    yield from _findings_section(report)
    yield from _claims_section(report)
    yield from _cost_section(report.cost)
    yield from _notes_section(report.notes)
    yield from _outputs_section(report)
    yield from _calls_section(report)
    yield f"<footer><p>{_text(words.HOW)}</p><p>Made by Sightline, {_text(words.when(report.made))}.</p></footer>"
    yield "</main></body></html>"


def _text(text: str) -> str:
    """Escape a text from anywhere, so that it is safe in the page, and in an attribute."""
    return html.escape(words.visible(text), quote=True)


def _style() -> str:
    path = os.path.join(os.path.dirname(__file__), "report.css")
    with open(path, encoding="utf-8") as file:
        return file.read()


def _head(report: Report) -> Iterator[str]:
    yield '<header><p class="brand">Sightline</p>'
    yield f"<h1>{_text(report.title)}</h1>"
    yield '<p class="lead">What was seen, and what was missed.</p>'
    for line in words.who(report)[:_WHO_LINES]:
        yield f'<p class="who">{_text(line)}</p>'
    if len(report.sessions) > _WHO_LINES:
        yield f'<p class="who">and {counted(len(report.sessions) - _WHO_LINES, "more session")}</p>'
    if times := words.span_of_time(report):
        yield f'<p class="who">{_text(times)}</p>'
    yield '<dl class="figures">'
    for place, (figure, what, more) in enumerate(words.figures(report)):
        mark = (" bad" if report.judged.unseen else "" if report.gone else " good") if place == 0 else ""
        yield f'<div class="figure{mark}"><dt>{_text(what)}</dt>'
        yield f'<dd>{_text(figure)}</dd><dd class="more">{_text(more)}</dd></div>'
    yield "</dl>"
    for line in report.left_out:
        yield f'<p class="left-out">Not in this report: {_text(line)}.</p>'
    yield "</header>"


def _missed_section(report: Report) -> Iterator[str]:
    yield '<section id="overlooked"><h2>Overlooked failures</h2>'
    if not report.missed:
        yield f'<p class="empty">{words.none_missed(report)}</p>'
    for missed in report.missed:
        yield from _missed(missed)
    yield "</section>"


def _missed(missed: Missed) -> Iterator[str]:
    failure = missed.failure
    place = f' <span class="at">{_text(failure.at)}</span>' if failure.at else ""
    yield '<article class="missed">'
    yield f"<h3>{_text(failure.name or failure.text)}{place}</h3>"
    ending = _ending(missed.buffer.failed, words.ending(missed.buffer))
    yield f"<p>{_ref(missed.ref)} {_command(missed.buffer.command)} {ending}</p>"
    yield f'<pre class="excerpt">{"".join(_excerpt(missed))}</pre></article>'


def _excerpt(missed: Missed) -> Iterator[str]:
    width = len(str(missed.excerpt[-1].number)) if missed.excerpt else 0
    for line in missed.excerpt:
        kind = "tells" if line.tells else "around"
        yield f'<span class="{kind}"><i>{str(line.number).rjust(width)}</i>{_text(line.text)}</span>'
    if missed.left_out:
        yield f'<span class="gap">… {counted(missed.left_out, "more line")} of it</span>'


def _findings_section(report: Report) -> Iterator[str]:
    if not report.findings:
        return
    yield '<section><h2>Also unseen</h2><ul class="findings">'
    for finding in report.findings:
        ref = _ref(finding.ref) if finding.ref else ""
        command = _command(finding.command) if finding.command else ""
        yield f"<li><b>{finding.kind.headline}</b> {ref} {command} <span>{_text(finding.text)}</span></li>"
    yield "</ul></section>"


def _claims_section(report: Report) -> Iterator[str]:
    if not report.claims:
        return
    yield '<section id="claims"><h2>What was claimed</h2><ul class="findings">'
    for claim in report.claims:
        refs = " ".join(_ref(ground.ref) for ground in claim.grounds if ground.ref)
        bad = claim.verdict in DOUBTED
        words_told = f"“{_text(claim.claim.words)}” <span>{_text(claim.why)}</span>"
        yield f"<li>{_ending(bad, claim.verdict)} {words_told} {refs}</li>"
    yield "</ul></section>"


def _cost_section(cost: ReportedCost) -> Iterator[str]:
    if not cost.sentences:
        return
    yield '<section id="cost"><h2>What it cost</h2>'
    yield from (f"<p>{_text(sentence)}</p>" for sentence in cost.sentences)
    if cost.days:
        yield _days(cost.days)
    if cost.dearest:
        yield "<h3>The dearest outputs</h3>"
        yield '<ul class="dearest">'
        most = cost.dearest[0].dollars
        for one in cost.dearest:
            bar = f'<rect class="seen-bar" width="{max(1, round(_STRIP_UNITS * one.dollars / most))}" height="16"/>'
            yield (
                f"<li><b>{words.money(one.dollars, one.at_least)}</b> {_ref(one.ref)} {_command(one.asked)} "
                f"<span>{_text(words.carried(one))}</span>"
                f'<svg viewBox="0 0 {_STRIP_UNITS} 16" preserveAspectRatio="none" role="img" '
                f'aria-label="{words.money(one.dollars, one.at_least)}">{bar}</svg></li>'
            )
        yield "</ul>"
    yield "</section>"


def _days(days: Sequence[DayCost]) -> str:
    """Draw a bar for each day, as high as its cost."""
    most, width = max(one.dollars for one in days) or 1.0, _STRIP_UNITS / len(days)
    bars = [
        f'<rect class="seen-bar" x="{at * width + width * 0.1:.1f}" y="{_PLOT - _PLOT * one.dollars / most:.1f}" '
        f'width="{width * 0.8:.1f}" height="{_PLOT * one.dollars / most:.1f}">'
        f"<title>{_text(one.day)}: {words.money(one.dollars, one.at_least)}</title></rect>"
        for at, one in enumerate(days)
    ]
    told = f"{days[0].day} to {days[-1].day}, at most {words.money(most, False)} a day"
    return (
        f'<figure class="days"><svg viewBox="0 0 {_STRIP_UNITS} {_PLOT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{_text(told)}">{"".join(bars)}</svg><figcaption>{_text(told)}</figcaption></figure>'
    )


def _notes_section(notes: Iterable[Note]) -> Iterator[str]:
    rows = list(notes)
    if not rows:
        return
    yield '<section><h2>Notes</h2><ul class="notes">'
    for note in rows:
        sent = whereto(note) or "not sent"
        text = "(blanked)" if note.text is None else note.text
        yield f"<li>{_ref(note.ref)} {_text(text)} <small>{_text(words.when(note.time))}, {_text(sent)}</small></li>"
    yield "</ul></section>"


def _outputs_section(report: Report) -> Iterator[str]:
    yield '<section><h2>Outputs</h2><p class="legend">'
    for kind, what in (("exact", "seen"), ("matched", "matched"), ("asked", "asked about"), ("unseen", "unseen")):
        yield f'<span><i class="{kind}"></i>{what}</span>'
    if any(output.held and output.held.count("before") for output in report.outputs):
        yield '<span><i class="before"></i>seen before, no longer held</span>'
    if any(output.held and output.held.count("unknown") for output in report.outputs):
        yield '<span><i class="unknown"></i>not known whether held</span>'
    yield '<span><i class="failing"></i>failure</span></p>'
    if not report.outputs:
        yield '<p class="empty">Nothing was captured.</p>'
    for output in report.outputs:
        yield from _output(output)
    yield "</section>"


def _output(output: ReportedOutput) -> Iterator[str]:
    buffer = output.buffer
    yield f'<article class="output"><p>{_ref(buffer.ref)} {_command(buffer.command)} '
    yield f'{_ending(buffer.failed, words.ending(buffer))} <span class="seen">{_text(words.seen_of(output))}</span></p>'
    if output.filtered:
        yield '<p class="small">What went into this command’s own filters.</p>'
    if held := words.held_of_output(output):
        yield f'<p class="small">{_text(held)}</p>'
    if output.failures:
        yield f'<p class="small{" bad" if output.unseen else ""}">{_text(words.overlooked_of(output))}</p>'
    streams = output.held.streams if output.held else {}
    for stream, stretch in zip(output.coverage.streams, output.stretches, strict=True):
        yield _strip(stretch, streams.get(stream), len(output.stretches) > 1)
    yield "</article>"


def _strip(stretch: Stretch, held: HeldLines | None, named: bool) -> str:
    """Draw a stream from its first line to its last as a bar, with marks for failures above, lost lines below."""
    covered = stretch.covered
    bars = [
        _bars(covered.lines.asked, covered.total, "asked", 6, 10),
        _bars(covered.lines.matched, covered.total, "matched", 6, 10),
        _bars(covered.lines.exact, covered.total, "exact", 6, 10),
        _bars(held.before if held else (), covered.total, "before", 12, 4),
        _bars(held.unknown if held else (), covered.total, "unknown", 12, 4),
        _bars(stretch.failing, covered.total, "failing", 0, 5, wide=3),
    ]
    name = f"<small>{_text(stretch.ref)}</small>" if named else ""
    label = f"{stretch.ref}: {counted(covered.seen_lines, 'line')} of {covered.total:,} seen"
    return (
        f'<div class="strip">{name}<svg viewBox="0 0 {_STRIP_UNITS} 16" preserveAspectRatio="none" role="img" '
        f'aria-label="{_text(label)}"><title>{_text(label)}</title>'
        f'<rect class="unseen" x="0" y="6" width="{_STRIP_UNITS}" height="10"/>{"".join(bars)}</svg></div>'
    )


def _bars(spans: Spans, total: int, kind: str, top: int, height: int, wide: int = 2) -> str:
    """Draw spans of lines as bars; those that would touch are joined, and none is too narrow to see."""
    bars: list[tuple[int, int]] = []
    for first, last in spans:
        start = (first - 1) * _STRIP_UNITS // total
        stop = min(max(last * _STRIP_UNITS // total, start + wide), _STRIP_UNITS)
        start = min(start, _STRIP_UNITS - wide)
        if bars and start <= bars[-1][1]:
            bars[-1] = (bars[-1][0], max(bars[-1][1], stop))
        else:
            bars.append((start, stop))
    drawn = "".join(f"M{start} {top}h{stop - start}v{height}h{start - stop}z" for start, stop in bars)
    return f'<path class="{kind}" d="{drawn}"/>' if drawn else ""


def _calls_section(report: Report) -> Iterator[str]:
    yield '<section id="calls"><h2>Call by call</h2>'
    if not report.calls:
        yield '<p class="empty">Nothing was asked.</p>'
    many, last = len(report.sessions) > 1, 0.0
    for told in report.calls:
        yield from _rules(report, told, last)
        yield from _call(told, many)
        last = told.call.view.time
    yield from _rules(report, None, last)
    yield "</section>"


def _rules(report: Report, told: ToldCall | None, after: float) -> Iterator[str]:
    for rule in words.rules_before(report, told, after):
        yield f'<p class="rule">{_text(rule)}</p>'


def _call(told: ToldCall, many: bool) -> Iterator[str]:
    call, view = told.call, told.call.view
    marks = [_ending(True, f"exit {view.exit_code}" if view.exit_code else "failed")] if call.failed else []
    marks += ['<span class="mark">cut</span>'] if view.truncated else []
    marks += [f'<span class="mark" title="{_text(call.partial)}">partial</span>'] if call.partial else []
    marks += [f'<span class="mark" title="{_text(call.altered)}">altered</span>'] if call.altered else []
    who = f'<span class="by">{_text(view.session)}</span>' if many else ""
    yield f'<details class="call"{" open" if call.failed or view.truncated else ""}><summary>'
    yield f"<time>{_text(words.clock(view.time))}</time> <b>{_text(view.verb)}</b> {who}"
    yield f"{_command(call.asked)} {' '.join(marks)}"
    yield f'<span class="facts">{_text(" · ".join(words.facts_of(told)))}</span></summary>'
    if told.text is None:
        yield f'<p class="empty">{_text(told.why)}</p>'
    elif told.text:
        head, tail = halves(told)
        yield _pre(head)
        if told.cut_characters:
            gap = f"{told.cut_characters:,} characters of this reply are not in this report"
            yield f'<p class="gap">… {gap} …</p>{_pre(tail)}'
    if told.unseen:
        yield '<p class="not-shown"><b>Not shown</b> '
        yield "; ".join(f"{_ref(ref)} {_text(words.ranges(spans))}" for ref, spans in told.unseen)
        yield "</p>"
    yield "</details>"


def _pre(text: str) -> str:
    """Write a text with its lines; HTML drops the first newline after the tag."""
    return f"<pre>\n{_text(text)}</pre>"


def _ref(ref: str) -> str:
    return f'<code class="ref">{_text(ref)}</code>'


def _command(command: str) -> str:
    line = " ".join(command.split())
    return f'<code class="command">{_text(line[:300])}{"…" if len(line) > 300 else ""}</code>'


def _ending(failed: bool, how: str) -> str:
    return f'<span class="mark{" bad" if failed else ""}">{_text(how)}</span>'
