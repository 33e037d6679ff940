"""What hooks say to a model: at a session's start how refs are used, and at any event the notes that wait for it."""

import os
from typing import TYPE_CHECKING, Any

from sightline.config import default_root
from sightline.doors.hooks.facts import KEEP, PATIENCE_SECONDS, SHAPE, START, Facts

if TYPE_CHECKING:  # loaded only where a note waits
    from sightline.records import Session
    from sightline.store import Store

USE_OF_REFS = (
    "Sightline keeps the whole output of your commands and tools, under refs such as @cmd_a1b2c3. "
    "When output was cut, page or search the ref with the tool read_output or query, or with `{program} show REF` and "
    "`{program} query 'grep … REF'`, instead of running the command again; `{program} list` lists the refs."
)
"""The two sentences; ``program`` is the command line."""


def at_start_or_prompt(facts: Facts, event: str, mode: str, given: dict[str, Any]) -> dict[str, Any] | None:
    """The answer to a session's start, or to a prompt; None where nothing is to be said."""
    starts = facts.when(event) == START
    said = [introduction()] if starts and mode in (KEEP, SHAPE) else []
    if starts:
        from sightline.doors.hooks.pending import forget_old

        forget_old()
    elif facts.background and str(given.get("prompt", "")).startswith(facts.background):
        from sightline.doors.hooks.tasks import take_in

        take_in(facts, given)
    if facts.transcribes:
        from sightline.doors.hooks.transcripts import at_prompt, at_start

        (at_start if starts else at_prompt)(facts, given)
    if os.path.exists(os.path.join(default_root(), "outbox")):
        from sightline.doors.hooks.who import session_of
        from sightline.store import Store

        with Store(patience=PATIENCE_SECONDS) as store:
            harness_session = given.get("session_id") or given.get("conversation_id") or ""
            session = session_of(facts.name, str(harness_session), str(given.get("cwd", "")))
            said += _notes(store, session)
    return _saying(facts, event, "\n\n".join(said)) if said else None


def introduction() -> str:
    """The two sentences, with the command line as it can be called from here."""
    from sightline.doors.hooks.line import capture_program

    return USE_OF_REFS.format(program=capture_program())


def notes_answer(store: "Store", session: "Session", facts: Facts, event: str) -> dict[str, Any] | None:
    """The answer that hands over the notes that wait for a session; None where none do."""
    if not facts.tells or not os.path.exists(store.layout.outbox):
        return None
    said = _notes(store, session)
    return _saying(facts, event, "\n\n".join(said)) if said else None


def _notes(store: "Store", session: "Session") -> list[str]:
    """The notes that wait, which with this are sent."""
    from sightline.log.notes import hold_waiting, release

    held = hold_waiting(store, session.name, anyone=True)
    if not held:
        return []
    release(store, held, session)
    told = "\n".join(f"{waiting.ref}: {waiting.text}" for waiting in held)
    return [f"Notes from the person who looks on, about lines of outputs:\n{told}"]


def _saying(facts: Facts, event: str, text: str) -> dict[str, Any]:
    """An answer that shows a model a text beside all else."""
    match facts.name:
        case "opencode":
            return {"append": text}
        case "cursor":
            return {"additional_context": text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
