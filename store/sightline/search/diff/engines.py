"""Runs what compares two runs of lines: GNU diff, else our script, as children that can be limited and killed."""

import os
import sys
from collections.abc import Callable, Sequence

from sightline.light.named_tuple import NamedTuple
from sightline.search.diff.sides import FilePiece, Folders
from sightline.search.errors import Cancelled, CompareFailed
from sightline.search.executables import INTERPRETER_FOLDERS, Executable, gnu_diff
from sightline.search.processes import DEFAULT_MEMORY_BYTES, Cancel, Group
from sightline.search.sandbox import describe

ENGINES = ("diff", "difflib")
"""In the order in which they are tried; on 100,000 lines the second takes five times as long."""

SECONDS = 600.0  # for one window; the caller can cancel it
_TROUBLE = 2
_MAX_STDERR_BYTES = 2000
_GROUP_LINE = "%de %dn %dE %dN\n"  # number of lines before it and in it, on the left and on the right


class Ignore(NamedTuple):
    """The differences to ignore.

    Attributes:
        whitespace: whether all white space is ignored.
        volatile: whether everything is ignored that differs in every run, see `feed.without_volatile`.
    """

    whitespace: bool = False
    volatile: bool = False


class DiffWindow(NamedTuple):
    """What is compared at once.

    Attributes:
        left: pieces of its left side.
        right: pieces of its right side.
        paths: the two files if they have nothing else, so that they are read directly.
        folders: the folders of the left side and of the right; a difference in their names is volatile.
    """

    left: Sequence[FilePiece]
    right: Sequence[FilePiece]
    paths: tuple[str, str] | None = None
    folders: tuple[Folders, Folders] = (Folders(), Folders())


def engine_of(engines: Sequence[str]) -> str:
    """Return the first of these engines on this machine. Raises CompareFailed if there is none."""
    for engine in engines:
        if (engine == "diff" and gnu_diff()) or (engine == "difflib" and sys.executable):
            return engine
    raise CompareFailed("nothing on this machine can compare", "install GNU diff (diffutils)")


def run_engine(
    engine: str, window: DiffWindow, ignore: Ignore, take: Callable[[Sequence[int]], None], cancel: Cancel
) -> None:
    """Pass on the hunks of a window as they come, each as four numbers: lines before and in it, left and right.

    Raises:
        CompareFailed: memory or time was not enough, or the engine failed.
        Cancelled: ``cancel`` was used.
    """
    feeds, paths = list[Executable](), window.paths
    if paths is None or ignore.volatile:
        sides = zip((window.left, window.right), window.folders, strict=True)
        feeds = [feed_of(pieces, ignore, folders) for pieces, folders in sides]
        paths = ("/dev/fd/3", "/dev/fd/4")
    reader = _Reader(take)
    with Group(
        [command_of(engine, paths, ignore)],
        seconds=SECONDS,
        memory_bytes=DEFAULT_MEMORY_BYTES,
        backing=describe(),
        reads=paths if not feeds else tuple({piece.path for piece in (*window.left, *window.right)}),
        cancel=cancel,
        feeds=feeds,
    ) as group:
        ended = group.collect(reader.feed, reader.complain)
    if cancel.cancelled:
        raise Cancelled("the comparison was cancelled")
    if ended.timed_out:
        raise CompareFailed(f"the comparison took more than {SECONDS:g} s", "compare parts: `sightline query 'diff …'`")
    if ended.exit_code >= _TROUBLE or not ended.fed:
        raise CompareFailed(f"the comparison broke off: {reader.complaint}", "try again, or compare one stream")


class _Reader:
    """Reads lines of four numbers."""

    def __init__(self, take: Callable[[Sequence[int]], None]) -> None:
        self._take = take
        self._begun = b""
        self._complaint = b""

    def feed(self, data: bytes) -> None:
        lines, _, self._begun = (self._begun + data).rpartition(b"\n")
        if lines:
            self._take([int(number) for number in lines.split()])

    def complain(self, data: bytes) -> None:
        self._complaint = (self._complaint + data)[:_MAX_STDERR_BYTES]

    @property
    def complaint(self) -> str:
        lines = self._complaint.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no reason was given"


def command_of(engine: str, paths: tuple[str, str], ignore: Ignore) -> Executable:
    """Return the command of an engine for two files."""
    if engine == "difflib":
        return _script("difflib_engine.py", "-w" if ignore.whitespace else "-", *paths)
    groups = [f"--{kind}-group-format={_GROUP_LINE}" for kind in ("old", "new", "changed")]
    how = ["-w"] if ignore.whitespace else []
    return Executable(gnu_diff(), ("diff", "-a", *how, "--unchanged-group-format=", *groups, "--", *paths))


def feed_of(pieces: Sequence[FilePiece], ignore: Ignore, folders: Folders) -> Executable:
    """Return the command that writes some pieces as one side of a comparison."""
    words = [str(word) for piece in pieces for word in piece]
    return _script("normaliser.py", "-v" if ignore.volatile else "-", *folders, *words)


def _script(name: str, *words: str) -> Executable:
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), name)
    interpreter = os.path.realpath(sys.executable)
    return Executable(interpreter, (interpreter, "-I", "-S", path, *words), libraries=(*INTERPRETER_FOLDERS, path))
