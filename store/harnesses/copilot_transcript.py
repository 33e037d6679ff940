"""Reads sessions of Copilot CLI; separate from `copilot`, which each event of a hook loads.

They lie in ``~/.copilot/session-state/ID/events.jsonl``. Version 1.0.102 was seen to write this: each line is
``{"type", "data", "id", "timestamp", "parentId"}``. ``session.start`` holds ``{sessionId, copilotVersion, context:
{cwd}}``, ``tool.execution_start`` ``{toolCallId, toolName, arguments}``, ``tool.execution_complete`` ``{toolCallId,
success, result: {content}, error: {message}, shellExecution: {exitCode}}`` with what the model was shown. The files of
long outputs, which results name, are removed when a session ends, so that only their first 500 characters are left.
"""

from collections.abc import Iterator

from sightline.harnesses.copilot import HARNESS, made_of
from sightline.harnesses.tool_call import ToolCall, dict_of, plain, text_of
from sightline.harnesses.transcript import (
    Candidate,
    SessionParser,
    TranscriptItem,
    TranscriptReading,
)
from sightline.typing_names import Any

_NAMES = {"bash": "Bash", "view": "Read"}
"""How its hooks, which have Claude Code's names, call the tools that were seen in both."""


def reading_of(file: Candidate) -> TranscriptReading | None:
    """Return a reading of a session; None if it is not Copilot CLI's."""
    first = file.records[0] if file.records else {}
    is_session = first.get("type") == "session.start" and "copilotVersion" in dict_of(first.get("data"))
    return file.of_lines(Parser(file.written)) if is_session else None


class Parser(SessionParser):
    """Makes calls from the events of a session."""

    def __init__(self, written: float) -> None:
        """Prepare to read a file that was last changed at this time, in seconds since the epoch."""
        super().__init__(HARNESS.name, written)

    def items(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the calls and events that a line completes."""
        kind, data, event = record.get("type"), dict_of(record.get("data")), text_of(record.get("id"))
        if kind == "session.start":
            self._begin(data)
        elif kind == "user.message":
            yield from self.prompted(text_of(data["content"]), event)
        elif kind == "assistant.message":
            yield from self.said(text_of(data.get("content")), event)
        elif kind == "tool.execution_start":
            self.asks(data.get("toolCallId"), data.get("toolName"), data.get("arguments"))
        elif kind == "tool.execution_complete":
            yield self._call(data, line)

    def named(self, tool: str) -> str:
        """Its hooks have Claude Code's names."""
        return _NAMES.get(tool, tool)

    def _begin(self, data: dict[str, Any]) -> None:
        self._session = self._session._replace(
            id=text_of(data.get("sessionId")),
            client=" ".join(filter(None, (HARNESS.name, text_of(data.get("copilotVersion"))))),
            cwd=plain(text_of(dict_of(data.get("context")).get("cwd"))),
            started=self._time,
        )

    def _call(self, data: dict[str, Any], line: int) -> ToolCall:
        call = self.answered(text_of(data.get("toolCallId")), "", HARNESS.runs, line)
        failed = data.get("success") is not True
        part = dict_of(data.get("error")).get("message") if failed else dict_of(data.get("result")).get("content")
        made = made_of(call, plain(text_of(part)), failed=failed)
        code = dict_of(data.get("shellExecution")).get("exitCode")
        return made._replace(exit_code=code) if isinstance(code, int) and made.exit_code is None else made
