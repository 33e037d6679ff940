"""The distribution that this package comes from: its name, its version, and how its extras are installed."""

import os
import sys
from collections.abc import Iterator

NAME = "sightline-inspector"

FORMER = "sightline"
"""Our name up to 0.2.0, and that of another project on the package index; either owns files of this package, too."""


def install_extra(extra: str) -> str:
    """How an extra is installed. No hint names us to a package index: there the name ``sightline`` is another's."""
    return f"in your checkout of Sightline: `python -m pip install '.[{extra}]'`"


def upgrade(extra: str = "") -> str:
    """What to do about a version that is too old."""
    what = f"'.[{extra}]'" if extra else "."
    return f"upgrade this one, in your checkout of Sightline: `git pull && python -m pip install {what}`"


def version() -> str:
    """The installed version, from the name of the metadata's folder; empty where nothing is installed.

    importlib.metadata would find it, too, but takes 20 ms.
    """
    global _version
    if not _version:
        _version = next(versions_of(NAME), "")
    return _version


_version = ""


def versions_of(distribution: str) -> Iterator[str]:
    """The versions of a distribution that are installed where this process looks for modules."""
    prefix = distribution.replace("-", "_") + "-"
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith(prefix) and name.endswith((".dist-info", ".egg-info")):
                yield name.removeprefix(prefix).rpartition(".")[0]
