"""The strip beside the viewer: the whole output from top to bottom, and the window's place in it.

It replaces the viewer's scrollbar. The width of a bar tells how much of each part was seen; a sign beside it tells
what must not be missed there.
"""

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.scrollbar import ScrollBar, ScrollTo
from textual.strip import Strip

from sightline_tui.common.messages import PlaceMeant
from sightline_tui.common.part_styles import Styled
from sightline_tui.common.phrases import PARTIAL
from sightline_tui.common.row_pane import BareRows
from sightline_tui.common.textual_internals import keep_rows_in

if TYPE_CHECKING:  # loaded with the audit
    from sightline_tui.viewer.overview import Cell

COLUMNS = 2
_BARS = " ▏▎▍▌▋▊▉█"
_ASKED_BAR = "·"
_LOST_BARS = {"gone": " ░▒▓", "unsure": " ┆┆┆"}
"""Of what no context has any more, from nothing to all of it; and of that of which nobody tells."""
_SIGNS = {"overlooked": "!", "note": "✎", "failure": "•", "gap": PARTIAL}


class OverviewStrip(Styled, ScrollBar):
    """A click or a drag scrolls to that place; a click on a sign, to the very line."""

    PREFIX = "overview"
    PARTS = (
        *("exact", "matched", "here", "asked", "overlooked", "note", "failure", "gap", "held", "gone", "unsure"),
        "thumb",
    )
    COMPONENT_CLASSES: ClassVar = {f"overview--{part}" for part in PARTS}

    def __init__(self) -> None:
        super().__init__(vertical=True, name="vertical", thickness=COLUMNS)
        keep_rows_in(self, BareRows())
        self._cells: tuple[Cell, ...] = ()

    @property
    def cells(self) -> "tuple[Cell, ...]":
        """The cells of its rows, from the top; empty before they are known."""
        return self._cells

    def show(self, cells: "tuple[Cell, ...]") -> None:
        """Show another output, or the output as it is now."""
        if cells != self._cells:
            self._cells = cells
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw a row: the sign and the bar."""
        base, is_here = self.own_style, self._is_in_window(y)
        if is_here:
            base += self.part_style("held" if self.mouse_over or self.grabbed else "thumb")
        cell = self._cells[y] if y < len(self._cells) else None
        if cell is None:
            return Strip([Segment(" " * COLUMNS, base)], COLUMNS)
        bar, part = _BARS[cell.eighths], "here" if is_here else "exact" if cell.is_exact else "matched"
        if not cell.eighths and cell.is_asked:
            bar, part = _ASKED_BAR, "asked"
        elif cell.fate == "partly":
            part = "gone"
        elif cell.fate:
            bar, part = _LOST_BARS[cell.fate][-(-cell.eighths * 3 // (len(_BARS) - 1))], cell.fate
        sign = Segment(_SIGNS[cell.holds], base + self.part_style(cell.holds)) if cell.holds else Segment(" ", base)
        return Strip([sign, Segment(bar, base + self._ink(part))], COLUMNS)

    def _ink(self, part: str) -> Style:
        return Style(color=self.part_style(part).color)

    def _is_in_window(self, y: int) -> bool:
        """Return whether a row stands for lines on the screen; False for all rows if all lines are on the screen."""
        total, shown, rows = self.window_virtual_size, self.window_size, self.size.height
        if shown >= total or not rows:
            return False
        top = int(self.position)
        return top * rows // total <= y <= (top + shown - 1) * rows // total

    # mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go to the row, and follow the mouse until its button is released."""
        event.stop()
        event.prevent_default()
        self.capture_mouse()
        cell = self._cells[event.y] if 0 <= event.y < len(self._cells) else None
        if cell is not None and cell.place:
            self.post_message(PlaceMeant(str(cell.place)))
        else:
            self._go_to(event.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the window along."""
        event.stop()
        event.prevent_default()
        if self.grabbed:
            self._go_to(event.y)

    def _go_to(self, y: int) -> None:
        """Scroll so that the lines of a row stand in the middle of the window."""
        lines, rows = self.window_virtual_size, max(self.size.height, 1)
        line = (y + 0.5) * lines / rows - self.window_size / 2
        self.post_message(ScrollTo(y=max(0.0, min(line, float(lines - self.window_size))), animate=False))
