"""Enforces the limits: removes old buffers and blanks old views; a tombstone keeps what the log quotes of a buffer."""

import contextlib
import os
import time
from collections.abc import Collection, Iterable, Iterator
from functools import partial

from sightline import disk
from sightline.base.errors import SightlineError
from sightline.base.private_files import open_private
from sightline.base.records import Buffer, Session
from sightline.base.refs import format_ref, looks_like_a_ref, parse_ref
from sightline.disk.errors import store_failed
from sightline.disk.live import writer_alive
from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log import log
from sightline.log.log_index import append_entry, fill_index
from sightline.log.notes import list_notes, take_back
from sightline.log.purge import Purged, emptied_record, empty_tombstone, scrub
from sightline.log.store_kinds import copies_to
from sightline.log.view_text import quotes_of
from sightline.store import Store

_BATCH = 64
_BLOCK_BYTES = 512  # of st_blocks, whatever the file system


class StillRunning(SightlineError):
    """A running buffer cannot be removed."""


class Collected(NamedTuple):
    """What the limits removed.

    Attributes:
        evicted: names of the removed buffers, least recently used first.
        bytes: their bytes.
        views_blanked: number of views whose text was blanked because the log had grown past its limit.
        unshipped: names of buffers over the limits that stay, because they are to be copied elsewhere, and are not yet.
        unshipped_bytes: their bytes.
        unshipped_logs: sessions whose texts stay over the log's limit, because some of them are not copied yet.
        clock: why nothing expires by its age yet; empty if things do.
    """

    evicted: list[str]
    bytes: int
    views_blanked: int
    unshipped: tuple[str, ...] = ()
    unshipped_bytes: int = 0
    unshipped_logs: tuple[str, ...] = ()
    clock: str = ""


def enforce_limits(store: Store, *, with_unshipped: bool = False) -> Collected:
    """Evict what is over the limits of count, bytes and age, least recently used first, except running and pinned.

    Args:
        store: the store.
        with_unshipped: whether to remove what is to be copied elsewhere, and is not yet; else it stays as long as the
            disk has room.
    """
    disk.sweep_stand_ins(store.layout)
    evicted: list[str] = []
    freed = 0
    waiting: dict[str, int] = {}
    while batch := [buffer for buffer in store.limits.over(_BATCH + len(waiting)) if buffer.name not in waiting]:
        if (kind := copies_to(store)) and not with_unshipped:
            lacked = kind.lacks(store, [buffer.name for buffer in batch])
            waiting |= {buffer.name: buffer.bytes for buffer in batch if buffer.name in lacked}
            batch = [buffer for buffer in batch if buffer.name not in lacked]
        if store.index.unwritable:  # on a full disk, removing the largest first makes the room that removing needs
            batch.sort(key=lambda buffer: buffer.bytes, reverse=True)
        for buffer in batch:
            if evict(store, buffer):
                evicted.append(buffer.name)
                freed += buffer.bytes
    return Collected(evicted, freed, 0, tuple(waiting), sum(waiting.values()))


def evict(store: Store, buffer: Buffer) -> bool:
    """Remove a buffer's bytes, and leave a tombstone with its record and quoted lines; False if it was gone."""
    return store.remove(buffer, "evicted", lambda: {"quotes": quotes_of(store, buffer.name)})


def remove(store: Store, buffers: Iterable[Buffer], *, purge: bool = False) -> int:
    """Remove buffers as a person asked, and return how many.

    Args:
        store: the store.
        buffers: the buffers.
        purge: whether to blank the views that showed them, too.

    Raises:
        StillRunning: one of them is still being captured; those before it are removed.
    """
    removed = list[Buffer]()
    try:
        for buffer in buffers:
            if buffer.state == "running" and writer_alive(store.layout, buffer.name):
                raise StillRunning(f"{buffer.ref} is still running", "end its command first")
            removed.append(buffer)
            if not purge:
                store.remove(buffer, "removed", partial(_quotes_left, store, buffer.name))
                continue
            store.remove(emptied_record(store, buffer), "removed")
            _ask_for_purge(store, {buffer.name})
    finally:
        if purge and removed:
            fill_index(store)
            _blank(store, Purged.of(removed))
            scrub(store, Purged.of(removed))
    return len({buffer.name for buffer in removed})


class RemovedSession(NamedTuple):
    """What was removed with a session.

    Attributes:
        buffers: number of buffers.
        bytes: their bytes.
        views_blanked: number of views whose text was blanked, in its log and others'.
    """

    buffers: int
    bytes: int
    views_blanked: int


def remove_session(store: Store, session: Session) -> RemovedSession:
    """Remove what a session captured, and blank what it was shown; the log keeps the hashes, so its chain holds.

    Raises:
        StillRunning: it has running captures; nothing was removed.
        StoreFailed: the removal could not be logged.
    """
    buffers = [buffer for buffer in store.index.of_session(session.name) if buffer.state != "evicted"]
    for buffer in buffers:
        if buffer.state == "running" and writer_alive(store.layout, buffer.name):
            raise StillRunning(f"{buffer.ref} is still running", "end its command first")
    of_session = store.index.of_session(session.name)
    purged = Purged.of(of_session)
    fill_index(store)
    for buffer in of_session:
        if buffer.state == "evicted":
            empty_tombstone(store, buffer.name)
        else:
            store.remove(emptied_record(store, buffer), "removed")
    blanked = _blank_all(store, session.name) + _blank(store, purged)
    _ask_for_purge(store, set(purged.names))
    append_entry(store, session, {"kind": "removed", "time": time.time()})
    _take_in_blanked(store, [session.name])
    store.index.requests.blank(session.name)
    store.index.output_prices.forget()
    store.index.forget_session_acks(session.name)
    scrub(store, purged)
    return RemovedSession(len(buffers), sum(buffer.bytes for buffer in buffers), blanked)


def _blank_all(store: Store, session: str) -> int:
    try:
        return log.blank(store.layout.audit_file(session), lambda _: True, purge=True, durable=store.settings.durable)
    except FileNotFoundError:
        return 0


def gone_names(store: Store) -> list[str]:
    """Return the names of all buffers of which only a tombstone is left."""
    return disk.gone_names(store.layout)


def purge_gone(store: Store, names: Collection[str]) -> None:
    """Do what purging does for buffers that are gone already, of which tombstones and views are left."""
    if not names:
        return
    found = [empty_tombstone(store, name) for name in names]
    purged = Purged(frozenset(names), frozenset(command for one in found for command in one.commands))
    _blank(store, purged)
    _ask_for_purge(store, set(names))
    scrub(store, purged)


def blank_shown(store: Store, names: Iterable[str]) -> None:
    """Blank the views of outputs of other hosts, which these have purged; their names begin with those of hosts."""
    known = (name for name in names if looks_like_a_ref(format_ref(name)))  # a host may call them anything
    purged = Purged(frozenset(form for name in known for form in (name, format_ref(name))), frozenset())
    if _blank(store, purged):
        scrub(store, purged)


def _quotes_left(store: Store, name: str) -> dict[str, Any]:
    return {"quotes": quotes_of(store, name)}


def _ask_for_purge(store: Store, names: set[str]) -> None:
    try:
        if kind := copies_to(store):
            kind.ask_for_purge(store, names)
    except OSError as error:
        raise store_failed(error, store.root) from error


def _blank(store: Store, purged: Purged) -> int:
    blanked: dict[str, int] = {}
    for note in [note for name in purged.names for note in list_notes(store, buffer=name)]:
        take_back(store, note)
    for path in _logs_with(store, purged):
        count = log.blank(path, _Telling(purged).tells, purge=True, durable=store.settings.durable)
        blanked[_session_of(path)] = count
    _take_in_blanked(store, [session for session, count in blanked.items() if count])
    return sum(blanked.values())


def _logs_with(store: Store, purged: Purged) -> Iterator[str]:
    """Yield paths of the logs that name purged outputs, or a request with their commands."""
    wanted = [name.encode() for name in purged.names]
    wanted += [_bytes_of(command) for command in purged.commands]
    for file in sorted(os.listdir(store.layout.audit)):
        path = os.path.join(store.layout.audit, file)
        if file.endswith(".jsonl"):
            with open(open_private(path, os.O_RDONLY), "rb") as lines:
                if any(word in line for _, line in log.lines_of(lines) for word in wanted):
                    yield path


def _bytes_of(command: str) -> bytes:
    return f'"command":{dumps(command, ensure_ascii=False)}'.encode(errors="surrogatepass")


_WORDS = ("message", "prompt", "context")
"""Entries with what was said in a session, and with summaries of its context, which may quote what was shown."""


def _has_words(entry: dict[str, Any]) -> bool:
    return entry.get("kind") in ("view", *_WORDS)


class _Telling:
    """Finds the entries of a log that show some buffers, or may quote them because they came later."""

    def __init__(self, purged: Purged) -> None:
        self._purged = purged
        self._shown = float("inf")

    def tells(self, entry: dict[str, Any]) -> bool:
        """Return whether an entry does; ask in the order of the log."""
        when = float(entry.get("time", 0.0))
        refs, request = set(entry.get("refs", ())), entry.get("request")
        if self._purged.names & refs or (entry.get("kind") == "view" and self._names_them(entry)):
            self._shown = min(self._shown, when)
            return True
        if not refs and isinstance(request, dict) and request.get("command") in self._purged.commands:
            return True  # it was asked whether to run it
        return entry.get("kind") in _WORDS and when >= self._shown

    def _names_them(self, entry: dict[str, Any]) -> bool:
        """Return whether a reply names one of them, as lists do, which show commands, too."""
        said = dumps([entry.get("text"), entry.get("request")], ensure_ascii=False)
        return any(name in said for name in self._purged.names)


def _take_in_blanked(store: Store, sessions: Iterable[str]) -> None:
    """Update in the index the places of lines in blanked logs, and which of their notes have lost their text."""
    fill_index(store)
    with store.index.transaction():
        for session in sessions:
            end, whole, title, is_blank = 0, True, "", False
            with contextlib.suppress(FileNotFoundError, log.BrokenChain):  # the doctor reports it
                for place, entry in log.read_all(store.layout.audit_file(session)):
                    if entry.get("kind") == "view":
                        if log.is_emptied(entry) and (known_view := store.index.view(session, place.number)):
                            request = dumps(entry.get("request", {}))
                            store.index.amend_view(known_view.view._replace(request=request, text_sha256=""))
                        whole &= store.index.move_view(session, place.number, place.offset, place.length)
                    elif entry.get("kind") == "note" and entry.get("text") is None:
                        note = store.index.note(f"{session}:{place.number}")
                        if note is not None:
                            store.index.put_note(note._replace(text=None), parse_ref(note.ref).name)
                    elif entry.get("kind") == "titled":
                        title = entry["title"]
                    elif entry.get("kind") == "about":
                        is_blank |= entry.get("text") is None
                    if whole:  # entries of a moment ago are not indexed yet
                        end = place.offset + place.length
            store.index.set_log(session, end)
            if is_blank and (known := store.index.session(session)):
                store.index.put_session(known._replace(title=title))


def collect(store: Store, *, with_unshipped: bool = False) -> Collected:
    """Do everything that `gc` does: end dead captures, enforce the limits (as `enforce_limits`) and the log's own."""
    disk.adopt_dead(store.layout, store.index)
    collected = enforce_limits(store, with_unshipped=with_unshipped)
    blanked, waiting = _limit_log(store, with_unshipped=with_unshipped)
    return collected._replace(views_blanked=blanked, unshipped_logs=waiting, clock=store.limits.clock().in_words())


def _limit_log(store: Store, *, with_unshipped: bool) -> tuple[int, tuple[str, ...]]:
    """Blank the texts of the sessions that have been silent the longest, until the log is within its limit.

    Returns:
        The number of blanked texts, and the sessions whose turn it was, but whose texts are not copied yet.
    """
    paths = [store.layout.audit_file(session) for session in log.logged_sessions(store.layout.audit)]
    sizes = {path: os.stat(path) for path in paths}
    over = sum(map(_written_bytes, sizes.values())) - store.settings.max_view_bytes
    lacked: set[str] = set()
    if over > 0 and not with_unshipped and (kind := copies_to(store)):
        lacked = kind.lacks_logs(store, {_session_of(path): status.st_size for path, status in sizes.items()})
    blanked: dict[str, int] = {}
    waiting: list[str] = []
    for path in sorted(paths, key=lambda path: sizes[path].st_mtime):
        if over <= 0:
            break
        session = _session_of(path)
        if session in lacked:
            waiting.append(session)
            continue
        blanked[session] = log.blank(path, _has_words, durable=store.settings.durable)
        over -= _written_bytes(sizes[path]) - _written_bytes(os.stat(path))
    _take_in_blanked(store, [session for session, count in blanked.items() if count])
    return sum(blanked.values()), tuple(waiting)


def _written_bytes(status: os.stat_result) -> int:
    """Return how many bytes a log has; a hole of a terabyte must not have all others blanked."""
    return min(status.st_size, status.st_blocks * _BLOCK_BYTES or status.st_size)  # some disks count no blocks


def _session_of(path: str) -> str:
    return os.path.basename(path).removesuffix(".jsonl")
