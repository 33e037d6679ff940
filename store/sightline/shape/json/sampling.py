"""The steps by which a sample of a structured result gets smaller, from what a profile allows to what fits."""

from collections.abc import Iterator

from sightline.base.profile import Sampling
from sightline.light.named_tuple import NamedTuple

_ALL = 1 << 30


class Detail(NamedTuple):
    """How much a sample shows.

    Attributes:
        items: number of elements of a longer array.
        depth: number of levels of containers whose children are shown.
        members: number of members of an object.
        string_bytes: number of bytes of a longer string.
    """

    items: int
    depth: int
    members: int
    string_bytes: int


def details(sampling: Sampling) -> Iterator[Detail]:
    """Yield details from everything that a sampling allows down to nothing, each showing less than the one before."""
    items, depth, _, string = Detail(sampling.array_items, sampling.depth, _ALL, sampling.string_bytes)
    for size in (string, string // 4, string // 12):
        yield Detail(items, depth, _ALL, size)
    string = string // 12
    for fewer, level, members in (
        (3, 8, _ALL),
        (3, 5, _ALL),
        (3, 5, 400),
        (3, 5, 150),
        (3, 5, 60),
        (2, 4, 30),
        (2, 3, 20),
        (1, 3, 20),
    ):
        yield Detail(min(items, fewer), min(depth, level), members, string)
    string //= 2
    for level, members in ((2, 20), (2, 10), (1, 20), (1, 10), (1, 5), (1, 2), (1, 1), (0, 0)):
        yield Detail(min(items, members, 1), min(depth, level), members, string)
