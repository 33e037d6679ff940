"""Picks lines of a stream for a body of a given size, and counts an upper bound of the bytes that each takes."""

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from sightline.shape.failure.ci_steps import Steps
from sightline.shape.failure.classes import kind_of
from sightline.shape.failure.failure_scan import Failures
from sightline.shape.failure.judge import CAUSE, Judge
from sightline.shape.failure.layers import STEP as OF_STEP
from sightline.shape.failure.layers import Layers, in_order, layers_of, rare_in_order
from sightline.shape.failure.tool_rules import BlockRule
from sightline.shape.repeated_lines import (
    EqualLines,
    IsError,
    Span,
    clip,
    free_spans,
    read_rows,
    singles,
    spans_of,
    take,
    text_bytes,
)
from sightline.shape.source import Source

CAUSE_LINE_BYTES = 2048  # longer lines in a region are clipped, so that one does not take the room of all others
CONTEXT_LINE_BYTES = 512
PART_LINES = 3  # lines after one whose core does not fit
MISFITS = 48  # picks in a row that do not fit, after which no more are tried
STEP = 4.0  # how far down the order the next layer of a failure waits
WHOLE = 6.0  # how much further down the last of several layers waits, which has the frames of stacks
STEP_END = 1.0  # the same for the layers above the end of a failed step
NEW_KIND = 0.3  # place of the first block that says another thing, before the names of others
KIND_BLOCKS, FEW_KINDS = 48, 2  # blocks that are compared, and most of them that come so early
AGAIN = 6.0  # how far down the order a failure waits whose lines are all shown already
BRIDGE_LINES, BRIDGE_BYTES = 2, 128  # a shorter gap is filled, since its marker would take nearly as much room


LONG_TEXT = 30  # characters of a line that says the same only about the same
SAID_CHARS = 160  # of a line, by which two are compared
_LEVELS = re.compile(
    r"^(?:\s|[\[(]?(?:ERROR|FATAL|WARN(?:ING)?|[Ee]rror|error|[Ff]atal)\b[\])]?:?|Caused by:|E(?=  ))+"
)
"""What two lines that say the same may differ in."""


_Step = tuple[float, int, int]
"""Place in the order, index of the hit, index of its layer."""

ALONE = -1
"""Stands for the layer that is a line alone."""


class Picker:
    """The lines that have been picked.

    Attributes:
        runs: the picked lines.
        blocks: their spans, in order, neighbours joined.
        used: upper bound of the bytes of these lines, and of the markers between them.
    """

    def __init__(
        self,
        source: Source,
        judge: Judge,
        failures: Failures,
        steps: Steps,
        *,
        is_error: IsError,
        gap_bytes: int,
        fold_bytes: int,
        short: bool = False,
        rare: Sequence[int] = (),
    ) -> None:
        """Start without any line.

        Args:
            source: the stream.
            judge: judges its lines.
            failures: its failure lines.
            steps: its steps, if they are known.
            is_error: returns whether a line counts as a failure line.
            gap_bytes: most bytes of a marker for left-out lines, with its newline.
            fold_bytes: most bytes of a marker for a folded run, with its newline.
            short: whether markers are short.
            rare: lines of a rare shape, the rarest first.
        """
        self.runs: list[EqualLines] = []
        self.blocks: list[Span] = []
        self.used = 0
        self._source = source
        self._judge = judge
        self._is_error = is_error
        self._room = 0
        self._gap_bytes = gap_bytes
        self._fold_bytes = fold_bytes
        self._short = short
        placed = [*in_order(failures, steps), *rare_in_order(rare)]
        self._hits = [one.hit for one in placed]
        self._marked = steps
        self._alone: set[int] = set()
        self._said: set[str] = set()
        self._late: set[int] = set()
        self._layers: dict[int, Layers] = {}
        first = self._first_of_kinds()
        self._steps: list[_Step] = [
            (min(one.place, NEW_KIND) if at in first else one.place, at, 0) for at, one in enumerate(placed)
        ]
        self._steps += [(one.alone, at, ALONE) for at, one in enumerate(placed) if one.alone is not None]
        self._steps.sort()

    def include(self, runs: list[EqualLines], cost: int) -> None:
        """Take lines that were picked elsewhere, and their bytes."""
        self._keep(runs, cost)

    def pick(self, room: int) -> None:
        """Pick the lines that explain the failures, the most telling first, until this many bytes are used."""
        self._room = room
        misfits: list[_Step] = []
        in_a_row = 0
        while self._steps and in_a_row < MISFITS and self._room - self.used > self._gap_bytes:
            place, at, step = heapq.heappop(self._steps)
            line = self._hits[at].line
            if step == ALONE:
                if free_spans(self.blocks, line, line) and self._add(((line, line),), core=True):
                    self._alone.add(line)
                continue
            if step == 0 and line not in self._alone and not free_spans(self.blocks, line, line):
                continue  # stands among another's lines
            if at not in self._layers:
                self._layers[at] = layers_of(self._hits[at], self._source, self._judge, self._marked)
            layers = self._layers[at]
            if step == 0 and at not in self._late and self._says_again(line, layers[0]):
                self._late.add(at)
                heapq.heappush(self._steps, (place + AGAIN, at, step))
                continue
            if self._add(layers[step], core=step == 0) or (step == 0 and self._add_part(line)):
                in_a_row = 0
                if step == 0:
                    self._said.update(self._texts(layers[0]))
                if step + 1 < len(layers):
                    further = STEP if self._hits[at].verdict.rank != OF_STEP else STEP_END
                    if 2 < step + 2 == len(layers):
                        further += WHOLE
                    heapq.heappush(self._steps, (place + further, at, step + 1))
            else:
                in_a_row += 1
                misfits.append((place, at, step))
        self._steps = sorted([*self._steps, *misfits])

    def _first_of_kinds(self) -> set[int]:
        """Return the blocks that say what no other one says, if they are few among many that say the same."""
        found: dict[tuple[str, ...], list[int]] = {}
        causes = (at for at, hit in enumerate(self._hits) if hit.verdict.rank == CAUSE)
        blocks = (at for at in causes if isinstance(self._hits[at].verdict.sort, BlockRule))
        for at in islice(blocks, KIND_BLOCKS):
            hit = self._hits[at]
            layers = self._layers[at] = layers_of(hit, self._source, self._judge, self._marked)
            own = self._texts(((hit.line, hit.line),))
            found.setdefault(tuple(sorted({kind_of(text) for text in self._texts(layers[0]) - own})), []).append(at)
        few = [places[0] for places in found.values() if len(places) == 1]
        return set(few) if len(few) <= FEW_KINDS and len(found) == len(few) + 1 else set()

    def _says_again(self, line: int, core: tuple[Span, ...]) -> bool:
        """Return whether the text of a failure is shown already, as when a run was retried, or a tool sums it up."""
        own = self._texts(((line, line),))
        if any(len(text) >= LONG_TEXT and text in self._said for text in own) and line not in self._alone:
            return True
        new = self._texts(core) - self._said
        return not new or (line in self._alone and new == own)

    def _texts(self, spans: Iterable[Span]) -> set[str]:
        """Return what the lines in some spans say, without their levels."""
        lines = (line for span in spans for line in self._source.lines(*span))
        return {text[:SAID_CHARS] for line in lines if (text := _LEVELS.sub("", self._judge.text(line.data)).strip())}

    def _add(self, spans: Iterable[Span], *, core: bool) -> bool:
        """Pick all lines of some spans, or none; return whether they fit."""
        wanted: list[Span] = []
        for span in spans:
            for part in free_spans(self.blocks, *self._bridged(span)):  # a stretched span may overlap another one
                wanted = sorted([*wanted, *free_spans(wanted, *part)])
        if not wanted:
            return True
        gaps = sum(self._gap_bytes for first, last in wanted if not self._touches(first, last))
        taken = take(self._rows(wanted, core=core), self._room - self.used - gaps, self._fold_bytes)
        if taken.misfit or sum(run.lines for run in taken.runs) < sum(last - first + 1 for first, last in wanted):
            return False
        self._keep(taken.runs, taken.cost + gaps)
        return True

    def _add_part(self, line: int) -> bool:
        """Pick a line whose core is too large, and the lines after it, in at most half of what is left."""
        wanted = free_spans(self.blocks, line, line + PART_LINES)[:1]
        taken = take(self._rows(wanted, core=True), (self._room - self.used) // 2 - self._gap_bytes, self._fold_bytes)
        self._keep(taken.runs, taken.cost + self._gap_bytes if taken.runs else 0)
        return bool(taken.runs)

    def _keep(self, runs: list[EqualLines], cost: int) -> None:
        self.runs = sorted([*self.runs, *runs])
        self.blocks = spans_of(self.runs)
        self.used += cost

    def _bridged(self, span: Span) -> Span:
        """Stretch a span to neighbouring picked lines if only a few lines lie between."""
        first, last = span
        for start, end in self.blocks:
            if 0 < first - end - 1 <= BRIDGE_LINES and self._is_short(end + 1, first - 1):
                first = end + 1
            if 0 < start - last - 1 <= BRIDGE_LINES and self._is_short(last + 1, start - 1):
                last = start - 1
        return first, last

    def _is_short(self, first: int, last: int) -> bool:
        """Return whether lines take little more room than a marker in place of them."""
        return sum(line.length for line in self._source.lines(first, last)) <= BRIDGE_BYTES

    def _touches(self, first: int, last: int) -> bool:
        return any(end == first - 1 or start == last + 1 for start, end in self.blocks)

    def _rows(self, spans: Iterable[Span], *, core: bool) -> Iterator[EqualLines]:
        for row in read_rows(self._source, spans, self._is_error):
            if row.error:
                limit = min(CAUSE_LINE_BYTES, self._room // 2)
            else:
                limit = min(CONTEXT_LINE_BYTES, self._room // (4 if core else 8))
            if row.unread or text_bytes(row.text) >= limit:
                yield from (clip(one, self._source.ref, limit, short=self._short) or one for one in singles(row))
            else:
                yield row
