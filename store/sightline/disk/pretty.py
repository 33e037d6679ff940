"""``pretty``: a JSON result as lines, or UTF-16 as UTF-8, made beside the stream, and again if missing or changed.

The lines of such a stream are those of this file; its bytes, its hash and JSON paths are the stream's. The file's
size and hash are part of the stream's MIME type, so that they go wherever the record goes.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from sightline.base.errors import StoreFailed
from sightline.base.private_files import open_private, open_stored, remove_file, write_all
from sightline.base.records import Buffer, joined_notes
from sightline.base.refs import format_ref
from sightline.base.sha256 import Hasher, hash_file
from sightline.disk import utf16
from sightline.disk.errors import store_failed
from sightline.disk.layout import SEALED_MODE, Layout
from sightline.disk.seals import status_of
from sightline.disk.stream_files import open_stream
from sightline.disk.streams import StreamReader
from sightline.light.named_tuple import NamedTuple
from sightline.shape.json.pretty import pretty, pretty_size

JSON_MIME = "application/json"
_READ_BYTES = 1 << 16
_FACTS = r"; pretty=(\d+)-([0-9a-f]{64})"
_MIME = re.compile(rf"({JSON_MIME}){_FACTS}|({utf16.MIME}utf-16-[lb]e)(?:{_FACTS})?")

Chunks = Iterator[bytes]


class Facts(NamedTuple):
    """The expected size and hash of a pretty form.

    Attributes:
        bytes: its size.
        sha256: its hash, in hex; empty while the stream is written.
        type: the MIME type of the stream without the two.
    """

    bytes: int
    sha256: str
    type: str = JSON_MIME

    @property
    def mime(self) -> str:
        """The MIME type for the stream from which it is made."""
        return f"{self.type}; pretty={self.bytes}-{self.sha256}"

    @property
    def is_json(self) -> bool:
        """Whether the stream is JSON, and not UTF-16."""
        return self.type == JSON_MIME

    def made_of(self, chunks: Chunks) -> Chunks:
        """Yield the pretty form of a stream. Raises UnicodeError if it is not the UTF-16 that its type says."""
        return pretty(chunks) if self.is_json else utf16.decoded(chunks, self.type.removeprefix(utf16.MIME))

    def beginning_size(self, chunks: Chunks) -> int:
        """Return the size of the pretty form of a stream's beginning."""
        return pretty_size(chunks) if self.is_json else sum(map(len, self.made_of(chunks)))


def facts_of(buffer: Buffer, stream: str) -> Facts | None:
    """Return the facts for the pretty form of a stream; None if it has none."""
    match = _MIME.fullmatch(buffer.stream(stream).mime)
    if match is None:
        return None
    return Facts(int(match[2] or match[5] or 0), match[3] or match[6] or "", match[1] or match[4])


def with_text(layout: Layout, buffer: Buffer) -> Buffer:
    """Return the record with the lines that each stream of UTF-16 has once it is decoded."""
    streams = dict(buffer.streams)
    for stream, info in buffer.streams.items():
        if not info.mime.startswith(utf16.MIME):
            continue
        try:
            with open_stream(layout, buffer, stream) as source:
                facts, lines = write_pretty(layout, buffer.name, stream, source, info.mime)
            mime = info.mime if buffer.state == "running" else facts.mime
            streams[stream] = info._replace(lines=lines, mime=mime)
        except (UnicodeError, StoreFailed):
            streams[stream] = info._replace(mime="")
    is_decoded = any(info.mime.startswith(utf16.MIME) for info in streams.values())
    return buffer._replace(streams=streams, note=joined_notes(buffer.note, utf16.NOTE * is_decoded))


def write_pretty(
    layout: Layout, name: str, stream: str, source: StreamReader, type_: str = JSON_MIME
) -> tuple[Facts, int]:
    """Make the pretty form of a stream of valid JSON, or of UTF-16; return its facts and its number of lines.

    It has the stream's modification time for as long as nobody changes it.

    Several processes may do so at once: each writes its own file, and all of these are equal.

    Raises:
        StoreFailed: the file could not be written.
        UnicodeError: it is not the UTF-16 that its type says.
    """
    path = layout.pretty(name, stream)
    temporary = f"{path}.{os.getpid():x}.{os.urandom(3).hex()}.tmp"
    try:
        fd = open_private(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try:
            made = _write(fd, source, type_)
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


def _write(fd: int, source: StreamReader, type_: str) -> tuple[Facts, int]:
    hasher = Hasher(fd)
    size = lines = 0
    last = b""
    try:
        chunks = (source.read(at, _READ_BYTES) for at in range(0, source.byte_count, _READ_BYTES))
        for data in Facts(0, "", type_).made_of(chunks):
            write_all(fd, data)
            hasher.update(data)
            size += len(data)
            lines += data.count(b"\n")
            last = data[-1:] or last
        return Facts(size, hasher.hexdigest(), type_), lines + (last not in (b"", b"\n"))
    finally:
        hasher.stop()


def pretty_path(layout: Layout, buffer: Buffer, stream: str, facts: Facts) -> str:
    """Return the path of a pretty form, which is made again if it is missing or does not have its facts.

    Raises:
        ExpiredRef, StoreFailed: the stream is gone, or the file cannot be written.
    """
    path = layout.pretty(buffer.name, stream)
    with open_stream(layout, buffer, stream) as source:
        if not facts.sha256 or not _is_sound(path, facts, source.status[1]):
            write_pretty(layout, buffer.name, stream, source, facts.type)
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
