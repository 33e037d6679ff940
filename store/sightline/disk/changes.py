"""The feed of changes: tells of captures, of growth, and of records that other processes write.

It watches two folders, the index's (for its write-ahead file) and ``live/``, but never those of buffers. If the
system cannot watch, it polls the same places many times a second. Folders that are removed and made again are watched
again.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator

from sightline.base.errors import SightlineError
from sightline.base.folder_watch import Unwatchable, unwatchable, watching
from sightline.disk.layout import Layout
from sightline.disk.sqlite import sqlite3
from sightline.light.named_tuple import NamedTuple

DEBOUNCE_MS = 50  # a burst is reported after this at the latest
STEP_MS = 8  # a lone change is reported after twice this; to wake more often would cost a percent of a core
QUICK_STEP_MS = 2  # while captures run, for whose output somebody may wait
QUICK_SECONDS = 2.0  # after the last change of a capture, it counts as running
POLL_SECONDS = 0.05
GONE_SECONDS = 0.25  # between two checks whether a removed store is back
_WAIT_MS = 60_000  # of one wait inside the watcher, which closing ends at once


class Change(NamedTuple):
    """What may have changed.

    Attributes:
        records: whether records were written.
        live: names of captures that began, grew or ended.
    """

    records: bool
    live: frozenset[str]

    def __bool__(self) -> bool:
        return self.records or bool(self.live)


class Changes:
    """Watches in a thread of its own, from `start` until `close`.

    Attributes:
        polling: why it polls; empty while it watches.
    """

    def __init__(
        self,
        layout: Layout,
        data_version: Callable[[], int],
        tell: Callable[[Change], None],
        *,
        polls: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare to watch; nothing is watched, and the watcher's library is not loaded, before `start`.

        Args:
            layout: paths of the store.
            data_version: returns a number that changes when another process has written to the index.
            tell: called in the feed's thread with each change.
            polls: called once in the feed's thread with the reason, if it has to poll.
        """
        self._layout = layout
        self._data_version = data_version
        self._tell = tell
        self._polls = polls
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.polling = ""

    def start(self) -> None:
        """Begin to watch."""
        self._thread = threading.Thread(target=self._run, name="sightline-changes", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching; `tell` is not called after this returns."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        try:
            self._listen(self._watched())
        except Unwatchable as error:
            self.polling = str(error)
        if self.polling and not self._stop.is_set():
            if self._polls is not None:
                self._polls(self.polling)
            self._listen(self._polled())

    def _listen(self, changes: Iterable[Change]) -> None:
        for change in changes:
            if self._stop.is_set():
                return
            if change:
                self._tell(change)

    def _folders(self) -> tuple[str, ...]:
        """Return the folders that tell of changes: those of the index and of running captures."""
        return os.path.dirname(self._layout.index), self._layout.live

    def _watched(self) -> Iterator[Change]:
        while not self._stop.is_set():
            with contextlib.ExitStack() as held:
                try:
                    folders = {path: held.enter_context(_held(path)) for path in self._folders()}
                except FileNotFoundError:
                    self._stop.wait(GONE_SECONDS)
                else:
                    yield from self._watched_while_there(folders)

    def _watched_while_there(self, folders: dict[str, int]) -> Iterator[Change]:
        with watching(folders) as watcher:
            # This catches what was written between the caller's first read and the watch.
            yield Change(records=True, live=frozenset(self._markers()))
            quick = False
            while not self._stop.is_set() and all(_is_at(path, fd) for path, fd in folders.items()):
                step, wait = (QUICK_STEP_MS, int(QUICK_SECONDS * 1_000)) if quick else (STEP_MS, _WAIT_MS)
                changes = watcher.watch(DEBOUNCE_MS, step, wait, self._stop)
                quick = not os.path.exists(self._layout.index)  # the folders may be about to be made
                if isinstance(changes, set):
                    change = self._change([path for _, path in changes])
                    quick = quick or bool(change.live)
                    yield change

    def _change(self, paths: list[str]) -> Change:
        index, live = False, set[str]()
        for path in paths:
            folder, name = os.path.split(path)
            if folder == self._layout.live:
                live.add(name)
            elif name.startswith("index.sqlite"):
                index = True
        return Change(index, frozenset(name for name in live if not name.startswith(".")))

    def _polled(self) -> Iterator[Change]:
        version, markers = (-1, 0), dict[str, int]()
        while not self._stop.wait(POLL_SECONDS):
            before = version, markers
            version, markers = self._version(), self._markers()
            yield Change(version != before[0], frozenset(name for name, _ in markers.items() ^ before[1].items()))

    def _version(self) -> tuple[int, int]:
        """Return the index's version, and its file's identity."""
        try:
            return self._data_version(), os.stat(self._layout.index).st_ino
        except (
            sqlite3.Error,
            SightlineError,
            FileNotFoundError,
        ):  # its reader will get the same error, and can report it
            return -1, 0

    def _markers(self) -> dict[str, int]:
        """Return the names of captures, and when each was last touched (ns)."""
        try:
            with os.scandir(self._layout.live) as entries:
                return {entry.name: _touched(entry) for entry in entries if not entry.name.startswith(".")}
        except FileNotFoundError:
            return {}


@contextlib.contextmanager
def _held(path: str) -> Iterator[int]:
    """Hold a folder open, so that no other can be taken for it. Raises FileNotFoundError, Unwatchable."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unwatchable(error) from error
    try:
        yield fd
    finally:
        os.close(fd)


def _is_at(path: str, fd: int) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except FileNotFoundError:
        return False


def _touched(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_mtime_ns
    except FileNotFoundError:
        return 0
