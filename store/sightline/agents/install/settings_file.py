"""Settings files on disk: read whole, and replaced atomically unless somebody else has changed them meanwhile.

A link stays, and the file that it points to is replaced. Text is UTF-8; line ends and a byte order mark
are kept as they are.
"""

import os
import stat

from sightline.agents.install.errors import (
    SettingsBusy,
    SettingsInvalid,
    SettingsReadOnly,
    SettingsUnreadable,
)
from sightline.base.private_files import make_parents, remove_file, write_all
from sightline.base.regular_files import read_regular
from sightline.light.named_tuple import NamedTuple

_NEW_FILE_MODE = 0o600  # private, since settings sometimes hold keys
PROGRAM_MODE = 0o700
_BY_HAND = "`--dry-run` shows what to write there by hand"


class SettingsFile(NamedTuple):
    """A settings file as it was when we read it.

    Attributes:
        path: the path that its harness uses.
        real: the file itself, once all links are followed.
        data: its bytes; None where there is no file.
        mode: its permission bits.
    """

    path: str
    real: str
    data: bytes | None
    mode: int = _NEW_FILE_MODE

    @property
    def text(self) -> str:
        """Its text. Raises SettingsInvalid."""
        return decoded(self.path, self.data or b"")


def decoded(path: str, data: bytes) -> str:
    """A file's text. Raises SettingsInvalid."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise SettingsInvalid(
            f"{path} is not UTF-8: byte {error.start:,} is no part of a character", "save it as UTF-8, and try again"
        ) from error


def read_settings(path: str) -> SettingsFile:
    """Read a file, which may be missing, as may the target of a link, for example after a fresh checkout of dotfiles.

    Raises:
        SettingsUnreadable: something is there, and it cannot be read.
    """
    real = os.path.realpath(path)
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise SettingsUnreadable(f"{path} is no file", "move it away, and try again")
        return SettingsFile(path, real, read_regular(path), stat.S_IMODE(mode))
    except FileNotFoundError:
        return SettingsFile(path, real, None)
    except OSError as error:
        raise SettingsUnreadable(
            f"{path} cannot be read: {error.strerror}", "make it readable, or move it away; nothing was changed"
        ) from error


def check_writable(found: SettingsFile) -> None:
    """Raise SettingsReadOnly where the file cannot be replaced, or is read-only, so that its owner wants no change."""
    if found.data is not None and not found.mode & stat.S_IWUSR:
        raise SettingsReadOnly(f"{_named(found)} is read-only", f"make it writable, or: {_BY_HAND}")
    folder = os.path.dirname(found.real)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise SettingsUnreadable(f"{folder} is no folder", f"{found.path} belongs below it: move it away")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SettingsReadOnly(f"the folder {folder} is read-only", f"make it writable, or: {_BY_HAND}")


def write_settings(found: SettingsFile, data: bytes | None) -> None:
    """Replace a file, or remove it; folders are made where they are missing.

    Raises:
        SettingsBusy: it has changed since it was read.
        SettingsReadOnly: it cannot be written.
    """
    try:
        temporary = ""
        if data is not None:
            make_parents(found.real)
            temporary = _write_beside(found, data)
        try:
            _check_unchanged(found)
            if data is None:
                remove_file(found.real)
            else:
                os.replace(temporary, found.real)
        except BaseException:
            if temporary:
                remove_file(temporary)
            raise
    except OSError as error:
        raise SettingsReadOnly(f"{_named(found)} cannot be written: {error.strerror}", _BY_HAND) from error


def _write_beside(found: SettingsFile, data: bytes) -> str:
    temporary = f"{found.real}.{os.getpid():x}.{os.urandom(3).hex()}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _NEW_FILE_MODE)
    try:
        write_all(fd, data)
        os.fchmod(fd, found.mode)
        os.fsync(fd)  # power loss must not leave an empty file in the place of a person's settings
    except BaseException:
        remove_file(temporary)
        raise
    finally:
        os.close(fd)
    return temporary


def _check_unchanged(found: SettingsFile) -> None:
    now = read_settings(found.path)
    if (now.real, now.data) != (found.real, found.data):
        raise SettingsBusy(
            f"{found.path} was changed by someone else just now", "nothing was changed; run the command again"
        )


def _named(found: SettingsFile) -> str:
    return found.path if found.real == os.path.abspath(found.path) else f"{found.path} (a link to {found.real})"
