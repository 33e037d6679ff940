"""How the inspector ends: its terminal closes, a signal asks it to end, or a fault of its own breaks it."""

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

from sightline.base.private_files import write_atomically
from sightline_tui.common.store_errors import STORE_ERRORS
from sightline_tui.common.visible_text import visible

HUNG_UP, TERMINATED = 128 + signal.SIGHUP, 128 + signal.SIGTERM
"""Exit codes as shells give them after these signals."""


def end_with_terminal(terminal: int, leave: Callable[[], None]) -> None:
    """End this process as soon as a terminal is closed, even if no signal comes or it is ignored.

    It ends at once, since nothing can be drawn any more, and a thread that tries may wait forever.

    Args:
        terminal: the terminal's descriptor.
        leave: called before the end, in whichever thread notices.
    """

    leaving = threading.Lock()

    def gone(*_: object) -> None:
        if leaving.acquire(blocking=False):  # the signal and the terminal may both report it at the same time
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
    """Let SIGTERM end an application as its own key does, so that the terminal is left as it was."""

    def told(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a second signal ends it even while a pager has the terminal
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # the application has not begun yet, or has ended
            raise SystemExit(TERMINATED) from None
        loop.call_soon_threadsafe(lambda: app.exit(return_code=TERMINATED))

    signal.signal(signal.SIGTERM, told)


FILE = "inspector-fault.txt"
"""The name of the file with the fault, under the store's root."""


def keep(root: str, fault: BaseException | None) -> tuple[str, str]:
    """Write a fault down for a report.

    Args:
        root: the store's folder.
        fault: the exception that was not caught.

    Returns:
        The fault in one line, and the file's path; an empty path if it could not be written.
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
    """The sentence to leave on the terminal."""
    what, path = kept
    where = f"\nWhat led to it is in {path}; please send that along when you report it." if path else ""
    return Text(f"The inspector broke, the store did not: {visible(what)[:200]}{where}")
