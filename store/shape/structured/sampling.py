"""How much of a structured result is shown, and in which words it is described: what a profile may set."""

from typing import NamedTuple


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
