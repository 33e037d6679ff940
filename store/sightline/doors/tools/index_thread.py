"""Has the index take in what waits for it, on a thread of its own, once there is a pause."""

import threading

from sightline.base.errors import OutOfProcesses, SightlineError
from sightline.base.threads import start_thread
from sightline.light.library import suppress
from sightline.store import IndexFailed, Store
from sightline.verbs.delivery import keep_within_limits

PAUSE_SECONDS = 0.02
"""How long nothing new must come. A thread that works beside the one of a call costs that more than it saves, and
while replies follow each other at once, the threads that make these index several together."""

RETRY_SECONDS = 0.5
"""How long to leave an index alone that another process has locked, unless something new comes."""


class IndexThread:
    """Looks after a store that lets changes of its index wait. Any thread may use it."""

    def __init__(self, store: Store) -> None:
        """Let the store's changes wait, unless the system starts no more threads."""
        self._store = store
        self._has_more = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sightline-index", daemon=True)
        with suppress(OutOfProcesses):
            start_thread(self._thread)
            store.access.let_wait(self._wake)

    def _wake(self) -> None:
        if not self._has_more.is_set():
            self._has_more.set()

    def finish(self) -> None:
        """Have it take in what waits now; `settle` takes in what does later."""
        self._is_over.set()
        self._has_more.set()
        if self._thread.is_alive():
            self._thread.join()

    def settle(self) -> None:
        """Have the index take in what waits, on the caller's thread."""
        with suppress(SightlineError, OSError, IndexFailed):  # whoever looks next finds it on disk
            self._store.access.settle()

    def _run(self) -> None:
        while not self._is_over.is_set():
            self._has_more.wait()
            self._has_more.clear()  # so that nobody has to wake this thread while it sleeps
            self._is_over.wait(PAUSE_SECONDS)
            if self._has_more.is_set() and not self._is_over.is_set():
                continue
            with suppress(SightlineError, OSError, IndexFailed):  # the next call or `doctor` reports it
                keep_within_limits(self._store)
            if self._store.access.is_behind:
                self._has_more.wait(RETRY_SECONDS)
                self._has_more.set()
        self.settle()
