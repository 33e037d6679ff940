"""Reads opencode's database and exported sessions; separate from `opencode`, which each event of a hook loads.

The database is an SQLite file, ``~/.local/share/opencode/opencode.db``.

Version 1.18.33 was seen to write this. Tables ``session (id, directory, version, time_created)`` and ``part (id,
session_id, time_created, time_updated, data)``, times in milliseconds. A call is a part whose ``data`` is ``{"type":
"tool", "tool", "callID", "state": {"status", "input", "output" | "error", "metadata", "time": {"start", "end"}}}``.
``output`` is what the model saw. ``metadata`` of a command: ``{output, exit, truncated, outputPath}``, of ``read``:
``{"display": {path, text, lineStart, lineEnd, totalLines}}``; a long output lies whole in ``tool-output/``
beside the database. ``metadata.output`` of more than 30,000 characters is their end, below a line ``...``, which may be
less than what the model saw. A command that opencode ended has no exit code, and a note below its output (1.2 to 1.18).
``state.time.compacted`` is when its result went from the context.

Table ``message (id, session_id, time_updated, data)`` has ``{"role", "summary"}``: parts ``{"type": "text", "text"}``
of ``assistant`` are what the agent said, or with ``summary`` the text that a compaction left. ``{"type": "compaction",
"auto"}`` requests one.

``tokens`` of an ``assistant`` is ``{input, output, reasoning, cache: {read, write}, total}``, with ``cost`` in dollars,
``modelID`` and ``time {created, completed}`` beside it. Reasoning stands in the output up to 1.2.26, and beside it in
later versions; the total tells which. A fork copies messages under other ids, with their times and tokens.

``opencode export`` (seen from 1.2.16 to 1.18.21) writes ``{"info": {id, directory, version, time}, "messages":
[{"info": {"role", "time"}, "parts": [data with "id"]}]}``. Ids in exports may have been replaced by one word.
"""

import os
import re
import sqlite3
from collections.abc import Iterator

from sightline.base.records import LONG_ID, Gap
from sightline.base.request_usage import RequestUsage, without_zeros
from sightline.base.sha256 import sha256_hex
from sightline.harnesses.opencode import HARNESS
from sightline.harnesses.tool_call import (
    Beside,
    CallSession,
    ToolCall,
    ToolPart,
    dict_of,
    list_of,
    number,
    parts_of,
    plain,
    shown_of,
    size_beside,
    text_bytes,
    text_of,
    text_part,
)
from sightline.harnesses.transcript import (
    LINE_BYTES,
    SHAPE_ERRORS,
    TOO_DEEP,
    BadRecord,
    Candidate,
    KeptText,
    NotReadable,
    ToldEvent,
    ToldOrigin,
    ToldUsage,
    TranscriptItem,
    TranscriptReading,
    count_of,
    lines_not_read,
    misshapen,
    parted,
)
from sightline.light.json_text import TooDeep, loads
from sightline.light.typing_names import Any
from sightline.log.session_events import (
    COMPACTED,
    PRUNED,
    STARTED,
    TRANSCRIPT,
    AgentMessage,
    ContextChange,
    SessionEvent,
    SessionSubject,
    prompt_of,
    subject_of,
)
from sightline.log.session_origins import FORK, SPAWN, SessionOrigin

_CUT_HEAD = re.compile(r"\.\.\.output truncated\.\.\.\n\nFull output saved to: [^\n]*\n\n")
_PREVIEW = "...\n\n"
_PREVIEW_CHARACTERS = 30_000
_NOTE = re.compile(
    r"(?:\n\n)?<(bash|shell)_metadata>\n(?P<timeout>(?:bash|shell) tool terminated command after exceeding timeout)?"
    r"(?:(?!<(?:bash|shell)_metadata>).)*</\1_metadata>\s*\Z",
    re.S,
)
_ENDED = ("completed", "error")
_PARTS = (
    "SELECT part.id, session_id, part.time_updated, CASE WHEN length(CAST(data AS BLOB)) <= ? THEN data END,"
    " directory, version, session.time_created, length(CAST(data AS BLOB)) FROM part"
    " LEFT JOIN session ON session.id = session_id"
    " WHERE part.time_updated >= ? AND instr(substr(data, 1, 200), '\"tool\"') ORDER BY part.time_created, part.id"
)
_TOLD = (
    "SELECT part.id, part.session_id, part.data, message.data, directory, version, session.time_created"
    " FROM part JOIN message ON message.id = part.message_id"
    " LEFT JOIN session ON session.id = part.session_id"
    " WHERE part.time_updated >= ? AND length(CAST(part.data AS BLOB)) <= ?"
    " AND (instr(substr(part.data, 1, 40), '\"text\"') OR instr(substr(part.data, 1, 40), '\"compaction\"'))"
    " ORDER BY part.time_created, part.id"
)
_MESSAGES = (
    "SELECT session_id, data, directory, version, session.time_created FROM message"
    " LEFT JOIN session ON session.id = session_id"
    " WHERE message.time_updated >= ? AND length(CAST(data AS BLOB)) <= ? AND instr(data, '\"tokens\"')"
    " ORDER BY message.time_created, message.id"
)
_PARENTS = (
    "SELECT id, parent_id, title, directory, version, time_created FROM session"
    " WHERE parent_id IS NOT NULL AND parent_id <> '' AND time_created >= ? ORDER BY time_created"
)
_FORKED = re.compile(r"\(fork #\d+\)\Z")
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('part', 'session')"
    " AND sql NOT LIKE 'CREATE VIRTUAL%'"
)
_SQLITE = b"SQLite format 3\0"
_GONE = "the file that the whole was kept in is gone"
_OWN_ID, _OWN_SESSION = "prt_", "ses_"  # how opencode's ids of parts and sessions begin
_OWN_FILE = "tool_"


def reading_of(file: Candidate) -> TranscriptReading | None:
    """Return a reading of a database, or of an exported session; None if it is not opencode's. Raises NotReadable."""
    if file.head.startswith(_SQLITE):
        file.transcript.close()
        return open_database(file.path)
    is_export = file.is_document and b'"info"' in file.head and b'"projectID"' in file.head
    return file.of_document(Parts(file.path).document) if is_export else None


class Parts:
    """Makes calls and events from the parts of messages, each once however often it is given."""

    def __init__(self, path: str) -> None:
        """Prepare to read a database or a document; the whole of long outputs lies below its folder."""
        self._path = os.path.abspath(path)
        self._folder = os.path.dirname(self._path)
        self._given: set[str] = set()
        self._made_by: dict[tuple[str, float], str] = {}  # sessions by the id and time of each call that they made
        self._cut: dict[str, dict[str, str]] = {}  # by session, uses whose output lies in a file, by the file's name
        self._begun: set[str] = set()
        self._subjects: set[str] = set()  # sessions whose subject is known
        self._events: set[str] = set()
        self._pruned: set[str] = set()
        self._counted: set[str] = set()  # ids of requests
        self._triggers: dict[str, str] = {}  # trigger of the compaction that is running in a session

    def document(self, document: Any) -> Iterator[TranscriptItem]:
        """Yield the calls and events of an exported session."""
        info = dict_of(dict_of(document).get("info"))
        created = number(dict_of(info.get("time")).get("created"))
        session = session_of(text_of(info.get("id")), info.get("directory"), info.get("version"), created)
        if not session.id.startswith(_OWN_SESSION):  # it was replaced by some word, as others may be
            session = session._replace(run=sha256_hex(self._path.encode(errors="surrogateescape"))[:8])
        yield from _origin_of(session, info.get("parentID"), info.get("title"))
        own = ":".join(filter(None, (session.id, session.run)))
        met, place = set[str](), 0
        for message in map(dict_of, list_of(dict_of(document).get("messages"))):
            yield from self.usage(session, dict_of(message.get("info")))
            for part in map(dict_of, list_of(message.get("parts"))):
                place += 1
                name = text_of(part.get("id"))
                name = name if name.startswith(_OWN_ID) else f"{own}:{name}"  # else it was replaced by some word
                name = f"{name}@{place}" if name in met else name
                met.add(name)
                try:
                    yield from self.items(name, session, part)
                    yield from self.events(name, session, part, dict_of(message.get("info")))
                except SHAPE_ERRORS as error:
                    yield misshapen(0, error)._replace(text=f"part {name}: {misshapen(0, error).text}")

    def items(self, name: str, session: CallSession, part: dict[str, Any]) -> Iterator[TranscriptItem]:
        """Yield the call of a part once it has ended, and later that its result went from the context."""
        if name not in self._given and (call := self._call(name, session, part)):
            self._given.add(name)
            call = self._read_again(call, dict_of(dict_of(part.get("state")).get("metadata")))
            if len(call.use) < LONG_ID or self._made_by.setdefault((call.use, call.asked), session.id) == session.id:
                yield call  # else its session was forked from that one, whose history it repeats under other ids
        pruned = number(dict_of(dict_of(part.get("state")).get("time")).get("compacted"))
        if name in self._given and pruned and name not in self._pruned:
            self._pruned.add(name)
            change = ContextChange(pruned / 1000, PRUNED, lost=(text_of(part.get("callID")),))
            yield _told(session, f"{name} pruned", change)

    def events(
        self, name: str, session: CallSession, part: dict[str, Any], about: dict[str, Any]
    ) -> Iterator[ToldEvent]:
        """Yield what a part says about the context, or what the agent said; ``about`` is its message."""
        if session.id not in self._begun:
            self._begun.add(session.id)
            yield _told(session, "", ContextChange(session.started, STARTED, whole=True))
        if part.get("type") == "compaction":
            self._triggers[session.id] = "automatic" if part.get("auto") is True else "manual"
        ended = number(dict_of(part.get("time")).get("end")) or number(dict_of(about.get("time")).get("completed"))
        text = text_of(part.get("text"))
        is_asked = part.get("type") == "text" and about.get("role") == "user" and part.get("synthetic") is not True
        if is_asked and name not in self._events and (prompt := prompt_of(plain(text), 0.0)):
            when = number(dict_of(about.get("time")).get("created")) / 1000 or session.started
            if session.id not in self._subjects and (subject := subject_of(text)):
                self._subjects.add(session.id)
                yield _told(session, f"{name}:about", SessionSubject(when, plain(subject)))
            self._events.add(name)
            yield _told(session, name, prompt._replace(time=when))
        if name in self._events or part.get("type") != "text" or about.get("role") != "assistant" or not text.strip():
            return
        if not ended:
            return  # it is still being written
        self._events.add(name)
        if about.get("summary") is True:
            trigger = self._triggers.pop(session.id, "")
            change = ContextChange(ended / 1000, COMPACTED, trigger, summary=plain(text), kept=())
            yield _told(session, name, change)
        else:  # its end is that of its step, and so behind the calls that follow it there
            began = number(dict_of(part.get("time")).get("start")) or ended
            yield _told(session, name, AgentMessage(began / 1000, plain(text)))

    def usage(self, session: CallSession, about: dict[str, Any]) -> Iterator[ToldUsage]:
        """Yield the usage of a message that has ended; ``about`` is the message."""
        if (usage := _usage_of(about)) and usage.id not in self._counted:
            self._counted.add(usage.id)
            yield ToldUsage(session, usage)

    def _call(self, name: str, session: CallSession, part: dict[str, Any]) -> ToolCall | None:
        state = dict_of(part.get("state"))
        if part.get("type") != "tool" or state.get("status") not in _ENDED:
            return None
        started, ended = (number(dict_of(state.get("time")).get(key)) / 1000 for key in ("start", "end"))
        shown = shown_of(state.get("output", state.get("error")))
        made = ToolCall(
            session=session,
            id=name,
            use=text_of(part.get("callID")),
            line=0,
            asked=started,
            answered=ended or started,
            tool=text_of(part.get("tool")) or "tool",
            arguments=state.get("input"),
            kind="tool",
            command="",
            cwd=session.cwd,
            shown=shown,
            parts=(),
            failed=state["status"] == "error",
        )
        arguments, told = dict_of(state.get("input")), dict_of(state.get("metadata"))
        if made.tool == "bash" and isinstance(arguments.get("command"), str) and isinstance(told.get("output"), str):
            cwd = os.path.join(made.cwd, text_of(arguments.get("workdir")))
            made = made._replace(kind="cmd", command=plain(arguments["command"]), cwd=cwd.rstrip("/") or cwd)
            return self._ran(made, told, text_of(state.get("output")))
        display = dict_of(told.get("display"))
        if made.tool == "read" and display.get("type") == "file" and isinstance(display.get("text"), str):
            return _read(made, display)
        return self._whole(made._replace(parts=parts_of(list(shown))), told, "part.0")

    def _read_again(self, call: ToolCall, told: dict[str, Any]) -> ToolCall:
        """Return a call that reads a file in which opencode keeps an output as one that shows more of its command.

        Replies may not tell the name, where secrets were hidden; then it is the newest command without a known one.
        """
        cut = self._cut.setdefault(call.session.id, {})
        if call.kind == "cmd" and told.get("truncated") is True:
            name = os.path.basename(text_of(told.get("outputPath")))
            cut[name if name.startswith(_OWN_FILE) else f"?{call.use}"] = call.use
        path = text_of(dict_of(call.arguments).get("filePath"))
        if call.tool != "read" or os.path.basename(os.path.dirname(path)) != "tool-output":
            return call
        unnamed = next((name for name in reversed(cut) if name.startswith("?")), "")
        name = os.path.basename(path)
        of = cut.get(name) or cut.pop(unnamed, "")
        if not of:
            return call
        cut[name] = of
        return call._replace(
            of=of, kind="tool", parts=(), inner=(call._replace(id=f"{call.id}/file", use="", shown=()),)
        )

    def _ran(self, made: ToolCall, told: dict[str, Any], seen: str) -> ToolCall:
        code, preview, note = told.get("exit"), told["output"], _NOTE.search(seen)
        made = made._replace(exit_code=code if isinstance(code, int) else None, note="merged")
        made = made._replace(timed_out=bool(note and note["timeout"] and made.exit_code is None))
        left = left_of(seen)
        gaps: tuple[Gap, ...] = ()
        if len(preview) < _PREVIEW_CHARACTERS:
            text = _NOTE.sub("", preview)
        elif left.is_cut:
            text, gaps = max(left.text, preview.removeprefix(_PREVIEW), key=len), left.gaps
        else:
            text = max(_NOTE.sub("", seen), preview, key=len)
        whole = self._whole(made._replace(parts=text_part(text)), told, "out")
        return whole._replace(partial=whole.partial if gaps else "", gaps=gaps if whole.partial else ())

    def _whole(self, made: ToolCall, told: dict[str, Any], stream: str) -> ToolCall:
        if told.get("truncated") is not True:
            return made
        path = text_of(told.get("outputPath"))
        saved = Beside(self._folder, ("tool-output", os.path.basename(path)))
        if size_beside(saved) < 0:
            return made._replace(partial=_GONE if path else HARNESS.cut)
        return made._replace(parts=(ToolPart(stream, saved),))


class DatabaseReading:
    """A database that may still be written to by opencode; it is never written to here."""

    waiting = False
    newest = 0.0

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        """Take over the connection to the database at a path; see `open_database`."""
        self._parts = Parts(path)
        self._connection = connection
        self._updated = 0
        self._told: set[str] = set()
        self.position = 0

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield nothing, because nothing waits."""
        return iter(())

    def advance(self) -> Iterator[TranscriptItem]:
        """Yield the calls that have ended since."""
        since = self._updated
        try:
            for row in self._connection.execute(_PARTS, (LINE_BYTES, since)):
                yield from self._part(*row)
        except sqlite3.Error as error:
            yield BadRecord(0, f"the database cannot be read on: {error}")
        try:
            for name, session, data, message, *facts in self._connection.execute(_TOLD, (since, LINE_BYTES)):
                try:
                    part, about = dict_of(loads(data)), dict_of(loads(message))
                except (ValueError, TypeError):
                    continue
                yield from self._parts.events(text_of(name), session_of(text_of(session), *facts), part, about)
            for session, data, *facts in self._connection.execute(_MESSAGES, (since, LINE_BYTES)):
                try:
                    about = dict_of(loads(data))
                except (ValueError, TypeError):
                    continue
                yield from self._parts.usage(session_of(text_of(session), *facts), about)
            for name, parent, title, *facts in self._connection.execute(_PARENTS, (since,)):
                yield from _origin_of(session_of(text_of(name), *facts), parent, title)
        except sqlite3.Error:
            return  # an older version without messages, so nothing is known of the context

    def _part(self, name: Any, session: Any, updated: Any, data: Any, *rest: Any) -> Iterator[TranscriptItem]:
        *facts, size = rest
        self.position += int(number(size))
        self._updated = max(self._updated, int(number(updated)))
        name = text_of(name)
        if name in self._told:
            return
        try:
            if data is not None:
                yield from self._parts.items(name, session_of(text_of(session), *facts), dict_of(loads(data)))
                return
            wrong = BadRecord(0, f"part {name}: more than {LINE_BYTES >> 20} MiB were not read")
        except TooDeep:
            wrong = BadRecord(0, f"part {name}: {TOO_DEEP}")
        except SHAPE_ERRORS as error:
            wrong = misshapen(0, error)._replace(text=f"part {name}: {misshapen(0, error).text}")
        self._told.add(name)
        yield wrong


def _usage_of(about: dict[str, Any]) -> RequestUsage | None:
    """Return the usage of a message that has ended; None for another."""
    stated, times = about.get("tokens"), dict_of(about.get("time"))
    if about.get("role") != "assistant" or not isinstance(stated, dict) or not times.get("completed"):
        return None
    cache = dict_of(stated.get("cache"))
    fresh, output, reasoning, total = (count_of(stated.get(name)) for name in ("input", "output", "reasoning", "total"))
    read, written = count_of(cache.get("read")), count_of(cache.get("write"))
    others = sum(one or 0 for one in (fresh, output, read, written))
    counts = (times.get("created"), times["completed"], fresh, read, written, output)
    usage = RequestUsage(
        id=":".join(map(str, ("opencode", *counts))),
        time=number(times.get("created")) / 1000,
        model=text_of(about.get("modelID")),
        fresh=fresh,
        cache_read=read,
        cache_write=written,
        output=output,
        reasoning=reasoning,
        own_price=number(about.get("cost")) or None,
    )
    if reasoning and output is not None and total != others:
        if total == others + reasoning:
            usage = usage._replace(output=output + reasoning, computed=("output",))
        else:
            usage = usage._replace(at_least=("output",))  # it may stand beside reasoning
    return without_zeros(usage, has_content="error" not in about)


def session_of(name: str, folder: Any, version: Any, created: Any) -> CallSession:
    """Return a session, by its id, its folder, opencode's version, and when it began in milliseconds."""
    client = " ".join(filter(None, (HARNESS.name, text_of(version))))
    return CallSession(HARNESS.name, name, client, text_of(folder), number(created) / 1000)


def _origin_of(session: CallSession, parent: Any, title: Any) -> Iterator[ToldOrigin]:
    """Yield from which session one came: a fork has that in its title, and an agent's helper has another title."""
    if text_of(parent):
        how = FORK if _FORKED.search(text_of(title).rstrip()) else SPAWN
        yield ToldOrigin(session, SessionOrigin(session.started, how, text_of(parent)))


def _told(session: CallSession, name: str, what: SessionEvent) -> ToldEvent:
    return ToldEvent(session, what._replace(id=name, told=TRANSCRIPT))


def _read(made: ToolCall, display: dict[str, Any]) -> ToolCall:
    first, last, total = (int(number(display.get(name))) for name in ("lineStart", "lineEnd", "totalLines"))
    partial = f"lines {first}-{last} of {total:,} were read" if first > 1 or last < total else ""
    parts = (ToolPart("out", text_bytes(display["text"])),) if display["text"] else ()
    return made._replace(
        kind="file",
        command=plain(text_of(display.get("path"))),
        parts=parts,
        partial=partial,
        gaps=lines_not_read(first, last, total),
    )


def left_of(text: str, stream: str = "out") -> KeptText:
    """Return what is left of a command's output in a text whose beginning opencode has cut, with a note there."""
    head = _CUT_HEAD.match(text)
    return parted(["", text[head.end() :]], [(None, "")], stream) if head else KeptText(text)


def _quoted(path: str) -> str:
    """Quote a path for SQLite's URIs."""
    return os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def open_database(path: str) -> DatabaseReading | None:
    """Open a reading of a database; None if it is not opencode's. Raises NotReadable."""
    try:
        connection = sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise NotReadable(f"{path} cannot be opened: {error}") from error
    try:
        connection.text_factory = lambda data: data.decode(errors="replace")
        connection.execute("PRAGMA trusted_schema = OFF")
        if len(connection.execute(_TABLES).fetchall()) == 2:  # views of these names could do anything
            connection.execute(_PARTS + " LIMIT 0", (0, 0))
            return DatabaseReading(path, connection)
        connection.close()
        return None
    except sqlite3.Error as error:
        connection.close()
        raise NotReadable(f"{path} cannot be read as opencode's database: {error}") from error
