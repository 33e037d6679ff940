"""Watching folders: where the system has no more watches to give, or none at all, says why."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

_LIMITS = ("limit reached", "Too many open files", "No space left on device")
"""What the library's errors say of limits that are reached; they come in several kinds."""


class Unwatchable(Exception):
    """Folders cannot be watched; the text says why."""


@contextlib.contextmanager
def watching(folders: Iterable[str], *, recursive: bool = False) -> Iterator["RustNotify"]:
    """A watcher of folders, to be asked for what has changed.

    Raises:
        Unwatchable: it cannot be had, or has given up; also from within the context.
    """
    try:
        from watchfiles._rust_notify import (  # loads anyio: only where it is used
            RustNotify,
            WatchfilesRustInternalError,
        )
    except ImportError:
        raise Unwatchable("watchfiles is not installed") from None
    try:
        with RustNotify(list(folders), False, False, 0, recursive, False) as watcher:
            yield watcher
    except (OSError, WatchfilesRustInternalError) as error:
        raise unwatchable(error) from error


def unwatchable(error: Exception) -> Unwatchable:
    """What is to be told of an error of the watcher, or of opening what it is to watch."""
    if any(sign in str(error) for sign in _LIMITS):
        return Unwatchable(
            "a limit is reached, of inotify (sysctl fs.inotify.max_user_instances, max_user_watches)"
            " or of open files (ulimit -n)"
        )
    return Unwatchable(f"folders cannot be watched here: {error}")
