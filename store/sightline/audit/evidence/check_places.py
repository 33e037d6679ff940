"""Says where each program of a command line ran: the folder whose files a check there looks at."""

import os
import re
from collections.abc import Iterator, Sequence

from sightline.light.named_tuple import NamedTuple
from sightline.shell_words.programs import WritingProgram


class RanIn(NamedTuple):
    """Where a program ran: its folder, and the option's value that names it."""

    folder: str
    option: str = ""


def places_of(programs: Sequence[WritingProgram], where: str, cwd: str) -> Iterator[RanIn]:
    """Yield where each program ran: in its call's place, or where a ``cd`` before it or an option of it leads."""
    moved = ""
    for program in programs:
        if program.name == "cd" and len(program.words) == 2 and not _NO_PLACE.search(program.words[1]):
            moved = _joined(moved or cwd, of_windows(os.path.expanduser(program.words[1]), cwd or where))
        moved = of_windows(moved, cwd or where)
        folder, option = moved or of_windows(where, where), _folder_option(program.words)
        if option:
            named = os.path.dirname(option) if option.endswith(".toml") else option
            folder = _joined(moved or cwd, named)
        if moved or option:
            folder = os.path.normpath(folder)
            while _OF_ALL.match(os.path.basename(folder)):
                folder = os.path.dirname(folder)
        yield RanIn(folder, option)


def of_windows(path: str, folder: str) -> str:
    """Return a path in one spelling, ``D:/x``, if its session ran on Windows, where Git's shell writes ``/d/x``.

    Args:
        path: the path.
        folder: a folder of the session.
    """
    if not _DRIVE.match(folder) and not _DRIVE.match(path):
        return path
    if found := _OF_SHELL.match(path):
        path = f"{found[1]}:/{path[found.end() :]}"
    return (path[:1].upper() + path[1:] if path[1:2] == ":" else path).replace("\\", "/")


_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_OF_SHELL = re.compile(r"/([A-Za-z])(?:/|$)")


def _folder_option(words: Sequence[str]) -> str:
    for word, following in zip(words, (*words[1:], ""), strict=True):
        name, _, value = word.partition("=")
        if name in _FOLDER_OPTIONS and not _NO_PLACE.search(value or following):
            return value or following
    return ""


def _joined(folder: str, path: str) -> str:
    return path if path[1:2] == ":" else os.path.join(folder, path)


_FOLDER_OPTIONS = ("--package-path", "--manifest-path", "--directory", "--working-directory", "--chdir")
_NO_PLACE = re.compile(r"[$`*]|^-|^$")
_OF_ALL = re.compile(r"(?:build|tests?|specs?|dist|out|target)\b")
"""Names of folders in which a check looks at what lies beside them."""
