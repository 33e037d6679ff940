"""The command line of a hook in a harness' settings: how it is written, and how it is recognised."""

import os
import site
import sys

from sightline.harnesses import find
from sightline.harnesses.base import MODES
from sightline.light.named_tuple import NamedTuple
from sightline.shell_words.quoting import join_quoted

ENTRY = os.path.join(os.path.abspath(__file__).rsplit(os.sep, 3)[0], "hook.py")
"""The file that a hook runs: by its path, which starts 6 ms sooner than ``-m``."""

_TAILS = ("sightline/hook.py", "sightline/doors/hooks/__main__.py")  # the other is 0.2.0's
FLAGS = ("-E", "-P", "-S")
"""Flags of the interpreter. They keep out what a project has in ``PYTHONPATH`` or beside it, and put off ``site``.

Not ``-I``: that would also keep out packages that a person has installed for their own account.
"""
_WRITTEN_FLAGS = ([*FLAGS], ["-E", "-P"], ["-I"])  # the others as earlier versions wrote them
_ANYWAY = ["||", "true"]
_THROUGH = "--through"
_OPERATORS = frozenset(";&|<>()\n")
"""What joins a command with another; then the line is more than ours."""


class HookLine(NamedTuple):
    """The parts of a command line of ours.

    Attributes:
        harness: name of the harness.
        event: the harness' own name for the event.
        mode: one of MODES.
        python: the interpreter.
        entry: the file that it runs.
        through: the program that it puts into commands; empty where it names none.
    """

    harness: str
    event: str
    mode: str
    python: str
    entry: str
    through: str = ""


def hook_words(harness: str, event: str, mode: str, through: str = "") -> list[str]:
    """The words of a hook's command line."""
    words = [sys.executable, *FLAGS, ENTRY, harness, event, "--mode", mode]
    return [*words, _THROUGH, through] if through else words


def hook_line(harness: str, event: str, mode: str, through: str = "") -> str:
    """The same as one line for a shell, which ends with 0 even if Sightline is no longer installed.

    Python ends with 2 where its file is gone, and harnesses take 2 to mean that the hook refuses the call.
    """
    return " ".join([join_quoted(hook_words(harness, event, mode, through)), *_ANYWAY])


def read_line(command: str) -> HookLine | None:
    """The parts of a command line, whichever interpreter and installation it names; None for one that is not ours.

    A person may have put a program such as ``nice`` before it, or a shell around it; it is ours all the same.
    """
    import shlex  # it loads `re`, and few events look at the lines of others

    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if words[-2:] == _ANYWAY:
        del words[-2:]
    if words[-2:-1] in (["-c"], ["-lc"]) and not _OPERATORS.intersection("".join(words[:-1])):
        return read_line(words[-1])
    through = words[-1] if words[-2:-1] == [_THROUGH] else ""
    if through:
        del words[-2:]
    if len(words) < 7 or words[-2] != "--mode":
        return None
    entry, harness, event, _, mode = words[-5:]
    flags = next((flags for flags in _WRITTEN_FLAGS if words[-5 - len(flags) : -5] == flags), None)
    if flags is None or len(words) < 6 + len(flags) or not (entry.endswith(_TAILS) or entry == ENTRY):
        return None
    *before, python = words[: -5 - len(flags)]
    if find(harness) is None or mode not in MODES or _OPERATORS.intersection("".join(before)):
        return None
    return HookLine(harness, event, mode, python, entry, through)


def capture_program() -> str:
    """The absolute path of the program ``sightline``, which agents are told to call.

    It is the one beside the interpreter, or in the person's own folder of programs if it was installed for them
    alone, else the one on the PATH. It may be missing.
    """
    own = os.path.join(os.path.dirname(sys.executable), "sightline")
    if ENTRY.startswith(site.getusersitepackages() + os.sep):
        own = os.path.join(site.getuserbase(), "bin", "sightline")
    if os.access(own, os.X_OK):
        return own
    return on_path("sightline") or own  # an installation whose programs lie elsewhere


def on_path(name: str) -> str:
    """The path of a program in the folders of ``PATH``; empty where there is none."""
    paths = (os.path.join(folder, name) for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder)
    return next((path for path in paths if os.access(path, os.X_OK) and not os.path.isdir(path)), "")
