"""Groups the failures of a stream into regions of lines, through which a reader steps, and which may be overlooked."""

from collections.abc import Iterable, Iterator

from sightline.light.named_tuple import NamedTuple
from sightline.shape.failure.examination import Examination
from sightline.shape.failure.failure_scan import FailureHit
from sightline.shape.failure.judge import CAUSE, NAME
from sightline.shape.failure.layers import own_layers
from sightline.shape.failure.tool_rules import BlockRule
from sightline.shape.repeated_lines import Span
from sightline.shape.source import Source

LONG_BYTES = 300
"""A longer line is often shown in part, so it is noted which of its bytes tell of the failure."""

MOST_HITS = 20_000
"""Failure lines that are grouped."""


class Region(NamedTuple):
    """Neighbouring lines that tell of one failure.

    Attributes:
        first: its first line, from 1.
        last: its last line, inclusive.
        telling: those of the lines, (first, last), that say that something failed, or why.
        rank: the heaviest rank of its lines (`judge.CAUSE` and so on).
        by_rule: whether a tool's rule matched, not only a general class.
        name: what failed; empty if it does not say.
        place: where it failed, such as ``src/x.py:12``; empty if it does not say.
        logged: whether its lines are such as successes write, too.
        spots: for telling lines over LONG_BYTES, (line, first byte, last byte) of the telling part, bytes from 1.
    """

    first: int
    last: int
    telling: tuple[Span, ...]
    rank: int
    by_rule: bool = False
    name: str = ""
    place: str = ""
    logged: bool = False
    spots: tuple[tuple[int, int, int], ...] = ()


def regions_of(examination: Examination, source: Source) -> tuple[Region, ...]:
    """Return the regions of one of an examination's streams, by their first lines.

    A failure of its own within another's lines, such as a compiler's error within a failed step of a build tool, has a
    region of its own.
    """
    made: list[Region] = []
    around: Region | None = None
    heads: FailureHit | None = None
    for found in examination.failures(source).hits[:MOST_HITS]:
        hit = examination.titled(found, source, deep=False)
        if around is None or heads is None or hit.line > around.last:
            around, heads = _region(hit, source, examination), hit
            made.append(around)
        elif not _stands_alone(hit, heads):
            made[-1] = _with(made[-1], hit, source, examination)
        elif isinstance(heads.verdict.sort, BlockRule):
            made.append(_region(hit, source, examination))
        else:
            made[-1] = _before(made[-1], hit.line)
            around, heads = _region(hit, source, examination), hit
            made.append(around)
    return tuple(made)


def _stands_alone(hit: FailureHit, heads: FailureHit) -> bool:
    """Return whether a failure line in the region of another one is a failure of its own."""
    verdict, head = hit.verdict, heads.verdict
    if isinstance(head.sort, BlockRule):
        return verdict.rank == CAUSE and verdict.rule is not head.rule and bool(verdict.place)
    if verdict.rule or head.rule:
        return verdict.rank in (CAUSE, NAME)
    return verdict.rank == head.rank


def _before(region: Region, line: int) -> Region:
    """Return a region cut off before a line."""
    telling = tuple((first, min(last, line - 1)) for first, last in region.telling if first < line)
    spots = tuple(one for one in region.spots if one[0] < line)
    return region._replace(last=min(region.last, line - 1), telling=telling, spots=spots)


def _region(hit: FailureHit, source: Source, examination: Examination) -> Region:
    layers = own_layers(hit, source, examination.judge)
    is_block = isinstance(hit.verdict.sort, BlockRule)
    extent = [span for span in layers[-1 if is_block else 0] if span[1] >= hit.line]
    core = layers[0] if not is_block or len(layers) > 1 else ()
    telling = tuple((max(first, hit.line), last) for first, last in core if last >= hit.line)
    verdict = hit.verdict
    return Region(
        hit.line,
        max((last for _, last in extent), default=hit.line),
        telling or ((hit.line, hit.line),),
        verdict.rank,
        verdict.rule is not None,
        verdict.name,
        verdict.place,
        bool(verdict.sort and verdict.sort.logged),
        tuple(_spots(telling or ((hit.line, hit.line),), source, examination)),
    )


def _spots(telling: Iterable[Span], source: Source, examination: Examination) -> Iterator[tuple[int, int, int]]:
    for first, last in telling:
        for line in source.lines(first, last):
            if line.length > LONG_BYTES and (span := examination.judge.telling_bytes(line.data, line.length)):
                yield line.number, *span


def _with(region: Region, hit: FailureHit, source: Source, examination: Examination) -> Region:
    """Return the region with one more failure line in it."""
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
        logged=region.logged and bool(verdict.sort and verdict.sort.logged),
    )
