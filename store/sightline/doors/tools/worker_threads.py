"""Threads that are used again, since to start one for each call would take a tenth of the time of a short call."""

import threading

from sightline.base.threads import start_thread
from sightline.light.typing_names import Callable

_KEPT = 4
"""Threads that stay when they have nothing to do: a client seldom makes more calls at once."""


class WorkerThreads:
    """Does each piece of work on a thread of its own, at once. Any thread may use it."""

    def __init__(self) -> None:
        """Make it; threads are started when there is work."""
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []

    def start(self, work: Callable[[], None]) -> None:
        """Begin with a piece of work.

        Raises:
            OutOfProcesses: all threads are busy, and the system starts no more.
        """
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        if worker is not None:
            worker.take(work)
        else:
            _Worker(work, self._rests).start()

    def _rests(self, worker: "_Worker") -> bool:
        """Note that a thread has nothing to do, and return whether it is to stay."""
        with self._lock:
            if len(self._idle) >= _KEPT:
                return False
            self._idle.append(worker)
            return True


class _Worker:
    """One thread, and what it does next."""

    def __init__(self, work: Callable[[], None], rests: "Callable[[_Worker], bool]") -> None:
        self._work = work
        self._rests = rests
        self._woken = threading.Lock()
        self._woken.acquire()

    def start(self) -> None:
        start_thread(threading.Thread(target=self._run, name="sightline-worker", daemon=True))

    def take(self, work: Callable[[], None]) -> None:
        self._work = work
        self._woken.release()

    def _run(self) -> None:
        while True:
            self._work()
            del self._work  # what a call was about is not kept until the next one
            if not self._rests(self):
                return
            self._woken.acquire()
