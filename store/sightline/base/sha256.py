"""Computes SHA-256: of short texts without loading OpenSSL, of streams while they are written.

A large stream is hashed in a thread of its own, which reads it back behind the writer.
"""

import errno
import os
import sys

from sightline.base.errors import OutOfProcesses
from sightline.base.threads import start_thread
from sightline.light.library import cache
from sightline.light.typing_names import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    import hashlib

SMALL_BYTES = 1 << 18  # 0.7 ms more without OpenSSL, which takes hashlib 2.8 ms (Python 3.11) and 3 MiB to load
INLINE_BYTES = 1 << 20  # 0.6 ms of hashing: up to this size, a thread would cost more
STEP_BYTES = 1 << 22  # the thread is woken after this much, and reads as much back at once
"""For each piece it waits for the interpreter's lock twice, while the writer counts lines: with pieces of 512 KiB it
fell behind, and a capture of 256 MiB took a sixth longer."""

_FILE_READ_BYTES = 1 << 20  # at once, of a file that is complete


def sha256_hex(data: bytes | bytearray) -> str:
    """Return the hash of bytes in memory, in hex."""
    if len(data) <= SMALL_BYTES and "hashlib" not in sys.modules and (builtin := _builtin_sha256()):
        return str(builtin(data).hexdigest())
    return new_sha256(data).hexdigest()


def new_sha256(data: bytes | bytearray = b"") -> "hashlib._Hash":
    """Return OpenSSL's hash of bytes, to which more can be added."""
    import hashlib  # 2.8 ms, see SMALL_BYTES

    return hashlib.sha256(data)


def hash_file(fd: int, size: int, took: Callable[[int], None] | None = None) -> str:
    """Return the SHA-256 of a file's first bytes, in hex; ``took`` is called with each number of new bytes."""
    sha256, offset = new_sha256(), 0
    while offset < size and (data := os.pread(fd, min(_FILE_READ_BYTES, size - offset), offset)):
        sha256.update(data)
        offset += len(data)
        if took:
            took(len(data))
    return sha256.hexdigest()


@cache
def _builtin_sha256() -> Callable[[bytes | bytearray], Any] | None:
    """Return the interpreter's own function; None if it has none, so that hashlib must load OpenSSL."""
    try:
        found: Callable[[bytes | bytearray], Any] = __import__(
            "_sha2" if sys.version_info >= (3, 12) else "_sha256"
        ).sha256
    except (ImportError, AttributeError):
        return None
    return found


class Hasher:
    """The hash of one stream that is being written."""

    def __init__(self, fd: int) -> None:
        """Prepare; large streams are read back by position from the descriptor, which stays the caller's."""
        self._fd = fd
        self._small = bytearray()
        self._sha256: hashlib._Hash | None = None
        self._seen = 0
        self._worker: _Worker | None = None
        self._alone = False  # no thread can be started

    def update(self, data: bytes | memoryview) -> None:
        """Take the next bytes, which are in the file already."""
        before, self._seen = self._seen, self._seen + len(data)
        if self._worker is not None:
            self._worker.advance(self._seen)
        elif self._seen <= SMALL_BYTES:
            self._small += data
        elif self._seen <= INLINE_BYTES or self._alone:
            self._started().update(data)
        else:
            self._hand_over(data, before)

    def _hand_over(self, data: bytes | memoryview, before: int) -> None:
        """Let a thread hash from here on, or this one if the system starts no more."""
        try:
            self._worker = _Worker(self._fd, self._started(), before)
        except OutOfProcesses:
            self._alone = True
            self._started().update(data)
        else:
            self._worker.advance(self._seen)

    def _started(self) -> "hashlib._Hash":
        if self._sha256 is None:
            self._sha256 = new_sha256(self._small)
            self._small = bytearray()
        return self._sha256

    def hexdigest(self) -> str:
        """Return the hash of all bytes, in hex; there must be no more. Raises OSError if they cannot be read back."""
        if self._worker is not None:
            worker, self._worker = self._worker, None
            worker.finish(self._seen)
        return sha256_hex(self._small) if self._sha256 is None else self._sha256.hexdigest()

    def stop(self) -> None:
        """End the thread, because the hash is not wanted."""
        if self._worker is not None:
            worker, self._worker = self._worker, None
            worker.finish(0)


class _Worker:
    """Hashes a file behind its writer, in large steps; hashlib releases the interpreter's lock meanwhile.

    Reading back from the page cache costs less than passing copies, and large steps keep the two threads from waiting
    for each other.
    """

    def __init__(self, fd: int, sha256: "hashlib._Hash", done: int) -> None:
        import threading  # only a large stream needs it

        self._fd = fd
        self._sha256 = sha256
        self._done = done
        self._target = done
        self._ending = False
        self._error: OSError | None = None
        self._moved = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="sightline-sha256", daemon=True)
        start_thread(self._thread)

    def advance(self, size: int) -> None:
        if size - self._target >= STEP_BYTES:
            with self._moved:
                self._target = size
                self._moved.notify()

    def finish(self, size: int) -> None:
        with self._moved:
            self._target = size
            self._ending = True
            self._moved.notify()
        self._thread.join()
        if self._error is not None and size:
            raise self._error

    def _work(self) -> None:
        view = memoryview(bytearray(STEP_BYTES))
        try:
            while self._wait():
                got = os.preadv(self._fd, [view[: min(STEP_BYTES, self._target - self._done)]], self._done)
                if not got:
                    raise OSError(errno.EIO, "what was written cannot be read back")
                self._sha256.update(view[:got])
                self._done += got
        except OSError as error:
            self._error = error

    def _wait(self) -> bool:
        """Wait until the writer is a step ahead, or at the end for what is left; return False if nothing is."""
        with self._moved:
            while not self._ending and self._target - self._done < STEP_BYTES:
                self._moved.wait()
            return self._target > self._done
