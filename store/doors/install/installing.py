"""Installing and uninstalling: all files are read and all changes planned before the first one is written."""

import os
from typing import NamedTuple

from sightline.disk.hashing import sha256_hex
from sightline.doors.install.files import Found, check_writable, read_settings, write_settings
from sightline.doors.install.planning import Change, plan_install, plan_uninstall
from sightline.doors.install.records import Record, Written
from sightline.doors.install.wanted import Target


class Done(NamedTuple):
    """What became of one file, or would become.

    Attributes:
        change: the file before and after.
        backup: where it lies as it was; empty where it was not there, or nothing was changed.
    """

    change: Change
    backup: str = ""


def install(targets: list[Target], record: Record, *, dry_run: bool = False) -> list[Done]:
    """Put ours into the files, and keep what they were.

    Args:
        targets: the files, and what each is to have.
        record: of this installation.
        dry_run: whether nothing is written.

    Raises:
        SettingsUnreadable, SettingsInvalid, SettingsUnexpected, SettingsReadOnly, NotOurs: nothing was written.
        SettingsBusy: somebody else has just written; nothing is written, or taken back.
    """
    earlier = record.load()
    changes = [plan_install(read_settings(one.path), one.content, earlier.get(one.path)) for one in targets]
    for change in changes:
        if change.changes:
            check_writable(change.found)
    if dry_run or not any(change.changes for change in changes):
        return [Done(change) for change in changes]
    written = [
        Written(
            change.found.path,
            change.before,
            sha256_hex(change.after or b""),
            change.undo,
            _folders_of(earlier.get(change.found.path)) or tuple(_missing_folders(change.found)),
        )
        for change in changes
    ]
    backups = record.save(written)  # first: whatever happens from here on can be undone
    try:
        _write(changes)
    except BaseException:
        if not earlier:
            record.forget()
        raise
    return [Done(change, backups.get(change.found.path, "") if change.changes else "") for change in changes]


def uninstall(targets: list[Target], record: Record, *, dry_run: bool = False) -> list[Done]:
    """Take ours out of the files: each is what it was, with what has been changed in it since.

    Raises as `install`.
    """
    earlier = record.load()
    found = {one.path: read_settings(one.path) for one in targets}
    changes = [plan_uninstall(found[one.path], one.content, earlier.get(one.path)) for one in targets]
    for change in changes:
        if change.changes:
            check_writable(change.found)
    if dry_run:
        return [Done(change) for change in changes]
    _write(changes)
    for change in changes:
        for folder in reversed(_folders_of(earlier.get(change.found.path))):
            _remove_empty(folder)
    record.forget()
    return [Done(change) for change in changes]


def _write(changes: list[Change]) -> None:
    """Write all of them, or none."""
    done: list[Change] = []
    try:
        for change in changes:
            if change.changes:
                write_settings(change.found, change.after)
                done.append(change)
    except BaseException:
        for change in done:
            write_settings(change.found._replace(data=change.after), change.found.data)
        raise


def _missing_folders(found: Found) -> list[str]:
    """The folders that have to be made for a file, outermost first."""
    missing: list[str] = []
    folder = os.path.dirname(found.real)
    while not os.path.isdir(folder):
        missing.insert(0, folder)
        folder = os.path.dirname(folder)
    return missing


def _folders_of(earlier: Written | None) -> tuple[str, ...]:
    return earlier.folders if earlier else ()


def _remove_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass  # somebody uses it, which is as good a reason as any to leave it
