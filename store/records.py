"""The records that the floors hand each other: small typed tuples, whose behaviour follows from their fields.

Two versions of Sightline may share a store. So a field is only ever added, with a default, and never means anything
else; whoever reads a record takes from it what it knows.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from sightline.named_tuple import NamedTuple
from sightline.refs import format_ref


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


class Gap(NamedTuple):
    """A place in a stream where something that was written is missing, since it never reached the store.

    It parts lines: where it falls within one, the two ends stand on lines of their own.

    Attributes:
        stream: ``out``, ``err`` or ``part.N``.
        after: lines of the stream that stand before it, 0 for none.
        missing: how much is missing, at least; None where nobody knows.
        unit: of what: ``characters``, ``bytes``, ``lines`` or ``tokens``.
    """

    stream: str
    after: int
    missing: int | None = None
    unit: str = "characters"

    @property
    def amount(self) -> str:
        """``20,012 characters``, or ``an unknown part``."""
        if self.missing is None:
            return "an unknown part"
        return f"{self.missing:,} {self.unit if self.missing != 1 else self.unit.removesuffix('s')}"


def gaps_from(rows: Iterable[Iterable[Any]]) -> tuple[Gap, ...]:
    """Gaps from lists, of which a newer version may have more. Raises ValueError, TypeError for anything else."""
    found = tuple(Gap(*list(row)[: len(Gap._fields)]) for row in rows)
    for gap in found:
        if not (isinstance(gap.stream, str) and isinstance(gap.after, int) and isinstance(gap.unit, str)):
            raise ValueError("not a gap")
        if gap.missing is not None and not isinstance(gap.missing, int):
            raise ValueError("not a gap")
    return found


TOOL_FAILED = "the tool reported an error"
"""In the note of a result that its server or harness marked as an error."""

PARTIAL = "partial: "
"""How the part of a note begins that says why a buffer is not the whole: version 0.1.0 knew it by that alone."""

DROPPED = "dropped past max_stream_bytes"
"""Why a buffer is partial of which a stream was larger than what is kept of one."""


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
        note: what else a reader must know of how it was captured (``merged``, ``cut by filter``, …).
        origin: for a file, what tells one version from the next: mtime in ns, size, inode and ctime in ns, and by which
            rules its secrets were hidden; for what went into a command's filters, the name of that command's buffer;
            else empty.
        streams: what each non-empty stream is, by name.
        partial: why it holds only a part of what was written; empty for the whole.
        gaps: where something is missing, as far as that is known; of each stream in order.
        project: root of the repository, or the folder, that it was captured in; empty where a version captured it that
            did not say, see `sightline.project`.
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
    partial: str = ""
    gaps: tuple[Gap, ...] = ()
    project: str = ""

    @property
    def ref(self) -> str:
        """``@cmd_a1b2c3``."""
        return format_ref(self.name)

    @property
    def shown_state(self) -> str:
        """The state as every reader is told it: ``expired`` for what the disk calls ``evicted``."""
        return "expired" if self.state == "evicted" else self.state

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
        """Whether it holds only a part of what was written: what a harness cut, or what a dead writer never got."""
        return bool(self.partial) or (self.state == "interrupted" and not self.is_unanswered)

    @property
    def is_unanswered(self) -> bool:
        """Whether it is a call of a tool that ended without an answer: there is nothing of which it could be a part."""
        return self.kind == "tool" and self.state == "interrupted" and not self.streams

    @property
    def missing_lines(self) -> int:
        """Lines that are known to be missing; of what is missing in other units nobody knows how many that are."""
        return sum(gap.missing or 0 for gap in self.gaps if gap.unit == "lines")

    def runs(self, stream: str) -> list[tuple[int, int]]:
        """(first, last) of the lines of a stream between which nothing is missing."""
        total = self.stream(stream).lines
        ends = sorted({gap.after for gap in self.gaps if gap.stream == stream and 0 < gap.after < total} | {total})
        return [(before + 1, end) for before, end in zip((0, *ends), ends, strict=False) if end]

    @property
    def most_reached(self) -> float:
        """The largest share of what was written that may have reached the store, from 0 to 1."""
        missing = sum(gap.missing or 0 for gap in self.gaps if gap.unit != "lines")
        by_bytes = self.bytes / (self.bytes + missing) if missing else 1.0
        return min(by_bytes, self.lines / (self.lines + self.missing_lines) if self.missing_lines else 1.0)

    @property
    def lost(self) -> str:
        """Why it is partial and what is missing where, in one line; empty for the whole."""
        if not self.is_partial:
            return ""
        why = self.partial or "its writer died"
        missing = ", ".join(f"{gap.amount} {self._place(gap)}" for gap in self.gaps)
        return f"{why}; missing: {missing}" if missing else f"{why}; how much is missing is not known"

    def _place(self, gap: Gap) -> str:
        of = f" of {gap.stream}" if len(self.streams) > 1 else ""
        if not gap.after:
            return f"before line 1{of}"
        return f"at the end{of}" if gap.after >= self.stream(gap.stream).lines else f"after line {gap.after}{of}"

    @property
    def failed(self) -> bool:
        """Whether it ended, and not well."""
        return self.state == "interrupted" or self.timed_out or bool(self.exit_code)

    @property
    def may_have_failed(self) -> bool:
        """Whether it failed, or ended in a way that nobody knows: a command's code may be unknown."""
        unknown = self.kind == "cmd" and self.state == "sealed" and self.exit_code is None
        return self.failed or unknown or TOOL_FAILED in self.note


def written_note(buffer: Buffer) -> str:
    """The note as it is stored: version 0.1.0 reads there that a buffer is partial."""
    return "; ".join(filter(None, (buffer.partial and PARTIAL + buffer.partial, buffer.note)))


def with_read_note(buffer: Buffer) -> Buffer:
    """A record as it is stored, with that taken out of its note which has fields of its own.

    Version 0.1.0 wrote no such fields, and put ``partial: …`` and what was dropped anywhere into the note.
    """
    if PARTIAL not in buffer.note and DROPPED not in buffer.note:
        return buffer
    if buffer.partial:
        return buffer._replace(note=buffer.note.removeprefix(PARTIAL + buffer.partial).removeprefix("; "))
    notes, whys, gaps = list[str](), list[str](), list[Gap]()
    for note in buffer.note.split("; "):
        if note.startswith(PARTIAL):
            whys.append(note.removeprefix(PARTIAL))
        elif note.startswith(DROPPED):
            whys.append(DROPPED)
            for count, stream in re.findall(_DROPPED_OF, note):
                gaps.append(Gap(stream, buffer.stream(stream).lines, int(count.replace(",", "")), "bytes"))
        else:
            notes.append(note)
    return buffer._replace(note="; ".join(notes), partial=", ".join(whys), gaps=tuple(gaps))


_DROPPED_OF = r"([\d,]+) B of (out|err|part\.\d+)"
"""A pattern that is compiled where one is found, not at every start."""


class Session(NamedTuple):
    """One agent's, or person's, run of asking.

    Attributes:
        name: what its audit file is called; made of ``[A-Za-z0-9._-]``.
        harness: ``claude-code``, ``codex``, …, or ``shell``.
        harness_id: the harness' own id of the session, empty where it gives none.
        client: the client's name and version, empty where it gives none.
        cwd: working directory at its start.
        started: seconds since the epoch.
        title: what a person calls it, else what it was first asked, or its harness calls it; empty where none is known.
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
        partial: of these, how many hold only a part of what was written.
    """

    calls: int
    first: float
    last: float
    buffers: int = 0
    bytes: int = 0
    partial: int = 0


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
        unknown: what of its text is not known, and why; empty where it is exact.
        failed: whether it was an error, or what a tool reported as one.
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
    unknown: str = ""
    failed: bool = False


class IndexedView(NamedTuple):
    """A view's record, and where its line stands in its session's audit file (bytes)."""

    view: View
    offset: int
    length: int


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


def joined_notes(*notes: str) -> str:
    """What there is to tell of a buffer, on one line."""
    return "; ".join(filter(None, notes))


def storable(text: str) -> str:
    """Text that every file and table of the store can hold: bytes of an argument that are no UTF-8 become ``\\xNN``."""
    if text.isascii():
        return text
    try:
        return os.fsencode(text).decode(errors="backslashreplace")
    except UnicodeEncodeError:  # half a surrogate pair, as JSON can spell it
        return text.encode(errors="backslashreplace").decode()


def known_fields(kind: type[Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a record's fields that its kind, a typed tuple, has in this version."""
    return {name: fields[name] for name in kind._fields if name in fields}
