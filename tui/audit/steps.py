"""From one region of lines to the next: unseen ones, or overlooked failures. Pure, over a reading that counts lines.

Lines that follow each other in a stream, or on the screen, are one region.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Protocol

from sightline.store.audit.spans import NONE, Spans, holds
from sightline.tui.audit.marks import Marks
from sightline.tui.audit.words import none_overlooked, none_unseen, overlooked_text

_FAR = 1 << 62

Regions = Mapping[str, Spans]
"""By stream, lines of it."""


class Counting(Protocol):
    """A reading by lines, as far as one needs to know which of its numbers are which lines."""

    @property
    def streams(self) -> Sequence[str]:
        """The streams that it shows."""

    def before(self, number: int) -> dict[str, int]:
        """How many lines of each stream stand before a number."""

    def number_of(self, stream: str, line: int) -> int:
        """The number of a stream's line."""


def next_region(regions: Regions, text: Counting, number: int) -> int:
    """The number at which the next region below a number begins, 0 where there is none."""
    while start := _next_start(regions, text, number):
        if start == 1 or not _is_in(regions, text, start - 1):
            return start
        number = start  # lines of two streams that follow each other are one region
    return 0


def previous_region(regions: Regions, text: Counting, number: int) -> int:
    """The number at which the region above a number begins, or the one that it stands in; 0 where there is none."""
    while start := _previous_start(regions, text, number):
        if start == 1 or not _is_in(regions, text, start - 1):
            return start
        number = start
    return 0


def _next_start(regions: Regions, text: Counting, number: int) -> int:
    standing = text.before(number + 1)
    found = []
    for stream in text.streams:
        spans = regions.get(stream, NONE)
        at = bisect_right(spans, (standing.get(stream, 0), _FAR))
        if at < len(spans):
            found.append(text.number_of(stream, spans[at][0]))
    return min(found, default=0)


def _previous_start(regions: Regions, text: Counting, number: int) -> int:
    standing = text.before(number)
    found = []
    for stream in text.streams:
        spans = regions.get(stream, NONE)
        at = bisect_right(spans, (standing.get(stream, 0), _FAR))
        if at:
            found.append(text.number_of(stream, spans[at - 1][0]))
    return max(found, default=0)


def _is_in(regions: Regions, text: Counting, number: int) -> bool:
    before, after = text.before(number), text.before(number + 1)
    return any(after[stream] > before[stream] and holds(regions.get(stream, NONE), after[stream]) for stream in after)


def destination(marks: Marks, text: Counting, number: int, to: str, *, back: bool = False) -> tuple[int, str]:
    """Where a step leads, and what to say of it.

    Args:
        marks: what is known of the lines.
        text: which of its numbers are which lines.
        number: where one stands, 0 before the first line.
        to: ``unseen`` for the next region of unseen lines; ``overlooked`` for the next failure that stood in no reply,
            the first one again after the last.
        back: whether to go upwards, to what is unseen.

    Returns:
        (number, words): 0 where there is nowhere to go, and the words say why.
    """
    if to == "overlooked":
        numbers = _numbers_of(marks, text)
        if not numbers:
            return 0, none_overlooked(marks)
        nth = bisect_right(numbers, number) % len(numbers)
        return numbers[nth], overlooked_text(marks, nth + 1, len(numbers))
    found = (previous_region if back else next_region)(marks.unseen, text, number)
    return found, "" if found else none_unseen(marks, back=back)


def _numbers_of(marks: Marks, text: Counting) -> list[int]:
    """Where the overlooked failures are told of first, ascending; without those of streams that are not shown."""
    told = {
        next((place.stream, place.telling[0][0]) for place in failure.places if place.stream in text.streams)
        for failure in marks.overlooked
        if any(place.stream in text.streams for place in failure.places)
    }
    return sorted({text.number_of(stream, line) for stream, line in told})
