"""Does something at once when it is asked for, and during a burst only now and then."""

import time
from collections.abc import Callable

from textual.timer import Timer
from textual.widget import Widget


class Throttle:
    """Keeps an action to a pace. No request is lost: the last one of a burst is carried out after it."""

    def __init__(self, widget: Widget, seconds: float, deed: Callable[[], None]) -> None:
        """Prepare the action.

        Args:
            widget: the widget that has the timers.
            seconds: least time between two actions.
            deed: the action, carried out in the UI's thread.
        """
        self._widget = widget
        self._seconds = seconds
        self._deed = deed
        self._last = float("-inf")
        self._timer: Timer | None = None

    def ask(self) -> None:
        """Carry the action out now, or as soon as the pace allows."""
        if self._timer is not None:
            return
        wait = self._last + self._seconds - time.monotonic()
        if wait <= 0:
            self._do()
        else:
            self._timer = self._widget.set_timer(wait, self._do)

    def _do(self) -> None:
        self._timer, self._last = None, time.monotonic()
        self._deed()
