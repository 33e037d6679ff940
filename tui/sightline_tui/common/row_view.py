"""Any number of rows with a cursor: the common part of the list of buffers and of all other lists."""

from abc import abstractmethod
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from sightline_tui.common.keys import named
from sightline_tui.common.part_styles import Styled
from sightline_tui.common.row_pane import RowPane


def row_keys(first: str, last: str) -> list[Binding]:
    """Return the keys that move a cursor over rows; the arguments name the first and the last row."""
    return [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("pagedown,space,ctrl+f", "page(1)", "Page down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("ctrl+d", "page(0.5)", "Half a page down", show=False),
        Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False),
        Binding("home,g", "top", first, show=False),
        Binding("end,G", "bottom", last, show=False),
    ]


class RowTable(Styled, RowPane, can_focus=True):
    """Draws only visible rows, and moves the cursor. A subclass says what the rows are, and where."""

    @property
    @abstractmethod
    def cursor(self) -> int:
        """The row of the cursor, from 0."""

    @property
    @abstractmethod
    def row_count(self) -> int:
        """Number of rows."""

    @abstractmethod
    def move_to(self, at: int) -> None:
        """Put the cursor on a row, or on the nearest one, and make it visible."""

    @property
    def row_lines(self) -> int:
        """Lines of the screen that a row takes."""
        return 1

    @property
    def first_row(self) -> int:
        """The topmost visible row."""
        return self.scroll_offset.y // self.row_lines

    @property
    def whole_rows(self) -> int:
        """Number of rows that fit."""
        return max(self.size.height // self.row_lines, min(self.size.height, 1))

    @property
    def cursor_in_sight(self) -> bool:
        """Whether the cursor's row is visible."""
        line, height = self.cursor * self.row_lines - self.scroll_offset.y, self.size.height
        return 0 <= line < height and line + min(self.row_lines, height) <= height

    def bring_cursor_into_sight(self) -> None:
        """Scroll just far enough to show the cursor."""
        lines, rows = self.row_lines, self.whole_rows
        if self.cursor * lines < self.scroll_offset.y:
            self.scroll_to(y=self.cursor * lines, animate=False, force=True)
        elif rows and (self.cursor + 1) * lines > self.scroll_offset.y + self.size.height:
            self.scroll_to(y=(self.cursor - rows + 1) * lines, animate=False, force=True)

    def page_rows(self, pages: float) -> int:
        """Return the number of rows in these pages, each of which keeps one row of the page before."""
        return int(pages * max(self.whole_rows - 1, 1))

    def action_move(self, rows: int) -> None:
        """Move the cursor by rows."""
        self.move_to(self.cursor + rows)

    def action_page(self, pages: float) -> None:
        """Move the cursor by pages."""
        self.move_to(self.cursor + self.page_rows(pages))

    def action_top(self) -> None:
        """Move to the first row."""
        self.move_to(0)

    def action_bottom(self) -> None:
        """Move to the last row."""
        self.move_to(self.row_count - 1)


class RowView(RowTable):
    """Rows in memory. A subclass says how many there are, draws one, and says what choosing one does."""

    PREFIX = "row-view"
    PARTS: ClassVar[tuple[str, ...]] = ("dim", "strong", "accent", "key", "error")
    COMPONENT_CLASSES: ClassVar = {f"row-view--{part}" for part in (*PARTS, "cursor")}
    BINDINGS: ClassVar[list[BindingType]] = named("rows", row_keys("First row", "Last row"))

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._row_count = 0
        self._cursor = 0

    @property
    def cursor(self) -> int:
        """The row of the cursor, from 0."""
        return self._cursor

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return self._row_count

    def set_rows(self, count: int, *, cursor: int | None = None) -> None:
        """Set the number of rows, which may be other rows than before.

        Args:
            count: number of rows.
            cursor: the row for the cursor; by default it stays.
        """
        self._row_count = count
        self.set_height(count)
        self.move_to(self._cursor if cursor is None else cursor)
        self.refresh()

    @abstractmethod
    def draw(self, at: int, width: int) -> Strip:
        """Draw a row, at least this wide."""

    def choose(self) -> None:
        """Act on the row under the cursor, at Enter or a double click."""

    def move_to(self, at: int) -> None:
        """Put the cursor on a row, and make it visible."""
        self._cursor = max(0, min(at, self._row_count - 1))
        self.bring_cursor_into_sight()
        self.refresh()
        self.cursor_moved()

    def cursor_moved(self) -> None:
        """Act on the cursor's move to another row."""

    def on_resize(self) -> None:
        """Keep the cursor visible."""
        self.move_to(self._cursor)

    def render_line(self, y: int) -> Strip:
        """Draw a row of the screen."""
        at, width, base = self.scroll_offset.y + y, self.columns, self.own_style
        if at >= self._row_count:
            return Strip.blank(width, base)
        strip = self.draw(at, width).crop_extend(0, width, base)
        if at == self._cursor:
            cursor = self.get_component_rich_style("row-view--cursor", partial=True)
            return Strip(Segment.apply_style(strip, post_style=cursor), strip.cell_length)
        return strip

    def action_page(self, pages: float) -> None:
        """Scroll by pages, with the cursor."""
        self.scroll_to(y=self.scroll_offset.y + self.page_rows(pages), animate=False, force=True)
        super().action_page(pages)

    def action_choose(self) -> None:
        """Choose the row, at Enter."""
        self.choose()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the clicked row; a second click chooses it."""
        at = self.scroll_offset.y + event.y
        if at < self._row_count:
            self.move_to(at)
            if event.chain > 1:
                self.choose()
