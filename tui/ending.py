"""The inspector's end from outside: its terminal is closed, or it is told to end."""

import asyncio
import os
import select
import signal
import threading
from collections.abc import Callable
from typing import Any

from textual.app import App

HUNG_UP, TERMINATED = 128 + signal.SIGHUP, 128 + signal.SIGTERM
"""Exit codes, as shells have them."""


def end_with_terminal(terminal: int, leave: Callable[[], None]) -> None:
    """End this process as soon as a terminal is closed, though nobody may send a signal, or it may be ignored.

    At once: nothing can be drawn any more, and whoever tries may wait for good.

    Args:
        terminal: its descriptor.
        leave: called before the end, in any thread.
    """

    leaving = threading.Lock()

    def gone(*_: object) -> None:
        if leaving.acquire(blocking=False):  # the signal and the terminal itself may tell at the same time
            try:
                leave()
            finally:
                os._exit(HUNG_UP)

    def watch() -> None:
        poll = select.poll()
        poll.register(terminal, 0)
        if any(event & select.POLLHUP for _, event in poll.poll()):
            gone()

    signal.signal(signal.SIGHUP, gone)
    threading.Thread(target=watch, name="sightline-terminal", daemon=True).start()


def end_when_told(app: App[Any]) -> None:
    """Have SIGTERM end an application as its own key does: the terminal is left as it was."""

    def told(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # told again, it ends though a pager has the keys
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # it has not begun yet, or has ended
            raise SystemExit(TERMINATED) from None
        loop.call_soon_threadsafe(lambda: app.exit(return_code=TERMINATED))

    signal.signal(signal.SIGTERM, told)
