"""Running outputs of other hosts: requests their bytes while somebody looks, and keeps them in ordinary files."""

import os
import threading
import time
from collections.abc import Callable

from sightline.base.private_files import make_folder, open_private, write_all
from sightline.base.refs import format_ref
from sightline.base.sha256 import sha256_hex
from sightline.disk.streams import StreamReader
from sightline.fleet.database import LastingConnection

_WATCHED_SECONDS = 30
"""How long a host sends after the last request."""

_LOOKED_SECONDS = 20.0
"""How long an output is requested after somebody's last look."""

_ASK_SECONDS = 1.0
_CHUNKS = 64  # requested at once: 4 MiB

_WATCH = """
INSERT INTO sightline.watches (host, name, until)
SELECT id, %s, now() + make_interval(secs => %s) FROM sightline.hosts WHERE name = %s
ON CONFLICT (host, name, reader) DO UPDATE SET until = excluded.until
"""

_TAKE = """
SELECT piece.at, piece.chunk FROM sightline.live AS piece JOIN sightline.hosts AS host ON host.id = piece.host
WHERE host.name = %s AND piece.name = %s AND piece.stream = %s AND piece.at >= %s ORDER BY piece.at LIMIT %s
"""


class RunningOutputs:
    """The running outputs that somebody looks at. Threads may share it."""

    def __init__(self, folder: str, connection: LastingConnection) -> None:
        self._folder, self._connection = os.path.join(folder, "live"), connection
        self._looked: dict[str, float] = {}
        self._asked: dict[str, float] = {}
        self._lock = threading.Lock()

    @property
    def names(self) -> list[str]:
        """The names of outputs that somebody looked at recently."""
        now = time.monotonic()
        return [name for name, when in list(self._looked.items()) if when > now - _LOOKED_SECONDS]

    def open(self, name: str, stream: str) -> "RunningReader":
        """Open one stream of a running output, as far as it has come; more of it is requested from now on."""
        self.look_at(name)
        path = self._path(name, stream)
        fd = open_private(path, os.O_RDONLY | os.O_CREAT)
        return RunningReader(fd, format_ref(name, stream), lambda: self.look_at(name))

    def look_at(self, name: str) -> None:
        """Note that somebody looks at it."""
        make_folder(self._folder)
        self._looked[name] = time.monotonic()

    def path(self, name: str, stream: str) -> str:
        """Return the file of a stream, as far as it has come."""
        self.look_at(name)
        os.close(open_private(self._path(name, stream), os.O_RDONLY | os.O_CREAT))
        return self._path(name, stream)

    def sizes(self, name: str) -> dict[str, int]:
        """Return the bytes of each stream that have come."""
        found = {}
        for stream in ("out", "err"):
            try:
                found[stream] = os.stat(self._path(name, stream)).st_size
            except FileNotFoundError:
                continue
        return found

    def _path(self, name: str, stream: str) -> str:
        return os.path.join(self._folder, f"{sha256_hex(name.encode())[:16]}.{stream}")

    def ask(self) -> set[str]:
        """Request more of everything that somebody looks at, and return the names of what has grown.

        Raises:
            FleetUnreachable, FleetRefused: the database does not answer.
        """
        grown = set()
        with self._lock:
            for name in self.names:
                if time.monotonic() >= self._asked.get(name, 0.0) + _ASK_SECONDS:
                    self._asked[name] = time.monotonic()
                    host, _, own = name.rpartition("/")
                    self._connection.rows(_WATCH, (own, _WATCHED_SECONDS, host))
                    if self._take(name, "out") + self._take(name, "err"):
                        grown.add(name)
        return grown

    def _take(self, name: str, stream: str) -> bool:
        host, _, own = name.rpartition("/")
        fd = open_private(self._path(name, stream), os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            begun = size = os.fstat(fd).st_size
            for at, chunk in self._connection.rows(_TAKE, (host, own, stream, max(size - 65_535, 0), _CHUNKS)):
                if at > size:
                    break  # what is between has not come yet
                if piece := bytes(chunk)[size - at :]:
                    write_all(fd, piece)
                    size += len(piece)
            return size > begun
        finally:
            os.close(fd)

    def forget(self, name: str) -> None:
        """Remove what came of an output that has ended, because what was shipped of it is whole."""
        self._looked.pop(name, None)
        for stream in ("out", "err"):
            try:
                os.unlink(self._path(name, stream))
            except FileNotFoundError:
                continue


class RunningReader(StreamReader):
    """A stream that grows as its host sends it."""

    def __init__(self, fd: int, ref: str, look: Callable[[], object]) -> None:
        self._look = look
        super().__init__(fd, ref)

    def refresh(self) -> bool:
        """Take in what has come since, request more, and return whether there was anything."""
        self._look()
        return super().refresh()
