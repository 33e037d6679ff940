"""The records that the floors pass to each other: small typed tuples, whose behaviour follows from their fields.

Two versions of Sightline may share a store. So a field is only ever added, with a default, and never changes its
meaning; a reader takes from a record what it knows.
"""

import os

from sightline.base.errors import BadRef
from sightline.base.refs import format_ref
from sightline.light.late_pattern import re
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Iterable, Mapping
from sightline.shell_words.exit_codes import MAY_ANSWER, MESSAGE_LINES, NEVER_RAN, meaning_of


class StreamInfo(NamedTuple):
    """The facts of one stream.

    Attributes:
        bytes: number of bytes.
        lines: number of lines, split at ``\\n``; a last line without one counts. Pictures and the like have none.
        sha256: its hash, in hex; empty while the capture is running.
        mime: its MIME type; empty if that is not known.
    """

    bytes: int
    lines: int
    sha256: str = ""
    mime: str = ""


NO_STREAM = StreamInfo(0, 0)


def stream_info(values: Iterable[Any]) -> StreamInfo:
    """Read a stream's facts from a list, in which a newer version may have more; media have no lines."""
    info = StreamInfo(*list(values)[: len(StreamInfo._fields)])
    return info._replace(lines=0) if is_media(info.mime) else info


def is_media(mime: str) -> bool:
    """Return whether bytes of a type are a picture, sound or the like, which nobody sees line by line."""
    return mime.startswith(_MEDIA) and not mime.startswith(_DRAWN_BY_TEXT)


_MEDIA = ("image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/octet-stream")
_DRAWN_BY_TEXT = "image/svg"


class Gap(NamedTuple):
    """A place in a stream where something is missing, because it never reached the store.

    It separates lines: if it falls within one, the two ends are lines of their own.

    Attributes:
        stream: ``out``, ``err`` or ``part.N``.
        after: number of lines of the stream before it; 0 for none.
        missing: least amount that is missing; None if that is not known.
        unit: unit of the amount: ``characters``, ``bytes``, ``lines`` or ``tokens``.
    """

    stream: str
    after: int
    missing: int | None = None
    unit: str = "characters"

    @property
    def amount(self) -> str:
        """The amount in words: ``20,012 characters``, or ``an unknown part``."""
        if self.missing is None:
            return "an unknown part"
        return f"{self.missing:,} {self.unit if self.missing != 1 else self.unit.removesuffix('s')}"


def gaps_from(rows: Iterable[Iterable[Any]]) -> tuple[Gap, ...]:
    """Read gaps from lists, in which a newer version may have more. Raises ValueError, TypeError for anything else."""
    found = tuple(Gap(*list(row)[: len(Gap._fields)]) for row in rows)
    for gap in found:
        if not (isinstance(gap.stream, str) and isinstance(gap.after, int) and isinstance(gap.unit, str)):
            raise ValueError("not a gap")
        if gap.missing is not None and not isinstance(gap.missing, int):
            raise ValueError("not a gap")
    return found


class Seal(NamedTuple):
    """What the store knows of a file since it was complete, so that a look at its status shows whether it has changed.

    Attributes:
        file: ``out``, ``err``, ``part.N``, ``order`` or ``lines``.
        bytes: its size.
        mtime_ns: its modification time, in nanoseconds, at which its bytes were those that were sealed.
        altered: (size, modification time) at which its bytes were found to be others; (-1, 0) if it was missing,
            (-2, 0) if it was no file; empty if nothing of the kind is known.
        sha256: its hash, in hex; empty for a stream, whose `StreamInfo` has it.
    """

    file: str
    bytes: int
    mtime_ns: int
    altered: tuple[int, ...] = ()
    sha256: str = ""

    @property
    def what(self) -> str:
        """What has happened to an altered file: ``out was changed after its capture: 12 B instead of 2,000 B``."""
        size = self.altered[0]
        if size < 0:
            return f"{self.file} is {'missing' if size == -1 else 'no longer a file'}"
        name = "the order of out and err" if self.file == "order" else self.file
        sizes = f": {size:,} B instead of {self.bytes:,} B" if size != self.bytes and name == self.file else ""
        return f"{name} was changed after its capture{sizes}"


def read_seals(text: str) -> tuple[Seal, ...]:
    """Read seals from a record, in which they are a text, since lists need none of them. What is no seal is left out.

    Args:
        text: such as ``out 18893 1795836720921696936; order 16 1795836721285601606 4685…``; an altered file has its
            size and time when it was found to be so after a ``!``.
    """
    found = []
    for one in text.split(";"):
        known, _, altered = one.partition("!")
        try:
            file, size, mtime_ns, *more = known.split()
            now = tuple(map(int, altered.split()))
            if len(now) in (0, 2) and len(more) < 2:
                found.append(Seal(file, int(size), int(mtime_ns), now, *more))
        except ValueError:
            continue
    return tuple(found)


def written_seals(seals: Iterable[Seal]) -> str:
    """Write seals as `read_seals` reads them."""
    return "; ".join(
        " ".join(map(str, filter(None, (file, f"{size} {mtime_ns}", sha256, altered and "! {} {}".format(*altered)))))
        for file, size, mtime_ns, altered, sha256 in seals
    )


LONG_ID = 20
"""Characters from which on an id of a call is random enough that no other call has it."""

READ_LATER = "a later call read the file that it wrote to"
"""In the note of a partial output of which the agent looked at the rest."""

REMOVED_THERE = "removed on its host"
"""In the note of an output of another host that a person has removed there."""

COMPLAINED = "a program complained"
"""Part of the note of a command with an exit code that may be an answer, which printed an error beside it."""

STOPPED = "stopped from its terminal"
"""Part of the note of a command whose output ends with ``^C``: somebody has stopped it, so that it has not failed."""

UNHEARD_OF = "whether it still runs is not known"
"""In the note of what ran on another host when that was last heard of."""

TOOL_FAILED = "the tool reported an error"
"""Part of the note of a result that its server or harness marked as an error."""

PARTIAL = "partial: "
"""Prefix of a note that says why a buffer is partial; version 0.1.0 had nothing else for that."""

DROPPED = "dropped past max_stream_bytes"
"""Why a buffer is partial if one of its streams was larger than the part that is kept."""


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
        ended: when it ended; None while it runs.
        accessed: time of the last use, which gives the order of eviction.
        exit_code: None while it runs, after a timeout, and if it is not known.
        signal: number of the signal that ended the command; 0 if none did.
        timed_out: whether the time limit ended it.
        label: a person's or a caller's name for it.
        pinned: whether it is never evicted.
        artifact: id it was imported under, such as ``cmd-1706119234567.txt``.
        note: what else a reader must know of how it was captured (``merged``, ``cut by filter``, …).
        origin: for a file, what tells versions apart: mtime in ns, size, inode and ctime in ns, and the rules for
            secrets; for the input of a command's filters, the name of that command's buffer;
            else empty.
        streams: the facts of each stream that is not empty, by name.
        partial: why it holds only a part of what was written; empty for the whole.
        gaps: where something is missing, as far as that is known; for each stream in order.
        project: root of the repository, or the folder, in which it was captured; empty if the capturing version
            did not record it, see `sightline.base.project`.
        seals: what shows whether its files are still what was captured, see `read_seals`; a stream without one was not
            checked, since a version without seals wrote it.
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
    seals: str = ""

    @property
    def ref(self) -> str:
        """The ref, ``@cmd_a1b2c3``."""
        return format_ref(self.name)

    @property
    def shown_state(self) -> str:
        """The state for all readers: ``expired`` for what the disk calls ``evicted``, ``unknown`` if it may run."""
        if self.state == "running" and UNHEARD_OF in self.note:
            return "unknown"
        return "expired" if self.state == "evicted" else self.state

    @property
    def bytes(self) -> int:
        """Number of bytes of all streams."""
        return sum(stream.bytes for stream in self.streams.values())

    @property
    def lines(self) -> int:
        """Number of lines of all streams."""
        return sum(stream.lines for stream in self.streams.values())

    def stream(self, name: str) -> StreamInfo:
        """Return one stream's facts; an empty stream has no file and is all zeros."""
        return self.streams.get(name, NO_STREAM)

    @property
    def is_partial(self) -> bool:
        """Whether it holds only a part of what was written, because a harness cut it, or its writer died."""
        return bool(self.partial) or (self.state == "interrupted" and not self.is_unanswered)

    def seal(self, file: str) -> Seal | None:
        """Return the seal of a file; None if it has none."""
        return next((seal for seal in read_seals(self.seals) if seal.file == file), None)

    @property
    def is_unsealed(self) -> bool:
        """Whether nothing tells if it was changed, since a version without seals captured it."""
        return self.state in ("sealed", "interrupted") and any(self.seal(stream) is None for stream in self.streams)

    def is_altered(self, file: str) -> bool:
        """Return whether a file is known to have other bytes than were captured."""
        return any(seal.file == file for seal in self.altered_files)

    @property
    def altered_files(self) -> list[Seal]:
        """The seals of files that are known to have other bytes than were captured."""
        return [seal for seal in read_seals(self.seals) if seal.altered] if "!" in self.seals else []

    @property
    def altered(self) -> str:
        """How its files differ from what was captured, in one line, as far as that is known; empty if they do not.

        The line index does not count: it is not used if it was changed.
        """
        return ", ".join(seal.what for seal in self.altered_files if seal.file != "lines")

    @property
    def was_removed(self) -> bool:
        """Whether it is another host's, where a person has removed it. Of our own no record is left then."""
        return self.state == "evicted" and REMOVED_THERE in self.note

    @property
    def is_unanswered(self) -> bool:
        """Whether it is a call of a tool that ended without an answer, of which there can be no part."""
        return self.kind == "tool" and self.state == "interrupted" and not self.streams

    @property
    def missing_lines(self) -> int:
        """Number of lines that are known to be missing; what is missing in other units is not included."""
        return sum(gap.missing or 0 for gap in self.gaps if gap.unit == "lines")

    def runs(self, stream: str) -> list[tuple[int, int]]:
        """Return (first, last) of the lines of a stream between which nothing is missing."""
        total = self.stream(stream).lines
        ends = sorted({gap.after for gap in self.gaps if gap.stream == stream and 0 < gap.after < total} | {total})
        return [(before + 1, end) for before, end in zip((0, *ends), ends, strict=False) if end]

    @property
    def has_end(self) -> bool:
        """Whether the end of its streams is there, whatever is missing before."""
        at_end = any(gap.after >= self.stream(gap.stream).lines for gap in self.gaps)
        return not self.is_partial or (bool(self.gaps) and not at_end)

    @property
    def most_reached(self) -> float:
        """The largest share of what was written that may have reached the store, from 0 to 1."""
        missing = sum(gap.missing or 0 for gap in self.gaps if gap.unit != "lines")
        by_bytes = self.bytes / (self.bytes + missing) if missing else 1.0
        return min(by_bytes, self.lines / (self.lines + self.missing_lines) if self.missing_lines else 1.0)

    @property
    def lost(self) -> str:
        """Why it is partial, and what is missing where, in one line; empty for the whole."""
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
    def seconds(self) -> float | None:
        """How long it took; None while it runs, and if that is not known: then it is recorded to end as it began."""
        return self.ended - self.created if self.ended is not None and self.ended > self.created else None

    @property
    def answer(self) -> str:
        """What its exit code answers, such as ``no match`` of `grep`; empty if it is none, or says how it went."""
        if self.exit_code not in MAY_ANSWER or self.kind != "cmd":
            return ""
        from sightline.shell_words.answers import Wrote, answer_of  # 3 ms, which few outputs need

        wrote = Wrote(bool(self.stream("out").bytes), bool(self.stream("err").bytes), COMPLAINED in self.note)
        return answer_of(self.command, wrote)

    @property
    def exit_meaning(self) -> str:
        """What its exit code says, such as ``no match`` or ``killed``; empty if nothing in particular."""
        if STOPPED in self.note:
            return "interrupted"
        return self.answer or (
            "" if self.exit_code in NEVER_RAN and self.lines > MESSAGE_LINES else meaning_of(self.exit_code)
        )

    @property
    def failed(self) -> bool:
        """Whether it ended badly; an exit code that is an answer is no failure."""
        if self.kind == "cmd" and TOOL_FAILED in self.note:
            return True  # its harness gave no exit code
        ended_badly = bool(self.exit_code) and STOPPED not in self.note and not self.answer
        return self.state == "interrupted" or self.timed_out or ended_badly

    @property
    def may_have_failed(self) -> bool:
        """Whether it failed, or may have, because a command's exit code is not known."""
        unknown = self.kind == "cmd" and self.state == "sealed" and self.exit_code is None
        return self.failed or unknown or TOOL_FAILED in self.note


def written_note(buffer: Buffer) -> str:
    """Return the note as it is stored, where version 0.1.0 reads that a buffer is partial."""
    return "; ".join(filter(None, (PARTIAL + buffer.partial, buffer.note))) if buffer.partial else buffer.note


def with_read_note(buffer: Buffer) -> Buffer:
    """Return a stored record with those parts of its note as fields that have fields now.

    Version 0.1.0 had no such fields, and put ``partial: …`` and what was dropped anywhere into the note.
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
"""The pattern is compiled at its first use, not at every start."""


class Target(NamedTuple):
    """What a ref names.

    Attributes:
        buffer: the buffer's record.
        stream: ``out``, ``err``, ``all`` or ``part.N``.
        first: first line of the range; 0 without a range.
        last: last line; 0 for "to the end", and without a range.
    """

    buffer: Buffer
    stream: str
    first: int = 0
    last: int = 0

    @property
    def ref(self) -> str:
        """Ref of the buffer's stream, without the range."""
        return format_ref(self.buffer.name, self.stream)


def stream_of(buffer: Buffer, stream: str) -> str:
    """Return the stream of a buffer that a name means: a tool's result has blocks in place of out and err.

    Raises:
        BadRef: it means several blocks, or a block that the buffer does not have.
    """
    if buffer.state == "running" or stream in buffer.streams:
        return stream
    if buffer.kind == "tool" and stream in ("out", "all") and buffer.streams:
        if stream == "out" or len(buffer.streams) == 1:
            return next(iter(buffer.streams))
        blocks = ", ".join(format_ref(buffer.name, name) for name in buffer.streams)
        raise BadRef(
            f"{buffer.ref} has {len(buffer.streams):,} blocks, and no order of two streams", f"name one: {blocks}"
        )
    if stream.startswith("part."):
        raise BadRef(f"{buffer.ref} has no block {stream[5:]}", f"it has: {', '.join(buffer.streams) or 'no bytes'}")
    return stream


class Narrowing(NamedTuple):
    """What is wanted of many outputs.

    Attributes:
        words: words that the command must contain, in any case.
        host: a pattern of hosts with ``*`` and ``?``; empty for all.
        since: earliest beginning, seconds since the epoch.
        failed: whether they must have failed, or may have.
        limit: most outputs wanted, the newest first.
        text: the text of a filter, which titles must match as `sightline.search.matcher` decides; it has the words.
        best: most outputs wanted that match the text, the best first; 0 if other conditions choose among them, so that
            similar ones are wanted, too.
    """

    words: tuple[str, ...] = ()
    host: str = ""
    since: float = 0.0
    failed: bool = False
    limit: int = 100
    text: str = ""
    best: int = 0


class Narrowed(NamedTuple):
    """What a store has found without looking at each output.

    Attributes:
        outputs: the newest that match.
        compared: number of the newest outputs whose titles the text was compared with; 0 if all were. Of older ones,
            those are found whose commands have all words.
    """

    outputs: "list[Buffer]"
    compared: int = 0


class Session(NamedTuple):
    """One agent's, or person's, run of asking.

    Attributes:
        name: its name, and that of its audit file, made of ``[A-Za-z0-9._-]``.
        harness: ``claude-code``, ``codex``, …, or ``shell``.
        harness_id: the harness' own id of the session; empty if there is none.
        client: the client's name and version; empty if they are not known.
        cwd: working directory at its start.
        started: seconds since the epoch.
        title: a person's name for it, else the beginning of its first prompt; empty if none is known.
        removed: when a person removed it with its captures, seconds since the epoch; 0 if nobody did.
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
        calls: number of its views in the log.
        first: time of its first view, or without views of its first capture, seconds since the epoch.
        last: time of its last one, likewise.
        buffers: number of buffers that it captured and that still exist.
        bytes: their bytes.
        partial: number of them that hold only a part of what was written.
    """

    calls: int
    first: float
    last: float
    buffers: int = 0
    bytes: int = 0
    partial: int = 0


class Shown(NamedTuple):
    """A range of raw lines that a view showed.

    Attributes:
        buffer: name of the buffer.
        stream: ``out``, ``err`` or ``part.N``.
        first: first line, from 1.
        last: last line, inclusive.
    """

    buffer: str
    stream: str
    first: int
    last: int


def shown_from(values: Iterable[Any]) -> Shown:
    """Read a range from a list in the log, in which a newer version may have more."""
    return Shown(*list(values)[: len(Shown._fields)])


class LinePart(NamedTuple):
    """A raw line that a view showed only in part.

    Attributes:
        buffer: name of the buffer.
        stream: ``out``, ``err`` or ``part.N``.
        line: number of the line, from 1.
        length: bytes of the line, without its newline.
        seen: the bytes that it showed, (first, last), from 1 and inclusive, in order; fewer rather than more
            if that is not certain.
        matched: whether they were recognised in its text.
    """

    buffer: str
    stream: str
    line: int
    length: int
    seen: tuple[tuple[int, int], ...]
    matched: bool = False


def line_part_from(values: Iterable[Any]) -> LinePart:
    """Read a part of a line from a list in the log, in which a newer version may have more."""
    part = LinePart(*list(values)[: len(LinePart._fields)])
    return part._replace(seen=tuple((first, last) for first, last, *_ in part.seen))


class View(NamedTuple):
    """One reply in the audit log, without its text.

    Attributes:
        id: ``SESSION:N``.
        session: name of the session that asked.
        number: its number in the session, from 1.
        time: seconds since the epoch.
        verb: the verb.
        request: its arguments, as a JSON object.
        refs: names of the buffers that it is about.
        shown: the raw lines that it is known to have shown whole.
        lines_shown: number of lines of the buffers that it showed whole.
        lines_total: number of all their lines.
        bytes_shown: bytes of the reply's text.
        bytes_total: bytes of the buffers.
        exit_code: exit code of the command or query; None if there is none.
        truncated: whether something was left out.
        text_sha256: hash of the exact text.
        asked: the raw lines that it was made from and does not show as they are, as far as that was found out.
        matched: the raw lines that were recognised in its text when it was logged.
        parts: the raw lines that it is known to have shown in part; None if a version logged it that did
            not record that, so that any line of ``shown`` may have been cut.
        unknown: what of its text is not known, and why; empty if the text is exact.
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
    """A view's record, and where its line is in its session's audit file (bytes)."""

    view: View
    offset: int
    length: int


class OutputFacts(NamedTuple):
    """What was found in an output.

    Attributes:
        flags: bits, given meaning by whoever judges.
        failures: number of its failures.
        unseen: number of those that stood in no reply.
        lines: number of its lines.
        seen: how many of them were shown, a cut line by its part.
        again: number of lines that a session was shown again.
    """

    flags: int = 0
    failures: int = 0
    unseen: int = 0
    lines: int = 0
    seen: float = 0.0
    again: int = 0


class KeptFacts(NamedTuple):
    """What is kept of an output.

    Attributes:
        name: its name.
        session: that of its session.
        project: the root of its project, or else its working directory.
        cwd: its working directory.
        created: when it was begun, seconds since the epoch.
        is_there: whether it has a row of its own, even if its bytes are gone.
        is_judged: whether it was judged by some rules, so that the facts hold.
        facts: what was found in it.
    """

    name: str
    session: str
    project: str
    cwd: str
    created: float
    is_there: bool
    is_judged: bool
    facts: OutputFacts


class Tally(NamedTuple):
    """The sums over outputs that have the same flags."""

    flags: int
    outputs: int
    failures: int
    unseen: int
    lines: int
    seen: float


class ReplyTotals(NamedTuple):
    """Sums over replies: their number, those that were cut, their bytes, and those in units of some bytes."""

    calls: int = 0
    cut: int = 0
    bytes: int = 0
    units: int = 0


class Note(NamedTuple):
    """A person's remark on a range of lines.

    Attributes:
        id: ``SESSION:N``, by its place in the log.
        session: name of the session that wrote it.
        time: seconds since the epoch.
        ref: the lines, ``@cmd_a1b2c3.err:3-9``, or a whole stream.
        text: the remark; None if it was blanked.
        to: name of the session that is to get it; ``*`` for whoever asks next, empty for nobody.
        sent: when it was sent, seconds since the epoch; 0 if it was not.
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


def plain_codes(**fields: Any) -> dict[str, Any]:
    """Return fields of a record with numbers as codes: a truth value equals one, but is written in another way."""
    return {name: int(value) if isinstance(value, bool) and name in _CODES else value for name, value in fields.items()}


_CODES = ("exit_code", "signal")


def joined_notes(*notes: str) -> str:
    """Join what there is to say of a buffer on one line."""
    return "; ".join(filter(None, notes))


def storable(text: str) -> str:
    """Make text fit for files and tables of the store: bytes that are not UTF-8 become ``\\xNN``."""
    if text.isascii():
        return text
    try:
        return os.fsencode(text).decode(errors="backslashreplace")
    except UnicodeEncodeError:  # half a surrogate pair, as JSON can spell it
        return text.encode(errors="backslashreplace").decode()


def known_fields(kind: type[Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of a record's fields that its kind, a typed tuple, has in this version."""
    return {name: fields[name] for name in kind._fields if name in fields}
