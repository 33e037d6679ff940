"""How much of a structured result is shown, and in which words it is described: what a profile may set."""

from collections.abc import Iterator

from sightline.named_tuple import NamedTuple

_ALL = 1 << 30


class Sampling(NamedTuple):
    """The measures of a sample; the defaults are Everruns' distillation, that of fields is codescout's inline limit
    rounded down.

    Attributes:
        array_items: elements that are shown of a longer array.
        string_bytes: bytes that are shown of a longer string.
        string_head_percent: how much of these is the string's beginning; the rest is its end.
        depth: containers deeper than this are counted, not shown.
        field_size: a string field of an object that is this large becomes a stream of its own.
        field_unit: what that size counts: ``bytes`` of UTF-8, or ``utf-16`` code units.
        null_name: the type that a description names for null.
        mark_mixed: whether a description tells how elements differ; else the first speaks for all.
    """

    array_items: int = 5
    string_bytes: int = 2048
    string_head_percent: int = 70
    depth: int = 8
    field_size: int = 8000
    field_unit: str = "bytes"
    null_name: str = "null"
    mark_mixed: bool = True


DEFAULT = Sampling()


class Detail(NamedTuple):
    """How much a sample shows.

    Attributes:
        items: elements of a longer array.
        depth: levels of containers whose children are shown.
        members: members of an object.
        string_bytes: bytes of a longer string.
    """

    items: int
    depth: int
    members: int
    string_bytes: int


def details(sampling: Sampling) -> Iterator[Detail]:
    """From all that a sampling lets through to nothing, each showing less than the one before it."""
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
