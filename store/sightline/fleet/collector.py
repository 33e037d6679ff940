"""Selects what of a store is shipped: queues whatever is done, once, in the order in which it is found."""

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator

from sightline.base.errors import SightlineError
from sightline.base.private_files import read_file
from sightline.base.records import Buffer
from sightline.fleet import PURGES_FILE
from sightline.fleet.queue import LogEnd, Queue
from sightline.light.json_text import dumps
from sightline.light.typing_names import Any
from sightline.log import log
from sightline.store import Store

_BATCH_ROWS = 500
_LOG_ITEM_BYTES = 1 << 18
_LOG_ITEM_LINES = 400
_WHOLE_SECONDS = 30.0
"""How often all buffers are compared with the queue, because pins, labels and evictions have no numbers."""

DIRECTORY, SIZE = "directory", "size"
"""Reasons why a buffer is not shipped."""

REMOVED = "removed"
PURGED = "purged"
"""Stand for the digest of a buffer that a person has removed, and of one of which nothing may stay at the fleet."""


class Collector:
    """Looks at one store and fills its queue."""

    def __init__(self, store: Store, queue: Queue) -> None:
        self._store, self._queue = store, queue
        self._running: set[str] = set()
        self._folders: dict[str, bool] = {}
        self.start_anew()

    def start_anew(self) -> None:
        """Forget everything, because the queue or the index was made again."""
        self._number = 0
        self._index = self._store.access.identity
        self._version = -1
        self._whole_at = float("-inf")
        self._is_whole = False
        self._purges = 0

    def look(self, *, whole: bool = False) -> None:
        """Queue what is new. This is cheap if nothing has changed.

        Args:
            whole: whether to compare everything, however recently that was done.
        """
        if self._store.access.identity != self._index:
            self.start_anew()
        version = self._store.index.data_version()
        changed = version != self._version
        self._version = version
        due = time.monotonic() >= self._whole_at + _WHOLE_SECONDS
        if not (whole or changed or (due and not self._is_whole)):
            return
        if whole or due:
            self._whole_at = time.monotonic()
            self._store.end_dead_captures()
            self._compare_all()
            self._is_whole = True
        else:
            self._is_whole = False
            self._take_new()
        self._take_purges()
        self._take_logs()

    def forget_folders(self) -> None:
        """Ask the settings anew for every folder, since they have changed."""
        self._folders.clear()

    def ships(self, cwd: str) -> bool:
        """Return whether what ran in a folder is shipped."""
        if cwd not in self._folders:
            self._folders[cwd] = self._store.settings.ships(cwd)
        return self._folders[cwd]

    def why_not(self, buffer: Buffer) -> str:
        """Return why a buffer is not shipped; empty if it is."""
        places = [buffer.cwd] + ([os.path.dirname(buffer.command)] if buffer.kind == "file" else [])
        if not all(self.ships(place) for place in places if place.startswith("/")):
            return DIRECTORY
        if buffer.bytes > self._store.settings.fleet.max_buffer_bytes and buffer.state != "evicted":
            return SIZE
        return ""

    # buffers

    def _take_new(self) -> None:
        with self._queue.changing():
            known = self._queue.known()  # here, since another shipper may have queued the same
            for name in list(self._running):
                buffer = self._store.index.buffer(name)
                if buffer is None or self._take(buffer, known):
                    self._running.discard(name)
            while rows := self._store.index.numbered_after(self._number, _BATCH_ROWS):
                for self._number, buffer in rows:
                    if not self._take(buffer, known):
                        self._running.add(buffer.name)

    def _compare_all(self) -> None:
        number, found = 0, set[str]()
        self._running.clear()
        with self._queue.changing():
            known = self._queue.known()
            left_out = self._queue.left_out()
            while rows := self._store.index.numbered_after(number, _BATCH_ROWS):
                for number, buffer in rows:  # noqa: B007 - the last one is where to go on
                    found.add(buffer.name)
                    if not self._take(buffer, known):
                        self._running.add(buffer.name)
            self._number = number
            for name in left_out.keys() - found:
                self._queue.take_in(name)
            gone = known.keys() - found
            self._queue.forget_gone(gone, REMOVED)
            for name in gone:
                if known[name][0] not in (REMOVED, PURGED) and self._store.tombstone(name):
                    self._queue.put("change", name, 0)
                    self._queue.put_known(name, REMOVED, known[name][1])

    def _take(self, buffer: Buffer, known: dict[str, tuple[str, float]]) -> bool:
        """Queue a buffer, or a change of it; return False while it is running."""
        if buffer.state == "running":
            return False
        digest = digest_of(buffer)
        before = known.get(buffer.name)
        if before and before[0] == PURGED:
            return True  # the fleet knows what is left of it
        if before is None:
            if why := self.why_not(buffer):
                self._queue.leave_out(buffer.name, why, buffer.bytes)
                return True
            self._queue.take_in(buffer.name)
            self._queue.put("buffer", buffer.name, buffer.bytes if buffer.state != "evicted" else 0)
        elif before[0] != digest:
            self._queue.put("change", buffer.name, 0)
        if before is None or before[0] != digest:
            self._queue.put_known(buffer.name, digest, buffer.created)
            known[buffer.name] = (digest, buffer.created)
        return True

    def _take_purges(self) -> None:
        """Ask for new purges, even of what was not shipped, because views of it may have been."""
        path = os.path.join(self._queue.folder, PURGES_FILE)
        with contextlib.suppress(OSError):
            if os.stat(path).st_size == self._purges:
                return
            names = read_file(path)
            names = names[: names.rfind(b"\n") + 1]  # a last line without its end is still being written
            with self._queue.changing():
                known = self._queue.known()
                for name in dict.fromkeys(names.decode(errors="replace").split()):
                    digest, created = known.get(name, ("", 0.0))
                    if digest != PURGED:
                        created = created or (self._store.tombstone(name) or {}).get("created", 0.0)
                        self._queue.put("change", name, 0)
                        self._queue.put_known(name, PURGED, created)
            self._purges = len(names)

    # logs

    def _take_logs(self) -> None:
        ends = self._queue.log_ends()
        with os.scandir(self._store.layout.audit) as files:
            sizes = {
                file.name.removesuffix(".jsonl"): file.stat(follow_symlinks=False).st_size
                for file in files
                if file.name.endswith(".jsonl")
            }
        for session, size in sorted(sizes.items()):
            end = ends.get(session, LogEnd(0, 0, log.NO_HASH))
            if size != end.at:
                self._take_log(session, end, size)

    def _take_log(self, session: str, end: LogEnd, file_bytes: int) -> None:
        path = self._store.layout.audit_file(session)
        try:
            with self._queue.changing():
                first, at, size = -1, 0, 0
                before = end
                for place, entry in lines_after(path, end):
                    if first < 0:
                        first, at, size = place.number, place.offset, 0
                    size += place.length
                    end = LogEnd(place.number + 1, place.offset + place.length, str(entry.get("hash", "")))
                    if size >= _LOG_ITEM_BYTES or place.number - first >= _LOG_ITEM_LINES:
                        self._queue.put("log", session, size, first=first, last=place.number, at=at)
                        first = -1
                if first >= 0:
                    self._queue.put("log", session, size, first=first, last=end.next - 1, at=at)
                if end == before:  # blanking texts moves the lines after them
                    end = end._replace(at=file_bytes)
                self._queue.put_log_end(session, end)
        except (SightlineError, OSError, KeyError, TypeError, ValueError):
            return  # changed from outside, which the doctor reports


def lines_after(path: str, end: LogEnd) -> Iterator[tuple[log.LinePlace, dict[str, Any]]]:
    """Yield the lines of a log from a number on, wherever they are now.

    A log that is shorter than its queued part is another one, and yields all its lines. Raises BrokenChain, OSError.
    """
    lines = log.read_from(path, end.at)
    try:
        first = next(lines, None)
    except log.BrokenChain:
        first = None
    if first is not None and first[0].number == end.next and first[1].get("prev") == end.hash:
        yield first
        yield from lines
    elif first is not None or os.path.getsize(path) < end.at:
        last = -1
        for place, _ in log.read_all(path):
            last = place.number
        least = end.next if last >= end.next - 1 else 0
        yield from ((place, entry) for place, entry in log.read_all(path) if place.number >= least)


def digest_of(buffer: Buffer) -> str:
    """Return a hash of what may change after a buffer is done."""
    facts = [buffer.state, buffer.exit_code, buffer.signal, buffer.timed_out, buffer.label, buffer.pinned, buffer.note]
    return hashlib.sha256(dumps(facts).encode(errors="surrogatepass")).hexdigest()[:32]
