"""Reads sessions of Copilot CLI; separate from `copilot`, which each event of a hook loads.

They lie in ``~/.copilot/session-state/ID/events.jsonl``. Version 1.0.102 was seen to write this: each line is
``{"type", "data", "id", "timestamp", "parentId"}``. ``session.start`` holds ``{sessionId, copilotVersion, context:
{cwd}}``, ``tool.execution_start`` ``{toolCallId, toolName, arguments}``, ``tool.execution_complete`` ``{toolCallId,
success, result: {content}, error: {message}, shellExecution: {exitCode}}`` with what the model was shown. The files of
long outputs, which results name, are removed when a session ends, so that only their first 500 characters are left.

A command that goes on says so at the end of its result, with a ``shellId``. What it writes then is in results of
``read_bash {shellId}``, and its exit code there, or before that in ``system.notification {kind: {type: shell_completed,
shellId, exitCode}}`` (1.0.64 to 1.0.68). On Windows the tools are ``powershell``, ``read_powershell``; the latter gives
all that the command has written so far.

``assistant.message`` has ``outputTokens``, ``model`` and ``apiCallId``; ``session.shutdown``, which only a clean end
writes, ``modelMetrics: {MODEL: {usage: {inputTokens, cacheReadTokens, cacheWriteTokens}, totalNanoAiu}}`` of all
requests of the process. The input holds what was read from the cache and written to it (1.0.64 to 1.0.68).
"""

import re
from collections.abc import Iterator

from sightline.base.records import Gap
from sightline.base.request_usage import SUM, RequestUsage, without_zeros
from sightline.harnesses.copilot import HARNESS, exit_code_in, made_of
from sightline.harnesses.tool_call import ToolCall, dict_of, number, plain, text_of
from sightline.harnesses.transcript import (
    Candidate,
    SessionParser,
    ToldUsage,
    TranscriptItem,
    TranscriptReading,
    count_of,
)
from sightline.light.typing_names import Any

_GOES_ON = re.compile(
    r"\n?<command (?:with|started in background with) (?:shellId|id): ([^\s>]{1,120})(?: is still running[^\n]*)?>\s*\Z"
)
_UNIT_DOLLARS = 0.01  # of an AI unit, by which Copilot bills since June 2026
_END = "its end was never written down"
_REST = "what it wrote after its last reply was never shown"
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
        self._going: dict[str, ToolCall] = {}  # commands that go on, by the ids of their shells

    @property
    def waiting(self) -> bool:
        """Whether a command goes on."""
        return bool(self._going)

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield commands whose end, or the rest of whose output, was never written."""
        for shell in list(self._going):
            yield from self._left(shell)

    def items(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the calls and events that a line completes."""
        kind, data, event = record.get("type"), dict_of(record.get("data")), text_of(record.get("id"))
        if kind == "session.start":
            self._begin(data)
        elif kind == "user.message":
            yield from self.prompted(text_of(data["content"]), event)
        elif kind == "assistant.message":
            yield from self.said(text_of(data.get("content")), event)
            yield from self._reply(data, event)
        elif kind == "session.shutdown":
            yield from self._shutdown(dict_of(data.get("modelMetrics")), event)
        elif kind == "tool.execution_start":
            self.asks(data.get("toolCallId"), data.get("toolName"), data.get("arguments"))
        elif kind == "tool.execution_complete":
            _, _, arguments = self._asked.get(text_of(data.get("toolCallId")), (0.0, "", {}))
            yield from self._result(self._call(data, line), text_of(dict_of(arguments).get("shellId")))
        elif kind == "system.notification":
            about = dict_of(data.get("kind"))
            shell, code = text_of(about.get("shellId")), about.get("exitCode")
            if isinstance(code, int) and shell in self._going:  # a later read shows the rest of its output
                self._going[shell] = self._going[shell]._replace(exit_code=code, ended=self._time)

    def _reply(self, data: dict[str, Any], event: str) -> Iterator[ToldUsage]:
        """Yield what a reply states of its request: the output alone."""
        output = count_of(data.get("outputTokens"))
        if output is not None:
            unique = text_of(data.get("apiCallId")) or event
            usage = RequestUsage(f"copilot:{unique}", self._time, plain(text_of(data.get("model"))), output=output)
            yield ToldUsage(self._session, without_zeros(usage, has_content=True))

    def _shutdown(self, metrics: dict[str, Any], event: str) -> Iterator[ToldUsage]:
        """Yield the inputs of all requests of a process, by model; their outputs stand beside the replies."""
        for model, told in metrics.items():
            stated = dict_of(dict_of(told).get("usage"))
            whole, read, written = (
                count_of(stated.get(f"{name}Tokens")) for name in ("input", "cacheRead", "cacheWrite")
            )
            units = dict_of(told).get("totalNanoAiu")
            usage = RequestUsage(
                id=f"copilot:{event}:{model}",
                time=self._time,
                model=plain(model),
                fresh=None if whole is None else max(0, whole - (read or 0) - (written or 0)),
                cache_read=read,
                cache_write=written,
                computed=("fresh",),
                tier=SUM,
                own_price=number(units) * _UNIT_DOLLARS / 1e9 or None,
            )
            if whole or read or written:
                yield ToldUsage(self._session, usage)

    def _result(self, call: ToolCall, shell: str) -> Iterator[ToolCall]:
        """Yield a call unless it goes on, and the command in a shell that it shows to have ended."""
        goes_on = _GOES_ON.search(call.text)
        if goes_on and call.kind == "cmd" and call.exit_code is None:
            yield from self._left(goes_on[1])  # another command takes its shell
            self._going[goes_on[1]] = call.with_text(call.text[: goes_on.start()])
            return
        yield call
        if shell in self._going and not call.failed and not call.tool.startswith("stop_"):
            left, code = exit_code_in(call.text)
            going = self._going[shell]
            code = going.exit_code if code is None else code
            if code is not None or goes_on:
                left = left[: goes_on.start() if goes_on else None]
                self._going[shell] = going.with_text(left if left.startswith(going.text) else going.text + left)
            if code is not None and not goes_on:
                yield from self._ended(shell, code)

    def _ended(self, shell: str, code: int | None) -> Iterator[ToolCall]:
        if call := self._going.pop(shell, None):
            yield call._replace(exit_code=code, ended=call.ended or (0.0 if code is None else self._time))

    def _left(self, shell: str) -> Iterator[ToolCall]:
        """Yield a command of which nothing more is told."""
        for call in self._ended(shell, self._going[shell].exit_code if shell in self._going else None):
            lines = call.text.count("\n") + bool(call.text and not call.text.endswith("\n"))
            why = _END if call.exit_code is None else _REST
            yield call._replace(partial=why, gaps=(Gap("out", lines, None, ""),))

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
