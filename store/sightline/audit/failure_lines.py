"""Finds the failure lines of a buffer from any line on, without reading the rest.

It judges as views do when they put failures first: by the rules of the tools that wrote the output, then in general.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sightline.audit.buffer_failures import judgement_of
from sightline.base.records import Buffer
from sightline.shape.failure.examination import Examination
from sightline.shape.failure.judge import judged_part
from sightline.shape.failure.prefilter import Prefilter
from sightline.shape.memory_stream import BytesSource
from sightline.shape.source import BLOCK_BYTES, Source
from sightline.store import Reading, StreamReader, Target

REGION_GAP_LINES = 5
"""Lines between two failure lines of one region, at most; as many as a view shows around each."""

REGION_LINES = 200
"""A longer region counts as a new one after this many lines, so that a key moves on by at most a screen or so."""

Block = tuple[int, bytes]
"""Number of the first line, and whole lines."""


class GivenUp(Exception):
    """The caller has cancelled the question."""


class FailureLines:
    """The lines of a buffer's streams that look like failures. Only one thread at a time may use it."""

    def __init__(self, store: Reading, buffer: Buffer, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Prepare to search; nothing is read yet.

        Args:
            store: the store that has it.
            buffer: the buffer's record; the lines of a JSON result are those of its pretty form.
            cancelled: asked now and then; when it returns True, GivenUp is raised.
        """
        self._store = store
        self._buffer = buffer
        self._cancelled = cancelled
        self._examined: dict[str, Examination] = {}

    def among(self, stream: str, first: int, last: int) -> dict[int, bool]:
        """Return which lines of a stream in a range, inclusive, look like failures, and whether each is one.

        Raises what `Store.open_text` raises.
        """
        with self._open(stream) as reader:
            examination = self._examination(stream)
            data = b"".join(line.data + b"\n" for line in reader.lines(first, last))
            return dict(_failing((first, data), examination))

    def in_block(self, stream: str, block: Block) -> list[int]:
        """Return which lines of a block of a stream are failures. Raises what `Store.open_text` raises."""
        return [number for number, counts in _failing(block, self._examination(stream)) if counts]

    def next_region(self, stream: str, line: int) -> int:
        """Return the first line of the next region below a line; 0 if there is none. Raises what `among` raises."""
        with self._open(stream) as reader:
            examination = self._examination(stream)
            known = [one for one in self.among(stream, max(1, line - REGION_GAP_LINES), line) if line]
            begun, held = line, known[-1] if known else 0
            for block in self._watched(_blocks(reader, line + 1)):
                for number, _ in _failing(block, examination):
                    if number <= line:
                        continue
                    if not held or number - held > REGION_GAP_LINES + 1 or number - begun > REGION_LINES:
                        return number
                    held = number
        return 0

    def previous_region(self, stream: str, line: int) -> int:
        """Return the first line of the region above a line, or of the one around it, as `next_region` does."""
        found = 0
        with self._open(stream) as reader:
            examination = self._examination(stream)
            for block in self._watched(_blocks_above(reader, line)):
                for number, _ in reversed(list(_failing(block, examination))):
                    if found and (found - number > REGION_GAP_LINES + 1 or line - number > REGION_LINES):
                        return found
                    found = number
                if found and found - block[0] > REGION_GAP_LINES + 1:
                    return found
        return found

    def _watched(self, blocks: Iterator[Block]) -> Iterator[Block]:
        for block in blocks:
            if self._cancelled():
                raise GivenUp
            yield block

    @contextmanager
    def _open(self, stream: str) -> Iterator[StreamReader]:
        with self._store.open_text(Target(self._buffer, stream)) as reader:
            yield reader

    def _examination(self, stream: str) -> "Examination":
        """Return the judge of a stream: both streams of a command share one, each block of a result has its own."""
        if stream not in self._examined:
            nothing: Source = BytesSource(b"")
            judgement, added = judgement_of(self._buffer), self._store.rule_files
            if stream not in ("out", "err"):
                with self._open(stream) as reader:
                    examination = Examination(reader, nothing, scope=judgement, added=added)
                    examination.settle()
                    self._examined[stream] = examination
            else:
                with self._open("out") as out, self._open("err") as err:
                    examination = Examination(out, err, self._buffer.command, judgement, added=added)
                    examination.settle()
                    self._examined["out"] = self._examined["err"] = examination
        return self._examined[stream]


def _failing(block: Block, examination: "Examination") -> Iterator[tuple[int, bool]]:
    """Yield the lines of a block that look like failures, in order, and whether each is one."""
    judge = examination.judge
    for number, line in Prefilter(judge.stems, judge.literals).lines([block]):
        if (verdict := judge.verdict(judged_part(line))) is not None:
            yield number, examination.counts(verdict, line)


def _blocks(reader: StreamReader, first: int) -> Iterator[Block]:
    """Yield blocks from a line on, small ones first, because the next failure may be near."""
    near = first + NEAR_LINES
    yield first, b"".join(line.data + b"\n" for line in reader.lines(first, near - 1))
    yield from reader.blocks(near)


NEAR_LINES = 200


def _blocks_above(reader: StreamReader, line: int) -> Iterator[Block]:
    """Yield blocks above a line, the nearest first."""
    number, end, size = min(line, reader.line_count + 1), reader.offset_of_line(line), BLOCK_BYTES >> 4
    while end > 0 and number > 1:
        start = max(0, end - size)
        data = reader.read(start, end - start)
        if start:
            cut = data.find(b"\n", 0, len(data) - 1) + 1
            if not cut:  # only the two ends of a line longer than a block are judged
                start, number = reader.offset_of_line(number - 1), number - 1
                ends = reader.read(start, size // 2) + reader.read(end - size // 2, size // 2)
                yield number, ends.rstrip(b"\n") + b"\n"
                end = start
                continue
            start, data = start + cut, data[cut:]
        if not data.endswith(b"\n"):
            data += b"\n"  # the last line of a stream
        number -= data.count(b"\n")
        yield number, data
        end, size = start, BLOCK_BYTES
