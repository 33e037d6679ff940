"""Reads what hooks report of a session's context and of its agent's messages, in the form of Claude Code.

Codex and Gemini CLI use the same form, as far as they report it. ``SessionStart`` has ``source``; ``PreCompact`` and
``PreCompress`` have ``trigger``, ``PostCompact`` has that and ``compact_summary``; ``UserPromptSubmit`` and
``BeforeAgent`` have ``prompt``; ``Stop`` has ``last_assistant_message``, ``AfterAgent`` ``prompt_response``.
"""

import time

from sightline.harnesses.base import CONTEXT, END, PROMPT, START, Harness
from sightline.harnesses.tool_call import plain, text_of
from sightline.log.session_events import (
    CLEARED,
    COMPACTED,
    COMPACTING,
    FORKED,
    RESUMED,
    STARTED,
    AgentMessage,
    ContextChange,
    SessionEvent,
    SessionSubject,
    subject_of,
)
from sightline.typing_names import Any

_SOURCES = {"startup": STARTED, "resume": RESUMED, "clear": CLEARED, "compact": COMPACTED, "fork": FORKED}
_TRIGGERS = {"manual": "manual", "auto": "automatic"}
_ENDED = ("PostCompact",)
_WORDS = ("last_assistant_message", "prompt_response")


def told_by(harness: Harness, event: str, given: dict[str, Any]) -> SessionEvent | None:
    """Return what an event reports; None for nothing.

    Args:
        harness: the harness.
        event: the harness' own name for the event.
        given: the event's payload.
    """
    when, now = harness.when(event), time.time()
    trigger = _TRIGGERS.get(text_of(given.get("trigger")), "")
    if when == START:
        source = _SOURCES.get(text_of(given.get("source")), STARTED)
        return ContextChange(now, source, whole=harness.tells_context)
    if when == PROMPT:
        prompt = text_of(given.get("prompt"))
        is_notice = bool(harness.background) and prompt.startswith(harness.background)
        subject = "" if is_notice else subject_of(prompt)
        return SessionSubject(now, plain(subject)) if subject else None
    if when == CONTEXT and event in _ENDED:
        return ContextChange(now, COMPACTED, trigger, summary=plain(text_of(given.get("compact_summary"))))
    if when == CONTEXT:
        return ContextChange(now, COMPACTING, trigger)
    if when == END:
        text = next((text for name in _WORDS if (text := text_of(given.get(name)).strip())), "")
        return AgentMessage(now, plain(text)) if text else None
    return None
