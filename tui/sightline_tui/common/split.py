"""Shares the screen between the panes: the line between them is dragged by mouse or moved by key, and remembered."""

from rich.segment import Segment
from textual import events
from textual.css.scalar import Scalar
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from sightline_tui.common.messages import SplitDragged
from sightline_tui.common.preferences import Preferences


class Dragging:
    """Follows the mouse while a widget is held; the screen moves the split."""

    def __init__(self, widget: Widget, *, stacked: bool) -> None:
        """Prepare to drag.

        Args:
            widget: the widget that is dragged.
            stacked: whether it stands between panes one above the other.
        """
        self._widget = widget
        self._stacked = stacked
        self.held = False

    def hold(self, held: bool) -> None:
        """Begin or end the drag."""
        self.held = held
        self._widget.capture_mouse(held)

    def follow(self, event: events.MouseMove) -> None:
        """Send the mouse's place while the widget is held."""
        if self.held:
            self._widget.post_message(SplitDragged(int(event.screen_x), int(event.screen_y), stacked=self._stacked))


_AT_LEFT, _AT_RIGHT = "▌", "▐"


class Divider(Widget):
    """A line one cell wide, which is thicker at the side of the pane with the focus."""

    def __init__(self) -> None:
        super().__init__(id="divider")
        self._dragging = Dragging(self, stacked=False)
        self._line = _AT_LEFT

    def border(self, left: bool) -> None:
        """Mark the pane with the focus, at the left or at the right."""
        line = _AT_LEFT if left else _AT_RIGHT
        if line != self._line:
            self._line = line
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 (all its rows are the same)
        """Draw a part of the line."""
        return Strip([Segment(self._line * self.size.width, self.rich_style)], self.size.width)

    def on_mouse_down(self) -> None:
        """Start dragging."""
        self._dragging.hold(True)

    def on_mouse_up(self) -> None:
        """End dragging."""
        self._dragging.hold(False)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse."""
        self._dragging.follow(event)


LEAST, MOST, STEP = 15, 85, 5
"""The least and the greatest share of a pane, and the step of a key, in percent."""

_BESIDE, _STACKED = "split", "split_stacked"  # share of the width beside each other, of the height if stacked


class PaneSplit:
    """The share of the first pane; as in the style sheet until a person has chosen one."""

    def __init__(self, screen: Screen[None], remembered: Preferences, stacked_class: str) -> None:
        """Take the shares that are remembered.

        Args:
            screen: the screen, with the panes `#left` and `#right` in `#panes`.
            remembered: what a person has chosen before.
            stacked_class: the class that the screen has while its panes are stacked.
        """
        self._screen = screen
        self._remembered = remembered
        self._stacked_class = stacked_class

    @property
    def _is_stacked(self) -> bool:
        return self._screen.has_class(self._stacked_class)

    def lay_out(self) -> None:
        """Give the first pane its share; those of the width and of the height are different ones."""
        left, stacked = self._screen.query_one("#left"), self._is_stacked
        wanted = f"{share}%" if (share := self._chosen()) else ""
        _set(left, "height", wanted if stacked else "")
        _set(left, "width", "" if stacked else wanted)
        _set(left, "max_width", "" if stacked or not wanted else f"{MOST}%")

    def step(self, steps: int) -> None:
        """Give the first pane more of the screen, or less."""
        self._move_to(round((self._chosen() or self._measured()) / STEP + steps) * STEP)

    def drag(self, message: SplitDragged) -> None:
        """Move the split to the mouse."""
        panes, stacked = self._screen.query_one("#panes").region, self._is_stacked
        if message.stacked == stacked:
            cells, of = (message.y - panes.y, panes.height) if stacked else (message.x - panes.x, panes.width)
            self._move_to(round(cells * 100 / max(of, 1)))

    def _chosen(self) -> int:
        share = self._remembered.get(_STACKED if self._is_stacked else _BESIDE, 0)
        return share if LEAST <= share <= MOST else 0

    def _measured(self) -> float:
        left, panes = self._screen.query_one("#left").outer_size, self._screen.query_one("#panes").size
        cells, of = (left.height, panes.height) if self._is_stacked else (left.width, panes.width)
        return cells * 100 / max(of, 1)

    def _move_to(self, share: int) -> None:
        self._remembered.put(_STACKED if self._is_stacked else _BESIDE, max(LEAST, min(share, MOST)))
        self.lay_out()


def _set(widget: Widget, rule: str, value: str) -> None:
    """Set a style only if it changes, because each setting lays out the screen again."""
    wanted = Scalar.parse(value) if value else None
    if widget.styles.inline.get_rule(rule, None) != wanted:
        setattr(widget.styles, rule, wanted)
