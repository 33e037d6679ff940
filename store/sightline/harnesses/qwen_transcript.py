"""Reads chats of Qwen Code; separate from `qwen`, which each event of a hook loads.

They lie in ``~/.qwen/projects/FOLDER/chats/ID.jsonl``. Versions 0.15.10 and 0.24.4 were seen to write this: each line
is ``{uuid, parentUuid, sessionId, timestamp, type, cwd, version}`` and more. ``user`` and ``assistant`` have ``message:
{parts}``, parts being ``{text}`` or ``{functionCall: {id, name, args}}``; ``tool_result`` has ``{functionResponse: {id,
name, response: {output | error}}}`` there with what the model was shown, and ``toolCallResult: {status,
resultDisplay}``, which in newer versions has both ends of a longer part of a command's output, 32,000 characters.
``system`` has a ``subtype``; of these ``chat_compression``, with ``systemPayload: {info}``, was not seen but stands in
its source. ``usageMetadata`` of ``assistant`` has the tokens of a reply, and ``model`` its model, as its source has it.
"""

import re
from collections.abc import Iterator

from sightline.base.request_usage import RequestUsage, without_zeros
from sightline.harnesses.qwen import HARNESS, made_of
from sightline.harnesses.tool_call import CallSession, ToolCall, dict_of, list_of, number, plain, text_of
from sightline.harnesses.transcript import (
    BadRecord,
    Candidate,
    KeptText,
    SessionParser,
    ToldOrigin,
    ToldUsage,
    TranscriptItem,
    TranscriptReading,
    count_of,
    parted,
)
from sightline.light.typing_names import Any
from sightline.log.session_events import COMPACTED, TRANSCRIPT, ContextChange
from sightline.log.session_origins import FORK, SPAWN, SessionOrigin

_CUT = re.compile(
    r"\n\n---\n\.\.\. \[CONTENT TRUNCATED\] \.\.\.\n---\n\n"
    r"|\n\[\.\.\. truncated for saved session preview; original length: \d+ characters \.\.\.\]\n"
)


def reading_of(file: Candidate) -> TranscriptReading | None:
    """Return a reading of a chat; None if it is not Qwen Code's."""
    first = file.records[0] if file.records else {}
    parts = dict_of(first.get("message")).get("parts")
    is_chat = isinstance(first.get("sessionId"), str) and (isinstance(parts, list) or "systemPayload" in first)
    return file.of_lines(Parser(file.written)) if is_chat else None


def left_of(text: str, stream: str = "out") -> KeptText:
    """Return what is left of a text that it has cut: both its ends."""
    found = _CUT.search(text)
    return parted([text[: found.start()], text[found.end() :]], [(None, "bytes")], stream) if found else KeptText(text)


class Parser(SessionParser):
    """Makes calls from the records of a chat."""

    def __init__(self, written: float) -> None:
        """Prepare to read a file that was last changed at this time, in seconds since the epoch."""
        super().__init__(HARNESS.name, written)
        self._own: CallSession | None = None
        self._has_origin = False

    def items(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the calls and events that a line completes."""
        kind, event = record.get("type"), text_of(record.get("uuid"))
        if not self._own:
            self._own = self._begin(record)
        origin = text_of(dict_of(record.get("forkedFrom")).get("sessionId"))  # in a copy of that session's history
        self._session = self._own._replace(id=origin) if origin else self._own
        parent = text_of(dict_of(record.get("systemPayload")).get("parentSessionId"))
        if (origin or parent) and not self._has_origin:
            self._has_origin = True
            stated = SessionOrigin(self._time, FORK if origin else SPAWN, origin or parent)
            yield ToldOrigin(self._own, stated)
        parts = [dict_of(one) for one in list_of(dict_of(record.get("message")).get("parts"))]
        if usage := self._usage(record, dict_of(record.get("usageMetadata"))):
            yield ToldUsage(self._session, usage)
        if kind in ("user", "assistant"):
            yield from self._said(parts, event, is_agent=kind == "assistant")
        elif kind == "tool_result":
            for answer in (dict_of(part.get("functionResponse")) for part in parts):
                if answer:
                    yield self._call(answer, dict_of(record.get("toolCallResult")), line)
        elif record.get("subtype") == "chat_compression":
            info = dict_of(dict_of(record.get("systemPayload")).get("info"))
            before, after = (int(number(info.get(name))) or None for name in ("originalTokenCount", "newTokenCount"))
            change = ContextChange(self._time, COMPACTED, before=before, after=after, id=event, told=TRANSCRIPT)
            yield self.told(change)
        elif kind != "system":
            yield BadRecord(line, f"a record of an unknown sort: {str(kind)[:80]!r}", unknown=True)

    def _usage(self, record: dict[str, Any], stated: dict[str, Any]) -> RequestUsage | None:
        """Return the usage that a reply states; None if it states none.

        The input holds what was cached. Whether the output holds thoughts depends on the provider, so it is what the
        total has beyond the input.
        """
        names = ("promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
        whole, read, output, thoughts = (count_of(stated.get(name)) for name in names)
        total, computed = count_of(stated.get("totalTokenCount")), list[str]()
        if (whole, output, total) == (None, None, None):
            return None
        if whole is not None and total is not None and total >= whole:
            computed += ["output"] * (output != total - whole)
            output = total - whole
        unique = text_of(dict_of(record.get("forkedFrom")).get("messageUuid")) or text_of(record.get("uuid"))
        usage = RequestUsage(
            id=f"qwen:{unique}",
            time=self._time,
            model=plain(text_of(record.get("model"))),
            fresh=None if whole is None else max(0, whole - (read or 0)),
            cache_read=read,
            cache_write=None if whole is None else 0,  # none of its providers states that
            output=output,
            reasoning=thoughts,
            computed=("fresh", *computed) if read else tuple(computed),
        )
        return without_zeros(usage, has_content=True)

    def _begin(self, record: dict[str, Any]) -> CallSession:
        return self._session._replace(
            id=text_of(record.get("sessionId")),
            client=" ".join(filter(None, (HARNESS.name, text_of(record.get("version"))))),
            cwd=plain(text_of(record.get("cwd"))),
            started=self._time,
        )

    def _said(self, parts: list[dict[str, Any]], event: str, *, is_agent: bool) -> Iterator[TranscriptItem]:
        text = "\n\n".join(filter(None, (text_of(part.get("text")) for part in parts if not part.get("thought"))))
        yield from self.said(text, event) if is_agent else self.prompted(text, event)
        for call in (dict_of(part.get("functionCall")) for part in parts):
            if call:
                self.asks(call.get("id"), call.get("name"), call.get("args"))

    def _call(self, answer: dict[str, Any], told: dict[str, Any], line: int) -> ToolCall:
        call = self.answered(text_of(answer.get("id")), text_of(answer.get("name")), HARNESS.runs, line)
        call = call._replace(failed=text_of(told.get("status")) == "error")
        response = dict_of(answer.get("response"))
        made = made_of(call, plain(text_of(response.get("output")) or text_of(response.get("error"))))
        longer = dict_of(told.get("resultDisplay")).get("output")
        if made.gaps and isinstance(longer, str):  # its file has gone
            made = made.with_rest(left_of(plain(longer), made.stream), HARNESS.cut)
        return made
