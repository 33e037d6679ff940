"""Load: what grows with buffers, bytes and views, up to a million, 10 GB and a thousand, and how steeply."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from benchmarks import growing
from benchmarks.loglog import exponent, in_bytes, plain
from benchmarks.measure import Row, mib, ms

FLAT, LINEAR = 0.15, 1.15
"""The steepest growth at the end of what must not grow, and of what may grow as the size does."""

_VIEWED_BYTES = 100_000_000  # of the buffer that many views are of
_NEEDED_BYTES = 20 << 30


class Kind(NamedTuple):
    """What is made larger and larger.

    Attributes:
        sizes: how large.
        measure: takes a folder's path and a size.
        size: what the size is of.
        told: a size as text.
        linear: what must look at all of it, and may take as much longer.
        limits: by what was done, the most seconds that it may take at a size that an aim names.
    """

    sizes: Sequence[int]
    measure: Callable[[str, int], growing.Found]
    size: str
    told: Callable[[float], str]
    linear: frozenset[str] = frozenset()
    limits: Mapping[str, tuple[int, float]] = {}


KINDS = {
    "buffers": Kind(
        (100, 1_000, 10_000, 100_000, 1_000_000),
        growing.of_buffers,
        "buffers in the store",
        plain,
        frozenset({"doctor", "doctor, the index gone", "filter: a letter, all it finds", "filter: all titles read"}),
        {"filter: a letter, the first it finds": (100_000, 0.016)},
    ),
    "bytes": Kind(
        (1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000),
        growing.of_bytes,
        "size of the buffer",
        in_bytes,
        frozenset({"capture it", "query grep -c", "doctor"}),
        {"read its end, in a server": (1_000_000_000, 0.03), "read its middle, in a server": (1_000_000_000, 0.03)},
    ),
    "views": Kind(
        (10, 30, 100, 300, 1_000),
        lambda root, size: growing.of_views(root, size, _VIEWED_BYTES),
        "views of the buffer, of a hundred ranges each",
        plain,
        frozenset({"coverage", "what was seen, for the list", "views", "read a page, in a server"}),
        {"coverage": (1_000, 2.0)},
    ),
    "store": Kind(
        (100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000),
        growing.of_store,
        "size of the store",
        in_bytes,
        frozenset({"doctor"}),
    ),
}

Measured = dict[str, dict[int, growing.Found]]
"""By kind, by size."""


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
        from benchmarks.pictures import draw, save

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
