"""A pane of so many rows that only those on the screen are ever drawn."""

from sightline.tui.common.bare_rows import BareRows
from sightline.tui.common.row_scroll_bar import RowScrollBar
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.widget import Widget


class Tall(ScrollView):
    """Knows how many rows there are, for its scrollbar."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._styles_cache = BareRows()

    def new_scrollbar(self) -> ScrollBar:
        """The bar beside it; asked for once."""
        return RowScrollBar(self.scrollbar_size_vertical)

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """What Textual has it scrolled by."""
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = self.new_scrollbar()
            self._vertical_scrollbar.display = False
            self.app._start_widget(self, self._vertical_scrollbar)
        return self._vertical_scrollbar

    @property
    def columns(self) -> int:
        """Cells of a row: what Textual calls its size has those that the scrollbar, which is always there, covers."""
        return max(self.size.width - self.styles.scrollbar_size_vertical, 0)

    def set_height(self, rows: int) -> None:
        """There are so many rows now.

        Assigned as Textual has it, the size of what is scrolled would have the whole screen laid out and painted anew,
        although nothing but the scrollbar depends on it; where that comes or goes, it has the layout done itself.
        """
        size = Size(1, rows)  # no pane scrolls sideways by Textual's means
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)
