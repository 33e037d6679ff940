"""Handles harnesses that write into their transcript, only after a tool's hook, what the model was shown."""

import os
import time
from collections.abc import Iterator

from sightline.agents.hooks.hook_session import open_store
from sightline.agents.past_sessions.live_transcript import LiveTranscript, TranscriptPlace, WaitingCall, begin, opened
from sightline.base.records import Buffer, Session, Shown
from sightline.harnesses.base import Harness
from sightline.harnesses.tool_call import ToolCall
from sightline.light.library import contextmanager
from sightline.light.typing_names import Any
from sightline.settings.config import default_root
from sightline.store import Layout, Store

_PATIENCE_TURNS, _TURN_SECONDS = 30, 0.01  # until the transcript, written while hooks run, has a command's end

Json = dict[str, Any]


def at_start(harness: Harness, given: Json, session: Session) -> None:
    """Begin with a session's transcript at its end; what is in it already is left to an import."""
    root = default_root()
    if (place := _place(harness, given)) and os.path.isdir(root):  # no store is made before there is something to keep
        begin(root, session, place)


def at_prompt(harness: Harness, given: Json, session: Session) -> None:
    """At a turn's beginning, take in what waits of the one before if its end was not told."""
    if session.name in Layout(default_root()).waiting_sessions():
        at_end(harness, given, session)


def at_end(harness: Harness, given: Json, session: Session) -> None:
    """At a turn's end, take in all of it, since the transcript is complete."""
    if place := _place(harness, given):
        with open_store() as store, opened(store, session, place) as live:
            live.take_in()


def _place(harness: Harness, given: Json) -> TranscriptPlace | None:
    path = given.get("transcript_path")
    if not harness.transcribes or not isinstance(path, str) or not os.path.isabs(path):
        return None
    return TranscriptPlace(harness.name, harness.title, path, harness.own)


class LiveCall:
    """An event of a tool, together with the transcript of its session."""

    def __init__(self, harness: Harness, live: LiveTranscript) -> None:
        self._harness = harness
        self._live = live
        self._told: ToolCall | None = None

    def has(self, call: ToolCall, since: float) -> bool:
        """Whether the call, written down at a time or at 0, is in the store since somebody looked before its event."""
        return self._live.has(call.use, call.command if call.kind == "cmd" else "", since)

    def told(self, call: ToolCall) -> ToolCall:
        """The call with a command's whole output and exit code from the transcript. Other calls in it are logged."""
        for _ in range(_PATIENCE_TURNS):
            told = self._told = self._live.take_in(call.use)
            if told or not (call.use and call.kind == "cmd" and self._live.is_readable):
                break
            time.sleep(_TURN_SECONDS)
        if not told or call.kind != "cmd":
            return call
        parts = tuple(part for part in told.parts if isinstance(part.content, bytes))
        return call._replace(
            asked=call.answered - (told.answered - told.asked),
            parts=parts,
            exit_code=told.exit_code,
            partial=told.partial,
            gaps=told.gaps,
            cwd=told.cwd or call.cwd,
        )

    def have_wait(
        self, call: ToolCall, buffer: Buffer | None, shown: Shown | None, text: str, *, is_logged: bool
    ) -> None:
        """Log the view of the call if the transcript has said what was shown; otherwise let it wait for that.

        Args:
            call: the call.
            buffer: the buffer of its result, if one was kept.
            shown: the lines of it that are shown, if the event tells them.
            text: the shown text as far as it is known.
            is_logged: whether we show a view of ours instead, which is logged already.
        """
        is_told = self._told is not None and bool(self._told.shown)
        past = self._told if self._told and is_told else _as_told(call, buffer, text)
        waiting = WaitingCall(past, buffer.name if buffer else "", (shown,) if shown else (), is_logged)
        self._live.add(waiting, is_told=is_told)


@contextmanager
def live_call(store: Store, session: Session, harness: Harness, given: Json) -> Iterator[LiveCall | None]:
    """The transcript of an event's session; None if the event names none."""
    place = _place(harness, given)
    if place is None:
        yield None
        return
    with opened(store, session, place) as live:
        yield LiveCall(harness, live)


def _as_told(call: ToolCall, buffer: Buffer | None, text: str) -> ToolCall:
    """The call as far as it is known before the transcript says more; its result is in its buffer."""
    kind = "cmd" if call.kind == "cmd" else buffer.kind if buffer else "tool"
    command = call.command if kind in ("cmd", "file") else ""
    shown = (text,) if text else ()
    return call._replace(kind=kind, command=command, shown=shown, parts=(), unknown="", saved=None)
