"""The comparison itself: hunks of two outputs, side by side or under each other, of which only what is seen is read."""

from typing import ClassVar

from rich.style import Style
from sightline.tui.diff.comparing import Compared
from sightline.tui.diff.row_strips import Look, RowStrips
from sightline.tui.diff.rows import Kind, Row, Rows
from sightline.tui.failures import STORE_ERRORS, tell
from sightline.tui.keys import named
from sightline.tui.messages import DiffMoved, SideLinesChosen
from sightline.tui.widgets.styled import Styled
from sightline.tui.widgets.tall import Tall
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.strip import Strip

_COLUMN_STEP = 8
_MAX_COUNT_DIGITS = 15
_LOOKED_AT = 5_000  # rows at each end of a selection where its first and last line are looked for
_KEPT_ABOVE = 3  # rows that stay in sight above a hunk that one goes to


class DiffView(Styled, Tall, can_focus=True):
    """Rows with a cursor, which stands on one of the two sides."""

    PREFIX = "diff-view"
    PARTS = (
        "gutter", "mark", "removed", "added", "removed-word", "added-word", "ignored", "blank", "fold", "control",
        "cursor", "selected",
    )  # fmt: skip
    COMPONENT_CLASSES: ClassVar = {f"diff-view--{part}" for part in PARTS}
    BINDINGS: ClassVar[list[BindingType]] = [
        *named(
            "diff",
            [
                Binding("n,right_square_bracket", "hunk(1)", "Next change", key_display="n"),
                Binding("N,left_square_bracket,p", "hunk(-1)", "Previous change", show=False),
                Binding("enter", "choose", "Open", key_display="⏎"),
                Binding("z", "fold", "Fold equal parts, or none", show=False),
                Binding("y", "copy_text", "Copy the selected lines, or the ref of the change", show=False),
                Binding("Y", "copy_ref", "Copy the ref of the selected lines, or of the change", show=False),
                Binding("tab,shift+tab", "other_side", "Other side", show=False),
                Binding("v", "select", "Select lines", show=False),
                Binding("down,j", "move(1)", "Line down", show=False),
                Binding("up,k", "move(-1)", "Line up", show=False),
                Binding("pagedown,space,ctrl+f", "page(1)", "Page down", show=False),
                Binding("pageup,b,ctrl+b", "page(-1)", "Page up", show=False),
                Binding("ctrl+d", "page(0.5)", "Half a page down", show=False),
                Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False),
                Binding("home,g", "edge(-1)", "Top, or line N after typing N", show=False),
                Binding("end,G", "edge(1)", "Bottom, or line N after typing N", show=False),
                Binding("right,l", "sideways(1)", "Scroll right", show=False),
                Binding("left,h", "sideways(-1)", "Scroll left", show=False),
                Binding("circumflex_accent", "line_start", "Start of the lines", show=False),
                Binding("dollar_sign", "line_end", "End of the longest line shown", show=False),
                Binding("escape", "let_go", "Forget selection and number", show=False),
            ],
        ),
        *(Binding(str(digit), f"digit({digit})", show=False) for digit in range(10)),
    ]

    def __init__(self) -> None:
        super().__init__(id="diff-view")
        self._compared: Compared | None = None
        self._strips: RowStrips | None = None
        self._unified = False
        self._cursor = 0
        self._anchor: int | None = None
        self._right = True
        self._column = 0
        self._count = ""

    # what it shows

    @property
    def unified(self) -> bool:
        """Whether the sides stand under each other."""
        return self._unified

    @property
    def rows(self) -> Rows | None:
        """The rows that it shows."""
        return self._strips.rows if self._strips is not None else None

    def show(self, compared: Compared, *, unified: bool) -> None:
        """Show a comparison, which it closes when it shows another; at the same line where it showed the same sides."""
        line = self._line_at(self._cursor) if self._compared is not None else None
        self._close()
        self._compared = compared
        self._lay_out(unified)
        self._go_to(self._row_of(line) if line is not None else self._first_hunk(), lead=_KEPT_ABOVE)

    def lay_out(self, *, unified: bool) -> None:
        """Show the same side by side, or under each other."""
        if self._compared is not None and unified != self._unified:
            line = self._line_at(self._cursor)
            self._lay_out(unified)
            self._go_to(self._row_of(line))

    def _lay_out(self, unified: bool) -> None:
        assert self._compared is not None
        folds = self.rows.folds if self.rows is not None else True
        self._unified = unified
        rows = Rows(self._compared.comparison, unified=unified)
        if not folds:
            rows.fold(False)
        self._strips = RowStrips(self._compared, rows, unified=unified)
        self._anchor = None
        self._resize_to_rows()

    def _resize_to_rows(self) -> None:
        self.set_height(len(self.rows or ()))
        self.refresh()

    def _close(self) -> None:
        if self._compared is not None:
            self._compared.close()
        self._compared = self._strips = None

    def on_unmount(self) -> None:
        """Close the files."""
        self._close()

    # drawing

    @property
    def _width(self) -> int:
        """Cells of a row, the scrollbar's not among them."""
        return self.scrollable_content_region.width

    def render_line(self, y: int) -> Strip:
        """A row on the screen."""
        at, width, base = self.scroll_offset.y + y, self._width, self.own_style
        if self._strips is None or at >= len(self._strips.rows):
            return Strip.blank(width, base)
        look = Look(width, self._column, base, self.part_styles, self._own_part(at), self._right)
        try:
            return self._strips.draw(self._strips.rows[at], look)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return Strip.blank(width, base)

    def _own_part(self, at: int) -> str:
        if at == self._cursor:
            return "cursor"
        first, last = self._selected()
        return "selected" if self._anchor is not None and first <= at <= last else "gutter"

    def _part_style(self, component: str) -> Style:
        """A background given as a share of another is wanted as it comes out."""
        own, whole = super()._part_style(component), self.get_component_rich_style(component)
        return own + Style(bgcolor=whole.bgcolor) if own.bgcolor is not None else own

    def notify_style_update(self) -> None:
        """Colours have changed: what was drawn in the old ones goes."""
        super().notify_style_update()
        if self._strips is not None:
            self._strips.forget()

    # places

    def _line_at(self, at: int) -> tuple[int, bool]:
        """A line that a row shows, and whether it is one of the right."""
        if self._strips is None or not len(self._strips.rows):
            return 1, True
        left, right = self._lines(self._strips.rows[at])
        return (right, True) if right and (self._right or not left) else (left, False)

    def _lines(self, row: Row) -> tuple[int, int]:
        try:
            return self._strips.lines(row) if self._strips is not None else (0, 0)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return row.left, row.right

    def _row_of(self, line: tuple[int, bool]) -> int:
        return self.rows.row_of_line(line[0], right=line[1]) if self.rows is not None else 0

    def _first_hunk(self) -> int:
        return self.rows.row_of_hunk(0) if self.rows is not None and self.rows.hunk_count else 0

    def _go_to(self, at: int, *, lead: int | None = None, extent: int = 1) -> None:
        """Put the cursor on a row and bring it into sight.

        Args:
            at: the row.
            lead: rows to be seen above it, where one has to scroll; None to scroll no further than needed.
            extent: rows from it on that are wanted in sight, as far as they fit.
        """
        self._cursor = max(0, min(at, len(self.rows or ()) - 1))
        # Before it was ever laid out, it will be about as high as the screen.
        top, height = self.scroll_offset.y, self.size.height or self.app.size.height
        if lead is None:
            wanted = min(max(top, self._cursor - height + 1), self._cursor)
        else:
            lead = min(lead, height - 1)
            seen = top <= self._cursor and self._cursor + min(extent, height - lead) <= top + height
            wanted = top if seen else max(self._cursor - lead, 0)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False, force=True)
        self.refresh()
        if self.rows is not None:
            self.post_message(DiffMoved(self.rows.hunk_near(self._cursor) + 1))

    # keys

    def action_move(self, rows: int) -> None:
        """Move the cursor, by as many rows as were typed."""
        self._go_to(self._cursor + rows * (self._taken_count() or 1))

    def action_page(self, pages: float) -> None:
        """Scroll by pages, the cursor keeping its place on the screen; at an end it goes to the very row."""
        self._count = ""
        rows, top = int(pages * max(self.size.height - 1, 1)), self.scroll_offset.y
        self.scroll_to(y=top + rows, animate=False, force=True)
        if self.scroll_offset.y == top:
            rows = len(self.rows or ()) * (1 if rows > 0 else -1)
        self._go_to(self._cursor + rows)

    def action_edge(self, way: int) -> None:
        """Go to the first row or the last, or to the line typed, of the side where the cursor is."""
        if count := self._taken_count():
            self._go_to(self._row_of((count, self._right)), lead=self.size.height // 3)
        else:
            self._go_to(0 if way < 0 else len(self.rows or ()))

    def action_hunk(self, way: int) -> None:
        """Go to the next or the previous hunk."""
        if self.rows is None:
            return
        part = self.rows.next_hunk(self._cursor) if way > 0 else self.rows.previous_hunk(self._cursor)
        if part is None:
            self.notify("No change further down" if way > 0 else "No change further up", timeout=2)
        else:
            self._go_to(self.rows.row_of_hunk(part), lead=_KEPT_ABOVE, extent=self.rows.height_of_hunk(part))

    def action_other_side(self) -> None:
        """Have the cursor on the other side."""
        self._right = not self._right
        self.refresh()

    def action_fold(self) -> None:
        """Fold all equal parts, or show them all."""
        if self.rows is not None:
            line = self._line_at(self._cursor)
            self.rows.fold(not self.rows.folds)
            self._resize_to_rows()
            self._go_to(self._row_of(line))

    def action_choose(self) -> None:
        """Open a fold, or the line in its buffer."""
        if self.rows is None or not len(self.rows):
            return
        row = self.rows[self._cursor]
        if row.kind is Kind.FOLD:
            self.rows.open(row.part)
            self._resize_to_rows()
        else:
            line, right = self._line_at(self._cursor)
            self.post_message(SideLinesChosen(right, line, line))

    def action_select(self) -> None:
        """Begin to select rows, or end it."""
        self._anchor = self._cursor if self._anchor is None else None
        self.refresh()

    def action_copy_text(self) -> None:
        """Have the selected lines copied; without any, the ref."""
        self._copy("text" if self._anchor is not None else "ref")

    def action_copy_ref(self) -> None:
        """Have the ref of the selected lines copied, or of the hunk, or of the line."""
        self._copy("ref")

    def _copy(self, what: str) -> None:
        if self.rows is None or not len(self.rows):
            return
        row = self.rows[self._cursor]
        if self._anchor is None and row.kind not in (Kind.EQUAL, Kind.FOLD):
            hunk = self.rows.hunk(row.part)
            sides = (hunk.left, hunk.left_end - 1), (hunk.right, hunk.right_end - 1)
        else:
            sides = self._selected_lines(right=False), self._selected_lines(right=True)
        right = self._right if sides[self._right][0] <= sides[self._right][1] else not self._right
        self._anchor = None
        self.refresh()
        self.post_message(SideLinesChosen(right, *sides[right], copied=what))

    def _selected_lines(self, *, right: bool) -> tuple[int, int]:
        """First and last line of one side in the selected rows; the last is before the first where there are none."""
        first, last = self._selected()
        near = range(first, min(last, first + _LOOKED_AT) + 1), range(last, max(first, last - _LOOKED_AT) - 1, -1)
        top, bottom = (next(filter(None, (self._ends(at)[right] for at in rows)), (1, 0)) for rows in near)
        return top[0], bottom[1]

    def _ends(self, at: int) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
        """First and last line that a row stands for, left and right."""
        if self.rows is None:
            return None, None
        row = self.rows[at]
        left, right = ((line, line + max(row.hidden - 1, 0)) if line else None for line in self._lines(row))
        return left, right

    def _selected(self) -> tuple[int, int]:
        anchor = self._cursor if self._anchor is None else self._anchor
        return min(anchor, self._cursor), max(anchor, self._cursor)

    def action_sideways(self, steps: int) -> None:
        """Scroll both sides sideways."""
        self._scroll_to_column(self._column + steps * _COLUMN_STEP)

    def action_line_start(self) -> None:
        """Back to the first column."""
        self._scroll_to_column(0)

    def action_line_end(self) -> None:
        """To the end of the longest line on the screen."""
        self._scroll_to_column(self._longest())

    def _scroll_to_column(self, column: int) -> None:
        self._column = max(0, min(column, self._longest()))
        self.refresh()

    def _longest(self) -> int:
        if self._strips is None:
            return 0
        rows = self._strips.rows
        shown = range(self.scroll_offset.y, min(self.scroll_offset.y + self.size.height, len(rows)))
        try:
            widest = max((self._strips.longest(rows[at]) for at in shown), default=0)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return self._column
        return max(widest - self._strips.room(self._width), 0)

    def action_digit(self, digit: int) -> None:
        """Digits are collected for the G that may follow."""
        self._count = f"{self._count}{digit}".lstrip("0")[:_MAX_COUNT_DIGITS]

    def _taken_count(self) -> int:
        count, self._count = int(self._count or 0), ""
        return count

    def action_let_go(self) -> None:
        """Forget the selection and the number typed; without them the key means what it means elsewhere."""
        if self._anchor is None and not self._count:
            raise SkipAction
        self._anchor, self._count = None, ""
        self.refresh()

    # mouse

    def on_click(self, event: events.Click) -> None:
        """Put the cursor there; a fold is opened, a line clicked twice is opened in its buffer."""
        at = self.scroll_offset.y + event.y
        if self.rows is None or at >= len(self.rows):
            return
        if not self._unified:
            self._right = event.x > (self._width - 1) // 2
        self._go_to(at)
        if event.chain > 1 or self.rows[at].kind is Kind.FOLD:
            self.action_choose()
