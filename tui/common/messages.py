"""What the inspector's parts tell each other. Where a newer message says it all, it takes the older one's place."""

from typing import TYPE_CHECKING

from textual.message import Message

from sightline.records import Buffer
from sightline.tui.buffers.ordering import Order
from sightline.tui.common.strips import Part

if TYPE_CHECKING:  # the first screen asks nothing
    from sightline.search.contents import Found, Progress


class StoreChanged(Message):
    """The store may have changed; see `sightline.disk.changes.Change`."""

    def __init__(self, index: bool, live: frozenset[str]) -> None:
        super().__init__()
        self.index = index
        self.live = live

    def can_replace(self, message: Message) -> bool:
        """Whether a newer one says all that this one says."""
        return isinstance(message, StoreChanged) and message.index >= self.index and message.live >= self.live


class PollingBegun(Message):
    """Changes are looked for, because they cannot be watched."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class StoreCounted(Message):
    """How much the store holds: buffers with bytes, those bytes, captures that run."""

    def __init__(self, buffers: int, held: int, running: int) -> None:
        super().__init__()
        self.buffers = buffers
        self.held = held
        self.running = running

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, StoreCounted)


class BufferSelected(Message):
    """The list's cursor stands on a buffer, or its record has changed; None where the list is empty."""

    def __init__(self, buffer: Buffer | None) -> None:
        super().__init__()
        self.buffer = buffer

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, BufferSelected)


class ListFiltered(Message):
    """What the filter has found.

    Attributes:
        found: how many buffers; None where there is no filter.
        close: how many of them are only close to what was typed.
        done: whether all have been looked at.
    """

    def __init__(self, found: int | None, close: int = 0, done: bool = True) -> None:
        super().__init__()
        self.found = found
        self.close = close
        self.done = done

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ListFiltered)


class PromptAnswered(Message):
    """Enter was pressed in a prompt."""

    def __init__(self, prompt: str, text: str) -> None:
        super().__init__()
        self.prompt = prompt
        self.text = text


class PlaceChanged(Message):
    """Which lines of how many the viewer shows, whether it follows, the number being typed, and what else is so.

    The notes are words such as ``raw``, ``stderr only`` or ``hit 3 of 17``; `seen` says who has seen the line that one
    has gone to, or how much of all was seen.
    """

    def __init__(
        self, first: int, last: int, total: int, following: bool, count: str, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__()
        self.notes = notes
        self.seen: list[Part] = []
        self.first = first
        self.last = last
        self.total = total
        self.following = following
        self.count = count

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, PlaceChanged)


class ReadFailed(Message):
    """Something could not be read; what happened, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__()
        self.message = message
        self.hint = hint


class LineMeant(Message):
    """A line of an output is to be shown, by its number in the viewer; with a last one, a range of them."""

    def __init__(self, buffer: Buffer, line: int, last: int = 0) -> None:
        super().__init__()
        self.buffer = buffer
        self.line = line
        self.last = last


class ResultClosed(Message):
    """The person is done with a result."""


class PlaceMeant(Message):
    """A place in the output that is shown is to be gone to, as a person writes it: ``42``, ``50%``."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class OrderChosen(Message):
    """The list is to stand in another order."""

    def __init__(self, order: Order) -> None:
        super().__init__()
        self.order = order


class HitSelected(Message):
    """The cursor stands on a line that was found in an output."""

    def __init__(self, buffer: Buffer, line: "Found") -> None:
        super().__init__()
        self.buffer = buffer
        self.line = line

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, HitSelected)


class ContentsSearched(Message):
    """What a search through all outputs has to say.

    Attributes:
        turn: which search it is.
        progress: what has been found since; None at the end.
        ended: why it ended, empty where all was searched; None while it goes on.
    """

    def __init__(self, turn: int, progress: "Progress | None", ended: str | None) -> None:
        super().__init__()
        self.turn = turn
        self.progress = progress
        self.ended = ended


class DiffMoved(Message):
    """Where the cursor of a comparison stands: the hunk that it is in or behind (0 before the first).

    The notes say what is searched for and what was found.
    """

    def __init__(self, hunk: int, notes: str = "") -> None:
        super().__init__()
        self.hunk = hunk
        self.notes = notes

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, DiffMoved)


class SideLinesChosen(Message):
    """Lines of one side of a comparison: to be opened in their buffer, or copied as their ``ref`` or ``text``."""

    def __init__(self, right: bool, first: int, last: int, *, copied: str = "") -> None:
        super().__init__()
        self.right = right
        self.first = first
        self.last = last
        self.copied = copied


class LineChosen(Message):
    """A line is wanted in its buffer, or those up to a last one.

    The stream that their numbers count in is ``all`` for both in order of arrival.
    """

    def __init__(self, buffer: Buffer, stream: str, line: int, last: int = 0) -> None:
        super().__init__()
        self.buffer = buffer
        self.stream = stream
        self.line = line
        self.last = last


class PromptLeft(Message):
    """A prompt was left with Escape."""

    def __init__(self, prompt: str) -> None:
        super().__init__()
        self.prompt = prompt


class CaseSwitched(Message):
    """Letters are to match in another way than they did in the search that is being typed."""


class SplitDragged(Message):
    """What stands between the panes was dragged to a cell of the screen."""

    def __init__(self, x: int, y: int, *, stacked: bool) -> None:
        super().__init__()
        self.x = x
        self.y = y
        self.stacked = stacked

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, SplitDragged)
