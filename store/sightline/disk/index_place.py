"""Where the index lies, and on which host: SQLite's write-ahead mode works on no disk that hosts share over a network.

A setting puts the index into a folder on a local disk. On a network's disk, one host at a time uses a store, since
another could neither share the index nor learn of new outputs in time: it is refused by name.
"""

import os
import time

from sightline.base.errors import StoreFailed, UnsafeStore
from sightline.base.private_files import (
    make_folder,
    make_parents,
    open_private,
    read_file,
    remove_file,
    write_atomically,
)
from sightline.base.sha256 import sha256_hex
from sightline.disk.layout import Layout
from sightline.disk.record_check import is_time
from sightline.light.json_text import dumps, loads
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple

NETWORK_DISKS = frozenset(
    (
        *("9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs", "gfs2"),
        *("glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "pvfs2", "smb3", "smbfs"),
        *("sshfs", "vboxsf", "webdav"),
    )
)
"""Types of file systems, as Linux' mountinfo and macOS' statfs name them, that several hosts may have mounted."""

_IS_CHEAP = os.uname().sysname == "Linux"
"""Whether the type of a file system is found without loading anything; elsewhere only a first start looks for it."""

_HELD_SECONDS = 7 * 86_400.0  # after the last start on a host, another one may take the store over
_NOTED_SECONDS = 3_600.0
_SUFFIXES = ("", "-wal", "-shm", "-journal")
_NAME_DIGITS = 16


class IndexPlace(NamedTuple):
    """Which host has used the store last, when, in seconds since the epoch, and the path of its index."""

    host: str
    path: str
    seen: float


def place_index(layout: Layout, folder: str) -> None:
    """Have the index of a store lie in a folder of its own below another one, which is made. Raises OSError."""
    own = os.path.join(folder, sha256_hex(layout.root.encode(errors="surrogateescape"))[:_NAME_DIGITS])
    if not os.path.isdir(own):
        make_parents(own)
        make_folder(own)
    layout.index = os.path.join(own, "index.sqlite")


def take_place(layout: Layout) -> str:
    """Note that this host uses the store, as far as that matters, and return what a person must know, usually nothing.

    An index that others have not kept up to date since is removed, so that it is made anew.

    Raises:
        StoreFailed: another host uses it.
        OSError: the note cannot be written.
    """
    noted, is_usual = _noted(layout), os.path.dirname(layout.index) == layout.root
    is_looked_at = noted or not is_usual or _IS_CHEAP or not os.path.exists(layout.clock)
    disk = network_disk(layout.root) if is_looked_at else ""
    if noted is None and is_usual and not disk:
        return ""
    here, now = IndexPlace(os.uname().nodename, layout.index, time.time()), time.time()
    if noted and disk and noted.host != here.host and _unused_seconds(layout) < _HELD_SECONDS:
        raise StoreFailed(
            f"the store at {layout.root} is on a network's disk ({disk}), and the host {noted.host} uses it",
            f"set SIGHTLINE_HOME to a folder of this host; or, if {noted.host} uses it no more, remove {layout.place}",
        )
    if (noted[:2] if noted else ("", "")) != here[:2] and not (noted is None and is_usual):
        for suffix in _SUFFIXES:
            remove_file(layout.index + suffix)
    if is_usual and not disk:
        remove_file(layout.place)
    elif noted is None or noted[:2] != here[:2] or abs(now - noted.seen) >= _NOTED_SECONDS:
        write_atomically(layout.place, dumps(here._asdict()).encode())
    return warning(layout) if noted is None or noted[:2] != here[:2] else ""


def _unused_seconds(layout: Layout) -> float:
    """Return how long ago the note was written, by the disk's own clock: those of two hosts may differ by weeks."""
    probe = f"{layout.place}.{os.getpid():x}.tmp"
    fd = open_private(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        return os.fstat(fd).st_mtime - os.lstat(layout.place).st_mtime
    finally:
        os.close(fd)
        remove_file(probe)


def warning(layout: Layout) -> str:
    """Return what is wrong with where the index lies; empty if nothing is."""
    if not (disk := network_disk(os.path.dirname(layout.index))):
        return ""
    return (
        f"{os.path.dirname(layout.index)} is on a network's disk ({disk}), where the index can be damaged: in "
        f'{layout.root}/config.extra.toml, set [store] index = "/a/folder/on/a/local/disk"'
    )


def _noted(layout: Layout) -> IndexPlace | None:
    try:
        fields = loads(read_file(layout.place))
        place = IndexPlace(fields["host"], fields["path"], fields["seen"])
    except (FileNotFoundError, UnsafeStore, ValueError, KeyError, TypeError):
        return None
    is_right = isinstance(place.host, str) and isinstance(place.path, str) and is_time(place.seen)
    return place if is_right else None


def network_disk(path: str) -> str:
    """Return the type of the network's file system that a path lies on; empty for a disk of this machine."""
    kind = file_system(path)
    return kind if kind in NETWORK_DISKS else ""


def file_system(path: str) -> str:
    """Return the type of the file system that a path lies on; empty if that is a disk, or is not known."""
    if not _IS_CHEAP:
        return _type_by_statfs(path)
    with suppress(OSError):
        device = os.stat(path).st_dev
        if os.major(device):  # only file systems without a disk of this machine have the major number 0
            return ""
        with open("/proc/self/mountinfo", "rb") as file:
            return _type_in_mounts(file.read().decode(errors="surrogateescape"), device, os.path.realpath(path))
    return ""


def _type_in_mounts(mounts: str, device: int, path: str) -> str:
    """Return the type of a mount by its device; where none has that, as for btrfs, by the longest path above ours."""
    wanted, longest, found = f"{os.major(device)}:{os.minor(device)}", -1, ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        words, kind = before.split(), after.split(" ", 1)[0]
        if len(words) < 5:
            continue
        if words[2] == wanted:
            return kind
        point = words[4].replace("\\040", " ").rstrip("/")
        if (path == point or path.startswith(point + "/")) and len(point) > longest:
            longest, found = len(point), kind
    return found


_STATFS_BYTES = 4096  # more than the structure has
_STATFS_TYPE = slice(72, 88)  # f_fstypename of macOS' statfs with 64-bit inodes: 16 bytes at byte 72


def _type_by_statfs(path: str) -> str:
    """Return the type as the statfs of macOS gives it."""
    import ctypes  # 6 ms, which Linux does not need

    with suppress(OSError, AttributeError):
        library, buffer = ctypes.CDLL(None), ctypes.create_string_buffer(_STATFS_BYTES)
        call = getattr(library, "statfs$INODE64", None) or library.statfs
        if call(os.fsencode(path), buffer) == 0:
            return bytes(buffer.raw[_STATFS_TYPE]).split(b"\0")[0].decode(errors="replace")
    return ""
