"""The feed of changes at a shared place, which is polled by cursors, in a thread of its own."""

import threading
import time
from collections.abc import Callable

from sightline.base.errors import StoreFailed
from sightline.disk.changes import Change
from sightline.light.typing_names import Protocol

POLL_SECONDS = 2.0
_LIVE_SECONDS = 1.0
_MOST_SECONDS = 30.0  # between two tries while it does not answer


class Followed(Protocol):
    """The store that is followed.

    Attributes:
        trouble: why it could not be brought up to date the last time; empty if it could.
    """

    trouble: str

    @property
    def follows(self) -> bool:
        """Whether somebody looks at a running output."""

    def bring_up_to_date(self) -> bool:
        """Take in what hosts have announced, and return whether anything is new. Raises StoreFailed."""

    def follow_running(self) -> set[str]:
        """Take in the new bytes of running outputs, and return names of those that have grown. Raises StoreFailed."""


class SharedFeed:
    """Brings a shared store up to date from `start` until `close`, and reports what came.

    Attributes:
        polling: why it polls; it never does anything else.
    """

    def __init__(self, store: Followed, tell: Callable[[Change], None], lost: Callable[[str], None]) -> None:
        """Prepare to poll; nothing is asked before `start`.

        Args:
            store: the shared store.
            tell: called in the feed's thread with each change.
            lost: called in the feed's thread with the reason, once each time that the place stops answering.
        """
        self._store, self._tell, self._lost = store, tell, lost
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.polling = "hosts are asked for by cursors"

    def start(self) -> None:
        """Begin to poll."""
        self._thread = threading.Thread(target=self._run, name="sightline-shared", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop polling; `tell` is not called after this returns, unless a request is still running."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=1.0)  # a database that does not answer must not keep a program from ending
            self._thread = None

    def _run(self) -> None:
        wait = 0.0
        asked_at = 0.0
        while not self._stop.wait(wait):
            try:
                grown = self._store.follow_running()
                is_new = False
                if time.monotonic() >= asked_at:
                    is_new = self._store.bring_up_to_date()
                    asked_at = time.monotonic() + POLL_SECONDS
                was_lost, self._store.trouble = self._store.trouble, ""
                wait = _LIVE_SECONDS if self._store.follows else POLL_SECONDS
                if (is_new or grown or was_lost) and not self._stop.is_set():
                    self._tell(Change(is_new or bool(was_lost), frozenset(grown)))
            except StoreFailed as error:
                if not self._store.trouble and not self._stop.is_set():
                    self._lost(error.message)
                self._store.trouble = error.message
                wait, asked_at = min(max(wait * 2, POLL_SECONDS), _MOST_SECONDS), 0.0
