"""Finds the lines of a stream whose shape is rare: what is said once among thousands of lines is often the reason.

The shape of a line is what is left without its digits, hexadecimal numbers, paths and quoted words. Those that are rare
without numbers are found by the same pass that looks for failures, in the memory of a bounded number of shapes.
"""

import re
from collections import Counter
from collections.abc import Iterable

from sightline.shape.clean import clean_line
from sightline.shape.failure.prefilter import RARE, SHAPE_BYTES
from sightline.shape.source import Source

SHARE = 0.25
"""Share of rare lines among those of a stream, at most; in a text without repeated lines, nothing stands out."""

_VARYING = re.compile(
    r"'[^']*'|\"[^\"]*\"|`[^`]*`|‘[^‘’]*’|“[^“”]*”|(?<![\w.@+~-])[\w.@+~-]*[/\\][^\s:,;()]+|(?<![\w-])[\w-]+\.\w{1,5}\b|\b\w*\d\w*\b|\b[0-9a-f]{3,}\b"
)
_WORDS = re.compile(r"[^\W\d_]{2,}")


def rare_lines(source: Source, numbers: Iterable[int]) -> list[int]:
    """Return those lines that are rare without their paths and quoted words, too; the rarest first, then the last ones.

    Args:
        source: the stream.
        numbers: its lines that are rare without their numbers, from a scan for failures.
    """
    texts = {number: clean_line(line.data[:400]) for number in numbers for line in source.lines(number, number)}
    shapes = {number: _VARYING.sub("#", text)[:SHAPE_BYTES] for number, text in texts.items() if _WORDS.search(text)}
    counts = Counter(shapes.values())
    found = [number for number, shape in shapes.items() if counts[shape] <= RARE]
    if len(found) > SHARE * source.line_count:
        return []
    return sorted(found, key=lambda number: (counts[shapes[number]], -number))
