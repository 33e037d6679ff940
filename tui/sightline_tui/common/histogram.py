"""Draws on one row how many things came in each stretch of time, and where some of them failed. Pure."""

import time
from collections.abc import Sequence

from sightline.light.named_tuple import NamedTuple
from sightline_tui.common.strips import StripPart

BINS = 240
"""Stretches of time that are counted; on a narrower row each cell stands for several."""

_LEAST_CELLS = 2
_BARS = "▁▂▃▄▅▆▇█"
_SECONDS_WITHIN = 600  # over less time, the times at both ends have seconds
_MARGIN = 20  # cells for the times at both ends


class Histogram(NamedTuple):
    """How many came by time.

    Attributes:
        first: time of the first, seconds since the epoch.
        last: time of the last.
        counts: how many in each of `BINS` equal stretches between.
        failed: how many of these failed.
    """

    first: float
    last: float
    counts: tuple[int, ...]
    failed: tuple[int, ...]


def histogram(moments: Sequence[tuple[float, bool]]) -> Histogram | None:
    """Count moments as (seconds since the epoch, whether it failed); None if they are too few, or all at once."""
    if not moments:
        return None
    first, last = min(when for when, _ in moments), max(when for when, _ in moments)
    if last <= first:
        return None
    counts, failed = [0] * BINS, [0] * BINS
    for when, bad in moments:
        at = min(int((when - first) / (last - first) * BINS), BINS - 1)
        counts[at] += 1
        failed[at] += bad
    return Histogram(first, last, tuple(counts), tuple(failed))


def histogram_parts(told: Histogram | None, width: int) -> list[StripPart]:
    """Draw the row in this many cells: a bar in each cell with some, in another style where one failed."""
    cells = min(width - _MARGIN, BINS)
    if told is None or cells < _LEAST_CELLS:
        return []
    counts, failed = [0] * cells, [0] * cells
    for at, (count, bad) in enumerate(zip(told.counts, told.failed, strict=True)):
        counts[at * cells // BINS] += count
        failed[at * cells // BINS] += bad
    most = max(counts)
    parts = [StripPart(f" {_clock(told.first, told)} ", "dim")]
    for count, bad in zip(counts, failed, strict=True):
        bar = _BARS[(count * len(_BARS) - 1) // most] if count else " "
        style = "failed" if bad else "running"
        if parts[-1].style == style or (not count and len(parts) > 1):
            parts[-1] = StripPart(parts[-1].text + bar, parts[-1].style)
        else:
            parts.append(StripPart(bar, style) if count else StripPart(bar))
    return [*parts, StripPart(f" {_clock(told.last, told)}", "dim")]


def _clock(when: float, told: Histogram) -> str:
    """Write a time in eight cells at most; over more than a day, the date."""
    span = told.last - told.first
    form = "%H:%M:%S" if span < _SECONDS_WITHIN else "%H:%M" if span < 86400 else "%b %d"
    return time.strftime(form, time.localtime(when))
