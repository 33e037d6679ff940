"""Telling clients every second that a call is still being worked on, where they have asked to be told."""

import threading
import time
from collections.abc import Callable
from typing import Any

from sightline.doors.mcp.call import Call
from sightline.errors import OutOfProcesses
from sightline.threads import start_thread

EVERY_SECONDS = 1.0


class Progress:
    """The calls whose clients want to be told; a thread of its own lives as long as there are any.

    Args:
        notify: sends the parameters of a ``notifications/progress``.
        every_secs: seconds between two of them.
    """

    def __init__(self, notify: Callable[[dict[str, Any]], None], every_secs: float = EVERY_SECONDS) -> None:
        self._notify = notify
        self._every_secs = every_secs
        self._lock = threading.Lock()
        self._calls: dict[Call, float] = {}
        self._running = False

    def follow(self, call: Call) -> None:
        """Tell of a call until it is answered; only where its client has given a token for that."""
        if call.progress_token is None:
            return
        with self._lock:
            self._calls[call] = time.monotonic()
            if self._running:
                return
            self._running = True
        try:
            start_thread(threading.Thread(target=self._run, name="sightline-progress", daemon=True))
        except OutOfProcesses:  # the call goes on without a word meanwhile
            with self._lock:
                self._calls.clear()
                self._running = False

    def _run(self) -> None:
        while True:
            time.sleep(self._every_secs)
            now = time.monotonic()
            with self._lock:
                calls = dict(self._calls)
            over = [call for call, began in calls.items() if not self._tell(call, now - began)]
            with self._lock:
                for call in over:
                    del self._calls[call]
                if not self._calls:
                    self._running = False
                    return

    def _tell(self, call: Call, seconds: float) -> bool:
        """Send one notification, unless the call has been answered; whether it is still open."""
        if seconds < self._every_secs / 2:
            return call.while_open(lambda: None)
        params: dict[str, Any] = {"progressToken": call.progress_token, "progress": round(seconds, 1)}
        if message := call.telling():
            params["message"] = message
        return call.while_open(lambda: self._notify(params))
