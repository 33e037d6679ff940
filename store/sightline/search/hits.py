"""Finds where a pattern matches, for stepping from hit to hit: as bytes, as they are found, and from any place on.

For a reply, `line_search.search` counts and numbers lines.
"""

import sys
import threading
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate

from sightline.light.named_tuple import NamedTuple
from sightline.search.engine import ENGINES, NO_MATCH, SearchPattern, WantedAnswer, engine_of, look, opened
from sightline.search.errors import SearchFailed
from sightline.search.processes import Cancel, fed

KEPT_HITS = 1 << 17
"""Offsets kept of one scan, 1 MiB. Of more hits, every second, fourth … is kept, and those between are found again."""


class _Enough(Exception):
    """Everything that was wanted has been found."""


def scan(
    path: str,
    pattern: SearchPattern,
    take: Callable[[list[bytes]], bool],
    *,
    offset: int = 0,
    first: int = sys.maxsize,
    matches: bool = False,
    cancel: Cancel | None = None,
    engines: Sequence[str] = ENGINES,
) -> None:
    """Pass on where matching lines begin, in order, as they are found; see `offset_in`.

    Args:
        path: path of the stream's file; an empty stream may have none.
        pattern: the pattern.
        take: gets some hits at a time, and returns whether it wants more.
        offset: where to begin, at the start of a line; the places of hits are counted from there.
        first: number of hits wanted.
        matches: whether each match is wanted instead of each line.
        cancel: cancels it from another thread.
        engines: the engines that may be used.

    Raises:
        SearchFailed: there is no engine, or it failed. Cancelled: ``cancel`` was used.
    """
    wanted = WantedAnswer("places" if matches else "offsets", first)
    reader = _Heads(take)
    with opened(path, offset) as stdin:
        try:
            code = look(stdin, pattern, wanted, reader.feed, engine=engine_of(engines), cancel=cancel).exit_code
            reader.end()
        except _Enough:
            return
    if code > NO_MATCH:
        raise SearchFailed("the search broke off", "try a simpler pattern")


def offset_in(head: bytes) -> int:
    """Return where a hit is, counted from where the scan began."""
    return int(head[: head.index(b":")])


class _Heads:
    """Cuts what an engine prints into hits, and drops the text after the colon, however long."""

    def __init__(self, take: Callable[[list[bytes]], bool]) -> None:
        self._take = take
        self._rest = b""

    def feed(self, data: bytes) -> None:
        heads = (self._rest + data).split(b"\n")
        self._rest = heads.pop()
        if (colon := self._rest.find(b":")) >= 0:
            self._rest = self._rest[: colon + 1]
        if heads and not self._take(heads):
            raise _Enough

    def end(self) -> None:
        if self._rest and not self._take([self._rest]):
            raise _Enough


def places_in(
    texts: Sequence[str], pattern: SearchPattern, *, engines: Sequence[str] = ENGINES
) -> list[list[tuple[int, int]]]:
    """Return where a pattern matches in each of some lines: (start, end) in characters.

    Raises:
        SearchFailed: there is no engine.
    """
    data = [text.encode("utf-8", "replace") for text in texts]
    starts = list(accumulate((len(line) + 1 for line in data), initial=0))
    found: list[list[tuple[int, int]]] = [[] for _ in texts]
    answer = bytearray()
    with fed(b"\n".join(data)) as stdin:
        look(stdin, pattern, WantedAnswer("matches"), answer.extend, engine=engine_of(engines))
    for hit in bytes(answer).split(b"\n"):
        number, _, rest = hit.partition(b":")
        offset, _, match = rest.partition(b":")
        if number and match:
            line = int(number) - 1
            start = len(data[line][: int(offset) - starts[line]].decode("utf-8", "replace"))
            found[line].append((start, start + len(match.decode("utf-8", "replace"))))
    return found


class Hits:
    """Offsets in ascending order, in bounded memory. One thread adds, others read.

    Attributes:
        total: number of all hits.
    """

    def __init__(self, kept: int = KEPT_HITS) -> None:
        self.total = 0
        self._limit = kept
        self._lock = threading.Lock()
        self._stride = 1
        self._kept = array("Q")

    def add(self, base: int, heads: Sequence[bytes], until: int | None = None) -> bool:
        """Take in hits of a scan that began at ``base``, up to an offset; return False once one lies beyond it."""
        inside = len(heads)
        if until is not None and inside and base + offset_in(heads[-1]) >= until:
            inside = bisect_left(heads, until, key=lambda head: base + offset_in(head))
        with self._lock:
            skip = -self.total % self._stride
            self._kept.extend(base + offset_in(head) for head in heads[skip : inside : self._stride])
            self.total += inside
            while len(self._kept) > self._limit:
                self._kept = self._kept[::2]
                self._stride *= 2
        return inside == len(heads)

    @property
    def thinned(self) -> bool:
        """Whether there are more than are kept."""
        return self._stride > 1

    @property
    def last(self) -> int:
        """The last one that is kept; -1 if there is none."""
        kept = self._kept
        return kept[-1] if kept else -1

    def around(self, offset: int) -> "Near":
        """Return what is known of the hits next to an offset."""
        with self._lock:
            at = bisect_left(self._kept, offset)
            before = self._kept[at - 1] if at else None
            after = self._kept[at] if at < len(self._kept) else None
            return Near(before, after, min(at * self._stride, self.total))


class Near(NamedTuple):
    """The hits next to an offset; of thinned hits, kept ones, with others between.

    Attributes:
        before: the last one below it; None if there is none.
        after: the first one at it or above; None if there is none.
        rank: number of hits below it; approximate for thinned hits.
    """

    before: int | None
    after: int | None
    rank: int
