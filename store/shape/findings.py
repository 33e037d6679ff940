"""What to show for a failure line, from its core outwards: the lines that say why first, the context around them last."""

import re
from collections.abc import Iterable, Sequence

from sightline.store.shape.failures import Failures, Hit
from sightline.store.shape.judge import CAUSE, MINOR, NAME, Judge
from sightline.store.shape.runs import Span
from sightline.store.shape.source import Source
from sightline.store.shape.tool_rules import Block, Failure

Layers = tuple[tuple[Span, ...], ...]
"""Spans of lines for each step outwards; each step is meant to hold the ones before it."""

CONTEXT_LINES = 5
"""Lines shown at most on each side of what looks like an error."""

NEAR_LINES = 2
DETAIL_LINES = 4  # lines after a failure that go with it at once, such as what was expected
PARAGRAPH_LINES = 14
KEY_LINES = 8  # of a block, shown at once
SHORT_BLOCK_LINES = 8  # a block as short as this is shown whole at once
HEADER_LINES = 400  # how far above a line its header is looked for

_DETAIL = re.compile(
    r"^\s*(?:[|^~>+-]|\d+ ?\||at |in |File |-->|=|note|help|hint|caused|reason|because|message"
    r"|(?:expected|actual|received|got|left|right|diff|stdout|stderr|output|where)\b)",
    re.IGNORECASE,
)
_PLACE = re.compile(r"File \".*\", line \d+|[\w/.-]+\.\w{1,6}[:(]\d+")


def in_order(failures: Failures) -> list[Hit]:
    """Hits in the order in which a view should show them.

    What counts more comes first, of the same weight what stands first; what says again what an earlier one of its kind
    said comes the later the more often it was said. Names of what failed are short, and stand among the causes.
    """
    known = any(hit.verdict.rank in (CAUSE, NAME) for hit in failures.hits)

    def place(hit: Hit) -> tuple[float, int]:
        rank = hit.verdict.rank
        if rank == NAME:
            return (0.5 + 0.02 * hit.nth, hit.line)
        if rank == CAUSE:
            return (0.5 * hit.nth, hit.line)
        later = 3 if known else 0
        return (later + 2 * (rank - NAME) + hit.nth, hit.line)

    return sorted(failures.hits, key=place)


def layers_of(hit: Hit, source: Source, judge: Judge) -> Layers:
    """The lines to show for a hit."""
    sort = hit.verdict.sort
    if isinstance(sort, Block):
        return _of_block(hit, sort, source, judge)
    if hit.verdict.rank in (NAME, MINOR) or isinstance(sort, Failure) and sort.under:
        return _of_line(hit, sort, source, judge)
    return _of_region(hit, source, judge)


def _of_line(hit: Hit, sort: Failure | Block | None, source: Source, judge: Judge) -> Layers:
    """The line alone, under its header where it has one."""
    alone = (hit.line, hit.line)
    header = _header(hit, sort, source, judge)
    return (((header, header), alone),) if header else ((alone,),)


def _header(hit: Hit, sort: Failure | Block | None, source: Source, judge: Judge) -> int:
    """The number of the nearest line above that names what a failure line is about; 0 where there is none."""
    if not isinstance(sort, Failure) or not sort.under:
        return 0
    found = 0
    for line in source.lines(max(1, hit.line - HEADER_LINES), hit.line - 1):
        if sort.under.search(judge.text(line.data)):
            found = line.number
    return found


def _of_block(hit: Hit, block: Block, source: Source, judge: Judge) -> Layers:
    texts = _texts(source, judge, hit.line, hit.line + block.lines)
    length = _block_length(texts, block)
    texts = texts[:length]
    last = hit.line + length - 1
    whole = ((hit.line, last),)
    if length <= SHORT_BLOCK_LINES:
        return (whole,)
    if block.key:
        keys = [hit.line + at for at, text in enumerate(texts) if block.key.search(text)]
    else:
        keys = [hit.line + at for at, text in enumerate(texts) if text.strip()]
        keys = [*keys[:5], *keys[-3:]]
    if len(keys) > KEY_LINES:
        keys = [*keys[: KEY_LINES - 2], *keys[-2:]]
    core = _spans([hit.line, *keys])
    near = _spans(
        [hit.line, *(line for key in keys for line in range(max(hit.line, key - NEAR_LINES), min(last, key + NEAR_LINES) + 1))]
    )
    return (core, near, whole)


def _block_length(texts: Sequence[str], block: Block) -> int:
    """How many lines a block has, its first included; up to a blank line where nothing says how it ends."""
    for at, text in enumerate(texts[1:], 1):
        if block.end and block.end.search(text):
            return at
        if block.last and block.last.search(text):
            return at + 1
    if block.end or block.last:
        return len(texts)
    for at, text in enumerate(texts[1:], 1):
        if not text.strip():
            return at
    return len(texts)


def _of_region(hit: Hit, source: Source, judge: Judge) -> Layers:
    """The line and what continues it; its paragraph; some lines around it."""
    first, last = max(1, hit.line - CONTEXT_LINES), hit.line + PARAGRAPH_LINES
    texts = _texts(source, judge, first, last)
    at = hit.line - first
    if at >= len(texts):
        return (((hit.line, hit.line),),)
    depth = _indent(texts[at])
    end = at
    while end + 1 < len(texts) and end - at < DETAIL_LINES and _continues(texts[end + 1], depth):
        end += 1
    begin = at
    if at and _PLACE.search(texts[at - 1]) or at > 1 and _PLACE.search(texts[at - 2]) and texts[at - 1].strip():
        begin = at - 1 if _PLACE.search(texts[at - 1]) else at - 2
    paragraph_end = end
    while paragraph_end + 1 < len(texts) and texts[paragraph_end + 1].strip():
        paragraph_end += 1
    paragraph_begin = begin
    while paragraph_begin and texts[paragraph_begin - 1].strip():
        paragraph_begin -= 1
    count = source.line_count
    around = (first, min(count, hit.line + CONTEXT_LINES))
    near = (max(1, hit.line - NEAR_LINES), min(count, hit.line + NEAR_LINES))
    core = (first + begin, first + end)
    paragraph = (first + paragraph_begin, first + paragraph_end)
    return ((core,), (near,), (paragraph,), (around,))


def _continues(text: str, depth: int) -> bool:
    return bool(text.strip()) and (_indent(text) > depth or bool(_DETAIL.match(text)))


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _texts(source: Source, judge: Judge, first: int, last: int) -> list[str]:
    return [judge.text(line.data) for line in source.lines(first, last)]


def _spans(lines: Iterable[int]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for line in sorted(set(lines)):
        if spans and spans[-1][1] + 1 == line:
            spans[-1] = (spans[-1][0], line)
        else:
            spans.append((line, line))
    return tuple(spans)
