"""Buffers whose bytes are all there already: written sealed, without a marker, and put into the index in batches.

What `Recording` does for a running capture costs several times as much, which past sessions have thousands of.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sightline.disk.errors import store_failed
from sightline.disk.layout import SEALED_MODE, Layout
from sightline.disk.meta import encode_buffer
from sightline.disk.order import STREAM_CODES, pack_arrival
from sightline.disk.recording import without_dropped
from sightline.private_files import FILE_MODE, new_file, remove_folder, sync_folder, write_all
from sightline.records import Buffer, Gap, StreamInfo, joined_notes

if TYPE_CHECKING:
    from sightline.redact.hiding import Redaction


class _Stream:
    """One stream's file while it is written."""

    def __init__(self, path: str) -> None:
        self.fd = new_file(path, SEALED_MODE)
        self.bytes = 0
        self.newlines = 0
        self.dropped = 0
        self.last = b""
        self.sha256 = hashlib.sha256()


class Deposit:
    """One buffer on its way to the disk. Nobody knows its name before `seal` has returned."""

    def __init__(
        self,
        layout: Layout,
        buffer: Buffer,
        *,
        max_stream_bytes: int,
        durable: bool = False,
        redaction: "Redaction | None" = None,
    ) -> None:
        """Prepare for a name that `reserve` gave; the record has its times already. The rest is as for `Recording`."""
        self.buffer = buffer
        self._layout = layout
        self._max_stream_bytes = max_stream_bytes
        self._durable = durable
        self._redaction = redaction
        self._streams: dict[str, _Stream] = {}

    @property
    def name(self) -> str:
        """The buffer's name."""
        return self.buffer.name

    def append(self, stream: str, data: bytes) -> None:
        """Write bytes of a stream.

        Raises:
            StoreFailed: they could not be written; the deposit is to be discarded.
        """
        self._append(stream, self._redaction.feed(stream, data) if self._redaction else data)

    def settle(self) -> None:
        """As `Recording.settle`."""
        for stream, kept in self._redaction.finish().items() if self._redaction else ():
            self._append(stream, kept)

    def _append(self, stream: str, data: bytes) -> None:
        if not data:
            return
        try:
            written = self._streams.get(stream)
            if written is None:
                written = self._streams[stream] = _Stream(self._layout.stream(self.name, stream))
            room = self._max_stream_bytes - written.bytes
            if len(data) > room:
                written.dropped += len(data) - room
                data = data[:room]
            write_all(written.fd, data)
            written.bytes += len(data)
            written.newlines += data.count(b"\n")
            written.last = data[-1:] or written.last
            written.sha256.update(data)
        except OSError as error:
            raise store_failed(error) from error

    def seal(
        self,
        *,
        exit_code: int | None,
        note: str = "",
        mimes: Mapping[str, str] | None = None,
        lines: Mapping[str, int] | None = None,
        partial: str = "",
        gaps: Iterable[Gap] = (),
    ) -> Buffer:
        """Write its record; putting that into the index is the caller's.

        Args:
            exit_code: of the command, None where there is none.
            note: what a reader must know of it.
            mimes: MIME types by stream.
            lines: lines by stream, where they are not those of its raw bytes.
            partial: why it is not the whole; empty where it is.
            gaps: where something is missing.

        Raises:
            StoreFailed: the record could not be written; the deposit is to be discarded.
        """
        self.settle()
        dropped = {name: one.dropped for name, one in self._streams.items() if one.dropped}
        if self._redaction and self._redaction.count:
            note = joined_notes(note, f"redacted: {self._redaction.count:,}")
        infos: dict[str, StreamInfo] = {}
        try:
            self._write_order()
            for name, stream in self._streams.items():
                count = (lines or {}).get(name, stream.newlines + (stream.last != b"\n"))
                infos[name] = StreamInfo(stream.bytes, count, stream.sha256.hexdigest(), (mimes or {}).get(name, ""))
                if self._durable:
                    os.fsync(stream.fd)
            self.buffer = self.buffer._replace(
                state="sealed", exit_code=exit_code, note=note, streams=infos, partial=partial, gaps=tuple(gaps)
            )
            if dropped:
                self.buffer = without_dropped(self.buffer, dropped)
            self._write("meta.json", encode_buffer(self.buffer))
            if self._durable:
                sync_folder(self._layout.folder(self.name))
                sync_folder(self._layout.buffers)
        except OSError as error:
            raise store_failed(error) from error
        finally:
            self._close()
        return self.buffer

    def _write_order(self) -> None:
        """Of two streams nobody knows how they interleaved: one follows the other."""
        both = [name for name in STREAM_CODES if name in self._streams]
        if len(both) > 1:
            self._write("order", b"".join(pack_arrival(0, self._streams[name].bytes, name) for name in both))

    def _write(self, name: str, data: bytes) -> None:
        fd = new_file(self._layout.stream(self.name, name), FILE_MODE)
        try:
            write_all(fd, data)
            if self._durable:
                os.fsync(fd)
        finally:
            os.close(fd)

    def _close(self) -> None:
        for stream in self._streams.values():
            os.close(stream.fd)
        self._streams.clear()

    def discard(self) -> None:
        """Nothing of it is wanted."""
        self._close()
        remove_folder(self._layout.folder(self.name))
