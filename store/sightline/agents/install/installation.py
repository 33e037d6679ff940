"""Installs and uninstalls: every change to the files is planned before the first file is written."""

import contextlib
import os
from collections.abc import Iterator

from sightline.agents.install.errors import NotOurs, SettingsInvalid, SettingsUnexpected
from sightline.agents.install.harness_settings import SettingsTarget
from sightline.agents.install.installation_record import Record, WrittenFile
from sightline.agents.install.json_edit import NoPlace
from sightline.agents.install.jsonc import NotJsonc
from sightline.agents.install.settings_file import (
    PROGRAM_MODE,
    SettingsFile,
    check_writable,
    decoded,
    read_settings,
    write_settings,
)
from sightline.agents.install.settings_text import SettingsEntries, Undo, with_ours, without_ours
from sightline.agents.install.toml_edit import NotToml
from sightline.base.sha256 import sha256_hex
from sightline.light.named_tuple import NamedTuple


class SettingsChange(NamedTuple):
    """The change to one file.

    Attributes:
        found: the file as it is.
        after: the bytes that it is to have; None where the file is to be removed, or not to be made.
        before: the bytes that it would have without our entries; None where there would be no file.
        undo: what is needed to take our entries out again if somebody changes the file.
    """

    found: SettingsFile
    after: bytes | None
    before: bytes | None
    undo: Undo = Undo()

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.after != self.found.data


def plan_install(found: SettingsFile, content: SettingsEntries, earlier: WrittenFile | None) -> SettingsChange:
    """Plan how all of our entries get into a file.

    If nobody has changed the file since we wrote it, the plan starts from what it was before us.

    Raises:
        SettingsInvalid, SettingsUnexpected, NotOurs: our entries cannot be put into it.
    """
    if content.form == "text" and not content.text:
        return plan_uninstall(found, content, earlier)
    untouched = _untouched(found, earlier)
    base = earlier.before if earlier is not None and untouched else found.data
    if content.form == "text" and base is not None and not content.ours(decoded(found.path, base)):
        raise NotOurs(f"{found.path} is there, and not ours", "move it away, and try again")
    known = earlier.undo if earlier is not None and not untouched else Undo()
    after, undo = _with(found.path, decoded(found.path, base or b""), content)
    undo = undo.after(known)
    before = base if earlier is not None and untouched else _without(found.path, base, content, undo)
    if content.is_program:
        found = found._replace(mode=PROGRAM_MODE)
    return SettingsChange(found, after.encode(), before, undo)


def plan_uninstall(found: SettingsFile, content: SettingsEntries, earlier: WrittenFile | None) -> SettingsChange:
    """Plan how a file loses all of our entries; what a person has changed in it since stays.

    Raises:
        SettingsInvalid, SettingsUnexpected: our entries cannot be told from the rest.
    """
    if earlier is not None and _untouched(found, earlier):
        return SettingsChange(found, earlier.before, earlier.before)
    after = _without(found.path, found.data, content, earlier.undo if earlier else Undo())
    if (
        earlier is not None
        and earlier.before is None
        and after is not None
        and not after.strip(b"\xef\xbb\xbf{} \t\r\n")
    ):
        after = None  # we made the file, and nobody has added anything
    return SettingsChange(found, after, after)


def _untouched(found: SettingsFile, earlier: WrittenFile | None) -> bool:
    """Whether a file is as we last wrote it."""
    return earlier is not None and found.data is not None and sha256_hex(found.data) == earlier.after


@contextlib.contextmanager
def telling(path: str) -> Iterator[None]:
    """A context in which an error of a text becomes an error of its file.

    Raises:
        SettingsInvalid, SettingsUnexpected: the file cannot be parsed, or has another structure than is known.
    """
    try:
        yield
    except (NotJsonc, NotToml) as error:
        form = "JSON" if isinstance(error, NotJsonc) else "TOML"
        hint = "correct that, and try again; nothing was changed"
        raise SettingsInvalid(f"{path} is not {form}: {error}", hint) from error
    except NoPlace as error:
        hint = "put it into the form that its manual shows; nothing was changed"
        raise SettingsUnexpected(f"{path}: {error}", hint) from error


def _with(path: str, text: str, content: SettingsEntries) -> tuple[str, Undo]:
    with telling(path):
        return with_ours(text if is_filled(text) else "", content)


def _without(path: str, data: bytes | None, content: SettingsEntries, undo: Undo) -> bytes | None:
    """The file without our entries; None where there is no file, or nothing but our entries in it."""
    if data is None:
        return None
    text = decoded(path, data)
    if not is_filled(text):
        return data
    with telling(path):
        rest = without_ours(text, content, undo)
    return rest.encode() if rest or content.form != "text" else None


def is_filled(text: str) -> bool:
    """Whether there is anything in a file's text."""
    return bool(text.strip("\ufeff \t\r\n"))


class Done(NamedTuple):
    """What was done to one file, or would be.

    Attributes:
        change: the file before and after.
        backup: path of the copy of the file as it was; empty where there was no file, or nothing was changed.
    """

    change: SettingsChange
    backup: str = ""


def install(targets: list[SettingsTarget], record: Record, *, dry_run: bool = False) -> list[Done]:
    """Put our entries into the files, and keep copies of the files as they were.

    Args:
        targets: the files, each with the entries that it is to have.
        record: the record of this installation.
        dry_run: whether to plan only, and write nothing.

    Raises:
        SettingsUnreadable, SettingsInvalid, SettingsUnexpected, SettingsReadOnly, NotOurs: nothing was written.
        SettingsBusy: somebody else has just changed a file; nothing is written, or it is taken back.
    """
    earlier = record.load()
    changes = [plan_install(read_settings(one.path), one.content, earlier.get(one.path)) for one in targets]
    for change in changes:
        if change.changes:
            check_writable(change.found)
    if dry_run or not any(change.changes for change in changes):
        return [Done(change) for change in changes]
    written = [
        WrittenFile(
            change.found.path,
            change.before,
            sha256_hex(change.after or b""),
            change.undo,
            _folders_of(earlier.get(change.found.path)) or tuple(_missing_folders(change.found)),
        )
        for change in changes
    ]
    backups = record.save(written)  # first, so that whatever happens from here on can be undone
    try:
        _write(changes)
    except BaseException:
        if not earlier:
            record.forget()
        raise
    return [Done(change, backups.get(change.found.path, "") if change.changes else "") for change in changes]


def uninstall(targets: list[SettingsTarget], record: Record, *, dry_run: bool = False) -> list[Done]:
    """Take our entries out of the files; what others have changed in them since stays.

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


def _write(changes: list[SettingsChange]) -> None:
    """Write all of them, or none."""
    done: list[SettingsChange] = []
    try:
        for change in changes:
            if change.changes:
                write_settings(change.found, change.after)
                done.append(change)
    except BaseException:
        for change in done:
            write_settings(change.found._replace(data=change.after), change.found.data)
        raise


def _missing_folders(found: SettingsFile) -> list[str]:
    """The folders that have to be made for a file, outermost first."""
    missing: list[str] = []
    folder = os.path.dirname(found.real)
    while not os.path.isdir(folder):
        missing.insert(0, folder)
        folder = os.path.dirname(folder)
    return missing


def _folders_of(earlier: WrittenFile | None) -> tuple[str, ...]:
    return earlier.folders if earlier else ()


def _remove_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass  # it is not empty, so somebody uses it
