"""Merges the lines of several outputs by the time when they came; only times are read of lines that are not shown."""

import contextlib
import heapq
import threading
import time
from array import array
from collections.abc import Iterator, Sequence

from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.shape.clean import clean_line
from sightline.store import Reading
from sightline_tui.common.output_reader import open_reader
from sightline_tui.common.visible_text import visible

MOST_LINES = 1_000_000
"""Lines that are merged, the first of all outputs together: their times take 13 bytes each, and a second to merge."""

_SECOND_NS = 1_000_000_000
_LINE_BYTES = 4_096  # of a line, more than any screen shows
_BEGIN, _END = 0, -1  # numbers of the rows that say when an output began and ended


class MergedRow(NamedTuple):
    """A row: a line of an output, or when the output began or ended.

    Attributes:
        source: which output, from 0.
        number: number of the line in it, from 1; 0 for its begin, -1 for its end.
        time: when it came, in seconds since the epoch; None if that is not known.
    """

    source: int
    number: int
    time: float | None

    @property
    def is_line(self) -> bool:
        """Whether it is a line."""
        return self.number > 0


class MergedLines:
    """Open outputs and the order of their lines. One thread at a time may use it.

    Attributes:
        buffers: the outputs, the one that began first at the top.
        timed: of each whether it is known when its lines came; else they all stand at its begin.
        left_out: number of lines beyond `MOST_LINES`.
    """

    def __init__(self, store: Reading, buffers: Sequence[Buffer]) -> None:
        """Open the outputs and merge them. Raises what the store raises."""
        self.buffers = sorted(buffers, key=lambda one: one.created)
        self._guard = threading.Lock()
        self._is_used = self._is_closed = False
        with contextlib.ExitStack() as opened:
            self._readers = [opened.enter_context(contextlib.closing(open_reader(store, one))) for one in self.buffers]
            counts = [reader.line_count for reader in self._readers]
            self.timed = [
                one.kind == "cmd" and next(reader.times(count, count), 0) > 0
                for one, reader, count in zip(self.buffers, self._readers, counts, strict=True)
            ]
            self._times, self._sources, self._numbers = array("q"), array("H"), array("i")
            for came, source, number in heapq.merge(*map(self._rows_of, range(len(counts)), counts)):
                self._times.append(came)
                self._sources.append(source)
                self._numbers.append(number)
                if len(self._times) >= MOST_LINES:
                    break
            self.left_out = max(sum(counts) + 2 * len(counts) - len(self._times), 0) if self.is_full else 0
            self._opened = opened.pop_all()

    @property
    def is_full(self) -> bool:
        """Whether there are more lines than are merged."""
        return len(self._times) >= MOST_LINES

    def _rows_of(self, source: int, count: int) -> Iterator[tuple[int, int, int]]:
        """Yield (time in nanoseconds, source, number) for the begin, the lines and the end of an output."""
        buffer = self.buffers[source]
        begin = last = int(buffer.created * _SECOND_NS)
        yield begin, source, _BEGIN
        if self.timed[source]:
            for number, came in enumerate(self._readers[source].times(1, count), 1):
                last = max(last, begin + came)  # a line that came late stays behind the one before
                yield last, source, number
        else:
            yield from ((begin, source, number) for number in range(1, count + 1))
        if buffer.ended is not None:
            yield max(int(buffer.ended * _SECOND_NS), last), source, _END

    def __len__(self) -> int:
        return len(self._times)

    def row(self, at: int) -> MergedRow:
        """Return a row, from 0."""
        source, number = self._sources[at], self._numbers[at]
        known = self.timed[source] or number <= 0
        return MergedRow(source, number, self._times[at] / _SECOND_NS if known else None)

    def find(self, source: int, number: int) -> int:
        """Return the row of a line of an output; the last one if it is not merged."""
        pairs = zip(self._sources, self._numbers, strict=True)
        return next((at for at, pair in enumerate(pairs) if pair == (source, number)), len(self) - 1)

    def texts(self, first: int, last: int) -> dict[int, str]:
        """Read the lines among some rows: safe text by row. Raises what the store raises."""
        with self._in_use() as is_open:
            return self._read(first, last) if is_open else {}

    def _read(self, first: int, last: int) -> dict[int, str]:
        found = dict[int, str]()
        for source, reader in enumerate(self._readers):
            rows = {
                self._numbers[at]: at for at in range(first, min(last + 1, len(self))) if self._sources[at] == source
            }
            numbers = [number for number in rows if number > 0]
            if numbers:
                lines = reader.lines(min(numbers), max(numbers), _LINE_BYTES)
                for number, (_, line) in enumerate(lines, min(numbers)):
                    found[rows[number]] = visible(clean_line(line.data).expandtabs())
        return found

    def place(self, at: int) -> tuple[Buffer, str, int]:
        """Return the output, stream and line that a row leads to: for begin and end of an output its first and last."""
        source, number = self._sources[at], self._numbers[at]
        reader, buffer = self._readers[source], self.buffers[source]
        with self._in_use() as is_open:
            number = max(reader.line_count if number == _END and is_open else number, 1)
            found = next(iter(reader.lines(number, number, _LINE_BYTES)), None) if is_open else None
            stream = found[0] if found else "out"
            return buffer, stream, reader.before(number)[stream] + 1 if found else 1

    @contextlib.contextmanager
    def _in_use(self) -> Iterator[bool]:
        """Whether it is still open; meanwhile it is not closed."""
        with self._guard:
            is_open, self._is_used = not self._is_closed, True
        try:
            yield is_open
        finally:
            with self._guard:
                self._is_used = False
                if self._is_closed:
                    self._opened.close()

    def close(self) -> None:
        """Close the outputs, at once or when the thread that reads has done so; any thread may call it."""
        with self._guard:
            self._is_closed = True
            if not self._is_used:
                self._opened.close()


def clock_text(seconds: float | None) -> str:
    """Write a time of day with milliseconds, ``14:03:02.041``; blanks if it is not known."""
    if seconds is None:
        return " " * 12
    return time.strftime("%H:%M:%S", time.localtime(seconds)) + f".{int(seconds % 1 * 1000):03}"
