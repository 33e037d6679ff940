"""A pane of so many rows that only those on the screen are ever drawn."""

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


class Tall(ScrollView):
    """Knows how many rows there are, for its scrollbar."""

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
