"""From one region of lines to the next: unseen ones, or overlooked failures. Pure, over a reading that counts lines.

A region is a run of unseen lines as they stand on the screen: any line that was seen, of whichever stream, parts two.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from sightline.audit.spans import NONE, Spans
from sightline.tui.viewer.marks import Marks
from sightline.tui.viewer.words import none_overlooked, none_unseen, overlooked_text, unseen_text

_FAR = 1 << 62


class Counting(Protocol):
    """A reading by lines, as far as one needs to know which of its numbers are which lines."""

    @property
    def streams(self) -> Sequence[str]:
        """The streams that it shows."""

    @property
    def line_count(self) -> int:
        """How many lines it has."""

    def before(self, number: int) -> dict[str, int]:
        """How many lines of each stream stand before a number."""

    def number_of(self, stream: str, line: int) -> int:
        """The number of a stream's line."""


class Region(NamedTuple):
    """The first and the last number of a run of unseen lines."""

    first: int
    last: int


class UnseenRegions:
    """The regions of a reading. Each question costs a few look-ups a stream, however many regions there are.

    What was seen is what it goes by: lines that were written since that was found out are unseen.
    """

    def __init__(self, seen: Mapping[str, Spans], text: Counting, count: int | None = None) -> None:
        """Take what is known.

        Args:
            seen: by stream, the lines that were seen whole.
            text: which of its numbers are which lines.
            count: up to which number it is looked at; by default all.
        """
        self._seen = seen
        self._text = text
        self._count = text.line_count if count is None else min(count, text.line_count)
        self._ends = text.before(self._count + 1)

    def below(self, number: int) -> Region | None:
        """The first region that begins below a number."""
        first = self._next(number + 1, seen=False)
        if first == number + 1 and number and self._next(number, seen=False) == number:  # it stands in that region
            first = self._next(self._next(first, seen=True), seen=False)
        return self._from(first) if first <= self._count else None

    def above(self, number: int) -> Region | None:
        """The last region that begins above a number; where that stands below the first line of one, that one."""
        last = self._last_before(number, seen=False)
        return self._from(self._last_before(last, seen=True) + 1) if last else None

    def around(self, number: int) -> Region | None:
        """The region that a number stands in."""
        if not 0 < number <= self._count or self._next(number, seen=False) != number:
            return None
        return self._from(self._last_before(number, seen=True) + 1)

    def _from(self, first: int) -> Region:
        return Region(first, self._next(first, seen=True) - 1)

    def _next(self, number: int, *, seen: bool) -> int:
        """The first number from one on whose line was seen, or was not; one past the last where there is none."""
        found, standing = self._count + 1, self._text.before(number)
        for stream, end in self._ends.items():
            line = standing.get(stream, 0) + 1
            spans = self._seen.get(stream, NONE)
            at = bisect_right(spans, (line, _FAR)) - 1
            inside = at >= 0 and spans[at][1] >= line
            if inside != seen:
                line = spans[at][1] + 1 if inside else spans[at + 1][0] if at + 1 < len(spans) else end + 1
            if line <= end:
                found = min(found, self._text.number_of(stream, line))
        return found

    def _last_before(self, number: int, *, seen: bool) -> int:
        """The last number before one whose line was seen, or was not; 0 where there is none."""
        found, standing = 0, self._text.before(min(number, self._count + 1))
        for stream, line in standing.items():
            spans = self._seen.get(stream, NONE)
            at = bisect_left(spans, (line + 1, 0)) - 1
            inside = at >= 0 and spans[at][1] >= line
            if inside != seen:
                line = spans[at][0] - 1 if inside else spans[at][1] if at >= 0 else 0
            if line > 0:
                found = max(found, self._text.number_of(stream, line))
        return found


def destination(
    marks: Marks, text: Counting, number: int, to: str, *, back: bool = False, count: int | None = None
) -> tuple[int, str]:
    """Where a step leads, and what to say of it.

    Args:
        marks: what is known of the lines.
        text: which of its numbers are which lines.
        number: where one stands; 0, on the way down, before the first line.
        to: ``unseen`` for the next region of unseen lines; ``overlooked`` for the next failure that stood in no reply,
            the first one again after the last.
        back: whether to go upwards, to what is unseen.
        count: up to which of its numbers one can go; by default to all.

    Returns:
        (number, words): which of them one comes to; 0 where there is nowhere to go, and the words say why.
    """
    if to == "overlooked":
        numbers = _numbers_of(marks, text)
        if not numbers:
            return 0, none_overlooked(marks)
        nth = bisect_right(numbers, number) % len(numbers)
        return numbers[nth], overlooked_text(marks, nth + 1, len(numbers))
    regions = UnseenRegions(marks.seen, text, count)
    region = regions.above(number) if back else regions.below(number)
    if region is not None:
        return region.first, unseen_text(*region)
    here = None if back else regions.around(number)
    return 0, none_unseen(marks, here, back=back)


def _numbers_of(marks: Marks, text: Counting) -> list[int]:
    """Where the overlooked failures are told of first, ascending; without those of streams that are not shown."""
    told = {
        next((place.stream, place.telling[0][0]) for place in failure.places if place.stream in text.streams)
        for failure in marks.overlooked
        if any(place.stream in text.streams for place in failure.places)
    }
    return sorted({text.number_of(stream, line) for stream, line in told})
