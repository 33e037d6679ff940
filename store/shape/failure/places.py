"""Where the failures stand that a view has no room for: their files and lines, as a compiler or a linter names them."""

import re
from collections.abc import Iterable

from sightline.shape.clean import clean_line
from sightline.shape.failure.failures import Failures, Hit
from sightline.shape.failure.judge import LOCATED, judged_part
from sightline.shape.runs import Span, free_spans
from sightline.shape.source import Source

READ_LINES = 600  # failure lines in which a place is looked for

_PLACE = re.compile(r"([\w.@+~/-]*\w\.[A-Za-z]\w{0,7})(?:[:(]\[?|\", line )(\d+)")
_NEAR_LINES = 2  # below a failure line that names no place, in which one may stand

Places = dict[str, list[int]]
"""The lines of each file, in the order in which they are told of."""


def places_of(source: Source, failures: Failures, shown: Iterable[Span]) -> Places:
    """The places of the failure lines that do not stand in a view, files of which none does first."""
    blocks = list(shown)
    hits = [hit for hit in failures.hits if hit.verdict.rank <= LOCATED]
    hidden = [hit for hit in hits if free_spans(blocks, hit.line, hit.line)]
    lines = {hit.line for hit in hidden}
    seen = {hit.verdict.about for hit in hits if hit.line not in lines}
    found: Places = {}
    later: Places = {}
    for hit in hidden[:READ_LINES]:
        if place := _place(hit, source):
            known = later if hit.verdict.about in seen else found
            known.setdefault(place[0], []).append(place[1])
    return found | {file: lines for file, lines in later.items() if file not in found}


def _place(hit: Hit, source: Source) -> tuple[str, int] | None:
    file, _, line = hit.verdict.place.rpartition(":")
    if file and line.isdecimal():
        return file, int(line)
    for one in source.lines(hit.line, hit.line + (_NEAR_LINES if hit.verdict.sort else 0)):
        if found := _PLACE.search(clean_line(judged_part(one.data))):
            return found[1], int(found[2])
    return None
