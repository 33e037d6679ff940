"""A seccomp filter that takes sockets, and what Landlock does not govern, away from a thread and what it spawns."""

import struct
import sys
from functools import lru_cache

# What is refused: sockets (io_uring can make them too), other processes, and changes of modes, owners, times and
# attributes, which Landlock does not see.
_X86_64 = (
    *(41, 42, 43, 49, 50, 53, 288),  # socket connect accept bind listen socketpair accept4
    *(425, 426, 427),  # io_uring
    *(62, 129, 200, 424),  # kill rt_sigqueueinfo tkill pidfd_send_signal; tgkill stays: abort(3) needs it
    *(101, 310, 311, 438),  # ptrace process_vm_readv process_vm_writev pidfd_getfd
    *(90, 91, 268, 452, 92, 93, 94, 260),  # chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat
    *(132, 235, 261, 280),  # utime utimes futimesat utimensat
    *(188, 189, 190, 197, 198, 199, 463, 466, 469),  # setxattr… removexattr… file_setattr
    *(165, 166, 272, 308, 304),  # mount umount2 unshare setns open_by_handle_at
    *(248, 249, 250, 298, 321, 323),  # add_key request_key keyctl perf_event_open bpf userfaultfd
)
_AARCH64 = (
    *(198, 203, 202, 200, 201, 199, 242),
    *(425, 426, 427),
    *(129, 138, 130, 424),
    *(117, 270, 271, 438),
    *(52, 53, 452, 54, 55),
    *(88,),
    *(5, 6, 7, 14, 15, 16, 463, 466, 469),
    *(40, 39, 97, 268, 265),
    *(217, 218, 219, 241, 280, 282),
)
_MACHINES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}
_X32_BIT = 0x40000000  # the other way into x86_64, with numbers of its own

_EPERM = 1
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | _EPERM
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_OFFSET, _MACHINE_OFFSET = 0, 4  # in struct seccomp_data

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
_GET_ACTION_AVAIL = 2


def program(machine: str) -> bytes:
    """The filter for a machine as the kernel wants it, empty where its system calls are not known here."""
    if machine not in _MACHINES:
        return b""
    audit_arch, calls = _MACHINES[machine]
    refuse_at = 4 + len(calls) + 1
    code = [
        (_LOAD, 0, 0, _MACHINE_OFFSET),
        (_EQUAL, 0, refuse_at - 2, audit_arch),
        (_LOAD, 0, 0, _NUMBER_OFFSET),
        (_AT_LEAST, refuse_at - 4, 0, _X32_BIT),
    ]
    code += [(_EQUAL, refuse_at - (5 + index), 0, call) for index, call in enumerate(calls)]
    code += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


@lru_cache(maxsize=1)
def available() -> bool:
    """Whether this kernel takes such a filter on this machine."""
    import ctypes
    import os

    machine = os.uname().machine
    if not sys.platform.startswith("linux") or machine not in _MACHINES or struct.calcsize("P") != 8:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    action = ctypes.c_uint32(0x00050000)
    return bool(libc.syscall(_SYS_SECCOMP[machine], _GET_ACTION_AVAIL, 0, ctypes.byref(action)) == 0)


def restrict_thread() -> None:
    """Put the calling thread, and whatever it spawns, under the filter for good. Needs no-new-privileges first.

    Raises:
        OSError: the kernel refused the filter.
    """
    import ctypes
    import os

    code = program(os.uname().machine)
    held = ctypes.create_string_buffer(code, len(code))
    pointer = struct.pack("@HP", len(code) // 8, ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.create_string_buffer(pointer, len(pointer)), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused the seccomp filter")
