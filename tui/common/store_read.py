"""Reads of the store off the UI's thread: one at a time, and once more where they were asked for meanwhile."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from textual.widget import Widget

from sightline.tui.common.store_errors import STORE_ERRORS, tell

if TYPE_CHECKING:
    from textual.worker import WorkType

T = TypeVar("T")


def is_whole(widget: Widget) -> bool:
    """Whether nothing of a widget has been taken away; not before it is begun to be.

    A widget that is taken away stays attached until all its children have gone, one by one. Its timers and messages end
    before that; what another task calls, such as what was read for it or what waits for a screen to be drawn, does not.
    """
    return widget.is_attached and all(node.is_running for node in widget.ancestors_with_self)


class StoreRead(Generic[T]):
    """One kind of read that a widget needs again and again.

    However often it is asked for while it runs, it runs once more: a burst of changes neither piles up nor starves it.
    Of a widget that is taken away nothing is asked any more, and nothing is told to it.
    """

    def __init__(
        self,
        widget: Widget,
        plan: Callable[[], Callable[[], T] | None],
        done: Callable[[T], None],
        failed: Callable[[], None] = lambda: None,
        dropped: Callable[[T], None] = lambda _: None,
    ) -> None:
        """Prepare.

        Args:
            widget: for which it reads.
            plan: called in the UI's thread; gives what to run in another, or None for nothing.
            done: called in the UI's thread with the result.
            failed: called in the UI's thread where the store could not be read, which the person is told anyway.
            dropped: called instead of `done` where the widget has been taken away: what has to be closed is closed.
        """
        self._widget = widget
        self._plan = plan
        self._done = done
        self._failed = failed
        self._dropped = dropped
        self._asked = False
        self._running = False
        self._rests = asyncio.Event()
        self._rests.set()

    def ask(self) -> None:
        """Have it read, now or after the read that is under way."""
        if not is_whole(self._widget):
            return
        self._asked = True
        if not self._running:
            self._running = True
            self._rests.clear()
            work: WorkType[None] = self._run  # no coroutine yet, which nobody would await where all ends now
            self._widget.run_worker(work)

    async def settled(self, seconds: float) -> None:
        """Wait until nothing is asked for any more; after so many seconds no longer."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._rests.wait()

    def carry_out_now(self, read: Callable[[], T]) -> None:
        """Read in the UI's thread: for what is quick, and wanted on the very first screen."""
        try:
            result = read()
        except STORE_ERRORS as error:
            self._tell(error)
        else:
            self._done(result)

    async def _run(self) -> None:
        try:
            while self._asked and is_whole(self._widget):
                self._asked = False
                read = self._plan()
                if read is not None:
                    await self._carry_out(read)
        finally:
            self._asked = self._running = False
            self._rests.set()

    async def _carry_out(self, read: Callable[[], T]) -> None:
        try:
            result = await asyncio.to_thread(read)
        except STORE_ERRORS as error:
            if is_whole(self._widget):
                self._tell(error)
        else:
            (self._done if is_whole(self._widget) else self._dropped)(result)

    def _tell(self, error: Exception) -> None:
        tell(self._widget.app, error)
        self._failed()
