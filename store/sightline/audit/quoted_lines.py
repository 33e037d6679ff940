"""Finds the lines of a stream in a text that was made from them, in order, whole or in part. Pure."""

import re
import shlex
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from sightline.audit.line_spans import NONE, Spans, holds, spans_of
from sightline.light.late_pattern import late_pattern
from sightline.light.named_tuple import NamedTuple
from sightline.shape.clean import clean_line, without_colour
from sightline.shape.line_cut import common_head, raw_range
from sightline.shape.source import BLOCK_BYTES, LINE_LIMIT, CutLine, Line, Source

MOST_LINES = 20_000
"""Lines of a text that are searched; no reply has more."""

_KEPT_OCCURRENCES = 32  # places kept of a frequent line, from either end, since which one it was is unknown
SCANNED_BYTES = 64 << 20  # of a larger stream only the lines that went in are read
_COUNTERS = frozenset(("wc", "od", "xxd"))
_COUNTING = late_pattern(r"-[a-zA-Z]*[clLq]|--(?:count|quiet|silent|files-with(?:out)?-match(?:es)?)")
_SEARCHERS = frozenset(("grep", "egrep", "fgrep", "rg"))
_SHUFFLERS = frozenset(("sort", "tac", "jq", "join", "comm"))
# Prefixes of grep -n, cat -n, nl, uniq -c, and of harnesses' file tools; a literal arrow would cost 2 ms.
_NUMBER = late_pattern(r"\s*\d+(?:[:\-\t]|→|\| ?| +)")
_LONG_BYTES = 1_000  # harnesses cut only longer lines of a file
_NAME = late_pattern(r"(@[a-z]+_[0-9a-f]+(?:\.\w+)*)[:-]")  # prefix of grep on several refs
_DIFF_MARK = late_pattern(r"[-+ ]")


class How(NamedTuple):
    """What is known of the way from lines to a text.

    Attributes:
        lines: whether whole lines may have come through at all.
        ordered: whether they kept their order.
        from_end: whether the end of the text is the end of the stream.
        marked: whether each line has a character before it, as in a diff.
        straight: whether the text is the stream itself but for a few cuts, so that lines stand beside their neighbours.
    """

    lines: bool = True
    ordered: bool = True
    from_end: bool = False
    marked: bool = False
    straight: bool = False


def how_made(command: str) -> How:
    """Judge a command line or a query by the names of its programs."""
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
"""Finds whole lines in a stream: (number, line) of those that equal one of some texts, ascending."""


class Matched(NamedTuple):
    """The lines of a stream that a text has.

    Attributes:
        lines: lines that it has whole.
        cuts: lines of which it has the beginning or the end, next to a line that it has.
    """

    lines: Spans = NONE
    cuts: tuple[CutLine, ...] = ()


def match_lines(text: Sequence[str], source: Source, among: Spans, how: How, find: Find | None = None) -> Spans:
    """Return the lines of a stream that a text has whole, perhaps after a number or a name.

    Each line of the text stands for at most one of the stream; an empty one only next to one that is found: between
    two, or with a number.

    Args:
        text: lines of the text; those that are empty but for a number count as empty.
        source: the stream.
        among: lines of the stream that went into the text.
        how: what was done to them.
        find: finds lines without reading the stream here; it may ignore escape sequences.
    """
    found = _found(text, source, among, how, find)
    if not how.ordered:
        return spans_of(_first_come(found))
    return spans_of(_with_blank_lines(_in_order(found, how), text, source, _lone_numbers(text)))


def has_long_lines(content: bytes, text: str) -> bool:
    """Return whether a text with all lines of a file has the long ones whole, which some harnesses cut."""
    if len(content) <= _LONG_BYTES:
        return True
    shown = text.encode(errors="surrogateescape")
    return all(line in shown for line in content.split(b"\n") if len(line) > _LONG_BYTES)


def match_parts(text: Sequence[str], source: Source, how: How) -> Matched:
    """Return the lines of a whole stream that a text has whole, and those of which it has one end.

    A cut line is recognised by its place: next to one that the text has whole, or at the text's own beginning or
    end.
    """
    among: Spans = ((1, source.line_count),) if source.line_count else ()
    if not how.lines or not how.ordered:
        return Matched(match_lines(text, source, among, how))
    found = _found(text, source, among, how, None)
    pairs, lone = _in_order(found, how), _lone_numbers(text)
    if how.straight and (alone := _alone(pairs, text, lone)):
        pairs = _in_order([(line, [place for place in places if place not in alone]) for line, places in found], how)
    lines = spans_of(_with_blank_lines(pairs, text, source, lone))
    return Matched(lines, tuple(_cuts(text, source, lines, pairs, how)))


def _alone(pairs: Sequence[tuple[int, int]], text: Sequence[str], blank: Container[int]) -> set[int]:
    """Return the places of lines that were found apart from all their neighbours in the text.

    A cut within a line leaves a fragment, which may be like a whole line elsewhere. Left out are short lines, and those
    whose neighbour was found in another place.
    """
    lines = {place: line for line, place in pairs}
    written = [place for place, line in enumerate(text) if place in lines or (line.strip() and place not in blank)]
    order = {place: at for at, place in enumerate(written)}
    alone = set[int]()
    for place, line in lines.items():
        at = order[place]
        beside = [written[near] for near in (at - 1, at + 1) if 0 <= near < len(written)]
        known = [lines[near] - near for near in beside if near in lines]
        if line - place in known or len(pairs) == 1:
            continue
        if known or len(text[place].encode(errors="surrogateescape")) < _CUT_BYTES:
            alone.add(place)
    return alone


def _found(
    text: Sequence[str], source: Source, among: Spans, how: How, find: Find | None
) -> list[tuple[int, list[int]]]:
    """Return (line, places in the text) for the lines that may stand in it, ascending.

    A prefix counts as a number or a name only if the line does not occur with it: the rest may be like any
    line's.
    """
    whole, parts = _wanted(text[:MOST_LINES], source.ref, how) if how.lines else ({}, {})
    if not whole and not parts:
        return []
    if find is None:
        numbers = _occurrences(_lines_of(source, among, frozenset((*whole, *parts))), among)
    else:
        numbers = _occurrences(find(frozenset(whole)), among) if whole else {}
        shown = _places(whole, numbers)
        if rest := frozenset(part for part, places in parts.items() if not shown.issuperset(places)):
            numbers |= _occurrences(find(rest), among)
    shown = _places(whole, numbers)
    found = dict[int, list[int]]()
    for line, occurrences in numbers.items():
        places = sorted({*whole.get(line, ()), *(place for place in parts.get(line, ()) if place not in shown)})
        found.update((number, places) for number in occurrences if places)
    return sorted(found.items())


def _places(whole: dict[bytes, list[int]], occur: Container[bytes]) -> set[int]:
    """Return the places in the text of lines that occur as they are."""
    return {place for line, places in whole.items() if line in occur for place in places}


def _in_order(found: list[tuple[int, list[int]]], how: How) -> list[tuple[int, int]]:
    if not how.from_end:
        return _longest_in_order(found)
    found = [(-line, [-place for place in places]) for line, places in reversed(found)]
    return [(-line, -place) for line, place in reversed(_longest_in_order(found))]


_CUT_BYTES = 24  # least bytes of a cut line; fewer might be like any line's
_EDGE_LINES = 8  # lines at either end of a text among which a harness may put words
_MOST_CUTS = 64


def _cuts(
    text: Sequence[str], source: Source, lines: Spans, pairs: list[tuple[int, int]], how: How
) -> Iterator[CutLine]:
    """Yield the lines next to those found, if the text next to these begins or ends as they do."""
    count, last = source.line_count, len(text) - 1
    places = dict(pairs)
    first_place, last_place = (pairs[0][1], pairs[-1][1]) if pairs else (len(text), -1)
    heads = {line + 1: [place + 1] for line, place in places.items() if place < last}
    heads.setdefault(1, [*range(min(first_place, _EDGE_LINES))])
    tails = {line - 1: [place - 1] for line, place in places.items() if place}
    tails.setdefault(count, [*range(max(last_place + 1, last + 1 - _EDGE_LINES), last + 1)])
    beside = {line + step for line in places for step in (-1, 1)} if how.straight else set[int]()
    missing = [line for line in sorted({*heads, *tails}) if 1 <= line <= count and not holds(lines, line)]
    for number in missing[:_MOST_CUTS]:
        begins, ends = ([text[place] for place in found.get(number, ())] for found in (heads, tails))
        longest = max(map(len, (*begins, *ends)), default=0)
        for line in source.lines(number, number, max(LINE_LIMIT, 8 * longest)):
            cut = line.cut(*_ends_in(begins, ends, line, any_size=number in beside))
            if cut.seen:
                yield cut


def _ends_in(heads: list[str], tails: list[str], line: Line, *, any_size: bool) -> Iterator[tuple[int, int]]:
    """Yield the beginning of a line with which a text begins, and the end with which another one ends.

    Args:
        heads: texts that may begin as the line does.
        tails: texts that may end as it does.
        line: the line.
        any_size: whether a text that is nothing but such a part counts, however short it is.
    """
    half = len(line.data) if line.whole else len(line.data) // 2
    begin, end = line.data[:half], line.data[len(line.data) - half :]
    written = clean_line(begin).encode(), clean_line(end).encode()
    texts = [[text.encode(errors="surrogateescape") for text in ends] for ends in (heads, tails)]
    sizes = [(common_head(written[0], text), len(text)) for text in texts[0]]
    if (size := _longest(sizes, any_size=any_size)) and (first := raw_range(begin, 0, size)[1]):
        yield 0, first
    sizes = [(common_head(written[1][::-1], text[::-1]), len(text)) for text in texts[1]]
    if size := _longest(sizes, any_size=any_size):
        last, stop = raw_range(end, len(written[1]) - size, len(written[1]))
        if stop:
            yield line.length - len(end) + last, line.length


def _longest(sizes: Iterable[tuple[int, int]], *, any_size: bool) -> int:
    """Return the largest (size of a common part, size of the text) that tells a line; 0 for none."""
    known = (part for part, whole in sizes if part >= _CUT_BYTES or (any_size and part == whole))
    return max(known, default=0)


def _wanted(text: Iterable[str], ref: str, how: How) -> tuple[dict[bytes, list[int]], dict[bytes, list[int]]]:
    """Return the lines of the text, and the same without prefixes, with the places of each."""
    whole, parts = dict[bytes, list[int]](), dict[bytes, list[int]]()
    for place, line in enumerate(text):
        name = _NAME.match(line)
        if name and name[1] != ref:
            continue
        for into, lines in ((whole, () if name else (line,)), (parts, _parts(line, name, how))):
            for one in lines:
                if one.strip():
                    into.setdefault(one.encode(errors="surrogateescape"), []).append(place)
    return whole, parts


def _parts(line: str, name: re.Match[str] | None, how: How) -> Iterator[str]:
    """Yield a line without a name, a number or a mark before it."""
    if name:
        line = line[name.end() :]
        yield line
    if number := _NUMBER.match(line):
        yield line[number.end() :]
    if how.marked and _DIFF_MARK.match(line):
        yield line[1:]


def _occurrences(rows: Iterable[tuple[int, bytes]], among: Spans) -> dict[bytes, list[int]]:
    """Return where each wanted line occurs among others, ascending; for a frequent one, the outer places."""
    found: dict[bytes, list[int]] = {}
    for number, line in rows:
        if holds(among, number):
            kept = found.setdefault(line, [])
            kept.append(number)
            if len(kept) > 4 * _KEPT_OCCURRENCES:
                del kept[_KEPT_OCCURRENCES:-_KEPT_OCCURRENCES]
    return found


def _lines_of(source: Source, among: Spans, sought: frozenset[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the wanted lines of a stream, from the first that went in to the last."""
    if not among:
        return
    if len(among) > 1 and source.byte_count > SCANNED_BYTES:
        for first, last in among:
            for line in source.lines(first, last):
                if line.whole and (cleaned := clean_line(line.data).encode()) in sought:
                    yield line.number, cleaned
        return
    end = among[-1][1]
    for first, block in source.blocks(among[0][0]):
        if len(block) > BLOCK_BYTES:  # a single line, or its beginning
            block = _whole(source, first, max(map(len, sought)))
        lines = _cleaned_lines(block)
        if here := sought.intersection(lines):
            yield from ((first + at, line) for at, line in enumerate(lines) if line in here)
        if first + len(lines) > end:
            return


def _whole(source: Source, number: int, longest: int) -> bytes:
    """Return a very long line with its newline; empty if even with colours it is longer than all that are wanted."""
    lines = source.lines(number, number, max(4 * longest, BLOCK_BYTES))
    return b"".join(line.data if line.whole else b"" for line in lines) + b"\n"


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
    """Return the longest list of (line, place) pairs that ascend in both, by Hunt and Szymanski's method."""
    ends: list[int] = []
    chains: list[tuple[int, int, object]] = []
    for line, places in found:
        for place in sorted(places, reverse=True):
            at = bisect_left(ends, place)
            if at < len(ends) and ends[at] == place:
                continue  # the earlier equal line will do
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


def _lone_numbers(text: Sequence[str]) -> set[int]:
    """Return the places of empty lines that have a number, if that of a neighbour is the next one."""

    def number(place: int) -> int:
        found = _NUMBER.match(text[place]) if 0 <= place < len(text) else None
        return int("".join(filter(str.isdecimal, found[0]))) if found else -2

    empty = [place for place, line in enumerate(text[:MOST_LINES]) if _NUMBER.fullmatch(line)]
    return {place for place in empty if number(place) in (number(place - 1) + 1, number(place + 1) - 1)}


def _with_blank_lines(
    pairs: Sequence[tuple[int, int]], text: Sequence[str], source: Source, lone: Container[int]
) -> Iterator[tuple[int, int]]:
    before = (0, 0)
    for line, place in pairs:
        between = range(before[1] + 1, place)
        is_next = before[0] and line - before[0] == place - before[1]
        is_next = is_next and all(at in lone or not text[at].strip() for at in between)
        yield (before[0] if is_next else line), line
        before = (line, place)
    for step, (line, place) in zip((-1, 1), (pairs[0], pairs[-1]) if pairs else (), strict=False):
        while place + step in lone and 1 <= line + step <= source.line_count:
            line, place = line + step, place + step
            if any(clean_line(one.data).strip() for one in source.lines(line, line)):
                break
            yield line, line
