"""The safe ways to make, open, replace and remove files and folders of ours.

Folders are 0700 and files 0600, whatever the umask; a symbolic link is refused, never followed. Below a folder that is
closed, such as another account's store, nothing is made, changed or removed.
"""

import errno
import os
import stat

from sightline.base.errors import UnsafeStore
from sightline.base.regular_files import MOST_READ_BYTES
from sightline.light.library import contextmanager, suppress
from sightline.light.typing_names import Iterator

FOLDER_MODE = 0o700
FILE_MODE = 0o600
_PARENT_MODE = 0o755  # less what the umask takes away
_WRITE_BYTES = 1 << 16
"""A file system such as Linux' ext4 takes memory in pieces of up to the size of a write. In a virtual machine, 256 MiB
took 0.05 s by 64 KiB each time, and 0.04 s or 0.5 s by 512 KiB: most likely its host had to find large pieces anew."""


_closed: dict[str, str] = {}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def close_folder(path: str, why: str) -> None:
    """Let this process write nothing below a folder from now on, and say why; if that is empty, let it write again."""
    if why:
        _closed[path] = why
    else:
        _closed.pop(path, None)


def why_closed(path: str) -> str:
    """Return why nothing may be written to a folder, or below it; empty if that is allowed."""
    for folder, why in _closed.items():
        if path == folder or path.startswith(folder.rstrip("/") + "/"):
            return why
    return ""


def refuse_closed(path: str) -> None:
    """Raise PermissionError if nothing may be written there."""
    if _closed and why_closed(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def make_folder(path: str) -> None:
    """Make one private folder, unless it exists."""
    refuse_closed(path)
    try:
        os.mkdir(path, FOLDER_MODE)
    except FileExistsError:
        return
    os.chmod(path, FOLDER_MODE)


def make_parents(path: str) -> None:
    """Make missing folders above a path, in which only the person can write."""
    refuse_closed(path)
    missing, folder = list[str](), os.path.dirname(os.path.abspath(path))
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for folder in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(folder, _PARENT_MODE)


def refuse_link(path: str) -> None:
    """Raise UnsafeStore if a path is a symbolic link; for paths that are passed on or listed instead of opened."""
    if os.path.islink(path):
        raise _unsafe(path)


def refuse_all_but_file(path: str) -> None:
    """Raise UnsafeStore if a path is not a file; for paths that are passed on. A missing file is fine."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise _unsafe(path)
    if not stat.S_ISREG(mode):
        raise _no_file(path)


def _unsafe(path: str) -> UnsafeStore:
    return UnsafeStore(f"{path} is a symbolic link", "replace it by what it points to: the store follows no links")


def _no_file(path: str) -> UnsafeStore:
    return UnsafeStore(f"{path} is not a file", "Sightline did not make it: move it away")


def open_private(path: str, flags: int) -> int:
    """Open a file of ours: never through a link, never inherited by a child, and 0600 when it is made.

    Raises:
        UnsafeStore: the path is a symbolic link, or not a file; a pipe is not waited for.
        OSError: raised by `os.open`.
    """
    return _opened(path, flags)[0]


def open_stored(path: str) -> int:
    """Open a file of a buffer's folder for reading, even while others exchange it or its folder for a link.

    Raises:
        UnsafeStore: the file or its folder is a symbolic link, or it is not a file.
        OSError: raised by `os.open`.
    """
    folder, name = os.path.split(path)
    try:
        dir_fd = os.open(folder, _FOLDER | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and os.path.islink(folder):
            raise _unsafe(folder) from None
        raise
    try:
        return _opened(path, os.O_RDONLY, dir_fd, name)[0]
    finally:
        os.close(dir_fd)


_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


def _opened(path: str, flags: int, dir_fd: int | None = None, name: str = "") -> tuple[int, os.stat_result]:
    """Do what `open_private` does, and return the file's status, too; `name` is what to open in the folder."""
    if flags & _WRITING:
        refuse_closed(path)
    try:
        fd = os.open(name or path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, FILE_MODE, dir_fd=dir_fd)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _unsafe(path) from None
        if error.errno in (errno.ENXIO, errno.EISDIR):  # a pipe without a reader, a socket; a folder
            raise _no_file(path) from None
        raise
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise _no_file(path)
    if flags & os.O_CREAT and stat.S_IMODE(status.st_mode) != FILE_MODE:
        os.fchmod(fd, FILE_MODE)
    return fd, status


def new_file(path: str, mode: int) -> int:
    """Make a file and open it for reading and writing, even if its mode allows only reading. Raises FileExistsError."""
    refuse_closed(path)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    if stat.S_IMODE(os.fstat(fd).st_mode) != mode:  # the umask may have removed bits
        os.fchmod(fd, mode)
    return fd


def write_atomically(path: str, data: bytes, *, durable: bool = False) -> None:
    """Replace a file so that a reader, or a crash, finds either the old text or the new one."""
    temporary = f"{path}.{os.getpid():x}.{os.urandom(3).hex()}.tmp"
    fd = open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        try:
            write_all(fd, data)
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except BaseException:
        remove_file(temporary)
        raise
    if durable:
        sync_folder(os.path.dirname(path))


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write every byte, in pieces; after an incomplete write (a signal, a nearly full disk), go on with the rest."""
    written = os.write(fd, data) if len(data) <= _WRITE_BYTES else 0
    if written < len(data):
        view = memoryview(data)
        while written < len(view):
            written += os.write(fd, view[written : written + _WRITE_BYTES])


def written_end(fd: int, size: int) -> int:
    """Return where the bytes of a file end that were written.

    A sparse file of a terabyte takes no room, and its zeros would be read for many minutes.
    """
    if not hasattr(os, "SEEK_HOLE"):
        return size
    end = 0
    try:
        while end < size:
            end = os.lseek(fd, os.lseek(fd, end, os.SEEK_DATA), os.SEEK_HOLE)
    except OSError as error:
        if error.errno != errno.ENXIO:  # which means that there is no data after this place
            return size
    return end


class TooLarge(ValueError):
    """A file is larger than any that is read whole."""


def read_file(path: str, *, dir_fd: int | None = None) -> bytes:
    """Read a small file of ours. Raises FileNotFoundError, UnsafeStore, TooLarge."""
    fd, status = _opened(path, os.O_RDONLY, dir_fd)
    try:
        if status.st_size > MOST_READ_BYTES:
            raise TooLarge(f"{path} has {status.st_size:,} bytes")
        most = status.st_size + 1  # shrinking a large buffer leaves holes in a server's memory
        data = os.read(fd, most)
        if len(data) == status.st_size:
            return data
        chunks = [data]  # it has grown or shrunk meanwhile
        while chunk := os.read(fd, most):
            chunks.append(chunk)
        return b"".join(chunks)
    finally:
        os.close(fd)


def remove_file(path: str) -> None:
    """Remove a file, unless it is gone already."""
    refuse_closed(path)
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def remove_folder(path: str) -> None:
    """Remove a buffer's folder with its files; readers that have them open keep reading.

    Raises:
        UnsafeStore: it is a symbolic link, or contains a folder, so it is not ours.
    """
    refuse_link(path)
    refuse_closed(path)
    try:
        names = os.listdir(path)
    except FileNotFoundError:
        return
    for name in names:
        inner = os.path.join(path, name)
        try:
            remove_file(inner)
        except (IsADirectoryError, PermissionError) as error:
            if os.path.isdir(inner):
                raise _no_file(inner) from error
            raise
    try:
        os.rmdir(path)
    except FileNotFoundError:
        pass


@contextmanager
def opened_folder(path: str) -> Iterator[int]:
    """Open a folder for a while, and give its descriptor."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def sync_folder(path: str) -> None:
    """Make a rename or a new name in a folder survive power loss."""
    with opened_folder(path) as fd:
        os.fsync(fd)
