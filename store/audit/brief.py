"""A brief: shows on one screen what a session, or a period, ran and missed; as rows, text, Markdown and data.

The inspector and ``sightline brief`` use the same one. Each item has a ref that leads to its lines.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from sightline.audit.buffer_coverage import filtered_from
from sightline.audit.buffer_failures import TEXT_CHARACTERS, Overlooked, not_judged, overlooked, told_count
from sightline.audit.coverage import told_share
from sightline.audit.evidence.session_evidence import ALARMS
from sightline.audit.findings import Finding, find_others
from sightline.audit.project_scope import buffers_in, calls_in
from sightline.audit.report.markdown import code_span, plain_text
from sightline.audit.report.phrases import HEADLINES, ending
from sightline.audit.timeline import Call, CallTotals, calls_of, captured_by, gone_of, seen_after, totals_of, unknowable
from sightline.log.call_names import call_name
from sightline.log.session_list import list_sessions
from sightline.named_tuple import NamedTuple
from sightline.project import Project
from sightline.records import Buffer
from sightline.refs import format_ref
from sightline.shape.summary import counted, human_bytes, human_seconds, one_line
from sightline.store import Reading
from sightline.typing_names import Any

MOST_ITEMS = 200
"""Items of a section at most; the number of all of them is given."""

TEXT_ITEMS = 8
"""Items of a section in the text, so that the whole text fits on a screen."""

_COMMAND_CHARACTERS = 60


class BriefItem(NamedTuple):
    """One entry of a section.

    Attributes:
        ref: the lines, or the output, that it is about; empty for none.
        text: the words of the entry.
        command: command of the output; empty if the text has it.
        times: number of outputs of which the same is to be said; the ref is that of the first of them.
    """

    ref: str
    text: str
    command: str = ""
    times: int = 1

    @property
    def repeated(self) -> str:
        """``, 33 times``; empty for once."""
        return f", {self.times:,} times" if self.times > 1 else ""


class Section(NamedTuple):
    """One question, and the entries that answer it.

    Attributes:
        name: name for programs: ``missed``, ``failed``, ``also``, ``evidence``, ``running``, ``again``, ``unopened``.
        title: title for people, with the count.
        items: the most important first, at most `MOST_ITEMS`; those that say the same are one.
        total: number of all outputs that they are about.
        bad: whether any entry is bad news.
    """

    name: str
    title: str
    items: tuple[BriefItem, ...]
    total: int
    bad: bool = False

    def left_out(self, items: Sequence[BriefItem]) -> int:
        """The number of outputs that some of the items, the first, are not about."""
        return self.total - sum(item.times for item in items)


class Brief(NamedTuple):
    """The content of a brief.

    Attributes:
        title: what it is about.
        made: when it was made, seconds since the epoch.
        since: beginning of the period; 0 for the beginning of the log.
        totals: totals of the calls.
        ran: number of commands that were run, those whose output has expired included.
        failed: number of these that did not end well.
        sections: the sections that have entries.
        unknown: what nobody can tell, in sentences.
    """

    title: str
    made: float
    since: float
    totals: CallTotals
    ran: int
    failed: int
    sections: tuple[Section, ...]
    unknown: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """The most important fact, in a few words."""
        missed = next((section for section in self.sections if section.name == "missed"), None)
        if missed and missed.total:
            return f"! {missed.title}"
        if not (self.totals.captured or self.unknown):
            return "nothing was captured"
        return "no failure is known that no agent saw" if self.unknown else "✓ no failure that no agent saw"

    @property
    def facts(self) -> str:
        """What was run, and how much of it was shown, in one line."""
        totals = self.totals
        lines = counted(totals.captured_lines, "line")
        seen = f"seen {told_share(totals, 0)} of {lines}" if totals.captured_lines else "no lines captured"
        replies = f"{totals.calls:,} repl{'y' if totals.calls == 1 else 'ies'}, {totals.cut:,} cut"
        return (
            f"{counted(self.ran, 'command')}, {self.failed:,} failed · {replies}"
            f" · {seen} · shown {human_bytes(totals.shown_bytes)} (~{totals.tokens:,} tokens)"
        )


def make_brief(
    store: Reading, *, session: str | None = None, since: float = 0.0, project: Project | None = None
) -> Brief:
    """Make a brief of one session or all, since a time in seconds since the epoch, and in one project or all."""
    calls = calls_in(store, calls_of(store, session=session, since=since), project)
    everyone = {one.session.name: one for one in list_sessions(store)}
    names = [session] if session else [name for name, one in everyone.items() if one.counts.last >= since]
    captured = list(map(store.checked, buffers_in(captured_by(store, names, since), project)))
    newest = captured[::-1]
    unread = set[str]()
    missed = overlooked(store, newest, session=session, unread=unread)
    others = find_others(store, calls, captured, session, unread)
    doubts = [one for one in others if one.kind in ALARMS]
    beside = [one for one in others if one.kind not in ALARMS]
    kept = [*newest, *buffers_in(gone_of(store, names, since), project)]
    runs = [buffer for buffer in kept if buffer.kind == "cmd" and not filtered_from(buffer)]
    failed = [buffer for buffer in runs if buffer.failed]
    sections = (
        _missed_section(missed),
        _section("failed", "{} failed", [_run(buffer) for buffer in failed], "command", bad=True),
        _section("also", "{} to look at beside", [_finding(one) for one in beside[::-1]], "thing", bad=True),
        _section("evidence", "{} in the evidence", [_finding(one) for one in doubts], "doubt", bad=True),
        _section("running", "{} still running", [_running(one) for one in newest if one.state == "running"], "command"),
        _section("unopened", "{} never opened", _unopened(calls, newest), "output"),
        _section("again", "{} read again", _again(calls), "output"),
    )
    gone = len(unknowable(store, calls, names, since)) if project is None else 0  # their project is not known any more
    facts = everyone.get(session or "")
    return Brief(
        title=facts.name if facts else session or (project.title if project else "all sessions"),
        made=time.time(),
        since=since,
        totals=totals_of(calls, captured),
        ran=len(runs),
        failed=len(failed),
        sections=tuple(section for section in sections if section.total),
        unknown=tuple(_unknown(captured, gone, len(unread))),
    )


def _section(name: str, title: str, items: Sequence[BriefItem], noun: str, *, bad: bool = False) -> Section:
    return Section(name, title.format(counted(len(items), noun)), _once(items), len(items), bad)


def _once(items: Sequence[BriefItem]) -> tuple[BriefItem, ...]:
    """Return the first items, those that differ in nothing but their refs as one."""
    times = Counter((item.text, item.command) for item in items)
    first = {(item.text, item.command): item for item in reversed(items)}
    return tuple(first[key]._replace(times=count) for key, count in times.items())[:MOST_ITEMS]


def _missed_section(missed: Sequence[Overlooked]) -> Section:
    title = f"{told_count([one.failure for one in missed])} no agent saw"
    return Section("missed", title, _once([*map(_missed, missed)]), len(missed), bad=True)


def _missed(one: Overlooked) -> BriefItem:
    failure = one.failure
    text = f"{failure.name} ({failure.at})" if failure.name and failure.at else failure.name or failure.text
    return BriefItem(one.ref, text, call_name(one.buffer))


def _finding(one: Finding) -> BriefItem:
    return BriefItem(one.ref, f"{HEADLINES[one.kind]}: {one.text}", " ".join(one.command.split()))


def _run(buffer: Buffer) -> BriefItem:
    ended = f"{ending(buffer._replace(state='sealed'))}, expired" if buffer.state == "evicted" else ending(buffer)
    return BriefItem(buffer.ref, f"{ended}: {call_name(buffer)}")


def _running(buffer: Buffer) -> BriefItem:
    return BriefItem(buffer.ref, f"for {human_seconds(max(time.time() - buffer.created, 0))}: {call_name(buffer)}")


def _unopened(calls: Sequence[Call], captured: Sequence[Buffer]) -> list[BriefItem]:
    """Return outputs of which no reply had a line, with those that went into a command's filters."""
    seen = seen_after(calls, len(calls))
    there = [buffer for buffer in captured if buffer.lines and buffer.state != "running" and buffer.name not in seen]
    return [
        BriefItem(
            buffer.ref,
            f"{counted(buffer.lines, 'line')}{', what went into the filters' if filtered_from(buffer) else ''}",
            call_name(buffer),
        )
        for buffer in sorted(there, key=lambda one: -one.lines)
    ]


def _again(calls: Sequence[Call]) -> list[BriefItem]:
    """Return outputs of which lines were shown again to the session that had them already, the most repeated first."""
    lines, asked = Counter[str](), dict[str, str]()
    for call in calls:
        if call.again and call.view.refs:
            name = call.view.refs[0]
            lines[name] += call.again
            asked.setdefault(name, call_name(call.buffer) if call.buffer else call.asked)
    return [
        BriefItem(format_ref(name), f"{counted(count, 'line')} shown again", asked[name])
        for name, count in lines.most_common()
    ]


def _unknown(captured: Sequence[Buffer], gone: int, unread: int) -> Iterator[str]:
    partial, altered = sum(one.is_partial for one in captured), sum(bool(one.altered) for one in captured)
    if altered:
        yield f"{counted(altered, 'output')} changed after the capture: what failed there, nobody can tell"
    if unread:
        yield f"{unread:,} of the outputs and logs could not be read: what failed there, nobody can tell"
    if partial:
        yield f"of {counted(partial, 'output')} only a part reached the store: what else failed there, nobody can tell"
    if gone:
        yield f"{counted(gone, 'output')} went before all was shown: what failed there, nobody can tell"
    if unjudged := not_judged(captured):
        yield f"{counted(unjudged, 'output')} only show what others wrote, and were not judged"


# as text, Markdown and data


def as_text(brief: Brief) -> str:
    """Write the brief for a terminal. The texts of outputs are as they are; the caller makes them safe."""
    rows = [brief.verdict, brief.facts]
    for section in brief.sections:
        rows += ["", section.title]
        for item in section.items[:TEXT_ITEMS]:
            command = f"  ({one_line(item.command, _COMMAND_CHARACTERS)})" if item.command else ""
            rows.append(
                f"  {item.ref + '  ' if item.ref else ''}{one_line(item.text, TEXT_CHARACTERS)}{command}{item.repeated}"
            )
        if left_out := section.left_out(section.items[:TEXT_ITEMS]):
            rows.append(f"  … {left_out:,} more")
    return "\n".join([*rows, *(["", *brief.unknown] if brief.unknown else [])]) + "\n"


def as_markdown(brief: Brief) -> str:
    """Write the brief as Markdown."""
    rows = [f"# {plain_text(brief.title)}\n", f"**{plain_text(brief.verdict)}**\n", plain_text(brief.facts)]
    for section in brief.sections:
        rows.append(f"\n## {plain_text(section.title)}\n")
        for item in section.items:
            command = f" ({code_span(item.command)})" if item.command else ""
            rows.append(
                f"- {code_span(item.ref) + ' ' if item.ref else ''}{plain_text(item.text)}{command}{item.repeated}"
            )
        if left_out := section.left_out(section.items):
            rows.append(f"- … {left_out:,} more")
    rows += [f"\n{plain_text(sentence)}" for sentence in brief.unknown]
    return "\n".join(rows) + "\n"


def as_data(brief: Brief) -> dict[str, Any]:
    """Encode the brief for programs; times are seconds since the epoch."""
    totals = brief.totals
    return {
        "title": brief.title,
        "verdict": brief.verdict,
        "made": brief.made,
        "since": brief.since or None,
        "commands": brief.ran,
        "commands_failed": brief.failed,
        "calls": totals.calls,
        "calls_cut": totals.cut,
        "captured_lines": totals.captured_lines,
        "share_seen": round(totals.share, 6),
        "at_most": totals.at_most,
        "tokens_estimated": totals.tokens,
        "sections": [
            {**section._asdict(), "items": [item._asdict() for item in section.items]} for section in brief.sections
        ],
        "unknown": list(brief.unknown),
    }
