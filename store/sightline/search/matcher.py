"""Ranks the titles of outputs for a filter's text, as fzf does: for the inspector's list and every ``--match``.

rapidfuzz finds titles that come close to a text, which forgives typos where little else is found. What it has no
scorer for is here: letters in order, the starts of words, and the signs ``' ^ $ !``.
"""

import re
from collections.abc import Sequence

from sightline.base.refs import format_ref
from sightline.light.named_tuple import NamedTuple

EXACT, WORD_START, WITHIN, SCATTERED = 0, 1, 2, 3
"""Ranks of a match: a whole word, a word's start, elsewhere, letters in order; for those, the wider they are scattered
the larger the number."""

NOT_AT_ALL = -1
"""The rank of a title that does not match."""

TITLE_CHARACTERS = 400
"""Characters of a command that are looked at; the text after that is no name."""

TYPOS_KEPT = 200
"""No more than anyone would look at."""

_ENOUGH = 5  # with so many exact matches nobody needs guesses
_TYPO_SCORE = 80  # of 100: two wrong letters in ten; below it, short words match unrelated ones
_TYPO_LETTERS = 3  # shorter texts are all one typo away from each other
_OCCURRENCES = 8  # how many places of a term are tried for one that is a word


def title_of(command: str, name: str, label: str, session: str) -> str:
    """Return what filters look at: these in small letters, each on a line of its own."""
    return "\n".join(field.replace("\n", " ").lower() for field in (command, format_ref(name), label, session))


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
            return NOT_AT_ALL if self._stands_in(title) else EXACT
        if self.start or self.end:
            return EXACT if self._stands_in(title) else NOT_AT_ALL
        at = title.find(self.text)
        if at >= 0:
            return self._place(title, at)
        match = self.scattered.match(title) if self.scattered else None
        if match is None:
            return NOT_AT_ALL
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

    def narrows(self, earlier: object) -> bool:
        """Whether an earlier term found all that this one can find."""
        if self == earlier:
            return True
        if not isinstance(earlier, Term):
            return False
        plain = self.scattered is not None and earlier.scattered is not None
        return plain and self.text.startswith(earlier.text)


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


def joined(score: int, other: int) -> int:
    """Return the rank of a title that matches two terms: the worse counts; scattered letters are added up."""
    return score + other - SCATTERED if min(score, other) >= SCATTERED else max(score, other)


def rank(terms: Sequence[Term], title: str) -> int:
    """Return how well a title matches all terms, a smaller number for a better match; NOT_AT_ALL if one does not."""
    best = EXACT
    for term in terms:
        score = term.score(title)
        if score == NOT_AT_ALL:
            return NOT_AT_ALL
        best = joined(best, score)
    return best


def ranked(terms: Sequence[Term], titles: Sequence[str], *, with_similar: bool = False) -> list[int]:
    """Return the places of the titles that match, the best first, and after them of similar ones if few do.

    Args:
        terms: what each title must match.
        titles: made by `title_of`; of equally good ones, the earlier comes first.
        with_similar: whether similar ones are wanted however many match.
    """
    found, others = list[tuple[int, int]](), list[int]()
    for at, title in enumerate(titles):
        score = rank(terms, title)
        if score == NOT_AT_ALL:
            others.append(at)
        else:
            found.append((score, at))
    places = [at for _, at in sorted(found)]
    if wants_guesses(terms, 0 if with_similar else len(found)):
        places += [others[at] for _, at in close_titles(terms, [titles[at] for at in others])]
    return places


def wants_guesses(terms: Sequence[Term], found: int) -> bool:
    """Return whether a text found so little that a typo in it is likely."""
    return found < _ENOUGH and len(_wanted(terms).replace(" ", "")) >= _TYPO_LETTERS


def close_titles(terms: Sequence[Term], titles: Sequence[str]) -> list[tuple[float, int]]:
    """Return the titles that come close to a text, as score and place, the closest first."""
    from rapidfuzz import fuzz, process  # 14 ms; few texts find nothing

    scorer = fuzz.partial_ratio
    found = process.extract(_wanted(terms), titles, scorer=scorer, score_cutoff=_TYPO_SCORE, limit=TYPOS_KEPT)
    return [(score, at) for _, score, at in found]


def _wanted(terms: Sequence[Term]) -> str:
    return " ".join(term.text for term in terms if not term.unwanted)
