"""Load: what grows with buffers, bytes and views, up to a million, 10 GB and a thousand, and how steeply."""

import os
import shutil
import subprocess

from benchmarks.load_kinds import KINDS, Measured
from benchmarks.loglog import exponent
from benchmarks.measure import Row, mib, ms
from benchmarks.pictures import draw, save

FLAT, LINEAR = 0.15, 1.15
"""The steepest growth at the end of what must not grow, and of what may grow as the size does."""

_NEEDED_BYTES = 20 << 30


def rows(folder: str, scale: float, *, plots: bool = False, machine: str = "") -> list[Row]:
    """Each size in turn; with ``plots`` the pictures are drawn anew, and tell of the machine."""
    free = shutil.disk_usage(folder).free
    if free < _NEEDED_BYTES * scale:
        print(f"  {free >> 30} GiB are free where temporary files go, {int(_NEEDED_BYTES * scale) >> 30} are needed")
        return []
    measured: Measured = {}
    for name, kind in KINDS.items():
        root = os.path.join(folder, name)
        for size in kind.sizes if scale == 1 else kind.sizes[:-1]:
            print(f"  {kind.size}: {kind.told(size)}", flush=True)
            measured.setdefault(name, {})[size] = kind.measure(root, size)
            if name != "buffers":  # that one grows on
                _remove(root)
        _remove(root)
    if plots:
        save(measured, machine)
        draw(measured)
    return table(measured)


def _remove(root: str) -> None:
    """By a process of its own: with a million entries this one would grow, and what it starts next is told its peak."""
    subprocess.run(["rm", "-rf", root], check=True)


def table(measured: Measured) -> list[Row]:
    """A row for each thing that was done: what it takes at the largest size, and how steeply it grew there."""
    print("  the fourth column is the exponent of growth at the end: 0 stays as it is, 1 grows as the size does")
    told = []
    for name, by_size in measured.items():
        kind = KINDS[name]
        largest = max(by_size)
        for what, ran in by_size[largest].items():
            growth = exponent([(size, found[what].seconds) for size, found in sorted(by_size.items())])
            beside = " · ".join(ms(found[what].seconds) for _, found in sorted(by_size.items()))
            if ran.peak_bytes:
                beside += f"; {mib(ran.peak_bytes)}"
            aim = LINEAR if what in kind.linear else FLAT
            told.append(Row(f"{name}: {what}, s", ms(ran.seconds), beside, growth, aim))
            if what in kind.limits and kind.limits[what][0] in by_size:
                size, most = kind.limits[what]
                taken = by_size[size][what].seconds
                told.append(Row(f"{name}: {what}, at {kind.told(size)}, s", ms(taken), "", taken, most))
    return told
