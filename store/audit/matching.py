"""Recognises a stream's lines in a text that a pipeline made of them: by what they read, in order. Pure."""

import re
import shlex
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from sightline.store.audit.spans import Spans, holds, spans_of
from sightline.store.shape.clean import clean_line, without_colour
from sightline.store.shape.source import Source

MOST_LINES = 20_000
"""Lines of a text that are looked for; no reply has more."""

_KEPT_OCCURRENCES = 32  # of a line that occurs often, from either end: which of them it was, nobody can tell
_SCANNED_BYTES = 64 << 20  # of a larger stream only the lines are read that went in, where these are scattered
_COUNTERS = frozenset(("wc", "od", "xxd"))
_COUNTING = re.compile(r"-[a-zA-Z]*[clLq]|--(?:count|quiet|silent|files-with(?:out)?-match(?:es)?)")
_SEARCHERS = frozenset(("grep", "egrep", "fgrep", "rg"))
_SHUFFLERS = frozenset(("sort", "tac", "jq", "join", "comm"))
_NUMBER = re.compile(r"\s*\d+(?:[:\-\t]| +)")  # of grep -n, cat -n, nl and uniq -c
_NAME = re.compile(r"(@[a-z]+_[0-9a-f]+(?:\.\w+)*)[:-]")  # of grep over several refs
_DIFF_MARK = re.compile(r"[-+ ]")


class How(NamedTuple):
    """How a text was made of lines, as far as it bears on finding them.

    Attributes:
        lines: whether lines may have come through at all.
        ordered: whether they kept their order.
        from_end: whether what stands last in the text stood last.
        marked: whether each has a character before it, as a diff's have.
    """

    lines: bool = True
    ordered: bool = True
    from_end: bool = False
    marked: bool = False


def how_made(command: str) -> How:
    """What a command line or a query does to lines, by the names of its programs."""
    try:
        reader = shlex.shlex(command, posix=True, punctuation_chars="|")
        reader.whitespace_split = True
        words = list(reader)
    except ValueError:
        return How()
    stages: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    programs = {stage[0] for stage in stages if stage}
    counts = bool(programs & _COUNTERS) or any(
        stage[0] in _SEARCHERS and any(_COUNTING.fullmatch(word) for word in stage[1:]) for stage in stages if stage
    )
    return How(not counts, not programs & _SHUFFLERS, "tail" in programs, "diff" in programs)


Find = Callable[[frozenset[bytes]], Iterable[tuple[int, bytes]]]
"""Finds whole lines in a stream, however: (number, line) of those that read as one of some texts, ascending."""


def match_lines(text: Sequence[str], source: Source, among: Spans, how: How, find: Find | None = None) -> Spans:
    """The lines of a stream that a text holds, whole, perhaps with a number or a name before them.

    Each line of the text stands for one of the stream at most; empty ones only between two that are found.

    Args:
        text: its lines.
        source: the stream.
        among: the stream's lines that went into it.
        how: what was done to them.
        find: instead of reading the stream here; it need not know escape sequences.
    """
    wanted = _wanted(text[:MOST_LINES], source.ref, how) if how.lines else {}
    if not wanted:
        return ()
    rows = find(frozenset(wanted)) if find else _lines_of(source, among, frozenset(wanted))
    found = _occurrences(rows, among, wanted)
    if not how.ordered:
        return spans_of(_first_come(found))
    if how.from_end:
        found = [(-line, [-place for place in places]) for line, places in reversed(found)]
        pairs = [(-line, -place) for line, place in reversed(_longest_in_order(found))]
    else:
        pairs = _longest_in_order(found)
    return spans_of(_with_blank_lines(pairs, text))


def _wanted(text: Iterable[str], ref: str, how: How) -> dict[bytes, list[int]]:
    """What each line of the text may have been, with the places where it stands."""
    wanted: dict[bytes, list[int]] = {}
    for place, line in enumerate(text):
        for variant in dict.fromkeys(_variants(line, ref, how)):
            if variant.strip():
                wanted.setdefault(variant.encode(errors="surrogateescape"), []).append(place)
    return wanted


def _variants(line: str, ref: str, how: How) -> Iterator[str]:
    named = _NAME.match(line)
    if named:
        if named[1] != ref:
            return
        line = line[named.end() :]
    yield line
    if number := _NUMBER.match(line):
        yield line[number.end() :]
    if how.marked and _DIFF_MARK.match(line):
        yield line[1:]


def _occurrences(
    rows: Iterable[tuple[int, bytes]], among: Spans, wanted: dict[bytes, list[int]]
) -> list[tuple[int, list[int]]]:
    """(line, places in the text) of lines that are wanted, ascending; of frequent ones the outer."""
    found: dict[bytes, list[int]] = {}
    for number, line in rows:
        if line in wanted and holds(among, number):
            kept = found.setdefault(line, [])
            kept.append(number)
            if len(kept) > 4 * _KEPT_OCCURRENCES:
                del kept[_KEPT_OCCURRENCES:-_KEPT_OCCURRENCES]
    return sorted((number, wanted[line]) for line, numbers in found.items() for number in numbers)


def _lines_of(source: Source, among: Spans, sought: frozenset[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines of a stream that are sought, from the first that went in to the last."""
    if not among:
        return
    if len(among) > 1 and source.byte_count > _SCANNED_BYTES:
        for first, last in among:
            for line in source.lines(first, last):
                yield line.number, clean_line(line.data).encode()
        return
    end = among[-1][1]
    for first, block in source.blocks(among[0][0]):
        lines = _cleaned_lines(block)
        if here := sought.intersection(lines):
            yield from ((first + at, line) for at, line in enumerate(lines) if line in here)
        if first + len(lines) > end:
            return


def _cleaned_lines(block: bytes) -> list[bytes]:
    if b"\x1b" in block:
        block = without_colour(block)
    lines = block.removesuffix(b"\n").split(b"\n")
    if b"\r" in block or b"\x1b" in block or b"\x08" in block:
        lines = [clean_line(line).encode() for line in lines]
    return lines


def _first_come(found: Iterable[tuple[int, list[int]]]) -> Iterator[tuple[int, int]]:
    taken: set[int] = set()
    for line, places in found:
        free = next((place for place in places if place not in taken), None)
        if free is not None:
            taken.add(free)
            yield line, line


def _longest_in_order(found: Iterable[tuple[int, list[int]]]) -> list[tuple[int, int]]:
    """The most (line, place) pairs that ascend in both, by Hunt and Szymanski's method."""
    ends: list[int] = []
    chains: list[tuple[int, int, object]] = []
    for line, places in found:
        for place in sorted(places, reverse=True):
            at = bisect_left(ends, place)
            if at < len(ends) and ends[at] == place:
                continue  # the earlier line that reads so will do
            link = (line, place, chains[at - 1] if at else None)
            if at == len(ends):
                ends.append(place)
                chains.append(link)
            else:
                ends[at], chains[at] = place, link
    pairs: list[tuple[int, int]] = []
    node: object = chains[-1] if chains else None
    while isinstance(node, tuple):
        line, place, node = node
        pairs.append((line, place))
    return pairs[::-1]


def _with_blank_lines(pairs: Sequence[tuple[int, int]], text: Sequence[str]) -> Iterator[tuple[int, int]]:
    before: tuple[int, int] | None = None
    for line, place in pairs:
        if before and line - before[0] == place - before[1] and not any(map(str.strip, text[before[1] + 1 : place])):
            yield before[0], line
        else:
            yield line, line
        before = (line, place)
