"""The messages between the inspector's parts. A newer message replaces an older one if it makes that one redundant."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.message import Message

from sightline.records import Buffer
from sightline.tui.common.strips import StripPart

if TYPE_CHECKING:  # not needed for the first screen
    from sightline.records import IndexedView
    from sightline.search.contents import FoundLine, SearchProgress
    from sightline.tui.common.histogram import Histogram

# Messages have no generated methods, because each costs a tenth of a millisecond at start, and none is compared.


class State(Message):
    """The state of something: only the newest message of a kind counts."""

    def can_replace(self, message: Message) -> bool:
        """Return whether a newer message makes this one redundant."""
        return isinstance(message, type(self))


# the store


@dataclass(eq=False, repr=False)
class StoreChanged(Message):
    """The store may have changed; see `sightline.store.Change`."""

    index: bool
    live: frozenset[str]

    def can_replace(self, message: Message) -> bool:
        """Return whether a newer message makes this one redundant."""
        return isinstance(message, StoreChanged) and message.index >= self.index and message.live >= self.live


@dataclass(eq=False, repr=False)
class PollingBegun(Message):
    """The store cannot be watched, so it is polled for changes."""

    reason: str


@dataclass(eq=False, repr=False)
class StoreCounted(State):
    """What the store holds: number of buffers, their bytes, and running captures."""

    buffers: int
    held: int
    running: int


@dataclass(eq=False, repr=False)
class ReadFailed(Message):
    """Something could not be read: what happened, and what to do about it."""

    message: str
    hint: str


@dataclass(eq=False, repr=False)
class BeginningWanted(Message):
    """There is nothing to show, so the first steps are to be offered."""


# the list


@dataclass(eq=False, repr=False)
class BufferSelected(State):
    """The list's cursor has moved to a buffer, or the record there or its state has changed.

    Attributes:
        buffer: the buffer; None if the list is empty.
        state: its state together with that of what went into its filters.
        titles: what to call sessions, by their names.
    """

    buffer: Buffer | None
    state: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class ListFiltered(State):
    """The result of the filter so far.

    Attributes:
        found: number of buffers; None without a filter.
        close: number of these that match only approximately.
        done: whether all buffers have been tried.
    """

    found: int | None
    close: int = 0
    done: bool = True


@dataclass(eq=False, repr=False)
class LiveSwitched(State):
    """The list has begun or stopped following the most recently used output."""

    live: bool


@dataclass(eq=False, repr=False)
class SessionFollowed(Message):
    """A person wants to follow the newest outputs of a session; None for those of all."""

    session: str | None


@dataclass(eq=False, repr=False)
class OrderChosen(Message):
    """A person wants another order of the list; see `sightline.tui.buffers.order.Order`."""

    sort: str
    turned: bool
    group: str


@dataclass(eq=False, repr=False)
class HitSelected(State):
    """The cursor has moved to a line that was found in an output."""

    buffer: Buffer
    line: "FoundLine"


@dataclass(eq=False, repr=False)
class ContentsSearched(Message):
    """News from a search through all outputs.

    Attributes:
        turn: number of the search.
        progress: what was found since the last message; None at the end.
        ended: why it ended, empty if everything was searched; None while it continues.
    """

    turn: int
    progress: "SearchProgress | None"
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
    """A person has switched how the search that is being typed matches capital and small letters."""


class ResultClosed(Message):
    """A person has closed a result."""


# places in an output


@dataclass(eq=False, repr=False)
class PlaceChanged(State):
    """The viewer's place: which lines it shows, of how many, whether it follows, the number being typed, and notes.

    The notes are words such as ``raw``, ``stderr only`` or ``hit 3 of 17``; `seen` says who has seen the line that was
    gone to, or how much of the output was seen; `times` counts the lines by the time when they came, if that is shown.
    """

    first: int
    last: int
    total: int
    following: bool
    count: str
    notes: tuple[str, ...] = ()
    seen: list[StripPart] = field(default_factory=list)
    times: "Histogram | None" = None


@dataclass(eq=False, repr=False)
class PlaceMeant(Message):
    """A person wants to go to a place in the shown output, written as ``42`` or ``50%``."""

    text: str


@dataclass(eq=False, repr=False)
class LineMeant(Message):
    """A line of an output is to be shown, by its number in the viewer; perhaps a range, and the reason."""

    buffer: Buffer
    line: int
    last: int = 0
    why: str = ""


@dataclass(eq=False, repr=False)
class LineChosen(Message):
    """A person wants to see a line in its buffer, or a range of lines.

    The stream ``all`` means that the numbers count both streams in order of arrival.
    """

    buffer: Buffer
    stream: str
    line: int
    last: int = 0


@dataclass(eq=False, repr=False)
class ViewChosen(Message):
    """A person wants to read the exact text of a view."""

    view: "IndexedView"


# comparisons


@dataclass(eq=False, repr=False)
class DiffMoved(State):
    """The cursor of a comparison has moved: the hunk that it is in or behind (0 before the first).

    The notes say what is searched and what was found.
    """

    hunk: int
    notes: str = ""


@dataclass(eq=False, repr=False)
class SideLinesChosen(Message):
    """Lines of one side of a comparison are to be opened in their buffer, or copied as ``ref`` or ``text``."""

    right: bool
    first: int
    last: int
    copied: str = field(default="", kw_only=True)


# the screen


@dataclass(eq=False, repr=False)
class SplitDragged(State):
    """The line between the panes was dragged to a cell of the screen."""

    x: int
    y: int
    stacked: bool = field(kw_only=True)
