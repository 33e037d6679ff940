"""Reads sessions of pi; separate from `pi`, which each event of a hook loads.

They lie in ``~/.pi/agent/sessions/--FOLDER--/TIME_ID.jsonl``.

Versions 0.73.1 and 1.6.0 were seen to write this. The first line is ``{"type": "session", version, id, timestamp,
cwd}``, of a forked session with ``parentSession``, at first ``branchedFrom``, the path of the one whose entries follow
as they are there. Others are entries ``{type, id, parentId, timestamp}`` of a tree. ``message`` holds ``{role, content,
timestamp}``: of ``assistant`` the content has ``{"type": "toolCall", id, name, arguments}``, ``toolResult`` is
``{toolCallId, toolName, content, details, isError}``, whose content is what the model saw; ``nestedCalls.calls`` beside
it are calls of a program of its model, ``{id, name, status, arguments, durationMs, error}``, whose results are not
written down, and of an error 500 characters. ``compaction`` holds ``{summary, firstKeptEntryId, tokensBefore}``,
``context_edit`` the ``targetId`` of an entry whose content went from the context. A long output of a command lies whole
in a file in the folder for temporary files, which the result names; it is read as long as it exists.

``usage`` of an answer, of a result and of what sums up is ``{input, output, cacheRead, cacheWrite, cost: {total}}``, of
tokens that are disjoint, and dollars. Copies of an entry have its id and its time.
"""

import os
from collections.abc import Iterator

from sightline.base.request_usage import RequestUsage, without_zeros
from sightline.harnesses.pi import HARNESS, made_of
from sightline.harnesses.tool_call import (
    ToolCall,
    ToolPart,
    dict_of,
    list_of,
    number,
    open_beside,
    plain,
    text_of,
)
from sightline.harnesses.transcript import (
    BadRecord,
    Candidate,
    Lineage,
    SessionParser,
    ToldEvent,
    ToldOrigin,
    ToldUsage,
    TranscriptItem,
    TranscriptReading,
    count_of,
)
from sightline.light.typing_names import Any
from sightline.log.session_events import COMPACTED, PRUNED, TRANSCRIPT, ContextChange
from sightline.log.session_origins import FORK, SPAWN, SessionOrigin

_SILENT = frozenset(
    (
        "model_change",
        "thinking_level_change",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "session_info",
        "usage",
    )
)
"""Entries that contain no call, and no words of the agent."""


_ERROR_CHARACTERS = 500
_NOT_WRITTEN = "pi does not write down what a program of its model got"


def reading_of(file: Candidate) -> TranscriptReading | None:
    """Return a reading of a session; None if it is not pi's."""
    first = file.records[0] if file.records else {}
    is_session = first.get("type") == "session" and isinstance(first.get("id"), str) and "cwd" in first
    return file.of_lines(Parser(file.written)) if is_session else None


def lineage_of(records: Iterator[dict[str, Any]]) -> Lineage | None:
    """Return whose history a session may repeat, by its first entry; None for another file."""
    first = next(records, {})
    return Lineage(text_of(first.get("id")), _parents_of(first)) if first.get("type") == "session" else None


def _parents_of(first: dict[str, Any]) -> tuple[str, ...]:
    """Return the id of the session from which one was forked: it stands in the name of that one's file."""
    path = text_of(first.get("parentSession", first.get("branchedFrom")))
    name = os.path.basename(path).removesuffix(".jsonl")
    return (name.rpartition("_")[2],) if name else ()


class Parser(SessionParser):
    """Makes calls from the entries of a session."""

    def __init__(self, written: float) -> None:
        """Prepare to read a file that was last changed at this time, in seconds since the epoch."""
        super().__init__(HARNESS.name, written)
        self._uses: dict[str, str] = {}  # for each entry with a result its tool use, in order
        self._model = ""

    def items(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the calls and events that a line completes."""
        kind = record.get("type")
        self._uses[text_of(record.get("id"))] = ""
        if kind == "session":
            cwd = plain(text_of(record.get("cwd")))
            self._session = self._session._replace(id=text_of(record.get("id")), cwd=cwd, started=self._time)
            self._origins = _parents_of(record)
            if self._origins:
                how = SPAWN if record.get("context") == "fork" else FORK
                yield ToldOrigin(self._session, SessionOrigin(self._time, how, self._origins[0]))
        elif kind == "message":
            yield from self._message(dict_of(record.get("message")), text_of(record.get("id")), line)
        elif kind == "compaction":
            yield self._compaction(record)
        elif kind == "context_edit":
            if use := self._uses.get(text_of(record.get("targetId"))):
                change = ContextChange(self._time, PRUNED, lost=(use,), id=text_of(record.get("id")), told=TRANSCRIPT)
                yield self.told(change)
        elif kind == "model_change":
            self._model = text_of(record.get("modelId")) or self._model
        elif kind not in _SILENT:
            yield BadRecord(line, f"a record of an unknown sort: {str(kind)[:80]!r}", unknown=True)
        message = dict_of(record.get("message"))
        if usage := self._usage(record, message, dict_of(message.get("usage", record.get("usage")))):
            yield ToldUsage(self._session, usage)

    def _usage(self, record: dict[str, Any], message: dict[str, Any], stated: dict[str, Any]) -> RequestUsage | None:
        """Return the usage of an entry; None if it states none."""
        names = ("input", "cacheRead", "cacheWrite", "output")
        fresh, read, written, output = counts = [count_of(stated.get(name)) for name in names]
        if counts == [None] * len(names):
            return None
        cost = dict_of(stated.get("cost")).get("total")
        unique = ":".join(("pi", text_of(record.get("id")), text_of(record.get("timestamp")), *map(str, counts)))
        model = text_of(message.get("model")) or self._model
        made = RequestUsage(
            unique, self._time, model, fresh, read, written, output=output, own_price=number(cost) or None
        )
        return without_zeros(made, has_content=bool(message.get("content", True)))

    def _message(self, message: dict[str, Any], entry: str, line: int) -> Iterator[TranscriptItem]:
        role, content = message.get("role"), message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list_of(content)
        text = "\n\n".join(filter(None, (text_of(dict_of(one).get("text")) for one in blocks)))
        if role == "user":
            yield from self.prompted(text, entry)
        if role == "assistant":
            yield from self.said(text, entry)
            for call in map(dict_of, blocks):
                if call.get("type") == "toolCall":
                    self.asks(call.get("id"), call.get("name"), call.get("arguments"))
        if role == "toolResult":
            yield self._call(message, blocks, entry, line)

    def _call(self, message: dict[str, Any], blocks: list[Any], entry: str, line: int) -> ToolCall:
        use = self._uses[entry] = text_of(message.get("toolCallId"))
        made = self.answered(use, text_of(message.get("toolName")), HARNESS.runs, line, entry)
        inner = tuple(
            _nested(made, place, dict_of(one))
            for place, one in enumerate(list_of(dict_of(message.get("nestedCalls")).get("calls")), 1)
        )
        return _whole(made_of(made, blocks, failed=message.get("isError") is True))._replace(inner=inner)

    def _compaction(self, record: dict[str, Any]) -> ToldEvent:
        entries, first = list(self._uses), text_of(record.get("firstKeptEntryId"))
        kept = tuple(filter(None, map(self._uses.get, entries[entries.index(first) :]))) if first in entries else None
        change = ContextChange(
            self._time,
            COMPACTED,
            before=int(number(record.get("tokensBefore"))) or None,
            summary=plain(text_of(record.get("summary"))),
            kept=kept,
        )
        return self.told(change._replace(id=text_of(record.get("id")), told=TRANSCRIPT))


def _nested(parent: ToolCall, place: int, told: dict[str, Any]) -> ToolCall:
    """Return a call that a program of the model's made, as its nth."""
    use, tool, error = text_of(told.get("id")), text_of(told.get("name")) or "tool", text_of(told.get("error"))
    arguments, failed = dict_of(told.get("arguments")), told.get("status") == "error"
    command = text_of(arguments.get("command")) if tool in HARNESS.runs else ""
    call = parent._replace(
        id=f"{parent.id}/{place}",
        use=use,
        tool=tool,
        arguments=arguments,
        kind="cmd" if command else "tool",
        command=plain(command),
    )
    call = made_of(call, [{"type": "text", "text": error}], failed=failed)._replace(shown=(), gaps=(), saved=None)
    is_whole = failed and 0 < len(error) < _ERROR_CHARACTERS
    code = call.exit_code if told.get("status") == "ok" else None
    return call if is_whole else call._replace(exit_code=code, partial=_NOT_WRITTEN)


def _whole(call: ToolCall) -> ToolCall:
    """Return the call with the file of its whole output, if that still exists and ends as the shown text does."""
    if call.saved is None:
        return call
    try:
        with open(open_beside(call.saved.file), "rb") as file:
            is_whole = call.saved.is_whole(file.fileno())
    except OSError:
        return call
    return call._replace(parts=(ToolPart("out", call.saved.file),), partial="", gaps=()) if is_whole else call
