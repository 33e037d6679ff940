"""Counts the descriptors of this process, for tests of what is left open."""

import gc
import os

_FOLDER = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"


def open_files() -> int:
    """How many descriptors this process has, without those of what earlier tests left to be collected."""
    gc.collect()
    return len(os.listdir(_FOLDER))
