"""What a store is read by, whatever kind it is: rows, streams and a feed of changes, as protocols.

`Reading`, in `store`, is all of it together.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from sightline.disk.index import Brief, Listed, Totals
from sightline.named_tuple import NamedTuple
from sightline.project import Project
from sightline.records import Buffer, IndexedView, Note, Session, SessionCounts
from sightline.shape.source import LINE_LIMIT, Source

if TYPE_CHECKING:
    from sightline.disk.merged_streams import Run
    from sightline.shape.source import Line, LineSpan


class Stream(Source, Protocol):
    """One stream as it stood when it was opened, or last refreshed. Close it, or use it as a context manager."""

    def __enter__(self) -> "Stream": ...

    def __exit__(self, *_: object) -> None: ...

    def close(self) -> None:
        """Let go of what is open."""

    def refresh(self) -> bool:
        """Take in what has been written since; whether there was anything."""

    @property
    def newline_count(self) -> int:
        """Newlines in the stream."""

    @property
    def ends_with_newline(self) -> bool:
        """Whether the stream is empty or its last line is whole."""

    def offset_of_line(self, number: int) -> int:
        """The byte, from 0, that a line begins with; the stream's size for any line past the last."""

    def line_at(self, offset: int) -> int:
        """Number of the line that a byte stands in."""

    def line_span(self, start: int, end: int) -> "LineSpan":
        """The lines of which the bytes from start to before end, at least one, hold anything but the newline."""


class MergedStream(Protocol):
    """Both streams of a command in order of arrival; lines count from 1 through both."""

    ref: str

    def close(self) -> None:
        """Let go of what is open."""

    def refresh(self) -> bool:
        """Take in what has been written since; whether there was anything."""

    def source(self, stream: str) -> Stream:
        """One of the two, ``out`` or ``err``."""

    @property
    def single(self) -> str:
        """The only stream that has bytes, or empty where both have."""

    @property
    def byte_count(self) -> int:
        """Bytes of both streams."""

    @property
    def line_count(self) -> int:
        """Lines of both streams."""

    def lines(self, first: int, last: int, limit: int = LINE_LIMIT) -> "Iterator[tuple[str, Line]]":
        """(stream, line) for lines first to last of both, inclusive; each line keeps its number in its stream."""

    def runs(self, first: int, last: int) -> "Iterator[Run]":
        """Which lines of which stream are lines first to last of both."""

    def before(self, number: int) -> dict[str, int]:
        """How many lines of each stream stand before a line of both."""

    def number_of(self, stream: str, line: int) -> int:
        """The number among the lines of both that a line of one stream has; past the end, that of the last one."""

    def times(self, first: int, last: int, stream: str = "") -> Iterator[int]:
        """When lines first to last arrived whole, in nanoseconds since the capture began, as exactly as was recorded.

        Args:
            first: counted through both streams, or in one where that is given.
            last: inclusive.
            stream: ``out`` or ``err``; both by default.

        Returns:
            A time for each line that exists; nothing at all where no times were recorded.
        """


class Rows(Protocol):
    """What is known of buffers, sessions, views and notes, as rows. Times are seconds since the epoch."""

    def buffer(self, name: str) -> Buffer | None:
        """The record of a name; None where there is none."""

    def totals(self) -> Totals:
        """How many buffers have bytes, and how many bytes."""

    def listed(
        self,
        limit: int,
        *,
        before: int | None = None,
        session: str | None = None,
        project: Project | None = None,
    ) -> list[Listed]:
        """Buffers, most recently used first, as the rows have them: `Reading.listed` looks at running ones anew."""

    def briefs(self, limit: int, *, before: int | None, characters: int, project: Project | None = None) -> list[Brief]:
        """As `listed`, without what costs: ten times as many in the same time; of each command the first characters."""

    def running(self) -> list[Buffer]:
        """Buffers whose capture has not ended as far as the rows tell."""

    def folders(self) -> list[tuple[str, str, int]]:
        """(project, working directory, how many buffers), for each two that go together; the project may be empty."""

    def of_session(self, session: str) -> list[Buffer]:
        """What a session captured, oldest first; what was evicted, too."""

    def unfiltered(self) -> dict[str, str]:
        """By name of a command's buffer, the name of the one that has what went into the command's filters."""

    def unanswered(self) -> list[Buffer]:
        """Commands and calls of tools that go on, or broke off, before anybody was shown anything of them."""

    def previous_run(self, buffer: Buffer, *, anywhere: bool = False) -> Buffer | None:
        """The newest older buffer of the same command, in the same folder or, ``anywhere``, in any."""

    def session(self, name: str) -> Session | None:
        """The record of a session."""

    def sessions(self) -> list[Session]:
        """All sessions, the newest first."""

    def session_counts(self) -> dict[str, SessionCounts]:
        """What each session asked and captured, by name."""

    def readings(self, session: str | None = None) -> list[tuple[str, str, str]]:
        """(reader, captor, buffer) of buffers that were shown to another session than the one that captured them."""

    def view(self, session: str, number: int) -> IndexedView | None:
        """One view of a session."""

    def views(
        self, *, buffer: str | None = None, session: str | None = None, since: float = 0.0, limit: int = -1
    ) -> list[IndexedView]:
        """Views, newest first; of one buffer, of one session, or from a time on."""

    def views_after(self, number: int, *, session: str | None = None, limit: int = -1) -> list[tuple[int, IndexedView]]:
        """(number, view) of those that were added after one, in that order."""

    def newest_view(self) -> int:
        """The largest number of a view, 0 where there is none; it falls only where all were numbered anew."""

    def view_count(self, session: str) -> int:
        """How many views of a session there are."""

    def last_entries(self) -> dict[str, int]:
        """By session, the number of its last view."""

    def notes(self, *, buffer: str | None = None) -> list[Note]:
        """Notes, oldest first: all, or those on one buffer."""

    def derived(self, buffer: str, key: str) -> str | None:
        """Something that was found out about a buffer's lines before; None where it was not kept."""

    def put_derived(self, buffer: str, key: str, value: str) -> None:
        """Keep such a thing, so that it need not be found again; where it cannot be kept, nothing happens."""


class Narrowing(NamedTuple):
    """What is wanted of many outputs.

    Attributes:
        words: that the command holds, all of them, in any case.
        host: a pattern of hosts with ``*`` and ``?``; empty for all.
        since: when they were begun at the earliest, seconds since the epoch.
        failed: whether they may have failed.
        limit: so many at most, the newest.
    """

    words: tuple[str, ...] = ()
    host: str = ""
    since: float = 0.0
    failed: bool = False
    limit: int = 100


class Place(NamedTuple):
    """What is read where that is not the store of this machine.

    Attributes:
        words: what it is, and how far what is here of it reaches: ``37 hosts, newest 4 s ago, 2 behind``.
        trouble: why it does not answer; empty where it does.
    """

    words: str
    trouble: str = ""


class Feed(Protocol):
    """Tells of changes from its start until it is closed.

    Attributes:
        polling: why it polls, empty where it watches.
    """

    polling: str

    def start(self) -> None:
        """Begin to listen."""

    def close(self) -> None:
        """Stop listening."""
