"""Words and bars for a step of a replay: its place in the session, its question, and what had been seen. Pure."""

import time
from collections.abc import Sequence

from sightline.audit.coverage import Share, told_share
from sightline.audit.line_spans import size
from sightline_tui.common.command_words import command_parts
from sightline_tui.common.phrases import counted
from sightline_tui.common.strips import StripPart, width_of
from sightline_tui.common.visible_text import title, visible
from sightline_tui.timeline.call_parts import (
    OVERLOOKED,
    bar,
    held_parts,
    joined,
    said_sign,
    said_style,
    seen_parts,
    sent_parts,
    shown_parts,
)
from sightline_tui.timeline.replay_reader import ReplayStep
from sightline_tui.timeline.step_coverage import (
    BEFORE,
    CUT,
    GONE,
    MISSED,
    NOW,
    UNSEEN,
    UNSURE,
    Standing,
    counts,
    map_cells,
)

MAP_SIGNS = {NOW: ("█", "accent"), BEFORE: ("▓", "running"), CUT: ("▚", "running"), MISSED: ("!", "failed")}
MAP_SIGNS |= {GONE: ("╎", "interrupted"), UNSURE: ("▏", "dim")}
_REST = ("░", "dim")
_BAR_CELLS = 8
TRACK_LEAD = 3


def head_parts(step: ReplayStep | None, session: str) -> tuple[list[StripPart], list[StripPart]]:
    """Say whose session it is, and which step of it."""
    left = [
        StripPart(" ◉ ", "accent"),
        StripPart("Replay", "strong"),
        StripPart(f"  {title(step.called if step else session)}"),
    ]
    if step is None:
        return left, []
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(step.call.view.time))
    return left, [
        StripPart(f"{when}   ", "dim"),
        StripPart(f"step {step.at + 1:,}", "strong"),
        StripPart(f" of {step.steps:,} ", "dim"),
    ]


def track_parts(step: ReplayStep | None, width: int) -> list[StripPart]:
    """Draw the place of the step among all steps, on this many cells."""
    cells = max(width - 2 * TRACK_LEAD, 1)
    if step is None:
        return [StripPart(" " * TRACK_LEAD + "─" * cells, "dim")]
    at = step.at * (cells - 1) // max(step.steps - 1, 1) if step.steps > 1 else cells - 1
    return [
        StripPart(" ◂ ", "key" if step.at else "dim"),
        StripPart("━" * at, "running"),
        StripPart("●", "accent"),
        StripPart("─" * (cells - at - 1), "dim"),
        StripPart(" ▸ ", "key" if step.at < step.steps - 1 else "dim"),
    ]


def step_at(x: int, width: int, steps: int) -> int:
    """Return the step that a cell of the track stands for."""
    cells = max(width - 2 * TRACK_LEAD, 1)
    return round(min(max(x - TRACK_LEAD, 0), cells - 1) * (steps - 1) / max(cells - 1, 1))


WHY_ROWS = 2
"""Rows of a step for the words before it, where any are kept."""


def asked_rows(step: ReplayStep) -> list[list[StripPart]]:
    """Say what was said before the call, what was asked, and how much of it was shown."""
    call = step.call
    why = [[StripPart(f" {said_sign(one)} ", said_style(one)), StripPart(visible(one.line))] for one in step.why]
    return [
        *([[]] * (WHY_ROWS - len(why)) if why else []),
        *why,
        [StripPart(f" {title(call.view.verb)}  ", "key"), *command_parts(title(call.asked))],
        [StripPart(" "), *shown_parts(call)],
    ]


def reply_title(*, says: bool) -> list[StripPart]:
    """Return the title of the left pane: the reply, or what was said before the call."""
    other = "what it was shown" if says else "why, in full"
    return [
        StripPart(" What was said before it" if says else " What it was shown", "strong"),
        StripPart("  I ", "key"),
        StripPart(other, "dim"),
    ]


def said_text(step: ReplayStep) -> str:
    """Return what was said before a call in full, each with who said it and when."""
    told = (
        f"{said_sign(one)} {one.what}  {time.strftime('%H:%M:%S', time.localtime(one.time))}\n"
        f"{one.text if one.text is not None else one.line}{' … the rest was not kept' if one.cut else ''}\n"
        for one in step.said
    )
    return "\n".join(told) or "(nothing is kept of what was said before this call)"


def changed_title(step: ReplayStep) -> list[StripPart]:
    """Return the title above the diff of what a call changed."""
    parts = [StripPart(f" Changed {counted(len(step.changed), 'file')}", "strong"), StripPart("  f ", "key")]
    parts.append(StripPart("files then", "dim"))
    return [*parts, StripPart("  d ", "key"), StripPart("its output", "dim")] if step.buffer else parts


def covered_title(step: ReplayStep) -> list[StripPart]:
    """Return the title above the output: its name, and how much of it had been seen."""
    if step.buffer is None:
        return [StripPart(" This call is about no output that is still there", "dim")]
    seen, now, total = counts(step.streams)
    if not total:
        return [
            StripPart(f" {step.buffer.ref}", "strong"),
            StripPart("  no lines yet" if step.buffer.state == "running" else "  no lines", "dim"),
        ]
    weight, unsure = sum(one.cut_weight for one in step.streams), any(one.unsure for one in step.streams)
    share = Share(seen + weight, total, step.buffer.is_partial, unsure)
    in_part = f", {cut:,} in part" if (cut := sum(size(one.cut) for one in step.streams)) else ""
    parts = [
        StripPart(f" {step.buffer.ref}", "strong"),
        StripPart(f"  seen {told_share(share, 0)}", "accent"),
        StripPart(f"  {seen:,} of {total:,}{in_part}, {now:,} now", "dim"),
    ]
    if any(one.is_told for one in step.streams):
        parts += _held_parts(step.streams)
    if missed := missed_count(step.streams):
        parts.append(StripPart(f"  {OVERLOOKED} {counted(missed, 'failure line')} unseen", "failed"))
    return parts


def _held_parts(streams: Sequence[Standing]) -> list[StripPart]:
    """Count the lines that the context had by then, and those that it no longer had."""
    gone, unsure = (sum(size(getattr(one, name)) for one in streams) for name in ("gone", "open"))
    held = sum(size(one.seen) for one in streams) - gone - unsure
    told = [StripPart(f"  {held:,} held then", "ok" if held else "dim")]
    told += [StripPart(f", {gone:,} seen before", "interrupted")] if gone else []
    return [*told, *([StripPart(f", of {unsure:,} not known", "dim")] if unsure else [])]


def missed_count(streams: Sequence[Standing]) -> int:
    """Count the lines that tell of failures and had not been shown."""
    return sum(last - first + 1 for one in streams for first, last in one.missed)


def map_parts(step: ReplayStep | None, width: int) -> list[StripPart]:
    """Draw the whole output on one line: what this call showed, what earlier ones showed, what none did or missed."""
    made = list[StripPart]()
    for how in map_cells(step.streams if step else (), max(width - 2, 0)):
        sign, style = MAP_SIGNS.get(how, _REST)
        if made and made[-1].style == style:
            made[-1] = StripPart(made[-1].text + sign, style)
        else:
            made.append(StripPart(sign, style))
    return [StripPart(" "), *made]


def legend(step: ReplayStep | None = None) -> list[StripPart]:
    """Explain the signs of the map, and those of what was no longer held if there are any."""
    streams = step.streams if step else ()
    gone, unsure = any(one.gone for one in streams), any(one.open for one in streams)
    named = [(NOW, "shown by this call"), (BEFORE, "shown before")]
    named += [(GONE, "no longer held")] if gone else []
    named += [(UNSURE, "not known whether held")] if unsure else []
    named += [(UNSEEN, "not seen"), (MISSED, "failure not seen")]
    parts = [StripPart(" ")]
    for how, meaning in named:
        sign, style = MAP_SIGNS.get(how, _REST)
        parts += [StripPart(sign, style), StripPart(f" {meaning}  ", "dim")]
    return parts


def so_far_rows(step: ReplayStep, width: int) -> list[list[StripPart]]:
    """Say what the session had reached by the step: its totals, and how much of each output it had seen."""
    totals = step.totals
    first = [
        StripPart(" so far  ", "strong"),
        *seen_parts(step.seen, step.seen.total),
        StripPart(" · ", "dim"),
        *joined(
            [
                StripPart(f"{counted(totals.calls, 'call')}, ~{counted(totals.tokens, 'token')}"),
                *held_parts(step.held),
                *sent_parts(totals),
            ]
        ),
    ]
    second, left = [StripPart(" ")], width - 2
    for output in step.outputs:
        full, empty = bar(output.share, _BAR_CELLS)
        parts = [
            StripPart(f"{output.buffer.ref} ", "accent" if output.is_now else "dim"),
            StripPart(full, "running"),
            StripPart(empty, "dim"),
            StripPart(
                f" {told_share(output, 0) if output.buffer.lines else 'no lines'}   ", "strong" if output.is_now else ""
            ),
        ]
        if width_of(parts) > left:
            break
        second += parts
        left -= width_of(parts)
    return [first, second]
