"""Reads transcripts: whole lines as they come, from any file however damaged, in bounded memory."""

import os
import stat
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime

from sightline.base.errors import SightlineError
from sightline.base.records import Gap
from sightline.base.request_usage import MOST_TOKENS, RequestUsage
from sightline.base.sha256 import sha256_hex
from sightline.harnesses.tool_call import CallSession, ToolCall, dict_of, plain, text_of, unique_id
from sightline.light.json_text import TooDeep, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Protocol
from sightline.log.session_events import TRANSCRIPT, AgentMessage, SessionEvent, SessionSubject, prompt_of, subject_of
from sightline.log.session_origins import SessionOrigin

LINE_BYTES = 64 << 20
"""A longer line is not read. One or two images fit, but a file without newlines must not fill the memory."""

DOCUMENT_BYTES = 64 << 20
"""A larger document is not read, because one that is not made of lines must be held whole."""

TOO_DEEP = "it is nested too deeply"

ID_CHARACTERS = 200
_NAME_CHARACTERS = 200
_LAST_SECOND = 253_402_300_799.0  # the last of the year 9999
_LARGEST_CODE = (1 << 31) - 1


class BadRecord(NamedTuple):
    """A record of a transcript that could not be read.

    Attributes:
        line: its line, from 1; 0 if there are no lines.
        text: what is wrong with it.
        unknown: whether it is of an unknown sort, rather than damaged.
    """

    line: int
    text: str
    unknown: bool = False


class ToldEvent(NamedTuple):
    """An event in the context of a session, or a message of its agent."""

    session: CallSession
    what: SessionEvent


class ToldUsage(NamedTuple):
    """The tokens of a request to a model, by one record of it; several records of a request have one id."""

    session: CallSession
    what: RequestUsage


class ToldOrigin(NamedTuple):
    """From which other session one came."""

    session: CallSession
    what: SessionOrigin


TranscriptItem = ToolCall | BadRecord | ToldEvent | ToldUsage | ToldOrigin


class NotReadable(SightlineError):
    """A transcript cannot be read, or has no known format."""

    exit_code = 2


class TranscriptLine(NamedTuple):
    """One whole line: its number from 1, its bytes, and whether it ended in a newline."""

    number: int
    data: bytes
    ended: bool = True


class Transcript:
    """A file that may still be written.

    Attributes:
        path: path of the file.
        position: number of bytes read.
    """

    def __init__(self, path: str) -> None:
        """Open the file. Raises NotReadable for anything but a regular file that we may read."""
        self.path = path
        self.position = 0
        self._number = 0
        self._skipping = 0
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise NotReadable(f"{path}: {error.strerror or error}") from error
        self._file = os.fdopen(fd, "rb", buffering=1 << 18)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            self._file.close()
            raise NotReadable(f"{path} is not a regular file", "name a transcript, or a folder with some")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def status(self) -> os.stat_result:
        """Return the status of the open file, even if its name belongs to another now."""
        return os.fstat(self._file.fileno())

    def start_at(self, position: int) -> None:
        """Read on from a byte at which a line begins; lines are numbered from there."""
        self._file.seek(position)
        self.position, self._number, self._skipping = position, 0, 0

    def head(self, size: int) -> bytes:
        """Return the first bytes without counting them as read."""
        return os.pread(self._file.fileno(), size, 0)

    def tail(self, size: int) -> bytes:
        """Return the last bytes without counting them as read."""
        return os.pread(self._file.fileno(), size, max(0, self.status.st_size - size))

    def lines(self, *, last: bool = False) -> Iterator[TranscriptLine]:
        """Yield the whole lines from where reading stopped.

        Args:
            last: whether to yield also a last line without a newline, because nobody is writing it any more.

        A line that is too long comes empty.
        """
        while data := self._file.readline(LINE_BYTES):
            if data.endswith(b"\n"):
                self._number += 1
                self.position += len(data)
                skipped, self._skipping = self._skipping, 0
                yield TranscriptLine(self._number, b"" if skipped else data)
            elif len(data) == LINE_BYTES:
                self._skipping += len(data)
                self.position += len(data)
            else:
                break
        if last and (data or self._skipping):
            self._number += 1
            self.position += len(data)
            skipped, self._skipping = self._skipping, 0
            yield TranscriptLine(self._number, b"" if skipped else data, ended=False)
        elif data:
            self._file.seek(self.position)

    def document(self) -> bytes:
        """Return all of it. Raises NotReadable if it is too large to hold."""
        size = self.status.st_size
        if size > DOCUMENT_BYTES:
            raise NotReadable(f"{self.path} has {size:,} bytes; a document of at most {DOCUMENT_BYTES:,} can be read")
        self._file.seek(0)
        data = self._file.read(DOCUMENT_BYTES)
        self.position = len(data)
        return data


class Candidate(NamedTuple):
    """A file that each harness may recognise as its transcript.

    Attributes:
        path: path of the file.
        written: when it was last written, seconds since the epoch.
        transcript: the open file.
        head: its first bytes.
        records: its first lines, as far as they are objects.
    """

    path: str
    written: float
    transcript: Transcript
    head: bytes
    records: list[dict[str, Any]]

    @property
    def is_document(self) -> bool:
        """Whether it can be one JSON document."""
        return self.head.lstrip()[:1] in (b"{", b"[")

    def of_lines(self, parser: "Parser") -> "TranscriptReading":
        """Return a reading of it with a record on each line."""
        return LineReading(self.transcript, parser)

    def of_document(self, read: Callable[[Any], Iterator[TranscriptItem]]) -> "TranscriptReading":
        """Return a reading of it as one document."""
        return DocumentReading(self.transcript, read)


class Lineage(NamedTuple):
    """What the beginning of a transcript says about whose history it may repeat.

    Attributes:
        session: the harness' id of its session.
        parents: ids of the sessions from which this one was forked, resumed or spawned.
        beginning: id of its first record; transcripts that share it are copies of one beginning. Empty if not known.
    """

    session: str
    parents: tuple[str, ...] = ()
    beginning: str = ""


class TranscriptReading(Protocol):
    """A transcript that is being read. A reading yields nothing twice."""

    def advance(self) -> Iterator[TranscriptItem]:
        """Yield what has come since."""

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield what waits for more, as far as it is known, because nothing more will come."""

    def close(self) -> None:
        """Close what is open."""

    @property
    def waiting(self) -> bool:
        """Whether something waits for more."""

    @property
    def newest(self) -> float:
        """When its newest record was made, by its own words; 0 if they do not tell, or its end is not written yet."""

    @property
    def position(self) -> int:
        """Number of bytes read."""


class Parser(Protocol):
    """Makes calls from records; pure."""

    def feed(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the calls that a record completes."""

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield the calls that wait for more."""

    @property
    def waiting(self) -> bool:
        """Whether some calls wait for more."""

    @property
    def newest(self) -> float:
        """When the newest record was made, by its own words; 0 if that is not told, or never of interest."""


class SessionParser:
    """What parsers share in which a result names its call, so that nothing waits as a rule. Give `items`."""

    def __init__(self, harness: str, written: float) -> None:
        """Prepare to read a file of a harness that was last changed at this time, in seconds since the epoch."""
        self._session = CallSession(harness, "", harness, "", written)
        self._time = written
        self._asked: dict[str, tuple[float, str, Any]] = {}
        self._has_subject = False
        self._origins: tuple[str, ...] = ()  # sessions whose history this one may begin with

    @property
    def waiting(self) -> bool:
        """Whether some calls wait for more."""
        return False

    @property
    def newest(self) -> float:
        """When the newest record was made."""
        return self._time

    def feed(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the calls and events that a line completes."""
        self._time = when(record.get("timestamp"), self._time)
        try:
            yield from self.items(record, line)
        except SHAPE_ERRORS as error:
            yield misshapen(line, error)

    @abstractmethod
    def items(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the same. Raises SHAPE_ERRORS for a record whose shape is not known."""

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield nothing, because nothing waits."""
        return iter(())

    def told(self, what: SessionEvent) -> ToldEvent:
        """Return what the session tells."""
        return ToldEvent(self._session, what)

    def prompted(self, text: str, event: str) -> Iterator[ToldEvent]:
        """Yield a prompt, and what the session is about, at the first prompt that says so."""
        if not self._has_subject and (subject := subject_of(text)):
            self._has_subject = True
            yield self.told(SessionSubject(self._time, plain(subject), f"{event}:about", TRANSCRIPT))
        if prompt := prompt_of(text, self._time, f"{event}:prompt", TRANSCRIPT):
            yield self.told(prompt)

    def said(self, text: str, event: str) -> Iterator[ToldEvent]:
        """Yield a message of the agent, unless it is blank."""
        if text.strip():
            yield self.told(AgentMessage(self._time, plain(text), event, TRANSCRIPT))

    def asks(self, use: Any, tool: Any, arguments: Any) -> None:
        """Note a call that the model makes."""
        self._asked[text_of(use)] = self._time, text_of(tool), arguments

    def answered(self, use: str, name: str, runs: Collection[str], line: int, entry: str = "") -> ToolCall:
        """Return a call that has its result now, without that.

        Args:
            use: the model's id of it.
            name: the tool's name, where its request was not seen; else it is what `named` makes of that request's.
            runs: names of tools that run commands.
            line: the line of the result.
            entry: further words that tell this call from others with the same id.
        """
        asked, tool, arguments = self._asked.pop(use, (self._time, "", {}))
        tool = self.named(tool) or name or "tool"
        command = dict_of(arguments).get("command") if tool in runs else None
        known = self._session.id
        return ToolCall(
            session=self._session,
            id=unique_id(known, f"{known}:{use}" + (f":{entry}" if entry else "")),
            use=use,
            line=line,
            asked=asked,
            answered=self._time,
            tool=tool,
            arguments=arguments,
            kind="cmd" if isinstance(command, str) else "tool",
            command=plain(command) if isinstance(command, str) else "",
            cwd=self._session.cwd,
            origins=self._origins,
        )

    def named(self, tool: str) -> str:
        """Return what hooks call a tool."""
        return tool


class LiveParser(Parser, Protocol):
    """The parser of a transcript that hooks follow; ``TURN`` beside it are bytes in the first line of a turn."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits for later records, so that reading can resume here."""

    @property
    def held(self) -> Sequence[ToolCall]:
        """Calls that come behind the end of something that goes on."""

    def asks(self, use: str) -> bool:
        """Return whether the newest call with an id has no result yet."""

    def ended(self, use: str) -> ToolCall | None:
        """Return what a call gave that has ended, even without its result; None while that is not written."""


class LineReading:
    """Reads a transcript with a JSON object on each line."""

    def __init__(self, transcript: Transcript, parser: Parser) -> None:
        self._transcript = transcript
        self._parser = parser

    def advance(self) -> Iterator[TranscriptItem]:
        """Yield what whole lines have come since."""
        return self._read(last=False)

    def skip(self, position: int) -> None:
        """Read on from the first line that begins behind a byte, if each line says all about itself."""
        if position > 0 and getattr(self._parser, "lines_stand_alone", False):
            self._transcript.start_at(position)
            next(self._transcript.lines(), None)  # the rest of a line

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield a last line without an end, and what waits."""
        yield from self._read(last=True)
        yield from self._parser.finish()

    def close(self) -> None:
        """Close the file."""
        self._transcript.close()

    @property
    def position(self) -> int:
        """Number of bytes read."""
        return self._transcript.position

    @property
    def waiting(self) -> bool:
        """Whether a call waits for more, or a line for its end."""
        return self._parser.waiting or not self._is_at_end

    @property
    def newest(self) -> float:
        """When its newest record was made; 0 while a line waits for its end."""
        return getattr(self._parser, "newest", 0.0) if self._is_at_end else 0.0  # a plugin of 0.2 has none

    @property
    def _is_at_end(self) -> bool:
        return self._transcript.position >= self._transcript.status.st_size

    def _read(self, *, last: bool) -> Iterator[TranscriptItem]:
        for line in self._transcript.lines(last=last):
            record = load_object(line)
            if isinstance(record, BadRecord):
                yield record
            elif record is not None:
                try:
                    yield from self._parser.feed(record, line.number)
                except SHAPE_ERRORS as error:
                    yield misshapen(line.number, error)


class DocumentReading:
    """Reads a transcript that is one JSON document: whole, and whole again after a change."""

    waiting = False
    newest = 0.0

    def __init__(self, transcript: Transcript, read: Callable[[Any], Iterator[TranscriptItem]]) -> None:
        self._transcript = transcript
        self._events = read
        self._given: set[str] = set()

    def advance(self) -> Iterator[TranscriptItem]:
        """Yield calls that are new."""
        try:
            document = loads(self._transcript.document())
        except TooDeep:
            yield BadRecord(0, TOO_DEEP)
            return
        except ValueError:
            yield BadRecord(0, "not JSON")
            return
        for event in self._events(document):
            if isinstance(event, ToolCall):
                if event.id in self._given:
                    continue
                self._given.add(event.id)
            yield event

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield nothing, because nothing waits."""
        return iter(())

    def close(self) -> None:
        """Close the file."""
        self._transcript.close()

    @property
    def position(self) -> int:
        """Number of bytes read."""
        return self._transcript.position


SHAPE_ERRORS = (TypeError, ValueError, KeyError, AttributeError, IndexError, RecursionError)
"""What a parser raises for a record whose shape it did not expect."""


def misshapen(line: int, error: Exception) -> BadRecord:
    """Return what to report about such a record."""
    return BadRecord(line, f"not of the known shape: {type(error).__name__}: {error}"[:200])


def load_object(line: TranscriptLine) -> dict[str, Any] | BadRecord | None:
    """Return a line's object; None for a blank line."""
    if not line.data:
        return BadRecord(line.number, f"a line of more than {LINE_BYTES >> 20} MiB was not read")
    if line.data.isspace():
        return None
    try:
        record = loads(line.data)
    except TooDeep:
        return BadRecord(line.number, TOO_DEEP)
    except ValueError:
        return BadRecord(line.number, "not JSON" if line.ended else "the line ends in the middle")
    if not isinstance(record, dict):
        return BadRecord(line.number, "not a JSON object")
    return record


def when(value: Any, otherwise: float = 0.0) -> float:
    """Return the seconds since the epoch of an ISO 8601 text; ``otherwise`` for anything else."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return otherwise
    return otherwise


class KeptText(NamedTuple):
    """What a harness left of a text, without its marks for cuts.

    Attributes:
        text: the rest of the text.
        gaps: where something is missing, as far as that is told.
        is_cut: whether anything is missing.
    """

    text: str
    gaps: tuple[Gap, ...] = ()
    is_cut: bool = False


def parted(pieces: Sequence[str], missing: Sequence[tuple[int | None, str]], stream: str) -> KeptText:
    """Join what is left of a text.

    Args:
        pieces: its pieces in order, with a gap between each two.
        missing: the amount missing in each gap, and its unit, as for a `Gap`.
        stream: the stream of the text.
    """
    text, gaps = pieces[0], list[Gap]()
    for piece, (count, unit) in zip(pieces[1:], missing, strict=True):
        is_open = bool(text) and not text.endswith("\n")
        gaps.append(Gap(stream, text.count("\n") + is_open, count, unit))
        text += ("\n" if is_open and piece else "") + piece
    return KeptText(text, tuple(gaps), bool(gaps))


def joined(pieces: Sequence[KeptText]) -> KeptText:
    """Return one text of pieces that follow each other, in one stream."""
    texts, gaps, lines = list[str](), list[Gap](), 0
    for text, own, _ in pieces:
        if own and not own[0].after and texts and not texts[-1].endswith("\n"):
            texts.append("\n")
            lines += 1
        gaps += (gap._replace(after=gap.after + lines) for gap in own)
        texts.append(text)
        lines += text.count("\n")
    return KeptText("".join(texts), tuple(gaps), any(piece.is_cut for piece in pieces))


def lines_not_read(first: int, last: int, total: int) -> tuple[Gap, ...]:
    """Return the gaps before and after the lines that were read of a file."""
    gaps = (Gap("out", 0, first - 1, "lines"), Gap("out", last - first + 1, total - last, "lines"))
    return tuple(gap for gap in gaps if gap.missing and gap.missing > 0)


def bounded_session(session: CallSession, otherwise: float) -> CallSession:
    """Return a session within the limits of records, tables and clocks; ``otherwise`` replaces a time beyond them."""
    return session._replace(
        id=_id(session.id),
        client=_name(session.client),
        cwd=_name(session.cwd, 4096),
        started=_time(session.started, otherwise),
        agent=_id(session.agent),
    )


def bounded_call(call: ToolCall, otherwise: float) -> ToolCall:
    """Return a call within these limits, with an answer that is never earlier than the question."""
    asked = _time(call.asked, otherwise)
    code = call.exit_code
    return call._replace(
        id=_id(call.id),
        use=_id(call.use),
        origins=tuple(map(_id, call.origins)),
        asked=asked,
        answered=max(asked, _time(call.answered, asked)),
        ended=_time(call.ended, 0.0),
        tool=_name(call.tool) or "tool",
        cwd=_name(call.cwd, 4096),
        inner=tuple(bounded_call(one, otherwise) for one in call.inner),
        exit_code=code if isinstance(code, int) and not isinstance(code, bool) and abs(code) <= _LARGEST_CODE else None,
    )


def bounded_event(event: ToldEvent, otherwise: float) -> SessionEvent:
    """Return an event within these limits."""
    return event.what._replace(time=_time(event.what.time, otherwise), id=_id(event.what.id))


def bounded_origin(told: ToldOrigin, otherwise: float) -> SessionOrigin:
    """Return from which session one came within these limits."""
    origin = told.what
    texts = {name: _name(getattr(origin, name)) for name in ("use", "agent", "team")}
    parent, helper = _id(origin.parent), _id(origin.helper)
    return origin._replace(time=_time(origin.time, otherwise), parent=parent, helper=helper, **texts)


def bounded_usage(told: ToldUsage, otherwise: float) -> RequestUsage:
    """Return the usage of a request within these limits."""
    usage = told.what
    return usage._replace(
        time=_time(usage.time, otherwise),
        id=_id(usage.id),
        model=_name(usage.model),
        copies=tuple(map(_id, usage.copies)),
    )


def count_of(value: Any) -> int | None:
    """Return a number of tokens as a record states it; None for a value that is none."""
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None


def _id(text: str) -> str:
    """Return a short id as it is, and of a longer one its hash."""
    text = _name(text, len(text) * 8)
    return text if len(text) <= ID_CHARACTERS else sha256_hex(text.encode())


def _name(text: str, most: int = _NAME_CHARACTERS) -> str:
    return plain(text[:most]).replace("\0", "\\x00")


def _time(seconds: float, otherwise: float) -> float:
    return seconds if 0 < seconds <= _LAST_SECOND else otherwise
