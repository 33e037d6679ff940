"""Guesses the language of a message, and says of how many messages no rule reads the language.

It is a guess from letters and frequent words (``languages.toml``): enough to say what was left out, and no more.
"""

import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from sightline.audit.evidence.claims import languages_with_rules
from sightline.audit.project_scope import agents_within
from sightline.base.project import Project, Scope
from sightline.light.named_tuple import NamedTuple
from sightline.log.session_events import AgentMessage
from sightline.log.session_history import events_of
from sightline.shape.summary import counted
from sightline.store import Reading

_READ_CHARACTERS = 4_000  # of a message, of which a language shows early
_LEAST_SHARE = 5  # a letter in so many
_LEAST_WORDS = 2
_CODE = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)|`[^`\n]*`|https?://\S+")
_WORD = re.compile(r"[^\W\d_]+")
BLANKED = "blanked"


class UnreadMessages(NamedTuple):
    """The messages that no rule of claims can read.

    Attributes:
        messages: number of all messages.
        languages: (language, number of messages) of those that are not read, most frequent first; BLANKED for those
            whose words were removed.
    """

    messages: int = 0
    languages: tuple[tuple[str, int], ...] = ()

    @property
    def number(self) -> int:
        """Number of messages that were not read."""
        return sum(number for _, number in self.languages)

    @property
    def words(self) -> str:
        """``not read: 3 of 41 messages (French 2, Japanese 1)``; empty if all were read."""
        if not self.number:
            return ""
        of_each = ", ".join(f"{name} {number:,}" for name, number in self.languages)
        return (
            f"not read: {self.number:,} of {counted(self.messages, 'message')} ({of_each}); their claims are not judged"
        )

    def with_those(self, other: "UnreadMessages") -> "UnreadMessages":
        """Return both together."""
        found = Counter(dict(self.languages))
        found.update(dict(other.languages))
        return UnreadMessages(self.messages + other.messages, tuple(found.most_common()))


def unread_among(messages: Iterable[AgentMessage]) -> UnreadMessages:
    """Return how many of some messages no rule can read, and their languages."""
    found, total, known = Counter[str](), 0, languages_with_rules()
    for message in messages:
        total += 1
        language = BLANKED if message.text is None else language_of(message.text)
        if language and language not in known:
            found[language] += 1
    return UnreadMessages(total, tuple(found.most_common()))


def unread_in(store: Reading, sessions: Iterable[str]) -> UnreadMessages:
    """Return how many messages of some sessions no rule can read, and their languages."""
    found = UnreadMessages()
    for name in sessions:
        found = found.with_those(unread_among(events_of(store, name).messages))
    return found


def unread_of_scope(store: Reading, session: str | None, since: float, project: Project | None) -> UnreadMessages:
    """Return how many messages of one session, or of all since a time and in a project, no rule can read.

    At a shared place, where messages mostly are not, it says nothing of them.
    """
    if store.place is not None:
        return UnreadMessages()
    return unread_in(store, agents_within(store, Scope(session, since, project)))


def language_of(text: str) -> str:
    """Return the language that a message seems to be in; empty for none, as of a few words or of code."""
    text = _CODE.sub(" ", text[:_READ_CHARACTERS])
    letters = sum(map(str.isalpha, text))
    table = _table()
    for name, pattern in table["letters"].items():
        if letters and len(re.findall(pattern, text)) * _LEAST_SHARE >= letters:
            return name
    words = {word.lower() for word in _WORD.findall(text)}
    # Different words count: one that two languages share, such as ``a``, may stand in a text very often.
    scores = {name: len(words & _frequent(name)) for name in table["words"]}
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] >= _LEAST_WORDS else ""


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    with open(os.path.join(os.path.dirname(__file__), "languages.toml"), "rb") as file:
        return tomllib.load(file)


@cache
def _frequent(language: str) -> frozenset[str]:
    return frozenset(_table()["words"][language].split())
