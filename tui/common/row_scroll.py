"""A pane that is scrolled by rows over lines of unknown heights; its scrollbar counts lines."""

from collections.abc import Callable

from textual import events

from sightline.tui.common.row_pane import RowPane
from sightline.tui.common.window import Place, Window

_WHEEL_ROWS = 3


class RowScroll(RowPane):
    """Knows which rows are on the screen, and stays at the end of what grows. What draws them is its subclass.

    Attributes:
        window: which rows are on the screen.
        following: whether it stays at the end while there is more and more.
    """

    def __init__(self, height: Callable[[int], int], *, id: str) -> None:  # noqa: A002
        """Make the widget; `height` tells the rows of a line, where lines take several."""
        super().__init__(id=id)
        self.window = Window(height)
        self.following = False
        self._placing = False

    @property
    def grows(self) -> bool:
        """Whether there may be more, so that its end is worth staying at."""
        return False

    def changed(self) -> None:
        """Other rows are on the screen, or the same ones look otherwise: draw them."""
        self.refresh()

    def resize_to_lines(self) -> None:
        """Have the scrollbar know how far one can go, in lines."""
        self.window.rows = self.size.height
        height = self.window.end.line - 1 + self.size.height if self.window.wraps else self.window.count
        self.set_height(height)

    def move(self, move: Callable[[], None]) -> None:
        """Move the window, the scrollbar along with it."""
        move()
        self._placing = True
        self.scroll_to(y=self.window.top.line - 1, animate=False, force=True)
        self._placing = False
        self.following = self.grows and self.window.at_end
        self.changed()

    def stay_at_end(self) -> None:
        """Go to the end, where it is followed."""
        if self.following:
            self.move(lambda: self.window.move_to(self.window.end))

    def keep_place(self) -> None:
        """Another number of rows is on the screen: the same row stays at its top as far as it can."""
        self.resize_to_lines()
        if self.following:
            self.stay_at_end()
        elif self.window.top > self.window.end or round(self.scroll_y) != self.window.top.line - 1:
            self.move(lambda: self.window.move_to(self.window.top))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The scrollbar was moved: scrolling up lets go of the end, scrolling back down to it follows again."""
        super().watch_scroll_y(old_value, new_value)
        if self._placing or self.window.rows != self.size.height:  # another size, of which it is still to be told
            return
        end, line = self.window.end, round(new_value) + 1
        self.window.top = end if line >= end.line else Place(line)
        self.following = self.grows and self.window.at_end
        self.changed()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Rows, not lines: where lines take several, the wheel goes on by rows too."""
        self._wheel(event, _WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """As down."""
        self._wheel(event, -_WHEEL_ROWS)

    def _wheel(self, event: events.MouseEvent, rows: int) -> None:
        event.stop()
        event.prevent_default()
        if event.ctrl or event.shift:
            self.wheel_sideways(1 if rows > 0 else -1)
        else:
            self.move(lambda: self.window.move_by(rows))

    def wheel_sideways(self, steps: int) -> None:
        """The wheel was turned with a key held."""
