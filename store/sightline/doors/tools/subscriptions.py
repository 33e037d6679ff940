"""Tells clients that an output to which they subscribed has grown or ended, in the way of their era."""

import threading
from collections.abc import Callable, Hashable

from sightline.base.errors import SightlineError
from sightline.base.threads import start_thread
from sightline.light.named_tuple import NamedTuple
from sightline.store import IndexFailed, Reading

LOOK_SECONDS = 0.25  # between two looks at running outputs; a client reads again after each notification

Notify = Callable[[str], None]
"""Tells a client that the resource with a URI has changed."""


class _Watched(NamedTuple):
    ref: str
    uri: str
    notify: Notify


class Watch:
    """The subscriptions of one server. A thread of its own looks at running outputs as long as there are any.

    Args:
        store: opens the store.
    """

    def __init__(self, store: Callable[[], Reading]) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._watched: dict[Hashable, _Watched] = {}
        self._seen: dict[str, tuple[str, int]] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, key: Hashable, ref: str, uri: str, notify: Notify) -> None:
        """Watch an output from its present state on, unless it has ended, since then it never changes.

        Args:
            key: what `remove` takes; an earlier subscription with this key ends.
            ref: the output's ref.
            uri: what the client calls it.
            notify: tells the client; called in a thread of the watch.
        """
        state = self._state_of(ref)
        if state is None or state[0] != "running":
            return
        with self._lock:
            if self._stop.is_set():
                return
            self._watched[key] = _Watched(ref, uri, notify)
            self._seen.setdefault(ref, state)
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="sightline-watch", daemon=True)
                start_thread(thread)
                self._thread = thread

    def remove(self, key: Hashable) -> None:
        """End a subscription; an unknown key is no error."""
        with self._lock:
            self._watched.pop(key, None)

    def close(self) -> None:
        """End all subscriptions."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            with self._lock:
                refs = {watched.ref for watched in self._watched.values()}
                self._seen = {ref: seen for ref, seen in self._seen.items() if ref in refs}
                if not refs:
                    self._thread = None
                    return
            for ref in refs:
                self._look(ref)

    def _look(self, ref: str) -> None:
        try:
            state = self._state_of(ref)
        except (IndexFailed, OSError):  # at the next look the store may work again
            return
        with self._lock:
            if state == self._seen.get(ref):
                return
            told = [watched for watched in self._watched.values() if watched.ref == ref]
            if state is not None:
                self._seen[ref] = state
            if state is None or state[0] != "running":  # its end was its last change
                self._watched = {key: watched for key, watched in self._watched.items() if watched.ref != ref}
        for watched in told:
            watched.notify(watched.uri)

    def _state_of(self, ref: str) -> tuple[str, int] | None:
        """The state of an output, which differs after each change; None if the output is gone."""
        try:
            buffer = self._store().resolve(ref).buffer
        except SightlineError:
            return None
        return buffer.state, buffer.bytes
