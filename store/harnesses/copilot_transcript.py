"""Reads sessions of Copilot CLI; separate from `copilot`, which each event of a hook loads.

They lie in ``~/.copilot/session-state/ID/events.jsonl``. Version 1.0.102 was seen to write this: each line is
``{"type", "data", "id", "timestamp", "parentId"}``. ``session.start`` holds ``{sessionId, copilotVersion, context:
{cwd}}``, ``tool.execution_start`` ``{toolCallId, toolName, arguments}``, ``tool.execution_complete`` ``{toolCallId,
success, result: {content}, error: {message}, shellExecution: {exitCode}}`` with what the model was shown. The files of
long outputs, which results name, are removed when a session ends, so that only their first 500 characters are left.
"""

from collections.abc import Iterator
from typing import Any

from sightline.harnesses.copilot import HARNESS, made_of
from sightline.harnesses.tool_call import CallSession, ToolCall, dict_of, plain, text_of, unique_id
from sightline.harnesses.transcript import (
    SHAPE_ERRORS,
    Candidate,
    ToldEvent,
    TranscriptItem,
    TranscriptReading,
    misshapen,
    when,
)
from sightline.log.session_events import TRANSCRIPT, AgentMessage, SessionSubject, subject_of

_NAMES = {"bash": "Bash", "view": "Read"}
"""How its hooks, which have Claude Code's names, call the tools that were seen in both."""


def reading_of(file: Candidate) -> TranscriptReading | None:
    """Return a reading of a session; None if it is not Copilot CLI's."""
    first = file.records[0] if file.records else {}
    is_session = first.get("type") == "session.start" and "copilotVersion" in dict_of(first.get("data"))
    return file.of_lines(Parser(file.written)) if is_session else None


class Parser:
    """Makes calls from the events of a session."""

    waiting = False

    def __init__(self, written: float) -> None:
        """Prepare to read a file that was last changed at this time, in seconds since the epoch."""
        self._session = CallSession(HARNESS.name, "", HARNESS.name, "", written)
        self._time = written
        self._asked: dict[str, tuple[float, str, Any]] = {}
        self._has_subject = False

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield nothing, because nothing waits."""
        return iter(())

    def feed(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the call or message that a line completes; other events say nothing of these."""
        kind, data, event = record.get("type"), dict_of(record.get("data")), text_of(record.get("id"))
        self._time = when(record.get("timestamp"), self._time)
        try:
            if kind == "session.start":
                self._begin(data)
            elif kind == "user.message" and not self._has_subject and (subject := subject_of(text_of(data["content"]))):
                self._has_subject = True
                yield ToldEvent(self._session, SessionSubject(self._time, plain(subject), f"{event}:about", TRANSCRIPT))
            elif kind == "assistant.message" and text_of(data.get("content")).strip():
                said = AgentMessage(self._time, plain(text_of(data.get("content"))), event, TRANSCRIPT)
                yield ToldEvent(self._session, said)
            elif kind == "tool.execution_start":
                tool = text_of(data.get("toolName"))
                self._asked[text_of(data.get("toolCallId"))] = self._time, tool, data.get("arguments")
            elif kind == "tool.execution_complete":
                yield self._call(data, line)
        except SHAPE_ERRORS as error:
            yield misshapen(line, error)

    def _begin(self, data: dict[str, Any]) -> None:
        self._session = self._session._replace(
            id=text_of(data.get("sessionId")),
            client=" ".join(filter(None, (HARNESS.name, text_of(data.get("copilotVersion"))))),
            cwd=plain(text_of(dict_of(data.get("context")).get("cwd"))),
            started=self._time,
        )

    def _call(self, data: dict[str, Any], line: int) -> ToolCall:
        use = text_of(data.get("toolCallId"))
        asked, name, arguments = self._asked.pop(use, (self._time, "", {}))
        tool = _NAMES.get(name, name) or "tool"
        command = dict_of(arguments).get("command") if tool in HARNESS.runs else None
        call = ToolCall(
            session=self._session,
            id=unique_id(self._session.id, f"{self._session.id}:{use}"),
            use=use,
            line=line,
            asked=asked,
            answered=self._time,
            tool=tool,
            arguments=arguments,
            kind="cmd" if isinstance(command, str) else "tool",
            command=plain(command) if isinstance(command, str) else "",
            cwd=self._session.cwd,
        )
        failed = data.get("success") is not True
        part = dict_of(data.get("error")).get("message") if failed else dict_of(data.get("result")).get("content")
        made = made_of(call, plain(text_of(part)), failed=failed)
        code = dict_of(data.get("shellExecution")).get("exitCode")
        return made._replace(exit_code=code) if isinstance(code, int) and made.exit_code is None else made
