"""Writes a buffer: bytes as they arrive, with their order, a sparse line index and a hash.

Memory does not depend on the size. Nothing is held back: the bytes for `append` are in the file when it returns.
"""

import os
import time

from sightline.base.private_files import FILE_MODE, new_file, open_private, write_all
from sightline.base.records import Seal, StreamInfo
from sightline.base.sha256 import Hasher
from sightline.disk.errors import store_failed
from sightline.disk.layout import SEALED_MODE, Layout
from sightline.disk.line_index import CHECKPOINT_BYTES, Checkpoint, newlines_in, pack_checkpoint
from sightline.disk.live import Marker
from sightline.disk.order import STREAM_CODES, pack_arrival
from sightline.disk.seals import seal_of
from sightline.light.late_imports import late_modules
from sightline.light.library import suppress
from sightline.light.typing_names import Callable

with late_modules(globals()):
    from sightline.disk import utf16  # few streams have a byte that text in ASCII has not


_HEAD_BYTES = 16  # those by which text in UTF-16 is recognised


class StreamWriter:
    """The file of one stream while it is written: its bytes up to a limit, their counts, and their hash.

    Attributes:
        bytes: number of bytes written so far.
        newlines: number of newlines among them.
        dropped: number of bytes that came after the limit.
    """

    def __init__(self, path: str, most: int, *, sealed: bool = False) -> None:
        """Make the file.

        Args:
            path: path of the file.
            most: number of bytes to keep.
            sealed: whether it is read-only from the beginning, because nobody knows of it before it is sealed.
        """
        self.bytes = 0
        self.newlines = 0
        self.dropped = 0
        self._path = path
        self._most = most
        self._unterminated = False
        self._is_sealed = sealed
        self._fd = new_file(path, SEALED_MODE if sealed else FILE_MODE)
        self._hasher = Hasher(self._fd)

    def append(self, data: bytes | memoryview) -> int:
        """Write the next bytes, and return how many were within the limit."""
        room = self._most - self.bytes
        if len(data) > room:
            self.dropped += len(data) - room
            data = memoryview(data)[:room]
        if not len(data):
            return 0
        write_all(self._fd, data)
        self.bytes += len(data)
        self.newlines += newlines_in(data)
        self._unterminated = data[len(data) - 1] != 0x0A
        self._hasher.update(data)
        return len(data)

    def take_back(self, size: int) -> None:
        """Remove what was written after a size, because its writer is told that none of it was taken."""
        try:
            os.ftruncate(self._fd, size)
        except OSError:
            pass  # the failure that led here is reported instead

    @property
    def info(self) -> StreamInfo:
        """What has been written so far, without its hash."""
        return StreamInfo(self.bytes, self.newlines + self._unterminated)

    def seal(self, name: str, *, durable: bool) -> tuple[StreamInfo, Seal]:
        """End the stream: hash it, and make the file read-only, or remove it if it is empty; return its seal, too."""
        if not self.bytes:
            os.unlink(self._path)
        elif not self._is_sealed:
            os.fchmod(self._fd, SEALED_MODE)
        if durable:
            os.fsync(self._fd)
        head = os.pread(self._fd, _HEAD_BYTES, 0)
        mime = utf16.mime_of(head) if b"\0" in head or not head.isascii() else ""
        info = StreamInfo(self.bytes, self.newlines + self._unterminated, self._hasher.hexdigest(), mime)
        seal = seal_of(name, self._fd)
        if seal.bytes != self.bytes:  # a command had the running stream as a link, and wrote to it
            seal = seal._replace(bytes=self.bytes, altered=(seal.bytes, seal.mtime_ns))
        return info, seal

    def close(self) -> None:
        """Close the file as it is."""
        self._hasher.stop()
        os.close(self._fd)


class _Records:
    """A file of records that say something of the streams, ``order`` or ``lines``, and the hash of what was written."""

    def __init__(self, path: str) -> None:
        self._fd = open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        self._size = 0
        self._hasher = Hasher(self._fd)

    def append(self, data: bytes) -> None:
        try:
            write_all(self._fd, data)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._fd, self._size)
            raise
        self._size += len(data)
        self._hasher.update(data)

    def seal(self, name: str) -> Seal:
        return seal_of(name, self._fd, self._hasher.hexdigest())

    def close(self) -> None:
        self._hasher.stop()
        os.close(self._fd)


class BufferWriter:
    """The streams of one running capture. Only one thread at a time may write.

    Attributes:
        name: name of the buffer.
        seals: the seals of its files, once they are finished.
        came_ns: returns when the bytes that are appended came, in nanoseconds since the capture began.
    """

    def __init__(self, layout: Layout, name: str, *, max_stream_bytes: int, durable: bool = False) -> None:
        """Make the marker; a stream gets a file with its first byte.

        Raises:
            StoreFailed: the marker could not be made.
        """
        self.name = name
        started_ns = time.monotonic_ns()
        self.came_ns: Callable[[], int] = lambda: time.monotonic_ns() - started_ns
        self._layout = layout
        self._max_stream_bytes = max_stream_bytes
        self._durable = durable
        self._streams: dict[str, StreamWriter] = {}
        self.seals: tuple[Seal, ...] = ()
        self._arrivals = 0
        self._records: dict[str, _Records] = {}
        self._checkpoint = 0
        self._bytes = 0
        try:
            self._marker = Marker(layout, name)
        except OSError as error:
            raise store_failed(error) from error

    def tell_process(self, pid: int, *, own_group: bool) -> None:
        """Note which process writes it."""
        self._marker.tell_process(pid, own_group=own_group)

    def append(self, stream: str, data: bytes | memoryview) -> None:
        """Write bytes of a stream.

        Args:
            stream: ``out``, ``err`` or ``part.N``.
            data: the bytes to write.

        Raises:
            StoreFailed: they could not be written; earlier bytes stay.
        """
        before = self.progress(stream)[0]
        try:
            self._append(stream, data)
        except OSError as error:
            if stream in self._streams:
                self._streams[stream].take_back(before)
            raise store_failed(error) from error

    def _append(self, name: str, data: bytes | memoryview) -> None:
        stream = self._streams.get(name)
        if stream is None:
            path = self._layout.stream(self.name, name)
            stream = self._streams[name] = StreamWriter(path, self._max_stream_bytes)
        written = stream.append(data)
        if not written:
            return
        self._bytes += written
        if name in STREAM_CODES:
            self._note_arrival(name, written)
        self._marker.touch()

    def _note_arrival(self, stream: str, length: int) -> None:
        self._record("order", pack_arrival(max(self.came_ns(), 0), length, stream))
        self._arrivals += 1
        if self._bytes - self._checkpoint >= CHECKPOINT_BYTES:
            self._checkpoint = self._bytes
            out, err = self.progress("out"), self.progress("err")
            self._record("lines", pack_checkpoint(Checkpoint(self._arrivals, *out, *err)))

    def _record(self, name: str, data: bytes) -> None:
        if name not in self._records:
            self._records[name] = _Records(self._layout.stream(self.name, name))
        self._records[name].append(data)

    def progress(self, stream: str) -> tuple[int, int]:
        """(bytes, newlines) written of a stream so far."""
        written = self._streams.get(stream)
        return (written.bytes, written.newlines) if written else (0, 0)

    @property
    def dropped(self) -> dict[str, int]:
        """Number of bytes of each stream that came after its limit, and were not kept."""
        return {name: stream.dropped for name, stream in self._streams.items() if stream.dropped}

    def infos(self) -> dict[str, StreamInfo]:
        """What has been written so far, without hashes."""
        return {name: stream.info for name, stream in self._streams.items() if stream.bytes}

    def finish(self) -> dict[str, StreamInfo]:
        """End the streams: hash them, make them read-only, close them. The marker stays locked until `release`.

        Raises:
            StoreFailed: the files could not be finished.
        """
        try:
            streams = {name: stream.seal(name, durable=self._durable) for name, stream in self._streams.items()}
            records = [records.seal(name) for name, records in self._records.items()]
        except OSError as error:
            raise store_failed(error) from error
        finally:
            self._close_files()
        self.seals = (*(seal for info, seal in streams.values() if info.bytes), *records)
        return {name: info for name, (info, _) in streams.items() if info.bytes}

    def _close_files(self) -> None:
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()
        for records in self._records.values():
            records.close()
        self._records.clear()

    def release(self) -> None:
        """Remove the marker, because the buffer's record says now how it ended."""
        self._marker.close()

    def abandon(self, *, for_adoption: bool = False) -> None:
        """Close everything; what was written stays until it is removed, or marked interrupted by another process."""
        self._close_files()
        self._marker.close(remove=not for_adoption)
