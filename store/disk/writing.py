"""Writing a buffer: bytes to disk as they arrive, with their order, a sparse line index and a hash.

Memory does not depend on what is written. Nothing is kept back: what `append` was given is in the file when it returns.
"""

import errno
import hashlib
import os
import time

from sightline.store.disk.layout import SEALED_MODE, Layout, open_private, write_all
from sightline.store.disk.lines import CHECKPOINT_BYTES, Checkpoint, pack_checkpoint
from sightline.store.disk.live import Marker
from sightline.store.disk.order import STREAM_CODES, pack_arrival
from sightline.store.errors import StoreFailed
from sightline.store.records import StreamInfo

HASH_BEHIND_BYTES = 1 << 20  # a stream below this is hashed while sealing: a thread would cost more
_HASH_READ_BYTES = 1 << 20


class _Stream:
    """One stream's file while it is written."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.fd = open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        self.bytes = 0
        self.newlines = 0
        self.unterminated = False
        self.dropped = 0
        self.hasher = Hasher(self.fd)


class BufferWriter:
    """The streams of one running capture. One thread at a time may write.

    Attributes:
        name: the buffer's name.
        started_ns: the clock's reading that arrival times count from.
    """

    def __init__(self, layout: Layout, name: str, *, max_stream_bytes: int, durable: bool = False) -> None:
        """Opens nothing but the marker yet: an empty stream has no file.

        Raises:
            StoreFailed: the marker could not be made.
        """
        self.name = name
        self.started_ns = time.monotonic_ns()
        self._layout = layout
        self._max_stream_bytes = max_stream_bytes
        self._durable = durable
        self._streams: dict[str, _Stream] = {}
        self._records = 0
        self._order_fd = -1
        self._lines_fd = -1
        self._checkpoint = 0
        self._bytes = 0
        try:
            self._marker = Marker(layout, name)
        except OSError as error:
            raise store_failed(error) from error

    def append(self, stream: str, data: bytes | memoryview, newlines: int | None = None) -> None:
        """Write bytes of a stream.

        Args:
            stream: ``out``, ``err`` or ``part.N``.
            data: the bytes.
            newlines: how many newlines they hold, where the caller has counted.

        Raises:
            StoreFailed: they could not be written; what was written before stays.
        """
        try:
            self._append(stream, data, newlines)
        except OSError as error:
            raise store_failed(error) from error

    def _append(self, name: str, data: bytes | memoryview, newlines: int | None) -> None:
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = _Stream(self._layout.stream(self.name, name))
        room = self._max_stream_bytes - stream.bytes
        if len(data) > room:
            stream.dropped += len(data) - room
            data, newlines = memoryview(data)[:room], None
        if not len(data):
            return
        write_all(stream.fd, data)
        if newlines is None:
            newlines = bytes(data).count(b"\n")
        stream.bytes += len(data)
        stream.newlines += newlines
        stream.unterminated = data[len(data) - 1] != 0x0A
        self._bytes += len(data)
        stream.hasher.advance(stream.bytes)
        if name in STREAM_CODES:
            self._note_arrival(name, len(data))
        self._marker.touch()

    def _note_arrival(self, stream: str, length: int) -> None:
        if self._order_fd < 0:
            self._order_fd = self._create("order")
        write_all(self._order_fd, pack_arrival(time.monotonic_ns() - self.started_ns, length, stream))
        self._records += 1
        if self._bytes - self._checkpoint >= CHECKPOINT_BYTES:
            if self._lines_fd < 0:
                self._lines_fd = self._create("lines")
            self._checkpoint = self._bytes
            out, err = self.progress("out"), self.progress("err")
            write_all(self._lines_fd, pack_checkpoint(Checkpoint(self._records, *out, *err)))

    def _create(self, name: str) -> int:
        return open_private(self._layout.stream(self.name, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL)

    def progress(self, stream: str) -> tuple[int, int]:
        """(bytes, newlines) written of a stream so far."""
        written = self._streams.get(stream)
        return (written.bytes, written.newlines) if written else (0, 0)

    @property
    def dropped(self) -> dict[str, int]:
        """Bytes of each stream that came after its limit and were not kept."""
        return {name: stream.dropped for name, stream in self._streams.items() if stream.dropped}

    def infos(self) -> dict[str, StreamInfo]:
        """What has been written so far, without hashes."""
        return {
            name: StreamInfo(stream.bytes, stream.newlines + stream.unterminated)
            for name, stream in self._streams.items()
            if stream.bytes
        }

    def finish(self) -> dict[str, StreamInfo]:
        """No more bytes will come: hash, make read-only, close. The marker stays held until `release`.

        Raises:
            StoreFailed: the files could not be brought to rest.
        """
        infos = self.infos()
        try:
            for name, stream in self._streams.items():
                if name in infos:
                    infos[name] = infos[name]._replace(sha256=stream.hasher.digest(stream.bytes))
                    os.fchmod(stream.fd, SEALED_MODE)
                else:
                    os.unlink(stream.path)
                if self._durable:
                    os.fsync(stream.fd)
        except OSError as error:
            raise store_failed(error) from error
        finally:
            self._close_files()
        return infos

    def _close_files(self) -> None:
        for stream in self._streams.values():
            os.close(stream.fd)
        self._streams.clear()
        for fd in (self._order_fd, self._lines_fd):
            if fd >= 0:
                os.close(fd)
        self._order_fd = self._lines_fd = -1

    def release(self) -> None:
        """Take the marker away: the buffer's record says how it ended."""
        self._marker.close()

    def abandon(self) -> None:
        """Close everything; what was written stays on disk until it is removed."""
        for stream in self._streams.values():
            stream.hasher.stop()
        self._close_files()
        self._marker.close()


class Hasher:
    """SHA-256 of a file that grows, on a thread of its own once the file is large enough to be worth one.

    The thread reads behind the writer (from the page cache), so the writer never waits for it and no bytes are held for it.
    """

    def __init__(self, fd: int) -> None:
        """Reads the descriptor by position; it stays the caller's."""
        self._fd = fd
        self._sha256 = hashlib.sha256()
        self._done = 0
        self._target = 0
        self._worker: _HashThread | None = None

    def advance(self, size: int) -> None:
        """The file has this many bytes now."""
        if size - self._target >= HASH_BEHIND_BYTES:
            self._target = size
            if self._worker is None:
                self._worker = _HashThread(self._fd, self._sha256)
            self._worker.advance(size)

    def digest(self, size: int) -> str:
        """The hash of the first ``size`` bytes, hex; waits for the thread."""
        if self._worker is not None:
            self._worker.advance(size)
            self._done = self._worker.finish()
        while self._done < size:
            data = os.pread(self._fd, min(_HASH_READ_BYTES, size - self._done), self._done)
            if not data:
                break
            self._sha256.update(data)
            self._done += len(data)
        return self._sha256.hexdigest()

    def stop(self) -> None:
        """End the thread; the hash is not wanted."""
        if self._worker is not None:
            self._worker.finish()


class _HashThread:
    """Hashes a file's bytes up to a mark that the writer moves forward."""

    def __init__(self, fd: int, sha256: "hashlib._Hash") -> None:
        import threading  # only a large stream pays for it

        self._fd = fd
        self._sha256 = sha256
        self._target = 0
        self._ending = False
        self._done = 0
        self._moved = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="sightline-sha256", daemon=True)
        self._thread.start()

    def advance(self, target: int) -> None:
        with self._moved:
            self._target = target
            self._moved.notify()

    def finish(self) -> int:
        """Wait until the mark is reached; how many bytes are hashed."""
        with self._moved:
            self._ending = True
            self._moved.notify()
        self._thread.join()
        return self._done

    def _work(self) -> None:
        buffer = bytearray(_HASH_READ_BYTES)
        view = memoryview(buffer)
        while True:
            with self._moved:
                while self._done >= self._target and not self._ending:
                    self._moved.wait()
                target = self._target
            if self._done >= target:
                return
            while self._done < target:
                got = os.preadv(self._fd, [view[: min(len(view), target - self._done)]], self._done)
                if got <= 0:
                    return
                self._sha256.update(view[:got])
                self._done += got


def store_failed(error: OSError) -> StoreFailed:
    """What a person reads when the disk did not take something."""
    hints = {
        errno.ENOSPC: "the disk is full: free space, or lower max_bytes and run `sightline gc`",
        errno.EDQUOT: "the disk quota is used up: free space, or lower max_bytes and run `sightline gc`",
        errno.EFBIG: "the file-size limit of this process is reached",
        errno.EACCES: "the store's folder must be yours and writable: `sightline doctor`",
        errno.EROFS: "the store lies on a read-only file system: set SIGHTLINE_HOME to another folder",
    }
    return StoreFailed(
        f"storing failed: {error.strerror or error}", hints.get(error.errno or 0, "`sightline doctor` tells more")
    )
