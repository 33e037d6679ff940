"""Logs what a session has beside views: its subject, what happened to its context, and what was said in it.

These are entries of the log like views: tied into its chain, and blanked with the texts of views. Hooks log them, so
this module loads little; `session_history` reads them.
"""

import os

from sightline.base.records import Session, storable
from sightline.disk.layout import Layout
from sightline.light.late_pattern import late_pattern, re
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Callable, Iterable
from sightline.log import log
from sightline.log.log import Encoded
from sightline.log.sessions import header_of

STARTED, RESUMED, FORKED = "started", "resumed", "forked"
COMPACTING, COMPACTED, CLEARED, REWOUND, PRUNED = "compacting", "compacted", "cleared", "rewound", "pruned"
EVENTS = (STARTED, RESUMED, FORKED, COMPACTING, COMPACTED, CLEARED, REWOUND, PRUNED)
"""What can happen to a context. ``compacting`` is reported before a compaction, which may not follow."""

HOOK, TRANSCRIPT = "hook", "transcript"

MESSAGE_CHARACTERS = 1 << 16
"""The kept length of a message or a summary; nothing is judged from the rest of a longer one."""


class ContextChange(NamedTuple):
    """An event in a session's context.

    Attributes:
        time: seconds since the epoch.
        event: one of EVENTS.
        trigger: ``manual`` or ``automatic``; empty if it is not reported.
        before: tokens of the context before; None if that is not reported.
        after: tokens of the context after; None if that is not reported.
        summary: the text that replaced what went; empty if it is not reported, None if it was blanked.
        kept: ids of the tool uses whose results stayed; None if that is not reported.
        lost: ids of those whose results went; None for all earlier ones, or if that is not reported.
        id: id in the transcript; empty if it comes from a hook.
        told: its source, HOOK or TRANSCRIPT.
        whole: whether from here on everything that happens to the context is reported.
        number: number of its entry in the log.
    """

    time: float
    event: str
    trigger: str = ""
    before: int | None = None
    after: int | None = None
    summary: str | None = ""
    kept: tuple[str, ...] | None = None
    lost: tuple[str, ...] | None = None
    id: str = ""
    told: str = HOOK
    whole: bool = False
    number: int = 0


class AgentMessage(NamedTuple):
    """What an agent said to its person.

    Attributes:
        time: seconds since the epoch.
        text: its words; None if they were blanked.
        id: id in the transcript; empty if it comes from a hook.
        told: its source, HOOK or TRANSCRIPT.
        cut: whether it was longer than the part that is kept.
        number: number of its entry in the log.
    """

    time: float
    text: str | None
    id: str = ""
    told: str = HOOK
    cut: bool = False
    number: int = 0


class Prompt(NamedTuple):
    """What a session was asked for by its person, or, if it is a helper's, by the agent that started it.

    Attributes:
        time: seconds since the epoch.
        text: its words, without what the harness adds; None if they were blanked.
        id: id in the transcript; empty if it comes from a hook.
        told: its source, HOOK or TRANSCRIPT.
        cut: whether it was longer than the part that is kept.
        by_agent: whether an agent wrote it.
        number: number of its entry in the log.
    """

    time: float
    text: str | None
    id: str = ""
    told: str = HOOK
    cut: bool = False
    by_agent: bool = False
    number: int = 0


class SessionSubject(NamedTuple):
    """The subject of a session in a line: the beginning of its first prompt.

    Attributes:
        time: seconds since the epoch.
        text: the line; None if it was blanked.
        id: id in the transcript; empty if it comes from a hook.
        told: its source, HOOK or TRANSCRIPT.
        number: number of its entry in the log.
    """

    time: float
    text: str | None
    id: str = ""
    told: str = HOOK
    number: int = 0


SUBJECT = b'"kind":"about"'
"""A line of a log with these bytes has a session's subject."""

SUBJECT_CHARACTERS = 120

SaidWords = AgentMessage | Prompt | SessionSubject
"""Somebody's own words, which are kept only with ``[evidence] messages``."""

SessionEvent = ContextChange | SaidWords

_KINDS = {"ContextChange": "context", "AgentMessage": "message", "Prompt": "prompt", "SessionSubject": "about"}
_COMMAND = late_pattern(
    r"<command-name>\s*([^\s<]+)\s*</command-name>(?:(?:(?!<command-args>).)*<command-args>(.*?)</command-args>)?",
    re.DOTALL,
)
_HOUSEKEEPING = frozenset(("/clear", "/compact", "/config", "/exit", "/login", "/mcp", "/model", "/new", "/resume"))
"""Commands of harnesses that say nothing about the work."""

_AROUND = late_pattern(r"\s*<([a-zA-Z][\w-]*)(?![\w-])[^<>]*>.*?</\1>\s*", re.DOTALL)
_INSTRUCTIONS = ("# AGENTS.md instructions", "Caveat: ")


def subject_of(prompt: str) -> str:
    """Return the subject of a prompt in a line; empty if it has no words of a person's, or none about the work."""
    if command := _COMMAND.search(prompt[:MESSAGE_CHARACTERS]):
        if command[1] in _HOUSEKEEPING:
            return ""
        return _line(f"{command[1]} {command[2] or ''}")
    return next((_line(line) for line in prompted_words(prompt).splitlines() if any(map(str.isalnum, line))), "")


def prompted_words(prompt: str) -> str:
    """Return a prompt as it was written; empty if nothing of it is a person's.

    Words that a harness adds stand in tags, and are dropped. A command of the harness is given by its name.
    """
    text = prompt[:MESSAGE_CHARACTERS]
    if command := _COMMAND.search(text):
        return f"{command[1]} {command[2] or ''}".strip()
    while around := _AROUND.match(text):
        text = text[around.end() :]
    return "" if text.lstrip().startswith(_INSTRUCTIONS) else text.strip()


def prompt_of(text: str, time: float, id: str = "", told: str = HOOK, *, by_agent: bool = False) -> Prompt | None:  # noqa: A002
    """Return what a session was asked for; None if nothing in it is a person's, or an agent's.

    Args:
        text: the prompt as its harness states it.
        time: seconds since the epoch.
        id: id in the transcript; empty if it comes from a hook.
        told: its source, HOOK or TRANSCRIPT.
        by_agent: whether an agent wrote it.
    """
    words = prompted_words(text)
    return Prompt(time, storable(words), id, told, len(text) > MESSAGE_CHARACTERS, by_agent) if words else None


def _line(text: str) -> str:
    line = "".join(one if one.isprintable() else " " for one in text)
    line = " ".join(line.lstrip("#>*- ").split())
    return line if len(line) <= SUBJECT_CHARACTERS else line[: SUBJECT_CHARACTERS - 1] + "…"


def entry_of(event: SessionEvent, hide: Callable[[str], str] = str) -> dict[str, Any]:
    """Encode an event for the log.

    Args:
        event: the event.
        hide: hides secrets in a text.
    """
    fields = {name: value for name, value in event._asdict().items() if name not in ("number", "text", "summary")}
    text = event.summary if isinstance(event, ContextChange) else event.text
    words = storable(hide((text or "")[:MESSAGE_CHARACTERS]))
    kind = _KINDS[type(event).__name__]
    if isinstance(event, AgentMessage | Prompt):
        fields["cut"] = event.cut or len(text or "") > MESSAGE_CHARACTERS
    entry: dict[str, Any] = log.loggable(
        {"kind": kind, **{name: value for name, value in fields.items() if _tells(value)}}
    )
    return {**entry, "text": words} if words else entry


def _tells(value: object) -> bool:
    return value is not None and value is not False and value != ""


def append_events(
    root: str,
    session: Session,
    events: Iterable[SessionEvent],
    *,
    hide: Callable[[str], str] = str,
    durable: bool = False,
) -> None:
    """Append events to a session's log; lists learn of its session when they next read the log.

    Args:
        root: root of the store; missing folders are made.
        session: their session.
        events: the events.
        hide: hides secrets in a text.
        durable: whether to sync the file.

    Raises:
        OSError, UnsafeStore: no event could be logged.
    """
    if entries := [Encoded.of(entry_of(event, hide)) for event in events]:
        layout = Layout(root)
        if not os.path.isdir(layout.audit):
            layout.ensure()
        log.append_all(layout.audit_file(session.name), header_of(session), entries, durable=durable)


_BEGUN_BYTES = 4096  # size of the log of a session that has asked nothing yet, at most


def knows_subject(root: str, session: str) -> bool:
    """Return whether a session's subject is logged, or its log is too long for a prompt to be its first.

    Args:
        root: root of the store.
        session: name of the session.
    """
    try:
        with open(Layout(root).audit_file(session), "rb") as file:
            begun = file.read(_BEGUN_BYTES)
    except OSError:
        return False
    return len(begun) == _BEGUN_BYTES or SUBJECT in begun
