"""The failures of a stream as regions of lines, in order: what one steps through, and what may have been overlooked."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sightline.store.shape.failure.examine import Examination
from sightline.store.shape.failure.failures import Hit
from sightline.store.shape.failure.findings import layers_of
from sightline.store.shape.failure.tool_rules import Block
from sightline.store.shape.runs import Span
from sightline.store.shape.source import Source

LONG_BYTES = 300
"""A longer line is often shown in part: of such it is known which bytes tell of the failure."""

MOST_HITS = 5000
"""Failure lines that are looked at: of a flood of one kind only the first and the last are known anyway."""


class Region(NamedTuple):
    """Neighbouring lines that tell of one failure.

    Attributes:
        first: its first line, 1-based.
        last: its last line, inclusive.
        telling: the lines among them, (first, last), of which each says that it failed, or why.
        rank: the least of its lines' ranks: what counts most (`judge.CAUSE` and so on).
        by_rule: whether a tool's rule knows it, not only a general class.
        name: what failed, empty where it does not say.
        place: where, such as ``src/x.py:12``; likewise.
        spots: of its telling lines over LONG_BYTES, (line, first byte, last byte) of what tells, bytes from 1.
    """

    first: int
    last: int
    telling: tuple[Span, ...]
    rank: int
    by_rule: bool = False
    name: str = ""
    place: str = ""
    spots: tuple[tuple[int, int, int], ...] = ()


def regions_of(examination: Examination, source: Source) -> tuple[Region, ...]:
    """The regions of one of an examination's streams, ascending; they do not overlap."""
    made: list[Region] = []
    for found in examination.failures(source).hits[:MOST_HITS]:
        hit = examination.titled(found, source, deep=False)
        if made and hit.line <= made[-1].last:
            made[-1] = _with(made[-1], hit, source, examination)
        else:
            made.append(_region(hit, source, examination))
    return tuple(made)


def _region(hit: Hit, source: Source, examination: Examination) -> Region:
    layers = layers_of(hit, source, examination.judge)
    is_block = isinstance(hit.verdict.sort, Block)
    extent = [span for span in layers[-1 if is_block else 0] if span[1] >= hit.line]
    telling = tuple(span for span in layers[0] if span[1] >= hit.line) if not is_block or len(layers) > 1 else ()
    verdict = hit.verdict
    return Region(
        hit.line,
        max((last for _, last in extent), default=hit.line),
        telling or ((hit.line, hit.line),),
        verdict.rank,
        verdict.rule is not None,
        verdict.name,
        verdict.place,
        tuple(_spots(telling or ((hit.line, hit.line),), source, examination)),
    )


def _spots(telling: Iterable[Span], source: Source, examination: Examination) -> Iterator[tuple[int, int, int]]:
    for first, last in telling:
        for line in source.lines(first, last):
            if line.length > LONG_BYTES and (span := examination.judge.telling_bytes(line.data)):
                yield line.number, *span


def _with(region: Region, hit: Hit, source: Source, examination: Examination) -> Region:
    """The region with one more failure line that stands in it."""
    verdict = hit.verdict
    known = any(first <= hit.line <= last for first, last in region.telling)
    spots = () if known else tuple(_spots(((hit.line, hit.line),), source, examination))
    return region._replace(
        telling=region.telling if known else (*region.telling, (hit.line, hit.line)),
        spots=(*region.spots, *spots),
        rank=min(region.rank, verdict.rank),
        by_rule=region.by_rule or verdict.rule is not None,
        name=region.name or verdict.name,
        place=region.place or verdict.place,
    )
