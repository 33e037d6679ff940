"""What looks for hits in what a pane shows, as the pane's search uses it."""

from collections.abc import Callable
from typing import Protocol

from sightline.search.engine import Pattern
from sightline.tui.common.stream_search import Step


class Engine(Protocol):
    """One search for one pattern; see `sightline.tui.common.stream_search.Search`."""

    @property
    def pattern(self) -> Pattern:
        """What is looked for."""

    @property
    def complete(self) -> bool:
        """Whether all has been looked through."""

    @property
    def total(self) -> int:
        """Hits found so far."""

    def cancel(self) -> None:
        """End it."""

    def run(self, tell: Callable[[], None]) -> None:
        """Look through all of it, in a thread of its own."""

    def run_on(self, tell: Callable[[], None]) -> None:
        """Look through what has been written since."""

    def step(self, number: int, *, back: bool = False, here: bool = False) -> Step | None:
        """The next hit from a number on; None where that is not known yet."""
