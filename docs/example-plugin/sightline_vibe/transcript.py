"""Reads sessions of Mistral Vibe; separate from `agent`, which each event of a hook loads.

They lie in ``~/.vibe/logs/session/unified/ID/``.

Versions 3.0.2 and 3.0.3 were seen to write this. ``meta.json`` has ``session_id``, ``start_time`` and ``environment:
{working_directory}``. A file of ``chunks/`` with messages that its model was sent is ``[{"message": {role, content},
"source", "turn_index"}]``. Of ``assistant`` the content has ``{"type": "tool_call", id, name, arguments: {value}}``;
``tool`` has ``tool_call_id``, ``outcome`` and the text that the model was shown, which is JSON for a command. A longer
one names a file in ``tool-results/`` instead. Messages have no times.
"""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from sightline.harnesses.tool_call import (
    CallSession,
    ToolCall,
    dict_of,
    list_of,
    open_beside,
    own_file,
    plain,
    text_of,
    unique_id,
)
from sightline.harnesses.transcript import (
    SHAPE_ERRORS,
    Candidate,
    ToldEvent,
    TranscriptItem,
    TranscriptReading,
    misshapen,
    when,
)
from sightline.log.session_events import TRANSCRIPT, SessionSubject, subject_of
from sightline_vibe.agent import HARNESS

_START = re.compile(rb'\[\{"message":\{.*"role":"', re.DOTALL)
_SAVED = re.compile(r"\A<system>.* was saved to the file system under (/\S+\.json)\.\n")
_NAMES = {"bash": "file_system.bash"}
"""How its hooks call tools that its model calls otherwise."""


def reading_of(file: Candidate) -> TranscriptReading | None:
    """Return a reading of a chunk with messages; None for another file."""
    if file.records and "recovery_journal_record_version" in file.records[0]:
        return file.of_lines(_Journal())
    folder, name = os.path.split(os.path.dirname(file.path))
    if name != "chunks" or not _START.match(file.head):
        return None
    return file.of_document(lambda document: _read(document, _session(folder, file.written)))


class _Journal:
    """Reads nothing from a session's journal, of which it removes the beginning when the session goes on."""

    waiting = False
    newest = 0.0

    def feed(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield nothing."""
        return iter(())

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield nothing."""
        return iter(())


def _session(folder: str, written: float) -> CallSession:
    try:
        with open(os.path.join(folder, "meta.json"), "rb") as file:
            meta = dict_of(json.load(file))
    except (OSError, ValueError):
        meta = {}
    cwd = plain(text_of(dict_of(meta.get("environment")).get("working_directory")))
    name = text_of(meta.get("session_id")) or os.path.basename(folder)
    return CallSession(HARNESS.name, name, HARNESS.name, cwd, when(meta.get("start_time"), written))


def _read(document: Any, session: CallSession) -> Iterator[TranscriptItem]:
    asked: dict[str, tuple[str, Any]] = {}
    has_subject = False
    for number, one in enumerate(list_of(document), start=1):
        try:
            message = dict_of(dict_of(one).get("message"))
            content = [dict_of(block) for block in list_of(message.get("content"))]
            text = plain("\n".join(text_of(block.get("text")) for block in content))
            if message.get("role") == "user" and not has_subject and (subject := subject_of(text)):
                has_subject = True
                yield ToldEvent(session, SessionSubject(session.started, subject, f"{session.id}:about", TRANSCRIPT))
            for block in content:
                if block.get("type") == "tool_call":
                    arguments = dict_of(block.get("arguments")).get("value")
                    asked[text_of(block.get("id"))] = text_of(block.get("name")), arguments
            if message.get("role") == "tool":
                use = text_of(message.get("tool_call_id"))
                tool, arguments = asked.pop(use, (text_of(message.get("name")), {}))
                yield _call(session, use, tool, arguments, text, number)._replace(
                    failed=message.get("outcome") != "success"
                )
        except SHAPE_ERRORS as error:
            yield misshapen(number, error)


def _call(session: CallSession, use: str, name: str, arguments: Any, shown: str, line: int) -> ToolCall:
    tool = _NAMES.get(name, name) or "tool"
    command = dict_of(arguments).get("command") if tool in HARNESS.runs else None
    call = ToolCall(
        session=session,
        id=unique_id(session.id, f"{session.id}:{use}"),
        use=use,
        line=line,
        asked=session.started,
        answered=session.started,
        tool=tool,
        arguments=arguments,
        kind="cmd" if isinstance(command, str) else "tool",
        command=plain(command) if isinstance(command, str) else "",
        cwd=session.cwd,
        shown=(shown,),
    )
    saved = _SAVED.match(shown)
    output = _object(_whole(saved[1]) if saved else shown)
    if call.kind == "cmd" and isinstance(output.get("returncode"), int):
        cut = HARNESS.cut if output.get("was_truncated") else ""
        call = call.with_text(plain(text_of(output.get("stdout"))), plain(text_of(output.get("stderr"))))
        return call._replace(exit_code=output["returncode"], partial=cut, note="")
    return call.with_text(shown)._replace(partial=HARNESS.cut if saved else "")


def _whole(path: str) -> str:
    """Return the file of a long result; empty if it has gone."""
    file = own_file(path, ("tool-results", ""))
    try:
        with open(open_beside(file) if file else os.devnull, "rb") as opened:
            return opened.read().decode(errors="replace")
    except OSError:
        return ""


def _object(text: str) -> dict[str, Any]:
    try:
        return dict_of(json.loads(text))
    except (ValueError, RecursionError):
        return {}
