"""Finds the lines of a stream that are worth judging: those that hold one of some literals.

What a large output says, it says again and again but for its numbers. Of lines that differ in their numbers alone one
is searched, so that most of a long log is only split and looked up, which is several times as fast.
"""

from collections.abc import Iterable, Iterator, Sequence

from sightline.shape.clean import without_colour

NUMBERS = bytes.maketrans(b"23456789", b"11555555")
"""Makes lines equal that differ in their numbers; "0 errors" is another thing than many, and so is a status of 500."""

FEW = 8
"""So many literals are found sooner than lines are split and compared."""

_HEX = b"0123456789abcdfABCDF"  # but for "e", without which hardly a word would be left
_MASK = bytes.maketrans(_HEX, b"a" * len(_HEX))
"""Makes lines equal that differ in their numbers, also in hexadecimal ones. What is looked for is masked likewise."""

KNOWN_LINES = 50_000  # remembered as holding none of the literals, of all blocks so far
KNOWN_BYTES = 300  # of such a line at most; longer ones are rarely the same
WORTHWHILE = 0.7  # share of a block's lines that must be searched even so, above which the next ones are searched whole
SKIPPED_BLOCKS = 16


class Sieve:
    """Takes a stream block by block."""

    def __init__(self, stems: Sequence[bytes], literals: Sequence[bytes]) -> None:
        """Take what is looked for.

        Args:
            stems: lower-case, found in any case.
            literals: found as they are.
        """
        self._stems = stems
        self._literals = literals
        self._masked = _masked(stems), _masked(literals)
        self._known: set[bytes] = set()
        self._skips = 0

    def lines(self, blocks: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """(number, line) of all lines that hold one of the literals, in order, without colours.

        Args:
            blocks: (number of the first line, whole lines), as a source gives them.
        """
        count = len(self._stems) + len(self._literals)
        for first, block in blocks if count else ():
            block = without_colour(block)
            if self._skips or count <= FEW:
                self._skips -= bool(self._skips)
                yield from _numbered(first, block, _found(block, self._stems, self._literals))
            else:
                yield from self._exact(self._sifted(first, block))

    def _sifted(self, first: int, block: bytes) -> list[tuple[int, bytes]]:
        """(number, line) of the lines that hold, masked, what is looked for."""
        lines = block.translate(_MASK).split(b"\n")
        unknown = set(lines) - self._known
        text = b"\n".join(unknown)
        held = {text[start:end] for start, end in _found(text, *self._masked)}
        if len(self._known) > KNOWN_LINES:
            self._known.clear()
        self._known.update(line for line in unknown - held if len(line) <= KNOWN_BYTES)
        places = [at for at, line in enumerate(lines) if line in held] if held else []
        if max(len(unknown), len(places)) > WORTHWHILE * len(lines):
            self._skips = SKIPPED_BLOCKS
        own = block.split(b"\n") if places else []
        return [(first + at, own[at]) for at in places]

    def _exact(self, lines: list[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """Those of some lines that hold, as they are, what is looked for."""
        text = b"\n".join([line for _, line in lines])
        for at, _ in _numbered(0, text, _found(text, self._stems, self._literals) if lines else []):
            yield lines[at]


def _masked(wanted: Sequence[bytes]) -> list[bytes]:
    return sorted({one.translate(_MASK) for one in wanted})


def _found(block: bytes, stems: Sequence[bytes], literals: Sequence[bytes]) -> list[tuple[int, int]]:
    """(start, end) of the lines of a block that hold a stem in any case, or a literal; in order."""
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
    """(number, line) of some lines of a block that begins with a line of some number."""
    number, counted = first, 0
    for start, end in spans:
        number += block.count(b"\n", counted, start)
        counted = start
        yield number, block[start:end]
