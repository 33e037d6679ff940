"""What `doctor` finds: every promise of the store checked, and mended where that loses nothing."""

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sightline.store.audit import log
from sightline.store.audit.verifying import last_known, verify_log
from sightline.store.audit.views import fill_index, rebuild_views
from sightline.store.disk.layout import DERIVED, FOLDER_MODE, SEALED_MODE, open_private, remove_file, remove_folder
from sightline.store.disk.live import marker_names, writer_alive
from sightline.store.disk.meta import is_buffer_name, read_meta, write_meta
from sightline.store.disk.recording import new_buffer
from sightline.store.disk.recovery import adopt_dead, close_interrupted, hash_file, rebuild_buffers, stream_files
from sightline.store.disk.trouble import is_broken, trouble_of
from sightline.store.errors import OfNewerVersion, SightlineError, StoreFailed, UnsafeStore
from sightline.store.query.sandbox import describe
from sightline.store.records import Buffer
from sightline.store.shape.summary import human_bytes
from sightline.store.store import Store
from sightline.store.tools.printing import printable

_YOUNG_SECONDS = 60.0  # a folder younger than this may be a capture that is just being made
_PROGRAMS = ("rg", "jq", "gawk", "diff")
_TOLD_VIEWS = 10
_GONE = ("expired", "removed", "lost")


class Finding(NamedTuple):
    """One thing that was looked at.

    Attributes:
        level: ``ok``, ``note``, ``mended`` or ``problem``.
        text: what was found, and what was or is to be done.
    """

    level: str
    text: str


def examine(store: Store, *, rebuild: bool = False) -> Iterator[Finding]:
    """Check the store; findings as they come.

    Args:
        store: the store.
        rebuild: whether the index is made anew even where nothing is wrong with it.
    """
    for check in (
        _root,
        _writable,
        lambda s: _index(s, rebuild),
        _dead,
        _folders,
        _rows,
        _streams,
        _logs,
        _views,
        _limits,
        _queries,
    ):
        try:
            yield from check(store)
        except (OSError, sqlite3.Error, StoreFailed) as error:
            if isinstance(error, sqlite3.DatabaseError) and is_broken(error) and not store.index.unwritable:
                yield from _made_anew(store, "it was damaged")
                yield from check(store)
            elif check is _writable:
                yield Finding("problem", f"nothing can be looked at: {_told(store, error)}")
                return
            else:
                yield Finding("problem", f"this check broke off where it was to mend something: {_told(store, error)}")


def _told(store: Store, error: Exception) -> str:
    told = (error.message, error.hint) if isinstance(error, SightlineError) else trouble_of(error, store.root)
    return ": ".join(told)


def _writable(store: Store) -> Iterator[Finding]:
    if store.index.unwritable:
        yield Finding("problem", f"nothing can be written to the store, and nothing mended: {store.index.unwritable}")
        names = [name for name in marker_names(store.layout) if not writer_alive(store.layout, name)]
        for name in names:
            yield Finding("note", f"@{name}: its writer is dead; it is yet to be marked interrupted")


def _root(store: Store) -> Iterator[Finding]:
    status = os.stat(store.root)
    if status.st_uid != os.getuid():
        yield Finding("problem", f"{store.root} belongs to another user: set SIGHTLINE_HOME to a folder of yours")
    elif status.st_mode & 0o777 != FOLDER_MODE:
        os.chmod(store.root, FOLDER_MODE)
        yield Finding("mended", f"{store.root} was open to others; now it is yours alone")
    else:
        yield Finding("ok", f"{store.root} is private")
    for folder, _, files in os.walk(store.root):
        for name in files:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                yield Finding("problem", f"{path} is a symbolic link; nothing follows it: remove it")
            elif name.endswith(".tmp") and _is_old(path):
                remove_file(path)
                yield Finding("mended", f"{path} was left by a writer that died; removed")


def _is_old(path: str) -> bool:
    """Whether nobody is just making it; what has gone meanwhile was."""
    try:
        return time.time() - os.lstat(path).st_mtime > _YOUNG_SECONDS
    except FileNotFoundError:
        return False


def _index(store: Store, rebuild: bool) -> Iterator[Finding]:
    try:
        sound = store.index.is_sound()
    except sqlite3.DatabaseError:
        sound = False
    if sound and not rebuild:
        yield Finding("ok", "the index is sound")
    else:
        yield from _made_anew(store, "as asked" if sound else "it was damaged")


def _made_anew(store: Store, why: str) -> Iterator[Finding]:
    store.start_index_anew()
    rebuilt = rebuild_buffers(store.layout, store.index)
    views = rebuild_views(store)
    yield Finding("mended", f"the index was made anew, {why}: {rebuilt.buffers:,} buffers, {views:,} views")


def _dead(store: Store) -> Iterator[Finding]:
    adopted = adopt_dead(store.layout, store.index)
    for name in adopted.interrupted:
        yield Finding("mended", f"@{name} was still marked running, but its writer is dead: marked interrupted")
    for name in adopted.dropped:
        yield Finding("mended", f"@{name} was reserved by a writer that died before it had a record: dropped")


def _folders(store: Store) -> Iterator[Finding]:
    """Every folder has a record, and the index knows it."""
    known = store.index.names()
    for name in os.listdir(store.layout.buffers):
        try:
            buffer = read_meta(store.layout, name)
        except OfNewerVersion as error:
            yield Finding("note", f"{error.message}, and cannot be seen here: {error.hint}")
            continue
        except (FileNotFoundError, NotADirectoryError, ValueError, SightlineError):
            yield from _orphan(store, name)
            continue
        if name not in known and not writer_alive(store.layout, name) and store.index.buffer(name) is None:
            store.index.put_buffer(buffer)
            yield Finding("mended", f"@{name} was missing in the index: added")


def _orphan(store: Store, name: str) -> Iterator[Finding]:
    folder = store.layout.folder(name)
    if os.path.islink(folder) or not os.path.isdir(folder) or not is_buffer_name(name):
        yield Finding("problem", f"{printable(folder)} is no buffer's folder: move it away")
        return
    known = store.index.buffer(name)
    if known is not None and known.state in ("sealed", "interrupted"):
        try:
            write_meta(store.layout, known, durable=store.settings.durable)
        except OSError as error:
            yield Finding("problem", f"@{name} has lost its record, which cannot be written: {error.strerror}")
            return
        yield Finding("mended", f"@{name} had lost its record: written again from the index")
        return
    if writer_alive(store.layout, name) or not _is_old(folder):
        return
    if not any(True for _ in stream_files(store.layout, name)):
        remove_folder(folder)
        yield Finding("mended", f"{folder} was an empty folder without a record: removed")
        return
    lost = new_buffer(name, name.partition("_")[0], "(its record was lost)", store.root, "", note="record lost")
    store.index.put_buffer(close_interrupted(store.layout, lost))
    yield Finding("mended", f"@{name} had bytes and no record: it has one again, without its command")


def _rows(store: Store) -> Iterator[Finding]:
    for name in store.index.names():
        buffer = store.index.buffer(name)
        if buffer and _is_kept(buffer) and not os.path.isdir(store.layout.folder(name)) and _is_still_kept(store, name):
            store.index.forget_buffer(name)
            yield Finding(
                "problem",
                f"@{name} was listed, but its folder is gone; no longer listed: {printable(buffer.command[:80])}",
            )


def _is_kept(buffer: Buffer) -> bool:
    return buffer.state in ("sealed", "interrupted")


def _is_still_kept(store: Store, name: str) -> bool:
    """Whether it has not gone just now, as others may let it go while we look."""
    buffer = store.index.buffer(name)
    return buffer is not None and _is_kept(buffer)


def _streams(store: Store) -> Iterator[Finding]:
    """Every sealed stream still has its size, hash and mode."""
    sound = size = 0
    for name in sorted(store.index.names()):
        buffer = store.index.buffer(name)
        if buffer is None or not _is_kept(buffer):
            continue
        for stream, info in buffer.streams.items():
            if wrong := _wrong_with(store, buffer, stream):
                if not _is_still_kept(store, name):
                    break
                yield Finding("problem", f"{buffer.ref} ({stream}) {wrong}")
            else:
                sound, size = sound + 1, size + info.bytes
    yield Finding("ok", f"streams that hash as recorded: {sound:,}, {human_bytes(size)} in all")


def _wrong_with(store: Store, buffer: Buffer, stream: str) -> str:
    path, info = store.layout.stream(buffer.name, stream), buffer.streams[stream]
    try:
        fd = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        return "is missing: its bytes are lost"
    except UnsafeStore:
        return "is no file, or a symbolic link: its bytes are lost"
    try:
        status = os.fstat(fd)
        if status.st_size != info.bytes:
            return f"has {status.st_size:,} bytes instead of {info.bytes:,}: it was changed from outside"
        if hash_file(fd, info.bytes) != info.sha256:
            return "no longer hashes as recorded: it was changed from outside"
        if status.st_mode & 0o777 != SEALED_MODE:  # only of what is ours: another file may have been put in its place
            os.fchmod(fd, SEALED_MODE)
        return ""
    finally:
        os.close(fd)


def _logs(store: Store) -> Iterator[Finding]:
    """Every chain of views holds up to the last view that is known, and the index knows all of them."""
    lines = sound = 0
    is_known = True
    known = last_known(store)
    files = {file.removesuffix(".jsonl") for file in os.listdir(store.layout.audit) if file.endswith(".jsonl")}
    for session in sorted(files | known.keys()):
        try:
            lines += verify_log(store, session, known.get(session, 0))
            sound += 1
        except OfNewerVersion as error:
            yield Finding("note", f"{error.message}, and cannot be checked here: {error.hint}")
        except SightlineError as error:
            yield Finding("problem", f"{error.message}: {error.hint}")
        views = _views_in(store.layout.audit_file(session))
        fill_index(store, session)  # what its writer is about to index
        is_known = is_known and len(store.index.views(session=session)) >= views
    yield Finding("ok", f"audit files whose chain holds: {sound:,}, {lines:,} entries in all")
    if not is_known:
        yield Finding("mended", f"the index did not know all views: {rebuild_views(store):,} indexed anew")


def _views(store: Store) -> Iterator[Finding]:
    """The buffers of every view are what they were when it was made, or are known to have gone."""
    sound = 0
    counted = dict.fromkeys((*_GONE, "blanked"), 0)
    wrong: list[str] = []
    for file in sorted(os.listdir(store.layout.audit)):
        if not file.endswith(".jsonl"):
            continue
        with contextlib.suppress(SightlineError):  # a log that cannot be read has been told of
            for place, entry in log.read_all(os.path.join(store.layout.audit, file)):
                if entry.get("kind") != "view":
                    continue
                counted["blanked"] += entry.get("text") is None
                states = [_state_of(store, name, entry.get("sealed", {}).get(name)) for name in entry.get("refs", ())]
                for name, state in zip(entry.get("refs", ()), states, strict=True):
                    if state in counted:
                        counted[state] += 1
                    elif state:
                        wrong.append(f"view {file.removesuffix('.jsonl')}:{place.number} showed @{name}, which {state}")
                sound += not any(states)
    yield from (Finding("problem", text) for text in wrong[:_TOLD_VIEWS])
    if len(wrong) > _TOLD_VIEWS:
        yield Finding("problem", f"and {len(wrong) - _TOLD_VIEWS:,} more views of such buffers")
    yield Finding("ok", f"views whose buffers are as they were: {sound:,}")
    if any(counted.values()):
        told = ", ".join(f"{count:,} {what}" for what, count in counted.items() if count)
        yield Finding("note", f"views of buffers that are gone, or without their text: {told}")


def _state_of(store: Store, name: str, sealed: dict[str, str] | None) -> str:
    """What has become of a view's buffer: nothing, one of _GONE, or what is wrong with it."""
    buffer = store.index.buffer(name)
    if buffer is None or buffer.state == "evicted":
        tombstone = store.tombstone(name)
        if tombstone is None:
            return "lost"  # which was told when it was found to be
        return "removed" if tombstone.get("reason") == "removed" else "expired"
    if sealed is None:
        return ""
    if {stream: info.sha256 for stream, info in buffer.streams.items()} != sealed:
        return "no longer hashes as it did then: its record was changed from outside"
    return ""


def _views_in(path: str) -> int:
    """How many views a file has, as far as it can be read."""
    count = 0
    with contextlib.suppress(SightlineError, FileNotFoundError):
        for _, entry in log.read_all(path):
            count += entry.get("kind") == "view"
    return count


def _limits(store: Store) -> Iterator[Finding]:
    totals, settings = store.index.totals(), store.settings
    yield Finding(
        "ok",
        f"{totals.buffers:,} of {settings.max_buffers:,} buffers, "
        f"{human_bytes(totals.bytes)} of {human_bytes(settings.max_bytes)}",
    )
    derived = 0
    for name in os.listdir(store.layout.buffers):
        for file in DERIVED:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                derived += os.lstat(store.layout.stream(name, file)).st_size
    if derived:
        yield Finding(
            "note", f"{human_bytes(derived)} of files that can be made again (both streams in order, JSON in lines)"
        )


def _queries(_: Store) -> Iterator[Finding]:
    yield Finding("ok", describe().text)
    find: Callable[[str], str | None] = shutil.which
    missing = [program for program in _PROGRAMS if not find(program)]
    if missing:
        yield Finding("note", f"not installed, so queries cannot use them: {', '.join(missing)}")
