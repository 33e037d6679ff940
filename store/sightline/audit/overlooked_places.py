"""Holds only where overlooked failures begin, in 4 bytes each: all else takes far more, and is read on need."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import islice
from operator import itemgetter

from sightline.audit.buffer_failures import Failure, Overlooked, overlooked
from sightline.audit.output_facts import UNSEEN, output_rules
from sightline.base.project import ALL, Scope
from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading


class OverlookedPlaces(NamedTuple):
    """The failures of one buffer that stood in no view, in order.

    Attributes:
        buffer: the buffer.
        runs: (number of the first, from 1, and stream) of failures one after another that begin in one stream.
        lines: the first line of each failure that tells of it, from 1.
        at_least: whether one of them stands for all from a line on, since these were too many to tell apart.
    """

    buffer: Buffer
    runs: tuple[tuple[int, str], ...]
    lines: "array[int]"
    at_least: bool

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.lines)

    def place(self, number: int) -> tuple[str, int]:
        """Return the (stream, line) at which a failure begins, by its number from 1."""
        return self.runs[bisect_right(self.runs, number, key=itemgetter(0)) - 1][1], self.lines[number - 1]

    def number_of(self, place: tuple[str, int]) -> int:
        """Return the number of the failure that begins at a (stream, line), from 1; 0 if none does."""
        at_line = (at for at, line in enumerate(self.lines, 1) if line == place[1])
        return next((at for at in at_line if self.place(at) == place), 0)


def places_of(buffer: Buffer, failures: Iterable[Failure]) -> OverlookedPlaces:
    """Return where some failures of a buffer begin."""
    found = list(failures)
    firsts = [one.places[0] for one in found]
    runs = tuple(
        (at, place.stream)
        for at, (before, place) in enumerate(zip((None, *firsts), firsts, strict=False), 1)
        if before is None or place.stream != before.stream
    )
    lines = [place.telling[0][0] for place in firsts]
    width = "I" if max(lines, default=0) < 1 << 32 else "Q"
    return OverlookedPlaces(buffer, runs, array(width, lines), any(one.is_rest for one in found))


class MissedOutput(NamedTuple):
    """An output with failures that stood in no view, and how many these are."""

    name: str
    number: int


def missed_in(store: Reading, scope: Scope = ALL) -> tuple[MissedOutput, ...]:
    """Return the outputs of a scope with such failures, as far as they are judged, the last used one first."""
    found = store.index.with_flags(output_rules(store), UNSEEN, scope, order=_LAST_USED)
    return tuple(MissedOutput(name, facts.unseen) for name, facts in found)


_LAST_USED = "(SELECT used FROM buffers WHERE name = buffer) DESC"


def number_in(outputs: Iterable[MissedOutput]) -> int:
    """Return the number of failures in some outputs."""
    return sum(one.number for one in outputs)


def places_in(store: Reading, name: str) -> OverlookedPlaces | None:
    """Return where the failures of an output begin that stood in no view; None if it is gone."""
    buffer = store.index.buffer(name)
    return places_of(buffer, (one.failure for one in overlooked(store, [buffer]))) if buffer else None


def place_at(store: Reading, outputs: Sequence[MissedOutput], number: int) -> tuple[Buffer, str, int] | None:
    """Return buffer, stream and line of a failure, by its number among those of all outputs, from 1.

    It is None for one that was seen, or removed, meanwhile.
    """
    for one in outputs:
        if number <= one.number:
            found = places_in(store, one.name)
            return (found.buffer, *found.place(number)) if found and number <= found.number else None
        number -= one.number
    return None


def first_overlooked(store: Reading, outputs: Iterable[MissedOutput], most: int) -> list[Overlooked]:
    """Return the first of the failures in some outputs, with their texts. Those seen meanwhile are left out."""
    buffers = (buffer for one in outputs if (buffer := store.index.buffer(one.name)))
    return list(islice((found for buffer in buffers for found in overlooked(store, [buffer])), most))
