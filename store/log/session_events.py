"""What a session's log has beside views: what happened to its context, and what its agent said.

They are entries of the log as views are: tied into its chain, their texts blanked with those of views. Hooks log them,
so little is loaded here; `session_history` reads them.
"""

import os
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


SessionEvent = ContextChange | AgentMessage


def entry_of(event: SessionEvent, hide: Callable[[str], str] = str) -> dict[str, Any]:
    """An event as the log has it.

    Args:
        event: the event.
        hide: hides the secrets of a text.
    """
    fields = {name: value for name, value in event._asdict().items() if name not in ("number", "text", "summary")}
    text = event.summary if isinstance(event, ContextChange) else event.text
    words = storable(hide((text or "")[:MESSAGE_CHARACTERS]))
    kind = "context" if isinstance(event, ContextChange) else "message"
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
