"""What `load` makes larger and larger, and `pictures` draws: each kind with its sizes and what may grow with them."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from benchmarks import growing
from benchmarks.loglog import in_bytes, plain

_VIEWED_BYTES = 100_000_000  # of the buffer that many views are of


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
