"""What a session's log has beside views: what it is about, what happened to its context, and what its agent said.

They are entries of the log as views are: tied into its chain, their texts blanked with those of views. Hooks log them,
so little is loaded here; `session_history` reads them.
"""

import os
import re
from collections.abc import Callable, Iterable
from typing import Any

from sightline.disk.layout import Layout
from sightline.log import log
from sightline.log.log import Encoded
from sightline.log.sessions import header_of
from sightline.named_tuple import NamedTuple
from sightline.records import Session, storable

STARTED, RESUMED, FORKED = "started", "resumed", "forked"
COMPACTING, COMPACTED, CLEARED, REWOUND, PRUNED = "compacting", "compacted", "cleared", "rewound", "pruned"
EVENTS = (STARTED, RESUMED, FORKED, COMPACTING, COMPACTED, CLEARED, REWOUND, PRUNED)
"""What can happen to a context. ``compacting`` is told before it happens, and may never come to it."""

HOOK, TRANSCRIPT = "hook", "transcript"

MESSAGE_CHARACTERS = 1 << 16
"""Of a message or a summary; the rest of a longer one is not kept, and nothing is said of it."""


class ContextChange(NamedTuple):
    """Something that happened to a session's context.

    Attributes:
        time: seconds since the epoch.
        event: one of EVENTS.
        trigger: ``manual`` or ``automatic``; empty where that is not told.
        before: tokens that the context had; None where that is not told.
        after: likewise, that it has since.
        summary: the text that took the place of what went; empty where it is not told, None where it was blanked.
        kept: ids of the uses of tools whose results stayed; None where that is not told.
        lost: those whose results went; None for all before, or where that is not told.
        id: what the transcript calls it; empty where it is from a hook.
        told: by what, HOOK or TRANSCRIPT.
        whole: whether from here on all that happens to the context is told.
        number: of its entry in the log.
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
        text: its words; None where they were blanked.
        id: what the transcript calls it; empty where it is from a hook.
        told: by what, HOOK or TRANSCRIPT.
        cut: whether it was longer than what is kept.
        number: of its entry in the log.
    """

    time: float
    text: str | None
    id: str = ""
    told: str = HOOK
    cut: bool = False
    number: int = 0


class SessionSubject(NamedTuple):
    """What a session is about, in a line: the first of what it was first asked, or its harness' own title of it.

    Attributes:
        time: seconds since the epoch.
        text: the line; None where it was blanked.
        id: what the transcript calls it; empty where it is from a hook.
        told: by what, HOOK or TRANSCRIPT.
        number: of its entry in the log.
    """

    time: float
    text: str | None
    id: str = ""
    told: str = HOOK
    number: int = 0


SUBJECT = b'"kind":"about"'
"""How the line of a log is known that tells of a session's subject."""

SUBJECT_CHARACTERS = 120

SessionEvent = ContextChange | AgentMessage | SessionSubject

_KINDS = {"ContextChange": "context", "AgentMessage": "message", "SessionSubject": "about"}
_COMMAND = re.compile(r"<command-name>\s*(\S+?)\s*</command-name>(?:.*?<command-args>(.*?)</command-args>)?", re.DOTALL)
_AROUND = re.compile(r"\s*<([a-zA-Z][\w-]*)[^<>]*>.*?</\1>\s*", re.DOTALL)
_INSTRUCTIONS = ("# AGENTS.md instructions", "Caveat: ")


def subject_of(prompt: str) -> str:
    """What a prompt is about, in a line; empty where it has no words of a person's.

    What a harness puts before these words stands in tags of its own. A command of the harness is told by its name.
    """
    if command := _COMMAND.search(prompt[:MESSAGE_CHARACTERS]):
        return _line(f"{command[1]} {command[2] or ''}")
    text = prompt[:MESSAGE_CHARACTERS]
    while around := _AROUND.match(text):
        text = text[around.end() :]
    if text.lstrip().startswith(_INSTRUCTIONS):
        return ""
    return next((_line(line) for line in text.splitlines() if any(map(str.isalnum, line))), "")


def _line(text: str) -> str:
    line = "".join(one if one.isprintable() else " " for one in text)
    line = " ".join(line.lstrip("#>*- ").split())
    return line if len(line) <= SUBJECT_CHARACTERS else line[: SUBJECT_CHARACTERS - 1] + "…"


def entry_of(event: SessionEvent, hide: Callable[[str], str] = str) -> dict[str, Any]:
    """An event as the log has it.

    Args:
        event: the event.
        hide: hides the secrets of a text.
    """
    fields = {name: value for name, value in event._asdict().items() if name not in ("number", "text", "summary")}
    text = event.summary if isinstance(event, ContextChange) else event.text
    words = storable(hide((text or "")[:MESSAGE_CHARACTERS]))
    kind = _KINDS[type(event).__name__]
    if isinstance(event, AgentMessage):
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
    """Add events to a session's log; lists learn of its session when they next read the log.

    Args:
        root: of the store; what is missing of its folders is made.
        session: whose they are.
        events: what happened.
        hide: hides the secrets of a text.
        durable: whether the file is synced.

    Raises:
        OSError, UnsafeStore: they could not be logged; none of them is then.
    """
    if entries := [Encoded.of(entry_of(event, hide)) for event in events]:
        layout = Layout(root)
        if not os.path.isdir(layout.audit):
            layout.ensure()
        log.append_all(layout.audit_file(session.name), header_of(session), entries, durable=durable)


_BEGUN_BYTES = 4096  # of the log of a session that has not been asked anything yet, at most


def knows_subject(root: str, session: str) -> bool:
    """Whether it was logged what a session is about, or it has gone on for so long that a prompt is not its first.

    Args:
        root: of the store.
        session: name of the session.
    """
    try:
        with open(Layout(root).audit_file(session), "rb") as file:
            begun = file.read(_BEGUN_BYTES)
    except OSError:
        return False
    return len(begun) == _BEGUN_BYTES or SUBJECT in begun
