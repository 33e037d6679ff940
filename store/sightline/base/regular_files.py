"""Reads files of a person or of another program: follows links, but reads only regular files, and never waits."""

import errno
import os
import stat

MOST_READ_BYTES = 64 << 20
"""The largest file that is read whole: a record of 10,000 streams takes 2 MiB, the list of imported files as much."""


def read_regular(path: str) -> bytes:
    """Read a whole file.

    Raises:
        OSError: raised by `os.open`; EINVAL, "it is not a file", for a pipe, a device or a folder; EFBIG for a file
            of more than MOST_READ_BYTES.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    with open(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a file", path)
        if status.st_size > MOST_READ_BYTES:
            raise OSError(errno.EFBIG, "it is too large", path)
        return file.read()
