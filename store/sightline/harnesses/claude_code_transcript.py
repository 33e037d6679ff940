"""Reads transcripts of Claude Code; separate from `claude_code`, which each event of a hook loads.

They lie in ``~/.claude/projects/PROJECT/SESSION.jsonl``, together with those of helpers.

This is how version 2.1.329 was seen to write them; others differ in records that hold no calls. A line is an object
with ``type``, ``uuid``, ``timestamp``, ``sessionId``, ``cwd``, ``version``; helpers' have ``agentId``.

- ``assistant``: ``message.content[]`` with ``{"type": "tool_use", "id", "name", "input"}``; one message may be several
  lines.
- ``user``: ``message.content[]`` with ``{"type": "tool_result", "tool_use_id", "content", "is_error"}``. ``content`` is
  what the model saw. Beside it ``toolUseResult``: of Bash ``{stdout, stderr, persistedOutputPath, backgroundTaskId,
  returnCodeInterpretation, …}``, of Read ``{"file": {filePath, content, startLine, numLines, totalLines}}``, of MCP
  tools the blocks; a text on failure; missing in helpers' transcripts.
- An output above 30,000 characters lies whole in ``SESSION/tool-results/``; of a failed command's output only 10,000
  characters are left.
- ``system`` with ``subtype`` ``compact_boundary``: ``compactMetadata`` has ``trigger``, ``preTokens`` and, in
  ``preservedMessages.allUuids``, what stays in the context; the summary is the next ``user`` record, with
  ``isCompactSummary``. ``microcompact_boundary``: old results went from the context; ``compactedToolIds`` names them.
- ``attachment`` with ``attachment.type`` ``file``: a file that the harness read itself, after a compaction or because
  a person named it. A prompt whose ``parentUuid`` lies further back was written after a rewind.
- A command in the background has ``toolUseResult.backgroundTaskId``, in helpers' transcripts only a text with that id.
  Its exit code comes in a notice (a prompt, an attachment ``queued_command``, a ``queue-operation``, in
  ``stream-json`` a ``system`` record ``task_notification``), or in the result of ``TaskOutput``: ``{"task": {task_id,
  status, exitCode, output}}``, at first of ``BashOutput``: ``{shellId, status, exitCode, stdout}``.
- The calls of helpers of 2.1.12 to 2.1.81 stand in the main transcript, too: ``progress`` with ``data`` ``{"type":
  "agent_progress", agentId, "message": RECORD}``. Where the helper's own file is not at hand, only there.
- A forked session repeats lines of another one, each with ``forkedFrom {sessionId, messageUuid}``; one that was resumed
  by an older version does so under its own ``sessionId`` or the other's. The ``uuid`` is the same, as a rule.

``claude -p --output-format stream-json`` prints the same messages with ``session_id``, ``tool_use_result`` and
``parent_tool_use_id``, without times.
"""

import os
import re
from collections.abc import Iterator
from itertools import islice

from sightline.base.records import READ_LATER, TOOL_FAILED, joined_notes
from sightline.harnesses.claude_code import HARNESS, code_in, notices_in, output_file, use_of_notice
from sightline.harnesses.claude_code_results import LARGEST_STDOUT, Result, file_read, left_of, numbered_lines
from sightline.harnesses.claude_code_usage import UsageReader
from sightline.harnesses.tool_call import (
    Beside,
    CallSession,
    ToolCall,
    ToolPart,
    dict_of,
    list_of,
    number,
    open_beside,
    own_file,
    parts_of,
    plain,
    shown_of,
    size_beside,
    text_of,
    text_part,
    unique_id,
)
from sightline.harnesses.transcript import (
    LINE_BYTES,
    BadRecord,
    Candidate,
    Lineage,
    ToldEvent,
    ToldOrigin,
    TranscriptItem,
    TranscriptReading,
    parted,
    when,
)
from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.session_events import (
    COMPACTED,
    PRUNED,
    REWOUND,
    STARTED,
    TRANSCRIPT,
    AgentMessage,
    ContextChange,
    SessionEvent,
    SessionSubject,
    prompt_of,
    subject_of,
)
from sightline.log.session_origins import FORK, SPAWN, TEAM, SessionOrigin
from sightline.shell_words.programs import writes_elsewhere

_RECORDS = """user assistant system attachment progress summary file-history-snapshot queue-operation api-request
api-request-shape api-request-blob tools-used last-prompt cost-state atis-latch result stream_event mode pr-link
permission-mode agent-name custom-title ai-title worktree-state frame-link"""
_KNOWN = frozenset(_RECORDS.split())
_HOLDS = frozenset(("message", "content", "data", "attachment", "toolUseResult", "tool_use_result"))
"""Members that hold calls or texts; a record of an unknown sort without them is of no consequence."""

_SHELLS = ("Bash", "PowerShell")
_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,10})(?:\n|\Z)")
_TIMED_OUT = re.compile(r"(?:Error: )?Command timed out")
_CODELESS = re.compile(r"1\.|2\.0\.")
"""Versions some of which show what a failed command printed without its exit code."""

_NEVER_RAN = re.compile(
    r"(?:Error: )?(?:<tool_use_error>|\[Request|The user |User |Permission to |Claude requested|This (?:Bash )?command "
    r"|Command contains|Blocked|InputValidationError|No such tool|[^\n]{1,60} is temporarily unavailable)"
)
"""How messages begin with which the harness, or a person, has refused a command."""

_SAVED = re.compile(r"(?:Full output saved to|Output has been saved to):? (\S.*?)(?:\.?\n|\. |\.?\Z)")
_SPLIT_BYTES = 4  # a character that was cut in two, at the end of an output of the largest size
_PERSISTED = ("<persisted-output>", "Error: result (")

_BACKGROUND = re.compile(
    r"Command [^\n]{1,80}?background[^\n]{0,20} with ID: ([\w-]{1,120})"
    r"(?:\.[^\n]{0,80}? written to: ([^\n]+?\.output))?"
)
_OUTPUT = re.compile(r"[\\/]tasks[\\/]([\w-]{1,120})\.output\b")
_READER = re.compile(r"\b(?:cat|tail|head|sed|awk|e?grep|rg|less|Get-Content|gc|type|Select-String)\b", re.IGNORECASE)
_QUIET = re.compile(r"\s-[a-zA-Z]*q")
_OUTPUTS_READ = 20  # places of such files in a command line that are looked at
_LOOKS = ("TaskOutput", "BashOutput")
"""Tools that show what a command in the background has written."""

_TAG = re.compile(r"<(task_id|exit_code|status)>\s*([^<\s]{1,120})\s*</\1>")
_PENDING = 10_000  # calls that wait for results; the oldest of more never get one
_FOLDER = "tool-results"
_STAMP = re.compile(rb'"timestamp": ?"([0-9T:.Z+-]{19,40})"')
_STAMP_BYTES = 16 << 20
_META_BYTES = 1 << 16
_TAIL_BYTES = 200  # more than the line that is added below an output in the background


class _Asked(NamedTuple):
    """A call that waits for its result."""

    tool: str
    arguments: Any
    time: float


class _Going(NamedTuple):
    """A command that goes on in the background: its call, and the path of its output as far as that is told."""

    call: ToolCall
    path: str
    output: str = ""


def reading_of(file: Candidate) -> TranscriptReading | None:
    """Return a reading of a transcript; None for another file."""
    names = ("sessionId", "session_id", "leafUuid")
    if any("parts" in dict_of(record.get("message")) for record in file.records):
        return None  # a harness that has taken over its records, but not its messages
    if any("type" in record and any(name in record for name in names) for record in file.records):
        return file.of_lines(Parser(file.path, _first_time(file) or file.written))
    return None


def lineage_of(records: Iterator[dict[str, Any]]) -> Lineage | None:
    """Return whose history a transcript may repeat, by its first records; None for another file."""
    beginning, sessions, parents = "", list[str](), list[str]()
    for record in records:
        if isinstance(record.get("uuid"), str):
            beginning = beginning or record["uuid"]
            sessions.append(text_of(record.get("sessionId")))
            parents.append(text_of(dict_of(record.get("forkedFrom")).get("sessionId")))
    if not beginning:
        return None
    return Lineage(sessions[-1], tuple(dict.fromkeys(one for one in parents if one)), beginning)


class Parser:
    """Makes calls from the records of a transcript.

    Attributes:
        lines_stand_alone: whether each line names its session, and a reply its model.
    """

    lines_stand_alone = True

    def __init__(self, path: str, written: float) -> None:
        """Prepare to read.

        Args:
            path: path of the transcript; other files of it lie in its project's folder.
            written: seconds since the epoch, for records before the first that has a time.
        """
        self._root, self._folder_session = _place(path)
        self._time = 0.0
        self._written = written
        self._asked: dict[tuple[str, str], _Asked] = {}  # by helper and use; some models' servers number uses from 0
        self._answered: set[tuple[str, str]] = set()  # likewise
        self._going: dict[str, _Going] = {}  # by ids of tasks
        self._gone: dict[str, ToolCall] = {}  # calls that went on and have ended, likewise
        self._lost: dict[str, list[ToolCall]] = {}  # those whose output may be read yet, with their notices, likewise
        self._started: dict[tuple[str, str], CallSession] = {}
        self._cwd = self._version = self._told_in = self._spawned_by = ""
        self._meta = _meta_beside(path)
        self._forked: dict[str, str] = {}  # sessions whose history others begin with, by these
        self._chain = _Chain()
        self._usage = UsageReader()
        self._begun: set[CallSession] = set()
        self._subjects: set[CallSession] = set()  # sessions whose subject is known
        self._compaction: ToldEvent | None = None  # a compaction whose summary is the next record

    @property
    def waiting(self) -> bool:
        """Whether a compaction waits for its summary, or a command for its end.

        Calls without a result have nothing to keep.
        """
        return self._compaction is not None or bool(self._going or self._lost)

    @property
    def newest(self) -> float:
        """When the newest record was made."""
        return self._time

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield a compaction whose summary never came, and commands and replies whose end was never written."""
        yield from self._compacted("")
        yield from self._usage.finish()
        for task in list(self._going):
            yield from self._ended(task, None, partial="its end was never written down")
        lost, self._lost = self._lost, {}
        for calls in lost.values():
            yield from calls

    def feed(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the calls that a record completes."""
        kind = record.get("type")
        if kind not in _KNOWN:
            if not _HOLDS.isdisjoint(record):
                yield BadRecord(line, f"a record of an unknown sort: {str(kind)[:80]!r}", unknown=True)
            return
        self._time = when(record.get("timestamp"), self._time)
        self._cwd = text_of(record.get("cwd")) or self._cwd
        self._version = text_of(record.get("version", record.get("claude_code_version"))) or self._version
        message = dict_of(record.get("message"))
        yield from self._context(kind, record, message)
        if (self._going or self._gone) and kind != "assistant":
            yield from self._notices(record, message, line)
        if kind == "assistant":
            self._ask(_helper(record), list_of(message.get("content")))
            yield from self._said(record, list_of(message.get("content")))
            yield from self._usage.read(self._session(record), record, message, self._now)
        elif kind == "progress":
            yield from self._progressed(record, dict_of(record.get("data")), line)
        elif kind == "attachment":
            yield from self._attached(record, dict_of(record.get("attachment")), line)
        elif kind == "user":
            yield from self._asked_for(record, message)
            results = [one for one in list_of(message.get("content")) if dict_of(one).get("type") == "tool_result"]
            for place, block in enumerate(results):
                use = _helper(record), text_of(block.get("tool_use_id"))
                if use in self._asked or use not in self._answered:  # else it is a copy of its result
                    yield from self._call(record, block, line, place, alone=len(results) == 1)

    def _progressed(self, record: dict[str, Any], data: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the calls that a record within one of the main transcript completes, for the helper that made them."""
        inner, session = dict_of(data.get("message")), dict_of(record.get("forkedFrom")).get("sessionId")
        if not text_of(data.get("agentId")) or inner.get("type") not in ("assistant", "user"):
            return
        known = {"sessionId": session or record.get("sessionId"), "timestamp": record.get("timestamp")}
        helper = {"agentId": data["agentId"], "isSidechain": True}
        self._told_in, self._spawned_by = "progress", text_of(record.get("parentToolUseID"))
        yield from self.feed(known | inner | helper, line)
        self._told_in = self._spawned_by = ""

    def _context(self, kind: str, record: dict[str, Any], message: dict[str, Any]) -> Iterator[TranscriptItem]:
        """Yield what a record says about the context."""
        if kind == "user" and record.get("isCompactSummary") is True:
            if self._compaction is None:
                self._compaction = self._event(record, ContextChange(self._now, COMPACTED))
            yield from self._compacted("\n".join(shown_of(message.get("content"))))
            return
        yield from self._compacted("")
        if kind in ("user", "assistant") and text_of(record.get("sessionId", record.get("session_id"))):
            session = self._session(record)
            if session not in self._begun:
                self._begun.add(session)
                yield ToldEvent(session, ContextChange(self._now, STARTED, told=TRANSCRIPT, whole=True))
                if origin := self._origin(record, session):
                    yield ToldOrigin(session, origin)
        if lost := self._chain.add(record, message):
            yield self._event(record, ContextChange(self._now, REWOUND, lost=lost))
        about = dict_of(record.get("compactMetadata", record.get("compact_metadata")))
        if kind == "system" and record.get("subtype") == "compact_boundary":
            uuids = dict_of(about.get("preservedMessages")).get("allUuids")
            kept = tuple(self._chain.uses_of(uuids)) if isinstance(uuids, list) else ()
            before, after = (about.get(name) for name in ("preTokens", "postTokens"))
            change = ContextChange(self._now, COMPACTED, _trigger(about), _count(before), _count(after), kept=kept)
            self._compaction = self._event(record, change)
        elif kind == "system" and record.get("subtype") == "microcompact_boundary":
            about = dict_of(record.get("microcompactMetadata", record.get("microcompact_metadata")))
            uses = about.get("compactedToolIds")
            went = tuple(map(text_of, uses)) if isinstance(uses, list) and uses else None
            change = ContextChange(self._now, PRUNED, _trigger(about), _count(about.get("preTokens")), lost=went)
            yield self._event(record, change)

    def _origin(self, record: dict[str, Any], session: CallSession) -> SessionOrigin | None:
        """Return from which session one came, by its first record that is no copy; None if that is not stated."""
        if copied := text_of(dict_of(record.get("forkedFrom")).get("sessionId")):
            self._forked[text_of(record.get("sessionId"))] = copied
            return None  # the record is of that one
        if session.agent:
            use = text_of(record.get("parent_tool_use_id", self._meta.get("toolUseId"))) or self._spawned_by
            above, kind = (text_of(self._meta.get(name)) for name in ("parentAgentId", "agentType"))
            return SessionOrigin(self._now, SPAWN, session.id, above, use, plain(kind))
        team = plain(text_of(record.get("teamName")))
        if team:
            return SessionOrigin(self._now, TEAM, agent=plain(text_of(record.get("agentName"))), team=team)
        parent = self._forked.get(session.id, "")
        return SessionOrigin(self._now, FORK, parent) if parent else None

    def _event(self, record: dict[str, Any], what: SessionEvent) -> ToldEvent:
        unique = text_of(record.get("uuid")) + what.id
        return ToldEvent(self._session(record), what._replace(id=unique, told=TRANSCRIPT))

    def _compacted(self, summary: str) -> Iterator[ToldEvent]:
        """Yield the compaction that waits for its summary."""
        event, self._compaction = self._compaction, None
        if event and isinstance(event.what, ContextChange):
            yield event._replace(what=event.what._replace(summary=summary))

    def _asked_for(self, record: dict[str, Any], message: dict[str, Any]) -> Iterator[ToldEvent]:
        """Yield a prompt, by a person or by the agent whose helper it is, and the subject in a session's first one."""
        if record.get("isMeta") is True or record.get("isCompactSummary") is True:
            return
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else map(dict_of, list_of(content))
        texts = [text for block in blocks if block.get("type") == "text" and (text := text_of(block.get("text")))]
        is_first = bool(texts) and (session := self._session(record)) not in self._subjects
        if is_first and (subject := next(filter(None, map(subject_of, texts)), "")):
            self._subjects.add(session)
            yield self._event(record, SessionSubject(self._now, plain(subject), "/about"))
        by_agent = bool(_helper(record)) or record.get("isSidechain") is True
        for place, text in enumerate(texts):
            if not text.startswith(HARNESS.background):
                prompt = prompt_of(plain(text), self._now, f"/prompt{place or ''}", by_agent=by_agent)
                yield from [self._event(record, prompt)] if prompt else ()

    def _said(self, record: dict[str, Any], blocks: list[Any]) -> Iterator[ToldEvent]:
        """Yield what the agent says in its own words in a message."""
        if record.get("isApiErrorMessage") is True:
            return
        for place, block in enumerate(map(dict_of, blocks)):
            if block.get("type") == "text" and (text := text_of(block.get("text"))).strip():
                said = AgentMessage(self._now, plain(text), f"/{place}" if place else "")
                yield self._event(record, said)

    def _attached(self, record: dict[str, Any], attached: dict[str, Any], line: int) -> Iterator[ToolCall]:
        """Yield a file that the harness shows by itself."""
        read = file_read(attached.get("content")) if attached.get("type") == "file" else None
        unique = text_of(record.get("uuid"))
        if read is None or not unique:
            return
        shown = _rendered(record) or tuple(
            part.content.decode(errors="replace") for part in read.parts if isinstance(part.content, bytes)
        )
        yield ToolCall(
            session=self._session(record),
            id=unique,
            use="",
            line=line,
            asked=self._now,
            answered=self._now,
            tool="attachment",
            arguments={"file_path": read.command},
            kind=read.kind,
            command=read.command,
            cwd=text_of(record.get("cwd")) or self._cwd,
            shown=shown,
            parts=read.parts,
            partial=read.partial,
            gaps=read.gaps,
        )

    def _ask(self, helper: str, blocks: list[Any]) -> None:
        for block in map(dict_of, blocks):
            if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
                asked = _Asked(text_of(block.get("name")) or "tool", block.get("input"), self._now)
                self._asked[helper, block["id"]] = asked
                if len(self._asked) > _PENDING:
                    del self._asked[next(iter(self._asked))]

    @property
    def _now(self) -> float:
        return self._time or self._written

    def _call(
        self, record: dict[str, Any], block: dict[str, Any], line: int, place: int, *, alone: bool
    ) -> Iterator[ToolCall]:
        use = text_of(block.get("tool_use_id"))
        asked = self._asked.pop((_helper(record), use), _Asked("tool", None, self._now))
        if use:
            self._answered.add((_helper(record), use))
        session = self._session(record)
        shown = shown_of(block.get("content"))
        failed = block.get("is_error") is True
        told = record.get("toolUseResult", record.get("tool_use_result")) if alone else None
        made = self._result(asked, told, block.get("content"), "\n".join(shown), failed, session.id)
        unique = text_of(dict_of(record.get("forkedFrom")).get("messageUuid")) or text_of(record.get("uuid"))
        call = ToolCall(
            session=session,
            id=f"{unique}/{place}" if unique and place else unique or unique_id(session.id, use or f"line {line}"),
            use=use,
            line=line,
            asked=asked.time,
            answered=self._now,
            tool=asked.tool,
            arguments=asked.arguments,
            kind=made.kind,
            command=made.command,
            cwd=text_of(record.get("cwd")) or self._cwd,
            shown=shown,
            parts=made.parts,
            exit_code=made.exit_code,
            partial=made.partial,
            note=made.note,
            failed=failed,
            gaps=made.gaps,
            told_in=self._told_in,
            timed_out=failed and made.kind == "cmd" and bool(_TIMED_OUT.match("\n".join(shown))),
        )

        task, path = _in_background(dict_of(told), call.shown)
        if task and call.kind == "cmd":
            self._going[task] = _Going(call, path)
            return
        if asked.tool in _LOOKS and self._going:
            yield from self._looked(call, dict_of(told), dict_of(asked.arguments))
        elif (self._going or self._lost) and not failed:
            yield from self._read(call, dict_of(asked.arguments))
        else:
            yield call

    def _read(self, call: ToolCall, arguments: dict[str, Any]) -> Iterator[ToolCall]:
        """Yield a call, which may read the file of a command in the background, after this command if it has ended."""
        whole = _OUTPUT.search(call.command) if call.kind == "file" else None
        task = whole[1] if whole else _task_read(call.command)
        if whole and not call.partial and task in self._going:
            self._going[task] = self._going[task]._replace(output=call.text)
        if task in self._lost:
            ran, *notices = self._lost.pop(task)
            if whole and not call.partial:
                ran = ran._replace(parts=text_part(call.text), partial="", gaps=())
                call = call._replace(of=ran.use, kind="tool", parts=())
            else:
                ran = ran._replace(note=joined_notes(ran.note, READ_LATER))
            yield from (ran, *notices)
        yield call

    def _notices(self, record: dict[str, Any], message: dict[str, Any], line: int) -> Iterator[ToolCall]:
        """Yield the commands in the background that a record reports as ended, and the notice, if that was shown."""
        if record.get("subtype") == "task_notification":
            path, code = text_of(record.get("output_file")), code_in(text_of(record.get("summary")))
            task = text_of(record.get("task_id"))
            yield from self._ended(task, code, path)
            if task in self._gone:
                yield from self._notice(task, self._noticed(record, self._gone.pop(task), code, "", line))
        texts = [record.get("content"), dict_of(record.get("attachment")).get("prompt"), message.get("content")]
        texts += [dict_of(one).get("text") for one in list_of(message.get("content"))]
        for text in texts:
            if isinstance(text, str) and text.lstrip().startswith(HARNESS.background):
                for notice in notices_in(text):
                    yield from self._ended(notice.task, notice.exit_code, notice.path)
                    if notice.task in self._gone and record.get("type") in ("user", "attachment"):
                        noticed = self._noticed(record, self._gone.pop(notice.task), notice.exit_code, text, line)
                        yield from self._notice(notice.task, noticed)

    def _notice(self, task: str, noticed: ToolCall) -> Iterator[ToolCall]:
        """Yield a notice, or keep it behind its command."""
        if task in self._lost:
            self._lost[task].append(noticed)
        else:
            yield noticed

    def _noticed(self, record: dict[str, Any], call: ToolCall, code: int | None, text: str, line: int) -> ToolCall:
        """Return the view of a notice about a command's end, which comes as a prompt or within a turn."""
        return call._replace(
            id=unique_id(text_of(record.get("uuid")) or f"line {line}", call.use),
            use=use_of_notice(call.use),
            of=call.use,
            line=line,
            asked=self._now,
            answered=self._now,
            ended=0.0,
            tool="attachment",
            shown=_rendered(record) or (plain(text),),
            unknown="" if text else "what is printed of a session does not have the words of a notice",
            parts=(),
            partial="",
            gaps=(),
            exit_code=code,
        )

    def _looked(self, call: ToolCall, told: dict[str, Any], arguments: dict[str, Any]) -> Iterator[ToolCall]:
        """Yield a look at the output of a command in the background, after the command if the look says that it ended.

        The look then shows more of that command.
        """
        about, shown = dict_of(told.get("task")) or told, "\n".join(call.shown)
        head = dict(_TAG.findall(re.split(r"<(?:output|stdout)>", shown)[0]))
        names = (about.get("task_id"), about.get("shellId"), head.get("task_id"), arguments.get("bash_id"))
        task = next(filter(None, map(text_of, names)), "")
        if task not in self._going:
            yield call
            return
        going = self._going[task]
        if isinstance(about.get("output"), str):
            self._going[task] = going._replace(output=about["output"])  # all of it, so far
        elif isinstance(about.get("stdout"), str):
            self._going[task] = going._replace(output=going.output + about["stdout"])
        code = about.get("exitCode", head.get("exit_code"))
        if isinstance(code, int | str) and re.fullmatch(r"-?\d{1,10}", str(code)):
            yield from self._ended(task, int(code))
            call = call._replace(of=self._gone.pop(task).use, exit_code=int(code), parts=())
        yield call

    def _ended(self, task: str, code: int | None, path: str = "", partial: str = "") -> Iterator[ToolCall]:
        """Yield a command that went on in the background, with what is kept of its output."""
        going = self._going.pop(task, None)
        if going is None:
            return
        call = going.call._replace(
            exit_code=code, ended=0.0 if partial else self._now, partial="", gaps=(), note="merged"
        )
        file = own_file(path or going.path, output_file(task, call.session.id))
        kept = _output_in(file) if file else None
        is_lost = kept is None and not (partial or going.output or writes_elsewhere(call.command))
        if kept is None:
            partial = partial or (_FILE_GONE if is_lost else "")
            kept = text_part(going.output) or call.parts
        if partial:
            text = "".join(part.content.decode(errors="replace") for part in kept if isinstance(part.content, bytes))
            is_here = text and all(isinstance(one.content, bytes) for one in kept)
            gaps = parted([text, ""], [(None, "characters")], "out").gaps if is_here else ()
            call = call._replace(partial=partial, gaps=gaps)
        if not partial or code is not None:
            self._gone[task] = call
        if is_lost:
            self._lost[task] = [call._replace(parts=kept)]
        else:
            yield call._replace(parts=kept)

    def _session(self, record: dict[str, Any]) -> CallSession:
        """Return the session of a record: of a copied one, that from which it was copied."""
        name = text_of(dict_of(record.get("forkedFrom")).get("sessionId"))
        name = name or text_of(record.get("sessionId", record.get("session_id"))) or self._folder_session
        agent = _helper(record)
        known = self._started.get((name, agent))
        if known is None:
            client = " ".join(filter(None, (HARNESS.name, self._version)))
            known = CallSession(HARNESS.name, name, client, self._cwd, self._now, agent)
            self._started[name, agent] = known
        return known

    def _result(self, asked: _Asked, told: Any, content: Any, shown: str, failed: bool, session: str) -> Result:
        arguments = dict_of(asked.arguments)
        if asked.tool in _SHELLS and isinstance(arguments.get("command"), str):
            found = self._ran(told, shown, failed, session)
            if found is not None:
                return found._replace(command=plain(arguments["command"]))
        if asked.tool == "Read" and not failed:
            read = file_read(told) or (numbered_lines(arguments, shown) if told is None else None)
            if read is not None:
                return read
        given = dict_of(told).get("content", told)  # a helper's own words, without the harness' around them
        whole = given if isinstance(given, list) and given and not failed else content
        partial = "cut by the tool's own limit" if dict_of(told).get("appliedLimit") else ""
        if not isinstance(told, list) and shown.startswith(_PERSISTED) and (saved := self._saved(shown, session)):
            return Result("tool", "", (ToolPart("part.0", saved),) if isinstance(saved, Beside) else parts_of(content))
        if not isinstance(told, list) and shown.startswith(_PERSISTED):
            partial = _GONE
        return Result("tool", "", parts_of(whole), None, partial)

    def _ran(self, told: Any, shown: str, failed: bool, session: str) -> Result | None:
        """Return the result of a command line; None if it never ran, and the harness' own message was shown."""
        if isinstance(told, dict) and isinstance(told.get("stdout"), str):
            return self._told(told, failed, session)
        ended = _EXIT.match(shown)
        if failed and not ended and not _TIMED_OUT.match(shown):
            if not _CODELESS.match(self._version) or _NEVER_RAN.match(shown):
                return None
            return Result("cmd", "", text_part(shown), None, "", joined_notes("merged", TOOL_FAILED))
        code = int(ended[1]) if ended else None if failed else 0
        if shown.startswith(_PERSISTED):
            if saved := self._saved(shown, session):
                return Result("cmd", "", (ToolPart("out", saved),), code, "", "merged")
            return Result("cmd", "", text_part(shown[ended.end() if ended else 0 :]), code, _GONE, "merged")
        output, gaps, _ = left_of(shown, ended.end() if ended else 0)
        return Result("cmd", "", text_part(output), code, HARNESS.cut if gaps else "", "merged", gaps)

    def _told(self, told: dict[str, Any], failed: bool, session: str) -> Result:
        out, err = told["stdout"], text_of(told.get("stderr"))
        left, gaps, _ = left_of(out)
        parts, partial = text_part(left) + text_part(err, "err"), ""
        known = not failed and not told.get("interrupted") and not told.get("returnCodeInterpretation")
        if told.get("backgroundTaskId"):
            return Result("cmd", "", parts)
        if path := text_of(told.get("persistedOutputPath")):
            saved = self._beside(path, session)
            size = size_beside(saved)
            if size < 0:
                partial, gaps = _GONE, parted([out, ""], [(None, "characters")], "out").gaps
            else:
                parts, gaps = (ToolPart("out", saved), *text_part(err, "err")), ()
                if 0 <= size < number(told.get("persistedOutputSize")):
                    partial = f"the file that was kept has {size:,} of {int(told['persistedOutputSize']):,} bytes"
        elif gaps:
            partial = HARNESS.cut
        elif len(out.encode(errors="surrogatepass")) >= LARGEST_STDOUT - _SPLIT_BYTES:
            partial, gaps = HARNESS.cut, parted([out, ""], [(None, "characters")], "out").gaps
        return Result("cmd", "", parts, 0 if known else None, partial, "" if err else "merged", gaps)

    def _beside(self, path: str, session: str) -> Beside:
        return Beside(self._root, (session, _FOLDER, os.path.basename(path)))

    def _saved(self, shown: str, session: str) -> Beside | None:
        """Return the file that has the whole output by the shown text, if it still exists."""
        found = _SAVED.search(shown)
        saved = self._beside(found[1], session) if found else None
        return saved if saved and size_beside(saved) >= 0 else None


def _helper(record: dict[str, Any]) -> str:
    """Return the id of the helper that a record is of; empty for the agent itself."""
    return text_of(record.get("agentId", record.get("parent_tool_use_id")))


def _rendered(record: dict[str, Any]) -> tuple[str, ...]:
    """Return the texts that the model was sent of an attachment; none where the record does not have them."""
    texts = (text_of(dict_of(one).get("content")) for one in list_of(record.get("rendered")))
    return tuple(plain(text) for text in texts if text)


def _in_background(told: dict[str, Any], shown: tuple[str, ...]) -> tuple[str, str]:
    """Return the id of the task as which a command goes on, and the path of its output; empty if it does not go on."""
    found = _BACKGROUND.match(shown[0]) if shown else None
    task = text_of(told.get("backgroundTaskId"))
    if not task and found and "stdout" not in told and "\n" not in shown[0].strip():
        task = found[1]
    return task, (found[2] or "") if task and found else ""


def _output_in(file: Beside) -> tuple[ToolPart, ...] | None:
    """Return what a command wrote into a file, without what Claude Code has added; None if that is gone."""
    try:
        with open(open_beside(file), "rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            added = HARNESS.added_bytes(os.pread(opened.fileno(), _TAIL_BYTES, max(0, size - _TAIL_BYTES)))
            if added and size <= LINE_BYTES:
                data = opened.read(size - added)
                return (ToolPart("out", data),) if data else ()
    except OSError:
        return None
    return (ToolPart("out", file),) if size else ()


class _Chain:
    """The records of the main conversation in order, which show rewinds, and their results."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._results: list[tuple[int, str, str]] = []  # index, uuid and id of the tool use

    def add(self, record: dict[str, Any], message: dict[str, Any]) -> tuple[str, ...]:
        """Take a record, and return the tool uses whose results a rewind before it has removed from the context."""
        unique = text_of(record.get("uuid"))
        if not unique or record.get("isSidechain") is True or unique in self._places:
            return ()
        self._places[unique] = len(self._places)
        blocks = [dict_of(one) for one in list_of(message.get("content"))]
        uses = [text_of(one.get("tool_use_id")) for one in blocks if one.get("type") == "tool_result"]
        self._results += [(self._places[unique], unique, use) for use in uses if use]
        is_prompt = record.get("type") == "user" and not uses and not record.get("isCompactSummary")
        parent = self._places.get(text_of(record.get("parentUuid")))
        if not is_prompt or parent is None:
            return ()
        lost = tuple(use for place, _, use in self._results if place > parent)
        self._results = [one for one in self._results if one[0] <= parent]
        return lost

    def uses_of(self, uuids: list[Any]) -> Iterator[str]:
        """Yield the tool uses whose results are among some records."""
        wanted = {one for one in uuids if isinstance(one, str)}
        return (use for _, unique, use in self._results if unique in wanted)


def _trigger(about: dict[str, Any]) -> str:
    return {"manual": "manual", "auto": "automatic"}.get(text_of(about.get("trigger")), "")


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


_GONE = "the file that the whole was kept in is gone"
_FILE_GONE = "the file that it wrote to in the background is gone"


def _first_time(file: Candidate) -> float:
    """Return the first time in a transcript; 0 if it has none. What ``stream-json`` prints begins without."""
    if found := next(filter(None, (when(record.get("timestamp")) for record in file.records)), 0.0):
        return found
    stamp = _STAMP.search(file.transcript.head(_STAMP_BYTES))
    return when(stamp[1].decode()) if stamp else 0.0


def _place(path: str) -> tuple[str, str]:
    """Return the folder of a transcript's project, and the session that the path names."""
    folder, name = os.path.split(os.path.abspath(path))
    parts = folder.split(os.sep)
    if "subagents" in parts:
        at = len(parts) - 1 - parts[::-1].index("subagents")
        return os.sep.join(parts[: at - 1]) or os.sep, parts[at - 1]
    return folder, name.removesuffix(".jsonl")


def _meta_beside(path: str) -> dict[str, Any]:
    """Return what Claude Code keeps of a helper beside its transcript; empty if there is nothing."""
    folder, name = os.path.split(os.path.abspath(path))
    if not name.startswith("agent-"):
        return {}
    try:
        with open(open_beside(Beside(folder, (name.removesuffix(".jsonl") + ".meta.json",))), "rb") as file:
            return dict_of(loads(file.read(_META_BYTES)))
    except (OSError, ValueError):
        return {}


def _task_read(command: str) -> str:
    """Return the task whose output a command line prints, as far as it was there; empty if it prints none."""
    for found in islice(_OUTPUT.finditer(command), _OUTPUTS_READ):
        begin = max(command.rfind(end, 0, found.start()) for end in "|;&\n") + 1
        before = command[begin : found.end()]
        if _READER.search(before) and not _QUIET.search(before):
            return found[1]
    return ""
