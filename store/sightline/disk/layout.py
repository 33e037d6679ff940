"""The paths of all files below the store's root."""

import errno
import fcntl
import os
import stat
import time

from sightline.base.errors import UnsafeStore
from sightline.base.private_files import (
    FOLDER_MODE,
    make_folder,
    make_parents,
    opened_folder,
    refuse_closed,
    why_closed,
)
from sightline.light.library import contextmanager
from sightline.light.typing_names import Iterator
from sightline.settings.config import HOOKS

SEALED_MODE = 0o400
META = "meta.json"

CONTENT_NAME_ENDING = ".json"
"""The ending of a stream's second name, which is made from its hash."""

_LOOK_SECONDS = 0.02  # between two looks whether a lock is free

DERIVED = ("pretty", "all")
"""Files of a buffer's folder that can be made again from its streams; for further blocks, ``pretty.N``."""


class Layout:
    """Paths under one root, as plain strings (pathlib costs 4 ms at every start).

    Those of each buffer are put together by hand, which takes a tenth of the time: lists and imports have thousands.
    """

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.index = os.path.join(self.root, "index.sqlite")
        self.config = os.path.join(self.root, "config.toml")
        self.buffers = os.path.join(self.root, "buffers")
        self.live = os.path.join(self.root, "live")
        self.audit = os.path.join(self.root, "audit")
        self.tombstones = os.path.join(self.root, "tombstones")
        self.refs = os.path.join(self.root, "refs")  # exists once a command was given a ref
        self.place = os.path.join(self.root, "place.json")  # exists if the index or the store is not on a usual disk
        self.clock = os.path.join(self.root, "clock.json")
        self.imports = os.path.join(self.root, "imports.json")  # exists once a past session was imported
        self.outbox = os.path.join(self.root, "outbox")  # exists while a note waits to be sent
        self.hooks = os.path.join(self.root, HOOKS)  # what hooks of harnesses must know of each other
        self.waiting = os.path.join(self.hooks, "waiting")  # names sessions of which a harness has more to tell

    def ensure(self) -> None:
        """Make the root and its folders if they are missing.

        Raises:
            UnsafeStore: one of them is a symbolic link, or not a folder.
            OSError: they cannot be made, or the store is another's.
        """
        refuse_closed(self.root)
        if not os.path.isdir(self.root):
            make_parents(self.root)
            make_folder(self.root)
        for folder in (self.buffers, self.live, self.audit, self.tombstones):
            try:
                mode = os.lstat(folder).st_mode
            except FileNotFoundError:
                make_folder(folder)
                continue
            if not stat.S_ISDIR(mode):
                raise UnsafeStore(f"{folder} is not a folder", "move it away; Sightline then makes a new folder")
        if os.stat(self.root).st_mode & 0o077:
            try:
                os.chmod(self.root, FOLDER_MODE)
            except OSError as error:
                if error.errno not in (errno.EROFS, errno.EPERM):  # it is on such a disk, or root's, and can be read
                    raise

    def waiting_sessions(self) -> list[str]:
        """Return the names of sessions with calls whose shown text the harness has not told yet; usually none."""
        if why_closed(self.root):
            return []
        try:
            return os.listdir(self.waiting)
        except OSError:
            return []

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let only one process at a time in, for rare work that must not be done twice."""
        with opened_folder(self.root) as fd:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield

    @contextmanager
    def filling(self, patience: float) -> Iterator[bool]:
        """Only one process at a time fills an index; False where another one still does after so many seconds."""
        with opened_folder(self.buffers) as fd:
            deadline = time.monotonic() + patience
            while not (is_ours := _takes_lock(fd)) and time.monotonic() < deadline:
                time.sleep(_LOOK_SECONDS)
            yield is_ours

    @contextmanager
    def judging(self) -> Iterator[int | None]:
        """Yield a descriptor that is locked as long as a process has it that judges much; None where others judge."""
        with opened_folder(self.audit) as fd:
            yield fd if _takes_lock(fd) else None

    def folder(self, name: str) -> str:
        """Return a buffer's folder."""
        return f"{self.buffers}/{name}"

    def stream(self, name: str, stream: str) -> str:
        """Return the path of a stream, or of another file in the buffer's folder."""
        return f"{self.buffers}/{name}/{stream}"

    def pretty(self, name: str, stream: str) -> str:
        """Return the path of the lines of JSON or UTF-16: ``pretty``, for further streams ``pretty.N`` or ``.err``."""
        number = stream.removeprefix("part.")
        return self.stream(name, "pretty" if number in ("0", "out") else f"pretty.{number}")

    def meta(self, name: str) -> str:
        """Return the path of a buffer's ``meta.json``."""
        return f"{self.buffers}/{name}/{META}"

    def marker(self, name: str) -> str:
        """Return the path of the small file that a running capture holds locked."""
        return os.path.join(self.live, name)

    def tombstone(self, name: str) -> str:
        """Return the path of a gone buffer's tombstone."""
        return f"{self.tombstones}/{name}.json"

    def audit_file(self, session: str) -> str:
        """Return the path of a session's audit log."""
        return os.path.join(self.audit, session + ".jsonl")


def _takes_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
