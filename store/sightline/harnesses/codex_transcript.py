"""Reads Codex' rollouts; separate from `codex`, which each event of a hook loads.

They lie in ``~/.codex/sessions/YYYY/MM/DD/rollout-TIME-SESSION.jsonl``.

This is how version 0.169.0 was seen to write them. A line is ``{"timestamp", "type", "payload"}``:

- ``session_meta``: ``{id, cwd, cli_version, timestamp, forked_from_id?, source?: {subagent: {thread_spawn:
  {parent_thread_id}}}}``. A forked or spawned session has its own first, then the records of its parent, that one's
  first, with their times or all with the time of the copying. They count for the session that made them.
- ``response_item``: ``function_call {name, namespace?, arguments (JSON), call_id}``, ``custom_tool_call {name, input,
  call_id}``, ``local_shell_call {action: {command, working_directory}, call_id}``, and their ``…_output {call_id,
  output}``: a text, or blocks, as the model saw it. Before 0.72 the text was JSON, ``{output, metadata: {exit_code}}``,
  whose lines count as shown; a command that the sandbox or Codex refused had a message alone.
- ``response_item`` ``message {role, content: [{type: output_text, text}]}``: what the agent said.
- ``compacted {message}``: the context was replaced by this summary and the person's own messages.
- ``event_msg``: ``thread_rolled_back {num_turns}``: the last turns went from it; their calls are not named.
- ``event_msg``: ``item_completed`` with ``item.type`` ``CommandExecution {id, command, cwd, aggregated_output,
  exit_code}`` or ``McpToolCall {id, server, tool, arguments, result}``; in older ones ``exec_command_end {call_id,
  aggregated_output, exit_code}``. What they hold is cut to 65,536 bytes, head and tail.

A command in the background has its result long before its end, and waits for that. Versions 0.140 to 0.142 write no
items: the rest of its output and its exit code are in results of ``write_stdin {session_id}``. Calls that a program of
the model's makes (tools ``exec`` and ``wait``) have only items, with ids of their own, before the program's output; in
0.144, which writes no items, they stand in the program alone (`codex_program`). A program that takes longer is answered
with ``Script running with cell ID N``, and its output is the result of ``wait {cell_id}``.
"""

import re
import shlex
from collections.abc import Iterator, Sequence

from sightline.base.records import TOOL_FAILED, joined_notes
from sightline.harnesses.codex import HARNESS
from sightline.harnesses.codex_program import PATCHES, RUNS, ProgramResult, calls_in, results_in
from sightline.harnesses.codex_usage import UsageReader
from sightline.harnesses.tool_call import (
    CallSession,
    ToolCall,
    dict_of,
    list_of,
    parts_of,
    plain,
    shown_of,
    text_of,
    text_part,
    unique_id,
)
from sightline.harnesses.transcript import (
    BadRecord,
    Candidate,
    KeptText,
    Lineage,
    ToldEvent,
    ToldOrigin,
    ToldUsage,
    TranscriptItem,
    TranscriptReading,
    joined,
    parted,
    when,
)
from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.session_events import (
    COMPACTED,
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
from sightline.log.session_origins import COMPACTION, FORK, REVIEW, SPAWN, SessionOrigin
from sightline.shell_words.answers import Wrote, answer_of

TURN = b'"type":"turn_context"'
"""Bytes in the line that begins a turn."""

KEPT_BYTES = 65_536
_RECORDS = """session_meta turn_context world_state response_item event_msg token_usage_record compacted
inter_agent_communication_metadata"""
_KNOWN = frozenset(_RECORDS.split())
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_SHELLS = ("exec_command", "shell", "shell_command", "container.exec", "local_shell")
_EXIT = re.compile(r"(?m)^(?:Process exited with code|Exit code:) (-?\d{1,10})$")
_INNER_HEAD = re.compile(r"Exit code: (-?\d{1,10})\nWall time: [^\n]*\nOutput:\n")  # apply_patch, run as a command
_RUNNING = re.compile(r"(?m)^Process running with session ID (\d+)$")
_IN_SANDBOX = re.compile(r"failed in sandbox \w+ with execution error: [^\n]*?exit code: (-?\d{1,10}), stdout: ")
_REFUSED = re.compile(
    r"(?:Total output lines: \d{1,10}\s{1,9})?failed in sandbox\b:?|error: |execution error: "
    r"|apply_patch verification failed"
)
"""What Codex says in the place of a result, of a command that failed without an exit code being told."""

_BODY = re.compile(r"(?m)^Output:\n")
_CUT_HEAD = re.compile(r"(?:Warning: truncated output[^\n]*\n)?(?:Total output lines: \d+\n\n)?")
_CUT_INSIDE = re.compile(
    r"…(?P<count>\d{1,12}) (?P<unit>tokens|chars|lines) truncated…"
    r"|\n?\[\.\.\. omitted (?P<lines>\d{1,12}) of \d{1,12} lines \.\.\.\]\n{0,2}"
)
_CUT_STORED = re.compile(r"\n\.\.\. command output truncated for persistence \.\.\.\n")
_PROGRAMS = ("exec", "wait")
_CELL = re.compile(r"\AScript running with cell ID (\S{1,40})$", re.M)
_MIXED = "its program printed several results as one text"
_PART = "its program showed only a part of it"
_ASKS_MORE = "write_stdin"
"""The tool that shows what a command, which goes on, has written since."""

_COPYING_SECONDS = 0.5
"""The longest time between two records that are copied; a model takes longer for its first reply."""

_NO_END = "its end was never written down"
_PENDING = 10_000
_INNER = 500  # calls of one program that are kept until its output comes
_EMPTY: dict[str, Any] = {}


def reading_of(file: Candidate) -> TranscriptReading | None:
    """Return a reading of a rollout; None for another file."""
    if any("payload" in record and "type" in record for record in file.records):
        return file.of_lines(Parser(file.path, file.written))
    return None


def lineage_of(records: Iterator[dict[str, Any]]) -> Lineage | None:
    """Return whose history a rollout may repeat, by its first records; None for another file."""
    first = next(records, _EMPTY)
    if first.get("type") != "session_meta" or "payload" not in first:
        return None
    own = dict_of(first["payload"])
    session, parents = text_of(own.get("id", own.get("session_id"))), _parents_of(own)
    for record in records:
        if record.get("type") != "session_meta":
            break
        parents += (text_of(dict_of(record.get("payload")).get("id")),)
    return Lineage(session, tuple(one for one in parents if one not in ("", session)))


def _parents_of(meta: dict[str, Any]) -> tuple[str, ...]:
    """Return the ids of the sessions from which one comes, by its first record."""
    stated = (meta.get("forked_from_id"), _spawned_by(meta), meta.get("parent_thread_id"))
    return tuple(dict.fromkeys(filter(None, map(text_of, stated))))


def _spawned_by(meta: dict[str, Any]) -> str:
    """Return the id of the session whose agent started this one as its helper; empty for none."""
    spawn = dict_of(dict_of(dict_of(meta.get("source")).get("subagent")).get("thread_spawn"))
    return text_of(spawn.get("parent_thread_id"))


def _is_of_reply(item: dict[str, Any]) -> bool:
    """Return whether a ``response_item`` is of a model, rather than told to it."""
    return item.get("role", "assistant") == "assistant" and not text_of(item.get("type")).endswith("_output")


def _origin_of(meta: dict[str, Any], time: float) -> SessionOrigin | None:
    """Return from which session one came, by its first record; None if that names none."""
    helper = dict_of(meta.get("source")).get("subagent")
    spawn = dict_of(dict_of(helper).get("thread_spawn"))
    parent = next(iter(_parents_of(meta)), "")
    if isinstance(helper, str):
        how = {"review": REVIEW, "compact": COMPACTION}.get(helper, SPAWN)
        return SessionOrigin(time, how, parent, agent="" if how != SPAWN else plain(helper))
    if spawn or (parent and not meta.get("forked_from_id")):
        return SessionOrigin(time, SPAWN, _spawned_by(meta) or parent, agent=_agent_of(meta, spawn))
    return SessionOrigin(time, FORK, parent) if parent else None


def _agent_of(meta: dict[str, Any], spawn: dict[str, Any]) -> str:
    names = ("agent_nickname", "agent_role")
    return plain(next(filter(None, (text_of(one.get(name)) for one in (spawn, meta) for name in names)), ""))


def left_of(text: str, stream: str = "out") -> KeptText:
    """Return what is left of a tool's output in a text that Codex may have cut; without gaps if it has not.

    Codex says so above the text, and cuts in the middle: of several such marks, it is that with the most equal halves.
    """
    head = _CUT_HEAD.match(text)
    if not head or not head.end():
        return KeptText(text)
    body = text[head.end() :]
    cuts = list(_CUT_INSIDE.finditer(body))
    if not cuts:
        return KeptText(body, is_cut=True) if text.startswith("Warning") else KeptText(text)
    cut = min(cuts, key=lambda found: abs(len(body) - found.end() - found.start()))
    unit = "lines" if cut["lines"] else cut["unit"].replace("chars", "characters")
    return parted([body[: cut.start()], body[cut.end() :]], [(int(cut["count"] or cut["lines"]), unit)], stream)


class _Asked(NamedTuple):
    """A call that waits for its result, or has it and waits for its output."""

    session: CallSession
    tool: str
    arguments: Any
    command: str
    cwd: str
    time: float
    is_copy: bool = False
    whole: dict[str, Any] = _EMPTY
    output: Any = None
    answered: float = 0.0
    line: int = 0
    ended: float = 0.0
    code: int | None = None
    decoded: str | None = None


class _Program(NamedTuple):
    """A program of which no output came yet, or not all.

    Attributes:
        asked: its call.
        shown: what it showed so far.
    """

    asked: _Asked
    shown: tuple[str, ...] = ()


class _HeldProgram:
    """A program that has ended, while a command of it goes on.

    Attributes:
        call: its call.
        going: places of these commands among its calls, by the numbers that Codex gives to them.
        more: later calls that showed more of them.
    """

    def __init__(self, call: ToolCall, going: dict[str, int]) -> None:
        self.call, self.going, self.more = call, going, list[ToolCall]()
        self._silent = set[str]()  # numbers of those of which the last program did not show whether they go on

    def add(self, number: str, result: ProgramResult, time: float) -> str:
        """Add what was shown of a command, and return the id of its use."""
        inner = list(self.call.inner)
        one = inner[at := self.going[number]]
        (self._silent.discard if result.goes_on else self._silent.add)(number)
        if result.has_ended:
            del self.going[number]
            one = one._replace(exit_code=result.exit_code, ended=time)
        left = joined([KeptText(one.text, one.gaps, bool(one.partial)), left_of(result.output)])
        partial = one.partial or (HARNESS.cut if left.is_cut else _PART if result.is_part else "")
        inner[at] = one._replace(parts=text_part(left.text), gaps=left.gaps, partial=partial, shown=(left.text,))
        self.call = self.call._replace(inner=tuple(inner))
        return one.use

    def left(self) -> Iterator[ToolCall]:
        """Yield all of it; nothing more is told of commands that still go on."""
        inner = list(self.call.inner)
        for at in (at for number, at in self.going.items() if number not in self._silent):
            gap = parted([inner[at].text, ""], [(None, "")], "out").gaps
            inner[at] = inner[at]._replace(partial=_NO_END, gaps=(*inner[at].gaps, *gap))
        yield self.call._replace(inner=tuple(inner))
        yield from self.more


class Parser:
    """Makes calls from the records of a rollout."""

    def __init__(self, path: str, written: float) -> None:
        """Prepare to read; the file's name gives the session if no record does."""
        found = re.search(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$", path)
        self._session = self._own = CallSession(HARNESS.name, found[1] if found else "", HARNESS.name, "", written)
        self._named = self._is_copying = False
        self._copied_until = 0.0
        self._origins: tuple[str, ...] = ()
        self._time = written
        self._asked: dict[str, _Asked] = {}
        self._answered: set[str] = set()
        self._has_subject = self._is_helper = False
        self._inner: list[ToolCall] = []
        self._has_items = False
        self._usage, self._begun = UsageReader(), 0.0  # when the first item came of a reply whose usage comes later
        self._programs: dict[str, _Program] = {}  # programs that go on, by the numbers of their cells
        self._held: dict[str, _HeldProgram] = {}  # programs whose commands go on, by the numbers of these
        self._running: dict[str, str] = {}  # calls of commands by the numbers that Codex gives to these
        self._shown_more: dict[str, list[ToolCall]] = {}  # later calls that showed more of a command, by its call

    @property
    def held(self) -> Sequence[ToolCall]:
        """Calls that showed more of commands whose end is not written yet, which come behind that end."""
        held = [call for program in self._held.values() for call in program.more]
        return [*(call for calls in self._shown_more.values() for call in calls), *held]

    @property
    def waiting(self) -> bool:
        """Whether a command or a program goes on that has its first result."""
        return bool(self._inner or self._programs or self._held) or any(one.line for one in self._asked.values())

    @property
    def newest(self) -> float:
        """When the newest record was made."""
        return self._time

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits for later records, so that reading can resume here."""
        return not (self._asked or self._inner or self._programs or self._held)

    def asks(self, use: str) -> bool:
        """Return whether the newest call with an id has no result yet."""
        return use in self._asked

    def ended(self, use: str) -> ToolCall | None:
        """Return what a call gave that has ended, even without its result; None while that is not written."""
        asked = self._asked.get(use)
        if asked and asked.whole:
            return self._call(use, asked._replace(answered=self._time))
        return next((one for one in self._inner if one.use == use), None)

    def feed(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the calls that a record completes."""
        kind = record.get("type")
        if kind not in _KNOWN:
            yield BadRecord(line, f"a record of an unknown sort: {str(kind)[:80]!r}", unknown=True)
            return
        self._time = when(record.get("timestamp"), self._time)
        payload = dict_of(record.get("payload"))
        stamp = text_of(record.get("timestamp"))
        self._look_for_end_of_copy()
        if kind == "response_item" and not self._begun and _is_of_reply(payload):
            self._begun = self._time
        if kind == "turn_context":
            self._usage.model = text_of(payload.get("model")) or self._usage.model
        if kind == "session_meta":
            if not self._named:
                self._begin(payload)
                yield self._told("", ContextChange(self._session.started, STARTED, whole=True))
                if origin := _origin_of(payload, self._session.started):
                    yield ToldOrigin(self._session, origin)
            else:
                self._begin_copy(payload)
        elif kind == "response_item" and payload.get("type") != "message":
            yield from self._item(payload, line)
        elif kind == "event_msg" and payload.get("type") == "token_count":
            if usage := self._usage.usage_of(payload, self._begun or self._time, self._session.id, self._origins):
                self._begun = 0.0
                yield ToldUsage(self._session, usage)
        elif kind == "event_msg" and payload.get("type") != "thread_rolled_back":
            yield from self._event(payload, line)
        elif self._is_copying:
            pass  # it happened to another session
        elif kind == "compacted":
            summary = plain(text_of(payload.get("message")))
            yield self._told(stamp, ContextChange(self._time, COMPACTED, summary=summary, kept=()))
        elif kind == "turn_context" and not self._session.cwd:
            self._session = self._own = self._session._replace(cwd=text_of(payload.get("cwd")))
        elif kind == "response_item":
            yield from self._said(payload, stamp)
        elif kind == "event_msg":
            yield self._told(stamp, ContextChange(self._time, REWOUND))

    def _told(self, stamp: str, what: SessionEvent) -> ToldEvent:
        return ToldEvent(self._session, what._replace(id=stamp, told=TRANSCRIPT))

    def _said(self, payload: dict[str, Any], stamp: str) -> Iterator[ToldEvent]:
        """Yield what is asked for, or what the agent says, in a message."""
        if payload.get("role") == "user":
            blocks = [dict_of(one) for one in list_of(payload.get("content"))]
            texts = [plain(text_of(one.get("text"))) for one in blocks if one.get("type") == "input_text"]
            if not self._has_subject and (subject := next(filter(None, map(subject_of, texts)), "")):
                self._has_subject = True
                yield self._told(stamp, SessionSubject(self._time, subject))
            for place, text in enumerate(texts):
                if prompt := prompt_of(text, self._time, by_agent=self._is_helper):
                    yield self._told(f"{stamp}/prompt{place or ''}", prompt)
        if payload.get("role") == "assistant":
            blocks = [dict_of(one) for one in list_of(payload.get("content"))]
            text = "\n".join(text_of(one.get("text")) for one in blocks if one.get("type") == "output_text")
            if text.strip():
                yield self._told(stamp, AgentMessage(self._time, plain(text)))

    def _begin(self, payload: dict[str, Any]) -> None:
        """Take the first record, which is of the session itself."""
        self._named, self._is_helper = True, bool(_spawned_by(payload))
        self._session = self._own = self._session_of(payload)
        self._origins, self._copied_until = _parents_of(payload), self._time

    def _begin_copy(self, payload: dict[str, Any]) -> None:
        """Take a further first record: if it is of another session, that one's history follows, or did so before."""
        other = self._session_of(payload)
        if other.id in (self._own.id, ""):
            return
        self._origins = tuple(dict.fromkeys((*self._origins, other.id)))
        if self._copied_until and not self._is_copying:
            self._is_copying = True
            self._session = other._replace(id=self._origins[0])

    def _look_for_end_of_copy(self) -> None:
        """Note whether a record may still be copied: it is as old as the last one, or came at once after it."""
        if self._copied_until and self._time <= self._copied_until + _COPYING_SECONDS:
            self._copied_until = max(self._copied_until, self._time)
        else:
            self._copied_until, self._is_copying, self._session = 0.0, False, self._own

    def _session_of(self, payload: dict[str, Any]) -> CallSession:
        name = text_of(payload.get("id", payload.get("session_id"))) or self._session.id
        client = " ".join(filter(None, (HARNESS.name, text_of(payload.get("cli_version")))))
        started = when(payload.get("timestamp"), self._time)
        return CallSession(HARNESS.name, name, client, text_of(payload.get("cwd")), started)

    def _item(self, payload: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        call = text_of(payload.get("call_id"))
        if not call:
            return
        if payload.get("type") in _CALLS:
            self._asked[call] = self._ask(payload)
            if len(self._asked) > _PENDING:
                del self._asked[next(iter(self._asked))]
        elif payload.get("type") in _OUTPUTS:
            self._answered.add(call)
            asked = self._asked.pop(call, None) or self._new("tool", None, "", self._session.cwd)
            output = _output(payload.get("output"))
            decoded, code = _decoded(output)
            asked = asked._replace(output=output, decoded=decoded, code=code, answered=self._time, line=line)
            number = str(dict_of(asked.arguments).get("session_id")) if asked.tool == _ASKS_MORE else ""
            of = self._running.get(number, "")
            goes_on = asked.command and code is None and _RUNNING.search(_head("\n".join(shown_of(asked.output))))
            if goes_on and not asked.whole:
                self._asked[call], self._running[goes_on[1]] = asked, call
            elif of in self._asked:
                self._shown_more.setdefault(of, []).append(self._call(call, asked)._replace(of=of))
                if _EXIT.search(_head("\n".join(shown_of(asked.output)))):
                    yield from self._ended_call(of, self._asked.pop(of)._replace(ended=self._time))
            elif of:
                yield self._call(call, asked)._replace(of=of)
            elif number in self._held:
                yield from self._told_directly(number, self._call(call, asked))
            elif asked.tool in _PROGRAMS:
                yield from self._program(self._call(call, asked), asked)
            else:
                yield self._call(call, asked)

    def _program(self, made: ToolCall, asked: _Asked) -> Iterator[ToolCall]:
        """Yield a program's call with those that it made, once none of these goes on."""
        inner, self._inner = self._inner, []
        if self._has_items:
            yield made._replace(inner=tuple(inner))
            return
        cell = text_of(dict_of(asked.arguments).get("cell_id"))
        program = self._programs.pop(cell, None) if asked.tool == "wait" else _Program(asked)
        if program is None:
            yield made
        elif goes_on := _CELL.search("\n".join(made.shown)):
            rest = tuple(one for one in made.shown if not _CELL.match(one))
            self._programs[goes_on[1]] = program._replace(shown=(*program.shown, *rest))
            yield made
        else:
            yield from self._program_ended(made, program._replace(shown=(*program.shown, *made.shown)))

    def _program_ended(self, made: ToolCall, program: _Program) -> Iterator[ToolCall]:
        """Yield the call with a program's last output, and with the calls that the program's text names."""
        text = text_of(program.asked.arguments)
        calls = calls_in(text)
        runs = [one for one in calls if one.tool in RUNS]
        results = iter(results_in(text, program.shown, len(runs)) or ())
        inner, going, later = list[ToolCall](), dict[str, int](), dict[str, _HeldProgram]()
        for one in calls:
            arguments = dict_of(one.arguments)
            use = f"{made.use}/{len(inner) + 1}"
            number = str(arguments.get("session_id", ""))
            call = made._replace(id=unique_id(made.session.id, use), use=use, tool=one.tool, arguments=one.arguments)
            call = call._replace(shown=(), parts=(), partial="", gaps=(), asked=program.asked.time)
            if one.tool == PATCHES:
                inner.append(call)
            elif one.tool in RUNS:
                result = next(results, None)
                if number in self._held and result:
                    later[number] = self._held[number]
                    of = self._held[number].add(number, result, self._time)
                    made = made._replace(of=made.of or of)
                elif one.tool != _ASKS_MORE and (command := text_of(arguments.get("cmd"))):
                    if result and result.goes_on:
                        going[result.goes_on] = len(inner)
                    cwd = text_of(arguments.get("workdir")) or made.cwd
                    inner.append(_shown_by_program(call._replace(kind="cmd", command=plain(command), cwd=cwd), result))
        made = made._replace(inner=tuple(inner))
        if going:
            held = _HeldProgram(made, going)
            self._held |= dict.fromkeys(going, held)
        elif later:
            next(iter(later.values())).more.append(made)
        else:
            yield made
        for number in later:
            yield from self._released(number)

    def _told_directly(self, number: str, made: ToolCall) -> Iterator[ToolCall]:
        """Yield what a call without a program completes, which shows more of a command that a program has begun."""
        held, text = self._held[number], "\n".join(made.shown)
        body, ended = _BODY.search(text), _EXIT.search(_head(text))
        goes_on = number if _RUNNING.search(_head(text)) else ""
        shown = text[body.end() :] if body else text
        result = ProgramResult(shown, int(ended[1]) if ended else None, goes_on, has_ended=bool(ended))
        held.more.append(made._replace(of=held.add(number, result, self._time)))
        yield from self._released(number)

    def _released(self, number: str) -> Iterator[ToolCall]:
        """Yield a held program and what came after it, once the command with a number was the last that went on."""
        held = self._held[number]
        if number not in held.going:
            del self._held[number]
            if not held.going:
                yield from held.left()

    def _ask(self, payload: dict[str, Any]) -> _Asked:
        name, space = text_of(payload.get("name")) or "local_shell", text_of(payload.get("namespace"))
        arguments: Any = payload.get("arguments", payload.get("input", payload.get("action")))
        if payload.get("type") == "function_call":
            try:
                arguments = loads(text_of(arguments))
            except ValueError:
                pass  # not JSON: the model wrote a plain text
        given = dict_of(arguments)
        command = given.get("cmd", given.get("command"))
        if isinstance(command, list):
            command = _line([str(word) for word in command])
        cwd = text_of(given.get("workdir", given.get("working_directory"))) or self._session.cwd
        tool = f"{space}__{name}" if space and space.startswith("mcp__") else name
        runs = name in _SHELLS and isinstance(command, str)
        return self._new(tool, arguments, plain(str(command)) if runs else "", cwd)

    def _new(self, tool: str, arguments: Any, command: str, cwd: str) -> _Asked:
        return _Asked(self._session, tool, arguments, command, cwd, self._time, self._is_copying)

    def _event(self, payload: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        item = dict_of(payload.get("item"))
        self._has_items = self._has_items or bool(item)
        if payload.get("type") == "item_completed" and item.get("type") in ("CommandExecution", "McpToolCall"):
            call, whole = text_of(item.get("id")), item
        elif payload.get("type") == "exec_command_end":
            call, whole = text_of(payload.get("call_id")), payload
        else:
            return
        asked = self._asked.get(call)
        if asked is None:
            if call and call not in self._answered and item:
                self._answered.add(call)
                self._inner.append(self._of_program(call, item, line))
                if len(self._inner) > _INNER:
                    yield self._inner.pop(0)
            return
        self._asked[call] = asked = asked._replace(whole=whole)
        if asked.line:
            del self._asked[call]
            yield from self._ended_call(call, asked._replace(ended=self._time))

    def _ended_call(self, call: str, asked: _Asked) -> Iterator[ToolCall]:
        """Yield a command that went on after its result, and the calls that showed more of it."""
        more = self._shown_more.pop(call, [])
        shown = ["\n".join(one.shown) for one in more]
        yield self._call(call, asked, [text for text in shown if _BODY.search(text)])  # others are messages of Codex
        yield from more

    def _of_program(self, call: str, item: dict[str, Any], line: int) -> ToolCall:
        """Return a call that a program of the model's made."""
        command = item.get("command")
        words = _line([str(word) for word in command]) if isinstance(command, list) else ""
        tool = "exec_command" if words else f"mcp__{text_of(item.get('server'))}__{text_of(item.get('tool'))}"
        arguments = item.get("arguments") if not words else {"cmd": words}
        asked = self._new(tool, arguments, plain(words), self._session.cwd)
        return self._call(call, asked._replace(whole=item, answered=self._time, line=line))

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield commands whose end was never written, and calls of a program that never had output."""
        inner, self._inner = self._inner, []
        yield from inner
        held, self._held = dict.fromkeys(self._held.values()), {}
        for one in held:
            yield from one.left()
        for call, asked in list(self._asked.items()):
            if asked.line:
                del self._asked[call]
                yield from self._ended_call(call, asked)

    def _call(self, call: str, asked: _Asked, later: Sequence[str] = ()) -> ToolCall:
        """Return a call with its result.

        Args:
            call: the id of its use.
            asked: the call.
            later: further results, which showed more of its output.
        """
        shown = shown_of(asked.output)
        made = ToolCall(
            session=asked.session,
            id=unique_id(asked.session.id, call),
            use=call,
            line=asked.line,
            asked=asked.time,
            answered=asked.answered,
            ended=asked.ended,
            origins=self._origins,
            is_copy=asked.is_copy,
            tool=asked.tool,
            arguments=asked.arguments,
            kind="cmd" if asked.command else "tool",
            command=asked.command,
            cwd=asked.cwd,
            shown=shown,
            decoded=asked.decoded,
            parts=(),
        )
        text = "\n".join(shown)
        if asked.command and asked.code is not None and not asked.whole:
            return _with_rest(made._replace(exit_code=asked.code, note="merged"), left_of(asked.decoded or ""))
        made = made._replace(failed=bool(asked.code))
        if asked.command:
            return _ran(made, asked.whole, [text, *later])
        content = dict_of(asked.whole.get("result")).get("content")
        if isinstance(content, list) and content:
            return made._replace(parts=parts_of(content), failed=asked.whole.get("status") == "failed")
        left = left_of(text, "part.0") if isinstance(asked.output, str) or len(shown) == 1 else KeptText(text)
        if not left.is_cut:
            return made._replace(parts=parts_of(asked.output))
        return made._replace(parts=text_part(left.text, "part.0"), partial=HARNESS.cut, gaps=left.gaps)


def _ran(call: ToolCall, whole: dict[str, Any], results: Sequence[str]) -> ToolCall:
    """Return a command's call with its output, from its end or, without that, from what its results show in order."""
    if isinstance(whole.get("aggregated_output"), str):
        code = whole.get("exit_code")
        out = whole["aggregated_output"]
        large = len(out) >= KEPT_BYTES or len(out.encode(errors="replace")) >= KEPT_BYTES
        partial = f"Codex keeps {KEPT_BYTES:,} bytes, head and tail" if large else ""
        kept = _stored(out) if large else KeptText(out)
        if first := _left_out(results[0], out):
            kept, partial = joined([first, kept]), partial or (HARNESS.cut if first.is_cut else "")
        cwd = text_of(whole.get("cwd")).removeprefix("file://") or call.cwd
        exit_code = code if isinstance(code, int) else None
        call = call._replace(parts=text_part(kept.text), exit_code=exit_code, note="merged", cwd=cwd)
        return call._replace(partial=partial, gaps=kept.gaps)
    found = [_result(one) for one in results]
    left, code = joined([text for text, _ in found]), found[-1][1]
    partial, gaps = HARNESS.cut if left.is_cut else "", left.gaps
    if _RUNNING.search(_head(results[-1])):
        partial, gaps = _NO_END, (*gaps, *parted([left.text, ""], [(None, "")], "out").gaps)
    refused = code is None and _REFUSED.match(results[-1])
    is_answer = refused and results[-1].strip() == refused[0] and answer_of(call.command, Wrote())
    note = joined_notes("merged", TOOL_FAILED if refused and not is_answer else "")
    return call._replace(parts=text_part(left.text), exit_code=code, partial=partial, note=note, gaps=gaps)


def _left_out(shown: str, rest: str) -> KeptText | None:
    """Return what a command's first result showed while it went on, if Codex left that out of its whole output."""
    first = _result(shown)[0] if _RUNNING.search(_head(shown)) else KeptText("")
    lines = {line for line in first.text.splitlines() if line.strip()}
    return first if lines and lines.isdisjoint(rest.splitlines()) else None


def _shown_by_program(call: ToolCall, result: ProgramResult | None) -> ToolCall:
    """Return a command of a program with what this showed of it; None if that cannot be told from the rest."""
    if result is None:
        return call._replace(partial=_MIXED, note="merged")
    left = left_of(result.output)
    partial = HARNESS.cut if left.is_cut else _PART if result.is_part else ""
    call = call._replace(parts=text_part(left.text), exit_code=result.exit_code, note="merged", shown=(left.text,))
    return call._replace(partial=partial, gaps=left.gaps)


def _with_rest(call: ToolCall, left: KeptText) -> ToolCall:
    return call._replace(parts=text_part(left.text), partial=HARNESS.cut if left.is_cut else "", gaps=left.gaps)


def _result(shown: str) -> tuple[KeptText, int | None]:
    """Return what is left of a command's output in one of its results, and the exit code that this states."""
    if refused := _IN_SANDBOX.match(shown):
        return KeptText(shown), int(refused[1])
    body, ended = _BODY.search(shown), _EXIT.search(_head(shown))
    out = shown[body.end() :] if body else shown
    if not ended and (ended := _INNER_HEAD.match(out)):
        out = out[ended.end() :]
    code = int(ended[1]) if ended else None
    return left_of(out), code


def _stored(out: str) -> KeptText:
    """Return what is left of an output larger than the kept part; the mark in its middle parts both halves."""
    cuts = list(_CUT_STORED.finditer(out))
    if not cuts:
        return KeptText(out)
    cut = min(cuts, key=lambda found: abs(len(out) - found.end() - found.start()))
    return parted([out[: cut.start()], out[cut.end() :]], [(None, "bytes")], "out")


def _head(shown: str) -> str:
    """Return what stands above a command's output."""
    body = _BODY.search(shown)
    return shown[: body.start()] if body else shown


def _output(output: Any) -> Any:
    """Return what was shown, a text or a list of blocks, which some versions put into an object."""
    return output.get("content", output) if isinstance(output, dict) else output


def _decoded(output: Any) -> tuple[str | None, int | None]:
    """Return output and exit code of a result in the form of 2025: ``{"output", "metadata": {"exit_code"}}``."""
    if isinstance(output, str) and output.startswith("{"):
        try:
            result = dict_of(loads(output))
        except ValueError:
            return None, None
        code = dict_of(result.get("metadata")).get("exit_code")
        if isinstance(code, int):
            return text_of(result.get("output")), code
    return None, None


def _line(words: list[str]) -> str:
    """Return the command line of an argument vector; for a shell, the line that it was given."""
    if len(words) == 3 and words[1] in ("-lc", "-c"):
        return words[2]
    return shlex.join(words)
