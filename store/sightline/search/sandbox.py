"""Confines a child to reading, by the kernel's Landlock and seccomp on the thread that spawns it.

Under Landlock, a thread and what it spawns may read and execute only given files, and write nothing; a seccomp filter
removes sockets, and what Landlock does not cover. The restrictions belong to the thread, so each child has a thread of
its own that gives up its rights, spawns the child, and ends; the rest of this process keeps every right.
"""

import os
import struct
import sys

from sightline.base.threads import started_thread
from sightline.light.library import lru_cache
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Callable, Iterable, Sequence, TypeVar
from sightline.search.errors import SandboxFailed

T = TypeVar("T")

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 38, 22


class Backing(NamedTuple):
    """What the kernel can do for queries on this machine.

    Attributes:
        landlock: its Landlock ABI; 0 for none.
        seccomp: whether sockets are removed.
        text: all of this in one line.
    """

    landlock: int
    seccomp: bool
    text: str


NO_BACKING = Backing(
    0, False, "queries: no kernel backing; the option tables and the safe modes of sed and gawk hold them"
)
"""No help from the kernel, as on macOS."""


@lru_cache(maxsize=1)
def describe() -> Backing:
    """Ask the kernel, once, what confines queries here; no setting and no variable changes the answer."""
    abi, filtered = landlock_abi(), seccomp_available()
    if not abi and not filtered:
        return NO_BACKING
    network = "+".join(name for name, has in (("landlock", abi >= 4), ("seccomp", filtered)) if has) or "none"
    held = (
        f"Landlock ABI {abi} holds reads and writes" if abi else "no Landlock: the option tables hold reads and writes"
    )
    sockets = {"landlock": "Landlock takes TCP away", "none": "nothing takes sockets away"}
    return Backing(abi, filtered, f"queries: {held}, {sockets.get(network, 'seccomp takes sockets away')}")


def confined(
    action: Callable[[], T],
    reads: Iterable[str],
    executes: Iterable[str],
    backing: Backing,
    *,
    files: Sequence[int] = (),
) -> T:
    """Run an action on a thread that may only spawn programs in ``executes``, which may only read ``reads``.

    Args:
        action: spawns the programs; its result or error is passed on.
        reads: files that may be read, and folders with all that is in them.
        executes: files that may be executed.
        backing: which of the kernel's means to use; with NO_BACKING the action simply runs.
        files: open files that may be read, too.

    Raises:
        OutOfProcesses: there is no thread for it.
        SandboxFailed: the kernel refused what the backing says it can do; the action did not run.
    """
    if not backing.landlock and not backing.seccomp:
        return action()
    done: list[T] = []
    failed: list[BaseException] = []
    reads, executes = tuple(reads), tuple(executes)

    def work() -> None:
        try:
            try:
                _give_up_rights(reads, executes, backing, files)
            except OSError as error:
                raise SandboxFailed(
                    f"nothing was run: {error.strerror}", "`sightline doctor` tells what holds queries here"
                ) from error
            done.append(action())
        except BaseException as error:  # passed on to the calling thread
            failed.append(error)

    wait = started_thread(work)
    wait()
    if failed:
        raise failed[0]
    return done[0]


def _give_up_rights(reads: tuple[str, ...], executes: tuple[str, ...], backing: Backing, files: Sequence[int]) -> None:
    rules = ruleset(reads, executes, files) if backing.landlock else -1
    try:
        if _c()[1].prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:  # both need this of a thread first
            raise _refused("no-new-privileges")
        if rules >= 0:
            _landlock(_RESTRICT_SELF, rules, 0)
        if backing.seccomp:
            _take_calls_away()
    finally:
        if rules >= 0:
            os.close(rules)


@lru_cache(maxsize=1)
def _c() -> tuple[Any, Any]:
    """Return the module for C, and the C library."""
    import ctypes  # 4 ms, which a machine without Landlock and seccomp does not need

    return ctypes, ctypes.CDLL(None, use_errno=True)


def _refused(what: str) -> OSError:
    number = _c()[0].get_errno()
    return OSError(number, f"the kernel refused {what}: {os.strerror(number)}")


# Landlock

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every machine
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
# Number of file system rights that each ABI knows: 13 at first, then REFER, TRUNCATE and IOCTL_DEV. All are handled,
# so all are refused unless a rule allows them.
_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NET_TCP = 0b11  # bind and connect, from ABI 4
_SCOPED = 0b11  # abstract UNIX sockets and signals, from ABI 6

LIBRARY_FOLDERS = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib",
                   "/usr/share/locale", "/usr/share/i18n", "/nix/store", "/gnu/store",
                   "/home/linuxbrew/.linuxbrew/lib", "/home/linuxbrew/.linuxbrew/Cellar")  # fmt: skip
LIBRARY_FILES = ("/etc/ld.so.cache", os.devnull)


@lru_cache(maxsize=1)
def landlock_abi() -> int:
    """Return the kernel's Landlock ABI; 0 if it has none, or has it switched off."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(_c()[1].syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)))


def ruleset(reads: Iterable[str], executes: Iterable[str], files: Iterable[int] = ()) -> int:
    """Make a set of rules, and return its file descriptor, which the caller closes.

    Args:
        reads: files that may be read, and folders with all that is in them.
        executes: files that may be executed, for which their loaders and the system's libraries are allowed, too.
        files: open files that may be read.

    Raises:
        OSError: the kernel refused a rule.
    """
    rules = dict.fromkeys(LIBRARY_FOLDERS, _READ_FILE | _READ_DIR)
    for path in (*LIBRARY_FILES, *reads):
        rules[path] = _READ_FILE | (_READ_DIR if os.path.isdir(path) else 0)
    for path in executes:
        for executable in filter(None, (path, loader_of(path))):
            rules[executable] = _READ_FILE | _EXECUTE
    descriptor = _create()
    try:
        for path, rights in rules.items():
            _allow(descriptor, path, rights)
        for file in files:
            _allow_opened(descriptor, file, _READ_FILE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _create() -> int:
    version = landlock_abi()
    rights = (1 << _RIGHTS_BY_ABI.get(version, _RIGHTS_BY_ABI[max(_RIGHTS_BY_ABI)])) - 1
    attributes = struct.pack("=Q", rights)
    if version >= 4:
        attributes += struct.pack("=Q", _NET_TCP)
    if version >= 6:
        attributes += struct.pack("=Q", _SCOPED)
    return _landlock(_CREATE_RULESET, attributes, len(attributes), 0)


def _allow(ruleset_descriptor: int, path: str, rights: int) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a missing file needs no rule: the program will report it
    try:
        _allow_opened(ruleset_descriptor, target, rights)
    finally:
        os.close(target)


def _allow_opened(ruleset_descriptor: int, file: int, rights: int) -> None:
    _landlock(_ADD_RULE, ruleset_descriptor, _PATH_BENEATH, struct.pack("=Qi", rights, file), 0)


def _landlock(number: int, *arguments: int | bytes) -> int:
    ctypes, libc = _c()
    given = [one if isinstance(one, bytes) else ctypes.c_long(one) for one in (number, *arguments)]
    result = int(libc.syscall(*given))
    if result < 0:
        raise _refused("a Landlock rule")
    return result


def loader_of(path: str) -> str:
    """Return the dynamic loader that a 64-bit ELF executable names; empty if it names none."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
                return ""
            table, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
            for number in range(count):
                file.seek(table + number * size)
                kind, _flags, offset, _virtual, _physical, length = struct.unpack("<IIQQQQ", file.read(40))
                if kind == 3:  # PT_INTERP
                    file.seek(offset)
                    return os.path.realpath(os.fsdecode(file.read(length).rstrip(b"\0")))
    except (OSError, struct.error):
        return ""
    return ""


# seccomp

# What is refused: sockets (which io_uring can make, too), other processes, and changes of modes, owners, times and
# attributes, which Landlock does not cover.
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
_X32_BIT = 0x40000000  # the other way into x86_64, with its own numbers

_EPERM = 1
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | _EPERM
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_OFFSET, _MACHINE_OFFSET = 0, 4  # in struct seccomp_data

_MODE_FILTER = 2
_SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
_GET_ACTION_AVAIL = 2


def seccomp_filter(machine: str) -> bytes:
    """Return the filter for a machine as the kernel wants it; empty if its system calls are not known here."""
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
def seccomp_available() -> bool:
    """Return whether this kernel accepts such a filter on this machine."""
    machine = os.uname().machine
    if not sys.platform.startswith("linux") or machine not in _MACHINES or struct.calcsize("P") != 8:
        return False
    action = struct.pack("=I", 0x00050000)
    return bool(_c()[1].syscall(_SYS_SECCOMP[machine], _GET_ACTION_AVAIL, 0, action) == 0)


def _take_calls_away() -> None:
    ctypes, libc = _c()
    code = seccomp_filter(os.uname().machine)
    held = ctypes.create_string_buffer(code, len(code))
    pointer = struct.pack("@HP", len(code) // 8, ctypes.addressof(held))
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.create_string_buffer(pointer, len(pointer)), 0, 0) != 0:
        raise _refused("the seccomp filter")
