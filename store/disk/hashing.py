"""SHA-256 of a stream while it is written: small ones at once, large ones on a thread of their own.

The thread gets copies of the bytes in a ring of slots, so memory is bounded; a writer that is faster than the hash
waits for a slot.
"""

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

INLINE_BYTES = 1 << 20  # 0.6 ms of hashing: up to here a thread would cost more
SLOT_BYTES = 1 << 19
SLOTS = 16


class Hasher:
    """The hash of one stream."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()
        self._seen = 0
        self._worker: _Worker | None = None

    def update(self, data: bytes | memoryview) -> None:
        """Take the next bytes; they are not needed any more when this returns."""
        if self._worker is None:
            self._seen += len(data)
            if self._seen <= INLINE_BYTES:
                self._sha256.update(data)
                return
            self._worker = _Worker(self._sha256)
        self._worker.feed(data)

    def hexdigest(self) -> str:
        """The hash of all bytes so far; there must be no more."""
        self.stop()
        return self._sha256.hexdigest()

    def stop(self) -> None:
        """Wait for the thread to hash what it has, and end it."""
        if self._worker is not None:
            self._worker.finish()
            self._worker = None


class _Worker:
    """Hashes slots of bytes on a thread, in order; hashlib lets go of the interpreter meanwhile."""

    def __init__(self, sha256: "hashlib._Hash") -> None:
        import threading  # only a large stream pays for it
        from queue import SimpleQueue

        self._sha256 = sha256
        self._free: SimpleQueue[memoryview] = SimpleQueue()
        self._full: SimpleQueue[memoryview | None] = SimpleQueue()
        for _ in range(SLOTS):
            self._free.put(memoryview(bytearray(SLOT_BYTES)))
        self._slot = self._free.get()
        self._used = 0
        self._thread = threading.Thread(target=self._work, name="sightline-sha256", daemon=True)
        self._thread.start()

    def feed(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        while view:
            taken = min(len(view), SLOT_BYTES - self._used)
            self._slot[self._used : self._used + taken] = view[:taken]
            self._used += taken
            view = view[taken:]
            if self._used == SLOT_BYTES:
                self._full.put(self._slot)
                self._slot = self._free.get()
                self._used = 0

    def finish(self) -> None:
        self._full.put(self._slot[: self._used])
        self._full.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (slot := self._full.get()) is not None:
            self._sha256.update(slot)
            self._free.put(slot)
