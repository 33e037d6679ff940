"""A pane with any number of rows, of which only the visible ones are drawn, with a scrollbar that is as cheap."""

from typing import Any

from rich.style import Style
from textual.css.styles import StylesBase
from textual.geometry import Region, Size
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

from sightline_tui.common.textual_internals import OwnScrollbar, StylesCache, keep_rows_in

_OUTLINES = ("outline_top", "outline_right", "outline_bottom", "outline_left")
_CHANGES_ROWS = (*_OUTLINES, "tint", "hatch", "text_opacity")


class BareRows(StylesCache):
    """Replaces Textual's cache of rows, whose dozen questions about styles double the cost of a short row."""

    def __init__(self) -> None:
        super().__init__()
        self._is_bare = False

    def render_widget(self, widget: Widget, crop: Region) -> list[Strip]:
        """Return the rows of a region of the widget."""
        self._is_bare = widget.opacity == 1.0 and not widget.styles.has_any_rules(*_CHANGES_ROWS)
        return super().render_widget(widget, crop)

    def render_line(
        self, styles: StylesBase, y: int, size: Size, content_size: Size, *args: Any, **kwargs: Any
    ) -> Strip:
        """Return one row as the widget draws it; nothing goes around it."""
        if not self._is_bare or size != content_size:
            return super().render_line(styles, y, size, content_size, *args, **kwargs)
        _, base_background, background, draw, *_ = args
        strip: Strip = draw(y)
        if strip.cell_length == size.width:
            return strip
        inner, _ = self.get_inner_outer(base_background, background)
        return strip.adjust_cell_length(size.width, inner.rich_style)


class RowScrollBar(ScrollBar):
    """Looks and works like Textual's scrollbar, which lays out its few cells as a text of many lines each time."""

    def __init__(self, thickness: int) -> None:
        super().__init__(vertical=True, name="vertical", thickness=thickness)
        keep_rows_in(self, BareRows())
        self._rows: list[Strip] = []
        self._drawn: object = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the rows, again if the bar has changed; none if its pane was just removed."""
        if self.parent is None:
            return [Strip.blank(crop.width)] * crop.height
        bar = self.render()
        assert isinstance(bar, ScrollBarRender)
        drawn = (self.size, bar.style, bar.virtual_size, bar.window_size, bar.position)
        if drawn != self._drawn:
            self._rows, self._drawn = self._strips(bar), drawn
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Draw a row; it is blank if the screen has grown and the bar is not told of that yet."""
        if y < len(self._rows):
            return self._rows[y]
        return Strip.blank(self.size.width, self.visual_style.rich_style)

    def _strips(self, bar: ScrollBarRender) -> list[Strip]:
        style = bar.style
        assert isinstance(style, Style)
        assert style.color is not None
        assert style.bgcolor is not None
        cells = bar.render_bar(
            size=self.size.height,
            virtual_size=bar.virtual_size,
            window_size=bar.window_size,
            position=bar.position,
            thickness=self.size.width,
            back_color=style.bgcolor,
            bar_color=style.color,
        ).segments
        strips = {cell: Strip([cell], self.size.width) for cell in set(cells)}
        return [strips[cell] for cell in cells]


class RowPane(OwnScrollbar):
    """Tells its scrollbar how many rows there are."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        keep_rows_in(self, BareRows())

    def new_scrollbar(self) -> ScrollBar:
        """The scrollbar; Textual asks for it once."""
        return RowScrollBar(self.scrollbar_size_vertical)

    @property
    def columns(self) -> int:
        """Cells of a row, without those under the scrollbar, which Textual's size includes."""
        return max(self.size.width - self.styles.scrollbar_size_vertical, 0)

    def set_height(self, rows: int) -> None:
        """Set the number of rows."""
        self.set_scrolled_size(Size(1, rows))  # no pane uses Textual's sideways scrolling
