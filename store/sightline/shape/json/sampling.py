"""Says how much of a structured result is shown, and in which words it is described, as profiles may set it."""

from collections.abc import Iterator

from sightline.light.named_tuple import NamedTuple

_ALL = 1 << 30


class Sampling(NamedTuple):
    """The measures of a sample. The defaults are those of Everruns' distillation; that of fields is codescout's limit,
    rounded down.

    Attributes:
        array_items: number of elements shown of a longer array.
        string_bytes: number of bytes shown of a longer string.
        string_head_percent: share of the string's beginning in these; the rest is its end.
        depth: deeper containers are counted, not shown.
        field_size: a string field of an object becomes a stream of its own from this size on.
        field_unit: the unit of that size: ``bytes`` of UTF-8, or ``utf-16`` code units.
        field_ends: whether the two ends of such a field are shown in its place, and what the JSON in it is.
        null_name: the name of null's type in a description.
        mark_mixed: whether a description says how elements differ; else the first one stands for all.
    """

    array_items: int = 5
    string_bytes: int = 2048
    string_head_percent: int = 70
    depth: int = 8
    field_size: int = 8000
    field_unit: str = "bytes"
    field_ends: bool = True
    null_name: str = "null"
    mark_mixed: bool = True


DEFAULT = Sampling()


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
