"""Rows on their way from a widget to the screen, without what only borders, padding and the like need."""

from typing import Any

from textual.css.styles import StylesBase
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from sightline.tui.common.textual_internals import StylesCache

_OUTLINES = ("outline_top", "outline_right", "outline_bottom", "outline_left")
_CHANGES_ROWS = (*_OUTLINES, "tint", "hatch", "text_opacity")


class BareRows(StylesCache):
    """What Textual keeps a widget's rows in; asking a dozen style rules about each doubles what a short one costs."""

    def __init__(self) -> None:
        super().__init__()
        self._is_bare = False

    def render_widget(self, widget: Widget, crop: Region) -> list[Strip]:
        """The rows of a region of the widget."""
        self._is_bare = widget.opacity == 1.0 and not widget.styles.has_any_rules(*_CHANGES_ROWS)
        return super().render_widget(widget, crop)

    def render_line(
        self, styles: StylesBase, y: int, size: Size, content_size: Size, *args: Any, **kwargs: Any
    ) -> Strip:
        """One row: as the widget draws it, where nothing goes around it."""
        if not self._is_bare or size != content_size:
            return super().render_line(styles, y, size, content_size, *args, **kwargs)
        _, base_background, background, draw, *_ = args
        strip: Strip = draw(y)
        if strip.cell_length == size.width:
            return strip
        inner, _ = self.get_inner_outer(base_background, background)
        return strip.adjust_cell_length(size.width, inner.rich_style)
