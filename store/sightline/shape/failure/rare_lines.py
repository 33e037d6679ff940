"""Finds the lines of a stream whose shape is rare: what is said once among thousands of lines is often the reason.

The shape of a line is what is left without its digits, hexadecimal numbers, paths and quoted words. Finding them takes
one pass of the stream, and the memory of a bounded number of shapes.
"""

import re
from collections import Counter
from collections.abc import Iterable

from sightline.shape.clean import clean_line, without_colour
from sightline.shape.source import Source

RARE_BYTES = 1 << 23
"""The largest stream that is searched; in one of 60 MB, the pass would take as long as all other shaping."""

RARE = 2
"""A shape that occurs more often than this is not rare."""

SHAPES = 100_000
"""Shapes that are counted; in a stream with more, those that come later are not known to be rare."""

CANDIDATES = 10_000
"""Lines that are looked at more closely; a stream with more of them has no rare lines, but is made of them."""

SHARE = 0.25
"""Share of rare lines among those of a stream, at most; in a text without repeated lines, nothing stands out."""

SHAPE_BYTES = 160  # of a line; what tells messages apart comes early
_MASK = bytes.maketrans(b"0123456789abcdfABCDF", b"0" * 20)  # without "e", because few words have none
_VARYING = re.compile(
    r"'[^']*'|\"[^\"]*\"|`[^`]*`|‘[^’]*’|“[^”]*”|[\w.@+~-]*[/\\][^\s:,;()]+|[\w-]+\.\w{1,5}\b|\b\w*\d\w*\b|\b[0-9a-f]{3,}\b"
)
_WORDS = re.compile(r"[^\W\d_]{2,}")


def rare_lines(source: Source) -> list[int]:
    """Return the numbers of lines of a rare shape, the rarest first, and among equals the last ones."""
    if source.byte_count > RARE_BYTES:
        return []
    places: dict[bytes, int] = {}
    counts: Counter[bytes] = Counter()
    total = 0
    for number, block in source.blocks():
        lines = [line[:SHAPE_BYTES] for line in without_colour(block).translate(_MASK).split(b"\n")]
        total += len(lines)
        counts.update(lines)
        if len(places) < SHAPES:
            for at, line in enumerate(lines, number):
                places.setdefault(line, at)
        if len(counts) > 2 * SHAPES:
            counts = Counter({line: count for line, count in counts.items() if line in places})
    rare = [place for line, place in places.items() if counts[line] <= RARE]
    if len(rare) > min(CANDIDATES, total):
        return []
    return _closer(source, rare, total)


def _closer(source: Source, numbers: Iterable[int], total: int) -> list[int]:
    """Return those lines that are rare without their paths and quoted words, too."""
    texts = {number: clean_line(line.data[:400]) for number in numbers for line in source.lines(number, number)}
    shapes = {number: _VARYING.sub("#", text)[:SHAPE_BYTES] for number, text in texts.items() if _WORDS.search(text)}
    counts = Counter(shapes.values())
    found = [number for number, shape in shapes.items() if counts[shape] <= RARE]
    if len(found) > SHARE * total:
        return []
    return sorted(found, key=lambda number: (counts[shapes[number]], -number))
