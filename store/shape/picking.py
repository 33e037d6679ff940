"""Picks lines of a stream for a body of so many bytes, paying for each with an upper bound of what it takes there."""

import heapq
from collections.abc import Iterable, Iterator

from sightline.store.shape.failures import Failures
from sightline.store.shape.findings import Layers, in_order, layers_of
from sightline.store.shape.judge import Judge
from sightline.store.shape.runs import Run, Span, clip, free_spans, read_rows, spans_of, take, text_bytes
from sightline.store.shape.source import Source

CAUSE_LINE_BYTES = (
    2048  # longer lines are clipped in a region, so that one of them does not take the place of all others
)
CONTEXT_LINE_BYTES = 512
MISFITS = 48  # steps in a row that do not fit, after which no more are tried
STEP = 4  # how many findings further down the list the next step outwards of one waits
BRIDGE_LINES = 2  # a gap as short as this is closed where its marker would take as much


class Picker:
    """The lines picked so far.

    Attributes:
        runs: the lines.
        blocks: their spans, in order, neighbours joined.
        used: bytes that they and the markers of the gaps between them take at most.
    """

    def __init__(self, source: Source, judge: Judge, *, room: int, gap_bytes: int, fold_bytes: int) -> None:
        """Begin with nothing.

        Args:
            source: the stream.
            judge: tells error lines from others.
            room: bytes that may be used.
            gap_bytes: what a marker of left-out lines takes at most, newline included.
            fold_bytes: the same of a folded run.
        """
        self.runs: list[Run] = []
        self.blocks: list[Span] = []
        self.used = 0
        self._source = source
        self._judge = judge
        self._room = room
        self._gap_bytes = gap_bytes
        self._fold_bytes = fold_bytes

    def pick(self, failures: Failures) -> None:
        """Take what explains the failures, the most telling first, as far as the room goes."""
        hits = in_order(failures)
        steps: list[tuple[int, int, int]] = [(at, at, 0) for at in range(len(hits))]  # sorted: a heap already
        made: dict[int, Layers] = {}
        misfits = 0
        while steps and misfits < MISFITS and self._room - self.used > self._gap_bytes:
            place, at, step = heapq.heappop(steps)
            hit = hits[at]
            if step == 0:
                if not free_spans(self.blocks, hit.line, hit.line):
                    continue  # stands in what another has taken
                made[at] = layers_of(hit, self._source, self._judge)
            layers = made[at]
            if self._add(layers[step]) or step == 0 and self._add_part(layers[step]):
                misfits = 0
                if step + 1 < len(layers):
                    heapq.heappush(steps, (place + STEP, at, step + 1))
            else:
                misfits += 1

    def _add(self, spans: Iterable[Span]) -> bool:
        """Take all the lines of some spans, or none."""
        wanted = [part for span in spans for part in free_spans(self.blocks, *self._bridged(span))]
        if not wanted:
            return True
        gaps = sum(self._gap_bytes for first, last in wanted if not self._touches(first, last))
        taken = take(self._rows(wanted), self._room - self.used - gaps, self._fold_bytes)
        if taken.misfit or sum(run.lines for run in taken.runs) < sum(last - first + 1 for first, last in wanted):
            return False
        self._keep(taken.runs, taken.cost + gaps)
        return True

    def _add_part(self, spans: Iterable[Span]) -> bool:
        """Take the first lines of the first span, in no more than half of what is left."""
        wanted = [part for span in spans for part in free_spans(self.blocks, *span)][:1]
        taken = take(self._rows(wanted), (self._room - self.used) // 2 - self._gap_bytes, self._fold_bytes)
        self._keep(taken.runs, taken.cost + self._gap_bytes if taken.runs else 0)
        return bool(taken.runs)

    def _keep(self, runs: list[Run], cost: int) -> None:
        self.runs = sorted([*self.runs, *runs])
        self.blocks = spans_of(self.runs)
        self.used += cost

    def _bridged(self, span: Span) -> Span:
        """A span, stretched to what is taken already where only a few lines lie between."""
        first, last = span
        for start, end in self.blocks:
            if 0 < first - end - 1 <= BRIDGE_LINES:
                first = end + 1
            if 0 < start - last - 1 <= BRIDGE_LINES:
                last = start - 1
        return first, last

    def _touches(self, first: int, last: int) -> bool:
        return any(end == first - 1 or start == last + 1 for start, end in self.blocks)

    def _rows(self, spans: Iterable[Span]) -> Iterator[Run]:
        for row in read_rows(self._source, spans, self._is_error):
            limit = (
                min(CAUSE_LINE_BYTES, self._room // 2) if row.error else min(CONTEXT_LINE_BYTES, self._room // 8)
            )
            too_long = row.unread or text_bytes(row.text) >= limit
            yield (clip(row, self._source.ref, limit) or row) if too_long else row

    def _is_error(self, data: bytes) -> bool:
        return self._judge.verdict(data) is not None
