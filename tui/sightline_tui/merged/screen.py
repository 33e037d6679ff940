"""The screen of outputs merged by time: their names above, below the lines of all of them in the order they came."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading
from sightline_tui.common.bar import Bar
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.messages import LineChosen, StoreChanged
from sightline_tui.common.phrases import counted, duration, name_of
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.store_screen import SETTLE_SECONDS, StoreScreen
from sightline_tui.common.strips import StripPart
from sightline_tui.common.theme import load_style
from sightline_tui.merged.merged_lines import MergedLines, MergedRow, clock_text
from sightline_tui.merged.merged_rows import COLOURS, MergedRows, letter_of

_MOST_NAMED = 6
"""Outputs that the head names; the rows name them all where they begin."""


class _Merged(NamedTuple):
    """Lines merged anew, and the row for the cursor."""

    lines: MergedLines
    cursor: int


_Read = _Merged | dict[int, str] | LineChosen


class MergedScreen(StoreScreen[None]):
    """Shows two or more outputs as one, by time. Outputs that still run go on."""

    CSS_PATH = "merged.tcss"
    AUTO_FOCUS = "#merged"
    BINDINGS: ClassVar[list[BindingType]] = named(
        "merged",
        [
            Binding("F", "follow", "Follow"),
            Binding("escape,q,M", "dismiss", "Back", key_display="Esc"),
        ],
    )

    def __init__(self, store: Reading, buffers: Sequence[Buffer], clock: Callable[[], float]) -> None:
        """Make the screen of at least two outputs."""
        super().__init__()
        self._store = store
        self._clock = clock
        self._wanted = list(buffers)
        self._merged: MergedLines | None = None
        self._is_stale = True
        self._follows = False
        self._chosen: int | None = None
        self._reads: StoreRead[_Read] = StoreRead(self, self._plan, self._take, dropped=_drop)

    def compose(self) -> ComposeResult:
        """Lay out head, rows and keys."""
        load_style(self.app, "common/row_view")
        head = Bar(id="merged-head")
        head.styles.height = 1 + min(len(self._wanted), _MOST_NAMED)
        yield head
        yield MergedRows()
        yield KeyBar()

    def on_mount(self) -> None:
        """Start reading."""
        self.tell()
        self.read()

    def on_unmount(self) -> None:
        """Close the outputs."""
        if self._merged is not None:
            self._merged.close()

    def read(self) -> None:
        """Merge anew if an output has gone on; a merged output that has ended never changes."""
        self._is_stale = self._merged is None or any(one.state == "running" for one in self._merged.buffers)
        super().read()

    def store_changed(self, message: StoreChanged) -> None:
        """Merge anew after growth of one of the outputs, too."""
        if self._settling is None and message.live.intersection(one.name for one in self._wanted):
            self._settling = self.set_timer(SETTLE_SECONDS, self._settled)
        super().store_changed(message)

    def _plan(self) -> Callable[[], _Read] | None:
        merged, rows = self._merged, self.query_one(MergedRows)
        if self._is_stale or merged is None:
            self._is_stale = False
            here = merged.row(rows.cursor) if merged is not None and len(merged) else None
            return lambda: self._merge(here)
        if self._chosen is not None:
            at, self._chosen = self._chosen, None
            return lambda: LineChosen(*merged.place(at))
        if wanted := rows.unread():
            return lambda: merged.texts(*wanted)
        return None

    def _merge(self, here: MergedRow | None) -> _Merged:
        lines = MergedLines(self._store, [self._newest(one) for one in self._wanted])
        return _Merged(lines, lines.find(here.source, here.number) if here else 0)

    def _newest(self, buffer: Buffer) -> Buffer:
        return self._store.with_progress(self._store.index.buffer(buffer.name) or buffer)

    def _take(self, read: _Read) -> None:
        rows = self.query_one(MergedRows)
        if isinstance(read, LineChosen):
            self.app.post_message(read)
        elif isinstance(read, _Merged):
            before, self._merged = self._merged, read.lines
            rows.show(read.lines, len(read.lines) - 1 if self._follows else read.cursor)
            if before is not None:
                before.close()
            self.tell()
            self._reads.ask()
        else:
            rows.put(read)

    def on_merged_rows_moved(self) -> None:
        """Read the lines that have come into sight."""
        self._reads.ask()

    def on_merged_rows_chosen(self, message: MergedRows.Chosen) -> None:
        """Go to the line in its output."""
        self._chosen = message.at
        self._reads.ask()

    def action_follow(self) -> None:
        """Keep to the newest line as it comes; called again, stop."""
        self._follows = not self._follows
        rows = self.query_one(MergedRows)
        if self._follows:
            rows.move_to(rows.row_count - 1)
        self.tell()

    def tell(self) -> None:
        """Show which outputs these are, and of which the times of lines are not known."""
        merged = self._merged
        buffers = merged.buffers if merged else sorted(self._wanted, key=lambda one: one.created)
        live = [StripPart("  live", "running")] if self._follows else []
        lines = sum(one.lines for one in buffers)
        head = [StripPart(" ◉ ", "accent"), StripPart("Merged by time", "strong"), *live]
        told = counted(lines, "line") if merged else "reading…"
        if merged and merged.left_out:
            told = f"the first of {told}: {merged.left_out:,} are left out"
        rows = [(head, [StripPart(f"{counted(len(buffers), 'output')} · {told} ", "dim")])]
        for source, one in enumerate(buffers[:_MOST_NAMED]):
            known = merged is None or merged.timed[source]
            doubt = "" if known else "  when its lines came is not known: they stand at its begin"
            took = f" for {duration(one, self._clock())}" if duration(one, self._clock()) else ""
            parts = [
                StripPart(f" {letter_of(source)} ", COLOURS[source % len(COLOURS)]),
                StripPart(f"{one.ref}  ", "dim"),
                StripPart(name_of(one)),
            ]
            rows.append(
                ([*parts, StripPart(doubt, "interrupted")], [StripPart(f"{clock_text(one.created)}{took} ", "dim")])
            )
        self.query_one("#merged-head", Bar).say(*rows)


def _drop(read: _Read) -> None:
    if isinstance(read, _Merged):
        read.lines.close()
