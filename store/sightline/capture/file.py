"""Captures a file: each state of it that anyone asked for is an immutable version."""

import os
import stat
import time

from sightline.base.errors import SightlineError, StoreFailed, UnknownRef, UnsafeStore
from sightline.base.private_files import open_stored
from sightline.base.records import Buffer, storable
from sightline.base.sha256 import hash_file, new_sha256, sha256_hex
from sightline.disk.recording import Recording
from sightline.disk.sharing import are_equal
from sightline.store import Store

LONGEST_PATH = 4096
"""Characters of a path; systems open no longer ones, counted in bytes."""

_COPY_BYTES = 1 << 20
_TRIES = 3  # how often a file is read again that is being written
_FRESH_SECONDS = 60.0
"""A change within this time may leave a file's times as they are: after a program writes to a mapped page, they change
only at the first write after the page was written back, which Linux does within 35 s."""

_FRESH = ":fresh"
"""Marks an origin whose times cannot be relied on yet; the rules for secrets may follow it."""

_TIMED = frozenset(("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "apfs"))
"""File systems that note the time of each change themselves, to 1 s or better. tmpfs does not do so for mapped
pages, and the times from a server or a FUSE program may be old, or anything."""


class FileNotReadable(SightlineError):
    """There is no such file, or it cannot be read."""


def capture_file(store: Store, path: str, session: str, *, exact: bool = False) -> Buffer:
    """Return the buffer of a file as it is now: the newest version if the file is unchanged, else a new one.

    Args:
        store: the store that keeps it.
        path: the file, which is also the command of its buffer.
        session: the session that asks.
        exact: whether the path was resolved and approved, so that no symbolic link in it may be followed.

    Raises:
        FileNotReadable: there is no such regular file, or it cannot be read.
        StoreFailed: the store cannot keep it.
    """
    if len(path) > LONGEST_PATH:  # resolving takes time by the square of its length
        raise FileNotReadable(f"the path has {len(path):,} characters", f"it may have {LONGEST_PATH:,} at most")
    path = path if exact else os.path.realpath(path)
    fd = open_exactly(path) if exact else open_regular(path)
    rules = _rules_of(store)
    try:
        status = os.fstat(fd)
        previous = store.access.index_behind.newest_file(storable(path))  # no file waits for the index
        if previous is not None and not store.checked(previous, "out").altered:
            if _has_times_of(status, previous, rules):
                return previous
            if _same_content(store, fd, status, previous, rules):
                return _with_origin(store, previous, _settled_origin(status, rules))
        return _copy(store, fd, path, session)
    finally:
        os.close(fd)


def changed_since(store: Store, buffer: Buffer) -> str:
    """Return a warning if a file has changed since its version was captured; else an empty text.

    Args:
        store: the store.
        buffer: the version's record; there is no warning for a buffer that is not a file's, nor for an altered one.
    """
    if buffer.kind != "file" or buffer.altered or not store.settings.captures(os.path.dirname(buffer.command)):
        return ""
    newest = store.index.newest_file(storable(buffer.command))
    newer = f"; newer: {newest.ref}" if newest and newest.name != buffer.name else ""
    try:
        fd = open_regular(buffer.command)
    except FileNotReadable:
        if "\\x" in buffer.command:  # the name is not UTF-8, so the file is not looked at
            return ""
        return f"the file has changed since: it cannot be read any more{newer}"
    rules = _rules_of(store)
    try:
        status = os.fstat(fd)
        if _has_times_of(status, buffer, rules):
            return ""
        if _same_content(store, fd, status, buffer, rules):
            if _FRESH not in (known := _settled_origin(status, rules)):  # so that it need not be read the next time
                _with_origin(store, buffer, known)
            return ""
    except (OSError, StoreFailed, UnknownRef):  # nothing is known of it, or that cannot be noted
        return ""
    finally:
        os.close(fd)
    return f"the file has changed since{newer or '; read_file keeps it as it is now'}"


def _with_origin(store: Store, version: Buffer, known: str) -> Buffer:
    """Return the version with a new origin. Raises what `Store.amend` raises."""
    return version if version.origin == known else store.amend(version.name, origin=known)


def origin(status: os.stat_result) -> str:
    """Return what tells versions of a file apart without reading it, on a file system that notes changes."""
    return f"{status.st_mtime_ns}:{status.st_size}:{status.st_ino}:{status.st_ctime_ns}"


def _has_times_of(status: os.stat_result, version: Buffer, rules: str) -> bool:
    """Return whether a file is certain to be a version, by its times alone."""
    return version.origin == origin(status) + rules


def _rules_of(store: Store) -> str:
    """Return the part of an origin for hidden secrets: with other rules, a version is another one."""
    settings = store.settings
    if not settings.redacts:
        return ""
    rules = repr((settings.redact_known, settings.redact_patterns))
    return ":redacted-" + sha256_hex(rules.encode(errors="surrogatepass"))[:8]


def _settled_origin(status: os.stat_result, rules: str = "") -> str:
    """Return the origin, marked if the file's next change might leave its times as they are; then contents decide."""
    is_settled = status.st_ctime < time.time() - _FRESH_SECONDS and file_system(status.st_dev) in _TIMED
    return origin(status) + ("" if is_settled else _FRESH) + rules


def file_system(device: int) -> str:
    """Return the type of a device's file system; empty if the system does not tell."""
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.split(" ")
                if words[2] == number:
                    return words[words.index("-") + 1]
    except (OSError, ValueError, IndexError):
        pass
    return ""


def open_exactly(path: str) -> int:
    """Open an absolute path as `open_regular` does, without following any symbolic link, even one made meanwhile."""
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
    """Open a regular file for reading, and return its descriptor.

    Args:
        path: the file.
        name: name of the file in the folder, which must not be a symbolic link.
        folder: descriptor of that folder.

    Raises:
        FileNotReadable: it is not a regular file that can be read.
    """
    try:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (os.O_NOFOLLOW if name else 0)
        fd = os.open(name or path, flags, dir_fd=folder)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _not_readable(path, error if isinstance(error, OSError) else OSError(str(error))) from error
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise FileNotReadable(f"{path} is {what}", "read_file reads regular files; list a folder with a command")
    return fd


def _same_content(store: Store, fd: int, status: os.stat_result, version: Buffer, rules: str) -> bool:
    """Return whether a file has the bytes of a version; hidden secrets do not make a difference."""
    sha256 = version.stream("out").sha256
    if rules:
        return version.origin.endswith(rules) and _redacted_hash(store, fd, status.st_size) == (sha256 or _NOTHING)
    if version.bytes != status.st_size:
        return False
    try:
        kept = open_stored(store.layout.stream(version.name, "out"))
    except (OSError, UnsafeStore):  # empty, or evicted meanwhile
        return not version.bytes or hash_file(fd, version.bytes) == sha256
    try:
        return are_equal(fd, kept, version.bytes)
    finally:
        os.close(kept)


_NOTHING = sha256_hex(b"")


def _redacted_hash(store: Store, fd: int, size: int) -> str:
    """Return the hash of what would be kept of a file without its secrets."""
    redaction, sha256 = store.settings.redaction(), new_sha256()
    assert redaction  # the store has rules for secrets
    for offset in range(0, min(size, store.settings.max_stream_bytes), _COPY_BYTES):
        sha256.update(redaction.feed("out", os.pread(fd, _COPY_BYTES, offset)))
    sha256.update(redaction.finish().get("out", b""))
    return sha256.hexdigest()


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
    """Copy a file up to the size that the store would keep, and return what to say of the rest.

    A sparse file, or one that a kernel makes up, may be endless for practical purposes.
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
