"""Capturing a file: each state of it that anyone asked for is an immutable version."""

import os
import stat
import time

from sightline.store.disk.hashing import hash_file, sha256_hex
from sightline.store.disk.recording import Recording, storable
from sightline.store.errors import SightlineError
from sightline.store.records import Buffer
from sightline.store.store import Store

LONGEST_PATH = 4096
"""Characters; as many bytes are the most that a system opens."""

_COPY_BYTES = 1 << 20
_TRIES = 3  # a file that is being written is read again, as often as this
_FRESH_SECONDS = 0.05  # a file system's clock steps by up to 10 ms: within a step a second write leaves no trace


class FileNotReadable(SightlineError):
    """There is no such file, or it cannot be read."""


def capture_file(store: Store, path: str, session: str, *, exact: bool = False) -> Buffer:
    """The buffer of a file as it is now: the newest version while the file is unchanged, else a new one.

    Args:
        store: where it is kept.
        path: the file; also its version's command.
        session: who asks.
        exact: whether the path has been resolved and judged, so that no symbolic link in it may be followed.

    Raises:
        FileNotReadable: there is no such regular file, or it cannot be read.
        StoreFailed: the store could not take it.
    """
    if len(path) > LONGEST_PATH:  # resolving costs its length squared
        raise FileNotReadable(f"a path of {len(path):,} characters", f"it has at most {LONGEST_PATH:,}")
    path = path if exact else os.path.realpath(path)
    fd = open_exactly(path) if exact else open_regular(path)
    rules = _rules_of(store)
    try:
        status = os.fstat(fd)
        previous = store.index.newest_file(storable(path))
        if previous is not None:
            if previous.origin and previous.origin == origin(status) + rules:
                return previous
            if not rules and previous.bytes == status.st_size and _same_content(fd, previous):
                return store.amend(previous.name, origin=_settled_origin(status))
        return _copy(store, fd, path, session)
    finally:
        os.close(fd)


def origin(status: os.stat_result) -> str:
    """What tells one version of a file from the next without reading it."""
    return f"{status.st_mtime_ns}:{status.st_size}:{status.st_ino}"


def _rules_of(store: Store) -> str:
    """What an origin ends with where secrets are hidden: a version that was kept with other rules is not this one."""
    settings = store.settings
    if not settings.redacts:
        return ""
    rules = repr((settings.redact_known, settings.redact_patterns))
    return ":redacted-" + sha256_hex(rules.encode(errors="surrogatepass"))[:8]


def _settled_origin(status: os.stat_result, rules: str = "") -> str:
    """The origin; none for a file so fresh that its next write might not change it: then the content is compared."""
    return "" if time.time() - status.st_mtime < _FRESH_SECONDS else origin(status) + rules


def open_exactly(path: str) -> int:
    """As `open_regular` for an absolute path, along which nothing is a symbolic link: not even one made meanwhile."""
    parts = [part for part in path.split("/") if part]
    folder = os.open("/", _FOLDER)
    try:
        for part in parts[:-1]:
            try:
                inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            except OSError as error:
                raise _not_readable(path, error) from error
            os.close(folder)
            folder = inner
        return open_regular(path, parts[-1] if parts else ".", folder)
    finally:
        os.close(folder)


_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


def _not_readable(path: str, error: OSError) -> FileNotReadable:
    return FileNotReadable(f"{path}: {(error.strerror or str(error)).lower()}", "check the path and its permissions")


def open_regular(path: str, name: str = "", folder: int | None = None) -> int:
    """A descriptor for reading a regular file.

    Args:
        path: the file.
        name: its name in the folder, which is then no symbolic link.
        folder: a descriptor of that.

    Raises:
        FileNotReadable: it is anything else.
    """
    try:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (os.O_NOFOLLOW if name else 0)
        fd = os.open(name or path, flags, dir_fd=folder)
    except (OSError, ValueError) as error:  # ValueError: a NUL in it
        raise _not_readable(path, error if isinstance(error, OSError) else OSError(str(error))) from error
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise FileNotReadable(f"{path} is {what}", "read_file reads regular files; list a folder with a command")
    return fd


def _same_content(fd: int, previous: Buffer) -> bool:
    """Touched, or written anew with the same bytes."""
    sha256 = previous.stream("out").sha256
    return not previous.bytes or hash_file(fd, previous.bytes) == sha256


def _copy(store: Store, fd: int, path: str, session: str) -> Buffer:
    for attempt in range(1, _TRIES + 1):
        before = os.fstat(fd)
        recording = store.begin(
            "file", path, os.path.dirname(path), session, origin=_settled_origin(before, _rules_of(store))
        )
        try:
            dropped = _append_all(recording, fd, path, store.settings.max_stream_bytes)
        except BaseException:
            recording.discard()
            raise
        unchanged = origin(os.fstat(fd)) == origin(before)
        if unchanged or attempt == _TRIES:
            changed = "" if unchanged else "changed while it was read"
            return recording.seal(exit_code=None, note="; ".join(filter(None, (changed, dropped))))
        recording.discard()
        time.sleep(0)
    raise AssertionError("the last attempt returns")


def _append_all(recording: Recording, fd: int, path: str, most: int) -> str:
    """Copy what a file has, and no more than the store would keep; what to say of the rest.

    A sparse file, or one that a kernel makes up, may be larger than anyone could wait for.
    """
    offset = 0
    try:
        while data := os.pread(fd, min(_COPY_BYTES, most - offset), offset):
            recording.append("out", data)
            offset += len(data)
        is_more = offset == most and bool(os.pread(fd, 1, offset))
        size = os.fstat(fd).st_size
    except OSError as error:
        raise _not_readable(path, error) from error
    if not is_more:
        return ""
    return f"dropped past max_stream_bytes: {f'{size - offset:,} B of out' if size > offset else 'the rest of out'}"
