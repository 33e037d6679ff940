"""Writing a buffer: bytes to disk as they arrive, with their order, a sparse line index and a hash.

Memory does not depend on what is written. Nothing is kept back: what `append` was given is in the file when it returns.
"""

import os
import time

from sightline.disk.errors import store_failed
from sightline.disk.layout import SEALED_MODE, Layout
from sightline.disk.lines import CHECKPOINT_BYTES, Checkpoint, pack_checkpoint
from sightline.disk.live import Marker
from sightline.disk.order import STREAM_CODES, pack_arrival
from sightline.private_files import open_private, write_all
from sightline.records import StreamInfo
from sightline.sha256 import Hasher


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
        before = self.progress(stream)[0]
        try:
            self._append(stream, data, newlines)
        except OSError as error:
            self._take_back(stream, before)
            raise store_failed(error) from error

    def _take_back(self, name: str, size: int) -> None:
        """The caller is told that nothing of its bytes was taken, so none may stay."""
        if name in self._streams:
            try:
                os.ftruncate(self._streams[name].fd, size)
            except OSError:
                pass  # the failure that led here is the one to tell of

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
        stream.hasher.update(data)
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
                    infos[name] = infos[name]._replace(sha256=stream.hasher.hexdigest())
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
            stream.hasher.stop()
            os.close(stream.fd)
        self._streams.clear()
        for fd in (self._order_fd, self._lines_fd):
            if fd >= 0:
                os.close(fd)
        self._order_fd = self._lines_fd = -1

    def release(self) -> None:
        """Take the marker away: the buffer's record says how it ended."""
        self._marker.close()

    def abandon(self, *, for_adoption: bool = False) -> None:
        """Close everything; what was written stays until it is removed, or marked interrupted by the next to look."""
        self._close_files()
        self._marker.close(remove=not for_adoption)
