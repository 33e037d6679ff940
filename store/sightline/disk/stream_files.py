"""Opens the streams of a buffer, and returns their files."""

import errno
import os

from sightline.base import refs
from sightline.base.errors import StoreFailed
from sightline.base.private_files import open_stored, refuse_all_but_file, refuse_link, remove_file
from sightline.base.records import Buffer
from sightline.disk.errors import cause_of
from sightline.disk.layout import CONTENT_NAME_ENDING, DERIVED, SEALED_MODE, Layout
from sightline.disk.line_index import Checkpoints, StreamIndex
from sightline.disk.order import STREAM_CODES
from sightline.disk.seals import SOUND, standing, status_of
from sightline.disk.streams import StreamReader
from sightline.light.late_imports import late_modules
from sightline.light.typing_names import TYPE_CHECKING

with late_modules(globals()):
    from sightline.disk import tombstones  # only a lost stream needs them

if TYPE_CHECKING:  # only a buffer with two streams needs it
    from sightline.disk.merged_streams import MergedReader

_SCAN_BYTES = 1 << 16  # a smaller stream is read by lines without an index


def open_stream(layout: Layout, buffer: Buffer, stream: str) -> StreamReader:
    """Open one stream of a buffer; an empty one has no file, and reads as empty.

    Raises:
        ExpiredRef, StoreFailed: the record has bytes that the disk does not have.
    """
    is_complete = buffer.state != "running"
    most = buffer.stream(stream).bytes if is_complete else None  # a sparse file of a terabyte would never be read
    fd = _open_file(layout, buffer.name, stream) if most != 0 else -1
    if fd < 0 and most:
        raise tombstones.lost_stream(layout, buffer, stream)
    index = None
    if stream in STREAM_CODES and fd >= 0:
        try:
            lines_fd = _open_lines(layout, buffer)
        except BaseException:
            os.close(fd)
            raise
        if lines_fd >= 0 or not is_complete or (most or 0) < _SCAN_BYTES:
            index = StreamIndex(Checkpoints(lines_fd), stream)
    return StreamReader(fd, refs.format_ref(buffer.name, stream), index, most=most)


def open_merged(layout: Layout, buffer: Buffer) -> "MergedReader":
    """Open both streams of a buffer in order of arrival. Raises what `open_stream` raises."""
    from contextlib import ExitStack, closing  # few commands need what they load, or the next

    from sightline.disk.merged_streams import MergedReader  # 2 ms: most commands write to one stream

    with ExitStack() as opened:  # if one is gone meanwhile, the others are closed
        out = opened.enter_context(open_stream(layout, buffer, "out"))
        err = opened.enter_context(open_stream(layout, buffer, "err"))
        points = opened.enter_context(closing(Checkpoints(_open_lines(layout, buffer))))
        order_fd = _open_file(layout, buffer.name, "order")
        opened.pop_all()
    return MergedReader(refs.format_ref(buffer.name, "all"), out, err, points, order_fd)


def _open_file(layout: Layout, name: str, file: str) -> int:
    try:
        return open_stored(layout.stream(name, file))
    except FileNotFoundError:
        return -1


def _open_lines(layout: Layout, buffer: Buffer) -> int:
    """Open the line index, unless it is not the one that was sealed: lines are found without it, too."""
    fd = _open_file(layout, buffer.name, "lines")
    if fd >= 0 and buffer.seal("lines") and standing(buffer, "lines", status_of(os.fstat(fd))) != SOUND:
        os.close(fd)
        return -1
    return fd


def stream_path(layout: Layout, buffer: Buffer, stream: str) -> str:
    """Return a file with the raw bytes of a stream, for any Unix tool; ``all`` is made beside them at its first use.

    Raises:
        UnsafeStore: it is a symbolic link. ExpiredRef, StoreFailed: raised by `open_stream`.
    """
    path = layout.stream(buffer.name, stream)
    refuse_link(layout.folder(buffer.name))
    refuse_all_but_file(path)
    if stream == "all":
        return _merged_path(layout, buffer, path)
    if os.path.exists(path):
        return path
    if buffer.state != "running" and buffer.stream(stream).bytes:
        raise tombstones.lost_stream(layout, buffer, stream)
    return os.devnull


def content_path(layout: Layout, buffer: Buffer, stream: str) -> str:
    """Return a sealed stream's file under the name ``SHA256.json``, made beside it.

    If that cannot be made, or the stream is still written, return what `stream_path` does, and raise the same.
    """
    path = stream_path(layout, buffer, stream)
    sha256 = buffer.stream(stream).sha256
    if not sha256:
        return path
    named = layout.stream(buffer.name, sha256 + CONTENT_NAME_ENDING)
    refuse_all_but_file(named)
    if buffer.is_altered(stream):
        return path
    try:
        if os.path.exists(named) and not os.path.samefile(path, named):  # one of the two was replaced
            remove_file(named)
        os.link(path, named)
    except FileExistsError:
        pass
    except OSError:  # the disk is full, or out of links: their own name does as well
        return path
    return named


def _merged_path(layout: Layout, buffer: Buffer, path: str) -> str:
    merged = open_merged(layout, buffer)
    try:
        if single := merged.single:
            return stream_path(layout, buffer, single)
        made_of = max(merged.source(stream).status[1] for stream in STREAM_CODES)
        if not os.path.exists(path) or not _is_made_of(os.stat(path), made_of):
            try:
                merged.copy_to(path)
                if buffer.state != "running":  # a copy of a running stream would be a part
                    os.chmod(path, SEALED_MODE)
                    os.utime(path, ns=(made_of, made_of))
            except OSError as error:
                what = cause_of(error, layout.root).what
                raise StoreFailed(
                    f"both streams of {buffer.ref} cannot be written to one file: {what}",
                    f"ask for each, {buffer.ref} and {buffer.ref}.err; `sightline show {buffer.ref}.all` shows both",
                ) from error
        return path
    finally:
        merged.close()


def _is_made_of(status: os.stat_result, mtime_ns: int) -> bool:
    """Return whether a file that was made from streams is as it was made: it has their time, and is read-only."""
    return status.st_mtime_ns == mtime_ns and status.st_mode & 0o777 == SEALED_MODE


def take_bytes(layout: Layout, buffer: Buffer, *, at_least: int) -> None:
    """Remove the files of a sealed buffer's streams, and those made from them, if that frees this many bytes.

    Raises:
        OSError: it would free less; nothing was removed.
    """
    paths = [layout.stream(buffer.name, file) for file in (*buffer.streams, *DERIVED)]
    found = [(path, os.lstat(path)) for path in paths if os.path.lexists(path)]
    if sum(status.st_size for _, status in found if status.st_nlink == 1) < at_least:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    for path, _ in found:
        remove_file(path)
