"""Finds the executables of a query's programs and gives them the options that hold them to reading.

Only fixed system folders are looked through, never PATH or the current folder: what a query runs must not depend on
where it was asked.
"""

import os
import sys
from collections.abc import Iterable
from typing import NoReturn

from sightline.named_tuple import NamedTuple
from sightline.search.errors import ProgramMissing

SYSTEM_FOLDERS = (
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/opt/local/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/run/current-system/sw/bin",
)
SORT_BUFFER = "512M"  # under a memory limit of 1 GiB; a sort that needs more would write temporary files and cannot
PROBE_SECONDS = 5
_MAPPED_AT_ONCE = 1 << 16  # the largest page of any machine
# GNU tac copies a pipe to a temporary file, which a query cannot write; this is the same in memory. No awk but gawk can
# tell whether the last line was ended.
_REVERSE = """
import os, sys
try:
    sys.stdout.buffer.writelines(reversed(sys.stdin.buffer.readlines()))
    sys.stdout.buffer.flush()
except MemoryError:
    os.write(2, b"tac: memory exhausted\\n")
    os._exit(1)
except BrokenPipeError:
    os._exit(1)
"""
INTERPRETER_FOLDERS = tuple(
    {os.path.dirname(os.path.dirname(path)) for path in (os.__file__, os.path.realpath(os.__file__))}
)
"""What the interpreter that runs this loads its parts from."""

_ON_A_MAC = {"sed": "gsed", "awk": "gawk", "sort": "gsort", "diff": "gdiff"}
_GNU_PACKAGES = (b"sed", b"coreutils", b"diffutils")
_PACKAGES = {"rg": "ripgrep", "awk": "gawk", "sed": "GNU sed"}


class Executable(NamedTuple):
    """What is started for a program.

    Attributes:
        path: a real file.
        argv: its arguments, with argv[0].
        maps_bytes: of files that it maps, which its address space must hold beside what it uses itself.
        libraries: folders that it loads parts of itself from, beside the system's.
    """

    path: str
    argv: tuple[str, ...]
    maps_bytes: int = 0
    libraries: tuple[str, ...] = ()


def executable_of(argv: tuple[str, ...], *, held: bool, reads: Iterable[str] = ()) -> Executable:
    """The executable of one stage, in its safe mode.

    Args:
        argv: the program's name and its arguments.
        reads: the files among these.
        held: whether the kernel holds reads and writes; without it, sed must be GNU and awk gawk.

    Raises:
        ProgramMissing: it is not on this machine, or has no safe mode where it needs one.
    """
    program, arguments = argv[0], argv[1:]
    if program == "rg":
        return _ripgrep(arguments, reads)
    if program in ("egrep", "fgrep"):  # scripts around grep in many systems, so a shell would be needed
        return Executable(_found("grep"), ("grep", "-E" if program == "egrep" else "-F", *arguments))
    if program == "awk":
        return _awk(arguments, held=held)
    if argv in (("tac",), ("tac", "-")) and sys.executable:
        path = os.path.realpath(sys.executable)
        return Executable(path, (path, "-I", "-S", "-B", "-c", _REVERSE), libraries=INTERPRETER_FOLDERS)
    path = _gnu_of(program) if program in ("sed", "sort") else ""
    if program == "sed":
        if path:
            return Executable(path, ("sed", "--sandbox", *arguments))
        if not held:
            _no_safe_mode(program)
    if program == "sort" and path:
        return Executable(path, ("sort", "-S", SORT_BUFFER, "--parallel=1", *arguments))
    return Executable(path or _found(program), argv)


def _ripgrep(arguments: tuple[str, ...], reads: Iterable[str]) -> Executable:
    """Mapped, 1 GB takes a third of the time: a buffer only grows, so no page of it can vanish."""
    path = ripgrep() or _missing("rg")
    maps_bytes = sum(whole_pages(os.path.getsize(file)) for file in reads)
    return Executable(path, ("rg", "--no-config", "--threads=1", *arguments), maps_bytes)


def whole_pages(size: int) -> int:
    """What a file takes of an address space, in bytes."""
    return -(-size // _MAPPED_AT_ONCE) * _MAPPED_AT_ONCE


def _awk(arguments: tuple[str, ...], *, held: bool) -> Executable:
    if gawk := next((path for name in ("gawk", "awk") if (path := find(name)) and is_gnu(path)), ""):
        return Executable(gawk, ("gawk", "--sandbox", *arguments))
    if not held:
        _no_safe_mode("awk")
    return Executable(_found("awk"), ("awk", *arguments))


def ripgrep() -> str:
    """The path of ripgrep, empty where there is none: the one installed beside this interpreter first."""
    beside = os.path.join(os.path.dirname(sys.executable or ""), "rg")
    if os.path.isabs(beside) and os.access(beside, os.X_OK):
        return os.path.realpath(beside)
    import sysconfig  # 2 ms, and ripgrep mostly stands beside this interpreter

    return _first_in((sysconfig.get_path("scripts"), *SYSTEM_FOLDERS), "rg")


def find(name: str) -> str:
    """The real path of a program in the system's folders, empty where there is none."""
    return _first_in(SYSTEM_FOLDERS, name)


def gnu_diff() -> str:
    """The path of GNU diff, empty where there is none."""
    return _gnu_of("diff")


def _first_in(folders: tuple[str, ...], name: str) -> str:
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.realpath(path)
    return ""


def _found(name: str) -> str:
    return find(name) or _missing(name)


def _missing(name: str) -> NoReturn:
    package = _PACKAGES.get(name, name)
    raise ProgramMissing(f"{name} is not on this machine", f"install {package}, or use another of a query's programs")


def _no_safe_mode(program: str) -> NoReturn:
    raise ProgramMissing(
        f"{program} cannot be held to reading here: it is not {_PACKAGES[program]}, and the kernel has no Landlock",
        f"install {_PACKAGES[program]}, or use grep, cut and head",
    )


def _gnu_of(program: str) -> str:
    """The path of the program if it is GNU's, else empty."""
    for name in (program, _ON_A_MAC[program]):
        path = find(name)
        if path and is_gnu(path):
            return path
    return ""


def is_gnu(path: str) -> bool:
    """Whether a program is GNU's, by what it says of itself."""
    first = (_said(path, "--version") or (0, b""))[1].partition(b"\n")[0]  # of BusyBox, "This is not GNU sed"
    return first.startswith(b"GNU Awk") or any(b"(GNU %s)" % name in first for name in _GNU_PACKAGES)


def knows_perl(grep: str) -> bool:
    """Whether a grep knows ``-P``."""
    return (_said(grep, "-P", "-e", "x") or (0, b""))[0] == 1  # it found nothing in nothing


_known: dict[tuple[str, ...], tuple[int, bytes]] = {}


def _said(*argv: str) -> tuple[int, bytes] | None:
    """The exit code of a program, and what it said of itself; None where it did not end, which the next asks anew."""
    if argv not in _known:
        import subprocess  # 5 ms that most queries do without

        try:
            said = subprocess.run(argv, capture_output=True, timeout=PROBE_SECONDS, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError):
            return None
        _known[argv] = said.returncode, said.stdout
    return _known[argv]
