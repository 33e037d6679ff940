"""The log of errors in hooks: a few lines in the store, since a hook itself must print nothing."""

import os
import time
from collections.abc import Sequence

from sightline.base.private_files import make_folder, make_parents, open_private
from sightline.base.regular_files import read_regular
from sightline.settings.config import default_root, judge_store

FILE = "hooks.log"
_MOST_BYTES = 1 << 18


def log_path(root: str) -> str:
    """The path of the log under the store's root."""
    return os.path.join(root, FILE)


def log_error(words: Sequence[str], error: BaseException) -> None:
    """Write a line with the time, the hook and the error; nothing if that fails.

    Args:
        words: the arguments of the hook.
        error: what went wrong.
    """
    try:
        root = default_root()
        if judge_store(root):
            return
        if not os.path.isdir(root):
            make_parents(root)
            make_folder(root)
        said = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {' '.join(words)[:200]}: {said}\n"
        fd = open_private(log_path(root), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            if os.fstat(fd).st_size > _MOST_BYTES:
                os.ftruncate(fd, 0)  # old lines help nobody
            os.write(fd, line.encode(errors="backslashreplace"))
        finally:
            os.close(fd)
    except Exception:  # a hook must not disturb its harness, and there is nowhere else to say it
        return


def last_errors(root: str, count: int) -> list[str]:
    """The newest lines, oldest first; none if nothing went wrong."""
    try:
        return read_regular(log_path(root)).decode(errors="replace").splitlines()[-count:]
    except OSError:
        return []
