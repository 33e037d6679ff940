"""The line between the panes, and what it means to drag one."""

from rich.segment import Segment
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from sightline.tui.common.messages import SplitDragged


class Dragging:
    """Follows the mouse while a widget is held; moving the split is the screen's."""

    def __init__(self, widget: Widget, *, stacked: bool) -> None:
        """Prepare.

        Args:
            widget: that is taken hold of.
            stacked: whether it stands between panes that are stacked.
        """
        self._widget = widget
        self._stacked = stacked
        self.held = False

    def hold(self, held: bool) -> None:
        """Take hold of it, or let go."""
        self.held = held
        self._widget.capture_mouse(held)

    def follow(self, event: events.MouseMove) -> None:
        """The mouse has moved."""
        if self.held:
            self._widget.post_message(SplitDragged(int(event.screen_x), int(event.screen_y), stacked=self._stacked))


class Divider(Widget):
    """One cell wide."""

    def __init__(self) -> None:
        super().__init__(id="divider")
        self._dragging = Dragging(self, stacked=False)

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 (all its rows are the same)
        """A piece of the line."""
        return Strip([Segment("▏" * self.size.width, self.rich_style)], self.size.width)

    def on_mouse_down(self) -> None:
        """Take hold of it."""
        self._dragging.hold(True)

    def on_mouse_up(self) -> None:
        """Let go."""
        self._dragging.hold(False)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag it."""
        self._dragging.follow(event)
