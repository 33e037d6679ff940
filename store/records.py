"""The records that the floors hand each other: small typed tuples, whose behaviour follows from their fields.

Two versions of Sightline may share a store. So a field is only ever added, with a default, and never means anything
else; whoever reads a record takes from it what it knows.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class StreamInfo(NamedTuple):
    """What is known of one stream.

    Attributes:
        bytes: size.
        lines: lines split at ``\\n``; a last line without one counts.
        sha256: hex, empty while the capture is running.
        mime: MIME type, empty where unknown.
    """

    bytes: int
    lines: int
    sha256: str = ""
    mime: str = ""


NO_STREAM = StreamInfo(0, 0)


def stream_info(values: Iterable[Any]) -> StreamInfo:
    """A stream's facts from a list of them, of which a newer version may have more."""
    return StreamInfo(*list(values)[: len(StreamInfo._fields)])


PARTIAL = "partial: "
"""How the note of a buffer begins that is not the whole; why follows."""


class Buffer(NamedTuple):
    """One captured output.

    Times are seconds since the epoch.

    Attributes:
        name: ``cmd_a1b2c3``: the ref without its ``@``.
        kind: ``cmd``, ``file`` or ``tool``.
        state: ``running``, ``sealed``, ``interrupted`` or ``evicted``.
        command: the command line; a file's path; a tool's name and arguments.
        cwd: working directory of the capture.
        session: name of the session that captured it.
        created: when the capture began.
        ended: when it ended, None while it runs.
        accessed: last use, what the LRU order goes by.
        exit_code: None while running, after a timeout, and where it is unknown.
        signal: number of the signal that ended the command, 0 if none did.
        timed_out: whether the time limit ended it.
        label: a person's or a caller's name for it.
        pinned: never evicted.
        artifact: id it was imported under, such as ``cmd-1706119234567.txt``.
        note: what a reader must know of how it was captured (``partial: …``, ``merged``, ``cut by filter``, dropped
            bytes).
        origin: for a file, what tells one version from the next: mtime in ns, size, inode and ctime in ns, and by which
            rules its secrets were hidden; for what went into a command's filters, the name of that command's buffer;
            else empty.
        streams: what each non-empty stream is, by name.
    """

    name: str
    kind: str
    state: str
    command: str
    cwd: str
    session: str
    created: float
    ended: float | None
    accessed: float
    exit_code: int | None
    signal: int
    timed_out: bool
    label: str
    pinned: bool
    artifact: str
    note: str
    origin: str
    streams: dict[str, StreamInfo]

    @property
    def ref(self) -> str:
        """``@cmd_a1b2c3``."""
        return "@" + self.name

    @property
    def bytes(self) -> int:
        """Size of all streams."""
        return sum(stream.bytes for stream in self.streams.values())

    @property
    def lines(self) -> int:
        """Lines of all streams."""
        return sum(stream.lines for stream in self.streams.values())

    def stream(self, name: str) -> StreamInfo:
        """One stream's facts; an empty stream has no file and is all zeros."""
        return self.streams.get(name, NO_STREAM)

    @property
    def is_partial(self) -> bool:
        """Whether it holds only some of what there was, as one may that was imported; its note says why."""
        return self.note.startswith(PARTIAL)

    @property
    def failed(self) -> bool:
        """Whether it ended, and not well."""
        return self.state == "interrupted" or self.timed_out or bool(self.exit_code)


class Session(NamedTuple):
    """One agent's, or person's, run of asking.

    Attributes:
        name: what its audit file is called; made of ``[A-Za-z0-9._-]``.
        harness: ``claude-code``, ``codex``, …, or ``shell``.
        harness_id: the harness' own id of the session, empty where it gives none.
        client: the client's name and version, empty where it gives none.
        cwd: working directory at its start.
        started: seconds since the epoch.
        title: what a person calls it; empty for its name.
        removed: when a person removed it with what it captured, seconds since the epoch; 0 if nobody did.
    """

    name: str
    harness: str
    harness_id: str
    client: str
    cwd: str
    started: float
    title: str = ""
    removed: float = 0.0


class SessionCounts(NamedTuple):
    """What a session did.

    Attributes:
        calls: views in the log.
        first: time of its first one, or of its first capture where it has none; seconds since the epoch.
        last: time of its last one; likewise.
        buffers: buffers that it captured and that are there.
        bytes: of these.
    """

    calls: int
    first: float
    last: float
    buffers: int = 0
    bytes: int = 0


class Shown(NamedTuple):
    """A range of raw lines that stood in a view.

    Attributes:
        buffer: name of the buffer.
        stream: ``out``, ``err`` or ``part.N``.
        first: first line, 1-based.
        last: last line, inclusive.
    """

    buffer: str
    stream: str
    first: int
    last: int


def shown_from(values: Iterable[Any]) -> Shown:
    """A range from a list as the log has it, of which a newer version may have more."""
    return Shown(*list(values)[: len(Shown._fields)])


class LinePart(NamedTuple):
    """A raw line that stood in a view only in part.

    Attributes:
        buffer: name of the buffer.
        stream: ``out``, ``err`` or ``part.N``.
        line: its number, 1-based.
        length: bytes that it has, its newline left out.
        seen: the bytes of it that stood there, (first, last), 1-based and inclusive, in order; fewer rather than more
            where that is not certain.
        matched: whether they were recognised in its text.
    """

    buffer: str
    stream: str
    line: int
    length: int
    seen: tuple[tuple[int, int], ...]
    matched: bool = False


def line_part_from(values: Iterable[Any]) -> LinePart:
    """A part of a line from a list as the log has it, of which a newer version may have more."""
    part = LinePart(*list(values)[: len(LinePart._fields)])
    return part._replace(seen=tuple((first, last) for first, last, *_ in part.seen))


class View(NamedTuple):
    """One reply as the audit log has it, without its text.

    Attributes:
        id: ``SESSION:N``.
        session: name of the session that asked.
        number: its place in the session, from 1.
        time: seconds since the epoch.
        verb: the verb that was called.
        request: its arguments, as a JSON object.
        refs: names of the buffers it concerns.
        shown: the raw lines that are known to have stood in it, whole.
        lines_shown: lines of the buffers in the reply, whole.
        lines_total: lines that they have.
        bytes_shown: bytes of the reply's text.
        bytes_total: bytes of the buffers.
        exit_code: of the command or query, None where there is none.
        truncated: whether something was left out.
        text_sha256: hash of the exact text.
        asked: the raw lines that went into it and do not stand there as they are, as far as that was found out.
        matched: the raw lines that were recognised in its text when it was logged.
        parts: the raw lines of which only a part is known to have stood in it; None where a version logged it that did
            not tell: any line of ``shown`` may then have been cut.
    """

    id: str
    session: str
    number: int
    time: float
    verb: str
    request: str
    refs: tuple[str, ...]
    shown: tuple[Shown, ...]
    lines_shown: int
    lines_total: int
    bytes_shown: int
    bytes_total: int
    exit_code: int | None
    truncated: bool
    text_sha256: str
    asked: tuple[Shown, ...] = ()
    matched: tuple[Shown, ...] = ()
    parts: tuple[LinePart, ...] | None = None


class Note(NamedTuple):
    """A person's remark on a range of lines.

    Attributes:
        id: ``SESSION:N``, its place in the log.
        session: name of the session that wrote it.
        time: seconds since the epoch.
        ref: the lines, ``@cmd_a1b2c3.err:3-9``, or a whole stream.
        text: the remark; None where it was blanked.
        to: name of the session that it is to be sent to, ``*`` for whoever asks next, empty for nobody.
        sent: when it was sent, seconds since the epoch; 0 while it was not.
        sent_to: name of the session that got it.
    """

    id: str
    session: str
    time: float
    ref: str
    text: str | None
    to: str = ""
    sent: float = 0.0
    sent_to: str = ""


def known_fields(kind: type[Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a record's fields that its kind, a typed tuple, has in this version."""
    return {name: fields[name] for name in kind._fields if name in fields}
