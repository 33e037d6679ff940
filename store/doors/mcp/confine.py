"""Keeping what a caller names under one folder, symbolic links resolved."""

import os

from sightline.capture.file import LONGEST_PATH
from sightline.errors import UsageError


def under(root: str, path: str) -> str:
    """The real path that a path leads to.

    Args:
        root: the folder, resolved.
        path: as it was given; relative ones begin at the working directory.

    Raises:
        UsageError: it lies outside of the folder, or is too long.
    """
    if len(path) > LONGEST_PATH:  # resolving costs its length squared, and no system opens a longer one
        raise UsageError(f"a path of {len(path):,} characters", f"it has at most {LONGEST_PATH:,}")
    real = os.path.realpath(os.path.expanduser(path))
    if real != root and not real.startswith(root.rstrip("/") + "/"):
        raise UsageError(f"{path} lies outside of {root}", "this server stays under that folder (--root)")
    return real
