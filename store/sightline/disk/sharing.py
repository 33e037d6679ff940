"""Lets large identical streams share their storage, once their bytes were compared."""

import os

from sightline.base.errors import UnsafeStore
from sightline.base.private_files import open_private, remove_file
from sightline.base.records import Buffer, Seal, StreamInfo, read_seals, written_seals
from sightline.disk.index import Index
from sightline.disk.layout import SEALED_MODE, Layout
from sightline.disk.seals import seal_of
from sightline.light.typing_names import Callable, Sequence

SHARED_BYTES = 4096  # identical streams of this size and more share their storage
_COMPARED_BYTES = 1 << 20  # read of each file at once


def share_streams(layout: Layout, index: Callable[[], Index], buffers: Sequence[Buffer]) -> list[Buffer]:
    """Make large streams of just sealed buffers further names of identical ones, and return the records.

    A recorded hash only says where an identical stream may be: what shares storage has the same bytes now. A shared
    file keeps its times, so the record gets its seal. An identical stream may belong to an indexed buffer, or to one
    that stands before it.
    """
    large = [
        (at, stream, info)
        for at, buffer in enumerate(buffers)
        for stream, info in buffer.streams.items()
        if info.bytes >= SHARED_BYTES
    ]
    shared = list(buffers)
    known = index().known_hashes(info.sha256 for _, _, info in large) if large else ()
    first: dict[str, tuple[str, str]] = {}
    for at, stream, info in large:
        name = shared[at].name
        others = [first[info.sha256]] if info.sha256 in first else []
        if info.sha256 in known:
            others += [(other, other_stream) for _, other, other_stream in index().with_hash(info.sha256)]
        path = layout.stream(name, stream)
        tried = (share_stream(layout.stream(*other), path, stream, info) for other in others if other[0] != name)
        if seal := next(filter(None, tried), None):
            seals = (seal if one.file == stream else one for one in read_seals(shared[at].seals))
            shared[at] = shared[at]._replace(seals=written_seals(seals))
        else:
            first[info.sha256] = (name, stream)
    return shared


def share_stream(source: str, target: str, stream: str, info: StreamInfo) -> Seal | None:
    """Make a sealed stream another name of one with the same bytes, and return its seal; None if it keeps its own.

    The other buffer may be removed, changed or replaced at any moment: the file that is compared is the one that is
    linked. Links may run out.
    """
    temporary = f"{target}.{os.getpid():x}.tmp"
    try:
        os.link(source, temporary, follow_symlinks=False)
        seal = _seal_if_equal(temporary, target, stream, info)
        if seal:
            os.replace(temporary, target)
        else:
            remove_file(temporary)
    except (OSError, UnsafeStore):
        remove_file(temporary)
        return None
    return seal


def _seal_if_equal(source: str, target: str, stream: str, info: StreamInfo) -> Seal | None:
    one = open_private(source, os.O_RDONLY)
    try:
        seal = seal_of(stream, one)  # before its bytes are read: a later change shows
        if seal.bytes != info.bytes or os.fstat(one).st_mode & 0o777 != SEALED_MODE:
            return None
        other = open_private(target, os.O_RDONLY)
        try:
            return seal if are_equal(one, other, info.bytes) else None
        finally:
            os.close(other)
    finally:
        os.close(one)


def are_equal(one: int, other: int, size: int) -> bool:
    """Return whether two files begin with the same bytes; reading both takes less than hashing one."""
    for offset in range(0, size, _COMPARED_BYTES):
        length = min(_COMPARED_BYTES, size - offset)
        data = os.pread(one, length, offset)
        if len(data) != length or data != os.pread(other, length, offset):
            return False
    return True
