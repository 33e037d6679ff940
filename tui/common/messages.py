"""What the inspector's parts tell each other. Where a newer message says it all, it takes the older one's place."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.message import Message

from sightline.records import Buffer
from sightline.tui.common.strips import Part

if TYPE_CHECKING:  # the first screen asks nothing
    from sightline.records import IndexedView
    from sightline.search.contents import Found, Progress

# Compared by identity, and never printed: each method that is not made saves a tenth of a millisecond at every start.


class State(Message):
    """How something stands: only the newest of a kind counts."""

    def can_replace(self, message: Message) -> bool:
        """Whether a newer one says all that this one says."""
        return isinstance(message, type(self))


# the store


@dataclass(eq=False, repr=False)
class StoreChanged(Message):
    """The store may have changed; see `sightline.store.Change`."""

    index: bool
    live: frozenset[str]

    def can_replace(self, message: Message) -> bool:
        """Whether a newer one says all that this one says."""
        return isinstance(message, StoreChanged) and message.index >= self.index and message.live >= self.live


@dataclass(eq=False, repr=False)
class PollingBegun(Message):
    """Changes are looked for, because they cannot be watched."""

    reason: str


@dataclass(eq=False, repr=False)
class StoreCounted(State):
    """How much the store holds: buffers with bytes, those bytes, captures that run."""

    buffers: int
    held: int
    running: int


@dataclass(eq=False, repr=False)
class ReadFailed(Message):
    """Something could not be read; what happened, and what to do."""

    message: str
    hint: str


@dataclass(eq=False, repr=False)
class BeginningWanted(Message):
    """There is nothing to show: what to begin with is to be offered."""


# the list


@dataclass(eq=False, repr=False)
class BufferSelected(State):
    """The list's cursor stands on a buffer, or its record has changed; None where the list is empty."""

    buffer: Buffer | None


@dataclass(eq=False, repr=False)
class ListFiltered(State):
    """What the filter has found.

    Attributes:
        found: how many buffers; None where there is no filter.
        close: how many of them are only close to what was typed.
        done: whether all have been looked at.
    """

    found: int | None
    close: int = 0
    done: bool = True


@dataclass(eq=False, repr=False)
class LiveSwitched(State):
    """Whether the list stays on what was used last."""

    live: bool


@dataclass(eq=False, repr=False)
class SessionFollowed(Message):
    """The newest outputs of a session are to be shown as they come; None for those of all."""

    session: str | None


@dataclass(eq=False, repr=False)
class OrderChosen(Message):
    """The list is to stand in another order; see `sightline.tui.buffers.order.Order`."""

    sort: str
    turned: bool
    group: str


@dataclass(eq=False, repr=False)
class HitSelected(State):
    """The cursor stands on a line that was found in an output."""

    buffer: Buffer
    line: "Found"


@dataclass(eq=False, repr=False)
class ContentsSearched(Message):
    """What a search through all outputs has to say.

    Attributes:
        turn: which search it is.
        progress: what has been found since; None at the end.
        ended: why it ended, empty where all was searched; None while it goes on.
    """

    turn: int
    progress: "Progress | None"
    ended: str | None


# prompts


@dataclass(eq=False, repr=False)
class PromptAnswered(Message):
    """Enter was pressed in a prompt."""

    prompt: str
    text: str


@dataclass(eq=False, repr=False)
class PromptLeft(Message):
    """A prompt was left with Escape."""

    prompt: str


class CaseSwitched(Message):
    """Letters are to match in another way than they did in the search that is being typed."""


class ResultClosed(Message):
    """The person is done with a result."""


# places in an output


@dataclass(eq=False, repr=False)
class PlaceChanged(State):
    """Which lines of how many the viewer shows, whether it follows, the number being typed, and what else is so.

    The notes are words such as ``raw``, ``stderr only`` or ``hit 3 of 17``; `seen` says who has seen the line that one
    has gone to, or how much of all was seen.
    """

    first: int
    last: int
    total: int
    following: bool
    count: str
    notes: tuple[str, ...] = ()
    seen: list[Part] = field(default_factory=list)


@dataclass(eq=False, repr=False)
class PlaceMeant(Message):
    """A place in the output that is shown is to be gone to, as a person writes it: ``42``, ``50%``."""

    text: str


@dataclass(eq=False, repr=False)
class LineMeant(Message):
    """A line of an output is to be shown, by its number in the viewer; with a last one, a range; and why it is."""

    buffer: Buffer
    line: int
    last: int = 0
    why: str = ""


@dataclass(eq=False, repr=False)
class LineChosen(Message):
    """A line is wanted in its buffer, or those up to a last one.

    The stream that their numbers count in is ``all`` for both in order of arrival.
    """

    buffer: Buffer
    stream: str
    line: int
    last: int = 0


@dataclass(eq=False, repr=False)
class ViewChosen(Message):
    """The exact text of a view is wanted."""

    view: "IndexedView"


# comparisons


@dataclass(eq=False, repr=False)
class DiffMoved(State):
    """Where the cursor of a comparison stands: the hunk that it is in or behind (0 before the first).

    The notes say what is searched for and what was found.
    """

    hunk: int
    notes: str = ""


@dataclass(eq=False, repr=False)
class SideLinesChosen(Message):
    """Lines of one side of a comparison: to be opened in their buffer, or copied as their ``ref`` or ``text``."""

    right: bool
    first: int
    last: int
    copied: str = field(default="", kw_only=True)


# the screen


@dataclass(eq=False, repr=False)
class SplitDragged(State):
    """What stands between the panes was dragged to a cell of the screen."""

    x: int
    y: int
    stacked: bool = field(kw_only=True)
