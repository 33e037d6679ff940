"""The rows of merged outputs: when a line came, of which output it is, and the line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from sightline.base.records import Buffer
from sightline_tui.common.keys import named
from sightline_tui.common.phrases import MARKS, ending, name_of, state_of
from sightline_tui.common.row_view import RowView
from sightline_tui.common.strips import StripPart, row
from sightline_tui.merged.merged_lines import MergedLines, MergedRow, clock_text

COLOURS = ("accent", "key", "running", "ok", "interrupted")
"""The style of each output's letter; from the sixth on they come again, and the letter tells them apart."""


def letter_of(source: int) -> str:
    """Return the letter of an output: ``A``, ``B`` … ``Z``, then ``AA``."""
    return (letter_of(source // 26 - 1) if source >= 26 else "") + chr(ord("A") + source % 26)


def row_parts(one: MergedRow, buffer: Buffer, text: str | None) -> list[StripPart]:
    """Return the parts of a row; a text of None is still read."""
    colour = COLOURS[one.source % len(COLOURS)]
    lead = [StripPart(f" {clock_text(one.time)} ", "dim"), StripPart(f"{letter_of(one.source)} ", colour)]
    if one.is_line:
        return [*lead, StripPart("…", "dim") if text is None else StripPart(text)]
    if one.number == 0:
        return [*lead, StripPart("begins: ", "dim"), StripPart(name_of(buffer), "strong")]
    state = state_of(buffer)
    return [*lead, StripPart(f"{MARKS[state]} {ending(buffer)}", state), StripPart(f": {name_of(buffer)}", "dim")]


class MergedRows(RowView):
    """Lines of all outputs, in the order in which they came."""

    PARTS = (*RowView.PARTS, "running", "ok", "failed", "unknown", "interrupted", "evicted")
    COMPONENT_CLASSES: ClassVar = {f"row-view--{part}" for part in (*PARTS, "cursor")}
    BINDINGS: ClassVar[list[BindingType]] = named(
        "merged",
        [
            Binding("enter", "choose", "Open"),
            Binding("right_square_bracket", "other(1)", "Next line of another output", key_display="]", show=False),
            Binding("left_square_bracket", "other(-1)", "Line of another output before", key_display="[", show=False),
        ],
    )

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """A person wants to see a row in its output."""

        at: int

    class Moved(Message):
        """Other rows are in sight, or the cursor is on another one."""

    def __init__(self) -> None:
        super().__init__(id="merged")
        self._merged: MergedLines | None = None
        self._texts: Mapping[int, str] = {}

    def show(self, merged: MergedLines, cursor: int) -> None:
        """Show other lines, with the cursor on one."""
        self._merged, self._texts = merged, {}
        self.set_rows(len(merged), cursor=cursor)

    def unread(self) -> tuple[int, int] | None:
        """Return the first and last row around those in sight, if any in sight is not read."""
        first, last = self.first_row, min(self.first_row + self.size.height, self.row_count) - 1
        merged = self._merged
        if merged is None or all(at in self._texts or not merged.row(at).is_line for at in range(first, last + 1)):
            return None
        return max(first - self.size.height, 0), last + self.size.height

    def put(self, texts: Mapping[int, str]) -> None:
        """Take in the texts of rows around those in sight; all others are forgotten."""
        self._texts = texts
        self.refresh()

    def draw(self, at: int, width: int) -> Strip:
        """Draw a row."""
        merged = self._merged
        if merged is None:
            return Strip.blank(width, self.own_style)
        one = merged.row(at)
        parts = row_parts(one, merged.buffers[one.source], self._texts.get(at))
        return row(parts, (), width, self.own_style, self.part_styles)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Have the rows that come into sight read."""
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Moved())

    def cursor_moved(self) -> None:
        """Have the rows that came into sight read."""
        self.post_message(self.Moved())

    def choose(self) -> None:
        """Go to the line in its output."""
        if self.row_count:
            self.post_message(self.Chosen(self.cursor))

    def action_other(self, step: int) -> None:
        """Go to the next row of another output, or the one before."""
        merged = self._merged
        if merged is None or not self.row_count:
            return
        here = merged.row(self.cursor).source
        rows = range(self.cursor, self.row_count if step > 0 else -1, step)
        if (found := next((at for at in rows if merged.row(at).source != here), None)) is not None:
            self.move_to(found)
