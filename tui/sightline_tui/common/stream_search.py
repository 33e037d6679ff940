"""Searches an output of any size: from the place on the screen to the end, then from the start to that place.

`run` works in a thread of its own, and may be asked for hits meanwhile. For each stream it keeps two ascending lists of
offsets without gaps, so the next hit is known long before all hits have been counted.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Protocol

from sightline.light.named_tuple import NamedTuple
from sightline.search.engine import SearchPattern
from sightline.search.hits import Hits, offset_in, scan
from sightline.search.processes import Cancel
from sightline.store import StreamReader

SMALL_BYTES = 1 << 22  # in a smaller stream the first hit is not searched separately


NONE = -1
"""Stands for an offset if there is no hit."""


_SAMPLE_BYTES = 1 << 16  # of a stream, which tell whether it has colours
_COLOURS = "(?:\x1b\\[[0-9;:]*[mK])*"


def through_colours(pattern: SearchPattern) -> SearchPattern:
    """Let a plain text match across changes of colour; leave other patterns as they are."""
    if not pattern.literal:
        return pattern
    letters = (char if char.isalnum() or char in " _" or not char.isascii() else f"\\{char}" for char in pattern.text)
    return SearchPattern(_COLOURS.join(letters), pattern.ignore_case)


class HitStep(NamedTuple):
    """The place of the next hit.

    Attributes:
        number: number of its line; 0 if there is no hit.
        wrapped: whether the search went past the end, or the start, to reach it.
        rank: number of lines with hits up to it; 0 if that is not known.
        exact: whether that number is exact.
    """

    number: int
    wrapped: bool = False
    rank: int = 0
    exact: bool = True


class SearchSource(Protocol):
    """Maps places in streams to numbers, as `sightline_tui.common.output_reader.OutputReader` does."""

    @property
    def line_count(self) -> int:
        """The last number."""

    @property
    def streams(self) -> Sequence[str]:
        """The streams that are searched."""

    def source(self, stream: str) -> StreamReader:
        """Return one of these streams."""

    def offsets(self, number: int) -> dict[str, int]:
        """Return how many bytes of each stream stand before a number."""

    def number_at(self, stream: str, offset: int) -> int:
        """Return the number for a byte of a stream."""

    def close(self) -> None:
        """Close its files."""


class _Stream:
    """What is known of one stream.

    Attributes:
        path: path of its file.
        begin: offset where the search began.
        first: the first hit from there on; NONE if there is none, None while that is not known.
        ahead: hits from there on.
        ahead_done: whether all of those are known.
        behind: hits before that offset.
        behind_done: whether all of those are known.
        scanned: offset up to which the stream has been searched.
    """

    def __init__(self, path: str, begin: int, scanned: int) -> None:
        self.path = path
        self.begin = begin
        self.scanned = scanned
        self.first: int | None = None
        self.ahead, self.behind = Hits(), Hits()
        self.ahead_done = False
        self.behind_done = not begin

    @property
    def total(self) -> int:
        return self.ahead.total + self.behind.total

    @property
    def thinned(self) -> bool:
        return self.ahead.thinned or self.behind.thinned

    def after(self, offset: int) -> int | None:
        """Return the first hit at an offset or above: NONE if there is none, None if that is not known yet."""
        if offset < self.begin:
            hit = self.behind.around(offset).after
            if hit is not None or not self.behind_done:
                return hit
        hit = self.ahead.around(max(offset, self.begin)).after
        if hit is None and offset <= self.begin and self.first is not None:
            return self.first
        return NONE if hit is None and self.ahead_done else hit

    def before(self, offset: int) -> int | None:
        """Return the last hit below an offset, or of thinned hits one close to it; NONE and None as for `after`."""
        if offset > self.begin:
            if not self.ahead_done and self.ahead.last < offset:
                return None
            hit = self.ahead.around(offset).before
            if hit is not None:
                return hit
        below = min(offset, self.begin)
        if not self.behind_done and self.behind.last < below:
            return None
        hit = self.behind.around(below).before
        return NONE if hit is None else hit

    def rank(self, offset: int) -> int:
        """Return the number of hits below an offset."""
        if offset <= self.begin:
            return self.behind.around(offset).rank
        return self.behind.total + self.ahead.around(offset).rank


class StreamSearch:
    """One search for one pattern.

    Attributes:
        pattern: the pattern.
        complete: whether everything has been searched.
    """

    def __init__(
        self,
        pattern: SearchPattern,
        open_it: Callable[[], SearchSource],
        path_of: Callable[[str], str],
        number: int,
        *,
        matches: bool = False,
    ) -> None:
        """Prepare to search.

        Args:
            pattern: the pattern.
            open_it: opens the output, as often as needed.
            path_of: returns the path of a stream's file.
            number: the line from which hits are wanted first.
            matches: whether each match counts, even several in a line, rather than each line.
        """
        self.pattern = self._scanned = pattern
        self.complete = False
        self._open_it = open_it
        self._path_of = path_of
        self._number = number
        self._matches = matches
        self._cancel = Cancel()
        self._streams: dict[str, _Stream] = {}

    @property
    def total(self) -> int:
        """Number of lines with hits found so far."""
        return sum(stream.total for stream in self._streams.values())

    def cancel(self) -> None:
        """End the search."""
        self._cancel.cancel()

    def run(self, tell: Callable[[], None]) -> None:
        """Search everything.

        Args:
            tell: called now and then when more is known.

        Raises:
            Cancelled, SearchFailed, StoreFailed, OSError: the search cannot go on.
        """
        with closing(self._open_it()) as reading:
            offsets = reading.offsets(self._number)
            if not self._matches and any(
                b"\x1b" in reading.source(name).read(0, _SAMPLE_BYTES) for name in reading.streams
            ):
                self._scanned = through_colours(self.pattern)
            streams = {
                name: _Stream(self._path_of(name), offsets[name], source.byte_count)
                for name in reading.streams
                if (source := reading.source(name)).byte_count
            }
        self._streams = streams
        for stream in streams.values():
            if stream.scanned - stream.begin > SMALL_BYTES:
                self._find_first(stream)
        tell()
        for stream in streams.values():
            self._look_ahead(stream, tell)
        for stream in streams.values():
            self._look_behind(stream, tell)
        self.complete = True
        tell()

    def run_on(self, tell: Callable[[], None]) -> None:
        """Search what has been written since. Raises what `run` raises."""
        with closing(self._open_it()) as reading:
            for name in reading.streams:
                source = reading.source(name)
                if name not in self._streams and source.byte_count:
                    self._streams = {**self._streams, name: _Stream(self._path_of(name), 0, 0)}
                stream = self._streams.get(name)
                if stream is not None and source.byte_count > stream.scanned:
                    begin = source.offset_of_line(source.line_at(stream.scanned))  # the last line may have grown
                    stream.scanned = source.byte_count
                    self._scan(stream, stream.ahead, begin, tell)
        tell()

    def _find_first(self, stream: _Stream) -> None:
        stream.first = self._first_from(stream, stream.begin)
        stream.ahead_done = stream.first == NONE

    def _first_from(self, stream: _Stream, offset: int) -> int:
        found: list[int] = []

        def take(heads: list[bytes]) -> bool:
            found.append(offset + offset_in(heads[0]))
            return False

        scan(stream.path, self._scanned, take, offset=offset, first=1, matches=self._matches, cancel=self._cancel)
        return found[0] if found else NONE

    def _last_between(self, stream: _Stream, begin: int, until: int) -> int:
        """Return the last hit at ``begin`` or above that lies below an offset."""
        found = begin

        def take(heads: list[bytes]) -> bool:
            nonlocal found
            for head in heads:
                if begin + offset_in(head) >= until:
                    return False
                found = begin + offset_in(head)
            return True

        scan(stream.path, self._scanned, take, offset=begin, matches=self._matches, cancel=self._cancel)
        return found

    def _look_ahead(self, stream: _Stream, tell: Callable[[], None]) -> None:
        if not stream.ahead_done:
            self._scan(stream, stream.ahead, stream.begin if stream.first is None else stream.first, tell)
        stream.ahead_done = True

    def _look_behind(self, stream: _Stream, tell: Callable[[], None]) -> None:
        if not stream.behind_done:
            self._scan(stream, stream.behind, 0, tell, until=stream.begin)
        stream.behind_done = True

    def _scan(
        self, stream: _Stream, hits: Hits, begin: int, tell: Callable[[], None], *, until: int | None = None
    ) -> None:
        known = hits.last

        def take(heads: list[bytes]) -> bool:
            if begin <= known:
                heads = [head for head in heads if begin + offset_in(head) > known]
            more = hits.add(begin, heads, until)
            tell()
            return more

        scan(stream.path, self._scanned, take, offset=begin, matches=self._matches, cancel=self._cancel)

    # from hit to hit

    def step(self, number: int, *, back: bool = False, here: bool = False) -> HitStep | None:
        """Return the next hit from a line on; None if that is not known yet.

        Args:
            number: number of the line.
            back: whether to go upwards.
            here: whether a hit in that line itself counts.

        Raises:
            Cancelled, SearchFailed, StoreFailed, OSError: the search cannot go on.
        """
        if not self._streams:
            return HitStep(0) if self.complete else None
        with closing(self._open_it()) as reading:
            count = reading.line_count
            if back:
                found = self._last(reading, number) if number > 1 else HitStep(0)
                if found is not None and not found.number and not (self.complete and not self.total):
                    found = self._last(reading, count + 1)
                    return found and found._replace(wrapped=True)
                return found
            found = self._first(reading, number if here else number + 1) if here or number < count else HitStep(0)
            if found is not None and not found.number and not (self.complete and not self.total):
                found = self._first(reading, 1)
                return found and found._replace(wrapped=True)
            return found

    def _first(self, reading: SearchSource, number: int) -> HitStep | None:
        """Return the first hit from a line on."""
        offsets = reading.offsets(number)
        numbers = list[int]()
        for name, stream in self._streams.items():
            hit = self._first_from(stream, offsets[name]) if stream.thinned else stream.after(offsets[name])
            if hit is None:
                return None
            if hit != NONE:
                numbers.append(reading.number_at(name, hit))
        return self._ranked(reading, min(numbers, default=0))

    def _last(self, reading: SearchSource, number: int) -> HitStep | None:
        """Return the last hit above a line."""
        offsets = reading.offsets(number)
        numbers = list[int]()
        for name, stream in self._streams.items():
            hit = stream.before(offsets[name])
            if hit is None:
                return None
            if hit != NONE:
                if stream.thinned:
                    hit = self._last_between(stream, hit, offsets[name])
                numbers.append(reading.number_at(name, hit))
        return self._ranked(reading, max(numbers, default=0))

    def within(self, stream: str, line: int, length: int, offset: int, *, back: bool = False) -> int:
        """Return where the next match in one line stands, in bytes from its start; NONE if there is none.

        Args:
            stream: stream of the line.
            line: its number in the stream.
            length: bytes of the line.
            offset: first byte at which a match counts, from the line's start; upwards, the byte below which it counts.
            back: whether to go upwards.

        Raises:
            Cancelled, SearchFailed, StoreFailed, OSError: the search cannot go on.
        """
        with closing(self._open_it()) as reading:
            begin = reading.source(stream).offset_of_line(line)
        found = NONE

        def take(heads: list[bytes]) -> bool:
            nonlocal found
            for head in heads:
                at = offset_in(head)
                if at >= (offset if back else length):
                    return False
                if back or at >= offset:
                    found = at
                if not back and found != NONE:
                    return False
            return True

        scan(self._path_of(stream), self._scanned, take, offset=begin, matches=True, cancel=self._cancel)
        return found

    def _ranked(self, reading: SearchSource, number: int) -> HitStep:
        if not number or not self.complete:
            return HitStep(number)
        offsets = reading.offsets(number)
        rank = 1 + sum(stream.rank(offsets[name]) for name, stream in self._streams.items())
        return HitStep(number, False, rank, not any(stream.thinned for stream in self._streams.values()))
