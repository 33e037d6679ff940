"""Shows an output at a step of a session: which lines had been seen by then, which not, and what was missed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.cache import FIFOCache
from textual.message import Message
from textual.strip import Strip

from sightline.base.records import Buffer
from sightline.store import Reading, StreamReader, Target
from sightline_tui.common.keys import named
from sightline_tui.common.phrases import counted
from sightline_tui.common.row_view import RowView
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.text_rows import LINE_BYTES, drawn
from sightline_tui.timeline.step_coverage import (
    ASKED,
    BEFORE,
    CUT,
    GONE,
    MISSED,
    NOW,
    UNSEEN,
    UNSURE,
    Standing,
    StateRun,
    StepRows,
    runs_of,
)

MARKS = {NOW: "█", BEFORE: "▓", CUT: "▚", ASKED: "▒", UNSEEN: "░", MISSED: "!", GONE: "╎", UNSURE: "▏"}
"""The mark beside a line, and in the map for the lines that a cell stands for."""

STYLES = {NOW: "now", BEFORE: "before", CUT: "before", GONE: "interrupted", MISSED: "failed"}
_KEPT_STRIPS = 300
_READ_AHEAD = 40
_NAMES = {"out": "standard output", "err": "standard error"}


class CoverageRows(RowView):
    """Lines with marks; a long run of lines that no agent was shown is folded into one row."""

    PARTS = (*RowView.PARTS, "control", "now", "before", "interrupted", "failed")
    BINDINGS: ClassVar[list[BindingType]] = named(
        "covered",
        [
            Binding("enter", "choose", "Open"),
            Binding("z", "fold", "Fold what was not seen, or nothing", show=False),
        ],
    )

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """A person wants to see a line of a stream in its buffer."""

        stream: str
        line: int

    def __init__(self, store: Reading) -> None:
        super().__init__(id="covered")
        self._store = store
        self._buffer: Buffer | None = None
        self._streams: Sequence[Standing] = ()
        self._rows = StepRows(())
        self._folds = True
        self._readers = dict[str, StreamReader]()
        self._strips: FIFOCache[tuple[str, int], Strip] = FIFOCache(_KEPT_STRIPS)

    def show(self, buffer: Buffer | None, streams: Sequence[Standing]) -> None:
        """Show an output at a step, from the first line that the step's call showed."""
        before = self._buffer
        if buffer is None or before is None or (buffer.name, buffer.bytes) != (before.name, before.bytes):
            self._close()
        self._buffer, self._streams = buffer, streams
        self._lay_out()
        at = self._rows.first_of(NOW, MISSED, BEFORE, GONE, UNSURE)
        self.scroll_to(y=max(at - 2, 0), animate=False, force=True)
        self.move_to(at)

    def _lay_out(self) -> None:
        self._rows = StepRows(runs_of(self._streams, folds=self._folds))
        self.set_rows(len(self._rows))

    def _close(self) -> None:
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()
        self._strips.clear()

    def on_unmount(self) -> None:
        """Close the files of the streams."""
        self._close()

    def notify_style_update(self) -> None:
        """Drop the rows that are drawn in the colours of before."""
        super().notify_style_update()
        self._strips.clear()

    def draw(self, at: int, width: int) -> Strip:
        """Draw a line with its number and mark, or a fold with the number of its lines."""
        run, line = self._rows.at(at)
        base, styles = self.own_style, self.part_styles
        digits = len(str(max((one.total for one in self._streams), default=0)))
        if not run.first:
            return Strip([Segment(f" {_NAMES.get(run.stream, run.stream)}", base + styles["accent"])])
        if run.folded:
            what = "counted, not shown" if run.how == ASKED else "not seen"
            told = f" {'':>{digits}} {MARKS[run.how]} ⋯ {counted(run.last - run.first + 1, 'line')} {what} ⋯"
            return Strip([Segment(told, base + styles["dim"])])
        mark = base + styles[STYLES.get(run.how, "dim")]
        lead = [
            Segment(f" {line:>{digits}} ", base + styles["dim"]),
            Segment(f"{MARKS[run.how]} ", mark),
        ]
        text = self._line(run, line)
        if run.how in (UNSEEN, ASKED):
            text = Strip(Segment.apply_style(text, post_style=styles["dim"]), text.cell_length)
        elif run.how == MISSED:
            text = Strip(Segment.apply_style(text, post_style=styles["failed"]), text.cell_length)
        room = width - 4 - digits
        return Strip([*lead, *text.crop(0, max(room, 1))])

    def _line(self, run: StateRun, line: int) -> Strip:
        if (run.stream, line) not in self._strips:
            self._read(run.stream, line, min(run.last, line + _READ_AHEAD))
        return self._strips.get((run.stream, line)) or Strip([], 0)

    def _read(self, stream: str, first: int, last: int) -> None:
        if self._buffer is None:
            return
        try:
            reader = self._readers.get(stream)
            if reader is None:
                reader = self._readers[stream] = self._store.open_text(Target(self._buffer, stream))
            for number, line in enumerate(reader.lines(first, last, LINE_BYTES), first):
                self._strips[stream, number] = drawn(line, self.own_style, self.part_styles)
        except STORE_ERRORS as error:
            self._strips[stream, first] = Strip([], 0)
            tell(self.app, error)

    def go_to(self, stream: str, line: int) -> None:
        """Put the cursor on a line."""
        at = self._rows.row_of(stream, line)
        self.scroll_to(y=max(at - self.size.height // 3, 0), animate=False, force=True)
        self.move_to(at)

    def choose(self) -> None:
        """Go to the line in its buffer, or unfold a fold."""
        if not len(self._rows):
            return
        run, line = self._rows.at(self.cursor)
        if run.folded:
            self.action_fold()
        elif line:
            self.post_message(self.Chosen(run.stream, line))

    def action_fold(self) -> None:
        """Fold the unseen lines, or show all lines; the cursor stays on its line."""
        if not len(self._rows):
            return
        run, line = self._rows.at(self.cursor)
        self._folds = not self._folds
        self._lay_out()
        self.go_to(run.stream, line)
