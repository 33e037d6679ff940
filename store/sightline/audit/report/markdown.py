"""Renders a report as Markdown; texts of outputs stand in fences that they cannot close, or in code spans."""

import re
from collections.abc import Iterator

from sightline.audit.report import phrases as words
from sightline.audit.report.report import Report, ReportedOutput, ToldCall, halves
from sightline.log.notes import whereto

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


def render_markdown(report: Report) -> str:
    """Render the document."""
    return "\n".join(_document(report)) + "\n"


def _document(report: Report) -> Iterator[str]:
    yield f"# {plain_text(report.title)}\n"
    yield from (f"{plain_text(line)}  " for line in (*words.who(report), words.span_of_time(report)) if line)
    yield f"\n**{plain_text(report.judged.mark + report.judged.words)}**"
    yield "\n| | | |\n|---|---|---|"
    yield from (f"| **{figure}** | {what} | {plain_text(more)} |" for figure, what, more in words.figures(report))
    yield from (f"\nNot in this report: {line}." for line in report.left_out)
    yield "\n## Overlooked failures\n"
    if not report.missed:
        yield words.none_missed(report) + "\n"
    for missed in report.missed:
        name = missed.failure.name or missed.failure.text
        yield f"### {plain_text(name)}\n"
        yield f"{code_span(missed.ref)} of {code_span(missed.buffer.command)}, {words.ending(missed.buffer)}\n"
        yield _fenced("\n".join(f"{line.number:>6}  {line.text}" for line in missed.excerpt))
    if report.findings:
        yield "\n## Also unseen\n"
    for finding in report.findings:
        where = f" {code_span(finding.ref)}" if finding.ref else ""
        command = f" {code_span(finding.command)}:" if finding.command else ""
        yield f"- {finding.kind.headline}:{where}{command} {plain_text(finding.text)}"
    if report.claims:
        yield "\n## What was claimed\n"
    for claim in report.claims:
        refs = ", ".join(code_span(ground.ref) for ground in claim.grounds if ground.ref)
        said = f"“{plain_text(claim.claim.words)}”: {plain_text(claim.why)}{f' ({refs})' if refs else ''}"
        yield f"- **{claim.verdict}** {said}"
    if report.cost.sentences:
        yield "\n## What it cost\n"
        yield from (f"{plain_text(sentence)}\n" for sentence in report.cost.sentences)
    for one in report.cost.dearest:
        money = f"**{words.money(one.dollars, one.at_least)}**"
        yield f"- {money} {code_span(one.ref)} {code_span(one.asked)}: {words.carried(one)}"
    if report.notes:
        yield "\n## Notes\n"
    for note in report.notes:
        about = f"{words.when(note.time)}, {plain_text(whereto(note) or 'not sent')}"
        yield f"- {code_span(note.ref)} {plain_text(note.text or '(blanked)')} ({about})"
    yield "\n## Outputs\n"
    yield from (_output(output) for output in report.outputs)
    yield "\n## Call by call\n"
    last = 0.0
    for told in report.calls:
        yield from (f"\n---\n\n{plain_text(rule)}\n\n---" for rule in words.rules_before(report, told, last))
        yield from _call(told, len(report.sessions) > 1)
        last = told.call.view.time
    yield from (f"\n---\n\n{plain_text(rule)}" for rule in words.rules_before(report, None, last))
    yield f"\n---\n{words.HOW} Made {words.when(report.made)}."


def _output(output: ReportedOutput) -> str:
    buffer = output.buffer
    missed = f"; {words.overlooked_of(output)}" if output.failures else ""
    held = words.held_of_output(output)
    missed += f"; {held[0].lower()}{held[1:]}" if held else ""
    return (
        f"- {code_span(buffer.ref)} {code_span(buffer.command)} {words.ending(buffer)}: {words.seen_of(output)}{missed}"
    )


def _call(told: ToldCall, many: bool) -> Iterator[str]:
    call, view = told.call, told.call.view
    who = f" {plain_text(view.session)}" if many else ""
    marks = [f"exit {view.exit_code}" if view.exit_code else "failed"] if call.failed else []
    marks += ["cut"] if view.truncated else []
    marks += [f"partial: {plain_text(call.partial)}"] if call.partial else []
    marks += [f"altered: {plain_text(call.altered)}"] if call.altered else []
    told_marks = f" **{', '.join(marks)}**" if marks else ""
    yield f"\n### {words.clock(view.time)}{who} {plain_text(view.verb)} {code_span(call.asked)}{told_marks}\n"
    yield plain_text(" · ".join(words.facts_of(told))) + "\n"
    if told.text is None:
        yield f"({plain_text(told.why)})"
    elif told.text:
        head, tail = halves(told)
        yield _fenced(head)
        if told.cut_characters:
            yield f"\n… {told.cut_characters:,} characters of this reply are not in this report …\n"
            yield _fenced(tail)
    for ref, spans in told.unseen:
        yield f"\nNot shown: {code_span(ref)} {words.ranges(spans)}"


def _line(text: str) -> str:
    return words.visible(" ".join(text.split()))


def plain_text(text: str) -> str:
    """Write a text on one line, with every sign escaped that Markdown would interpret."""
    return _SPECIAL.sub(r"\\\1", _line(text))


def code_span(text: str) -> str:
    """Write a text on one line as code, cut if it is very long."""
    line = _line(text)[:300] or " "
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def _fenced(text: str) -> str:
    fence = "`" * max(_longest_run(text) + 1, 3)
    return f"{fence}text\n{words.visible(text.rstrip())}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
