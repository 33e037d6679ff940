"""Finds and ranks titles for a filter's text, as fzf does; if that finds little, it forgives typos.

A pass over many titles is made in steps, so that the screen never waits for it, and a longer text is looked for only
in what the last one found. Ties keep the order of the entries.
"""

import re
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sightline.named_tuple import NamedTuple
from sightline.tui.buffers.columns import Entries, name_in

if TYPE_CHECKING:
    from sightline.tui.buffers.columns import Places

EXACT, WORD_START, WITHIN, SCATTERED = 0, 1, 2, 3
"""Ranks of a match: a whole word, a word's start, elsewhere, letters in order; for those, the wider they are scattered
the larger the number."""

_NOT_AT_ALL = -1
_ENOUGH = 5  # with so many exact matches nobody needs guesses
_TYPO_SCORE = 80  # of 100: two wrong letters in ten; below it, short words match unrelated ones
_TYPO_LETTERS = 3  # shorter texts are all one typo away from each other
_TYPOS_KEPT = 200
_OCCURRENCES = 8  # how many places of a term are tried for one that is a word


class Term(NamedTuple):
    """A word of a filter's text.

    Attributes:
        text: in small letters, without the signs around it.
        scattered: matches its letters in order in the command; None if they must stand together (``'text``,
            ``^text``, ``text$``).
        start: whether the title must begin with it (``^text``).
        end: whether the command must end with it (``text$``).
        unwanted: whether the title must not contain it (``!text``).
    """

    text: str
    scattered: re.Pattern[str] | None
    start: bool = False
    end: bool = False
    unwanted: bool = False

    def score(self, title: str) -> int:
        """The rank of its match in a title; -1 for none."""
        if self.unwanted:
            return _NOT_AT_ALL if self._stands_in(title) else EXACT
        if self.start or self.end:
            return EXACT if self._stands_in(title) else _NOT_AT_ALL
        at = title.find(self.text)
        if at >= 0:
            return self._place(title, at)
        match = self.scattered.match(title) if self.scattered else None
        if match is None:
            return _NOT_AT_ALL
        return SCATTERED + match.end() - match.start(1) - len(self.text)

    def _stands_in(self, title: str) -> bool:
        if not (self.start or self.end):
            return self.text in title
        command = title.partition("\n")[0] if self.end else title
        return (not self.start or command.startswith(self.text)) and (not self.end or command.endswith(self.text))

    def _place(self, title: str, at: int) -> int:
        best, size = WITHIN, len(self.text)
        for _ in range(_OCCURRENCES):
            if at == 0 or not title[at - 1].isalnum():
                end = at + size
                if end == len(title) or not title[end].isalnum():
                    return EXACT
                best = WORD_START
            at = title.find(self.text, at + 1)
            if at < 0:
                break
        return best

    def narrows(self, earlier: "AnyTerm") -> bool:
        """Whether an earlier term found all that this one can find."""
        if self == earlier:
            return True
        if not isinstance(earlier, Term):
            return False
        plain = self.scattered is not None and earlier.scattered is not None
        return plain and self.text.startswith(earlier.text)


class NamedOnly(NamedTuple):
    """A term that accepts certain buffers, whatever their titles.

    Attributes:
        names: the buffers' names.
    """

    names: frozenset[str]
    text: str = ""
    scattered: re.Pattern[str] | None = None
    unwanted: bool = True  # it marks nothing, and nothing is guessed for it

    def score(self, title: str) -> int:
        """As `Term.score`."""
        return EXACT if name_in(title) in self.names else _NOT_AT_ALL

    def narrows(self, earlier: "AnyTerm") -> bool:
        """As `Term.narrows`."""
        return self is earlier


AnyTerm = Term | NamedOnly


def terms_of(query: str) -> list[Term]:
    """The terms of a filter's text; a title must match each of them."""
    return [term for word in query.lower().split() if (term := _term(word)) is not None]


def _term(word: str) -> Term | None:
    text = word
    unwanted = text.startswith("!")
    text = text.removeprefix("!")
    start, together = text.startswith("^"), unwanted or text.startswith("'")
    text = text[1:] if start or text.startswith("'") else text
    end = text.endswith("$") and len(text) > 1
    text = text[:-1] if end else text
    if not text:  # only the sign has been typed so far
        return None
    scattered = None if start or end or together else _scattered(text)
    return Term(text, scattered, start, end, unwanted)


def _scattered(text: str) -> re.Pattern[str]:
    # A run ends at the one letter that it cannot contain, so there is one way to match, in linear time.
    # Only within the command: across refs and sessions, scattered letters match nearly everything.
    first, *rest = (f"[^{re.escape(letter)}\\n]*{re.escape(letter)}" for letter in text)
    letter = re.escape(text[0])
    return re.compile(first.removesuffix(letter) + f"({letter})" + "".join(rest))


class MatchPass:
    """One pass for one text.

    Attributes:
        terms: the terms that it looks for.
        found: the places that it has found so far, in the order of the entries.
    """

    def __init__(self, terms: Sequence[AnyTerm], entries: Entries) -> None:
        self.terms = list(terms)
        self.found: Places = array("I")
        self._columns = entries.columns
        self._places = entries.places
        self._at = 0
        self._by_score: dict[int, Places] = {}

    @property
    def done(self) -> bool:
        """Whether all entries have been looked at."""
        return self._at >= len(self._places)

    def narrowed(self, terms: Sequence[AnyTerm]) -> "MatchPass | None":
        """A pass for a longer text over what this one found or has not tried yet; None if that does not suffice."""
        if len(terms) < len(self.terms) or not all(
            new.narrows(old) for new, old in zip(terms, self.terms, strict=False)
        ):
            return None
        return MatchPass(terms, Entries(self._columns, self.found + self._places[self._at :]))

    def extend(self, more: Entries) -> None:
        """Also try these entries, which come after the others in the same columns."""
        self._places = self._places + more.places  # others share the old ones

    def step(self, most: int) -> None:
        """Look at the next entries."""
        places = self._places[self._at : self._at + most]
        self._at += len(places)
        first, *others = self.terms
        score_first, by_score, found = first.score, self._by_score, self.found
        for place, title in zip(places, self._columns.titles.at(places), strict=True):
            score = score_first(title)
            if score < 0:
                continue
            for term in others:
                other = term.score(title)
                if other < 0:
                    break
                # The worst term counts; scattered letters are added up.
                score = score + other - SCATTERED if min(score, other) >= SCATTERED else max(score, other)
            else:
                found.append(place)
                if score not in by_score:
                    by_score[score] = array("I")
                by_score[score].append(place)

    def best(self) -> Entries:
        """What has been found so far, the best first."""
        best: Places = array("I")
        for score in sorted(self._by_score):
            best += self._by_score[score]
        return Entries(self._columns, best)


class Guesses:
    """A pass that forgives typos."""

    def __init__(self, terms: Sequence[AnyTerm], entries: Entries, found: Sequence[int]) -> None:
        """Prepare.

        Args:
            terms: the terms that it looks for.
            entries: the entries to try.
            found: the places of exact matches.
        """
        from rapidfuzz import fuzz, process  # 14 ms; few texts find nothing

        self._extract, self._scorer = process.extract, fuzz.partial_ratio
        self._text = " ".join(term.text for term in terms if not term.unwanted)
        self._entries = entries
        self._at = 0
        self._known = frozenset(found)
        self._close = list[tuple[float, int]]()

    @property
    def done(self) -> bool:
        """Whether all entries have been looked at."""
        return self._at >= len(self._entries)

    def step(self, most: int) -> None:
        """Look at the next entries."""
        places = self._entries.places[self._at : self._at + most]
        self._at += len(places)
        titles = list(self._entries.columns.titles.at(places))
        for _, score, at in self._extract(
            self._text, titles, scorer=self._scorer, score_cutoff=_TYPO_SCORE, limit=_TYPOS_KEPT
        ):
            if places[at] not in self._known:
                self._close.append((score, places[at]))

    def best(self) -> Entries:
        """The closest matches first, no more than anyone would look at."""
        close = sorted(self._close, key=lambda scored: -scored[0])  # as found, where as close
        return Entries(self._entries.columns, array("I", (place for _, place in close[:_TYPOS_KEPT])))


def wants_guesses(search: MatchPass) -> bool:
    """Whether a finished pass found so little that a typo is likely."""
    if any(isinstance(term, NamedOnly) for term in search.terms):
        return False
    letters = sum(len(term.text) for term in search.terms if not term.unwanted)
    return len(search.found) < _ENOUGH and letters >= _TYPO_LETTERS
