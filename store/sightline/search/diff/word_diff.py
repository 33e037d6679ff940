"""Finds what differs within two lines that correspond: whole words, or parts of them.

It is for the visible lines only: an ordinary pair takes some 30 µs.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from rapidfuzz.distance import Indel

from sightline.light.named_tuple import NamedTuple
from sightline.search.diff.engines import Ignore
from sightline.search.diff.normaliser import DATES, HASHES, NUMBERS, TEMPORARY

LEAST_ALIKE = 0.35
"""Two lines that share less than this part of their characters do not correspond."""

MOST_TOKENS = 1_500  # of a line; the work grows with the product of both
MOST_PAIRS = 4_000  # of lines that are compared to align a hunk: 5 ms
_COMPARED_CHARS = 200  # of a line, for aligning it
_GAP_CHARS = 1  # fewer equal characters between two changes are marked as changed, too

_TOKENS = re.compile(r"[0-9]+(?:[.:][0-9]+)*|[^\W\d_]+|[ \t]+|.", re.DOTALL)
_STAND_IN = "\0"


class WordSpan(NamedTuple):
    """A stretch of a line.

    Attributes:
        start: index of its first character.
        end: index of its end, exclusive.
        ignored: whether only ignored differences are in it.
    """

    start: int
    end: int
    ignored: bool = False


class _Token(NamedTuple):
    text: str
    key: str


def inline(left: str, right: str, ignore: Ignore = Ignore()) -> tuple[list[WordSpan], list[WordSpan]] | None:  # noqa: B008
    """Return where two lines differ, on the left and on the right; None if they share too little.

    Args:
        left: cleaned text of the left line.
        right: cleaned text of the right line.
        ignore: the differences that the comparison ignored.
    """
    tokens = _tokens(left, ignore), _tokens(right, ignore)
    if max(map(len, tokens)) > MOST_TOKENS:
        return _middle(left, right)
    keys = [[token.key for token in side] for side in tokens]
    spans: tuple[list[WordSpan], list[WordSpan]] = ([], [])
    at, alike = [0, 0], 0
    for equal, ranges in _changes(keys, tokens):
        texts = [[token.text for token in side[first:last]] for side, (first, last) in zip(tokens, ranges, strict=True)]
        if equal:
            for one, other in zip(*texts, strict=True):
                if one != other:
                    _add(spans[0], WordSpan(at[0], at[0] + len(one), ignored=True))
                    _add(spans[1], WordSpan(at[1], at[1] + len(other), ignored=True))
                at = [at[0] + len(one), at[1] + len(other)]
                alike += len(one) + len(other) if one.strip() else 0
            continue
        for side, text in enumerate(map("".join, texts)):
            if text:
                blank = ignore.whitespace and text.isspace()
                _add(spans[side], WordSpan(at[side], at[side] + len(text), ignored=blank))
            at[side] += len(text)
    written = len(left) - left.count(" ") + len(right) - right.count(" ")
    if alike < LEAST_ALIKE * written and any(not span.ignored for side in spans for span in side):
        return None
    return spans


def _changes(
    keys: Sequence[Sequence[str]], tokens: Sequence[Sequence[_Token]]
) -> Iterator[tuple[bool, tuple[tuple[int, int], tuple[int, int]]]]:
    """Yield (whether equal, left tokens from and to, right tokens from and to) for stretches that make up the lines."""
    changes = list(Indel.opcodes(*keys))
    for number, change in enumerate(changes):
        equal = change.tag == "equal"
        if equal and 0 < number < len(changes) - 1:
            between = tokens[0][change.src_start : change.src_end]
            equal = sum(len(token.text) for token in between) > _GAP_CHARS
        yield equal, ((change.src_start, change.src_end), (change.dest_start, change.dest_end))


def _tokens(text: str, ignore: Ignore) -> list[_Token]:
    found, at = list[_Token](), 0
    for start, end in _volatile(text) if ignore.volatile else ():
        found += _words(text[at:start], ignore)
        found.append(_Token(text[start:end], _STAND_IN))
        at = end
    return found + _words(text[at:], ignore)


def _words(text: str, ignore: Ignore) -> list[_Token]:
    blank = "" if ignore.whitespace else None
    return [_Token(word, word if blank is None or not word.isspace() else blank) for word in _TOKENS.findall(text)]


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.ASCII) for pattern in (TEMPORARY, DATES, HASHES, NUMBERS))


def _volatile(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the volatile tokens of a text, as `feed.without_volatile` finds them."""
    found = list[tuple[int, int]]()
    for pattern in _patterns():
        for match in pattern.finditer(text):
            if not any(start < match.end() and match.start() < end for start, end in found):
                found.append(match.span())
    return sorted(found)


def _add(spans: list[WordSpan], span: WordSpan) -> None:
    """Add a span, joined with one of its kind right before it."""
    if spans and span.start == spans[-1].end and spans[-1].ignored == span.ignored:
        spans[-1] = WordSpan(spans[-1].start, span.end, span.ignored)
    else:
        spans.append(span)


def _middle(left: str, right: str) -> tuple[list[WordSpan], list[WordSpan]]:
    """Return what lies between the equal ends of two long lines."""
    most = min(len(left), len(right))
    start = next((at for at in range(most) if left[at] != right[at]), most)
    end = next((at for at in range(most - start) if left[-1 - at] != right[-1 - at]), most - start)
    return [WordSpan(start, len(left) - end)], [WordSpan(start, len(right) - end)]


def aligned(few: Sequence[str], many: Sequence[str]) -> list[int]:
    """Return beside which line of the longer run each line of the shorter one stands, ascending.

    The pairs are as alike as possible; if there are too many lines to compare, these are the first ones.
    """
    spare = len(many) - len(few)
    if not spare or len(few) * (spare + 1) > MOST_PAIRS:
        return list(range(len(few)))
    short = [text[:_COMPARED_CHARS] for text in few]
    long = [text[:_COMPARED_CHARS] for text in many]
    best = [0.0] * (spare + 1)  # so far, with the line before at most this far down
    chosen = list[list[bool]]()
    for at, text in enumerate(short):
        row, picks = list[float](), list[bool]()
        for shift in range(spare + 1):
            here = best[shift] + Indel.normalized_similarity(text, long[at + shift])
            above = row[-1] if row else -1.0
            picks.append(here > above)
            row.append(max(here, above))
        best = row
        chosen.append(picks)
    return _traced(chosen, spare)


def _traced(chosen: Sequence[Sequence[bool]], spare: int) -> list[int]:
    found, shift = list[int](), spare
    for at in range(len(chosen) - 1, -1, -1):
        while not chosen[at][shift]:
            shift -= 1
        found.append(at + shift)
    return found[::-1]
