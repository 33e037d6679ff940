"""Finds the lines of a stream that are worth judging, because they have one of some literals.

A large output repeats its lines with other numbers. Of lines that differ only in numbers, one is searched, so most of a
long log is only split and looked up, which is several times faster.
"""

from collections.abc import Iterable, Iterator, Sequence

from sightline.shape.clean import without_colour

NUMBERS = bytes.maketrans(b"23456789", b"11555555")
"""Makes lines equal that differ in digits; 0, 1 to 3, and 4 to 9 stay apart: "0 errors" and status 500 matter."""

FEW = 8
"""With fewer literals, a search is faster than splitting and comparing lines."""

_HEX = b"0123456789abcdfABCDF"  # without "e", because few words have none
_MASK = bytes.maketrans(_HEX, b"a" * len(_HEX))
"""Makes lines equal that differ in numbers, hexadecimal ones, too; literals are masked in the same way."""

KNOWN_LINES = 50_000  # kept as having none of the literals, over all blocks
KNOWN_BYTES = 300  # of such a line; longer ones rarely repeat
RARE = 2
"""A shape that occurs more often than this is not rare."""

SHAPE_BYTES = 160  # of a line; what tells messages apart comes early
MOST_RARE = 10_000  # shapes; a stream with more of them has no rare ones, but is made of them
WORTHWHILE = 0.7  # if more of a block's lines must be searched, the next blocks are searched whole
SKIPPED_BLOCKS = 16


class Prefilter:
    """Filters a stream block by block.

    Attributes:
        rare: after the last line, by shape: the line's number, and how many lines have that shape, at most RARE. None
            if too many lines differ, so that none is an exception.
    """

    def __init__(self, stems: Sequence[bytes], literals: Sequence[bytes]) -> None:
        """Take the literals.

        Args:
            stems: lower-case literals that match in any case.
            literals: literals that match as they are.
        """
        self._stems = stems
        self._literals = literals
        self._masked = _masked(stems), _masked(literals)
        self._known: set[bytes] = set()
        self._skips = 0
        self.rare: dict[bytes, tuple[int, int]] | None = {}
        self._common: set[bytes] = set()

    def lines(self, blocks: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """Yield (number, line) of all lines with one of the literals, in order, without colours.

        Args:
            blocks: (number of the first line, whole lines), from a source.
        """
        count = len(self._stems) + len(self._literals)
        for first, block in blocks if count else ():
            block = without_colour(block)
            if self._skips or count <= FEW:
                self.rare = None
                self._skips -= bool(self._skips)
                yield from _numbered(first, block, _found(block, self._stems, self._literals))
            else:
                yield from self._exact(self._sifted(first, block))

    def _sifted(self, first: int, block: bytes) -> list[tuple[int, bytes]]:
        """Return (number, line) of the lines that have, masked, one of the literals."""
        lines = block.translate(_MASK).split(b"\n")
        there = set(lines)
        unknown = there - self._known
        text = b"\n".join(unknown)
        held = {text[start:end] for start, end in _found(text, *self._masked)}
        if len(self._known) > KNOWN_LINES:
            self._known.clear()
            self.rare = None
        self._known.update(line for line in unknown - held if len(line) <= KNOWN_BYTES)
        sought = held | self._uncounted(there, unknown)
        met = [(at, line) for at, line in enumerate(lines) if line in sought] if sought else []
        places = [at for at, line in met if line in held] if held else []
        self._count(first, met)
        if max(len(unknown), len(places)) > WORTHWHILE * len(lines):
            self._skips = SKIPPED_BLOCKS
        own = block.split(b"\n") if places else []
        return [(first + at, own[at]) for at in places]

    def _uncounted(self, there: set[bytes], unknown: set[bytes]) -> set[bytes]:
        """Return those of a block's lines whose shapes may be rare; most are known, and were not."""
        return set() if self.rare is None else (there & self.rare.keys()) | (unknown - self._common)

    def _count(self, first: int, lines: list[tuple[int, bytes]]) -> None:
        """Take the shapes of some lines of a block into account."""
        if self.rare is None:
            return
        for at, line in lines:
            shape = line[:SHAPE_BYTES]
            if shape in self._common:
                continue
            place, count = self.rare.get(shape, (first + at, 0))
            if count < RARE:
                self.rare[shape] = place, count + 1
            else:
                del self.rare[shape]
                self._common |= {line, shape}
        if len(self.rare) > MOST_RARE or len(self._common) > KNOWN_LINES:
            self.rare = None

    def _exact(self, lines: list[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """Yield those of some lines that have a literal unmasked."""
        text = b"\n".join([line for _, line in lines])
        for at, _ in _numbered(0, text, _found(text, self._stems, self._literals) if lines else []):
            yield lines[at]


def _masked(wanted: Sequence[bytes]) -> list[bytes]:
    return sorted({one.translate(_MASK) for one in wanted})


def _found(block: bytes, stems: Sequence[bytes], literals: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return (start, end) of the lines of a block that have a stem in any case, or a literal, in order."""
    ends: dict[int, int] = {}
    ascii_only = block.isascii()
    for text, wanted in ((block.lower() if stems else b"", stems), (block, literals)):
        for literal in wanted:
            if ascii_only and not literal.isascii():
                continue
            position = text.find(literal)
            while position >= 0:
                start = text.rfind(b"\n", 0, position) + 1
                end = text.find(b"\n", position)
                end = len(text) if end < 0 else end
                ends[start] = end
                position = text.find(literal, end)
    return sorted(ends.items())


def _numbered(first: int, block: bytes, spans: list[tuple[int, int]]) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) of some lines of a block, given its first line's number."""
    number, counted = first, 0
    for start, end in spans:
        number += block.count(b"\n", counted, start)
        counted = start
        yield number, block[start:end]
