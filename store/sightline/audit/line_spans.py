"""Sets of lines as spans: ascending (first, last), 1-based and inclusive, that neither overlap nor touch. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

Span = tuple[int, int]
Spans = tuple[Span, ...]

NONE: Spans = ()


def spans_of(pairs: Iterable[Span]) -> Spans:
    """Return the set of lines in some ranges, given in any order; a backward range is empty."""
    joined: list[Span] = []
    for first, last in sorted(pairs):
        if last < first:
            continue
        if joined and first <= joined[-1][1] + 1:
            if last > joined[-1][1]:
                joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return tuple(joined)


def union(*sets: Spans) -> Spans:
    """Return the lines that are in any of the sets."""
    filled = [one for one in sets if one]
    if len(filled) < 2:
        return filled[0] if filled else NONE
    return spans_of(span for one in filled for span in one)


def common(a: Spans, b: Spans) -> Spans:
    """Return the lines that are in both sets."""
    found: list[Span] = []
    at = other = 0
    while at < len(a) and other < len(b):
        first, last = max(a[at][0], b[other][0]), min(a[at][1], b[other][1])
        if first <= last:
            found.append((first, last))
        if a[at][1] < b[other][1]:
            at += 1
        else:
            other += 1
    return tuple(found)


def minus(a: Spans, b: Spans) -> Spans:
    """Return the lines of the first set that are not in the second."""
    return tuple(_minus(a, b)) if b else a


def _minus(a: Spans, b: Spans) -> Iterator[Span]:
    at = 0
    for first, last in a:
        while at < len(b) and b[at][1] < first:
            at += 1
        here = at
        while here < len(b) and b[here][0] <= last:
            if first < b[here][0]:
                yield first, b[here][0] - 1
            first = b[here][1] + 1
            here += 1
        if first <= last:
            yield first, last


def size(spans: Spans) -> int:
    """Return the number of lines."""
    return sum(last - first + 1 for first, last in spans)


def holds(spans: Spans, line: int) -> bool:
    """Return whether a line is in the set."""
    at = bisect_right(spans, (line, _FAR)) - 1
    return at >= 0 and spans[at][1] >= line


_FAR = 1 << 62


def written(spans: Spans) -> list[str]:
    """Write the set as refs do: ``["1-40", "97"]``."""
    return [str(first) if first == last else f"{first}-{last}" for first, last in spans]
