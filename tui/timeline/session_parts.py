"""How a session is laid out in columns, and told in full with what it captured and read. Pure functions of records."""

import time
from collections.abc import Sequence

from sightline.log.session_list import Belongings, SessionFacts
from sightline.named_tuple import NamedTuple
from sightline.refs import format_ref
from sightline.shape.summary import human_bytes
from sightline.tui.common.phrases import age, counted, short_bytes, short_count
from sightline.tui.common.strips import Part, cut, pad
from sightline.tui.common.visible_text import title
from sightline.tui.timeline.call_parts import short_asked
from sightline.verbs.list_outputs import state_of

ALL_SESSIONS = "all sessions"
_LEAST_NAME = 16
_RIGHT = (("CALLS", 5), ("OUTPUTS", 7), ("BYTES", 5), ("LAST", 4))
_RIGHT_CELLS = sum(cells + 1 for _, cells in _RIGHT)
_HARNESS_CELLS, _CLIENT_CELLS, _STARTED_CELLS = 12, 18, 12
_LEAD = 3
_STATE_CELLS = len("exit 127 partial")


def _widths(width: int) -> tuple[int, bool, bool, int]:
    """(cells of the name, whether client and start are told, cells of the working directory)."""
    room = width - _LEAD - _HARNESS_CELLS - 1 - _RIGHT_CELLS - 1
    started = room >= _LEAST_NAME + _STARTED_CELLS + 1
    room -= _STARTED_CELLS + 1 if started else 0
    client = room >= 2 * _LEAST_NAME + _CLIENT_CELLS + 1
    room -= _CLIENT_CELLS + 1 if client else 0
    cwd = room - 34 if room >= 34 + _LEAST_NAME else 0
    return room - (cwd + 1 if cwd else 0), client, started, cwd


def heading_parts(width: int) -> list[Part]:
    """The names of the columns."""
    name, client, started, cwd = _widths(width)
    text = " " * _LEAD + pad("SESSION", name) + " " + pad("HARNESS", _HARNESS_CELLS) + " "
    text += pad("CLIENT", _CLIENT_CELLS) + " " if client else ""
    text += pad("STARTED", _STARTED_CELLS) + " " if started else ""
    text += pad("IN", cwd) + " " if cwd else ""
    return [Part(text + "".join(f" {head:>{cells}}" for head, cells in _RIGHT), "dim")]


def row_parts(facts: SessionFacts | None, width: int, now: float, *, chosen: bool) -> list[Part]:
    """A session's row; None stands for all of them."""
    mark = Part(" ● " if chosen else "   ", "accent")
    if facts is None:
        return [mark, Part(ALL_SESSIONS, "strong")]
    name, client, started, cwd = _widths(width)
    session, counts = facts.session, facts.counts
    gone = "dim" if facts.is_removed else ""
    parts = [
        mark,
        Part(pad(title(facts.name), name) + " ", gone or "strong"),
        Part(pad(title(session.harness or "-"), _HARNESS_CELLS) + " ", gone or "key"),
    ]
    if client:
        parts.append(Part(pad(title(session.client or "-"), _CLIENT_CELLS) + " ", "dim"))
    if started:
        parts.append(
            Part(pad(time.strftime("%b %d %H:%M", time.localtime(session.started)), _STARTED_CELLS) + " ", "dim")
        )
    if cwd:
        parts.append(Part(pad(title(session.cwd), cwd) + " ", "dim"))
    texts = short_count(counts.calls), short_count(counts.buffers), short_bytes(counts.bytes), age(now - counts.last)
    for text, (_, cells) in zip(texts, _RIGHT, strict=True):
        parts.append(Part(f" {cut(text, cells):>{cells}}", gone or ("dim" if text == texts[-1] else "")))
    return parts


class FactRow(NamedTuple):
    """A row that tells something, and the ref of the output that it is about; empty for none."""

    parts: Sequence[Part]
    ref: str = ""


def fact_rows(facts: SessionFacts, belongings: Belongings | None) -> list[FactRow]:
    """A session in full; the buffers that it captured and read of others, once these have been read."""
    session, counts = facts.session, facts.counts
    who = " ".join(filter(None, (session.harness or "unknown", session.client)))
    begun, last = (time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(when)) for when in (session.started, counts.last))
    rows = [
        [Part(f" {title(facts.name)}", "strong"), Part(f"  {title(session.name)}" if session.title else "", "dim")],
        [Part(f" {title(who)}", "key"), Part(f"  {title(session.cwd)}", "dim")],
        [Part(f" {begun} – {last}", "dim")],
        [
            Part(f" {counted(counts.calls, 'call')}, captured {counted(counts.buffers, 'output')}"),
            Part(f" ({human_bytes(counts.bytes)})", "dim"),
            Part(f", {counts.partial:,} partial" if counts.partial else "", "interrupted"),
            Part("  removed" if facts.is_removed else "", "interrupted"),
        ],
    ]
    rows += [[Part(" read ", "dim"), Part(f"{counted(count, 'output')} of {title(who)}")] for who, count in facts.read]
    rows += [
        [Part(" read by ", "dim"), Part(f"{title(who)}: {counted(count, 'output')}")] for who, count in facts.read_by
    ]
    told = [FactRow(row) for row in rows]
    return told if belongings is None else [*told, FactRow([]), *_belongings(belongings)]


def _belongings(belongings: Belongings) -> Sequence[FactRow]:
    rows = list[FactRow]()
    for one in reversed(belongings.captured):
        readers = f"  ← read by {', '.join(map(title, one.readers))}" if one.readers else ""
        state = state_of(one.buffer)
        parts = [
            Part(f" {pad(one.buffer.ref, 13)}", "key"),
            Part(pad(state, _STATE_CELLS), "error" if one.buffer.failed else "dim"),
            Part(readers.lstrip() + "  " if readers else "", "accent"),
            Part(title(short_asked(" ".join(one.buffer.command.split())))[:400]),
        ]
        rows.append(FactRow(parts, one.buffer.ref))
    for captor, name in belongings.read:
        parts = [Part(f" {pad('@' + name, 13)}", "key"), Part(f"→ read of {title(captor)}", "accent")]
        rows.append(FactRow(parts, format_ref(name)))
    return rows
