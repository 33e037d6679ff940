"""Lays out a call, or what came between calls, in columns and in full. Pure functions of records."""

import time
from collections.abc import Callable

from sightline.audit.conversation import SAYS, Said
from sightline.audit.coverage import HasShare, percent, told_share
from sightline.audit.held_lines import HeldTokens
from sightline.audit.timeline import Call, CallTotals
from sightline.audit.verdict import Verdict
from sightline.base.records import Note
from sightline.base.refs import format_ref
from sightline.light.named_tuple import NamedTuple
from sightline.log.call_names import left_out_of_path
from sightline.log.notes import whereto
from sightline.shape.summary import human_bytes
from sightline_tui.common.command_words import START_CHARS, command_parts, parts_in
from sightline_tui.common.phrases import ALTERED, PARTIAL, counted, short_bytes, short_count
from sightline_tui.common.strips import ELLIPSIS, StripPart, cut, fitted, pad, width_of
from sightline_tui.common.visible_text import title, visible
from sightline_tui.timeline.call_reader import ContextLoss, Row
from sightline_tui.timeline.edit_parts import counts_of
from sightline_tui.timeline.totals import TimelineTotals

_LEAD = 4
_LARGEST = 4  # outputs named of those that went at once
_TOKENS_TOLD = 100  # cells that the totals need before they have room for tokens
NOTE = "✎"
FAILED = "✗"
OVERLOOKED = "!"
RULE = "─"
ASKS, SAID = "❯", "“"


class CallColumn(NamedTuple):
    """A column: its name, its width in cells, whether it is aligned left, and what it says of a call."""

    name: str
    cells: int
    left: bool
    parts: Callable[[Call, "CallLook"], StripPart]


class CallLook(NamedTuple):
    """What the drawing of rows needs beside the rows.

    Attributes:
        now: seconds since the epoch.
        everyone: whether each row names its session.
        titles: titles of sessions, by name.
        overlooked: names of the buffers with a failure that no agent was shown.
    """

    now: float
    everyone: bool
    titles: dict[str, str]
    overlooked: frozenset[str] = frozenset()


def clock(when: float, now: float) -> str:
    """Write a time in eight characters: the time of day, or the date if it was another day."""
    moment = time.localtime(when)
    same = time.localtime(now)[:3] == moment[:3]
    return time.strftime("%H:%M:%S" if same else "%b %d", moment)


def _shown(call: Call, _: CallLook) -> StripPart:
    view = call.view
    if not view.refs and (told := counts_of(call)):
        return StripPart(told, "dim")
    if not view.lines_total:
        return StripPart("-" if not call.lines else short_count(call.lines), "dim")
    share = f"{short_count(call.lines)}/{short_count(view.lines_total)}"
    return StripPart(share, "cut" if view.truncated else "")


def _exit(call: Call, _: CallLook) -> StripPart:
    code = call.view.exit_code
    if code is None and call.running:
        return StripPart("run", "running")
    if code is None:
        return StripPart("fail" if call.failed else "", "failed")
    return StripPart(str(code), "failed" if call.failed else "interrupted" if call.failed_before_filter else "dim")


def _again(call: Call, _: CallLook) -> StripPart:
    return StripPart(f"↺{short_count(call.again)}" if call.again else "", "again")


def _session(call: Call, look: CallLook) -> StripPart:
    return StripPart(title(look.titles.get(call.view.session, call.view.session)), "session")


_EXIT = CallColumn("EXIT", 4, False, _exit)
_SHOWN = CallColumn("SHOWN/OF", 10, False, _shown)
_CUT = CallColumn("CUT", 3, False, lambda call, _: StripPart("cut" if call.view.truncated else "", "cut"))
_TOKENS = CallColumn("TOKENS", 6, False, lambda call, _: StripPart(f"~{short_count(call.tokens)}", "dim"))
_AGAIN = CallColumn("AGAIN", 6, False, _again)
_BYTES = CallColumn("BYTES", 5, False, lambda call, _: StripPart(short_bytes(call.view.bytes_shown), "dim"))
_SESSION = CallColumn("SESSION", 14, True, _session)
_LINES = CallColumn("LINES", 9, True, lambda call, _: StripPart(call.first_ref.partition(":")[2], "dim"))

_BY_WEIGHT = (_SHOWN, _EXIT, _TOKENS, _CUT, _AGAIN, _SESSION, _BYTES, _LINES)
"""The columns in the order of their weight: on a narrow screen the last ones are dropped first."""

_LEAST_ASKED = dict(zip(_BY_WEIGHT, (14, 14, 14, 16, 24, 24, 36, 36), strict=True))
"""The least cells for the question that a column must leave, or it is dropped."""

_TIME_CELLS, _VERB_CELLS, _REF_CELLS = 8, 12, 15


class CallLayout(NamedTuple):
    """What fits into a row: cells for the question, whether session and lines are shown, and the other columns."""

    asked: int
    session: bool
    lines: bool
    columns: tuple[CallColumn, ...]


def layout(width: int, *, everyone: bool) -> CallLayout:
    """Return what fits into a row of this many cells."""
    room = width - _LEAD - _TIME_CELLS - _VERB_CELLS - _REF_CELLS - 4
    kept = set[CallColumn]()
    for column in _BY_WEIGHT:
        if column is _SESSION and not everyone:
            continue
        if room - column.cells - 1 < _LEAST_ASKED[column]:
            break
        kept.add(column)
        room -= column.cells + 1
    in_order = (_EXIT, _SHOWN, _CUT, _BYTES, _TOKENS, _AGAIN)
    columns = tuple(column for column in in_order if column in kept)
    return CallLayout(max(room, 4), _SESSION in kept, _LINES in kept, columns)


def heading_parts(width: int, *, everyone: bool) -> list[StripPart]:
    """Return the headings of the columns."""
    room = layout(width, everyone=everyone)
    text = " " * _LEAD + pad("TIME", _TIME_CELLS) + " "
    text += f"{pad(_SESSION.name, _SESSION.cells)} " if room.session else ""
    text += f"{pad('VERB', _VERB_CELLS)} {pad('REF', _REF_CELLS)} "
    text += f"{pad(_LINES.name, _LINES.cells)} " if room.lines else ""
    text += pad("ASKED", room.asked)
    text += "".join(f" {column.name:>{column.cells}}" for column in room.columns)
    return [StripPart(text, "dim")]


def row_parts(row: Row, width: int, look: CallLook) -> list[StripPart]:
    """Return a row of the timeline."""
    if isinstance(row, ContextLoss):
        return _rule_parts(row, width, look)
    if isinstance(row, Said):
        return _said_parts(row, width, look)
    return _note_parts(row, width, look) if isinstance(row, Note) else _call_parts(row, width, look)


def _rule_parts(lost: ContextLoss, width: int, look: CallLook) -> list[StripPart]:
    """A rule across, with what went there."""
    who = f" {title(look.titles.get(lost.session, lost.session))}" if look.everyone else ""
    parts = [
        StripPart(f" {RULE * 2} ", "cut"),
        StripPart(pad(clock(lost.time, look.now), _TIME_CELLS), "dim"),
        StripPart(who, "session"),
        StripPart(f" {lost.loss.told} ", "cut"),
    ]
    parts = fitted(parts, width)
    return [*parts, StripPart(RULE * (width - width_of(parts)), "cut")]


def _call_parts(call: Call, width: int, look: CallLook) -> list[StripPart]:
    room, view = layout(width, everyone=look.everyone), call.view
    ref = call.first_ref
    names = (*view.refs, *([call.unfiltered.name] if call.unfiltered else []))
    unseen = any(name in look.overlooked for name in names)
    parts = [
        StripPart(" "),
        StripPart(FAILED, "failed")
        if call.failed
        else StripPart("·", "interrupted" if call.failed_before_filter else "dim"),
        StripPart(OVERLOOKED if unseen else ALTERED, "failed")
        if unseen or call.altered
        else StripPart(PARTIAL if call.partial else " ", "interrupted"),
        StripPart(" "),
        StripPart(pad(clock(view.time, look.now), _TIME_CELLS) + " ", "dim"),
    ]
    if room.session:
        parts.append(StripPart(pad(_session(call, look).text, _SESSION.cells) + " ", "session"))
    parts.append(StripPart(pad(title(view.verb), _VERB_CELLS) + " ", "verb"))
    parts.append(StripPart(pad(ref.partition(":")[0], _REF_CELLS) + " ", "ref"))
    if room.lines:
        parts.append(StripPart(pad(_LINES.parts(call, look).text, _LINES.cells) + " ", "dim"))
    parts += filled(_asked_parts(call, room.asked), room.asked)
    for column in room.columns:
        part = column.parts(call, look)
        parts.append(StripPart(f" {cut(part.text, column.cells):>{column.cells}}", part.style))
    return parts


def _asked_parts(call: Call, width: int) -> list[StripPart]:
    """Write what a call asked; of the path of a file the end, which tells it from others."""
    if call.buffer is None or call.buffer.kind != "file":
        return parts_in(title(short_asked(call.asked)[: width * 4 + START_CHARS]), width)
    asked = title(call.asked)
    start = left_out_of_path(asked, width)
    return [*([StripPart(ELLIPSIS, "dim")] if start else []), StripPart(asked[start:])]


def short_asked(asked: str) -> str:
    """Write a question without a program's folder: ``/usr/bin/python3 -m x`` as ``python3 -m x``."""
    program, space, rest = asked.partition(" ")
    return program.rpartition("/")[2] + space + rest if space and program.startswith("/") else asked


def filled(parts: list[StripPart], width: int) -> list[StripPart]:
    """Fit parts into exactly this many cells."""
    kept = fitted(parts, width)
    return [*kept, StripPart(" " * (width - width_of(kept)))]


def _note_parts(note: Note, width: int, look: CallLook) -> list[StripPart]:
    room = layout(width, everyone=look.everyone)
    name, _, lines = note.ref.partition(":")
    parts = _begun(NOTE, "note", note, look, session=room.session)
    parts += [StripPart(pad("note", _VERB_CELLS) + " ", "note"), StripPart(pad(name, _REF_CELLS) + " ", "ref")]
    if room.lines:
        parts.append(StripPart(pad(lines, _LINES.cells) + " ", "dim"))
    left = width - width_of(parts)
    text = title(note.text) if note.text is not None else "(blanked)"
    return [*parts, *filled([StripPart(text, "note"), StripPart(f"  {whereto(note)}", "dim")], left)]


def _begun(sign: str, style: str, row: Note | Said, look: CallLook, *, session: bool) -> list[StripPart]:
    """Begin the row of what is no call: its sign, its time and, if there is room, its session."""
    parts = [
        StripPart(f" {sign}  ", style),
        StripPart(pad(clock(row.time, look.now), _TIME_CELLS) + " ", "dim"),
    ]
    if session:
        who = title(look.titles.get(row.session, row.session))
        parts.append(StripPart(pad(who, _SESSION.cells) + " ", "session"))
    return parts


def _said_parts(said: Said, width: int, look: CallLook) -> list[StripPart]:
    """Write the words over all columns behind the verb's."""
    room, style = layout(width, everyone=look.everyone), said_style(said)
    parts = _begun(said_sign(said), style, said, look, session=room.session)
    parts.append(StripPart(pad(said.what, _VERB_CELLS) + " ", style))
    left = width - width_of(parts)
    return [*parts, *filled([StripPart(visible(said.line[: left + 1]), "strong" if style == "note" else "")], left)]


def said_sign(said: Said) -> str:
    """Return the sign of what was said."""
    return SAID if said.what == SAYS else ASKS


def said_style(said: Said) -> str:
    """Return the style of the sign of what was said."""
    return "dim" if said.what == SAYS else "note"


def detail_rows(row: Row, titles: dict[str, str]) -> list[list[StripPart]]:
    """Return a call or a note in full, on three rows: where and when, what, and how much was shown."""
    if isinstance(row, Note):
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.time))
        return [
            [
                StripPart(f" {NOTE} note", "accent"),
                StripPart(f"  {row.ref}", "strong"),
                StripPart(f"  {when}  {row.id}", "dim"),
            ],
            [StripPart(f" {title(row.text) if row.text is not None else '(blanked)'}")],
            [StripPart(f" {whereto(row)}", "dim")],
        ]
    if isinstance(row, ContextLoss):
        return _loss_rows(row, titles)
    if isinstance(row, Said):
        return _said_rows(row, titles)
    view = row.view
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(view.time))
    who = titles.get(view.session, "")
    named = f"{title(who)} ({view.id})" if who else view.id
    return [
        [
            StripPart(f" {title(view.verb)}", "strong"),
            StripPart(f"  {row.first_ref}", "accent"),
            StripPart(f"  {when}  {named}", "dim"),
        ],
        [StripPart(" "), *command_parts(title(row.asked))],
        [StripPart(" "), *shown_parts(row)],
    ]


def _said_rows(said: Said, titles: dict[str, str]) -> list[list[StripPart]]:
    """Say whose words these are, how they begin, and how to read all of them."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(said.time))
    who = titles.get(said.session, "")
    lines = counted(len((said.text or "").splitlines()), "line")
    how = [
        StripPart(f" {lines}  ", "dim"),
        StripPart("Enter", "key"),
        StripPart(" shows all, or one line again", "dim"),
    ]
    return [
        [
            StripPart(f" {said_sign(said)} {said.what}", "strong"),
            StripPart(f"  {when}  {f'{title(who)} ({said.id})' if who else said.id}", "dim"),
        ],
        [StripPart(f" {visible(said.line)}")],
        how if said.text else [StripPart(" ")],
    ]


def _loss_rows(lost: ContextLoss, titles: dict[str, str]) -> list[list[StripPart]]:
    """Tell what went, by output, and how the summary begins that the context has instead."""
    loss = lost.loss
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(lost.time))
    who = titles.get(lost.session, "")
    most = [f"{format_ref(one.buffer)} ~{one.tokens:,}" for one in loss.outputs[:_LARGEST] if one.buffer]
    largest = f", most in {', '.join(most)}" if most else ""
    summary = title(loss.change.summary or "").strip()
    return [
        [
            StripPart(f" {loss.change.event}", "strong"),
            StripPart(f"  {when}  {f'{title(who)} ({lost.id})' if who else lost.id}", "dim"),
        ],
        [StripPart(f" {loss.told}{largest}")],
        [StripPart(f" summary: {summary}" if summary else " ", "dim")],
    ]


def held_parts(held: HeldTokens | None) -> list[StripPart]:
    """Say about how many tokens a context holds; nothing if nothing is told of it."""
    if held is None:
        return []
    parts = [StripPart(f"~{counted(held.held, 'token')} in context")]
    parts += [StripPart(f"~{held.went:,} no longer", "interrupted")] if held.went else []
    return [*parts, *([StripPart(f"~{held.unknown:,} unknown", "dim")] if held.unknown else [])]


def shown_parts(call: Call) -> list[StripPart]:
    """Say how a call ended, and how much of its output was shown."""
    view = call.view
    parts = list[StripPart]()
    if view.exit_code is not None or call.failed:
        ended = f"exit {view.exit_code}" if view.exit_code is not None else "failed"
        ended = "ended without an answer" if call.unanswered else ended
        style = "failed" if call.failed else "ok" if call.ended_well else "interrupted"
        parts.append(StripPart(ended, style))
    elif call.running:
        parts.append(StripPart("running", "running"))
    if call.unfiltered:
        code = call.unfiltered.exit_code
        how = f" (exit {code})" if code else " (failed)" if call.failed_before_filter else ""
        told = f"└ before the filter {call.unfiltered.ref}{how}"
        parts.append(StripPart(told, "failed" if call.failed_before_filter else "dim"))
    if told := counts_of(call):
        parts.append(StripPart(f"changed {told} lines"))
    if view.lines_total:
        in_part = f", {call.cut_lines:,} in part" if call.cut_lines else ""
        parts.append(StripPart(f"shown {call.lines:,} of {counted(view.lines_total, 'line')}{in_part}"))
    of = f", output {human_bytes(view.bytes_total)}" if view.bytes_total else ""
    parts.append(StripPart(f"reply {human_bytes(view.bytes_shown)} (~{counted(call.tokens, 'token')}){of}"))
    if view.truncated:
        parts.append(StripPart("cut", "interrupted"))
    if call.partial:
        parts.append(StripPart(f"partial: {title(call.partial)}", "interrupted"))
    if call.altered:
        parts.append(StripPart(f"altered: {call.altered}", "failed"))
    if call.looks_on:
        parts.append(StripPart("to a person: no agent saw it", "interrupted"))
    if call.again:
        parts.append(StripPart(f"{counted(call.again, 'line')} shown again", "evicted"))
    return joined(parts)


def joined(parts: list[StripPart]) -> list[StripPart]:
    """Join parts by dots."""
    made = list[StripPart]()
    for part in parts:
        made += [StripPart(" · ", "dim"), part] if made else [part]
    return made


def bar(share: float, cells: int) -> tuple[str, str]:
    """Draw a share as (filled, empty) cells; any share above 0 fills a cell, and any below 1 leaves one empty."""
    full = round(share * cells)
    full = min(max(full, 1 if share else 0), cells - (share < 1))
    return "━" * full, "─" * (cells - full)


def seen_parts(share: HasShare, lines: int) -> list[StripPart]:
    """Show which share of the captured lines was seen, as a bar and in words."""
    if not lines:
        return [StripPart("no lines captured")]
    full, empty = bar(share.share, 12)
    told = StripPart(f"seen {told_share(share, 0)} of {counted(lines, 'line')}")
    return [StripPart(full, "running"), StripPart(f"{empty} ", "dim"), told]


def sent_parts(totals: CallTotals) -> list[StripPart]:
    """Say how many captured bytes were not sent, and what that saved or cost with harnesses that are known to cut."""
    left = [StripPart(f"not sent {human_bytes(totals.saved_bytes)}")]
    if told := totals.accounted.told:
        left.append(
            StripPart(f"{told} beside the harness alone", "ok" if totals.accounted.saved_bytes >= 0 else "failed")
        )
    return left


def totals_rows(told: TimelineTotals | None, width: int, held: HeldTokens | None = None) -> list[list[StripPart]]:
    """Sum up the calls on two rows of this width; None before they are counted."""
    if told is None:
        return [[StripPart(" counting…", "dim")], []]
    totals, verdict = told.totals, told.verdict
    tokens = f"~{counted(totals.tokens, 'token')}"
    first = [
        StripPart(counted(totals.calls, "call") + (f", {totals.cut:,} cut" if totals.cut else ""), "strong"),
        StripPart(f"captured {human_bytes(totals.captured_bytes)}"),
        StripPart(f"shown {human_bytes(totals.shown_bytes)}" + (f" ({tokens})" if width >= _TOKENS_TOLD else "")),
        *held_parts(held),
        *sent_parts(totals),
    ]
    second = [
        StripPart(" "),
        *seen_parts(verdict, verdict.lines),
        StripPart(" · ", "dim"),
        StripPart(f"re-read {percent(totals.again_ratio, 0)}"),
        StripPart(" · ", "dim"),
        StripPart(verdict.mark + verdict.words, _style(verdict)),
        StripPart("" if verdict.is_done else f" so far, {counted(verdict.left, 'output')} to judge", "dim"),
        *(StripPart(f", {words}", "dim") for words in verdict.left_out),
        StripPart(f", {counted(verdict.unjudged, 'output')} not judged" if verdict.unjudged else "", "dim"),
    ]
    return [[StripPart(" "), *joined(first)], second]


def _style(verdict: Verdict) -> str:
    return "failed" if verdict.has_findings else "ok" if verdict.is_good else "dim"
