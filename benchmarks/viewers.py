"""The viewers that the inspector stands beside: how each is started, and which keys lead where."""

import shutil
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.measure import SIGHTLINE

Keys = tuple[str, ...]


class Viewer(NamedTuple):
    """A program that shows a file.

    Attributes:
        name: as the table has it.
        command: what starts it, ``{}`` standing for the file, or for the ref.
        end: keys to the last line; likewise the others. Empty for what it cannot do.
        goto: to the line ``{}``.
        find: to the text ``{}``.
        page: a page down.
        follow: what starts it so that it stays at the end of a growing file.
        top: keys to the first line.
        again: keys that lead to what was found, once it has been; pressed until it is there.
    """

    name: str
    command: tuple[str, ...]
    end: Keys
    goto: Keys
    find: Keys
    page: Keys
    follow: tuple[str, ...] = ()
    top: Keys = ()
    again: Keys = ()


_OURS = (*SIGHTLINE, "{}")
OURS = Viewer("sightline", _OURS, ("G",), ("{}G",), ("/", "{}", "Enter"), ("Space",), _OURS, ("g",))
_VIM = ("vim", "-R", "-N", "-n", "-u", "NONE", "-i", "NONE", "--cmd", "set number", "{}")
_LNAV = ("lnav", "-N", "{}")
PEERS = (
    Viewer(
        "less -N", ("less", "-N", "{}"), ("G",), ("{}g",), ("/{}", "Enter"), ("Space",), ("less", "+F", "{}"), ("g",)
    ),
    Viewer("vim", _VIM, ("G",), ("{}G",), ("/{}", "Enter"), ("C-f",), top=("gg",)),
    Viewer("lnav", _LNAV, ("G",), (":goto {}", "Enter"), ("/{}", "Enter"), ("Space",), _LNAV, ("g",), ("n",)),
    Viewer("toolong", ("tl", "{}"), ("End",), (), ("/", "{}"), ("NPage",), ("tl", "{}"), ("Home",), ("Down",)),
)


def installed() -> list[Viewer]:
    """The peers that are on this machine."""
    return [viewer for viewer in PEERS if shutil.which(viewer.command[0])]


def filled(words: Sequence[str], value: object) -> list[str]:
    """Keys or a command with their place filled."""
    return [word.replace("{}", str(value)) for word in words]
