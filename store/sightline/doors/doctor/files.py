"""What `doctor` checks about files: links, leftovers of dead writers, and files that can be made again."""

import contextlib
import os
import time
from collections.abc import Iterator

from sightline.base.check_result import CheckResult
from sightline.base.private_files import remove_file
from sightline.log.repair import DERIVED

_YOUNG_SECONDS = 60.0  # a younger file may belong to a capture that is being made


class Derived:
    """The files that can be made again.

    Attributes:
        bytes: their size, added up.
    """

    bytes = 0


def check_files(folder: str, derived: Derived, *, besides: tuple[str, ...] = ()) -> Iterator[CheckResult]:
    """Check that no file of a folder is a link or a leftover.

    Args:
        folder: the folder, which may be gone; links are not followed.
        derived: adds up the files that can be made again.
        besides: folders below it whose own files are not checked.
    """
    if os.path.islink(folder):  # what lies behind a link is not ours
        return
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield CheckResult("problem", f"{entry.path} is a symbolic link; nothing follows it: remove it")
            elif entry.is_dir(follow_symlinks=False):
                if entry.path not in besides:
                    yield from check_files(entry.path, derived)
            elif not entry.is_file(follow_symlinks=False):
                yield CheckResult("problem", f"{entry.path} is not a file; nothing reads it: move it away")
            elif entry.name in DERIVED:
                derived.bytes += _size(entry)
            elif entry.name.endswith(".tmp") and is_old(entry.path):
                remove_file(entry.path)
                yield CheckResult("mended", f"{entry.path} was left by a writer that died; removed")


def _size(entry: os.DirEntry[str]) -> int:
    with contextlib.suppress(FileNotFoundError):
        return entry.stat().st_size
    return 0


def is_old(path: str) -> bool:
    """Whether the file is too old to be still in the making; False if it is gone."""
    try:
        return time.time() - os.lstat(path).st_mtime > _YOUNG_SECONDS
    except FileNotFoundError:
        return False
