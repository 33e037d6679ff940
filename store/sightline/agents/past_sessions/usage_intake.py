"""Takes usage from transcripts: each request once, in its fullest record, for the session in which it was met first.

An import reads whole transcripts. Those of sessions that hooks record are noted by the hooks, and what has come to them
since is read when somebody asks what it cost, so that no hook reads any.
"""

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator

from sightline.base.errors import SightlineError
from sightline.base.private_files import open_private, read_file, remove_file, write_all
from sightline.base.records import Session
from sightline.base.request_usage import RequestUsage
from sightline.harnesses.formats import TranscriptSource, find_sources, open_reading, reading_order
from sightline.harnesses.tool_call import CallSession
from sightline.harnesses.transcript import (
    LineReading,
    NotReadable,
    ToldOrigin,
    ToldUsage,
    bounded_origin,
    bounded_session,
    bounded_usage,
)
from sightline.light.json_text import dumps, loads
from sightline.log.session_history import write_origin
from sightline.log.session_origins import SessionOrigin
from sightline.log.sessions import safe_name
from sightline.log.usage import write_usage
from sightline.settings.config import NOTED_TRANSCRIPTS
from sightline.store import Store

OVERLAP_BYTES = 1 << 18  # read again, since a reply may be written on while results of its calls come
_FORGOTTEN_SECONDS = 30 * 86_400  # after a last change; a session that goes on is noted again
_READ = ".read"


def session_of(past: CallSession) -> Session:
    """Return the record of a session in a transcript, with the name that hooks give it, too."""
    name = safe_name("-".join(filter(None, (past.harness, past.id, past.agent, past.run))))
    return Session(
        name=name, harness=past.harness, harness_id=past.id, client=past.client, cwd=past.cwd, started=past.started
    )


class UsageIntake:
    """Takes usage, and from which session each came, and logs what is not known.

    Args:
        store: the store.
        session_of: returns the record of a session in a transcript, given when that was written.
    """

    def __init__(self, store: Store, session_of: Callable[[CallSession, float], Session]) -> None:
        self._store, self._session_of = store, session_of
        self._requests: dict[str, tuple[Session, RequestUsage]] = {}
        self._own_requests: set[str] = set()  # paths of transcripts with requests beyond the history that they repeat
        self._origins: dict[str, tuple[Session, SessionOrigin]] = {}
        self._captures: dict[str, bool] = {}

    def may_capture(self, cwd: str) -> bool:
        """Return whether anything of a session in this folder is kept."""
        if not self._store.settings.capture_off:
            return True
        if cwd not in self._captures:
            self._captures[cwd] = self._store.settings.captures(cwd)
        return self._captures[cwd]

    def take(self, source: TranscriptSource, event: ToldUsage) -> None:
        """Keep the fullest record of a request, for the session in which it was met first."""
        if not self._store.settings.evidence.messages or not self.may_capture(event.session.cwd):
            return
        usage = bounded_usage(event, source.written)
        if usage.copies and source.path not in self._own_requests:
            if any(one in self._requests for one in usage.copies) or self._store.index.requests.known(usage.copies):
                return  # it is of the session whose history this one repeats
            if usage.id not in usage.copies:
                self._own_requests.add(source.path)
        session = self._session_of(event.session, source.written)
        known = self._requests.get(usage.id)
        if known:
            usage = usage._replace(time=min(usage.time, known[1].time))
        if known is None or usage.fullness >= known[1].fullness:
            is_helpers = known is not None and known[0].name.startswith(f"{session.name}-")  # its session repeats it
            self._requests[usage.id] = (session if known is None or is_helpers else known[0]), usage

    def take_origin(self, source: TranscriptSource, event: ToldOrigin) -> None:
        """Keep from which session one came, as its first record states it."""
        if self.may_capture(event.session.cwd):
            session = self._session_of(event.session, source.written)
            self._origins.setdefault(session.name, (session, bounded_origin(event, source.written)))

    def log(self) -> None:
        """Log what was taken. Raises StoreFailed."""
        origins, self._origins = self._origins, {}
        for session, origin in origins.values():
            write_origin(self._store, session, origin)
        of_session, requests = dict[str, tuple[Session, list[RequestUsage]]](), self._requests
        self._requests = {}
        for session, usage in requests.values():
            of_session.setdefault(session.name, (session, []))[1].append(usage)
        for session, found in of_session.values():
            write_usage(self._store, session, found)


def take_in_usage(store: Store) -> None:
    """Log what the transcripts that hooks have noted say of usage by now, for somebody who is about to look.

    If the store cannot be written to, or somebody else is doing this, nothing is done.
    """
    folder = os.path.join(store.root, NOTED_TRANSCRIPTS)
    if store.index.unwritable or not os.path.isdir(folder):
        return
    fd = open_private(folder + _READ, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        before = _read_so_far(fd)
        sources = {one.path: one for one in _noted(folder)}
        known = {path: stamp for path, stamp in before.items() if path in sources}
        changed = [one for one in sources.values() if known.get(one.path) != list(one.stamp)]
        intake = UsageIntake(store, lambda past, written: session_of(bounded_session(past, written)))
        for source in reading_order(changed):
            _take_all(intake, source, known.get(source.path))
        intake.log()
        known |= {one.path: list(one.stamp) for one in changed}
        if known != before:
            os.ftruncate(fd, 0)
            os.lseek(fd, 0, os.SEEK_SET)
            write_all(fd, dumps(known).encode(errors="surrogateescape"))
    except (BlockingIOError, sqlite3.OperationalError):
        return  # the next to look tries again
    finally:
        os.close(fd)


def _read_so_far(fd: int) -> dict[str, list[int]]:
    """Return what was read of each transcript: its size, time and inode then."""
    try:
        found = loads(os.pread(fd, os.fstat(fd).st_size, 0))
    except ValueError:
        return {}
    stamps = found.items() if isinstance(found, dict) else ()
    return {path: stamp for path, stamp in stamps if isinstance(stamp, list) and list(map(type, stamp)) == [int] * 3}


def _noted(folder: str) -> Iterator[TranscriptSource]:
    """Yield the transcripts that hooks have noted, with those of helpers in the folder that has their name."""
    for note in sorted(os.listdir(folder)):
        place = os.path.join(folder, note)
        try:
            path = read_file(place).decode(errors="surrogateescape")
            found = list(find_sources(path))
            beside = os.path.splitext(path)[0]
            found += find_sources(beside) if beside != path and os.path.isdir(beside) else ()
        except (OSError, SightlineError):
            found = []  # it was removed since
        if not found or max(one.written for one in found) < os.stat(place).st_mtime - _FORGOTTEN_SECONDS:
            remove_file(place)
        yield from found


def _take_all(intake: UsageIntake, source: TranscriptSource, before: list[int] | None) -> None:
    """Take the usage of a transcript; where each line says all about itself, only of lines that came since."""
    try:
        reading = open_reading(source)
    except NotReadable:
        return
    if reading is None:
        return
    try:
        if before and before[2] == source.stamp[2] and isinstance(reading, LineReading):
            reading.skip(before[0] - OVERLAP_BYTES)
        for item in reading.advance():
            if isinstance(item, ToldUsage):
                intake.take(source, item)
            elif isinstance(item, ToldOrigin):
                intake.take_origin(source, item)
    except NotReadable:
        pass  # what was read of it counts
    finally:
        reading.close()
