"""``pretty``: a JSON result as lines, made beside the stream, and made again if it is missing or was changed.

The lines of a ``tool`` buffer's block are those of this file; its bytes, its hash and JSON paths are the stream's.
The file's size and hash are part of the block's MIME type, so that they go wherever the record goes.
"""

import os
import re
from contextlib import suppress

from sightline.base.private_files import open_private, open_stored, remove_file, write_all
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.base.sha256 import Hasher, hash_file
from sightline.disk.errors import store_failed
from sightline.disk.layout import SEALED_MODE, Layout
from sightline.disk.seals import status_of
from sightline.disk.stream_files import open_stream
from sightline.disk.streams import StreamReader
from sightline.light.named_tuple import NamedTuple
from sightline.shape.json.pretty import pretty

JSON_MIME = "application/json"
_READ_BYTES = 1 << 16
_MIME = re.compile(rf"{JSON_MIME}; pretty=(\d+)-([0-9a-f]{{64}})")


class Facts(NamedTuple):
    """The expected size and hash of a pretty form.

    Attributes:
        bytes: its size.
        sha256: its hash, in hex.
    """

    bytes: int
    sha256: str

    @property
    def mime(self) -> str:
        """The MIME type for the block from which it is made."""
        return f"{JSON_MIME}; pretty={self.bytes}-{self.sha256}"


def facts_of(buffer: Buffer, stream: str) -> Facts | None:
    """Return the facts for the pretty form of a stream; None if it has none."""
    match = _MIME.fullmatch(buffer.stream(stream).mime)
    return Facts(int(match[1]), match[2]) if match else None


def write_pretty(layout: Layout, name: str, stream: str, source: StreamReader) -> tuple[Facts, int]:
    """Make the pretty form of a stream of valid JSON; return its facts and its number of lines.

    It has the stream's modification time for as long as nobody changes it.

    Several processes may do so at once: each writes its own file, and all of these are equal.

    Raises:
        StoreFailed: the file could not be written.
    """
    path = layout.pretty(name, stream)
    temporary = f"{path}.{os.getpid():x}.{os.urandom(3).hex()}.tmp"
    try:
        fd = open_private(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try:
            made = _write(fd, source)
            os.fchmod(fd, SEALED_MODE)
            os.utime(fd, ns=(source.status[1], source.status[1]))
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except BaseException as error:
        remove_file(temporary)
        if isinstance(error, OSError):
            raise store_failed(error) from error
        raise
    return made


def _write(fd: int, source: StreamReader) -> tuple[Facts, int]:
    hasher = Hasher(fd)
    size = lines = 0
    try:
        chunks = (source.read(at, _READ_BYTES) for at in range(0, source.byte_count, _READ_BYTES))
        for data in pretty(chunks):
            write_all(fd, data)
            hasher.update(data)
            size += len(data)
            lines += data.count(b"\n")
        return Facts(size, hasher.hexdigest()), lines
    finally:
        hasher.stop()


def pretty_path(layout: Layout, buffer: Buffer, stream: str, facts: Facts) -> str:
    """Return the path of a pretty form, which is made again if it is missing or does not have its facts.

    Raises:
        ExpiredRef, StoreFailed: the stream is gone, or the file cannot be written.
    """
    path = layout.pretty(buffer.name, stream)
    with open_stream(layout, buffer, stream) as source:
        if not _is_sound(path, facts, source.status[1]):
            write_pretty(layout, buffer.name, stream, source)
    return path


def open_pretty(layout: Layout, buffer: Buffer, stream: str, facts: Facts) -> StreamReader:
    """Open a stream's pretty form, under the stream's ref. Raises what `pretty_path` raises."""
    path = pretty_path(layout, buffer, stream, facts)
    return StreamReader(open_stored(path), format_ref(buffer.name, stream))


def _is_sound(path: str, facts: Facts, made_of: int) -> bool:
    """Return whether the file has its facts; one that has the stream's modification time is not hashed for that."""
    try:
        fd = open_stored(path)
    except FileNotFoundError:
        return False
    try:
        size, mtime_ns = status_of(os.fstat(fd))
        if mtime_ns == made_of or size != facts.bytes:
            return size == facts.bytes
        is_sound = hash_file(fd, size) == facts.sha256
        if is_sound:
            with suppress(OSError):  # it is hashed again the next time
                os.utime(fd, ns=(made_of, made_of))
        return is_sound
    finally:
        os.close(fd)
