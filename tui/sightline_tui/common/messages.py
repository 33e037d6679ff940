"""The messages between the inspector's parts. A newer message replaces an older one if it makes that one redundant."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, dataclass_transform

from textual.message import Message

from sightline.base.records import Buffer
from sightline_tui.common.strips import StripPart

if TYPE_CHECKING:  # not needed for the first screen
    from sightline.base.records import IndexedView
    from sightline.search.contents import FoundLine, SearchProgress
    from sightline_tui.common.histogram import Histogram


@dataclass_transform(eq_default=False)
class Told(Message):
    """A message with fields, as of a dataclass, which would compile a constructor for each class: 3 ms at the start."""

    def __init__(self, *values: Any, **named: Any) -> None:
        """Give the fields, in order or by name; type checkers hold that all are given."""
        super().__init__()
        vars(self).update(zip(type(self).__annotations__, values, strict=False), **named)


class State(Told):
    """The state of something: only the newest message of a kind counts."""

    def can_replace(self, message: Message) -> bool:
        """Return whether a newer message makes this one redundant."""
        return isinstance(message, type(self))


# the store


class StoreChanged(Told):
    """The store may have changed; see `sightline.store.Change`."""

    index: bool
    live: frozenset[str]

    def can_replace(self, message: Message) -> bool:
        """Return whether a newer message makes this one redundant."""
        return isinstance(message, StoreChanged) and message.index >= self.index and message.live >= self.live


class PollingBegun(Told):
    """The store cannot be watched, so it is polled for changes."""

    reason: str


class StoreCounted(State):
    """What the store holds: number of buffers, their bytes, and running captures."""

    buffers: int
    held: int
    running: int


class ReadFailed(Told):
    """Something could not be read: what happened, and what to do about it."""

    message: str
    hint: str


class BeginningWanted(Message):
    """There is nothing to show, so the first steps are to be offered."""


# the list


class BufferSelected(State):
    """The list's cursor has moved to a buffer, or the record there or its state has changed.

    Attributes:
        buffer: the buffer; None if the list is empty.
        state: its state together with that of what went into its filters.
        titles: what to call sessions, by their names.
        changes: which failures differ from those of the run before, in words; empty where that is not known.
    """

    buffer: Buffer | None
    state: str = ""
    titles: Mapping[str, str] = MappingProxyType({})
    changes: str = ""


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


class LiveSwitched(State):
    """The list has begun or stopped following the most recently used output."""

    live: bool


class SessionFollowed(Told):
    """A person wants to follow the newest outputs of a session; None for those of all."""

    session: str | None


class OrderChosen(Told):
    """A person wants another order of the list; see `sightline_tui.buffers.order.Order`."""

    sort: str
    turned: bool
    group: str


class HitSelected(State):
    """The cursor has moved to a line that was found in an output."""

    buffer: Buffer
    line: "FoundLine"


class ContentsSearched(Told):
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


class PromptAnswered(Told):
    """Enter was pressed in a prompt."""

    prompt: str
    text: str


class PromptLeft(Told):
    """A prompt was left with Escape."""

    prompt: str


class CaseSwitched(Message):
    """A person has switched how the search that is being typed matches capital and small letters."""


class ResultClosed(Message):
    """A person has closed a result."""


class OutputChecked(Told):
    """Opening an output has shown that its record was wrong about its seals: the record as it is now."""

    buffer: Buffer


# places in an output


class PlaceChanged(State):
    """The viewer's place: which lines it shows, of how many, whether it follows, the number being typed, and notes.

    The notes are words such as ``raw``, ``stderr only`` or ``hit 3 of 17``; `seen` says who has seen the line that was
    gone to, or how much of the output was seen; `times` counts the lines by the time when they came, if that is shown.
    `name` is that of the output, empty where none is shown; `unit` says what is counted, where it is not the output's
    lines; `size` is the number of bytes that have come, where all of a running output is shown.
    """

    first: int
    last: int
    total: int
    following: bool
    count: str
    notes: tuple[str, ...] = ()
    seen: Sequence[StripPart] = ()
    times: "Histogram | None" = None
    name: str = ""
    unit: str = ""
    size: int | None = None


class PlaceMeant(Told):
    """A person wants to go to a place in the shown output, written as ``42`` or ``50%``."""

    text: str


class LineMeant(Told):
    """A line of an output is to be shown, by its number in the viewer; perhaps a range, and the reason."""

    buffer: Buffer
    line: int
    last: int = 0
    why: str = ""


class LineChosen(Told):
    """A person wants to see a line in its buffer, or a range of lines.

    The stream ``all`` means that the numbers count both streams in order of arrival.
    """

    buffer: Buffer
    stream: str
    line: int
    last: int = 0


class ViewChosen(Told):
    """A person wants to read the exact text of a view."""

    view: "IndexedView"


# comparisons


class DiffMoved(State):
    """The cursor of a comparison has moved: the hunk that it is in or behind (0 before the first).

    The notes say what is searched and what was found.
    """

    hunk: int
    notes: str = ""


class SideLinesChosen(Told):
    """Lines of one side of a comparison are to be opened in their buffer, or copied as ``ref`` or ``text``."""

    right: bool
    first: int
    last: int
    copied: str = ""


# the screen


class SplitDragged(State):
    """The line between the panes was dragged to a cell of the screen."""

    x: int
    y: int
    stacked: bool
