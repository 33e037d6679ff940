"""Reads what was said between the calls of a session: prompts, and what its agent said; as far as messages are kept."""

from bisect import bisect_right
from collections.abc import Sequence

from sightline.light.named_tuple import NamedTuple
from sightline.log.session_events import AgentMessage, Prompt
from sightline.log.session_history import SessionEvents, events_of
from sightline.store import Reading

PROMPT, TASK, SAYS = "prompt", "task", "says"
"""What words are: a person's prompt; what an agent gave its helper to do; what the agent itself said."""


class Said(NamedTuple):
    """Words between calls.

    Attributes:
        session: name of the session.
        number: number of the entry in its log.
        time: seconds since the epoch.
        what: PROMPT, TASK or SAYS.
        text: the words, as they were written; None if they were blanked.
        cut: whether there were more than are kept.
    """

    session: str
    number: int
    time: float
    what: str
    text: str | None
    cut: bool = False

    @property
    def id(self) -> str:
        """Its place in the log."""
        return f"{self.session}:{self.number}"

    @property
    def line(self) -> str:
        """The words in one line, however many they are."""
        if self.text is None:
            return "(blanked)"
        return " ".join(self.text.split()) + (" (cut)" if self.cut else "")


def said_in(store: Reading, session: str) -> list[Said]:
    """Return what was said in a session, oldest first; nothing if messages were not kept."""
    return said_of(session, events_of(store, session))


def said_of(session: str, events: SessionEvents) -> list[Said]:
    """Return what was said in a session, oldest first, given its events."""
    found = [_said(session, one) for of_kind in (events.prompts, events.messages) for one in of_kind]
    return sorted(found, key=time_of_said)


def _said(session: str, one: AgentMessage | Prompt) -> Said:
    what = SAYS if isinstance(one, AgentMessage) else TASK if one.by_agent else PROMPT
    return Said(session, one.number, one.time, what, one.text, one.cut)


def time_of_said(one: Said) -> float:
    """Return when words were said, in seconds since the epoch."""
    return one.time


def said_since(said: Sequence[Said], after: float, until: float) -> Sequence[Said]:
    """Return what was said behind one time and not behind another, of what was said in a session."""
    return said[bisect_right(said, after, key=time_of_said) : bisect_right(said, until, key=time_of_said)]


def said_before(said: Sequence[Said], when: float) -> tuple[Said, ...]:
    """Return why something was done at a time: the last prompt or task, and what the agent said last since then.

    Args:
        said: what was said in the session, oldest first.
        when: the time, seconds since the epoch.

    Returns:
        One or two, the older first; none if nothing is known to have been said by then.
    """
    before = said[: bisect_right(said, when, key=time_of_said)]
    asked = next((one for one in reversed(before) if one.what != SAYS), None)
    last = before[-1:]
    return tuple(last) if asked is None or last == [asked] else (asked, *last)
