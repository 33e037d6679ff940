"""Compares stored files with their seals: by size and modification time, and by their hash where these differ."""

import os
import stat

from sightline.base.errors import UnsafeStore
from sightline.base.private_files import open_stored
from sightline.base.records import Buffer, Seal, read_seals, written_seals
from sightline.base.sha256 import hash_file
from sightline.disk.layout import Layout
from sightline.light.typing_names import Callable, Collection, Iterable, Iterator

Status = tuple[int, int]
"""Size and modification time, in nanoseconds, of a file."""

SEALED_STATES = ("sealed", "interrupted")
SOUND, ALTERED, UNKNOWN = "sound", "altered", "unknown"
_RECORDS = ("order", "lines")
_MISSING, _NO_FILE = (-1, 0), (-2, 0)


def status_of(status: os.stat_result) -> Status:
    """Return the part of a status that a seal records."""
    return status.st_size, status.st_mtime_ns


def seal_of(file: str, fd: int, sha256: str = "") -> Seal:
    """Return the seal of a complete file: one `fstat`, no read."""
    return Seal(file, *status_of(os.fstat(fd)), (), sha256)


def standing(buffer: Buffer, file: str, now: Status) -> str:
    """Return whether a file is SOUND or ALTERED by its status alone; UNKNOWN if its bytes must be compared."""
    return _standing(buffer.seal(file), now)


def _standing(seal: Seal | None, now: Status) -> str:
    if seal is None:
        return UNKNOWN
    if seal.altered:
        return ALTERED if now == seal.altered else UNKNOWN
    return SOUND if now == (seal.bytes, seal.mtime_ns) else UNKNOWN


def sealed_files(buffer: Buffer) -> tuple[str, ...]:
    """Return the names of all files of a buffer that a seal may be about."""
    return *buffer.streams, *(name for name in _RECORDS if buffer.seal(name))


def unsettled(layout: Layout, buffer: Buffer, opened: Collection[str] = ()) -> Iterator[str]:
    """Yield the files of a sealed buffer whose bytes must be compared, as their status does not say what they are.

    A file without a seal is compared only if it was opened.
    """
    seals = {seal.file: seal for seal in read_seals(buffer.seals)}
    for file in (*buffer.streams, *(name for name in _RECORDS if name in seals)):
        if file not in seals and file not in opened:
            continue
        if _standing(seals.get(file), _status_at(layout.stream(buffer.name, file))) == UNKNOWN:
            yield file


def suspects(layout: Layout, sealed: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the names of buffers of which some file has not the status that its seal says.

    Args:
        layout: the paths of the store.
        sealed: (name, seals) of each buffer; they are read here because all of them are, each time.
    """
    for name, seals in sealed:
        for seal in seals.split("; "):
            file, size, mtime_ns, *rest = seal.split(" ")
            if file == "lines":  # it is not used where it was changed
                continue
            expected = (rest[-2], rest[-1]) if "!" in rest else (size, mtime_ns)
            if _status_at(layout.stream(name, file)) != tuple(map(int, expected)):
                yield name
                break


def _status_at(path: str) -> Status:
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return _MISSING
    return status_of(status) if stat.S_ISREG(status.st_mode) else _NO_FILE


def compared(
    layout: Layout, buffer: Buffer, files: Collection[str], took: Callable[[int], None] | None = None
) -> Buffer:
    """Return the record of a sealed buffer after comparing the bytes of some of its files with what was sealed.

    A file with the right bytes gets its present times as its seal. A file that cannot be read, or whose hash was never
    recorded, stays as it is.

    Args:
        layout: the paths of the store.
        buffer: the record.
        files: names of the files.
        took: called with each number of bytes that were hashed.
    """
    seals = {seal.file: seal for seal in read_seals(buffer.seals)}
    for file in files:
        if found := _compared(layout, buffer, file, seals.get(file), took):
            seals[file] = found
    return buffer._replace(seals=written_seals(seals.values()))


def _compared(
    layout: Layout, buffer: Buffer, file: str, known: Seal | None, took: Callable[[int], None] | None
) -> Seal | None:
    info = buffer.streams.get(file)
    size, sha256 = (info.bytes, info.sha256) if info else (known.bytes, known.sha256) if known else (0, "")
    before = known or Seal(file, size, 0)
    try:
        fd = open_stored(layout.stream(buffer.name, file))
    except (FileNotFoundError, NotADirectoryError):
        return before._replace(altered=_MISSING)
    except UnsafeStore:
        return before._replace(altered=_NO_FILE)
    except OSError:
        return None
    try:
        now = status_of(os.fstat(fd))
        if now[0] == size:
            if not sha256:
                return None
            if hash_file(fd, size, took) == sha256:
                return Seal(file, *now, (), before.sha256)
        return before._replace(altered=now)
    except OSError:
        return None
    finally:
        os.close(fd)
