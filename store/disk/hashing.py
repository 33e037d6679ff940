"""SHA-256: of short texts without loading OpenSSL, of streams while they are written.

A large stream is hashed on a thread of its own. It gets copies of the bytes in a ring of slots, so memory is bounded; a
writer that is faster than the hash waits for a slot.
"""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import hashlib

SMALL_BYTES = 1 << 16  # up to here loading OpenSSL (2.5 ms) costs more than its faster hash saves
INLINE_BYTES = 1 << 20  # 0.6 ms of hashing: up to here a thread would cost more
SLOT_BYTES = 1 << 19
SLOTS = 16


def sha256_hex(data: bytes | bytearray) -> str:
    """The hash of bytes in memory, hex."""
    if len(data) <= SMALL_BYTES and (builtin := _builtin_sha256()):
        return str(builtin(data).hexdigest())
    import hashlib

    return hashlib.sha256(data).hexdigest()


@cache
def _builtin_sha256() -> Callable[[bytes | bytearray], Any] | None:
    """The interpreter's own; None where it was built without, and hashlib has OpenSSL's."""
    for module in ("_sha2", "_sha256"):  # from Python 3.12 on, and before
        try:
            found: Callable[[bytes | bytearray], Any] = __import__(module).sha256
        except (ImportError, AttributeError):
            continue
        return found
    return None


class Hasher:
    """The hash of one stream."""

    def __init__(self) -> None:
        self._small = bytearray()
        self._sha256: hashlib._Hash | None = None
        self._seen = 0
        self._worker: _Worker | None = None

    def update(self, data: bytes | memoryview) -> None:
        """Take the next bytes; they are not needed any more when this returns."""
        self._seen += len(data)
        if self._worker is not None:
            self._worker.feed(data)
        elif self._seen <= SMALL_BYTES:
            self._small += data
        elif self._seen <= INLINE_BYTES:
            self._started().update(data)
        else:
            self._worker = _Worker(self._started())
            self._worker.feed(data)

    def _started(self) -> "hashlib._Hash":
        if self._sha256 is None:
            import hashlib

            self._sha256 = hashlib.sha256(self._small)
            self._small = bytearray()
        return self._sha256

    def hexdigest(self) -> str:
        """The hash of all bytes so far; there must be no more."""
        self.stop()
        return sha256_hex(self._small) if self._sha256 is None else self._sha256.hexdigest()

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
