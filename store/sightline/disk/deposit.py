"""Writes buffers whose bytes are all there already: sealed, without a marker, and indexed in batches.

What `Recording` does for a running capture costs several times as much, and an import has thousands of buffers.
"""

import hashlib  # noqa: F401 - of thousands of streams OpenSSL, which it loads, pays for itself: see `sha256`
import os
from collections.abc import Iterable, Mapping

from sightline.base.private_files import FILE_MODE, new_file, remove_folder, sync_folder, write_all
from sightline.base.records import Buffer, Gap, Seal, written_seals
from sightline.base.sha256 import sha256_hex
from sightline.disk.buffer_writer import StreamWriter
from sightline.disk.errors import store_failed
from sightline.disk.layout import META, Layout
from sightline.disk.meta import encode_buffer
from sightline.disk.order import STREAM_CODES, pack_arrival
from sightline.disk.progress import decoded_record
from sightline.disk.recording import sealed_record
from sightline.disk.seals import seal_of
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.settings.config import Redaction


class Deposit:
    """A buffer that is being written. Nobody knows its name before `seal` has returned."""

    def __init__(
        self,
        layout: Layout,
        buffer: Buffer,
        *,
        max_stream_bytes: int,
        durable: bool = False,
        redaction: "Redaction | None" = None,
    ) -> None:
        """Prepare for a name from `reserve`; the record has its times already. Other arguments: see `Recording`."""
        self.buffer = buffer
        self._layout = layout
        self._max_stream_bytes = max_stream_bytes
        self._durable = durable
        self._redaction = redaction
        self._streams: dict[str, StreamWriter] = {}

    @property
    def name(self) -> str:
        """Name of the buffer."""
        return self.buffer.name

    def append(self, stream: str, data: bytes) -> None:
        """Write bytes of a stream.

        Raises:
            StoreFailed: they could not be written; the caller must discard the deposit.
        """
        self._append(stream, self._redaction.feed(stream, data) if self._redaction else data)

    def settle(self) -> None:
        """Write what redaction holds back; see `Recording.settle`."""
        for stream, kept in self._redaction.finish().items() if self._redaction else ():
            self._append(stream, kept)

    def _append(self, stream: str, data: bytes) -> None:
        if not data:
            return
        try:
            written = self._streams.get(stream)
            if written is None:
                path = self._layout.stream(self.name, stream)
                written = self._streams[stream] = StreamWriter(path, self._max_stream_bytes, sealed=True)
            written.append(data)
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
        timed_out: bool = False,
    ) -> Buffer:
        """Write the record; the caller puts it into the index.

        Args:
            exit_code: exit code of the command; None if there is none.
            note: what a reader must know of it.
            mimes: MIME types by stream.
            lines: number of lines by stream, if they are not those of its raw bytes.
            partial: why it is not the whole; empty if it is.
            gaps: where something is missing.
            timed_out: whether the time limit ended it.

        Raises:
            StoreFailed: the record could not be written; the caller must discard the deposit.
        """
        self.settle()
        dropped = {name: one.dropped for name, one in self._streams.items() if one.dropped}
        try:
            order = self._write_order()
            streams = {name: one.seal(name, durable=self._durable) for name, one in self._streams.items()}
            seals = (*(seal for info, seal in streams.values() if info.bytes), *order)
            self.buffer = sealed_record(
                self.buffer._replace(
                    exit_code=exit_code,
                    timed_out=timed_out,
                    partial=partial,
                    gaps=tuple(gaps),
                    seals=written_seals(seals),
                ),
                {name: info for name, (info, _) in streams.items() if info.bytes},
                dropped,
                note=note,
                mimes=mimes or {},
                lines=lines or {},
                redacted=self._redaction.count if self._redaction else 0,
            )
            self.buffer = decoded_record(self._layout, self.buffer)
            self._write(META, encode_buffer(self.buffer))
            if self._durable:
                sync_folder(self._layout.folder(self.name))
                sync_folder(self._layout.buffers)
        except OSError as error:
            raise store_failed(error) from error
        finally:
            self._close()
        return self.buffer

    def _write_order(self) -> list[Seal]:
        """Write an order in which one stream follows the other, because nobody knows how they interleaved."""
        both = [name for name in STREAM_CODES if name in self._streams]
        if len(both) < 2:
            return []
        return [self._write("order", b"".join(pack_arrival(0, self._streams[name].bytes, name) for name in both))]

    def _write(self, name: str, data: bytes) -> Seal:
        fd = new_file(self._layout.stream(self.name, name), FILE_MODE)
        try:
            write_all(fd, data)
            if self._durable:
                os.fsync(fd)
            return seal_of(name, fd, sha256_hex(data))
        finally:
            os.close(fd)

    def _close(self) -> None:
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()

    def discard(self) -> None:
        """Drop the buffer."""
        self._close()
        remove_folder(self._layout.folder(self.name))
