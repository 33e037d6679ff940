"""Puts transcripts in the order in which they are read: the newest first, but a copied one after its origin.

Forked, resumed and spawned sessions begin with the calls of others, which belong to the session that made them.
"""

from collections.abc import Iterable
from itertools import pairwise

from sightline.harnesses.formats import TranscriptSource, lineage_of


def reading_order(sources: Iterable[TranscriptSource]) -> list[TranscriptSource]:
    """Return transcripts, newest first, but each after those whose history it may repeat.

    Of those that share a beginning, and do not say which copied it, the smallest was copied.
    """
    newest = sorted(sources, key=lambda source: source.written, reverse=True)
    of_session, of_beginning = dict[tuple[str, str], list[int]](), dict[tuple[str, str], list[int]]()
    parents = list[list[tuple[str, str]]]()
    for place, source in enumerate(newest):
        found = lineage_of(source)
        parents.append([(found[0].name, one) for one in found[1].parents] if found else [])
        if found:
            harness, lineage = found[0].name, found[1]
            of_session.setdefault((harness, lineage.session), []).append(place)
            if lineage.beginning:
                of_beginning.setdefault((harness, lineage.beginning), []).append(place)
    before = [[other for key in keys for other in of_session.get(key, ())] for keys in parents]
    for group in of_beginning.values():
        by_size = sorted(group, key=lambda place: newest[place].size)
        for smaller, larger in pairwise(by_size):
            if smaller not in before[larger] and larger not in before[smaller]:
                before[larger].append(smaller)
    return [newest[place] for place in _after(before)]


def _after(before: list[list[int]]) -> list[int]:
    """Return places in order, each behind those before it; circles, which no harness makes, are cut somewhere."""
    ordered, met = list[int](), set[int]()
    for start in range(len(before)):
        stack = [(start, False)]
        while stack:
            place, is_next = stack.pop()
            if is_next:
                ordered.append(place)
            elif place not in met:
                met.add(place)
                stack.append((place, True))
                stack += ((one, False) for one in reversed(before[place]))
    return ordered
