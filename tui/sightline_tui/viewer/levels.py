"""Reads the levels of all lines: shows only those of a level or worse, previews what that hides, counts them by time.

Lines keep their numbers, so that marks, searches and refs are of the whole output; whatever goes to a hidden line shows
all lines again.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import ClassVar

from textual.strip import Strip

from sightline.audit.failure_lines import FailureLines
from sightline.light.named_tuple import NamedTuple
from sightline.shape.failure.prefilter import Prefilter
from sightline.shape.levels import ERROR, INFO, STEMS, WARN, LineLevels
from sightline_tui.common.choice import Choice, ChoiceRows
from sightline_tui.common.histogram import BINS, Histogram
from sightline_tui.common.output_reader import OutputReader, open_reader
from sightline_tui.common.phrases import counted
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.strips import StripPart, row
from sightline_tui.common.window import ShownLines
from sightline_tui.viewer.line_strips import LINE_BYTES
from sightline_tui.viewer.pane import OutputPane

ALL = ""
NAMES = {ALL: "everything", INFO: "info and worse", WARN: "warnings and errors", ERROR: "errors only"}
"""What to call the choices, by the least level that is shown."""

_STEP_SECONDS = 0.2  # of reading, before what was found so far is shown
_COUNT_SECONDS = 1.0  # between two counts by time of an output that is still read or written
_BATCH_LINES = 2_000  # of two streams, read together

Block = tuple[str, int, bytes]
"""A stream, the number of the first line in the reading, and whole lines."""


class KnownLevels(NamedTuple):
    """What is known of the levels of an output's lines.

    Attributes:
        lines: how many lines were read.
        is_whole: whether these are all, but for the last ones of an output that is still written.
        is_given_up: whether the rest is not read, because the levels change too often.
        counts: lines shown, among those read, by the least level.
        only: the lines to show of the level that is shown, with all that were not read; None if all are.
        histogram: the lines by the time when they came, and which have errors; None if that is not wanted or not known.
    """

    lines: int
    is_whole: bool
    is_given_up: bool
    counts: dict[str, int]
    only: ShownLines | None
    histogram: Histogram | None


class _Scan:
    """Reads the levels of one output, step by step; only one thread at a time uses it."""

    def __init__(self, pane: OutputPane) -> None:
        opened = pane.opened
        assert opened is not None
        self.of = opened
        self._store = pane.store
        self._levels = LineLevels()
        self._prefilter = Prefilter(STEMS, ())
        self._failures: FailureLines | None = None
        self._histogram: Histogram | None = None
        self._counted_at = 0.0

    def step(self, least: str, total: int, *, with_times: bool) -> KnownLevels:
        """Read on for a moment; of a running output, up to what cannot change any more; it has this total of lines."""
        opened, levels = self.of, self._levels
        reading = open_reader(self._store, opened.buffer, opened.stream)
        try:
            last = total - (len(reading.streams) if opened.running else 0)
            until = time.monotonic() + _STEP_SECONDS
            for stream, first, data in _blocks(reading, levels.lines + 1, last):
                levels.take(data, list(self._prefilter.lines([(first, data)])), self._failing(stream, first, data))
                if time.monotonic() > until or levels.is_full:
                    break
            if with_times and opened.timed and self._is_due(levels.lines >= last):
                self._histogram = line_histogram(reading, opened.buffer.created, total, levels.spans(ERROR))
        finally:
            reading.close()
        unread = [(levels.lines + 1, total)] if levels.lines < total else []
        only = None if least == ALL else ShownLines([*levels.spans(least), *unread])
        counts = {INFO: levels.count(INFO), WARN: levels.count(WARN), ERROR: levels.count(ERROR)}
        histogram = self._histogram if with_times else None
        return KnownLevels(levels.lines, levels.lines >= last, levels.is_full, counts, only, histogram)

    def _is_due(self, is_whole: bool) -> bool:
        """Return whether lines are counted by time now: at once, then every second, and when all levels are known."""
        now, is_last = time.monotonic(), is_whole and not self.of.running
        if self._histogram is not None and now - self._counted_at < _COUNT_SECONDS and not is_last:
            return False
        self._counted_at = now
        return True

    def _failing(self, stream: str, first: int, data: bytes) -> list[int]:
        """Return the lines that tell of a failure; of an output that is still written, how it ends is not known."""
        if self.of.running:
            return []
        if self._failures is None:
            self._failures = FailureLines(self._store, self.of.buffer)
        return self._failures.in_block(stream, (first, data))


def _blocks(reading: OutputReader, first: int, last: int) -> Iterator[Block]:
    """Yield blocks of a reading; where two streams were written in turns, they are read line by line."""
    streams = [stream for stream in reading.streams if reading.source(stream).byte_count]
    if len(streams) == 1:
        for number, data in reading.source(streams[0]).blocks(first) if first <= last else ():
            lines = data.count(b"\n")
            if number + lines - 1 > last:
                kept = data.split(b"\n", last - number + 1)[: last - number + 1]
                data = b"".join(line + b"\n" for line in kept)
            if data:
                yield streams[0], number, data if data.endswith(b"\n") else data + b"\n"
            if number + lines > last:
                return
        return
    for start in range(first, last + 1, _BATCH_LINES):
        batch = list(reading.lines(start, min(start + _BATCH_LINES - 1, last), LINE_BYTES))
        if batch:
            yield batch[0][0], start, b"".join(line.data.replace(b"\n", b" ") + b"\n" for _, line in batch)


def line_histogram(
    reading: OutputReader, began: float, count: int, errors: Sequence[tuple[int, int]]
) -> Histogram | None:
    """Count the lines of a reading by the time when they came; None if all came at once, or no times are known.

    Args:
        reading: the lines.
        began: when the capture began, seconds since the epoch.
        count: how many lines there are.
        errors: the lines that are errors, as ascending (first, last).
    """
    first, last = next(reading.times(1, 1), 0), next(reading.times(count, count), 0)
    if last <= first:
        return None
    counts, failed, failing, number = [0] * BINS, [0] * BINS, ShownLines(errors), 1
    for came, lines in groupby(reading.times(1, count)):
        at, after = min((came - first) * BINS // (last - first), BINS - 1), number + sum(1 for _ in lines)
        counts[at] += after - number
        failed[at] += failing.rank(after) - failing.rank(number)
        number = after
    return Histogram(began + first / 1e9, began + last / 1e9, tuple(counts), tuple(failed))


class ViewerLevels:
    """The levels of a pane's output.

    Attributes:
        least: the least level that is shown; `ALL` for everything.
        known: what is known; None if nothing was read yet.
    """

    def __init__(self, pane: OutputPane) -> None:
        self.least = ALL
        self.known: KnownLevels | None = None
        self._pane = pane
        self._scan: _Scan | None = None
        self._choice: LevelChoice | None = None
        self._with_times = False
        self._reads: StoreRead[tuple[_Scan, str, KnownLevels]] = StoreRead(pane, self._plan, self._take)

    @property
    def histogram(self) -> Histogram | None:
        """The lines by time, if that is wanted and known."""
        return self.known.histogram if self.known is not None and self._with_times else None

    def count_times(self, wanted: bool) -> None:
        """Count the lines by the time when they came, or no longer."""
        self._with_times = wanted
        if wanted:
            self._reads.ask()

    def choose(self) -> None:
        """Let a person choose the level, with a preview of each."""
        if self._pane.opened is None:
            return
        self._reads.ask()
        before, self._choice = self.least, LevelChoice(self)
        self._pane.app.push_screen(self._choice, lambda chosen: self._chosen(before if chosen is None else chosen))

    def _chosen(self, least: str) -> None:
        self._choice = None
        self.show(least)

    def show(self, least: str) -> None:
        """Show the lines of a level and of worse ones; `ALL` for everything."""
        if least == self.least:
            return
        self.least = least
        if least == ALL:
            self._pane.show_only(None)
        else:
            self._reads.ask()

    def clear(self) -> None:
        """Show everything, because another output is shown, or the same one otherwise."""
        self._scan = self.known = None
        if self._with_times:
            self._reads.ask()
        if self.least != ALL:
            self.least = ALL
            self._pane.show_only(None)

    def went_on(self) -> None:
        """Take in that the output has grown, or ended."""
        if self._scan is not None or self._with_times:
            self._reads.ask()

    def reveal(self, number: int) -> None:
        """Show everything if a line is hidden that somebody goes to."""
        only = self._pane.window.only
        if only is not None and not only.holds(number):
            self.show(ALL)
            self._pane.notify(f"Line {number:,} was hidden, so all lines are shown", markup=False)

    def notes(self) -> list[str]:
        """The notes for the info bar."""
        known, told = self.known, list[str]()
        if self.histogram is not None and known is not None and not known.is_whole:
            told.append(f"errors known up to line {known.lines:,}")
        if self.least != ALL and known is None:
            told.append("reading levels…")
        elif self.least != ALL and known is not None:
            hidden = known.lines - known.counts[self.least]
            state = "" if known.is_whole else f" of the first {known.lines:,}" + ("" if known.is_given_up else "…")
            told.append(f"{NAMES[self.least]}: {counted(hidden, 'line')}{state} hidden")
        return told

    def _plan(self) -> Callable[[], tuple[_Scan, str, KnownLevels]] | None:
        opened = self._pane.opened
        if opened is None or opened.hex:
            return None
        scan = self._scan
        if scan is None or scan.of.running != opened.running or not scan.of.is_of(opened.buffer):
            scan = self._scan = _Scan(self._pane)  # how it ended tells which lines are failures
        least, lines, mine, timed = self.least, opened.line_count, scan, self._with_times
        return lambda: (mine, least, mine.step(least, lines, with_times=timed))

    def _take(self, read: tuple[_Scan, str, KnownLevels]) -> None:
        scan, least, known = read
        if scan is not self._scan:
            return
        another = self.known is None or known.histogram != self.known.histogram
        self.known = known
        if another:
            self._pane.tell_place()
        if least == self.least:
            self._pane.show_only(known.only)
        if self._choice is not None:
            self._choice.tell()
        if least != self.least or not (known.is_whole or known.is_given_up):
            self._reads.ask()


class LevelRows(ChoiceRows[str]):
    """A level a row: its name, how many lines it shows, and how many it hides."""

    PARTS = (*ChoiceRows.PARTS, "failed", "ok")
    COMPONENT_CLASSES: ClassVar = {f"row-view--{part}" for part in PARTS}

    def __init__(self, levels: ViewerLevels) -> None:
        super().__init__()
        self._levels = levels

    def draw(self, at: int, width: int) -> Strip:
        """Draw a row."""
        least, known = self.offered[at], self._levels.known
        told = [StripPart("…", "dim")]
        if known is not None:
            shown = known.counts.get(least, known.lines)
            most = "" if known.is_whole else "…" if not known.is_given_up else f" in the first {known.lines:,}"
            told = [
                StripPart(f"{counted(shown, 'line')}", "failed" if least == ERROR and shown else "strong"),
                StripPart(f"  {known.lines - shown:,} hidden{most} ", "dim"),
            ]
        return row([StripPart(" "), StripPart(NAMES[least], "strong")], told, width, self.own_style, self.part_styles)

    def cursor_moved(self) -> None:
        """Preview what the row would show."""
        if self.offered:
            self._levels.show(self.offered[self.cursor])


class LevelChoice(Choice[str, str]):
    """Answers with the least level to show, whose lines it previews behind it; with None for the one of before."""

    TITLE_TEXT, HINT = "Show", "which level"
    CSS = "LevelChoice { background: transparent; align: center bottom; } LevelChoice #choice { height: 8; }"

    def __init__(self, levels: ViewerLevels) -> None:
        self._found = LevelRows(levels)
        self._levels = levels
        super().__init__(self._found)

    def offer(self, text: str) -> None:
        """Offer the levels whose name has a text, with the cursor on the one that is shown."""
        shown = self._levels.least
        found = [least for least, name in NAMES.items() if text.lower() in name]
        self._found.offer(found)
        if shown in found:
            self._found.move_to(found.index(shown))

    def answer(self, chosen: str) -> str:
        """Answer with the level."""
        return chosen

    def tell(self) -> None:
        """Draw the counts again."""
        self._found.refresh()
