"""Landlock through ctypes: a thread, and what it spawns, may read and execute what it is told and write nothing."""

import os
import struct
import sys
from collections.abc import Iterable
from functools import lru_cache

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every machine
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
# How many rights of the file system each ABI knows: 13 at first, then REFER, TRUNCATE and IOCTL_DEV. All are handled,
# so all are refused where no rule allows them.
_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NET_TCP = 0b11  # bind and connect, from ABI 4
_SCOPED = 0b11  # abstract UNIX sockets and signals, from ABI 6

LIBRARY_FOLDERS = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib",
                   "/usr/share/locale", "/usr/share/i18n", "/nix/store", "/gnu/store",
                   "/home/linuxbrew/.linuxbrew/lib", "/home/linuxbrew/.linuxbrew/Cellar")  # fmt: skip
LIBRARY_FILES = ("/etc/ld.so.cache", os.devnull)


@lru_cache(maxsize=1)
def abi() -> int:
    """The kernel's Landlock ABI, 0 where it has none or has it switched off."""
    if not sys.platform.startswith("linux"):
        return 0
    import ctypes

    version = ctypes.CDLL(None, use_errno=True).syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    return max(0, int(version))


def ruleset(reads: Iterable[str], executes: Iterable[str]) -> int:
    """A set of rules as a file descriptor, which the caller closes.

    Args:
        reads: files that may be read, and folders with all that is in them.
        executes: files that may be executed, their loaders and the system's libraries along with them.

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
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _create() -> int:
    version = abi()
    rights = (1 << _RIGHTS_BY_ABI.get(version, _RIGHTS_BY_ABI[max(_RIGHTS_BY_ABI)])) - 1
    attributes = struct.pack("=Q", rights)
    if version >= 4:
        attributes += struct.pack("=Q", _NET_TCP)
    if version >= 6:
        attributes += struct.pack("=Q", _SCOPED)
    return _syscall(_CREATE_RULESET, attributes, len(attributes), 0)


def _allow(ruleset_descriptor: int, path: str, rights: int) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule: the program will say so itself
    try:
        _syscall(_ADD_RULE, ruleset_descriptor, _PATH_BENEATH, struct.pack("=Qi", rights, target), 0)
    finally:
        os.close(target)


def restrict_thread(ruleset_descriptor: int) -> None:
    """Put the calling thread, and whatever it spawns, under the rules for good. Needs no-new-privileges first."""
    _syscall(_RESTRICT_SELF, ruleset_descriptor, 0)


def no_new_privileges() -> None:
    """What both Landlock and seccomp ask of a thread first: no set-uid program gains anything any more."""
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused no-new-privileges")


def _syscall(number: int, *arguments: int | bytes) -> int:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    held = [a if isinstance(a, bytes) else ctypes.c_long(a) for a in arguments]
    result = int(libc.syscall(ctypes.c_long(number), *held))
    if result < 0:
        number_of_error = ctypes.get_errno()
        raise OSError(number_of_error, f"the kernel refused a Landlock rule: {os.strerror(number_of_error)}")
    return result


def loader_of(path: str) -> str:
    """The dynamic loader that a 64-bit ELF executable names, empty where it names none."""
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
