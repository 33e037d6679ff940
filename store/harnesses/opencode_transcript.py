"""Reads opencode's database; separate from `opencode`, which each event of a hook loads.

It is an SQLite file, ``~/.local/share/opencode/opencode.db``.

Version 1.18.33 was seen to write this. Tables ``session (id, directory, version, time_created)`` and ``part (id,
session_id, time_created, time_updated, data)``, times in milliseconds. A call is a part whose ``data`` is ``{"type":
"tool", "tool", "callID", "state": {"status", "input", "output" | "error", "metadata", "time": {"start", "end"}}}``.
``output`` is what the model saw. ``metadata`` of a command: ``{output, exit, truncated, outputPath}``, of ``read``:
``{"display": {path, text, lineStart, lineEnd, totalLines}}``; a long output lies whole in ``tool-output/``
beside the database. ``state.time.compacted`` is when its result went from the context.

Table ``message (id, session_id, data)`` has ``{"role", "summary"}``: parts ``{"type": "text", "text"}`` of
``assistant`` are what the agent said, or with ``summary`` the text that a compaction left. ``{"type": "compaction",
"auto"}`` requests one.
"""

import os
import re
import sqlite3
from collections.abc import Iterator

from sightline.harnesses.opencode import HARNESS
from sightline.harnesses.tool_call import (
    Beside,
    CallSession,
    ToolCall,
    ToolPart,
    dict_of,
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
    TranscriptItem,
    lines_not_read,
    misshapen,
    parted,
)
from sightline.json_text import loads
from sightline.log.session_events import (
    COMPACTED,
    PRUNED,
    STARTED,
    TRANSCRIPT,
    AgentMessage,
    ContextChange,
    SessionEvent,
    SessionSubject,
    subject_of,
)
from sightline.typing_names import Any

_CUT_HEAD = re.compile(r"\.\.\.output truncated\.\.\.\n\nFull output saved to: [^\n]*\n\n")
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
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('part', 'session')"
    " AND sql NOT LIKE 'CREATE VIRTUAL%'"
)
_SQLITE = b"SQLite format 3\0"
_GONE = "the file that the whole was kept in is gone"


def reading_of(file: Candidate) -> "DatabaseReading | None":
    """Return a reading of a database; None if it is not opencode's. Raises NotReadable."""
    if not file.head.startswith(_SQLITE):
        return None
    file.transcript.close()
    return open_database(file.path)


class DatabaseReading:
    """A database that may still be written to by opencode; it is never written to here."""

    waiting = False
    newest = 0.0

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        """Take over the connection to the database at a path; see `open_database`."""
        self._folder = os.path.dirname(os.path.abspath(path))
        self._connection = connection
        self._updated = 0
        self._given: set[str] = set()
        self._told: set[str] = set()
        self._begun: set[str] = set()
        self._subjects: set[str] = set()  # sessions whose subject is known
        self._events: set[str] = set()
        self._pruned: set[str] = set()
        self._triggers: dict[str, str] = {}  # trigger of the compaction that is running in a session
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
            for row in self._connection.execute(_TOLD, (since, LINE_BYTES)):
                yield from self._event(*row)
        except sqlite3.Error:
            return  # an older version without messages, so nothing is known of the context

    def _event(self, name: Any, session: Any, data: Any, message: Any, *facts: Any) -> Iterator[ToldEvent]:
        """Return what a part says about the context, or what the agent said."""
        name, session = text_of(name), text_of(session)
        try:
            part, about = dict_of(loads(data)), dict_of(loads(message))
        except (ValueError, TypeError, RecursionError):
            return
        if session not in self._begun:
            self._begun.add(session)
            began = ContextChange(number(facts[2]) / 1000, STARTED, whole=True)
            yield self._told_of(session, "", began, *facts)
        if part.get("type") == "compaction":
            self._triggers[session] = "automatic" if part.get("auto") is True else "manual"
        ended = number(dict_of(part.get("time")).get("end")) or number(dict_of(about.get("time")).get("completed"))
        text = text_of(part.get("text"))
        is_asked = part.get("type") == "text" and about.get("role") == "user" and part.get("synthetic") is not True
        if is_asked and session not in self._subjects and (subject := subject_of(text)):
            self._subjects.add(session)
            when = number(dict_of(about.get("time")).get("created")) or number(facts[2])
            yield self._told_of(session, name, SessionSubject(when / 1000, plain(subject)), *facts)
        if name in self._events or part.get("type") != "text" or about.get("role") != "assistant" or not text.strip():
            return
        if not ended:
            return  # it is still being written
        self._events.add(name)
        if about.get("summary") is True:
            trigger = self._triggers.pop(session, "")
            change = ContextChange(ended / 1000, COMPACTED, trigger, summary=plain(text), kept=())
            yield self._told_of(session, name, change, *facts)
        else:
            yield self._told_of(session, name, AgentMessage(ended / 1000, plain(text)), *facts)

    @staticmethod
    def _told_of(session: str, name: str, what: SessionEvent, folder: Any, version: Any, created: Any) -> ToldEvent:
        client = " ".join(filter(None, (HARNESS.name, text_of(version))))
        of = CallSession(HARNESS.name, session, client, text_of(folder), number(created) / 1000 or what.time)
        return ToldEvent(of, what._replace(id=name, told=TRANSCRIPT))

    def _went(self, name: str, session: str, part: dict[str, Any], *facts: Any) -> Iterator[ToldEvent]:
        """Yield the result of a part that went from the context."""
        state = dict_of(part.get("state"))
        pruned = number(dict_of(state.get("time")).get("compacted"))
        if pruned and name not in self._pruned:
            self._pruned.add(name)
            change = ContextChange(pruned / 1000, PRUNED, lost=(text_of(part.get("callID")),))
            yield self._told_of(session, f"{name} pruned", change, *facts)

    def _part(self, name: Any, session: Any, updated: Any, data: Any, *rest: Any) -> Iterator[TranscriptItem]:
        *facts, size = rest
        self.position += int(number(size))
        self._updated = max(self._updated, int(number(updated)))
        name = text_of(name)
        if name in self._told or name in self._pruned:
            return
        try:
            part = None if data is None else loads(data)
            if name in self._given:
                yield from self._went(name, text_of(session), dict_of(part), *facts)
                return
            call = self._call(name, text_of(session), dict_of(part), *facts) if part is not None else None
        except RecursionError:
            self._told.add(name)
            yield BadRecord(0, f"part {name}: {TOO_DEEP}")
        except SHAPE_ERRORS as error:
            self._told.add(name)
            yield misshapen(0, error)._replace(text=f"part {name}: {misshapen(0, error).text}")
        else:
            if data is None:
                self._told.add(name)
                yield BadRecord(0, f"part {name}: more than {LINE_BYTES >> 20} MiB were not read")
            elif call is not None:
                self._given.add(name)
                yield call
                yield from self._went(name, text_of(session), dict_of(part), *facts)

    def _call(
        self, name: str, session: str, part: dict[str, Any], folder: Any, version: Any, created: Any
    ) -> ToolCall | None:
        state = dict_of(part.get("state"))
        if part.get("type") != "tool" or state.get("status") not in _ENDED:
            return None
        client = " ".join(filter(None, (HARNESS.name, text_of(version))))
        started, ended = (number(dict_of(state.get("time")).get(key)) / 1000 for key in ("start", "end"))
        shown = shown_of(state.get("output", state.get("error")))
        made = ToolCall(
            session=CallSession(HARNESS.name, session, client, text_of(folder), number(created) / 1000 or started),
            id=name,
            use=text_of(part.get("callID")),
            line=0,
            asked=started,
            answered=ended or started,
            tool=text_of(part.get("tool")) or "tool",
            arguments=state.get("input"),
            kind="tool",
            command="",
            cwd=text_of(folder),
            shown=shown,
            parts=(),
            failed=state["status"] == "error",
        )
        arguments, told = dict_of(state.get("input")), dict_of(state.get("metadata"))
        if made.tool == "bash" and isinstance(arguments.get("command"), str) and isinstance(told.get("output"), str):
            cwd = os.path.join(made.cwd, text_of(arguments.get("workdir")))
            made = made._replace(kind="cmd", command=plain(arguments["command"]), cwd=cwd.rstrip("/") or cwd)
            return self._ran(made, told)
        display = dict_of(told.get("display"))
        if made.tool == "read" and display.get("type") == "file" and isinstance(display.get("text"), str):
            return _read(made, display)
        return self._whole(made._replace(parts=parts_of(list(shown))), told, "part.0")

    def _ran(self, made: ToolCall, told: dict[str, Any]) -> ToolCall:
        code = told.get("exit")
        made = made._replace(exit_code=code if isinstance(code, int) else None, note="merged")
        if told.get("truncated") is True:
            return self._whole(made._replace(parts=text_part(told["output"])), told, "out")
        return made._replace(parts=text_part(told["output"]))

    def _whole(self, made: ToolCall, told: dict[str, Any], stream: str) -> ToolCall:
        if told.get("truncated") is not True:
            return made
        path = text_of(told.get("outputPath"))
        saved = Beside(self._folder, ("tool-output", os.path.basename(path)))
        if size_beside(saved) < 0:
            return made._replace(partial=_GONE if path else HARNESS.cut)
        return made._replace(parts=(ToolPart(stream, saved),))


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
