"""Reads chats of Gemini CLI; separate from `gemini`, which each event of a hook loads.

They lie in ``~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl``; older ones are one document, ``….json``.

This is how version 0.61.0 was seen to write them. The first line is ``{sessionId, projectHash, startTime, kind}``, then
messages ``{id, timestamp, type, content, toolCalls}`` follow, of which later ones replace earlier ones of the same
``id``, and ``{"$set": {…}}``, which may hold ``messages``; ``{"$rewindTo": id}`` takes that message and later ones out
of the context. Compressions of the context are not recorded. A document has ``sessionId`` and ``messages``.

A call is ``{id, name, args, result: [{functionResponse: {response: {output | error}}}], status, timestamp,
resultDisplay}``. ``output`` is what the model saw, within ``<untrusted_context>`` if a program wrote it;
``resultDisplay`` of a shell command is all that it wrote, without blanks at the end. Other large results lie whole in
``PROJECT/tool-outputs/``.

``tokens`` of a message is ``{input, output, cached, thoughts, tool, total}``: the input holds what was cached, and
thoughts stand beside the output.
"""

import os
import re
from collections.abc import Iterator, Sequence

from sightline.base.request_usage import RequestUsage, without_zeros
from sightline.harnesses.gemini import HARNESS
from sightline.harnesses.tool_call import (
    Beside,
    CallSession,
    ToolCall,
    ToolPart,
    dict_of,
    list_of,
    open_beside,
    parts_of,
    plain,
    shown_of,
    size_beside,
    text_of,
    text_part,
    unique_id,
)
from sightline.harnesses.transcript import (
    SHAPE_ERRORS,
    BadRecord,
    Candidate,
    KeptText,
    ToldEvent,
    ToldOrigin,
    ToldUsage,
    TranscriptItem,
    TranscriptReading,
    count_of,
    lines_not_read,
    misshapen,
    parted,
    when,
)
from sightline.light.typing_names import Any
from sightline.log.session_events import (
    REWOUND,
    TRANSCRIPT,
    AgentMessage,
    ContextChange,
    SessionSubject,
    prompt_of,
    subject_of,
)
from sightline.log.session_origins import SPAWN, SessionOrigin

TURN = b""
"""No line marks the beginning of a turn; a call's first line comes after all that a hook gets about it."""

_CLIENT = "gemini-cli-mcp-client"  # its own name for itself; chats do not have its version
_KNOWN = ("user", "gemini", "info", "warning", "error", "system", "model")
_ENDED = ("success", "error", "cancelled")
_EXIT = re.compile(r"(?m)^Exit Code: (-?\d{1,10})$")
_LARGE = re.compile(r"\AOutput too large\. Showing .*? For full output see: (.+)\n")
_OMITTED = re.compile(r"\n\n\.\.\. \[([\d,]{1,15}) characters omitted\] \.\.\.\n\n")
_LINES = re.compile(r"Showing lines (\d{1,12})-(\d{1,12}) of (\d{1,12}) total lines")
_CONTENT = "--- FILE CONTENT (truncated) ---\n"
_ABOUT = ("Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: ")
_NOTHING = "(empty)"  # how Gemini CLI names an empty output to its model
_ROOT_BYTES = 4096


def reading_of(file: Candidate) -> TranscriptReading | None:
    """Return a reading of a chat, of lines or of one document; None for another file."""
    parser = Parser(file.path, file.written)
    header = next((record for record in file.records if "sessionId" in record and "projectHash" in record), None)
    if header is not None and "messages" not in header:
        return file.of_lines(parser)
    named = b'"projectHash"' in file.head and b'"sessionId"' in file.head
    return file.of_document(parser.document) if header is not None or (named and file.is_document) else None


def left_of(text: str, stream: str = "out") -> KeptText:
    """Return what is left of a tool's output in a text that Gemini CLI may have cut, once, with a note above it.

    Of several such marks, the first is taken, because the end is the longer half.
    """
    head = _LARGE.match(text)
    if not head:
        return KeptText(text)
    body = text[head.end() :]
    cut = _OMITTED.search(body)
    if not cut:
        return KeptText(body, is_cut=True)
    missing = int(cut[1].replace(",", "") or 0)
    return parted([body[: cut.start()], body[cut.end() :]], [(missing, "characters")], stream)


class Parser:
    """Makes calls from the records of a chat."""

    waiting = False
    newest = 0.0
    is_idle = True
    held: Sequence[ToolCall] = ()

    def __init__(self, path: str, written: float) -> None:
        """Prepare to read; other files of the chat lie in the project's folder, two above."""
        folder, self._parent = os.path.dirname(os.path.abspath(path)), ""
        if os.path.basename(os.path.dirname(folder)) == "chats":  # a helper's lies in a folder with its agent's name
            folder, self._parent = os.path.split(folder)
        self._folder = os.path.dirname(folder)
        self._time = written
        self._session = CallSession(HARNESS.name, "", _CLIENT, _project_root(self._folder), written)
        self._given: set[str] = set()
        self._has_subject = False
        self._uses: dict[str, list[str]] = {}  # for each message, the tool uses whose results came with it
        self._said: set[tuple[str, int]] = set()

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield nothing, because nothing waits."""
        return iter(())

    def asks(self, _use: str) -> bool:
        """Return False, because a call is not recorded before its result."""
        return False

    def ended(self, _use: str) -> ToolCall | None:
        """Return None, because a call is not recorded before its result."""
        return None

    def feed(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the calls that a line completes."""
        if "sessionId" in record:
            self._begin(record)
            if record.get("kind") == "subagent":
                yield ToldOrigin(self._session, SessionOrigin(self._time, SPAWN, self._parent))
        changed = dict_of(record.get("$set"))
        messages = list_of(changed.get("messages", record.get("messages")))
        if isinstance(record.get("type"), str):
            messages = [record]
        elif not messages and not changed and "sessionId" not in record and "$rewindTo" not in record:
            yield BadRecord(line, f"a record of an unknown sort: {', '.join(record)[:80]!r}", unknown=True)
        if isinstance(to := record.get("$rewindTo"), str):
            ids = list(self._uses)
            lost = [use for one in ids[ids.index(to) :] for use in self._uses.pop(one)] if to in ids else None
            change = ContextChange(self._time, REWOUND, lost=None if lost is None else tuple(lost))
            yield ToldEvent(self._session, change._replace(id=f"rewind to {to}", told=TRANSCRIPT))
        for message in messages:
            try:
                yield from self._message(dict_of(message), line)
            except SHAPE_ERRORS as error:
                yield misshapen(line, error)

    def document(self, document: Any) -> Iterator[TranscriptItem]:
        """Yield the calls of a chat that is one document."""
        yield from self.feed(dict_of(document), 0)

    def _prompted(self, content: Any, unique: str) -> Iterator[ToldEvent]:
        """Yield a prompt, once, and the session's subject at the first."""
        blocks = [{"text": content}] if isinstance(content, str) else map(dict_of, list_of(content))
        text = plain("\n".join(filter(None, (text_of(one.get("text")) for one in blocks))))
        if not self._has_subject and (subject := subject_of(text)):
            self._has_subject = True
            yield ToldEvent(self._session, SessionSubject(self._time, subject, f"{unique}:about", TRANSCRIPT))
        prompt = prompt_of(text, self._time, f"{unique}:prompt", TRANSCRIPT)
        if prompt and (prompt.id, len(text)) not in self._said:
            self._said.add((prompt.id, len(text)))
            yield ToldEvent(self._session, prompt)

    def _begin(self, record: dict[str, Any]) -> None:
        started = when(record.get("startTime"), self._time)
        self._session = self._session._replace(id=text_of(record["sessionId"]), started=started)
        self._time = started

    def _message(self, message: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        if message.get("type") not in _KNOWN:
            yield BadRecord(line, f"a message of an unknown sort: {str(message.get('type'))[:80]!r}", unknown=True)
        self._time = when(message.get("timestamp"), self._time)
        unique = text_of(message.get("id"))
        uses = self._uses.setdefault(unique, [])
        if message.get("type") == "user":
            yield from self._prompted(message.get("content"), unique)
        text = message.get("content") if message.get("type") == "gemini" else ""
        if isinstance(text, str) and text.strip() and (unique, len(text)) not in self._said:
            self._said.add((unique, len(text)))
            said = AgentMessage(self._time, plain(text), f"{unique}:{len(text)}", TRANSCRIPT)
            yield ToldEvent(self._session, said)
        if usage := self._usage(message, unique):
            yield ToldUsage(self._session, usage)
        for call in map(dict_of, list_of(message.get("toolCalls"))):
            name = text_of(call.get("id"))
            if name and name not in self._given and call.get("status") in _ENDED and call.get("result"):
                self._given.add(name)
                uses.append(name)
                yield self._call(call, name, line)

    def _usage(self, message: dict[str, Any], unique: str) -> RequestUsage | None:
        """Return the usage of a message; None if it states none."""
        stated = dict_of(message.get("tokens"))
        names = ("input", "cached", "tool", "output", "thoughts")
        asked, cached, tool, output, thoughts = (count_of(stated.get(name)) for name in names)
        if asked is None and output is None:
            return None
        usage = RequestUsage(
            id=f"gemini:{self._session.id}:{unique}",
            time=self._time,
            model=text_of(message.get("model")),
            fresh=None if asked is None else max(0, asked + (tool or 0) - (cached or 0)),
            cache_read=cached,
            cache_write=0,  # Gemini's cache has no price for writing
            output=None if output is None else output + (thoughts or 0),
            reasoning=thoughts,
            computed=("fresh", "output"),
        )
        return without_zeros(usage, has_content=bool(message.get("content") or message.get("toolCalls")))

    def _call(self, call: dict[str, Any], name: str, line: int) -> ToolCall:
        shown = tuple(text for part in list_of(call["result"]) for text in _shown(dict_of(part)))
        arguments, text = dict_of(call.get("args")), "\n".join(shown)
        made = ToolCall(
            session=self._session,
            id=unique_id(self._session.id, f"{self._session.id}:{name}"),
            use=name,
            line=line,
            asked=self._time,
            answered=when(call.get("timestamp"), self._time),
            tool=text_of(call.get("name")) or "tool",
            arguments=call.get("args"),
            kind="tool",
            command="",
            cwd=self._session.cwd,
            shown=shown,
            parts=(),
            failed=call.get("status") != "success",
        )
        if made.tool == "run_shell_command" and isinstance(arguments.get("command"), str):
            cwd = os.path.join(made.cwd, text_of(arguments.get("dir_path", arguments.get("directory"))))
            return _ran(
                made._replace(kind="cmd", command=plain(arguments["command"]), cwd=cwd.rstrip("/") or cwd), call
            )
        path = text_of(arguments.get("file_path", arguments.get("absolute_path")))
        if made.tool == "read_file" and path and not made.failed and isinstance(call.get("resultDisplay"), str):
            return _read(made._replace(kind="file", command=plain(os.path.join(made.cwd, path))), text)
        return self._tool(made, call, text)

    def _tool(self, made: ToolCall, call: dict[str, Any], text: str) -> ToolCall:
        if found := _LARGE.match(text):
            folder, name = os.path.split(found[1])
            saved = Beside(self._folder, ("tool-outputs", os.path.basename(folder), name))
            if size_beside(saved) >= 0:
                return made._replace(parts=(ToolPart("part.0", saved),))
            left = left_of(text, "part.0")
            gone = "the file that the whole was kept in is gone"
            return made._replace(parts=text_part(left.text, "part.0"), partial=gone, gaps=left.gaps)
        if made.failed and (error := _error(call)):
            return made._replace(parts=parts_of(error))
        display = call.get("resultDisplay")
        if isinstance(display, str) and display and display in text:  # the tool's own text, without the harness' words
            return made._replace(parts=parts_of(display))
        return made._replace(parts=parts_of(list(made.shown)))


def _ran(made: ToolCall, call: dict[str, Any]) -> ToolCall:
    text, display = "\n".join(made.shown), call.get("resultDisplay")
    written, below = _parted(text)
    ended = _EXIT.search(below)
    code = int(ended[1]) if ended else 0 if call.get("status") == "success" else None
    if made.failed and not ended:
        return made._replace(kind="tool", command="", parts=parts_of(list(made.shown)))  # it never ran
    if isinstance(display, str):
        return made._replace(parts=text_part(displayed(text, display)), exit_code=code, note="merged")
    left = left_of(written)
    partial = HARNESS.cut if left.is_cut else ""
    return made._replace(parts=text_part(left.text), exit_code=code, note="merged", partial=partial, gaps=left.gaps)


def displayed(shown: str, display: str) -> str:
    """Return what a command wrote, from what a person is shown; for no output, that says how it ended, in words.

    Args:
        shown: what the model is shown, which tells whether there was output.
        display: what a person is shown.
    """
    return "" if _parted(shown)[0] == _NOTHING != display.strip() else display


def _parted(text: str) -> tuple[str, str]:
    """Return what a command wrote, and the lines below it, from what was shown."""
    text = text.removeprefix("<untrusted_context>\n").removesuffix("\n</untrusted_context>")
    end = len(text)
    while (start := text.rfind("\n", 0, end)) >= 0 and text.startswith(_ABOUT, start + 1):
        end = start
    return text[:end].removeprefix("Output: "), text[end:]


def _read(made: ToolCall, text: str) -> ToolCall:
    found = _LINES.search(text) if text.lstrip().startswith("IMPORTANT: The file content has been truncated") else None
    if found is None:
        return made._replace(parts=text_part(text))
    first, last, total = int(found[1]), int(found[2]), int(found[3])
    partial = f"lines {first}-{last} of {total:,} were read"
    gaps = lines_not_read(first, last, total)
    return made._replace(parts=text_part(text.partition(_CONTENT)[2]), partial=partial, gaps=gaps)


def _shown(part: dict[str, Any]) -> tuple[str, ...]:
    """Return the texts of a part of a result."""
    if isinstance(part.get("text"), str):
        return (plain(part["text"]),)
    answer = dict_of(part.get("functionResponse"))
    response = dict_of(answer.get("response"))
    told = response.get("output", response or None)
    more = [dict_of(one).get("inlineData") for one in list_of(answer.get("parts"))]
    blocks = [one for one in (*more, part.get("inlineData")) if one]
    return (*shown_of(told), *shown_of(blocks))


def _error(call: dict[str, Any]) -> str:
    """Return the message of a tool that failed; empty if it has none of its own."""
    for part in list_of(call["result"]):
        response = dict_of(dict_of(dict_of(part).get("functionResponse")).get("response"))
        if isinstance(response.get("error"), str):
            return plain(response["error"])
    return ""


def _project_root(folder: str) -> str:
    """Return the working directory, which a file in the project's folder names."""
    try:
        fd = open_beside(Beside(folder, (".project_root",)))
    except OSError:
        return ""
    try:
        return os.read(fd, _ROOT_BYTES).decode(errors="replace").strip()
    finally:
        os.close(fd)
