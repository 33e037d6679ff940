"""Draws rows of styled parts that are in memory: a diff, or a file as it was known. It scrolls both ways."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from sightline_tui.common.keys import named
from sightline_tui.common.row_view import RowView
from sightline_tui.common.strips import StripPart, row, width_of

_COLUMN_STEP = 8


class PartRows(RowView):
    """Rows of parts."""

    PARTS = (*RowView.PARTS, "added", "removed", "interrupted")
    BINDINGS: ClassVar[list[BindingType]] = named(
        "parts",
        [
            Binding("greater_than_sign", "sideways(1)", "Scroll right", show=False),
            Binding("less_than_sign", "sideways(-1)", "Scroll left", show=False),
        ],
    )

    class Moved(Message):
        """The cursor has moved to another row."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._rows: Sequence[Sequence[StripPart]] = ()
        self._column = 0

    def show(self, rows: Sequence[Sequence[StripPart]], *, keeps: bool = False) -> None:
        """Show other rows from their beginning, or with the cursor where it is."""
        self._rows, self._column = rows, self._column if keeps else 0
        self.set_rows(len(rows), cursor=None if keeps else 0)

    def draw(self, at: int, width: int) -> Strip:
        """Draw a row."""
        parts = self._rows[at]
        strip = row(parts, (), max(width, width_of(parts)) + 1, self.own_style, self.part_styles)
        return strip.crop(self._column, self._column + width)

    def action_sideways(self, steps: int) -> None:
        """Show columns further right or left."""
        self._column = max(0, self._column + steps * _COLUMN_STEP)
        self.refresh()

    def cursor_moved(self) -> None:
        """Say that the cursor has moved."""
        self.post_message(self.Moved())
