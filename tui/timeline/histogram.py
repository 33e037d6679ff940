"""Draws on one row when calls were made: their number in each stretch of time, and where one failed. Pure."""

import time
from collections.abc import Sequence

from sightline.audit.timeline import Call
from sightline.named_tuple import NamedTuple
from sightline.tui.common.strips import Part
from sightline.tui.timeline.call_reader import Row, time_of

BINS = 240
"""Stretches of time that are counted; on a narrower row each cell stands for several."""

MOST_ROWS = 20_000
"""Calls that are counted, the newest: to count more would take longer than a person waits."""

LEAST_ROWS = 2
_BARS = "▁▂▃▄▅▆▇█"
_MARGIN = 16  # cells for the times at both ends


class Histogram(NamedTuple):
    """The number of calls by time.

    Attributes:
        first: time of the first call, seconds since the epoch.
        last: time of the last call.
        counts: number of calls in each of `BINS` equal stretches between.
        failed: how many of these failed.
    """

    first: float
    last: float
    counts: tuple[int, ...]
    failed: tuple[int, ...]


def histogram(rows: Sequence[Row]) -> Histogram | None:
    """Count calls and notes; None if they are too few, or all at one moment."""
    rows = rows[-MOST_ROWS:]
    if len(rows) < LEAST_ROWS:
        return None
    first, last = min(map(time_of, rows)), max(map(time_of, rows))
    if last <= first:
        return None
    counts, failed = [0] * BINS, [0] * BINS
    for row in rows:
        at = min(int((time_of(row) - first) / (last - first) * BINS), BINS - 1)
        counts[at] += 1
        failed[at] += isinstance(row, Call) and row.failed
    return Histogram(first, last, tuple(counts), tuple(failed))


def histogram_parts(told: Histogram | None, width: int) -> list[Part]:
    """Draw the row in this many cells: a bar in each cell with calls, in another style where one failed."""
    cells = min(width - _MARGIN, BINS)
    if told is None or cells < LEAST_ROWS:
        return []
    counts, failed = [0] * cells, [0] * cells
    for at, (count, bad) in enumerate(zip(told.counts, told.failed, strict=True)):
        counts[at * cells // BINS] += count
        failed[at * cells // BINS] += bad
    most = max(counts)
    parts = [Part(f" {_clock(told.first, told)} ", "dim")]
    for count, bad in zip(counts, failed, strict=True):
        bar = _BARS[(count * len(_BARS) - 1) // most] if count else " "
        style = "failed" if bad else "running"
        if parts[-1].style == style or (not count and len(parts) > 1):
            parts[-1] = Part(parts[-1].text + bar, parts[-1].style)
        else:
            parts.append(Part(bar, style) if count else Part(bar))
    return [*parts, Part(f" {_clock(told.last, told)}", "dim")]


def _clock(when: float, told: Histogram) -> str:
    """Write a time in six cells at most; over more than a day, the date."""
    return time.strftime("%H:%M" if told.last - told.first < 86400 else "%b %d", time.localtime(when))
