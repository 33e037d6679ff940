"""A running capture, from its first byte to the seal: a reserved name, its folder, its marker, its record."""

import os
import stat
import time

from sightline.base.errors import StoreFailed
from sightline.base.private_files import FOLDER_MODE, open_private, remove_folder
from sightline.base.records import (
    DROPPED,
    Buffer,
    Gap,
    StreamInfo,
    joined_notes,
    plain_codes,
    storable,
    stream_info,
    written_seals,
)
from sightline.base.refs import HEX_DIGITS, MANY_BUFFERS, MANY_HEX_DIGITS
from sightline.disk.buffer_writer import BufferWriter
from sightline.disk.errors import is_busy, store_failed
from sightline.disk.index import Index, IndexChange
from sightline.disk.layout import Layout
from sightline.disk.meta import write_meta
from sightline.disk.progress import decoded_record
from sightline.disk.sharing import share_streams
from sightline.disk.sqlite import sqlite3
from sightline.light.typing_names import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping

if TYPE_CHECKING:  # only with redaction
    from sightline.settings.config import Redaction

_ENTRY_BYTES = 20  # of a name like cmd_a1b2c3: ext4 rounds it up, and btrfs counts it twice
_OWN_LINKS = 2  # of a folder: its name, and the dot in it
_TRIES_PER_LENGTH = 4
_BACK_BYTES = 1 << 18  # bytes that are read back at once


class Recording:
    """One running capture. Bytes that `append` has taken are on disk; `seal` makes the buffer immutable.

    Attributes:
        buffer: its record.
        redaction: hides secrets before anything is written; None to hide nothing.
    """

    def __init__(
        self,
        layout: Layout,
        index: Callable[[], Index],
        buffer: Buffer,
        *,
        max_stream_bytes: int,
        durable: bool = False,
        redaction: "Redaction | None" = None,
        later: Callable[[IndexChange], int] | None = None,
    ) -> None:
        """Make the folder, marker and record of a buffer with a name from `reserve`.

        Args:
            layout: paths of the store.
            index: opens the index.
            buffer: the buffer's record.
            max_stream_bytes: most bytes of a stream to keep.
            durable: whether to sync files.
            redaction: hides secrets before anything is written; a line is then written once it is complete.
            later: lets the entry of a buffer that was never listed as running wait, if that may be; see `Store.later`.

        Raises:
            StoreFailed: the store cannot keep it.
        """
        self._layout = layout
        self._index = index
        self._durable = durable
        self._later = later
        self.buffer = buffer
        try:
            self._writer = BufferWriter(layout, buffer.name, max_stream_bytes=max_stream_bytes, durable=durable)
        except StoreFailed:
            remove_folder(layout.folder(buffer.name))
            raise
        try:
            write_meta(layout, buffer, durable=durable)
        except OSError as error:
            self._writer.abandon()
            remove_folder(layout.folder(buffer.name))
            raise store_failed(error) from error
        self.redaction = redaction
        self._unwritten: dict[str, bytes] = {}
        self._sizes: dict[str, int] | None = None
        self._is_registered = False
        self.append = self._append_redacted if redaction else self._writer.append
        self.progress = self._writer.progress
        self.tell_process = self._writer.tell_process

    @property
    def name(self) -> str:
        """Name of the buffer."""
        return self.buffer.name

    def time_by(self, came_ns: Callable[[], int]) -> None:
        """Have arrivals be timed by somebody who did not get them at once; call it before the first.

        Args:
            came_ns: returns when what is appended now came, in nanoseconds since the buffer's ``created``.
        """
        self._writer.came_ns = came_ns

    def prepare(self) -> None:
        """Open the index, which `register` and `seal` need. Raises StoreFailed."""
        self._index()

    def register(self) -> None:
        """List the running buffer. This is separate from the start, so that a command need not wait for the index.

        It does not wait for an index that is locked for long: the buffer is found by its name, and listed later.

        Raises:
            StoreFailed: the index cannot take it.
        """
        try:
            with self._index().hurried():
                self._index().put_buffer(self.buffer)
        except sqlite3.Error as error:
            if not is_busy(error):
                raise store_failed(error, self._layout.root) from error
        self._is_registered = True

    def _append_redacted(self, stream: str, data: bytes | memoryview) -> None:
        """Append bytes without secrets; see `BufferWriter.append`."""
        assert self.redaction
        is_first = not self.redaction.count
        if kept := self.redaction.feed(stream, data):
            self._unwritten[stream] = kept
            self._writer.append(stream, kept)
            del self._unwritten[stream]
        if is_first and self.redaction.count:
            # Readers of the running buffer, and of what a dead writer left, must know of it.
            self.buffer = self.buffer._replace(note=joined_notes(self.buffer.note, "redacted: 1 or more"))
            try:
                write_meta(self._layout, self.buffer, durable=self._durable)
            except OSError as error:
                raise store_failed(error) from error
            if self._is_registered:
                self._put()

    def settle(self) -> None:
        """Write what redaction holds back, because no more of the streams so far will come.

        Raises:
            StoreFailed: it could not be written.
        """
        if self.redaction:
            self._unwritten = {stream: kept for stream, kept in self.redaction.finish().items() if kept}
        for stream in list(self._unwritten):
            self._writer.append(stream, self._unwritten[stream])
            del self._unwritten[stream]

    def read_back(self, stream: str) -> Iterator[bytes]:
        """Yield what was taken of a stream, without secrets, as far as it can be read even after a failure.

        Of the bytes with which `append` failed, it yields only those that redaction had taken.
        """
        left = self.progress(stream)[0] if self._sizes is None else self._sizes.get(stream, 0)
        if left:
            with open(open_private(self._layout.stream(self.name, stream), os.O_RDONLY), "rb") as file:
                while left and (data := file.read(min(left, _BACK_BYTES))):
                    left -= len(data)
                    yield data
        if stream in self._unwritten:
            yield self._unwritten[stream]

    def _put(self) -> None:
        try:
            self._index().put_buffer(self.buffer)
        except sqlite3.Error as error:
            raise store_failed(error, self._layout.root) from error

    def seal(
        self,
        *,
        exit_code: int | None,
        ended: float | None = None,
        signal: int = 0,
        timed_out: bool = False,
        note: str = "",
        mimes: Mapping[str, str] | None = None,
        lines: Mapping[str, int] | None = None,
        partial: str = "",
        gaps: Iterable[Gap] = (),
    ) -> Buffer:
        """End the capture: hash, make read-only, share storage with identical streams, write the record.

        Args:
            exit_code: exit code of the command; None if there is none.
            ended: when it ended, in seconds since the epoch; now by default.
            signal: number of the signal that ended it; 0 if none did.
            timed_out: whether the time limit ended it.
            note: what a reader must know of how it was captured.
            mimes: MIME types by stream.
            lines: number of lines by stream, if they are not those of its raw bytes.
            partial: why it is not the whole; empty if it is.
            gaps: where something is missing.

        Raises:
            StoreFailed: the record could not be written.
        """
        self.settle()
        dropped = self._writer.dropped
        self._sizes = {stream: info.bytes for stream, info in self._writer.infos().items()}
        streams = self._writer.finish()
        self.buffer = sealed_record(
            self.buffer._replace(
                ended=max(ended or time.time(), self.buffer.created),  # in case that the clock was set back
                exit_code=exit_code,
                signal=signal,
                timed_out=timed_out,
                partial=partial,
                gaps=tuple(gaps),
                seals=written_seals(self._writer.seals),
            ),
            streams,
            dropped,
            note=note,
            mimes=mimes or {},
            lines=lines or {},
            redacted=self.redaction.count if self.redaction else 0,
        )
        self.buffer = decoded_record(self._layout, self.buffer)
        try:
            [self.buffer] = share_streams(self._layout, self._index, [self.buffer])
            if self._puts_later():
                return self.buffer
            with self._index().transaction():
                self._take_over_marks()
                write_meta(self._layout, self.buffer, durable=self._durable)
                self._put()
        except OSError as error:
            raise store_failed(error) from error
        except sqlite3.Error as error:
            if not is_busy(error):
                raise store_failed(error, self._layout.root) from error
            self._leave_sealed()
        self._writer.release()
        return self.buffer

    def _puts_later(self) -> bool:
        """Write the record, and let its entry in the index wait; return False if it may not.

        Until then the marker stays locked. If we are killed, the next to look takes the buffer into the index.
        """
        if self._later is None or self._is_registered:
            return False
        write_meta(self._layout, self.buffer, durable=self._durable)

        def put(index: Index) -> None:
            if os.path.lexists(self._layout.tombstone(self.name)):
                return  # who got it by its name has removed it
            if index.knows(self.name):  # who got it by its name has put it there, and may have pinned it
                self._take_over_marks()
                write_meta(self._layout, self.buffer, durable=self._durable)
            index.put_buffer(self.buffer)

        def end(is_put: bool) -> None:
            if is_put:
                self._writer.release()
            else:
                self._writer.abandon(for_adoption=True)

        self._later(IndexChange(put, end))
        return True

    def _leave_sealed(self) -> None:
        """Write the record alone, the index being locked for long: the next to look takes the buffer into it."""
        try:
            self._take_over_marks()
            write_meta(self._layout, self.buffer, durable=self._durable)
        except (sqlite3.Error, OSError) as error:
            raise store_failed(error, self._layout.root) from error
        self._writer.abandon(for_adoption=True)

    def _take_over_marks(self) -> None:
        """Take over a pin or a label that it was given while it ran, or that it is no longer found by its use."""
        known = self._index().buffer(self.name)
        if known is not None:
            self.buffer = self.buffer._replace(
                pinned=known.pinned, label=known.label, accessed=known.accessed, artifact=known.artifact
            )

    def discard(self) -> None:
        """Drop the buffer, because the command never started, or the store failed."""
        self._writer.abandon()
        remove_folder(self._layout.folder(self.name))
        try:
            with self._index().hurried():
                self._index().forget_buffer(self.name)
        except (sqlite3.Error, StoreFailed):
            pass  # another process forgets a record without a folder

    def abandon(self) -> None:
        """Break off as if the writer had died: what came is kept, and will be marked interrupted."""
        try:
            self.settle()
        except StoreFailed:
            pass  # the files stay as they are
        self._writer.abandon(for_adoption=True)


def sealed_record(
    buffer: Buffer,
    streams: Mapping[str, StreamInfo],
    dropped: Mapping[str, int],
    *,
    note: str,
    mimes: Mapping[str, str],
    lines: Mapping[str, int],
    redacted: int,
) -> Buffer:
    """Make the record of a buffer whose streams are written.

    Args:
        buffer: its record so far.
        streams: facts on what was written.
        dropped: number of bytes of each stream that came after its limit.
        note: what a reader must know of how it was captured.
        mimes: MIME types by stream.
        lines: number of lines by stream, if they are not those of its raw bytes.
        redacted: number of hidden secrets.
    """
    sealed = buffer._replace(
        state="sealed",
        **plain_codes(exit_code=buffer.exit_code, signal=buffer.signal),
        note=joined_notes(note, f"redacted: {redacted:,}" if redacted else ""),
        streams={
            name: stream_info((info.bytes, lines.get(name, info.lines), info.sha256, mimes.get(name, info.mime)))
            for name, info in streams.items()
        },
    )
    if not dropped:
        return sealed
    gaps = [Gap(stream, sealed.stream(stream).lines, count, "bytes") for stream, count in dropped.items()]
    kept = [gap for gap in sealed.gaps if gap.after <= sealed.stream(gap.stream).lines]
    partial = ", ".join(filter(None, (sealed.partial, DROPPED)))
    return sealed._replace(partial=partial, gaps=(*kept, *gaps))


def reserve(layout: Layout, kind: str) -> str:
    """Return a name that no process has or had, reserved by making its folder.

    Raises:
        StoreFailed: the folder could not be made.
    """
    digits = HEX_DIGITS if count_folders(layout.buffers) < MANY_BUFFERS else MANY_HEX_DIGITS
    while True:
        for _ in range(_TRIES_PER_LENGTH):
            name = f"{kind}_{os.urandom((digits + 1) // 2).hex()[:digits]}"
            if os.path.lexists(layout.tombstone(name)):
                continue  # a ref must never change its meaning
            folder = layout.folder(name)
            try:
                os.mkdir(folder, FOLDER_MODE)
            except FileExistsError:
                continue
            except OSError as error:
                raise store_failed(error) from error
            if stat.S_IMODE(os.lstat(folder).st_mode) != FOLDER_MODE:  # the umask may have removed bits
                os.chmod(folder, FOLDER_MODE)
            return name
        digits += 1


def count_folders(path: str) -> int:
    """Return about how many folders a folder has, without listing it, which would take each capture some ms.

    Where its links do not count them, as on btrfs and beyond 65,000 on ext4, its size does.
    """
    status = os.stat(path)
    return status.st_nlink - _OWN_LINKS if status.st_nlink > _OWN_LINKS else status.st_size // _ENTRY_BYTES


def new_buffer(name: str, kind: str, command: str, cwd: str, session: str, **fields: Any) -> Buffer:
    """Make the record of a capture that begins now; ``fields`` are further fields."""
    now = time.time()
    known: dict[str, Any] = {
        "name": name,
        "kind": kind,
        "state": "running",
        "command": storable(command),
        "cwd": storable(cwd),
        "session": session,
        "created": now,
        "ended": None,
        "accessed": now,
        "exit_code": None,
        "signal": 0,
        "timed_out": False,
        "label": "",
        "pinned": False,
        "artifact": "",
        "note": "",
        "origin": "",
        "streams": {},
    }
    further = {name: storable(value) if isinstance(value, str) else value for name, value in fields.items()}
    return Buffer(**{**known, **further})
