"""Leads through the failures that stood in no reply, output by output: where each begins, and how many there are."""

from collections.abc import Iterable, Sequence
from itertools import islice

from sightline.audit.buffer_failures import Overlooked, overlooked
from sightline.audit.output_facts import UNSEEN, output_rules
from sightline.base.project import ALL, Scope
from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading


class OverlookedPlaces(NamedTuple):
    """The failures of one output that stood in no reply.

    Attributes:
        buffer: the output.
        places: the (stream, line) at which each begins to tell of it, in order.
    """

    buffer: Buffer
    places: tuple[tuple[str, int], ...]

    def number_of(self, place: tuple[str, int]) -> int:
        """Return the number of the failure that begins at a place, from 1; 0 if none does."""
        return self.places.index(place) + 1 if place in self.places else 0


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
    if buffer is None:
        return None
    firsts = (one.failure.places[0] for one in overlooked(store, [buffer]))
    return OverlookedPlaces(buffer, tuple((first.stream, first.telling[0][0]) for first in firsts))


def place_at(store: Reading, outputs: Sequence[MissedOutput], number: int) -> tuple[Buffer, str, int] | None:
    """Return buffer, stream and line of a failure, by its number among those of all outputs, from 1.

    It is None for one that was seen, or removed, meanwhile.
    """
    for one in outputs:
        if number <= one.number:
            found = places_in(store, one.name)
            return (found.buffer, *found.places[number - 1]) if found and number <= len(found.places) else None
        number -= one.number
    return None


def first_overlooked(store: Reading, outputs: Iterable[MissedOutput], most: int) -> list[Overlooked]:
    """Return the first of the failures in some outputs, with their texts. Those seen meanwhile are left out."""
    buffers = (buffer for one in outputs if (buffer := store.index.buffer(one.name)))
    return list(islice((found for buffer in buffers for found in overlooked(store, [buffer])), most))
