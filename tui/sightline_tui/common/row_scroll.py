"""A pane that scrolls by rows over lines whose heights are not known; its scrollbar counts lines."""

from collections.abc import Callable

from textual import events

from sightline_tui.common.row_pane import RowPane
from sightline_tui.common.window import Window

_WHEEL_ROWS = 3


class RowScroll(RowPane):
    """Knows which rows are visible, and follows the end of what grows. A subclass draws them.

    Attributes:
        window: the visible rows.
        following: whether it follows the end as more lines come.
    """

    def __init__(self, height: Callable[[int], int], *, id: str) -> None:  # noqa: A002
        """Make the widget; `height` gives the rows of a line, if lines can take several."""
        super().__init__(id=id)
        self.window = Window(height)
        self.following = False
        self._placing = False

    @property
    def grows(self) -> bool:
        """Whether more lines may come, so that following the end makes sense."""
        return False

    def changed(self) -> None:
        """Draw again, because other rows are visible, or the same ones look different."""
        self.refresh()

    def resize_to_lines(self) -> None:
        """Tell the scrollbar how many lines there are."""
        self.window.rows = self.size.height
        uneven = self.window.wraps or self.window.only is not None
        height = self.window.end.line - 1 + self.size.height if uneven else self.window.count
        self.set_height(height)

    def move(self, move: Callable[[], None]) -> None:
        """Move the window, and the scrollbar with it."""
        move()
        self._placing = True
        self.scroll_to(y=self.window.top.line - 1, animate=False, force=True)
        self._placing = False
        self.following = self.grows and self.window.at_end
        self.changed()

    def stay_at_end(self) -> None:
        """Go to the end if it is followed."""
        if self.following:
            self.move(lambda: self.window.move_to(self.window.end))

    def keep_place(self) -> None:
        """Keep the same row at the top, as far as that can be, after the number of visible rows has changed."""
        self.resize_to_lines()
        if self.following:
            self.stay_at_end()
        elif self.window.top > self.window.end or round(self.scroll_y) != self.window.top.line - 1:
            self.move(lambda: self.window.move_to(self.window.top))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the scrollbar: scrolling up stops following the end, and scrolling down to it starts that again."""
        super().watch_scroll_y(old_value, new_value)
        if self._placing or self.window.rows != self.size.height:  # the new size is still to be reported
            return
        end, line = self.window.end, round(new_value) + 1
        self.window.top = end if line >= end.line else self.window.place_from(line)
        self.following = self.grows and self.window.at_end
        self.changed()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll by rows rather than lines, so that the wheel moves evenly over wrapped lines, too."""
        self._wheel(event, _WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll by rows, upwards."""
        self._wheel(event, -_WHEEL_ROWS)

    def _wheel(self, event: events.MouseEvent, rows: int) -> None:
        event.stop()
        event.prevent_default()
        if event.ctrl or event.shift:
            self.wheel_sideways(1 if rows > 0 else -1)
        else:
            self.move(lambda: self.window.move_by(rows))

    def wheel_sideways(self, steps: int) -> None:
        """Scroll sideways, because the wheel was turned with a key held."""
