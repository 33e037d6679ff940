"""The protocol by which verbs, the audit and the inspector read a store of any kind.

A method with a body says what holds unless a kind of store says otherwise.
"""

from sightline.base.project import Project, Scope
from sightline.base.records import Buffer, Narrowed, Narrowing, Note, Target
from sightline.base.refs import Ref
from sightline.disk.rows import Listed, Rows
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    Callable,
    Generic,
    Iterable,
    Protocol,
    Sequence,
    TypeVar,
)
from sightline.settings.config import Settings

if TYPE_CHECKING:
    from sightline.base.request_usage import RequestSum
    from sightline.disk.changes import Change
    from sightline.disk.merged_streams import MergedReader
    from sightline.disk.pretty import Facts
    from sightline.disk.streams import StreamReader
    from sightline.light.typing_names import Iterable, Self, Sequence
    from sightline.shape.failure.catalogue import RuleFile

    class Requests(Protocol):
        """The sums of requests to models; see `disk.request_rows.RequestRows`."""

        def models(self) -> list[str]:
            """Return the names of the models that requests were made to."""

        def sums(
            self,
            group: str,
            *,
            since: float = 0.0,
            sessions: Iterable[str] | None = None,
            times: Sequence[float] = (),
            sizes: Sequence[int] = (),
        ) -> list[RequestSum]:
            """Return sums of requests by group, model and whatever else changes a price."""


Local = TypeVar("Local", covariant=True)
"""The class of this machine's own store, which is made in a room above."""


class Place(NamedTuple):
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


class StatedAlarm(NamedTuple):
    """An alarm that a host has raised: its kind, text and command, its ref (empty for none), and ids of its views."""

    kind: str
    text: str
    command: str
    ref: str
    views: tuple[str, ...]


class JudgedSession(NamedTuple):
    """What is known of a session: its alarms, numbers of messages, and what is wrong with its log."""

    alarms: tuple[StatedAlarm, ...] = ()
    messages: int = 0
    not_read: int = 0
    broken: str = ""


class StatedSessions(NamedTuple):
    """What hosts have told of the sessions of a scope, by name, and those of which they have told nothing new."""

    known: dict[str, JudgedSession]
    unknown: list[str]


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
    alarms: list[StatedAlarm]
    others: int
    not_judged: int
    unexamined: int
    running: int
    session: str = ""


class Reading(Protocol, Generic[Local]):
    """What verbs, the audit and the inspector read: this machine's store, or another kind of store.

    It has no paths, except that of `local_copy`. Every method raises StoreFailed if the store cannot be
    read. Threads may share it; close it, or use it as a context manager.
    """

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open."""

    @property
    def local(self) -> Local:
        """The store of this machine, which logs what is shown and remarked."""

    @property
    def settings(self) -> Settings:
        """The settings for the reader."""

    @property
    def place(self) -> "Place | None":
        """What is read, and how far it reaches; None for the store of this machine."""
        return None

    @property
    def rule_files(self) -> "tuple[RuleFile, ...]":
        """The files of rules that a person, or other packages, have added, as they are now."""

    # finding

    @property
    def index(self) -> Rows:
        """The rows as they are now."""

    @property
    def requests(self) -> "Requests":
        """The sums of requests to models."""

    def resolve(self, ref: str | Ref, *, session: str | None = None, prefixes: bool = False) -> Target:
        """Return what a ref names.

        Args:
            ref: the ref.
            session: the session whose newest command ``@last`` means; None for the store's newest.
            prefixes: whether a unique prefix of a name is enough, as for people.

        Raises:
            BadRef, BadRange: it is not a ref.
            UnknownRef: no buffer has or had this name.
            ExpiredRef: the buffer has expired or was removed.
            AmbiguousRef: several buffers could be meant.
        """

    def listed(
        self,
        limit: int,
        *,
        before: int | None = None,
        session: str | None = None,
        project: Project | None = None,
    ) -> list[Listed]:
        """Return buffers with their places in the order of use, most recently used first; see `Rows.listed`."""
        return self.index.listed(limit, before=before, session=session, project=project)

    def narrowed(self, wanted: Narrowing, /) -> Narrowed | None:  # noqa: ARG002
        """Return the newest matching outputs if the store can find them without looking at each; else None."""
        return None

    def to_examine(
        self,
        since: float,  # noqa: ARG002
        session: str = "",  # noqa: ARG002
        project: "Project | None" = None,  # noqa: ARG002
        /,
    ) -> "ToExamine | None":
        """Take in what an audit has to examine; None if it has to examine all that is here.

        Args:
            since: earliest time, seconds since the epoch.
            session: the only session wanted, by its name or the beginning of it; empty for all.
            project: the only project wanted; None for all.
        """
        return None

    def stated_sessions(self, scope: Scope, /) -> "StatedSessions | None":  # noqa: ARG002
        """Return what hosts have told of the sessions of a scope; None if all of their calls are here.

        The calls of those of which nothing is told are taken in.
        """
        return None

    def tombstone(self, name: str) -> dict[str, Any] | None:
        """Return what is left of a gone buffer; None if it never existed."""

    # what changes

    def bring_up_to_date(self, since: float | None = None, /) -> bool:  # noqa: ARG002
        """Take in what others have added, and return whether anything is new. A store of one machine always has it.

        Args:
            since: earliest time wanted, seconds since the epoch; None for as much as lists usually need.
        """
        return False

    def changes(self, tell: "Callable[[Change], None]", *, polls: Callable[[str], None] | None = None) -> Feed:
        """Return a feed of others' changes, to be started.

        Args:
            tell: called with each change.
            polls: called with the reason if the feed can only poll.
        """

    def end_dead_captures(self) -> None:
        """From now on, report captures whose writer has died as interrupted, where that can be found out here."""
        return

    def with_progress(self, buffer: Buffer) -> Buffer:
        """Return the record with the present facts of its streams, if it is still running."""

    def checked(self, buffer: Buffer, *opened: str) -> Buffer:  # noqa: ARG002
        """Return the record with how its files differ from what was sealed, where they can change.

        Args:
            buffer: the record.
            opened: streams that are also hashed if they have no seal, since a version without seals wrote them.
        """
        return buffer

    def look_for_changes(self, seconds: float | None = None) -> None:  # noqa: ARG002
        """Compare all outputs with their seals, where their files can change; what differs is hashed once.

        Args:
            seconds: how long to go on with that, where the last such call has stopped, and at most once a minute
                through all; None to compare all now.
        """
        return

    def remark(self, target: Target, text: str, to: str, /) -> Note | None:  # noqa: ARG002
        """Send a remark on lines to a session, if others deliver it; None if our own log keeps it.

        Raises:
            UsageError: the text is empty, or too long.
        """
        return None

    # reading

    def open(self, target: Target) -> "StreamReader":
        """Open one stream, its bytes as they were written. Raises ExpiredRef or StoreFailed if it is gone."""

    def open_merged(self, buffer: Buffer) -> "MergedReader":
        """Open both streams of a buffer in order of arrival. Raises what `open` raises."""

    def pretty_facts(self, target: Target) -> "Facts | None":
        """Return the facts of the pretty form of JSON or UTF-16; None if a stream's lines are those of its bytes."""
        if not target.buffer.stream(target.stream).mime:
            return None
        from sightline.disk.pretty import facts_of  # 4 ms, which only results and UTF-16 need

        return facts_of(target.buffer, target.stream)

    def open_text(self, target: Target) -> "StreamReader":
        """Open a stream for reading by lines: as `open`, but a result's JSON block, and UTF-16, in its pretty form."""
        facts = self.pretty_facts(target)
        return self.open(target) if facts is None else self.open_pretty(target, facts)

    def open_pretty(self, target: Target, facts: "Facts") -> "StreamReader":
        """Open the pretty form of a stream. Raises what `open` raises."""

    def local_copy(self, target: Target, *, raw: bool = False) -> str:
        """Return a file on this machine with the lines of `open_text`, or the raw bytes of `open`, for programs that
        read files. Raises what `open` raises."""

    def open_log(self, session: str) -> BinaryIO:
        """Open the log of a session, lines of JSON, for reading from any byte on. Raises FileNotFoundError."""

    def open_events(self, session: str) -> BinaryIO:
        """Open at least those lines of the log that say what happened to the context, and what the agent said."""
        return self.open_log(session)
