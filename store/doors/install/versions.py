"""Which version of a harness is on this machine: told by its package where there is one, else by the program itself."""

import json
import os
import re
import shutil
import subprocess
from typing import NamedTuple

from sightline.harnesses.base import Harness
from sightline.regular import read_regular

_PATIENCE_SECONDS = 10
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")
_PACKAGE_LEVELS = 4  # from a program up to its package.json


class Program(NamedTuple):
    """A harness' program.

    Attributes:
        path: where it was found; empty where it was not.
        version: what it calls itself; empty where it does not tell.
    """

    path: str = ""
    version: str = ""


def program_of(harness: Harness) -> Program:
    """The harness' program on ``PATH``."""
    for name in harness.programs:
        if path := shutil.which(name):
            return Program(path, _packaged(os.path.realpath(path)) or _told(path))
    return Program()


def _packaged(path: str) -> str:
    """The version of the npm package that a program lies in: starting some of them takes seconds."""
    for _ in range(_PACKAGE_LEVELS):
        path = os.path.dirname(path)
        try:
            described = json.loads(read_regular(os.path.join(path, "package.json")))
            if described.get("bin"):
                return str(described["version"])
        except (OSError, ValueError, KeyError, AttributeError):
            continue
    return ""


def _told(path: str) -> str:
    try:
        done = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search(done.stdout.decode(errors="replace"))
    return found.group() if found else ""
