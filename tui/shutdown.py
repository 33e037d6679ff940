"""The inspector's end: its terminal is closed, it is told to end, or it breaks by a fault of its own."""

import asyncio
import os
import select
import signal
import threading
import traceback
from collections.abc import Callable
from typing import Any

from rich.text import Text
from textual.app import App

from sightline.private_files import write_atomically
from sightline.tui.common.store_errors import STORE_ERRORS
from sightline.tui.common.visible_text import visible

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


FILE = "inspector-fault.txt"
"""Its name under the store's root."""


def keep(root: str, fault: BaseException | None) -> tuple[str, str]:
    """Write down what happened.

    Args:
        root: the store's folder.
        fault: what was not caught.

    Returns:
        The fault in a line, and the file's path; no path where it could not be written.
    """
    path = os.path.join(root, FILE)
    story = "".join(traceback.format_exception(fault)) if fault is not None else ""
    what = f"{type(fault).__name__}: {fault}"
    try:
        write_atomically(path, story.encode(errors="backslashreplace"))
    except STORE_ERRORS:
        return what, ""
    return what, path


def told(kept: tuple[str, str]) -> Text:
    """The sentence that is left on the terminal."""
    what, path = kept
    where = f"\nWhat led to it is in {path}; please send that along when you report it." if path else ""
    return Text(f"The inspector broke, the store did not: {visible(what)[:200]}{where}")
