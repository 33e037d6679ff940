"""Draws those calls of a timeline that are on the screen, however many there are, and follows the last one."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from sightline_tui.common.keys import named
from sightline_tui.common.messages import State
from sightline_tui.common.row_view import RowView
from sightline_tui.common.strips import row
from sightline_tui.timeline.call_parts import CallLook, row_parts
from sightline_tui.timeline.call_reader import Row, place_of

_FAINT = ("dim",)  # not in the cursor's row: with 16 colours its background is the same


class CallRows(RowView):
    """Calls and notes, oldest first. Scrolling up stops following the last one."""

    PARTS = (
        *RowView.PARTS,
        *("failed", "cut", "again", "session", "verb", "ref", "note", "program", "option", "quoted", "join"),
    )
    BINDINGS: ClassVar[list[BindingType]] = named(
        "calls",
        [
            Binding("enter", "choose", "Open"),
            Binding("F", "follow", "Follow", show=False),
        ],
    )

    class Moved(State):
        """The cursor has moved to another row, or its row has changed."""

    class Chosen(Message):
        """A person wants to see the lines of a call."""

    def __init__(self) -> None:
        super().__init__(id="calls")
        self._rows: Sequence[Row] = ()
        self._look = CallLook(0.0, everyone=True, titles={})
        self.following = True

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if self._rows else None

    @property
    def rows(self) -> Sequence[Row]:
        """All rows."""
        return self._rows

    def show(self, rows: Sequence[Row], look: CallLook) -> None:
        """Show other rows; the cursor stays on its row, or follows the last one."""
        row, was_following = self.row, self.following
        at = len(rows) - 1 if was_following or row is None else place_of(rows, row)
        below = self.cursor - self.scroll_offset.y
        self._rows, self._look = rows, look
        moved = at >= 0 and at != self.cursor and not was_following
        self.set_rows(len(rows), cursor=at if at >= 0 else self.cursor)
        if moved:  # the cursor's row keeps its place on the screen
            self.scroll_to(y=at - below, animate=False, force=True)
        self.following = was_following
        self.post_message(self.Moved())

    @property
    def room(self) -> int:
        """Cells of a row, without the scrollbar."""
        return self.columns - 1

    def look(self, look: CallLook) -> None:
        """Draw the same rows with another look."""
        if look != self._look:
            self._look = look
            self.refresh()

    def draw(self, at: int, width: int) -> Strip:
        """Draw a row."""
        styles = self.part_styles
        if at == self.cursor:
            styles = styles.without(_FAINT)
        return row(row_parts(self._rows[at], self.room, self._look), (), width, self.own_style, styles)

    def cursor_moved(self) -> None:
        """Follow the last row if the cursor is on it."""
        self.following = self.cursor >= self.row_count - 1
        self.post_message(self.Moved())

    def choose(self) -> None:
        """Go to the lines of the call; if it has none, to what stands in their place."""
        self.post_message(self.Chosen())

    def action_follow(self) -> None:
        """Go to the last row, and follow it."""
        self.action_bottom()
