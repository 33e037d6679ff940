"""A brief: shows on one screen what a session, or a period, ran and missed; as rows, text, Markdown and data.

The inspector and ``sightline brief`` use the same one. Each item has a ref that leads to its lines.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from sightline.audit.at_work import AtWork, at_work
from sightline.audit.buffer_coverage import filtered_from
from sightline.audit.buffer_failures import TEXT_CHARACTERS, Overlooked, number_told, overlooked
from sightline.audit.cost import tokens
from sightline.audit.coverage import told_share
from sightline.audit.finding_kinds import BROKEN, CLAIMS
from sightline.audit.findings import Finding, finding_of, findings_of, of_sessions
from sightline.audit.later_use import later_use
from sightline.audit.output_costs import output_costs
from sightline.audit.output_facts import AGAIN, FAILED, FOUND, UNOPENED, UNSEEN, UNTOLD, output_rules
from sightline.audit.price_facts import UNUSED, price_told
from sightline.audit.project_scope import running_in, started_in
from sightline.audit.report.markdown import code_span, plain_text
from sightline.audit.report.phrases import ending
from sightline.audit.session_cost import scope_cost
from sightline.audit.timeline import BYTES_A_TOKEN
from sightline.audit.verdict import Scope, Verdict, verdict_of
from sightline.base.errors import UsageError
from sightline.base.project import Project
from sightline.base.records import Buffer, OutputFacts, ReplyTotals
from sightline.base.refs import format_ref, parse_ref
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.call_names import call_name
from sightline.log.sessions import agent_of, session_title
from sightline.shape.summary import counted, human_bytes, human_seconds, one_line
from sightline.store import Reading, Store

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
        when: when that output was begun, seconds since the epoch; 0 if that is not known.
        agent: harness of its session, or a shell session's given name; empty if the harness is not known.
        project: name of its project; empty for none, and in a brief of one project.
        now: of what runs: its last line, and what its agent said last; empty if neither is known.
    """

    ref: str
    text: str
    command: str = ""
    times: int = 1
    when: float = 0.0
    agent: str = ""
    project: str = ""
    now: str = ""

    def origin(self, now: float) -> str:
        """Write when, by which agent and in which project: ``14:02 claude-code payments``, ``11-27 14:02 codex``."""
        if not self.when:
            return ""
        then, day = time.localtime(self.when), "%H:%M"
        if then[:3] != time.localtime(now)[:3]:
            day = "%m-%d %H:%M"
        return " ".join(filter(None, (time.strftime(day, then), self.agent, self.project)))

    @property
    def repeated(self) -> str:
        """``, 33 times``; empty for once."""
        return f", {self.times:,} times" if self.times > 1 else ""


class Section(NamedTuple):
    """One question, and the entries that answer it.

    Attributes:
        name: name for programs: ``running``, ``missed``, ``claims``, ``evidence``, ``also``, ``failed``, ``unopened``,
            ``again``, ``dearest``.
        title: title for people, with the count.
        items: the most important first, at most `MOST_ITEMS`; those that say the same are one.
        total: number of all outputs that they are about.
        bad: whether any entry is bad news.
        above: number of these outputs that have no item here, since they stand in a section above.
    """

    name: str
    title: str
    items: tuple[BriefItem, ...]
    total: int
    bad: bool = False
    above: int = 0

    def left_out(self, items: Sequence[BriefItem]) -> int:
        """The number of outputs that some of the items, the first, are not about."""
        return self.total - self.above - sum(item.times for item in items)


class Brief(NamedTuple):
    """The content of a brief.

    Attributes:
        title: what it is about.
        made: when it was made, seconds since the epoch.
        since: beginning of the period; 0 for the beginning of the log.
        judged: the verdict.
        replies: sums over the replies.
        sections: the sections that have entries.
        costs: what it cost, and from which session it came, in sentences.
    """

    title: str
    made: float
    since: float
    judged: Verdict
    replies: ReplyTotals
    sections: tuple[Section, ...]
    costs: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The most important facts, in a few words."""
        return self.judged.mark + self.judged.words

    @property
    def unknown(self) -> tuple[str, ...]:
        """What could not be judged and why, in sentences."""
        return self.judged.unknown

    @property
    def facts(self) -> str:
        """What was run, and how much of it was shown, in one line."""
        judged, replies = self.judged, self.replies
        seen = f"seen {told_share(judged, 0)} of {counted(judged.lines, 'line')}"
        return (
            f"{counted(judged.ran, 'command')}, {judged.failed:,} failed"
            f" · {replies.calls:,} repl{'y' if replies.calls == 1 else 'ies'}, {replies.cut:,} cut"
            f" · {seen if judged.lines else 'no lines captured'}"
            f" · shown {human_bytes(replies.bytes)} (~{replies.units:,} tokens)"
        )


def make_brief(
    store: Reading, *, session: str | None = None, since: float = 0.0, project: Project | None = None
) -> Brief:
    """Make a brief of one session or all, since a time in seconds since the epoch, and in one project or all."""
    scope = Scope(session, since, project)
    judged = verdict_of(store, scope)
    facts = next((one for one in store.index.sessions() if one.name == session), None)
    begun = started_in(store, project) if project else ()
    sections = (
        _running_section(store, scope),
        _missed_section(store, scope, judged),
        _section("claims", "{} not supported", _alarms(judged, claims=True), "claim", bad=True),
        _section("evidence", "{} in the evidence", _alarms(judged, claims=False), "doubt", bad=True),
        _also_section(store, scope, judged),
        _failed_section(store, scope, judged),
        _unopened_section(store, scope, judged),
        _again_section(store, scope),
        _dearest_section(store, session, since),
    )
    return Brief(
        title=session_title(facts) if facts else session or (project.title if project else "all sessions"),
        made=time.time(),
        since=since,
        judged=judged,
        replies=store.index.reply_totals(scope, BYTES_A_TOKEN, begun),
        sections=_with_origins(store, [section for section in sections if section.total], named=project is None),
        costs=scope_cost(store, scope),
    )


def with_running(store: Reading, brief: Brief, scope: Scope) -> Brief:
    """Return a brief with what runs now; all else is as it was when the brief was made."""
    others = [section for section in brief.sections if section.name != "running"]
    running = [section for section in (_running_section(store, scope),) if section.total]
    return brief._replace(sections=(*_with_origins(store, running, named=scope.project is None), *others))


def _with_origins(store: Reading, sections: Sequence[Section], *, named: bool) -> tuple[Section, ...]:
    """Add to each item when, by which agent and, if `named`, in which project its output was made."""
    names = {item.ref: _name_in(item.ref) for section in sections for item in section.items}
    buffers = store.index.buffers(names.values())
    projects = {root: Project(root).name for root in {one.project for one in buffers.values()} if root and named}
    agents = {session.name: agent_of(session) for session in store.index.sessions()}

    def told(item: BriefItem) -> BriefItem:
        buffer = buffers.get(names.get(item.ref, ""))
        if buffer is None:
            return item
        agent, project = agents.get(buffer.session, ""), projects.get(buffer.project, "")
        return item._replace(when=buffer.created, agent=agent, project=project)

    return tuple(section._replace(items=tuple(map(told, section.items))) for section in sections)


_MOST_READ = 5 * MOST_ITEMS  # outputs of a section that are read, since several may be one item


def _flagged(
    store: Reading, scope: Scope, flags: int, order: str = "created DESC, buffer DESC"
) -> Iterator[tuple[Buffer, OutputFacts]]:
    """Yield the first outputs of a scope that have any of some flags."""
    for name, facts in store.index.with_flags(output_rules(store), flags, scope, order=order, limit=_MOST_READ):
        if buffer := store.index.buffer(name):
            yield buffer, facts


def _outputs_section(
    store: Reading,
    scope: Scope,
    flag: int,
    name: str,
    title: str,
    total: int,
    noun: str,
    item: Callable[[Buffer], BriefItem],
    *,
    order: str = "created DESC, buffer DESC",
    bad: bool = False,
) -> Section:
    items = _once([item(buffer) for buffer, _ in _flagged(store, scope, flag, order)])
    return Section(name, title.format(counted(total, noun)), items, total, bad)


def _unopened_section(store: Reading, scope: Scope, judged: Verdict) -> Section:
    title, count = "{} never opened", judged.unopened
    return _outputs_section(store, scope, UNOPENED, "unopened", title, count, "output", _unopened, order="lines DESC")


def _missed_section(store: Reading, scope: Scope, judged: Verdict) -> Section:
    title = f"{number_told(judged.unseen, at_least=judged.at_least)} unseen"
    missed = list(
        islice((one for buffer, _ in _flagged(store, scope, UNSEEN) for one in overlooked(store, [buffer])), _MOST_READ)
    )
    return Section("missed", title, _once([*map(_missed, missed)]), judged.unseen, bad=True)


def _name_in(ref: str) -> str:
    """Return the name of the output that a ref leads to; empty for no ref, or one that another host has miswritten."""
    try:
        return parse_ref(ref).name
    except UsageError:
        return ""


def _failed_section(store: Reading, scope: Scope, judged: Verdict) -> Section:
    """Return the failed commands but those above: each is listed once, where it says most."""
    told = UNSEEN | UNTOLD
    tallies = store.index.tallies(output_rules(store), scope)
    above = sum(one.outputs for _, one in tallies if one.flags & FAILED and one.flags & told)
    items = _once([_run(buffer) for buffer, facts in _flagged(store, scope, FAILED) if not facts.flags & told])
    listed = "" if not above else ", listed above" if above == judged.failed else f", {above:,} of them listed above"
    title = f"{counted(judged.failed, 'command')} failed{listed}"
    return Section("failed", title, items, judged.failed, bad=True, above=above)


def _also_section(store: Reading, scope: Scope, judged: Verdict) -> Section:
    names = [buffer.name for buffer, _ in _flagged(store, scope, FOUND & ~UNSEEN)]
    beside = [*findings_of(store, names).others, *(one for one in of_sessions(judged) if one.kind == BROKEN)]
    total = judged.cut + judged.untold + judged.lost + judged.altered + len(judged.broken)
    items = _once([_finding(one) for one in beside[::-1]])
    return Section("also", f"{counted(total, 'thing')} to look at beside", items, total, bad=True)


def _running_section(store: Reading, scope: Scope) -> Section:
    running = sorted(map(store.with_progress, running_in(store, scope)), key=lambda one: -one.created)
    said = {one.buffer.name: one for one in at_work(store, running)}
    return _section("running", "{} still running", [_running(one, said.get(one.name)) for one in running], "command")


def _again_section(store: Reading, scope: Scope) -> Section:
    tallies = store.index.tallies(output_rules(store), scope)
    total = sum(tally.outputs for _, tally in tallies if tally.flags & AGAIN)
    items = [
        BriefItem(buffer.ref, f"{counted(facts.again, 'line')} shown again", call_name(buffer))
        for buffer, facts in _flagged(store, scope, AGAIN, "again DESC")
    ]
    return Section("again", f"{counted(total, 'output')} read again", _once(items), total)


def _dearest_section(store: Reading, session: str | None, since: float) -> Section:
    """Return the dearest outputs of a session; of all sessions that takes long, so ``sightline cost`` lists those."""
    if session is None or not isinstance(store, Store) or not store.index.requests.of([session]):
        return Section("dearest", "", (), 0)
    rows = [one for one in output_costs(store, session=session, since=since).dearest if one.row.dollars]
    items = list[BriefItem]()
    for row, asked in rows:
        again = f", {tokens(row.again)} of them again" if row.again else ""
        used = later_use(store, row.session, row.output, row.view) if len(items) < TEXT_ITEMS else " "
        ref = "" if ":" in row.output else format_ref(row.output)
        items.append(BriefItem(ref, f"{price_told(row)}{again}{'' if used else f'; {UNUSED}'}", asked))
    return Section("dearest", f"{counted(len(items), 'output')} that cost most", tuple(items), len(items))


def _section(name: str, title: str, items: Sequence[BriefItem], noun: str, *, bad: bool = False) -> Section:
    return Section(name, title.format(counted(len(items), noun)), _once(items), len(items), bad)


def _once(items: Sequence[BriefItem]) -> tuple[BriefItem, ...]:
    """Return the first items, those that differ in nothing but their refs as one."""
    times = Counter((item.text, item.command) for item in items)
    first = {(item.text, item.command): item for item in reversed(items)}
    return tuple(first[key]._replace(times=count) for key, count in times.items())[:MOST_ITEMS]


def _missed(one: Overlooked) -> BriefItem:
    failure = one.failure
    text = f"{failure.name} ({failure.at})" if failure.name and failure.at else failure.name or failure.text
    return BriefItem(one.ref, text, call_name(one.buffer))


def _alarms(judged: Verdict, *, claims: bool) -> list[BriefItem]:
    return [_finding(finding_of(one)) for one in judged.alarms if (one.kind in CLAIMS) == claims]


def _finding(one: Finding) -> BriefItem:
    return BriefItem(one.ref, f"{one.kind.headline}: {one.text}", " ".join(one.command.split()))


def _run(buffer: Buffer) -> BriefItem:
    ended = f"{ending(buffer._replace(state='sealed'))}, expired" if buffer.state == "evicted" else ending(buffer)
    return BriefItem(buffer.ref, f"{ended}: {call_name(buffer)}")


def _running(buffer: Buffer, now: AtWork | None) -> BriefItem:
    text = f"for {human_seconds(max(time.time() - buffer.created, 0))}: {call_name(buffer)}"
    said = (f"↳ {now.last_line}" if now.last_line else "", f"said “{now.said}”" if now.said else "") if now else ()
    return BriefItem(buffer.ref, text, now="  ".join(filter(None, said)))


def _unopened(buffer: Buffer) -> BriefItem:
    """Return the item of an output of which no reply had a line; it may be what went into a command's filters."""
    filtered = ", what went into the filters" if filtered_from(buffer) else ""
    return BriefItem(buffer.ref, f"{counted(buffer.lines, 'line')}{filtered}", call_name(buffer))


# as text, Markdown and data


def as_text(brief: Brief) -> str:
    """Write the brief for a terminal. The texts of outputs are as they are; the caller makes them safe."""
    rows = [brief.verdict, brief.facts, *brief.costs]
    for section in brief.sections:
        rows += ["", section.title]
        for item in section.items[:TEXT_ITEMS]:
            command = f"  ({one_line(item.command, _COMMAND_CHARACTERS)})" if item.command else ""
            lead = "".join(f"{part}  " for part in (item.origin(brief.made), item.ref) if part)
            rows.append(f"  {lead}{one_line(item.text, TEXT_CHARACTERS)}{command}{item.repeated}")
            rows += [f"    {one_line(item.now, TEXT_CHARACTERS)}"] if item.now else []
        if left_out := section.left_out(section.items[:TEXT_ITEMS]):
            rows.append(f"  … {left_out:,} more")
    return "\n".join([*rows, *(["", *brief.unknown] if brief.unknown else [])]) + "\n"


def as_markdown(brief: Brief) -> str:
    """Write the brief as Markdown."""
    rows = [f"# {plain_text(brief.title)}\n", f"**{plain_text(brief.verdict)}**\n", plain_text(brief.facts)]
    rows += [f"\n{plain_text(sentence)}" for sentence in brief.costs]
    for section in brief.sections:
        rows.append(f"\n## {plain_text(section.title)}\n")
        for item in section.items:
            command = f" ({code_span(item.command)})" if item.command else ""
            origin = plain_text(item.origin(brief.made))
            lead = "".join(f"{part} " for part in (origin, code_span(item.ref) if item.ref else "") if part)
            now = f" {plain_text(item.now)}" if item.now else ""
            rows.append(f"- {lead}{plain_text(item.text)}{command}{item.repeated}{now}")
        if left_out := section.left_out(section.items):
            rows.append(f"- … {left_out:,} more")
    rows += [f"\n{plain_text(sentence)}" for sentence in brief.unknown]
    return "\n".join(rows) + "\n"


def as_data(brief: Brief) -> dict[str, Any]:
    """Encode the brief for programs; times are seconds since the epoch."""
    judged, replies = brief.judged, brief.replies
    return {
        "title": brief.title,
        "verdict": brief.verdict,
        "made": brief.made,
        "since": brief.since or None,
        "commands": judged.ran,
        "commands_failed": judged.failed,
        "counts": judged.counts,
        "calls": replies.calls,
        "calls_cut": replies.cut,
        "captured_lines": judged.lines,
        "share_seen": round(judged.share, 6),
        "at_most": judged.at_most,
        "tokens_estimated": replies.units,
        "sections": [
            {**section._asdict(), "items": [item._asdict() for item in section.items]} for section in brief.sections
        ],
        "costs": list(brief.costs),
        "unknown": list(brief.unknown),
    }
