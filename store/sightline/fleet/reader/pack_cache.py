"""The cache of the object store: packs and streams under their SHA-256, verified, private, and bounded in size."""

import contextlib
import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable

from sightline.base.errors import OutOfProcesses, StoreFailed
from sightline.base.private_files import (
    make_folder,
    make_parents,
    new_file,
    read_file,
    remove_file,
    write_all,
    write_atomically,
)
from sightline.base.threads import start_thread

MOST_BYTES = 2 << 30
"""Bytes of all that is kept; the least recently used goes first."""

_HELD_PACKS = 4  # in memory, of some 4 MiB each
_IN_USE_SECONDS = 120.0  # a file used this recently is kept, because whoever got its path may be about to open it
_LOOK_BYTES = 64 << 20  # between two looks at how much there is


class Tampered(StoreFailed):
    """Bytes of the object store differ from what was announced."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is not what was announced: it was changed in the object store, or is damaged",
            "nothing of it is shown; `sightline fleet verify --contents` tells what else is",
        )


class PackCache:
    """Files below one folder. Threads and processes may share it."""

    def __init__(self, folder: str) -> None:
        """Prepare the cache; nothing is made yet."""
        self._folder = os.path.join(folder, "objects")
        self._held: OrderedDict[str, bytes] = OrderedDict()
        self._written = 0
        self._is_looked_at = False
        self._keeping: threading.Thread | None = None
        self._one_keeps = threading.Lock()

    def close(self) -> None:
        """Wait for what is being kept."""
        with self._one_keeps:
            self._wait()

    def _wait(self) -> None:
        if self._keeping is not None:
            self._keeping.join()
            self._keeping = None

    def pack(self, sha256: str, fetch: Callable[[], bytes]) -> bytes:
        """Return a whole pack, or anything with this hash. Raises Tampered, and what fetching raises."""
        if sha256 not in self._held:
            self._held[sha256] = self._read(sha256) or self._fetched(sha256, fetch)
            while len(self._held) > _HELD_PACKS:
                with contextlib.suppress(KeyError):  # another thread was first
                    self._held.popitem(last=False)
        with contextlib.suppress(KeyError):
            self._held.move_to_end(sha256)
            return self._held[sha256]
        return self._read(sha256) or self._fetched(sha256, fetch)

    def _fetched(self, sha256: str, fetch: Callable[[], bytes]) -> bytes:
        data = fetch()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise Tampered(f"pack {sha256}")
        self._keep_soon(sha256, data)
        return data

    def _keep_soon(self, sha256: str, data: bytes) -> None:
        with self._one_keeps:  # whoever reads a line does not wait for the disk, only for what was kept before
            self._wait()
            thread = threading.Thread(target=self.keep, args=(sha256, data), name="sightline-keep")
            try:
                start_thread(thread)
            except OutOfProcesses:
                self.keep(sha256, data)
            else:
                self._keeping = thread

    def frame(self, sha256: str, pack: str, offset: int, length: int, fetch: Callable[[], bytes]) -> bytes:
        """Return the stored bytes of one frame, which have this hash, and do not fetch its pack for that.

        Args:
            sha256: the hash, in hex.
            pack: hash of its pack, which may be here.
            offset: where it begins in the pack.
            length: number of its bytes.
            fetch: fetches it alone.

        Raises:
            Tampered: what was fetched has another hash. And what fetching raises.
        """
        data = self._part(pack, offset, length)
        if hashlib.sha256(data).hexdigest() == sha256:
            return data
        if kept := self._read(sha256):
            return kept
        data = fetch()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise Tampered(f"a part of pack {pack}")
        self._keep_soon(sha256, data)
        return data

    def _part(self, pack: str, offset: int, length: int) -> bytes:
        """Return bytes of a pack that is here, unchecked; none of one that is not."""
        if held := self._held.get(pack):
            return held[offset : offset + length]
        path = self._path(pack)
        try:
            with open(path, "rb", buffering=0) as file:
                os.utime(path)
                return os.pread(file.fileno(), length, offset)
        except OSError:
            return b""

    def keep(self, sha256: str, data: bytes) -> None:
        """Keep bytes with this hash, if there is room for them."""
        with contextlib.suppress(OSError):
            self._make_room(len(data))
            write_atomically(self._place_for(sha256), data)

    def forget(self, sha256: str) -> None:
        """Remove what is kept under a hash."""
        self.close()
        self._held.pop(sha256, None)
        with contextlib.suppress(OSError):
            remove_file(self._path(sha256))

    def _read(self, sha256: str) -> bytes | None:
        path = self._path(sha256)
        try:
            data = read_file(path)
            os.utime(path)
        except OSError:
            return None
        if hashlib.sha256(data).hexdigest() == sha256:
            return data
        remove_file(path)
        return None

    def small(self, sha256: str) -> bytes | None:
        """Return what is kept under a hash, if it is small enough for memory; None if it is not there."""
        return self._read(sha256)

    def file(self, sha256: str, chunks: Callable[[], Iterable[bytes]], what: str) -> str:
        """Return the path of a file whose bytes have this hash.

        Args:
            sha256: the hash, in hex.
            chunks: returns the bytes, if the file is not there.
            what: a name for them in errors.

        Raises:
            Tampered: they do not have this hash.
            StoreFailed: the file cannot be written.
        """
        path = self._path(sha256)
        if self._is_sound(path, sha256):
            return path
        temporary = f"{path}.{os.getpid():x}.{os.urandom(3).hex()}.tmp"
        try:
            self._make_room(0)
            self._place_for(sha256)
            digest = hashlib.sha256()
            fd = new_file(temporary, 0o600)
            try:
                for chunk in chunks():
                    digest.update(chunk)
                    write_all(fd, chunk)
                    self._written += len(chunk)
                if digest.hexdigest() != sha256:
                    raise Tampered(what)
                os.fchmod(fd, 0o400)
            finally:
                os.close(fd)
            os.replace(temporary, path)
        except OSError as error:
            remove_file(temporary)
            raise StoreFailed(
                f"{what} cannot be kept in {self._folder}: {error.strerror}", "make room there"
            ) from error
        except BaseException:
            remove_file(temporary)
            raise
        return path

    def _is_sound(self, path: str, sha256: str) -> bool:
        try:
            with open(path, "rb") as file:
                is_sound = hashlib.file_digest(file, "sha256").hexdigest() == sha256
            os.utime(path)
        except OSError:
            return False
        return is_sound

    def _path(self, sha256: str) -> str:
        return os.path.join(self._folder, sha256[:2], sha256)

    def _place_for(self, sha256: str) -> str:
        """Return the path, in a folder that is there."""
        path = self._path(sha256)
        make_parents(self._folder)
        make_folder(self._folder)
        make_folder(os.path.dirname(path))
        return path

    def _make_room(self, size: int) -> None:
        """Remove the least recently used files if there are too many bytes."""
        self._written += size
        if self._is_looked_at and self._written < _LOOK_BYTES:
            return
        self._written, self._is_looked_at = 0, True
        found = []
        for folder, _, files in os.walk(self._folder):
            for file in files:
                with contextlib.suppress(OSError):
                    status = os.stat(path := os.path.join(folder, file), follow_symlinks=False)
                    found.append((status.st_mtime, status.st_size, path))
        total = sum(bytes_ for _, bytes_, _ in found)
        for used, bytes_, path in sorted(found):
            if total <= MOST_BYTES or used > time.time() - _IN_USE_SECONDS:
                return
            remove_file(path)
            total -= bytes_
