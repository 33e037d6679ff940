"""Writes imported sessions as plain text to be labelled: each call, its reply and each message, and no verdict."""

import json
import os
from collections.abc import Iterator, Sequence

from benchmarks.evidence.labels import call_key, message_key, session_key
from sightline.audit.timeline import Call, calls_of
from sightline.base.errors import SightlineError
from sightline.base.records import Session
from sightline.log.session_events import AgentMessage, ContextChange
from sightline.log.session_history import events_of
from sightline.log.view_text import view_text
from sightline.store import Store

_HEAD_LINES, _TAIL_LINES = 25, 45  # of a command's reply; what lies between is counted
_OTHER_LINES = 6  # of any other reply, such as a file's
_LINE_CHARACTERS = 240
_ASKED_CHARACTERS = 1_500


def write_session(store: Store, session: Session, folder: str) -> str:
    """Write a session into a folder, and return the path."""
    key = session_key(session)
    path = os.path.join(folder, f"{key}.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"SESSION {key}: {session.harness}, in {session.cwd}\nfirst prompt: {session.title}\n")
        for line in _entries(store, session):
            file.write(line + "\n")
    return path


def _entries(store: Store, session: Session) -> Iterator[str]:
    events = events_of(store, session.name)
    made: list[tuple[float, int, str]] = []
    for at, call in enumerate(calls_of(store, session=session.name)):
        made.append((call.view.time, at, _call(store, session, call)))
    made += [(one.time, -1, _message(session, one)) for one in events.messages]
    made += [(one.time, -1, _change(one)) for one in events.changes]
    yield from (text for _, _, text in sorted(made, key=lambda one: one[:2]))


def _call(store: Store, session: Session, call: Call) -> str:
    view, buffer = call.view, call.buffer
    code = buffer.exit_code if buffer and buffer.exit_code is not None else view.exit_code
    facts = [f"exit {code}" if code is not None else "", "an error" if view.failed else ""]
    facts += ["timed out" if buffer and buffer.timed_out else "", f"cut: {call.partial}" if call.partial else ""]
    facts += [f"{view.lines_shown} of {view.lines_total} lines shown" if view.truncated else ""]
    try:
        shown = view_text(store, call.indexed)
    except SightlineError as error:
        shown = f"({error.message})"
    ran = bool(buffer and buffer.kind == "cmd")
    asked = buffer.command if buffer and ran else _asked(view.request)
    head = f"\n=== call {call_key(session, call)} {view.verb} {'; '.join(filter(None, facts))}\n$ "
    return head + asked[:_ASKED_CHARACTERS] + "\n" + "\n".join(_shortened(shown.splitlines(), ran=ran))


def _asked(request: str) -> str:
    """Return a request as the agent made it, without what the import added."""
    asked = json.loads(request)
    for name in ("alone_bytes", "caller", "imported"):
        asked.pop(name, None)
    return json.dumps(asked, ensure_ascii=False)


def _shortened(lines: Sequence[str], *, ran: bool) -> list[str]:
    head, tail = (_HEAD_LINES, _TAIL_LINES) if ran else (_OTHER_LINES, 0)
    cut = [line[:_LINE_CHARACTERS] for line in lines]
    if len(cut) <= head + tail + 1:
        return cut
    left_out = f"[… {len(cut) - head - tail} lines that the agent did see are left out here …]"
    return [*cut[:head], left_out, *cut[len(cut) - tail :]]


def _message(session: Session, message: AgentMessage) -> str:
    return f"\n=== said {message_key(session, message)}\n{message.text or '(blanked)'}"


def _change(change: ContextChange) -> str:
    return f"\n=== context {change.event}"
