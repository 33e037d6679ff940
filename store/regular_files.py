"""Reads files of a person or of another program: follows links, but reads only regular files, and never waits."""

import errno
import os
import stat


def read_regular(path: str) -> bytes:
    """Read a whole file.

    Raises:
        OSError: raised by `os.open`; EINVAL, "it is not a file", for a pipe, a device or a folder.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is not a file", path)
        return file.read()
