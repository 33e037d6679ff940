"""Lays out a session in columns, and in full with what it captured and read. Pure functions of records."""

import time
from collections.abc import Mapping, Sequence

from sightline.audit.buffer_failures import Overlooked
from sightline.audit.held_lines import HeldTokens
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.light.named_tuple import NamedTuple
from sightline.log.call_names import name_of_view
from sightline.log.session_list import Belongings
from sightline.shape.summary import human_bytes
from sightline.verbs.reply import state_in_words
from sightline_tui.common.phrases import MARKS, age, counted, duration, short_count
from sightline_tui.common.strips import StripPart, filled, pad
from sightline_tui.common.visible_text import title
from sightline_tui.timeline.board_reader import Agent
from sightline_tui.timeline.call_parts import held_parts, joined, short_asked

ALL_SESSIONS = "all sessions"
CHOSEN = "▸"
_LEAD = 3
_LEAST_NAME, _MOST_NAME, _LEAST_NOW = 14, 30, 18
_RIGHT = (("CALLS", 5), ("MISSED", 6), ("HELD", 6), ("LAST", 4))
_HELD = "HELD"  # about how many tokens of what a session was shown its context has; it can give way
_RIGHT_CELLS = sum(cells + 1 for head, cells in _RIGHT if head != _HELD)
_HARNESS_CELLS, _PROJECT_CELLS, _HELD_CELLS = 12, 16, 6
_MOST_DEPTH = 4  # of a session in a tree, as far as it is drawn
_STATE_CELLS = len("exit 127 partial")


class Widths(NamedTuple):
    """Cells of the columns that can give way, 0 for one that is left out; the others are as wide as their headings."""

    name: int
    harness: int
    project: int
    held: int
    now: int


def widths(width: int) -> Widths:
    """Share out the cells of a row: to the name and what it does now, then to harness, held tokens and project."""
    room = width - _LEAD - _RIGHT_CELLS - 2
    harness = _HARNESS_CELLS if room - _HARNESS_CELLS - 1 >= _LEAST_NAME + _LEAST_NOW else 0
    room -= harness + 1 if harness else 0
    held = _HELD_CELLS if harness and room - _HELD_CELLS - 1 >= _LEAST_NAME + _LEAST_NOW else 0
    room -= held + 1 if held else 0
    project = _PROJECT_CELLS if held and room - _PROJECT_CELLS - 1 >= _LEAST_NAME + _LEAST_NOW else 0
    room -= project + 1 if project else 0
    name = max(min(room * 2 // 5, _MOST_NAME), min(_LEAST_NAME, room // 2), 4)
    return Widths(name, harness, project, held, max(room - name, 4))


def heading_parts(width: int) -> list[StripPart]:
    """Return the headings of the columns."""
    cells = widths(width)
    text = " " * _LEAD + pad("SESSION", cells.name) + " "
    text += pad("HARNESS", cells.harness) + " " if cells.harness else ""
    text += pad("PROJECT", cells.project) + " " if cells.project else ""
    text += pad("NOW", cells.now)
    right = (f" {head:>{size}}" for head, size in _RIGHT if head != _HELD or cells.held)
    return [StripPart(text + "".join(right), "dim")]


def row_parts(agent: Agent | None, width: int, now: float, *, chosen: bool, judged: bool = True) -> list[StripPart]:
    """Return a session's row; None stands for all sessions.

    Args:
        agent: the session.
        width: cells.
        now: seconds since the epoch.
        chosen: whether the timeline shows this session.
        judged: whether the search for failures is complete, so that finding none means that there are none.
    """
    mark = StripPart(f" {CHOSEN} " if chosen else "   ", "accent")
    if agent is None:
        return [mark, StripPart(ALL_SESSIONS, "strong")]
    cells, facts = widths(width), agent.facts
    below = f"{'  ' * (min(agent.depth, _MOST_DEPTH) - 1)}└ " if agent.depth else ""
    parts = [mark, StripPart(below, "dim"), StripPart(pad(title(facts.name), cells.name - len(below)) + " ", "strong")]
    if cells.harness:
        parts.append(StripPart(pad(title(facts.session.harness or "-"), cells.harness) + " ", "key"))
    if cells.project:
        parts.append(StripPart(pad(title(agent.project or "-"), cells.project) + " ", "dim"))
    missed = agent.verdict.unseen
    told = str(missed) if missed else "-" if judged else "…"
    last = "now" if agent.running else age(now - facts.counts.last)
    return [
        *parts,
        *filled(now_parts(agent, now), cells.now),
        StripPart(f" {short_count(facts.counts.calls):>5}"),
        StripPart(f" {told:>6}", "failed" if missed else "dim"),
        StripPart(f" {_held_text(agent.held):>6}" if cells.held else "", "" if agent.held else "dim"),
        StripPart(f" {last:>4}", "running" if agent.running else "dim"),
    ]


def _held_text(held: HeldTokens | None) -> str:
    return "-" if held is None else f"~{short_count(held.held)}" if held.held else "0"


def now_parts(agent: Agent, now: float) -> list[StripPart]:
    """Say what a session does: the running capture and since when, else its last call in the past tense."""
    if agent.running:
        newest = agent.running[0]
        since = age_of_running(newest, now)
        more = f" +{len(agent.running) - 1}" if len(agent.running) > 1 else ""
        return [
            StripPart(f"{MARKS['running']} {since}{more} ", "running"),
            StripPart(title(short_asked(" ".join(newest.command.split())))[:_NOW_CHARACTERS]),
        ]
    if agent.latest is None:
        return [StripPart("-", "dim")]
    view = agent.latest
    asked = title(short_asked(name_of_view(view)))[:_NOW_CHARACTERS]
    ran = view.verb == "run_command"
    lead = "" if asked and (ran or view.verb == "tool") else f"{view.verb} "
    mark = (MARKS["ok"] if not view.exit_code else MARKS["failed"]) if ran and view.exit_code is not None else "·"
    return [StripPart(f"{mark} {lead}{asked}", "dim")]


_NOW_CHARACTERS = 400


def age_of_running(buffer: Buffer, now: float) -> str:
    """Write how long a capture has been running, of any kind: ``0.4s``, ``2m05``."""
    return duration(buffer._replace(kind="cmd"), now)


class SessionDetails(NamedTuple):
    """What is read of one session alone.

    Attributes:
        belongings: its outputs.
        missed: the first failures in them that no agent saw.
        last_lines: by name of a running output, its last line.
        said: what its agent said last; empty if that is not known.
        said_at: when, in seconds since the epoch.
        costs: from which session it came, what came from it, and what it cost, in sentences.
    """

    belongings: Belongings
    missed: Sequence[Overlooked]
    last_lines: Mapping[str, str] = {}
    said: str = ""
    said_at: float = 0.0
    costs: Sequence[str] = ()


class FactRow(NamedTuple):
    """A row of the panel, and the ref of the output that it is about; empty for none."""

    parts: Sequence[StripPart]
    ref: str = ""


def fact_rows(agent: Agent, details: SessionDetails | None, now: float) -> list[FactRow]:
    """Return a session in full, with what it missed, captured, and read of others, once these are read."""
    facts = agent.facts
    session, counts = facts.session, facts.counts
    who = " ".join(filter(None, (session.harness or "unknown", session.client)))
    begun, last = (time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(when)) for when in (session.started, counts.last))
    rows = [
        [
            StripPart(f" {title(facts.name)}", "strong"),
            StripPart(f"  {title(session.name)}" if session.title else "", "dim"),
        ],
        [StripPart(f" {title(who)}", "key"), StripPart(f"  {title(session.cwd)}", "dim")],
        [StripPart(f" {begun} – {last}", "dim")],
        [
            StripPart(f" {counted(counts.calls, 'call')}, captured {counted(counts.buffers, 'output')}"),
            StripPart(f" ({human_bytes(counts.bytes)})", "dim"),
            StripPart(f", {counts.partial:,} partial" if counts.partial else "", "interrupted"),
            StripPart("  removed" if facts.is_removed else "", "interrupted"),
        ],
    ]
    if held := held_parts(agent.held):
        rows.append([StripPart(" context ", "dim"), *joined(held)])
    rows += [
        [StripPart(" read ", "dim"), StripPart(f"{counted(count, 'output')} of {title(who)}")]
        for who, count in facts.read
    ]
    rows += [
        [StripPart(" read by ", "dim"), StripPart(f"{title(who)}: {counted(count, 'output')}")]
        for who, count in facts.read_by
    ]
    rows += [[StripPart(f" {title(sentence)}", "")] for sentence in (details.costs if details else ())]
    told = [FactRow(row) for row in rows]
    if details is not None and details.said:
        said = [StripPart(f" said {age(now - details.said_at)} ago ", "dim"), StripPart(f"“{title(details.said)}”")]
        told.append(FactRow(said))
    for one in agent.running:
        parts = [
            StripPart(f" {pad(one.ref, 13)}", "key"),
            StripPart(f"{MARKS['running']} {age_of_running(one, now)} ", "running"),
            StripPart(title(short_asked(" ".join(one.command.split())))[:_NOW_CHARACTERS]),
        ]
        told.append(FactRow(parts, one.ref))
        if details is not None and (line := details.last_lines.get(one.name, "")):
            told.append(FactRow([StripPart(" " * 14), StripPart(title(line), "dim")], one.ref))
    if agent.verdict.has_findings:
        told.append(FactRow([StripPart(f" ! {agent.verdict.words}", "failed")]))
    if details is None:
        return told
    told += [
        FactRow([StripPart(f"   {title(one.failure.text)}", ""), StripPart(f"  {one.ref}", "dim")], one.ref)
        for one in details.missed
    ]
    return [*told, FactRow([]), *_belongings(details.belongings)]


def _belongings(belongings: Belongings) -> Sequence[FactRow]:
    rows = list[FactRow]()
    for one in reversed(belongings.captured):
        readers = f"  ← read by {', '.join(map(title, one.readers))}" if one.readers else ""
        state = state_in_words(one.buffer)
        parts = [
            StripPart(f" {pad(one.buffer.ref, 13)}", "key"),
            StripPart(pad(state, _STATE_CELLS), "error" if one.buffer.failed else "dim"),
            StripPart(readers.lstrip() + "  " if readers else "", "accent"),
            StripPart(title(short_asked(" ".join(one.buffer.command.split())))[:400]),
        ]
        rows.append(FactRow(parts, one.buffer.ref))
    for captor, name in belongings.read:
        parts = [StripPart(f" {pad(format_ref(name), 13)}", "key"), StripPart(f"→ read of {title(captor)}", "accent")]
        rows.append(FactRow(parts, format_ref(name)))
    return rows
