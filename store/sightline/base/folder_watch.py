"""Watches folders; if the system has no more watches, or none at all, says why.

It uses the class behind `watchfiles.watch`, a private name. That generator has one step for as long as it lives, where
we wait 2 ms beside a running capture and 8 ms otherwise; and it does not say when its watches stand, after which
whoever has read a folder must read it once more.
"""

from collections.abc import Iterable, Iterator

from sightline.light.library import contextmanager
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

_LIMITS = ("limit reached", "Too many open files", "No space left on device")
"""Words in the library's errors for a limit that is reached; these are of several classes."""


class Unwatchable(Exception):
    """Folders cannot be watched; the text says why."""


@contextmanager
def watching(folders: Iterable[str], *, recursive: bool = False) -> Iterator["RustNotify"]:
    """Open a watcher of folders, which can be asked for changes.

    Raises:
        Unwatchable: it cannot be opened, or gives up within the context.
    """
    try:
        import watchfiles._rust_notify as library  # loads anyio, so only if it is used
    except ImportError:
        raise Unwatchable("watchfiles is not installed") from None
    try:
        with native_watcher(library.RustNotify, list(folders), recursive) as watcher:
            yield watcher
    except (OSError, library.WatchfilesRustInternalError) as error:
        raise unwatchable(error) from error


def native_watcher(make: "type[RustNotify]", folders: list[str], recursive: bool) -> "RustNotify":
    """Ask the system for a watcher, by the library's class; raises what that raises."""
    return make(folders, False, False, 0, recursive, False)


def unwatchable(error: Exception) -> Unwatchable:
    """Return what to report for an error of the watcher, or of opening what it watches."""
    if any(sign in str(error) for sign in _LIMITS):
        return Unwatchable(
            "a limit is reached, of inotify (sysctl fs.inotify.max_user_instances, max_user_watches)"
            " or of open files (ulimit -n)"
        )
    return Unwatchable(f"folders cannot be watched here: {error}")
