"""What hooks say to a model: at a session's start how refs are used, and at any event the notes that wait for it."""

import os
from typing import TYPE_CHECKING, Any

from sightline.config import default_root
from sightline.harnesses.base import KEEP, SHAPE, START, Harness

if TYPE_CHECKING:  # loaded only where a note waits
    from sightline.records import Session
    from sightline.store import Store

USE_OF_REFS = (
    "Sightline keeps the whole output of your commands and tools, under refs such as @cmd_a1b2c3. "
    "When output was cut, page or search the ref with the tool read_output or query, or with `{program} show REF` and "
    "`{program} query 'grep … REF'`, instead of running the command again; `{program} list` lists the refs."
)
"""The two sentences; ``program`` is the command line."""


def at_start_or_prompt(harness: Harness, event: str, mode: str, given: dict[str, Any]) -> dict[str, Any] | None:
    """The answer to a session's start, or to a prompt; None where nothing is to be said."""
    starts = harness.when(event) == START
    said = [introduction()] if starts and mode in (KEEP, SHAPE) else []
    if starts:
        from sightline.doors.hooks.pending_commands import forget_old

        forget_old()
    elif harness.background and str(given.get("prompt", "")).startswith(harness.background):
        from sightline.doors.hooks.background_commands import take_in

        take_in(harness, given)
    if harness.transcribes:
        from sightline.doors.hooks.live_calls import at_prompt, at_start

        (at_start if starts else at_prompt)(harness, given)
    if os.path.exists(os.path.join(default_root(), "outbox")):
        from sightline.doors.hooks.hook_session import open_store, session_of

        with open_store() as store:
            harness_session = given.get("session_id") or given.get("conversation_id") or ""
            session = session_of(harness.name, str(harness_session), str(given.get("cwd", "")))
            said += _notes(store, session)
    return harness.addition(event, "\n\n".join(said)) if said else None


def introduction() -> str:
    """The two sentences, with the command line as it can be called from here."""
    from sightline.doors.hooks.command_line import capture_program

    return USE_OF_REFS.format(program=capture_program())


def notes_answer(store: "Store", session: "Session", harness: Harness, event: str) -> dict[str, Any] | None:
    """The answer that hands over the notes that wait for a session; None where none do."""
    if not harness.tells or not os.path.exists(store.layout.outbox):
        return None
    said = _notes(store, session)
    return harness.addition(event, "\n\n".join(said)) if said else None


def _notes(store: "Store", session: "Session") -> list[str]:
    """The notes that wait, which with this are sent."""
    from sightline.log.notes import hold_waiting, release

    held = hold_waiting(store, session.name, anyone=True)
    if not held:
        return []
    release(store, held, session)
    told = "\n".join(f"{waiting.ref}: {waiting.text}" for waiting in held)
    return [f"Notes from the person who looks on, about lines of outputs:\n{told}"]
