"""Makes the passes of the filter over the list's entries, in steps, so that the screen never waits for them.

A longer text is looked for only in what the last one found. Ties keep the order of the entries.
"""

import re
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sightline.light.named_tuple import NamedTuple
from sightline.search.matcher import EXACT, NOT_AT_ALL, TYPOS_KEPT, Term, close_titles, joined
from sightline.search.matcher import wants_guesses as finds_too_little
from sightline_tui.buffers.packed_entries import Entries, name_in

if TYPE_CHECKING:
    from sightline_tui.buffers.packed_entries import Places


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
        return EXACT if name_in(title) in self.names else NOT_AT_ALL

    def narrows(self, earlier: "AnyTerm") -> bool:
        """As `Term.narrows`."""
        return self is earlier


AnyTerm = Term | NamedOnly


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
                score = joined(score, other)
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
        self._terms = [term for term in terms if isinstance(term, Term)]
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
        for score, at in close_titles(self._terms, titles):
            if places[at] not in self._known:
                self._close.append((score, places[at]))

    def best(self) -> Entries:
        """The closest matches first, no more than anyone would look at."""
        close = sorted(self._close, key=lambda scored: -scored[0])  # as found, where as close
        return Entries(self._entries.columns, array("I", (place for _, place in close[:TYPOS_KEPT])))


def wants_guesses(search: MatchPass) -> bool:
    """Whether a finished pass found so little that a typo is likely."""
    if any(isinstance(term, NamedOnly) for term in search.terms):
        return False
    return finds_too_little([term for term in search.terms if isinstance(term, Term)], len(search.found))
