"""Reads the store outside the UI's thread: one read at a time, and another if it was asked for meanwhile."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from textual.widget import Widget
from textual.worker import active_worker

from sightline_tui.common.store_errors import STORE_ERRORS, tell

if TYPE_CHECKING:
    from textual.worker import WorkType

T = TypeVar("T")


def is_whole(widget: Widget) -> bool:
    """Return whether a widget still has all its parts, which is so until its removal begins.

    A widget that is removed stays attached until its children are gone, one by one. Its timers and messages end before
    that; calls from other tasks, such as the result of a read, or a callback after drawing, still come.
    """
    return widget.is_attached and all(node.is_running for node in widget.ancestors_with_self)


class StoreRead(Generic[T]):
    """One kind of read that a widget needs again and again.

    However often it is asked for while it runs, it runs once more: a burst of changes neither piles up nor starves it.
    A widget that is removed is neither asked nor told anything more.
    """

    def __init__(
        self,
        widget: Widget,
        plan: Callable[[], Callable[[], T] | None],
        done: Callable[[T], None],
        failed: Callable[[], None] = lambda: None,
        dropped: Callable[[T], None] = lambda _: None,
    ) -> None:
        """Prepare the read.

        Args:
            widget: the widget that needs it.
            plan: called in the UI's thread; returns what to run in another thread, or None for nothing.
            done: called in the UI's thread with the result.
            failed: called in the UI's thread if the store could not be read; the person is told in any case.
            dropped: called instead of `done` if the widget was removed, to close what has to be closed.
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
        """Run the read now, or after the one that is running."""
        if not is_whole(self._widget):
            return
        self._asked = True
        if not self._running:
            self._running = True
            self._rests.clear()
            work: WorkType[None] = self._run  # a coroutine made now might never be awaited
            self._widget.run_worker(work)

    async def settled(self, seconds: float) -> None:
        """Wait until no read is asked for any more, or this many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._rests.wait()

    def carry_out_now(self, read: Callable[[], T]) -> None:
        """Run a read in the UI's thread; for a quick one that the very first screen needs."""
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
            active_worker.set(None)  # type: ignore[arg-type]  # it holds this task, which holds it: garbage, each time

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
