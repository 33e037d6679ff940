"""A column of rows with a cursor, however many: what lists of lines, nodes and facts have in common."""

from abc import abstractmethod
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from sightline.tui.common.keys import named
from sightline.tui.common.part_styles import Styled
from sightline.tui.common.row_pane import RowPane


class RowView(Styled, RowPane, can_focus=True):
    """Draws only the rows on the screen. A subclass says how many there are, draws one, and what choosing one does."""

    PREFIX = "row-view"
    PARTS: ClassVar[tuple[str, ...]] = ("dim", "strong", "accent", "key", "error")
    COMPONENT_CLASSES: ClassVar = {f"row-view--{part}" for part in (*PARTS, "cursor")}
    BINDINGS: ClassVar[list[BindingType]] = named(
        "rows",
        [
            Binding("down,j", "move(1)", "Down", show=False),
            Binding("up,k", "move(-1)", "Up", show=False),
            Binding("pagedown,space,ctrl+f", "page(1)", "Page down", show=False),
            Binding("pageup,b,ctrl+b", "page(-1)", "Page up", show=False),
            Binding("ctrl+d", "page(0.5)", "Half a page down", show=False),
            Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False),
            Binding("home,g", "top", "First row", show=False),
            Binding("end,G", "bottom", "Last row", key_display="G", show=False),
        ],
    )

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._row_count = 0
        self._cursor = 0

    @property
    def cursor(self) -> int:
        """The row that the cursor stands on, from 0."""
        return self._cursor

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return self._row_count

    def set_rows(self, count: int, *, cursor: int | None = None) -> None:
        """There are so many rows now, and they may be others.

        Args:
            count: of the rows.
            cursor: the row that the cursor goes to; it stays by default.
        """
        self._row_count = count
        self.set_height(count)
        self.move_to(self._cursor if cursor is None else cursor)
        self.refresh()

    @abstractmethod
    def draw(self, at: int, width: int) -> Strip:
        """A row, as wide as that or wider."""

    def choose(self) -> None:
        """The row under the cursor is meant: it was clicked on twice."""

    def move_to(self, at: int) -> None:
        """Put the cursor on a row and bring it into sight."""
        self._cursor = max(0, min(at, self._row_count - 1))
        top, height = self.scroll_offset.y, self.size.height
        if self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False, force=True)
        elif height and self._cursor >= top + height:
            self.scroll_to(y=self._cursor - height + 1, animate=False, force=True)
        self.refresh()
        self.cursor_moved()

    def cursor_moved(self) -> None:
        """The cursor may stand on another row."""

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self.move_to(self._cursor)

    def render_line(self, y: int) -> Strip:
        """A row on the screen."""
        at, width, base = self.scroll_offset.y + y, self.columns, self.own_style
        if at >= self._row_count:
            return Strip.blank(width, base)
        strip = self.draw(at, width).crop_extend(0, width, base)
        if at == self._cursor:
            cursor = self.get_component_rich_style("row-view--cursor", partial=True)
            return Strip(Segment.apply_style(strip, post_style=cursor), strip.cell_length)
        return strip

    def action_move(self, rows: int) -> None:
        """Move the cursor by rows."""
        self.move_to(self._cursor + rows)

    def action_page(self, pages: float) -> None:
        """Move the cursor by pages."""
        rows = int(pages * max(self.size.height - 1, 1))
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, force=True)
        self.move_to(self._cursor + rows)

    def action_top(self) -> None:
        """Move to the first row."""
        self.move_to(0)

    def action_bottom(self) -> None:
        """Move to the last row."""
        self.move_to(self._row_count - 1)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the row clicked on; twice to choose it."""
        at = self.scroll_offset.y + event.y
        if at < self._row_count:
            self.move_to(at)
            if event.chain > 1:
                self.choose()
