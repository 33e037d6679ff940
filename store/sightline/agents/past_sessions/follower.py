"""Follows running sessions: reads on in their transcripts as they are written."""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

from sightline.agents.past_sessions.importer import QUIET_SECONDS, Importer
from sightline.base.folder_watch import Unwatchable, watching
from sightline.harnesses.formats import TranscriptSource, find_sources
from sightline.harnesses.transcript import NotReadable, TranscriptReading

POLL_SECONDS = 0.5  # if folders cannot be watched
_LOOK_SECONDS = 5.0  # at least this often, because calls that wait for more must end some time
_DEBOUNCE_MS = 100
_STEP_MS = 50
_OPEN_READINGS = 64  # more transcripts than sessions run side by side


class _Followed:
    """A transcript that is kept open."""

    def __init__(self, source: TranscriptSource, reading: TranscriptReading) -> None:
        self.source = source
        self.reading = reading


class Follower:
    """Reads on in transcripts that have changed. What was there before must have been imported."""

    def __init__(self, importer: Importer, paths: Iterable[str]) -> None:
        """Prepare for transcripts, or folders that contain some or will."""
        self._importer = importer
        self._paths = list(paths)
        self._open: OrderedDict[str, _Followed] = OrderedDict()

    def catch_up(self, now: float | None = None) -> int:
        """Read what has been written since, and return how many calls were imported.

        Raises:
            StoreFailed: the store cannot keep it.
        """
        now = time.time() if now is None else now
        before = self._importer.counts.calls
        for source in self._sources():
            followed = self._open.get(source.path)
            if followed is not None and _was_replaced(followed, source):
                followed.reading.close()
                del self._open[source.path]
                followed = None
            quiet = now - source.written > QUIET_SECONDS
            if followed is None and not self._importer.is_known(source):
                if (reading := self._importer.open(source)) is None:
                    continue
                followed = self._open[source.path] = _Followed(source, reading)
            elif followed is None or (
                followed.source.stamp == source.stamp and not (quiet and followed.reading.waiting)
            ):
                continue
            followed.source = source
            self._importer.take_in(source, followed.reading, ended=quiet)
            self._open.move_to_end(source.path)
        while len(self._open) > _OPEN_READINGS:
            self._open.popitem(last=False)[1].reading.close()
        self._importer.settle()
        return self._importer.counts.calls - before

    def _sources(self) -> list[TranscriptSource]:
        found: list[TranscriptSource] = []
        for path in self._paths:
            try:
                found += find_sources(path)
            except NotReadable:
                continue  # gone for now; it may come back
        return found

    def follow(
        self,
        stop: threading.Event,
        told: Callable[[int], None] = lambda _: None,
        polls: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Catch up after each change, until told to stop.

        Args:
            stop: ends the following.
            told: called with the number of new calls, each time that there are some.
            polls: called once with the reason, if it polls instead of watching.
        """
        try:
            for _ in self._changes(stop, polls):
                if came := self.catch_up():
                    told(came)
        finally:
            self.close()

    def _changes(self, stop: threading.Event, polls: Callable[[str], None]) -> Iterator[None]:
        """Yield once at first, then after each change of the folders, or possible change, until told to stop."""
        try:
            yield from self._watched(stop)
        except Unwatchable as error:
            polls(str(error))
            while not stop.is_set():
                yield
                stop.wait(POLL_SECONDS)

    def _watched(self, stop: threading.Event) -> Iterator[None]:
        folders = {path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path)) for path in self._paths}
        with watching(sorted(folders), recursive=True) as watcher:
            while not stop.is_set():
                yield
                if watcher.watch(_DEBOUNCE_MS, _STEP_MS, int(_LOOK_SECONDS * 1000), stop) == "signal":
                    raise KeyboardInterrupt  # the watcher has consumed the interrupt

    def close(self) -> None:
        """Close all transcripts."""
        for followed in self._open.values():
            followed.reading.close()
        self._open.clear()


def _was_replaced(followed: _Followed, source: TranscriptSource) -> bool:
    """Return whether the path names another file now, or the file was cut short; then it is read from its start."""
    return source.stamp[2] != followed.source.stamp[2] or source.size < followed.reading.position
