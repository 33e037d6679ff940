"""Finds the executables of a query's programs, and gives them the options that keep them from writing.

Only fixed system folders are searched, never PATH or the current folder, because what a query runs must not depend on
where it was asked.
"""

import os
import sys

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Iterable, NoReturn
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
SORT_BUFFER = "512M"  # under a memory limit of 1 GiB; a larger sort would need temporary files, which it cannot write
PROBE_SECONDS = 5
_MAPPED_AT_ONCE = 1 << 16  # the largest page of any machine
# GNU tac copies a pipe to a temporary file, which a query cannot write; this does the same in memory. Only gawk can
# tell whether the last line had a newline.
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
"""Folders from which the running interpreter loads its parts."""

_ON_A_MAC = {"sed": "gsed", "awk": "gawk", "sort": "gsort", "diff": "gdiff"}
_GNU_PACKAGES = (b"sed", b"coreutils", b"diffutils")
_PACKAGES = {"rg": "ripgrep", "awk": "gawk", "sed": "GNU sed"}


class Executable(NamedTuple):
    """What to start for a program.

    Attributes:
        path: path of a real file.
        argv: its arguments, with argv[0].
        maps_bytes: bytes of files that it maps, for which its address space needs room besides its own use.
        libraries: folders from which it loads parts of itself, besides the system's.
    """

    path: str
    argv: tuple[str, ...]
    maps_bytes: int = 0
    libraries: tuple[str, ...] = ()


def executable_of(argv: tuple[str, ...], *, held: bool, reads: Iterable[str] = ()) -> Executable:
    """Return the executable of one stage, in its safe mode.

    Args:
        argv: the name of the program, and its arguments.
        reads: the files among these.
        held: whether the kernel prevents writing; if it does not, sed must be GNU's, and awk gawk.

    Raises:
        ProgramMissing: it is not on this machine, or has no safe mode and needs one.
    """
    program, arguments = argv[0], argv[1:]
    if program == "rg":
        return _ripgrep(arguments, reads)
    if program in ("egrep", "fgrep"):  # on many systems these are scripts around grep, which would need a shell
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
    """Mapped, 1 GB takes a third of the time; a buffer only grows, so none of its pages can vanish."""
    path = ripgrep() or _missing("rg")
    maps_bytes = sum(whole_pages(os.path.getsize(file)) for file in reads)
    return Executable(path, ("rg", "--no-config", "--threads=1", *arguments), maps_bytes)


def whole_pages(size: int) -> int:
    """Return the bytes of an address space that a file takes."""
    return -(-size // _MAPPED_AT_ONCE) * _MAPPED_AT_ONCE


def _awk(arguments: tuple[str, ...], *, held: bool) -> Executable:
    if gawk := next((path for name in ("gawk", "awk") if (path := find(name)) and is_gnu(path)), ""):
        return Executable(gawk, ("gawk", "--sandbox", *arguments))
    if not held:
        _no_safe_mode("awk")
    return Executable(_found("awk"), ("awk", *arguments))


def ripgrep() -> str:
    """Return the path of ripgrep, first the one beside this interpreter; empty if there is none."""
    beside = os.path.join(os.path.dirname(sys.executable or ""), "rg")
    if os.path.isabs(beside) and os.access(beside, os.X_OK):
        return os.path.realpath(beside)
    import sysconfig  # 2 ms; ripgrep usually stands beside this interpreter

    return _first_in((sysconfig.get_path("scripts"), *SYSTEM_FOLDERS), "rg")


def find(name: str) -> str:
    """Return the real path of a program in the system's folders; empty if there is none."""
    return _first_in(SYSTEM_FOLDERS, name)


def gnu_diff() -> str:
    """Return the path of GNU diff; empty if there is none."""
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
    """Return the path of the program if it is GNU's, else empty."""
    for name in (program, _ON_A_MAC[program]):
        path = find(name)
        if path and is_gnu(path):
            return path
    return ""


def is_gnu(path: str) -> bool:
    """Return whether a program is GNU's, by its version text."""
    first = (_said(path, "--version") or (0, b""))[1].partition(b"\n")[0]  # BusyBox says "This is not GNU sed"
    return first.startswith(b"GNU Awk") or any(b"(GNU %s)" % name in first for name in _GNU_PACKAGES)


def knows_perl(grep: str) -> bool:
    """Return whether a grep knows ``-P``."""
    return (_said(grep, "-P", "-e", "x") or (0, b""))[0] == 1  # an empty input without a match


_known: dict[tuple[str, ...], tuple[int, bytes]] = {}


def _said(*argv: str) -> tuple[int, bytes] | None:
    """Return a program's exit code and output; None if it did not end, so that the next call asks again."""
    if argv not in _known:
        import subprocess  # 5 ms, which most queries do not need

        try:
            said = subprocess.run(argv, capture_output=True, timeout=PROBE_SECONDS, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError):
            return None
        _known[argv] = said.returncode, said.stdout
    return _known[argv]
