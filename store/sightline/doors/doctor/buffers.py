"""What `doctor` checks about buffers: each folder has a record, each record a folder, each stream its hash."""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from sightline.base.check_result import Advance, CheckResult
from sightline.base.errors import OfNewerVersion, SightlineError, UnsafeStore
from sightline.base.private_files import open_private, remove_folder
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.doors.doctor.files import Derived, check_files, is_old
from sightline.log.repair import (
    SEALED_MODE,
    has_streams,
    has_writer,
    is_buffer_name,
    is_folder_of_buffer,
    make_record,
    record_on_disk,
    write_record,
)
from sightline.shape.summary import human_bytes
from sightline.store import Store
from sightline.verbs.printable_text import printable

_PAGE = 1_000
_SEALED = ("sealed", "interrupted")


def check_folders(store: Store, derived: Derived, advance: Advance) -> Iterator[CheckResult]:
    """Check that the index has every folder.

    Folders that it has are not read here: in this order they lie scattered over the disk.
    """
    with os.scandir(store.layout.buffers) as folders:
        for folder in folders:
            advance("folders", 1)
            if folder.is_symlink():
                yield CheckResult("problem", f"{folder.path} is a symbolic link; nothing follows it: remove it")
            if not is_buffer_name(folder.name):
                yield CheckResult("problem", f"{printable(folder.path)} is no buffer's folder: move it away")
                continue
            if store.index.has(folder.name):
                continue
            yield from check_files(folder.path, derived)
            try:
                buffer = record_on_disk(store, folder.name)
            except OfNewerVersion as error:
                yield _of_newer(error)
                continue
            except (FileNotFoundError, NotADirectoryError, ValueError, SightlineError):
                yield from _orphan(store, folder.name)
                continue
            if not store.index.knows(folder.name) and not has_writer(store, folder.name):
                store.index.put_buffer(buffer)
                yield CheckResult("mended", f"{format_ref(folder.name)} was missing in the index: added")


def _orphan(store: Store, name: str) -> Iterator[CheckResult]:
    folder = store.layout.folder(name)
    if not is_folder_of_buffer(store, name):
        yield CheckResult("problem", f"{printable(folder)} is no buffer's folder: move it away")
        return
    known = store.index.buffer(name)
    if known is not None and known.state in ("sealed", "interrupted"):
        try:
            write_record(store, known)
        except OSError as error:
            yield CheckResult(
                "problem", f"{format_ref(name)} has lost its record, which cannot be written: {error.strerror}"
            )
            return
        yield CheckResult("mended", f"{format_ref(name)} had lost its record: written again from the index")
        return
    if has_writer(store, name):
        return
    if not is_old(folder):  # its writer may be about to write the record
        if os.path.lexists(store.layout.meta(name)):
            yield CheckResult(
                "problem", f"{format_ref(name)} has a record that cannot be read: later, doctor makes it another one"
            )
        return
    if not has_streams(store, name):
        remove_folder(folder)
        yield CheckResult("mended", f"{folder} was an empty folder without a record: removed")
        return
    was_there = os.path.lexists(store.layout.meta(name))
    make_record(store, name)
    told = (
        "a record that cannot be read: what could be of it is in a new one"
        if was_there
        else ("bytes and no record: it has one again, without its command")
    )
    yield CheckResult("mended", f"{format_ref(name)} had {told}")


def check_records(store: Store, derived: Derived, advance: Advance) -> Iterator[CheckResult]:
    """Check that each buffer has its folder, its record, and its streams with their size, hash and mode.

    They are read in order of capture, which is the order in which they lie on a disk.
    """
    sound = size = 0
    page = store.index.numbered_after(0, _PAGE)
    while page:
        for _, buffer in page:
            advance("records", 1)
            if buffer.state == "evicted":
                continue
            folder = store.layout.folder(buffer.name)
            yield from check_files(folder, derived)
            if not os.path.isdir(folder):
                yield from _forget(store, buffer)
                continue
            try:
                record_on_disk(store, buffer.name)
            except OfNewerVersion as error:
                yield _of_newer(error)
            except (FileNotFoundError, NotADirectoryError, ValueError, SightlineError):
                yield from _orphan(store, buffer.name)
            if buffer.state in _SEALED:
                buffer = store.rehashed(buffer, partial(advance, "bytes"))
                if buffer.altered and _is_still_kept(store, buffer.name):
                    yield CheckResult("problem", f"{buffer.ref} is altered: {buffer.altered}")
                if buffer.is_altered("lines"):
                    yield CheckResult("note", f"{buffer.ref} has lost its line index; lines are found without it")
                for stream in buffer.streams:
                    if not buffer.is_altered(stream):
                        _keep_read_only(store.layout.stream(buffer.name, stream))
                        sound, size = sound + 1, size + buffer.streams[stream].bytes
        page = store.index.numbered_after(page[-1][0], _PAGE)
    yield CheckResult("ok", f"streams that hash as recorded: {sound:,}, {human_bytes(size)} in all")


def _of_newer(error: OfNewerVersion) -> CheckResult:
    return CheckResult("note", f"{error.message}, and cannot be seen here: {error.hint}")


def _is_still_kept(store: Store, name: str) -> bool:
    """Whether a buffer is sealed and still there; another process may remove it during the check."""
    buffer = store.index.buffer(name)
    return buffer is not None and buffer.state in _SEALED


def _forget(store: Store, buffer: Buffer) -> Iterator[CheckResult]:
    if not _is_still_kept(store, buffer.name):
        return
    store.index.forget_buffer(buffer.name)
    told = printable(buffer.command[:80])
    yield CheckResult("problem", f"{buffer.ref} was listed, but its folder is gone; no longer listed: {told}")


def _keep_read_only(path: str) -> None:
    """Make a stream read-only again; another file in its place is left as it is."""
    with suppress(OSError, UnsafeStore):
        fd = open_private(path, os.O_RDONLY)
        try:
            if os.fstat(fd).st_mode & 0o777 != SEALED_MODE:
                os.fchmod(fd, SEALED_MODE)
        finally:
            os.close(fd)
