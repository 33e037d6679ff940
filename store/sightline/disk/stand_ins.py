"""Stand-ins: the files that a command gets in place of refs, so that nothing it does to them changes a stored output.

A stand-in is a clone of the stored file where the file system makes clones, else a copy of a small file, else a hard
link; of a stream that is still written it is always a link, so that a reader can follow it. All lie in one folder under
the refs that they stand for, and under a number if another command may change the first: ``refs/@cmd_a1b2c3``,
``refs/2/@cmd_a1b2c3``. Commands that only read share one.

Each command has a *use* file beside them, which says what it uses. The command and all that it starts inherit its lock,
so that the lock is free once the last of them has ended, in whatever way; then the stand-ins go, too.
"""

import errno
import fcntl
import os
import stat
import sys

from sightline.base.errors import StoreFailed, UnsafeStore
from sightline.base.private_files import (
    make_folder,
    new_file,
    open_private,
    open_stored,
    opened_folder,
    refuse_all_but_file,
    refuse_closed,
    remove_file,
    write_all,
)
from sightline.disk.errors import cause_of
from sightline.disk.layout import SEALED_MODE, Layout
from sightline.disk.live import group_lives
from sightline.light.json_text import dumps, loads
from sightline.light.library import contextmanager, suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Iterator, Mapping, Sequence

COPY_BYTES = 4 << 20
"""The largest file that is copied: 4 MiB took 1.4 to 2.7 ms on ext4 and tmpfs, 8 MiB more than 10 ms."""

_CLONE = 0x40049409  # FICLONE of linux/fs.h; where it has another number, files are copied or linked
_AT_CWD = -2  # AT_FDCWD of macOS
_USE = ".use-"
_HIGH_FD = 100  # where a shell uses no descriptor of its own
_MOST_USE_BYTES = 1 << 20  # read of a use file
_MOST_DIGITS = 12  # of a process group
_MOST_GROUP = (1 << 31) - 1
_CLONED, _COPIED = "cloned", "copied"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_WRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)
_NO_LINK = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP)
_READ_BYTES = 1 << 16
_GROUP_LOOK_SECONDS = 0.5  # between two looks whether a group of processes has ended


class WantedRef(NamedTuple):
    """A ref of a command.

    Attributes:
        ref: the name for the stand-in.
        path: the file that it stands for; ``/dev/null`` for an empty stream.
        is_growing: whether that is still written.
        only_read: whether all programs that get it only read their files.
        key: what finds the path of its stand-in; the ref by default.
    """

    ref: str
    path: str
    is_growing: bool = False
    only_read: bool = False
    key: str = ""


class _StandIn(NamedTuple):
    """What a use file says of a stand-in: its name in the folder, and what it was when it was made."""

    name: str
    only_read: bool
    is_clone: bool
    inode: int
    size: int
    mtime_ns: int

    def is_unchanged(self, folder: str) -> bool:
        try:
            status = os.lstat(os.path.join(folder, self.name))
        except OSError:
            return False
        return (status.st_ino, status.st_size, status.st_mtime_ns) == self[3:]


class StandIns:
    """The stand-ins of one command.

    Attributes:
        paths: the path for each ref.
        fd: descriptor that the command has to inherit; -1 once it is closed here.
    """

    def __init__(
        self, folder: str, use: str, fd: int, paths: Mapping[str, str] | None = None, linked: Sequence[str] = ()
    ) -> None:
        """Take over an open use. `take_stand_ins` makes one; another process goes on with folder, use and fd."""
        self.folder = folder
        self.use = use
        self.fd = fd
        self.paths = paths or {}
        self._linked = linked

    def tell_group(self, group: int) -> None:
        """Note the command's process group, some of which may have closed the inherited descriptor."""
        with suppress(OSError):  # the disk is full
            write_all(self.fd, f"{group}\n".encode())

    def hand_over(self) -> None:
        """Close it here, since another process has inherited it and goes on."""
        os.close(self.fd)
        self.fd = -1

    def release(self) -> None:
        """Remove what nobody uses any more, since the command has ended; a process waits for what it left running."""
        if self.fd < 0:
            return
        self.hand_over()
        for path in self._linked:
            _make_read_only(path)
        with suppress(OSError), _locked(self.folder):  # else the next to look removes it
            if self.use in _settled(self.folder):
                _release_later(self.folder, self.use)


def take_stand_ins(layout: Layout, wanted: Sequence[WantedRef]) -> StandIns:
    """Make the stand-ins of a command.

    Raises:
        StoreFailed: one cannot be made, so that the command must not run.
        UnsafeStore: a path is not a file of the store's.
    """
    made, linked = list[_StandIn](), list[str]()
    try:
        folder = _folder_of(layout)
        with _locked(folder):
            used = {one.name: one for found in _settled(folder).values() for one in found}
            use = f"{_USE}{os.getpid():x}-{os.urandom(4).hex()}"
            fd = _moved_up(open_private(os.path.join(folder, use), os.O_RDWR | os.O_CREAT | os.O_EXCL))
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)
                for one in wanted:
                    made.append(_stand_in(folder, one, used, made, linked, may_link=folder == layout.refs))
                write_all(fd, (dumps(made) + "\n").encode())
            except BaseException:
                os.close(fd)
                for given in made:
                    if given.name not in used:
                        remove_file(os.path.join(folder, given.name))
                remove_file(os.path.join(folder, use))
                raise
    except OSError as error:
        what, hint = cause_of(error, "")
        ref = wanted[min(len(made), len(wanted) - 1)].ref
        raise StoreFailed(f"not run: the file for {ref} cannot be made: {what}", hint) from error
    paths = {one.key or one.ref: os.path.join(folder, given.name) for one, given in zip(wanted, made, strict=True)}
    return StandIns(folder, use, fd, paths, linked)


def sweep_stand_ins(layout: Layout) -> None:
    """Remove what commands have left that no process uses."""
    with suppress(OSError), _locked(layout.refs):
        refuse_closed(layout.refs)
        _settled(layout.refs)


def stand_in_bytes(layout: Layout) -> int:
    """Return the bytes of all stand-ins that share none with the outputs that they stand for."""
    total = 0
    with suppress(FileNotFoundError):
        clones = {
            os.path.join(layout.refs, one.name)
            for name in os.listdir(layout.refs)
            if name.startswith(_USE)
            for one in _read(layout.refs, name)[0]
            if one.is_clone and one.is_unchanged(layout.refs)
        }
        for root, _, names in os.walk(layout.refs):
            for path in (os.path.join(root, name) for name in names):
                with suppress(FileNotFoundError):
                    status = os.lstat(path)
                    total += status.st_size if status.st_nlink == 1 and path not in clones else 0
    return total


def _folder_of(layout: Layout) -> str:
    """Return the folder for stand-ins: the store's or, if that cannot be written to, a private one elsewhere."""
    try:
        make_folder(layout.refs)
        if os.access(layout.refs, os.W_OK):
            return layout.refs
    except OSError as error:
        if error.errno not in _NOT_WRITABLE:
            raise
    import tempfile  # a store is hardly ever read-only

    from sightline.base.sha256 import sha256_hex

    folder = os.path.join(
        tempfile.gettempdir(), f"sightline-{os.geteuid()}-{sha256_hex(os.fsencode(layout.root))[:12]}"
    )
    make_folder(folder)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise UnsafeStore(f"{folder} is not a private folder of yours", "remove it, or set TMPDIR to another folder")
    return folder


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Let only one process at a time make and remove stand-ins. Raises FileNotFoundError if there is no folder."""
    with opened_folder(folder) as fd:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield


def _settled(folder: str) -> dict[str, list[_StandIn]]:
    """Remove what no process uses any more, and return what each use that lives has."""
    living, gone = dict[str, list[_StandIn]](), list[_StandIn]()
    for use in [name for name in os.listdir(folder) if name.startswith(_USE)]:
        stand_ins, group = _read(folder, use)
        if _lives(os.path.join(folder, use), group):
            living[use] = stand_ins
        else:
            gone += stand_ins
            remove_file(os.path.join(folder, use))
    if not living:
        _clear(folder)
        return living
    used = {one.name for stand_ins in living.values() for one in stand_ins}
    for one in gone:
        if one.name not in used:
            with suppress(OSError):
                remove_file(os.path.join(folder, one.name))
    return living


def _clear(folder: str) -> None:
    """Remove all that is in a folder, also what commands have put there; no link is followed."""
    for root, folders, files in os.walk(folder, topdown=False):
        for name in (*files, *folders):
            path = os.path.join(root, name)
            with suppress(OSError):
                if name in folders and not os.path.islink(path):
                    os.rmdir(path)
                else:
                    os.unlink(path)


def _read(folder: str, use: str) -> tuple[list[_StandIn], int]:
    """Return what a use file says: the stand-ins, and the process group of the command, 0 for none."""
    try:
        with open(open_private(os.path.join(folder, use), os.O_RDONLY), encoding="utf-8") as file:
            listed, group = file.readline(_MOST_USE_BYTES), file.readline(_MOST_DIGITS).strip()
        found = [_StandIn._make(row) for row in loads(listed)] if listed else []
        return [one for one in found if _is_name(one.name)], min(int(group), _MOST_GROUP) if group.isdecimal() else 0
    except (OSError, ValueError, TypeError, AttributeError, RecursionError, UnsafeStore):  # others can write there
        return [], 0


def _is_name(name: str) -> bool:
    """Return whether this is the name of a stand-in, ``@cmd_a1b2c3`` or ``2/@cmd_a1b2c3``."""
    number, _, ref = name.rpartition("/")
    return ref.startswith("@") and (not number or number.isdecimal())


def _moved_up(fd: int) -> int:
    """Return the descriptor under a number that shells leave alone, if this process may have as many."""
    try:
        moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD)
    except OSError:
        return fd
    os.close(fd)
    return moved


def _lives(path: str, group: int) -> bool:
    """Return whether a command, or anything of its process group, still runs."""
    try:
        fd = open_private(path, os.O_RDWR)
    except (FileNotFoundError, UnsafeStore):
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return bool(group) and group_lives(group)


def _stand_in(
    folder: str,
    wanted: WantedRef,
    used: dict[str, _StandIn],
    ours: Sequence[_StandIn],
    linked: list[str],
    *,
    may_link: bool,
) -> _StandIn:
    """Return a stand-in that another command shares, or make one under the first name that is free."""
    number = 0
    while True:
        number += 1
        name = wanted.ref if number == 1 else f"{number}/{wanted.ref}"
        path = os.path.join(folder, name)
        if any(one.name == name for one in ours):
            continue
        if other := used.get(name):
            if wanted.only_read and other.only_read and (wanted.is_growing or other.is_unchanged(folder)):
                return other
            continue
        if number > 1:
            make_folder(os.path.dirname(path))
        if os.path.isdir(path) and not os.path.islink(path):
            continue
        remove_file(path)
        try:
            is_clone = _make(wanted, path, linked, may_link=may_link)
        except BaseException:
            remove_file(path)
            raise
        status = os.lstat(path)
        return _StandIn(name, wanted.only_read, is_clone, status.st_ino, status.st_size, status.st_mtime_ns)


def _make(wanted: WantedRef, path: str, linked: list[str], *, may_link: bool) -> bool:
    """Make one, and return whether it is a clone; a link to a sealed file is added to a list.

    Raises:
        OSError: it cannot be made. UnsafeStore: the path is not a file of the store's.
    """
    if wanted.path == os.devnull:
        os.close(new_file(path, SEALED_MODE))
        return False
    source = open_stored(wanted.path)
    try:
        status = os.fstat(source)
        if not wanted.is_growing and (how := _duplicate(source, status, path, COPY_BYTES)):
            return how == _CLONED
        if not may_link or not _linked(source, wanted.path, path):
            return _duplicate(source, status, path, status.st_size) == _CLONED
        if not wanted.is_growing:
            linked.append(wanted.path)
        return False
    finally:
        os.close(source)


def _linked(source: int, source_path: str, path: str) -> bool:
    """Make another name of an open file; False if the file system makes none. Raises OSError, UnsafeStore."""
    try:
        os.link(source_path, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINK:
            raise
        return False
    if not os.path.samestat(os.lstat(path), os.fstat(source)):
        raise UnsafeStore(f"{source_path} was replaced", "nothing of Sightline's does that; see `sightline doctor`")
    return True


def _duplicate(source: int, status: os.stat_result, path: str, most: int) -> str:
    """Make a clone of an open file, else a copy of up to so many bytes, and return which.

    Empty if it is too large to copy, or there is no room for that: then a link may do.
    """
    if sys.platform == "darwin":
        import ctypes  # 4 ms

        if ctypes.CDLL(None).fclonefileat(source, _AT_CWD, os.fsencode(path), 0) == 0:
            return _CLONED
    fd = new_file(path, stat.S_IMODE(status.st_mode))
    how = ""
    try:
        if _cloned(fd, source):
            how = _CLONED
        elif status.st_size <= most:
            _copy(source, fd)
            how = _COPIED
        os.utime(fd, ns=(status.st_atime_ns, status.st_mtime_ns))
    except OSError as error:
        how = ""
        if error.errno not in _NO_ROOM or most > COPY_BYTES:
            raise
    finally:
        os.close(fd)
        if not how:
            remove_file(path)
    return how


def _cloned(fd: int, source: int) -> bool:
    """Have a new file share the blocks of another until either is written; False if there are no such files here."""
    try:
        fcntl.ioctl(fd, _CLONE, source)
    except OSError:
        return False
    return True


def _copy(source: int, fd: int) -> None:
    at = 0
    while data := os.pread(source, _READ_BYTES, at):
        write_all(fd, data)
        at += len(data)


def _make_read_only(path: str) -> None:
    """Give a stored file that a command had as a link its mode back; by name, as that mode may let nobody open it."""
    with suppress(OSError, UnsafeStore):  # it was removed meanwhile
        refuse_all_but_file(path)
        os.chmod(path, SEALED_MODE)


def _release_later(folder: str, use: str) -> None:
    """Have a process of its own wait for what a command left running, and then remove its stand-ins."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)]
    words = ["sh", "-c", '"$@" &', "sh", sys.executable, "-P", "-m", __name__, folder, use]
    with suppress(OSError, NotImplementedError):  # nothing can be started here: the next to look removes them
        # The shell ends at once, so that nobody has to wait for the process.
        os.waitpid(os.posix_spawn("/bin/sh", words, os.environ, file_actions=quiet, setsid=True), 0)


def _wait_and_release(folder: str, use: str) -> None:
    import time

    os.chdir("/")  # the folder that the command ran in need not stay for it
    path = os.path.join(folder, use)
    with suppress(FileNotFoundError):
        fd = open_private(path, os.O_RDWR)
        fcntl.flock(fd, fcntl.LOCK_EX)
        os.close(fd)
    while os.path.exists(path):
        with _locked(folder):
            if use not in _settled(folder):
                return
        time.sleep(_GROUP_LOOK_SECONDS)


if __name__ == "__main__":
    _wait_and_release(*sys.argv[1:])
