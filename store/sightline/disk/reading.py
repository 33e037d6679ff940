"""The protocols for reading a store of any kind: rows, streams and a feed of changes.

`Reading`, in `store`, combines them.
"""

from collections.abc import Iterable, Iterator

from sightline.base.project import FolderCount, Project, Scope
from sightline.base.records import Buffer, IndexedView, Note, OutputFacts, ReplyTotals, Session, SessionCounts, Tally
from sightline.disk.index import Listed, ListFacts, StoreTotals
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Protocol
from sightline.shape.source import LINE_LIMIT, Source

if TYPE_CHECKING:
    from sightline.disk.merged_streams import StreamRun
    from sightline.shape.source import Line, LineSpan


class Stream(Source, Protocol):
    """One stream as it was when it was opened, or last refreshed. Close it, or use it as a context manager."""

    def __enter__(self) -> "Stream": ...

    def __exit__(self, *_: object) -> None: ...

    def close(self) -> None:
        """Close what is open."""

    def refresh(self) -> bool:
        """Take in what has been written since, and return whether there was anything."""

    @property
    def may_wait(self) -> bool:
        """Whether reading may wait for a network."""

    @property
    def newline_count(self) -> int:
        """Number of newlines in the stream."""

    @property
    def ends_with_newline(self) -> bool:
        """Whether the stream is empty or ends with a newline."""

    def offset_of_line(self, number: int) -> int:
        """Return the offset at which a line begins; for a line past the last, the stream's size."""

    def line_at(self, offset: int) -> int:
        """Return the number of the line in which a byte stands."""

    def line_span(self, start: int, end: int) -> "LineSpan":
        """Return the lines of which the bytes from start to before end, at least one, hold more than the newline."""


class MergedStream(Protocol):
    """Both streams of a command in order of arrival; lines count from 1 through both."""

    ref: str

    def close(self) -> None:
        """Close what is open."""

    def refresh(self) -> bool:
        """Take in what has been written since, and return whether there was anything."""

    def source(self, stream: str) -> Stream:
        """Return one of the two, ``out`` or ``err``."""

    @property
    def single(self) -> str:
        """The only stream that has bytes; empty if both have."""

    @property
    def byte_count(self) -> int:
        """Number of bytes of both streams."""

    @property
    def line_count(self) -> int:
        """Number of lines of both streams."""

    def lines(self, first: int, last: int, limit: int = LINE_LIMIT) -> "Iterator[tuple[str, Line]]":
        """Yield (stream, line) for lines first to last of both, inclusive; each line keeps its number in its stream."""

    def runs(self, first: int, last: int) -> "Iterator[StreamRun]":
        """Yield which lines of which stream are lines first to last of both."""

    def before(self, number: int) -> dict[str, int]:
        """Return how many lines of each stream stand before a line of both."""

    def number_of(self, stream: str, line: int) -> int:
        """Return the number among both streams' lines of one stream's line; for a line past the end, of its last."""

    def times(self, first: int, last: int, stream: str = "") -> Iterator[int]:
        """Yield when lines first to last were complete, in nanoseconds since the capture began, as far as recorded.

        Args:
            first: first line, counted through both streams, or in one that is given.
            last: last line, inclusive.
            stream: ``out`` or ``err``; both by default.

        Returns:
            A time for each line that exists; nothing if no times were recorded.
        """


class Rows(Protocol):
    """Buffers, sessions, views and notes, as rows. Times are seconds since the epoch."""

    def buffer(self, name: str) -> Buffer | None:
        """Return the record of a name; None if there is none."""

    def buffers(self, names: Iterable[str]) -> dict[str, Buffer]:
        """Return the records of several names, by name, as far as they are here."""

    def with_prefix(self, prefix: str, limit: int = 3) -> list[Buffer]:
        """Return records whose name begins with a prefix."""

    def totals(self) -> StoreTotals:
        """Return the number of buffers that have bytes, and their bytes."""

    def listed(
        self,
        limit: int,
        *,
        before: int | None = None,
        session: str | None = None,
        project: Project | None = None,
    ) -> list[Listed]:
        """Return buffers, most recently used first, by the rows alone; `Reading.listed` updates running ones."""

    def list_facts(
        self, limit: int, *, before: int | None, characters: int, project: Project | None = None
    ) -> list[ListFacts]:
        """List buffers as `listed` does, but only what is cheap: ten times as many in the same time."""

    def running(self) -> list[Buffer]:
        """Return buffers whose capture has not ended, by the rows."""

    def folders(self) -> list[FolderCount]:
        """Return each folder in which buffers were made, for each project that they record and each of their hosts."""

    def of_session(self, session: str) -> list[Buffer]:
        """Return what a session captured, oldest first, with evicted buffers."""

    def unfiltered(self) -> dict[str, str]:
        """Map the name of a command's buffer to the name of the buffer with its filters' input."""

    def unanswered(self, session: str | None = None) -> list[Buffer]:
        """Return commands and calls of tools that run, or broke off, without any view of them; or only a session's."""

    def previous_run(self, buffer: Buffer, *, anywhere: bool = False) -> Buffer | None:
        """Return the newest older buffer of the same command, in the same folder or, with ``anywhere``, in any."""

    def later_run(self, buffer: Buffer) -> Buffer | None:
        """Return the newest later buffer of the same command and session, in the same folder."""

    def session(self, name: str) -> Session | None:
        """Return the record of a session."""

    def sessions(self) -> list[Session]:
        """Return all sessions, the newest first."""

    def relatives(self, session: Session) -> list[str]:
        """Return the names of a session's helpers, or of the session whose helper it is, which share its id."""

    def session_counts(self) -> dict[str, SessionCounts]:
        """Return what each session asked and captured, by name."""

    def readings(self, session: str | None = None) -> list[tuple[str, str, str]]:
        """Return (reader, captor, buffer) for buffers that were shown to another session than their captor."""

    def view(self, session: str, number: int) -> IndexedView | None:
        """Return one view of a session."""

    def views(
        self, *, buffer: str | None = None, session: str | None = None, since: float = 0.0, limit: int = -1
    ) -> list[IndexedView]:
        """Return views, newest first: of one buffer, of one session, or since a time."""

    def views_of(self, buffer: str, *, session: str | None = None) -> Iterator[IndexedView]:
        """Yield the views of one buffer, oldest first."""

    def views_about(self, buffers: Iterable[str]) -> list[tuple[str, IndexedView]]:
        """Return (buffer, view) for the views of several buffers: all of one after another, oldest first."""

    def views_after(self, number: int, *, session: str | None = None, limit: int = -1) -> list[tuple[int, IndexedView]]:
        """Return (number, view) for views added after a number, in that order."""

    def first_view_of(self, buffer: str) -> int:
        """Return the number of the first view of a buffer that was added, 0 for none."""

    def newest_view(self) -> int:
        """Return the largest number of a view, 0 if there is none; it falls only when all are numbered anew."""

    def numbers_of_views(self) -> int:
        """Return how many numbers of views there are from the smallest to the largest, about as many as views."""

    def view_count(self, session: str) -> int:
        """Return the number of a session's views."""

    def last_entries(self) -> dict[str, int]:
        """Return the number of each session's last view."""

    def notes(self, *, buffer: str | None = None) -> list[Note]:
        """Return notes, oldest first: all, or those on one buffer."""

    def derived(self, buffer: str, key: str) -> str | None:
        """Return a fact that was found out about a buffer's lines before; None if it was not kept."""

    def put_derived(self, buffer: str, key: str, value: str) -> None:
        """Keep a fact, so that it need not be found again; if that is not possible, nothing happens."""

    # what is known of outputs and sessions: see `VerdictIndex`

    def renew_copies(self) -> None: ...

    def in_doubt(self, rules: str, limit: int) -> list[tuple[str, str]]: ...

    def count_in_doubt(self, rules: str) -> int: ...

    def doubts_of(self, names: Iterable[str]) -> list[tuple[str, str]]: ...

    def keep_facts(self, rules: str, found: Iterable[tuple[str, str, OutputFacts]]) -> None: ...

    def place_removed(self, removed: Iterable[Buffer]) -> None: ...

    def facts_of(self, rules: str, names: Iterable[str]) -> dict[str, OutputFacts]: ...

    def tallies(self, rules: str, scope: Scope = ..., by: str = ...) -> list[tuple[str, Tally]]: ...

    def with_flags(
        self, rules: str, any_of: int, scope: Scope = ..., *, order: str = ..., limit: int = ...
    ) -> list[tuple[str, OutputFacts]]: ...

    def seen_lines(self) -> dict[str, float]: ...

    def sessions_about(self, scope: Scope) -> set[str]: ...

    def active_since(self, when: float) -> set[str]: ...

    def session_verdicts(self) -> dict[str, tuple[str, str]]: ...

    def put_session_verdict(self, session: str, judged: str, record: str) -> None: ...

    def forget_verdicts_of(self, sessions: Iterable[str]) -> None: ...

    def reply_totals(self, scope: Scope, unit: int, begun: Iterable[str] = ...) -> ReplyTotals: ...


class SharedPlace(NamedTuple):
    """What is read in place of this machine's store.

    Attributes:
        words: its name, and how far what is here of it reaches: ``37 hosts, newest 4 s ago, 2 behind``.
        trouble: why it does not answer; empty if it does.
        ended: names of the hosts that were jobs of CI, and have shipped everything.
        since: the time since which all of it is here, in seconds since the epoch; 0 if that is everything.
    """

    words: str
    trouble: str = ""
    ended: frozenset[str] = frozenset()
    since: float = 0.0


class Feed(Protocol):
    """Reports changes from its start until it is closed.

    Attributes:
        polling: why it polls; empty if it watches.
    """

    polling: str

    def start(self) -> None:
        """Start."""

    def close(self) -> None:
        """Stop."""


class HostAlarm(NamedTuple):
    """An alarm that a host has raised: its kind, text and command, its ref (empty for none), and ids of its views."""

    kind: str
    text: str
    command: str
    ref: str
    views: tuple[str, ...]


class ToExamine(NamedTuple):
    """What an audit of many hosts still has to examine, after they have said what they found themselves.

    Attributes:
        outputs: names of outputs that failed, or in which something may have; the views of them are taken in.
        cut: names of others of which a reply was cut; likewise.
        sessions: names of sessions whose alarms are not known; all of their calls are taken in.
        alarms: what hosts found wrong in the other sessions.
        others: number of outputs that are not named, since nothing failed in them, or named only as cut.
        not_judged: number of these that are not judged.
        unexamined: number of outputs that no host has examined by the rules that hold here.
        running: number of outputs that are still running, which are not examined.
        session: full name of the only session that is wanted; empty for all.
    """

    outputs: list[str]
    cut: list[str]
    sessions: list[str]
    alarms: list[HostAlarm]
    others: int
    not_judged: int
    unexamined: int
    running: int
    session: str = ""
