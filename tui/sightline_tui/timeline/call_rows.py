"""Draws those calls of a timeline that are on the screen, however many there are, and follows the last one."""

from bisect import bisect_right
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
from sightline_tui.timeline.call_reader import Row, id_of, place_of
from sightline_tui.timeline.unfolded import UnfoldedLine, unfolded

_FAINT = ("dim",)  # not in the cursor's row: with 16 colours its background is the same


class CallRows(RowView):
    """Calls and what came between them, oldest first. Scrolling up stops following the last one.

    A row that is unfolded has lines below it, over which the cursor moves, too.
    """

    PARTS = (
        *RowView.PARTS,
        *(
            "added",
            "removed",
            "failed",
            "cut",
            "again",
            "session",
            "verb",
            "ref",
            "note",
            "program",
            "option",
            "quoted",
            "join",
        ),
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
        self._lines: Sequence[Row | UnfoldedLine] = ()
        self._starts: Sequence[int] = ()  # places of the rows among the lines
        self._unfolded = set[str]()  # ids of rows
        self._look = CallLook(0.0, everyone=True, titles={})
        self.following = True

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        line = self._lines[self.cursor] if self._lines else None
        return line.row if isinstance(line, UnfoldedLine) else line

    @property
    def place(self) -> int:
        """Place of the cursor's row among the rows, from 0."""
        return bisect_right(self._starts, self.cursor) - 1

    @property
    def rows(self) -> Sequence[Row]:
        """All rows."""
        return self._rows

    def show(self, rows: Sequence[Row], look: CallLook) -> None:
        """Show other rows; the cursor stays on its row, or follows the last one."""
        row, was_following = self.row, self.following
        place = len(rows) - 1 if was_following or row is None else place_of(rows, row)
        below, within = self.cursor - self.scroll_offset.y, self.cursor - self._starts[self.place] if self._lines else 0
        self._rows, self._look = rows, look
        self._lay_out()
        at = self._starts[place] + within if place >= 0 else -1
        moved = at >= 0 and at != self.cursor and not was_following
        self.set_rows(len(self._lines), cursor=at if at >= 0 else self.cursor)
        if moved:  # the cursor's row keeps its place on the screen
            self.scroll_to(y=at - below, animate=False, force=True)
        self.following = was_following
        self.post_message(self.Moved())

    def _lay_out(self) -> None:
        """Put the lines of the unfolded rows below them."""
        self._lines, self._starts = self._rows, range(len(self._rows))
        if not self._unfolded:
            return
        lines, starts = list[Row | UnfoldedLine](), list[int]()
        for one in self._rows:
            starts.append(len(lines))
            lines.append(one)
            lines += unfolded(one, self.room) if id_of(one) in self._unfolded else ()
        self._lines, self._starts = lines, starts

    def on_resize(self) -> None:
        """Wrap unfolded words anew."""
        if self._unfolded:
            place = self.place
            self._lay_out()
            self.set_rows(len(self._lines), cursor=self._starts[place] if self._rows else 0)

    def unfold(self) -> None:
        """Show all of the cursor's row below it, or fold it again."""
        if (row := self.row) is not None:
            place, self._unfolded = self.place, self._unfolded ^ {id_of(row)}
            self._lay_out()
            self.set_rows(len(self._lines), cursor=self._starts[place])

    def go_to(self, place: int, *, unfolds: bool = False) -> None:
        """Put the cursor on a row by its place among the rows, below the middle of the screen, perhaps unfolded."""
        row = self._rows[place]
        if unfolds and id_of(row) not in self._unfolded:
            self._unfolded.add(id_of(row))
            self._lay_out()
            self.set_rows(len(self._lines), cursor=self._starts[place])
        at = self._starts[place]
        self.scroll_to(y=max(at - self.size.height // 3, 0), animate=False, force=True)
        self.move_to(at)

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
        line = self._lines[at]
        parts = line.parts if isinstance(line, UnfoldedLine) else row_parts(line, self.room, self._look)
        return row(parts, (), width, self.own_style, styles)

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
