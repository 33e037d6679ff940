"""Explains errors of the disk and of the index to a person, and says what to do about each."""

import errno
import os

from sightline.base.errors import StoreFailed
from sightline.base.private_files import why_closed
from sightline.disk.sqlite import sqlite3
from sightline.light.named_tuple import NamedTuple

_FULL_BYTES = 1 << 16  # free bytes that SQLite needs beside a file to read it
_UNWRITABLE = (sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_BROKEN = ("malformed", "not a database", "no such table", "no such column", "Could not decode to UTF-8")


class Cause(NamedTuple):
    """What is wrong, and what to do about it."""

    what: str
    hint: str


_NO_SPACE = "free space, or lower max_bytes and run `sightline gc`"
_WRITING = {
    errno.ENOSPC: Cause("the disk is full", _NO_SPACE),
    errno.EDQUOT: Cause("the disk quota is used up", _NO_SPACE),
    errno.EFBIG: Cause("the file-size limit of this process is reached", "raise it: ulimit -f unlimited"),
    errno.EROFS: Cause("the file system is read-only", "to keep anything new, set SIGHTLINE_HOME to another folder"),
    errno.EACCES: Cause(
        "the store's folder may not be written to", "make it yours and writable, or set SIGHTLINE_HOME to another one"
    ),
}
_WRITING[errno.EPERM] = _WRITING[errno.EACCES]
_ANY = _WRITING | {errno.EMFILE: Cause("this process has too many files open", "raise the limit: ulimit -n 4096")}


def anothers(why: str) -> Cause:
    """Return why another's store is not written to; see `judge_store`."""
    return Cause(
        f"the store is another's: {why}",
        "to keep anything, set SIGHTLINE_HOME to a folder of your own, or trust this one in the settings of your usual "
        'store: [trust] stores = ["FOLDER"]',
    )


def cause_of(error: Exception, root: str) -> Cause:
    """Return the explanation of an error of the disk or of SQLite.

    Args:
        error: the error.
        root: folder of the store.
    """
    if isinstance(error, sqlite3.Error):
        return _of_index(error, root)
    what = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if not isinstance(error, OSError):
        return Cause(what, "`sightline doctor` says more about it")
    if isinstance(error.filename, str) and root and not error.filename.startswith(root):
        return Cause(f"{error.filename}: {what}", "it is no file of the store's")
    return unwritable(error, root) or _ANY.get(error.errno or 0, Cause(what, "`sightline doctor` says more about it"))


def _of_index(error: sqlite3.Error, root: str) -> Cause:
    if isinstance(error, sqlite3.DatabaseError) and is_broken(error):
        return Cause(f"the index is damaged: {error}", "`sightline doctor` makes it anew; no output is lost")
    if is_busy(error):
        return Cause(
            "another process holds the index locked",
            f"try again; `fuser {os.path.join(root, 'index.sqlite')}` tells which one it is",
        )
    if reason := unwritable(error, root):
        return reason
    return Cause(f"the index cannot be used: {error}", "`sightline doctor` says more about it")


def is_known(error: OSError) -> bool:
    """Return whether the disk or a limit is to blame, rather than a bug."""
    return error.errno in _ANY


def is_busy(error: Exception) -> bool:
    """Return whether another process held the index locked for too long."""
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY


def is_full(error: Exception, root: str) -> bool:
    """Return whether there is no room left."""
    return unwritable(error, root) in (_WRITING[errno.ENOSPC], _WRITING[errno.EDQUOT])


def unwritable(error: Exception, root: str) -> Cause | None:
    """Return why the store cannot be written to, if an error comes from that; SQLite itself says next to nothing."""
    if isinstance(error, OSError):
        is_closed = error.errno == errno.EACCES and (why := why_closed(root))
        return anothers(why) if is_closed else _WRITING.get(error.errno or 0)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code not in (*_UNWRITABLE, sqlite3.SQLITE_CANTOPEN):
        return None
    if code == sqlite3.SQLITE_FULL:
        return _WRITING[errno.ENOSPC]
    if why := why_closed(root):
        return anothers(why)
    try:
        status = os.statvfs(root)
    except OSError:
        return None
    if status.f_flag & os.ST_RDONLY:
        return _WRITING[errno.EROFS]
    free = status.f_bavail if os.geteuid() else status.f_bfree
    if free * status.f_frsize < _FULL_BYTES:
        return _WRITING[errno.ENOSPC]
    import resource  # needed only here

    if os.access(root, os.W_OK) and resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        return _WRITING[errno.EFBIG]
    if code == sqlite3.SQLITE_READONLY or not os.access(root, os.W_OK):
        return _WRITING[errno.EACCES]
    return Cause(f"the index cannot be written: {error}", "`sightline doctor` says more about it")


def is_broken(error: sqlite3.DatabaseError) -> bool:
    """Return whether the file itself is damaged or not ours, so that it must be made again."""
    return any(sign in str(error) for sign in _BROKEN)


def store_failed(error: Exception, root: str = "") -> StoreFailed:
    """Return the error that a person reads when the disk, or the index, failed; `root` is the store's folder."""
    what, hint = cause_of(error, root)
    return StoreFailed(f"storing failed: {what}", hint)
