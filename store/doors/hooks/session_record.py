"""Logs what an event says of a session beside its tools: its first prompt, what happened to its context, and what its
agent said.

It is written into the session's log only, and judged later.
"""

import os

from sightline.config import default_root, load_settings
from sightline.doors.hooks.hook_session import is_first, session_of
from sightline.harnesses.base import START, Harness
from sightline.harnesses.context_events import told_by
from sightline.log.session_events import AgentMessage, SessionSubject, append_events, knows_subject
from sightline.typing_names import Any

Json = dict[str, Any]


def record_event(harness: Harness, event: str, given: Json) -> None:
    """Log what an event says of the session, if it says anything and the settings let that be kept.

    Raises:
        OSError, UnsafeStore: it could not be logged.
    """
    told = told_by(harness, event, given)
    if told is None:
        return
    root = default_root()
    if not os.path.isdir(root) and harness.when(event) != START:
        return  # nothing was kept of the session, so nobody will ask about it
    settings = load_settings(os.path.join(root, "config.toml"))
    cwd = str(given.get("cwd") or "")
    if not settings.captures(cwd or os.getcwd()):
        return
    if isinstance(told, AgentMessage | SessionSubject) and not settings.evidence.messages:
        return
    own = str(given.get("session_id") or given.get("conversation_id") or "")
    session = session_of(harness.name, own, cwd, given.get("agent_id"))
    if isinstance(told, SessionSubject) and knows_subject(root, session.name):
        return
    prompt = given.get("prompt_id")
    if isinstance(prompt, str) and not is_first(root, session.name, event, prompt):
        return
    redaction = settings.redaction()
    append_events(root, session, [told], hide=redaction.text if redaction else str, durable=settings.durable)
