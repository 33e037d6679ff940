"""Something that is done at once when it is wanted, and in a burst only now and then."""

import time
from collections.abc import Callable

from textual.timer import Timer
from textual.widget import Widget


class Pace:
    """Keeps a deed to a pace. What is wanted is never forgotten: the last of a burst is done after it."""

    def __init__(self, widget: Widget, seconds: float, deed: Callable[[], None]) -> None:
        """Prepare.

        Args:
            widget: whose timers are used.
            seconds: between two deeds, at least.
            deed: what is done, in the UI's thread.
        """
        self._widget = widget
        self._seconds = seconds
        self._deed = deed
        self._last = float("-inf")
        self._timer: Timer | None = None

    def ask(self) -> None:
        """Have it done: now, where it was not done just before; else as soon as the pace allows."""
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
