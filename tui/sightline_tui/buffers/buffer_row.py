"""Lays out in columns a buffer's row, a group's heading, and the names of the columns."""

import os
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from sightline.base.records import Buffer
from sightline.base.refs import host_of
from sightline.light.named_tuple import NamedTuple
from sightline.log.call_names import left_out_of_path
from sightline_tui.buffers.list_model import MOST_TIMES
from sightline_tui.buffers.order import BURST, Heading, ListOrder
from sightline_tui.buffers.seen_reader import Seen, percent
from sightline_tui.common import phrases as wording
from sightline_tui.common.command_words import LEFT_OUT, START_CHARS, command_parts, left_out
from sightline_tui.common.strips import ELLIPSIS, StripPart, cut, filled, pad, width_of
from sightline_tui.common.visible_text import title

if TYPE_CHECKING:
    from sightline_tui.buffers.matcher import AnyTerm

_LEFT = 4  # mark for a diff, state, pin, and overlooked failure
_REF, _REF_DIGITS = 12, 6
_REF_RANK, _KIND_RANK = 4, 6
"""Where the digits of a ref, and with them its kind, stand among the columns' ranks."""
_LEAST_GAP = 8  # cells between ref and columns on a line without the command, which the title needs; before notes
_LEAST_COMMAND = 14  # columns are left out so that this much of a command can be read
_WIDE_COMMAND = 24  # cells that it keeps where a ref and further columns would fit
_SHARE = 3 / 8  # of a row that the command keeps where further columns than those of the first ranks would fit
_FIRST_RANKS = 4  # columns that any row has if they leave the least command: how it ended, seen, when, by whom
OVERLOOKED = "!"
_BELOW = "└ "
_FOLDED, _UNFOLDED = "▸", "▾"


class BufferColumn(NamedTuple):
    """A column right of the command.

    Attributes:
        name: as it stands above it.
        cells: its width.
        rank: on a narrow screen the columns of the highest ranks are left out first.
        sort: the order that a click on its name gives; empty for none.
        text: gives a buffer's text in this column at a time.
        left: whether it is aligned to the left.
    """

    name: str
    cells: int
    rank: int
    sort: str
    text: Callable[[Buffer, float], str]
    left: bool = False


COLUMNS = (
    _EXIT := BufferColumn("EXIT", 4, 0, "exit", lambda buffer, _: wording.exit_text(buffer)),
    BufferColumn("LINES", 5, 7, "lines", lambda buffer, _: wording.short_count(buffer.lines)),
    _SIZE := BufferColumn(
        "SIZE", 5, 5, "size", lambda buffer, _: wording.short_bytes(buffer.bytes) if buffer.bytes else "-"
    ),
    BufferColumn("TIME", 5, 8, "duration", lambda buffer, now: wording.duration(buffer, now)),
    _SEEN := BufferColumn("SEEN", 4, 1, "seen", lambda *_: ""),
    BufferColumn("AGE", 4, 2, "recent", lambda buffer, now: wording.age(now - wording.used(buffer))),
    _AGENT := BufferColumn("AGENT", 6, 3, "", lambda *_: "", left=True),
    _SESSION := BufferColumn("SESSION", 16, 9, "", lambda buffer, _: title(buffer.session), left=True),
)
"""The columns right of the command, from left to right."""

_FIRST_KEPT = sorted(COLUMNS, key=lambda column: column.rank)


class RowLayout(NamedTuple):
    """What a row has room for.

    Attributes:
        ref: cells for the ref: all of it, its six digits, or none.
        command: cells for label and command.
        columns: the columns right of the command.
    """

    ref: int
    command: int
    columns: tuple[BufferColumn, ...]


_TWO_LINES_BELOW, _TWO_LINES_FROM = 80, 20


def has_two_lines(width: int, height: int) -> bool:
    """Whether rows take two lines on a screen of this many cells: the command first, all else below."""
    return width < _TWO_LINES_BELOW and height >= _TWO_LINES_FROM


@lru_cache(maxsize=8)
def two_line_layout(width: int) -> RowLayout:
    """What the second line of a row has room for; the cells for the command are blank there."""
    left, kept = width - _LEFT - _REF - 2, list[BufferColumn]()
    for column in _FIRST_KEPT:
        if left - column.cells - 1 < _LEAST_GAP:
            break
        kept.append(column)
        left -= column.cells + 1
    return RowLayout(_REF, max(left, 4), tuple(column for column in COLUMNS if column in kept))


@lru_cache(maxsize=8)
def layout(width: int) -> RowLayout:
    """What a row of this many cells has room for: by rank, each as long as the command keeps its share."""
    room, ref, kept = width - _LEFT - 1, 0, list[BufferColumn]()
    steps: list[tuple[int, int, BufferColumn | None]] = [(column.rank, column.cells + 1, column) for column in COLUMNS]
    steps += [(_REF_RANK, _REF_DIGITS + 1, None), (_KIND_RANK, _REF - _REF_DIGITS, None)]
    for rank, cells, column in sorted(steps, key=lambda step: step[0]):
        least = _LEAST_COMMAND if rank < _FIRST_RANKS else max(int(width * _SHARE), _WIDE_COMMAND)
        if room - cells < (least if kept else 4):
            break
        room -= cells
        if column is not None:
            kept.append(column)
        else:
            ref = _REF_DIGITS if rank == _REF_RANK else _REF
    return RowLayout(ref, max(room, 4), tuple(column for column in COLUMNS if column in kept))


def heading_parts(width: int, order: ListOrder, *, two_lines: bool = False) -> list[StripPart]:
    """The names of the columns, with an arrow at the one that sorts; for rows of two lines those of the second line."""
    room = two_line_layout(width) if two_lines else layout(width)
    parts = [
        StripPart(" " * _LEFT + (pad("REF", room.ref) + " " if room.ref else ""), "dim"),
        _head("COMMAND", "command", room.command, order, left=True),
    ]
    parts.append(StripPart(" "))
    for column in room.columns:
        parts.append(StripPart(" "))
        parts.append(_head(column.name, column.sort, column.cells, order, left=column.left))
    return parts


def _head(name: str, sort: str, cells: int, order: ListOrder, *, left: bool) -> StripPart:
    if order.sort == sort and not (sort == "recent" and not order.turned):
        arrow = "▴" if order.turned else "▾"
        name = name + arrow if len(name) < cells or left else name  # without room for both, the colour shows the order
        return StripPart(pad(name, cells) if left else f"{name:>{cells}}", "accent")
    return StripPart(pad(name, cells) if left else f"{name:>{cells}}", "dim")


def sort_at(width: int, x: int, *, two_lines: bool = False) -> str:
    """The order of the column whose name is at a cell; empty for none."""
    room = two_line_layout(width) if two_lines else layout(width)
    at = _LEFT + (room.ref + 1 if room.ref else 0)
    if at <= x < at + room.command:
        return "command"
    at += room.command + 1
    for column in room.columns:
        if at <= x <= at + column.cells:
            return column.sort
        at += column.cells + 1
    return ""


def group_parts(heading: Heading, first: Buffer | None, width: int, titles: Mapping[str, str]) -> list[StripPart]:
    """A heading's row.

    Args:
        heading: the group's heading.
        first: the record of its first buffer, where it has been read: it has the command as it was typed.
        width: cells.
        titles: what to call sessions, by their names.
    """
    key = first.command if first and heading.group == "command" else heading.key
    key = titles.get(key, key) if heading.group == "session" else key
    sign = _FOLDED if heading.folded else _UNFOLDED
    key = os.path.basename(key) or key if heading.group == "project" else key
    size = f"{heading.size:,} more" if heading.group == BURST else wording.counted(heading.size, "output")
    counted = [StripPart(f" · {size}", "dim")]
    if heading.failed:
        counted += [StripPart(" · ", "dim"), StripPart(f"{heading.failed:,} failed", "failed")]
    name = cut(title(key) or f"no {heading.group}", max(width - 3 - width_of(counted), 4))
    return [StripPart(f" {sign} ", "accent"), StripPart(name, "strong"), *counted]


UNREAD = Seen(0.0)
"""What was seen of a part that was not read yet."""


def row_parts(
    buffer: Buffer,
    width: int,
    now: float,
    *,
    mark: str = "",
    terms: "Sequence[AnyTerm]" = (),
    seen: Seen | None = None,
    part: Seen | None = None,
    is_part: bool = False,
    called: str = "",
    agent: str = "",
    times: int = 1,
    is_deleted: bool = False,
    line: int = 0,
    ended: frozenset[str] = frozenset(),
) -> list[StripPart]:
    """A buffer's row.

    Args:
        buffer: its record.
        width: cells.
        now: seconds since the epoch.
        mark: its mark for a diff, at most one cell.
        terms: the filter's terms, whose matches are marked.
        seen: how much of it was seen, if that is known.
        part: what is known of its part; None if there is none.
        is_part: whether it is a part of the row above.
        called: what to call its session, if not by its name.
        agent: the harness of its session; empty while that is not known.
        times: how often its command ran in a row, if this is the last of these runs.
        is_deleted: whether a person deleted it, and can still take it back.
        line: which line of a row of two, 1 or 2; 0 for a row of one.
        ended: hosts whose rows are dim unless something was overlooked there, since their jobs have ended.
    """
    room = two_line_layout(width) if line else layout(width)
    overlooked = seen is not None and seen.overlooked
    state = state_with(buffer, part, seen if is_part else None)
    is_over = bool(ended) and not overlooked and host_of(buffer.name) in ended
    faded = "dim" if state == "evicted" or is_over else ""
    signs = [
        StripPart(mark or " ", "mark"),
        StripPart(wording.MARKS[state], faded or state),
        StripPart(wording.PIN if buffer.pinned else " ", faded or "accent"),
        _told(buffer, overlooked, faded),
    ]
    notes = [StripPart(" deleted", "failed")] if is_deleted else _notes(seen, times, faded)
    if line == 1:
        return [*signs, *_named(buffer, max(width - _LEFT, 4), faded, terms, notes, is_part=is_part)]
    ref = _ref_parts(buffer, room.ref, faded, terms)
    if line:
        parts = [StripPart(" " * _LEFT), *ref, StripPart(" " * (room.command + 1))]
    else:
        parts = [*signs, *ref, *_named(buffer, room.command, faded, terms, notes, is_part=is_part), StripPart(" ")]
    for column in room.columns:
        text = column.text(buffer, now)
        if column is _AGENT:
            text = title(agent.partition("-")[0])
        elif column is _SESSION and called:
            text = title(called)
        text = cut(text, column.cells)
        if column is _SEEN:
            text = percent(seen.share, at_most=seen.at_most) if seen and buffer.lines and not faded else ""
        is_bad = overlooked if column is _SEEN else column is _EXIT and buffer.failed
        style = "failed" if is_bad and not faded else "dim" if column is not _SIZE else faded
        if column.left:
            parts += [StripPart(" "), *filled(marked_parts([StripPart(text, style)], terms), column.cells)]
        else:
            parts.append(StripPart(f" {text:>{column.cells}}", style))
    return parts


def state_with(buffer: Buffer, part: Seen | None, own: Seen | None = None) -> str:
    """The state of an output together with its part: ``ok`` only if the part is known to be without failure.

    The exit code of ``pytest | tail`` is that of tail.

    Args:
        buffer: the output.
        part: what is known of its part; None if there is none.
        own: of a part, whose exit code is unknown, what is known of it; None for any other output.
    """
    state = wording.state_of(buffer)
    if own is not None and state == "unknown" and own.fails is not None:
        return "failed" if own.fails else "ok"
    if part is None or state != "ok":
        return state
    return "unknown" if part.fails is None else "failed" if part.fails else state


def _told(buffer: Buffer, overlooked: bool | None, faded: str) -> StripPart:
    """The mark for what must not be missed: an overlooked failure, else that the output is altered, or partial."""
    if buffer.altered and not overlooked:
        return StripPart(wording.ALTERED, faded or "failed")
    if overlooked or not buffer.partial:
        return StripPart(OVERLOOKED if overlooked else " ", "failed")
    return StripPart(wording.PARTIAL, faded or "interrupted")


def _ref_parts(buffer: Buffer, cells: int, faded: str, terms: "Sequence[AnyTerm]") -> list[StripPart]:
    """The ref in so many cells and a blank: only its digits if there is no room for more, nothing for 0 cells.

    Before the digits stands the kind, or else the host that it is of.
    """
    if not cells:
        return []
    kind, _, digits = buffer.ref.partition("_")
    lead = []
    if cells >= _REF:
        host = host_of(buffer.name)
        told = f"{_both_ends(host, cells - len(digits) - 1)}/" if host else f"{kind}_"
        lead = [StripPart(told, faded or f"kind-{buffer.kind}")]
    parts = [*lead, StripPart(digits, faded or (f"kind-{buffer.kind}" if buffer.kind != "cmd" and not lead else "ref"))]
    return [*filled(marked_parts(parts, terms), cells), StripPart(" ")]


def _both_ends(name: str, cells: int) -> str:
    """A name in so many cells; of a longer one both ends, since names of hosts differ in their ends."""
    if len(name) <= cells:
        return name
    head = max(cells - 1, 0) // 2
    return f"{name[:head]}…{name[len(name) - max(cells - 1 - head, 0) :]}"


def _notes(seen: Seen | None, times: int, faded: str) -> list[StripPart]:
    """What stands behind a command: how often it was run in a row, and what changed since the run before."""
    notes = [StripPart(f" ×{times}{'+' if times >= MOST_TIMES else ''}", faded or "accent")] if times > 1 else []
    if seen is not None and seen.changes is not None:
        notes.append(StripPart(f" {seen.changes.short}", faded or ("failed" if seen.changes.new else "strong")))
    return notes


def _named(
    buffer: Buffer,
    cells: int,
    faded: str,
    terms: "Sequence[AnyTerm]",
    notes: Sequence[StripPart] = (),
    *,
    is_part: bool,
) -> list[StripPart]:
    """Label and command in so many cells; behind them notes, as many of the first as leave room for the command.

    That an output is deleted is said at any width.
    """
    while notes and notes[0].style != "failed" and cells - width_of(notes) < _LEAST_GAP:
        notes = notes[:-1]
    width = max(cells - width_of(notes), 0)
    label = title(buffer.label)
    named = [StripPart(_BELOW, "dim")] if is_part else []
    named += [*marked_parts([StripPart(label, faded or "label")], terms), StripPart("  ")] if label else []
    if buffer.kind == "cmd" and buffer.command:
        shown = title(buffer.command[: width * 4 + START_CHARS])  # more text than this could only be cut off
        start = left_out(shown, width - width_of(named))
    else:
        shown = wording.name_of(buffer)
        start = left_out_of_path(shown, width - width_of(named)) if buffer.kind == "file" else 0
    if start and terms and _is_found(start, shown, terms):
        start = 0
    command = [StripPart(shown[start:], faded)] if faded or buffer.kind != "cmd" else command_parts(shown[start:])
    lead = [StripPart(LEFT_OUT if buffer.kind == "cmd" else ELLIPSIS, "dim")] if start else []
    return [*filled([*named, *lead, *marked_parts(command, terms, is_command=True)], width), *notes]


def _is_found(before: int, text: str, terms: "Sequence[AnyTerm]") -> bool:
    """Whether terms match a letter of a text before a position."""
    return min(marked(text, terms, is_command=True), default=before) < before


def marked_parts(
    parts: Sequence[StripPart], terms: "Sequence[AnyTerm]", *, is_command: bool = False
) -> list[StripPart]:
    """Parts with the letters that a filter matched marked; scattered letters only in a command."""
    if not terms:
        return list(parts)
    text = "".join(part.text for part in parts)
    positions = marked(text, terms, is_command=is_command)
    if not positions:
        return list(parts)
    ends = list(accumulate(len(part.text) for part in parts))
    edges = positions ^ {at + 1 for at in positions}  # positions where marks begin and end
    made, begun = list[StripPart](), 0
    for edge in sorted(edges.union(ends)):
        if edge > begun:
            style = "match" if begun in positions else parts[bisect_right(ends, begun)].style
            made.append(StripPart(text[begun:edge], style))
            begun = edge
    return made


def marked(text: str, terms: "Sequence[AnyTerm]", *, is_command: bool) -> set[int]:
    """Positions of the letters of a shown text that terms match; scattered letters only in a command."""
    lowered = text.lower()
    if len(lowered) != len(text):  # positions count characters of the text
        lowered = "".join(letter if len(small := letter.lower()) != 1 else small for letter in text)
    positions = set[int]()
    for term in terms:
        if term.unwanted:
            continue
        at = lowered.find(term.text)
        if at >= 0:
            positions.update(range(at, at + len(term.text)))
        elif is_command and term.scattered and term.scattered.match(lowered):
            for letter in term.text:
                at = lowered.index(letter, at + 1)
                positions.add(at)
    return positions
