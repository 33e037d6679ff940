"""Holds only where overlooked failures begin: their texts and ranges take far more memory, and are read on need."""

from array import array
from collections.abc import Iterable, Sequence
from itertools import islice

from sightline.audit.buffer_failures import Failure, Overlooked, number_told, overlooked
from sightline.named_tuple import NamedTuple
from sightline.records import Buffer
from sightline.store import Reading


class OverlookedPlaces(NamedTuple):
    """The failures of one buffer that stood in no view, in order.

    Attributes:
        buffer: the buffer.
        streams: the stream in which each begins.
        lines: the first line of each that tells of it, from 1.
        at_least: whether one of them stands for all from a line on, since these were too many to tell apart.
    """

    buffer: Buffer
    streams: tuple[str, ...]
    lines: "array[int]"
    at_least: bool

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.lines)

    def number_of(self, place: tuple[str, int]) -> int:
        """Return the number of the failure that begins at a (stream, line), from 1; 0 if none does."""
        return next((at for at, known in enumerate(zip(self.streams, self.lines, strict=True), 1) if known == place), 0)


def places_of(buffer: Buffer, failures: Iterable[Failure]) -> OverlookedPlaces:
    """Return where some failures of a buffer begin."""
    found = list(failures)
    firsts = [one.places[0] for one in found]
    lines = array("Q", [place.telling[0][0] for place in firsts])
    return OverlookedPlaces(buffer, tuple(place.stream for place in firsts), lines, any(one.is_rest for one in found))


def number_in(outputs: Iterable[OverlookedPlaces]) -> int:
    """Return the number of failures in some outputs."""
    return sum(one.number for one in outputs)


def told_in(outputs: Sequence[OverlookedPlaces]) -> str:
    """Write the number of failures in some outputs: ``1 failure``, or ``at least 20,001 failures``."""
    return number_told(number_in(outputs), at_least=any(one.at_least for one in outputs))


def place_at(outputs: Sequence[OverlookedPlaces], number: int) -> tuple[Buffer, str, int]:
    """Return buffer, stream and line of a failure, by its number among those of all outputs, from 1."""
    for one in outputs:
        if number <= one.number:
            return one.buffer, one.streams[number - 1], one.lines[number - 1]
        number -= one.number
    raise IndexError(number)


def first_overlooked(store: Reading, outputs: Iterable[OverlookedPlaces], most: int) -> list[Overlooked]:
    """Read the first of the failures in some outputs again, with their texts. Those seen meanwhile are left out."""
    return list(islice((found for one in outputs for found in overlooked(store, [one.buffer])), most))
