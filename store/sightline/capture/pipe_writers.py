"""Finds the processes that write into a pipe of a shell's pipeline, and how they ended, from within that pipeline."""

import fcntl
import os
import select
import struct
from collections.abc import Collection


def writers_of(fd: int, shell: int) -> list[int] | None:
    """Return descriptors of a shell's processes that can write into a pipe, each readable once its process has ended.

    Args:
        fd: the pipe.
        shell: the process that has started the pipeline.

    Returns:
        None if the system does not tell.
    """
    try:
        inode = f"pipe:[{os.fstat(fd).st_ino}]"
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as file:
            neighbours = [int(pid) for pid in file.read().split()]
    except (OSError, ValueError):
        return None
    found = []
    for pid in neighbours:
        if pid != os.getpid() and _can_write(pid, inode):
            try:
                found.append(os.pidfd_open(pid))
            except ProcessLookupError:
                continue  # it has just ended
            except (OSError, AttributeError):
                return None
    return found


def _can_write(pid: int, inode: str) -> bool:
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            if os.readlink(f"/proc/{pid}/fd/{number}") == inode:
                with open(f"/proc/{pid}/fdinfo/{number}", encoding="ascii") as file:
                    flags = next(line.split()[1] for line in file if line.startswith("flags:"))
                if int(flags, 8) & os.O_ACCMODE != os.O_RDONLY:
                    return True
    except (OSError, StopIteration):
        pass  # it has just ended
    return False


def exit_code_of(writers: Collection[int] | None) -> int | None:
    """Return the exit code of the only process that wrote into a pipe, once it has ended; 128 + N after signal N.

    Since 6.15, Linux tells it to any process with a descriptor of that process, so the shell need not be asked.

    Args:
        writers: the descriptors from `writers_of`.

    Returns:
        None unless there was exactly one such process, and the system tells.
    """
    if writers is None or len(writers) != 1:
        return None
    (writer,) = writers
    poll = select.poll()
    poll.register(writer, select.POLLIN)
    poll.poll()  # a pipeline does not end before its processes
    told = bytearray(struct.pack("=QQ48x", _INFO_EXIT, 0))
    for _ in range(REAPING_TURNS):
        try:
            fcntl.ioctl(writer, _GET_INFO, told)
        except OSError:  # the system does not know the question, or tells only after reaping
            pass
        else:
            if struct.unpack_from("=Q", told)[0] & _INFO_EXIT:
                code = os.waitstatus_to_exitcode(struct.unpack_from("=i", told, 60)[0])
                return 128 - code if code < 0 else code
            if not poll.poll(0):
                return None
        told[:8] = struct.pack("=Q", _INFO_EXIT)
        select.select((), (), (), _REAPING_TURN_SECONDS)
    return None


_GET_INFO = 0xC040FF0B  # PIDFD_GET_INFO of <linux/pidfd.h>: _IOWR(0xFF, 11, 64 bytes of struct pidfd_info)
_INFO_EXIT = 1 << 3  # PIDFD_INFO_EXIT: the exit status, which is there once the parent has reaped the process
REAPING_TURNS, _REAPING_TURN_SECONDS = 200, 0.001  # its parent, a shell, reaps it soon
