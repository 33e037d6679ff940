"""A pane of so many rows that only those on the screen are ever drawn."""

from textual.geometry import Size
from textual.scrollbar import ScrollBar

from sightline.tui.common.bare_rows import BareRows
from sightline.tui.common.row_scroll_bar import RowScrollBar
from sightline.tui.common.textual_internals import OwnScrollbar, keep_rows_in


class Tall(OwnScrollbar):
    """Knows how many rows there are, for its scrollbar."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        keep_rows_in(self, BareRows())

    def new_scrollbar(self) -> ScrollBar:
        """The bar beside it; asked for once."""
        return RowScrollBar(self.scrollbar_size_vertical)

    @property
    def columns(self) -> int:
        """Cells of a row: what Textual calls its size has those that the scrollbar, which is always there, covers."""
        return max(self.size.width - self.styles.scrollbar_size_vertical, 0)

    def set_height(self, rows: int) -> None:
        """There are so many rows now."""
        self.set_scrolled_size(Size(1, rows))  # no pane scrolls sideways by Textual's means
