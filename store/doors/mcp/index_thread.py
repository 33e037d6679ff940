"""Has the index take in what waits for it, a moment after it began to wait, on a thread of its own."""

import contextlib
import threading

from sightline.errors import OutOfProcesses, SightlineError
from sightline.store import Store
from sightline.threads import start_thread
from sightline.verbs.delivery import keep_within_limits

WITHIN_SECONDS = 0.01
"""How long lists in other processes may lag behind: changes of this time are one transaction, a tenth of the work."""


class IndexThread:
    """Settles a store that lets changes of its index wait. Any thread may use it."""

    def __init__(self, store: Store) -> None:
        """Let the store's changes wait, unless the system starts no more threads."""
        self._store = store
        self._has_more = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sightline-index", daemon=True)
        with contextlib.suppress(OutOfProcesses):
            start_thread(self._thread)
            store.let_wait(self._wake)

    def _wake(self) -> None:
        if not self._has_more.is_set():
            self._has_more.set()

    def finish(self) -> None:
        """Settle a last time; what waits from then on is settled by whoever uses the index, or closes it."""
        self._is_over.set()
        self._has_more.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._is_over.is_set():
            self._has_more.wait()
            self._is_over.wait(WITHIN_SECONDS)
            self._has_more.clear()
            with contextlib.suppress(SightlineError, OSError):  # the next call or `doctor` reports it
                self._store.settle()
                keep_within_limits(self._store)
