"""Recovers after a crash: captures whose writer died become ``interrupted`` buffers, and a lost index is made again.

Both use only what lies in the folders, and memory that does not depend on how much that is.
"""

import os
from collections.abc import Iterator, Mapping

from sightline.base.errors import OfNewerVersion
from sightline.base.private_files import open_private, open_stored, remove_file, remove_folder, written_end
from sightline.base.records import Buffer, Seal, StreamInfo, written_seals
from sightline.base.sha256 import hash_file
from sightline.disk.index import Index
from sightline.disk.layout import CONTENT_NAME_ENDING, DERIVED, SEALED_MODE, Layout
from sightline.disk.line_index import count_newlines
from sightline.disk.live import marker_names, take_dead, writer_alive
from sightline.disk.meta import read_meta, rewrite_meta
from sightline.disk.order import RECORD_BYTES, STREAM_CODES, pack_arrival, read_arrivals
from sightline.disk.progress import decoded_record, with_progress
from sightline.disk.seals import seal_of
from sightline.disk.utf16 import HEAD_BYTES, mime_of
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

_NOT_STREAMS = {"order", "lines", *DERIVED}
_PRETTY = "pretty."  # for further blocks
_HOLE_BYTES = 4 << 30  # as many zeros as a stream may have by default: a file system that compresses makes them a hole


class Adopted(NamedTuple):
    """The result of `adopt_dead`.

    Attributes:
        interrupted: names of buffers that are marked interrupted now.
        dropped: names that were reserved, and never had a record.
    """

    interrupted: list[str]
    dropped: list[str]


def adopt_dead(layout: Layout, index: Index) -> Adopted:
    """Take care of every capture whose writer died. Any process may do that; the marker's lock prevents clashes.

    If the store cannot be written to, nothing is done.
    """
    interrupted, dropped = list[str](), list[str]()
    if index.unwritable:
        return Adopted(interrupted, dropped)
    take_in_sealed(layout, index)
    for name in {*marker_names(layout), *(buffer.name for buffer in index.running())}:
        buffer = adopt(layout, index, name)
        if buffer is None:
            if not os.path.lexists(layout.folder(name)) and not _was_removed(layout, name):
                dropped.append(name)
        elif buffer.state == "interrupted":
            interrupted.append(name)
    return Adopted(interrupted, dropped)


def adopt(layout: Layout, index: Index, name: str) -> Buffer | None:
    """Take care of one capture if its writer died, and return its record; None if it lives, or nothing is left.

    One that is sealed, and waits for its writer to tell the index, is taken into it.

    What a newer version left is for that version to take care of.
    """
    if index.unwritable:
        buffer = index.buffer(name)
        return as_left(layout, buffer) if buffer and not writer_alive(layout, name) else None
    marker = take_dead(layout, name)
    if marker is None and (writer_alive(layout, name) or os.path.lexists(layout.marker(name))):
        waiting = _sealed_and_unknown(layout, index, name)
        return waiting if waiting and _take_in(layout, index, waiting) else None
    try:
        buffer = read_meta(layout, name)
    except OfNewerVersion:
        if marker:
            marker.close(remove=False)
        return None
    except (FileNotFoundError, ValueError) as error:
        with index.transaction():
            if not _was_removed(layout, name):  # an evicted one stays in the list
                index.forget_buffer(name)
        if marker:
            if isinstance(error, FileNotFoundError):  # otherwise it has bytes, from which the doctor makes a buffer
                remove_folder(layout.folder(name))
            marker.close()
        return None
    try:
        if buffer.state == "running":
            buffer = close_interrupted(layout, buffer)
        is_left = _tell(layout, index, buffer)
    except BaseException:
        if marker:
            marker.close(remove=False)
        raise
    if marker:
        marker.close()
    return buffer if is_left else None


def _tell(layout: Layout, index: Index, buffer: Buffer) -> bool:
    """Tell the index how a buffer ended, unless it was removed meanwhile; return whether it is there."""
    known = index.buffer(buffer.name)
    if known and known.state == buffer.state:
        return True
    with index.transaction():
        if _was_removed(layout, buffer.name):
            return False
        index.put_buffer(buffer)
    return True


def _was_removed(layout: Layout, name: str) -> bool:
    """Return whether a buffer was removed or evicted; within a transaction that stays so, as removing takes one."""
    return os.path.lexists(layout.tombstone(name))


def take_in_sealed(layout: Layout, index: Index) -> None:
    """Take sealed buffers into the index that does not know them yet, in the order in which they began."""
    waiting = [_sealed_and_unknown(layout, index, name) for name in marker_names(layout)]
    for buffer in sorted(filter(None, waiting), key=lambda buffer: buffer.created):
        _take_in(layout, index, buffer)


def _sealed_and_unknown(layout: Layout, index: Index, name: str) -> Buffer | None:
    """Return the record of a sealed buffer that the index does not know yet; None for any other."""
    if index.knows(name):
        return None
    with suppress(FileNotFoundError, ValueError, OfNewerVersion):
        buffer = read_meta(layout, name)
        return buffer if buffer.state == "sealed" else None
    return None


def _take_in(layout: Layout, index: Index, buffer: Buffer) -> bool:
    """Take a buffer into the index, unless it was removed or taken in meanwhile; return whether it is there."""
    with index.transaction():
        if _was_removed(layout, buffer.name):
            return False
        if not index.knows(buffer.name):  # who took it in may have pinned it
            index.put_buffer(buffer)
    return True


def waiting_for_index(layout: Layout, artifact: str) -> Buffer | None:
    """Return the buffer of an id that was sealed while the index was locked, and which the index does not know yet."""
    for name in marker_names(layout):
        with suppress(FileNotFoundError, ValueError, OfNewerVersion):
            if not writer_alive(layout, name):
                buffer = read_meta(layout, name)
                if buffer.state == "sealed" and buffer.artifact == artifact:
                    return buffer
    return None


def amend_waiting(layout: Layout, name: str, fields: Mapping[str, Any]) -> Buffer | None:
    """Change the record of such a buffer, and return it; None for any other. Raises OSError, OfNewerVersion."""
    marker = take_dead(layout, name)  # nobody puts it into the index meanwhile
    if marker is None:
        return None
    try:
        buffer = read_meta(layout, name)
        if buffer.state != "sealed":
            return None
        rewrite_meta(layout, buffer := buffer._replace(**fields))
        return buffer
    finally:
        marker.close(remove=False)


def as_left(layout: Layout, buffer: Buffer) -> Buffer:
    """Return the record of what a dead writer left, without hashes, for a store that cannot be written to."""
    try:
        buffer = read_meta(layout, buffer.name)  # the writer may have died before it updated the index
    except (FileNotFoundError, ValueError, OfNewerVersion):
        pass
    if buffer.state != "running":
        return buffer
    return with_progress(layout, buffer)._replace(state="interrupted", ended=buffer.created)


def close_interrupted(layout: Layout, buffer: Buffer) -> Buffer:
    """Seal what a dead writer left: every byte that reached the disk is kept."""
    streams, seals, ended = {}, list[Seal](), buffer.created
    for stream, path in stream_files(layout, buffer.name):
        info, seal = sealed_file(path, stream)
        if info.bytes:
            streams[stream] = info
            seals.append(seal)
            ended = max(ended, os.lstat(path).st_mtime)
            os.chmod(path, SEALED_MODE)
        else:
            remove_file(path)
    _complete_order(layout, buffer.name, streams)
    for file in ("order", "lines"):
        with suppress(FileNotFoundError):
            info, seal = sealed_file(layout.stream(buffer.name, file), file)
            seals.append(seal._replace(sha256=info.sha256))
    buffer = buffer._replace(state="interrupted", ended=ended, streams=streams, seals=written_seals(seals))
    buffer = decoded_record(layout, buffer)
    rewrite_meta(layout, buffer)
    return buffer


def stream_files(layout: Layout, name: str) -> Iterator[tuple[str, str]]:
    """Yield (stream, path) for the streams in a buffer's folder."""
    for file in sorted(os.listdir(layout.folder(name))):
        other = file in _NOT_STREAMS or file.startswith(_PRETTY) or file.endswith((".tmp", CONTENT_NAME_ENDING))
        if not other:
            yield file, layout.stream(name, file)


def sealed_file(path: str, name: str) -> tuple[StreamInfo, Seal]:
    """Return size, lines and hash of a file as it is, and its seal."""
    fd = open_stored(path)
    try:
        seal = seal_of(name, fd)
        size = _written_end(fd, seal.bytes)
        seal = seal._replace(bytes=size)  # so that a file with more is altered
        newlines = count_newlines(fd, 0, size)
        unterminated = bool(size) and os.pread(fd, 1, size - 1) != b"\n"
        mime = mime_of(os.pread(fd, HEAD_BYTES, 0)) if name in STREAM_CODES else ""
        return StreamInfo(size, newlines + unterminated, hash_file(fd, size), mime), seal
    finally:
        os.close(fd)


def _written_end(fd: int, size: int) -> int:
    """Return where the bytes of a stream end, to which a capture only appends, without a hole that no capture made."""
    if size <= _HOLE_BYTES:
        return size
    end = written_end(fd, size)
    return end if size - end > _HOLE_BYTES else size


def _complete_order(layout: Layout, name: str, streams: dict[str, StreamInfo]) -> None:
    """Add an order record for bytes whose record was never written."""
    path = layout.stream(name, "order")
    try:
        fd = open_private(path, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        known, latest, records = {"out": 0, "err": 0}, 0, 0
        for arrival in read_arrivals(fd):
            records += 1
            known[arrival.stream] += arrival.length
            latest = arrival.time
        os.ftruncate(fd, records * RECORD_BYTES)
        for stream, length in known.items():
            missing = streams.get(stream, StreamInfo(0, 0)).bytes - length
            if missing > 0:
                os.pwrite(fd, pack_arrival(latest, missing, stream), os.fstat(fd).st_size)
    finally:
        os.close(fd)
