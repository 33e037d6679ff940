"""Which titles a filter's text finds, and in which order: as fzf does, and forgiving of typos where that finds little.

Pure functions over titles in small letters; ties keep the order they came in, which is that of use.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

WORD_START, WITHIN, SCATTERED = 0, 1, 2
_ENOUGH = 5  # with so many found as they were typed, nobody needs guesses
_TYPO_SCORE = 80  # of 100; two wrong letters in ten. Below it, short words find strangers
_TYPO_LETTERS = 3  # in shorter texts anything is one typo away from anything
_SLICE = 2_000  # titles between two looks at whether the answer is still wanted


class _Term(NamedTuple):
    text: str
    word_start: re.Pattern[str]
    scattered: re.Pattern[str]


def terms_of(query: str) -> list[str]:
    """The words of a filter's text; a title must hold each of them."""
    return query.lower().split()


def rank(titles: Sequence[str], query: str, cancelled: Callable[[], bool] = lambda: False) -> list[int]:
    """Positions of the titles that a query finds, the best first.

    Args:
        titles: in small letters, one line each.
        query: words that each must be in the title: from a word's start on, anywhere, or as scattered letters.
        cancelled: asked now and then; where it says yes the answer is cut short.
    """
    terms = [_compiled(term) for term in terms_of(query)]
    scored = list[tuple[int, int, int]]()
    for start in range(0, len(titles), _SLICE):
        if cancelled():
            return []
        scored += _scored(titles[start : start + _SLICE], start, terms)
    found = [at for _, _, at in sorted(scored)]
    if len(found) < _ENOUGH:
        found += _typos(titles, " ".join(terms_of(query)), set(found))
    return found


def _scored(titles: Iterable[str], start: int, terms: list[_Term]) -> Iterable[tuple[int, int, int]]:
    for at, title in enumerate(titles, start):
        worst, spread = WORD_START, 0
        for term in terms:
            kind, width = _match(title, term)
            if kind < 0:
                break
            worst, spread = max(worst, kind), spread + width
        else:
            yield worst, spread, at


def _match(title: str, term: _Term) -> tuple[int, int]:
    """How a term stands in a title (-1 for not at all), and over how many letters too many it is spread."""
    if term.text in title:
        return (WORD_START if term.word_start.search(title) else WITHIN), 0
    match = term.scattered.match(title)
    if not match:
        return -1, 0
    return SCATTERED, match.end(2) - match.start(1) - len(term.text)


def _compiled(term: str) -> _Term:
    # Possessive runs: what a letter has skipped is never tried again, so that no title takes more than linear time.
    letters = [rf"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in term]
    first = rf"[^{re.escape(term[0])}]*+({re.escape(term[0])})"
    rest = "".join(letters[1:-1]) + (rf"[^{re.escape(term[-1])}]*+({re.escape(term[-1])})" if len(term) > 1 else "()")
    return _Term(term, re.compile(rf"(?<![^\W_]){re.escape(term)}"), re.compile(first + rest, re.DOTALL))


def _typos(titles: Sequence[str], query: str, found: set[int]) -> list[int]:
    if len(query) < _TYPO_LETTERS:
        return []
    from rapidfuzz import fuzz, process

    close = process.extract(query, titles, scorer=fuzz.partial_ratio, score_cutoff=_TYPO_SCORE, limit=None)
    return [at for _, _, at in sorted(close, key=lambda match: (-match[1], match[2])) if at not in found]
