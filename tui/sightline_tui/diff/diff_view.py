"""The comparison with its keys, which are those of less and vim if these have one for the purpose."""

from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType

from sightline_tui.common.keys import named
from sightline_tui.common.messages import SideLinesChosen
from sightline_tui.diff.comparison_view import KEPT_ABOVE, ComparisonView
from sightline_tui.diff.diff_rows import RowKind

_COLUMN_STEP = 8
_MAX_COUNT_DIGITS = 15
_LOOKED_AT = 5_000  # rows at each end of a selection that are searched for its ends


class DiffView(ComparisonView):
    """Rows with a cursor, which stands on one of the two sides."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *named(
            "diff",
            [
                Binding("n", "next(1)", "Next change", key_display="n"),
                Binding("N", "next(-1)", "Previous change, or hit of the search", show=False),
                Binding("right_square_bracket", "hunk(1)", "Change below, while searching too", show=False),
                Binding("left_square_bracket,p", "hunk(-1)", "Change above, while searching too", show=False),
                Binding("enter", "choose", "Open"),
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
                Binding("escape", "let_go", "Forget selection, number and search", show=False),
            ],
        ),
        *(Binding(str(digit), f"digit({digit})", show=False) for digit in range(10)),
    ]

    # keys

    def action_move(self, rows: int) -> None:
        """Move the cursor, by as many rows as were typed."""
        self._go_to(self._cursor + rows * (self._taken_count() or 1))

    def action_page(self, pages: float) -> None:
        """Scroll by pages, with the cursor at the same place of the screen; at an end it goes to the last row."""
        self._count = ""
        rows, top = int(pages * max(self.size.height - 1, 1)), self.scroll_offset.y
        self.scroll_to(y=top + rows, animate=False, force=True)
        if self.scroll_offset.y == top:
            rows = len(self.rows or ()) * (1 if rows > 0 else -1)
        self._go_to(self._cursor + rows)

    def action_edge(self, way: int) -> None:
        """Go to the first row or the last, or to the typed line of the cursor's side."""
        if count := self._taken_count():
            self._go_to(self._row_of((count, self._right)), lead=self.size.height // 3)
        else:
            self._go_to(0 if way < 0 else len(self.rows or ()))

    def action_next(self, way: int) -> None:
        """Go to the next hunk or the previous one; during a search, to the next hit."""
        if self._search is not None and self._search.is_on:
            self._search.step(back=way < 0)
        else:
            self.action_hunk(way)

    def action_hunk(self, way: int) -> None:
        """Go to the next or the previous hunk."""
        if self.rows is None:
            return
        part = self.rows.next_hunk(self._cursor) if way > 0 else self.rows.previous_hunk(self._cursor)
        if part is None:
            self.notify("No change further down" if way > 0 else "No change further up", timeout=2)
        else:
            self._go_to(self.rows.row_of_hunk(part), lead=KEPT_ABOVE, extent=self.rows.height_of_hunk(part))

    def action_other_side(self) -> None:
        """Move the cursor to the other side."""
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
        if row.kind is RowKind.FOLD:
            self.rows.open(row.part)
            self._resize_to_rows()
        else:
            line, right = self._line_at(self._cursor)
            self.post_message(SideLinesChosen(right, line, line))

    def action_select(self) -> None:
        """Start selecting rows, or stop."""
        self._anchor = self._cursor if self._anchor is None else None
        self.refresh()

    def action_copy_text(self) -> None:
        """Copy the selected lines; without any, the ref."""
        self._copy("text" if self._anchor is not None else "ref")

    def action_copy_ref(self) -> None:
        """Copy the ref of the selected lines, or of the hunk, or of the line."""
        self._copy("ref")

    def _copy(self, what: str) -> None:
        if self.rows is None or not len(self.rows):
            return
        row = self.rows[self._cursor]
        if self._anchor is None and row.kind not in (RowKind.EQUAL, RowKind.FOLD):
            hunk = self.rows.hunk(row.part)
            sides = (hunk.left, hunk.left_end - 1), (hunk.right, hunk.right_end - 1)
        else:
            sides = self._selected_lines(right=False), self._selected_lines(right=True)
        right = self._right if sides[self._right][0] <= sides[self._right][1] else not self._right
        self._anchor = None
        self.refresh()
        self.post_message(SideLinesChosen(right, *sides[right], copied=what))

    def _selected_lines(self, *, right: bool) -> tuple[int, int]:
        """Return the first and last line of one side in the selected rows; if none, the last is before the first."""
        first, last = self._selected()
        near = range(first, min(last, first + _LOOKED_AT) + 1), range(last, max(first, last - _LOOKED_AT) - 1, -1)
        top, bottom = (next(filter(None, (self._ends(at)[right] for at in rows)), (1, 0)) for rows in near)
        return top[0], bottom[1]

    def _ends(self, at: int) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
        """Return the first and last line that a row stands for, on the left and on the right."""
        if self.rows is None:
            return None, None
        row = self.rows[at]
        left, right = ((line, line + max(row.hidden - 1, 0)) if line else None for line in self._lines(row))
        return left, right

    def action_sideways(self, steps: int) -> None:
        """Scroll both sides sideways."""
        self._scroll_to_column(self._column + steps * _COLUMN_STEP)

    def action_line_start(self) -> None:
        """Scroll to the first column."""
        self._scroll_to_column(0)

    def action_line_end(self) -> None:
        """Scroll to the end of the longest visible line."""
        self._scroll_to_column(self._longest())

    def action_digit(self, digit: int) -> None:
        """Collect a digit of the number for a G that may follow."""
        self._count = f"{self._count}{digit}".lstrip("0")[:_MAX_COUNT_DIGITS]

    def _taken_count(self) -> int:
        count, self._count = int(self._count or 0), ""
        return count

    def action_let_go(self) -> None:
        """Drop the selection and the typed number, else the search; without any, leave the key to others."""
        if self._anchor is not None or self._count:
            self._anchor, self._count = None, ""
        elif self._search is None or not self._search.clear():
            raise SkipAction
        self.refresh()
        self.tell()

    # mouse

    def on_click(self, event: events.Click) -> None:
        """Put the cursor there, and open a fold; a double click opens the line in its buffer."""
        at = self.scroll_offset.y + event.y
        if self.rows is None or at >= len(self.rows):
            return
        if not self._unified:
            self._right = event.x > (self.columns - 1) // 2
        self._go_to(at)
        if event.chain > 1 or self.rows[at].kind is RowKind.FOLD:
            self.action_choose()
