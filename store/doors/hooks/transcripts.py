"""Events of harnesses that write into a transcript, after a tool's hook, what their model was shown of it."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sightline.config import default_root
from sightline.disk.layout import Layout
from sightline.doors.hooks.called import Called
from sightline.doors.hooks.facts import PATIENCE_SECONDS, Facts
from sightline.doors.hooks.who import session_of
from sightline.harnesses.past import PastCall, PastSession
from sightline.imports.live_transcript import LiveTranscript, Place, Waiting, begin, opened
from sightline.records import Buffer, Session, Shown
from sightline.store import Store

_PATIENCE_TURNS, _TURN_SECONDS = 30, 0.01  # until a command's end is in the transcript, which is written beside hooks

Json = dict[str, Any]


def at_start(facts: Facts, given: Json) -> None:
    """A session begins, or goes on: what stands in its transcript already is left to an import."""
    root = default_root()
    if (place := _place(facts, given)) and os.path.isdir(root):  # nothing is made before there is something to keep
        begin(root, _session(facts, given), place)


def at_prompt(facts: Facts, given: Json) -> None:
    """A turn begins: what waits of the one before is in the transcript, where its end was not told."""
    if _session(facts, given).name in Layout(default_root()).waiting_sessions():
        at_end(facts, given)


def at_end(facts: Facts, given: Json) -> None:
    """A turn has ended: the transcript has all of it."""
    if place := _place(facts, given):
        store = Store(patience=PATIENCE_SECONDS)  # left open, as after a tool
        with opened(store, _session(facts, given), place) as live:
            live.take_in()


def _place(facts: Facts, given: Json) -> Place | None:
    path = given.get("transcript_path")
    if not facts.transcribes or not isinstance(path, str) or not os.path.isabs(path):
        return None
    return Place(facts.name, facts.title, path, facts.own)


def _session(facts: Facts, given: Json) -> Session:
    return session_of(facts.name, str(given.get("session_id") or ""), str(given.get("cwd") or ""))


class Following:
    """An event of a tool, beside the transcript of its session."""

    def __init__(self, facts: Facts, live: LiveTranscript) -> None:
        self._facts = facts
        self._live = live
        self._told: PastCall | None = None

    def told(self, call: Called) -> Called:
        """The call with what the transcript has of it: of a command all, and the exit code. All others are logged."""
        for _ in range(_PATIENCE_TURNS):
            told = self._told = self._live.take_in(call.use)
            if told or not (call.use and call.command and self._live.is_readable):
                break
            time.sleep(_TURN_SECONDS)
        if not told or not call.command:
            return call
        out = b"".join(part.content for part in told.parts if isinstance(part.content, bytes))
        return call._replace(
            text=out.decode(),
            exit_code=told.exit_code,
            partial=bool(told.partial),
            gaps=told.gaps,
            cwd=told.cwd or call.cwd,
        )

    def have_wait(
        self, call: Called, buffer: Buffer | None, shown: Shown | None, text: str, *, is_logged: bool
    ) -> None:
        """Have the view of the call wait for the transcript, or log it where that has told what was shown.

        Args:
            call: the call.
            buffer: what was kept of it.
            shown: the lines of it that are shown, where the event tells.
            text: what is known of what is shown.
            is_logged: whether we show something else instead, which is logged.
        """
        is_told = self._told is not None and bool(self._told.shown)
        past = self._told if self._told and is_told else _past(self._facts, call, buffer, text)
        waiting = Waiting(past, buffer.name if buffer else "", (shown,) if shown else (), is_logged)
        self._live.add(waiting, is_told=is_told)


@contextmanager
def transcript_of(store: Store, session: Session, facts: Facts, given: Json) -> Iterator[Following | None]:
    """The transcript of the session that an event is about; None where it names none."""
    place = _place(facts, given)
    if place is None:
        yield None
        return
    with opened(store, session, place) as live:
        yield Following(facts, live)


def _past(facts: Facts, call: Called, buffer: Buffer | None, text: str) -> PastCall:
    now = time.time()
    kind = "cmd" if call.command else buffer.kind if buffer else "tool"
    return PastCall(
        session=PastSession(facts.name, call.session, facts.name, call.cwd, now),
        id=call.use or f"{call.session}:{now}",
        use=call.use,
        line=0,
        asked=now,
        answered=now,
        tool=call.tool,
        arguments=call.input,
        kind=kind,
        command=call.command or (call.path if kind == "file" else ""),
        cwd=call.cwd,
        shown=(text,) if text else (),
        parts=(),
        exit_code=call.exit_code,
        failed=call.failed,
    )
