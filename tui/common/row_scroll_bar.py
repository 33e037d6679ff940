"""A scrollbar that costs a row of the list no more than its text does."""

from rich.style import Style
from textual.geometry import Region
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip

from sightline.tui.common.bare_rows import BareRows
from sightline.tui.common.textual_internals import keep_rows_in


class RowScrollBar(ScrollBar):
    """Looks and behaves as Textual's, which has its few different cells laid out as a text of many lines each time."""

    def __init__(self, thickness: int) -> None:
        super().__init__(vertical=True, name="vertical", thickness=thickness)
        keep_rows_in(self, BareRows())
        self._rows: list[Strip] = []
        self._drawn: object = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Its rows, made anew where the bar has changed; none where what it belongs to was just taken away."""
        if self.parent is None:
            return [Strip.blank(crop.width)] * crop.height
        bar = self.render()
        assert isinstance(bar, ScrollBarRender)
        drawn = (self.size, bar.style, bar.virtual_size, bar.window_size, bar.position)
        if drawn != self._drawn:
            self._rows, self._drawn = self._strips(bar), drawn
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """A row; blank where the screen already has room for more of them than the bar has been told of."""
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
