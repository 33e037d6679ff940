"""How much of a structured result is shown: the numbers that a profile may set."""

from typing import NamedTuple


class Sampling(NamedTuple):
    """The measures of a sample; the defaults are Everruns' distillation, the last one is codescout's inline limit
    rounded down.

    Attributes:
        array_items: elements that are shown of a longer array.
        string_bytes: bytes that are shown of a longer string.
        string_head_percent: how much of these is the string's beginning; the rest is its end.
        depth: containers deeper than this are counted, not shown.
        stream_field_bytes: a string field of an object that has this many bytes becomes a stream of its own.
    """

    array_items: int = 5
    string_bytes: int = 2048
    string_head_percent: int = 70
    depth: int = 8
    stream_field_bytes: int = 8000
