"""Answers one event of a harness, which comes as JSON on standard input; the answer is printed as JSON.

Where there is nothing to say, a second process takes in what the event tells, and the harness waits for neither.
Whatever goes wrong here, the harness is not disturbed: nothing is printed, and the error log of hooks gets a line.
"""

import os
import sys

from sightline.harnesses import find
from sightline.harnesses.base import AFTER, BATCH, BEFORE, CONTEXT, END, MODES, PROMPT, SHAPE, START, Harness
from sightline.light.json_text import dumps, loads
from sightline.light.late_imports import late_modules
from sightline.light.typing_names import Any, Callable, Sequence
from sightline.settings.config import default_root, judge_store

with late_modules(globals()):
    from sightline.agents.hooks import (
        before_tool,  # 5 ms
        hook_session,  # 20 ms, for the store
        process_apart,  # few events have nothing to say
    )

Json = dict[str, Any]


def main(words: Sequence[str]) -> None:
    """Answer the event on standard input; arguments: ``HARNESS EVENT --mode MODE [--through PROGRAM]``. Exit with 0."""
    try:
        answer = answer_to(words, sys.stdin.buffer.read(), apart=lambda: process_apart.continue_apart())
        if answer:
            os.write(1, answer)
    except BaseException as error:
        from sightline.agents.hooks.error_log import log_error  # loaded only then

        log_error(words, error)
    os._exit(0)  # all is written, and tearing the interpreter down would take 3 ms


def answer_to(words: Sequence[str], data: bytes, *, apart: Callable[[], bool] | None = None) -> bytes:
    """The text to print in answer to an event; empty for most.

    Args:
        words: ``HARNESS EVENT --mode MODE``; before a tool also ``--through PROGRAM``, see `before`.
        data: the event, one JSON object.
        apart: called where nobody need wait for what is to be done; if it returns False, another process does it.

    Raises:
        ValueError: the arguments or the event have another form.
        Exception: anything else went wrong.
    """
    *words, through = words if words[4:5] == ["--through"] and len(words) == 6 else (*words, "")
    harness = find(words[0]) if words else None
    if words[4:] not in ([], ["--through"]) or harness is None or words[2:3] != ["--mode"]:
        raise ValueError("expected HARNESS EVENT --mode record|keep|shape [--through PROGRAM]")
    if words[3] not in MODES:
        raise ValueError(f"no mode {words[3]!r}")
    event, mode = words[1], words[3]
    given = loads(data)
    if not isinstance(given, dict):
        raise ValueError("expected a JSON object")
    answer = _answer(harness, event, mode, given, through, apart)
    return dumps(answer).encode() + b"\n" if answer else b""


def _answer(
    harness: Harness, event: str, mode: str, given: Json, through: str, apart: Callable[[], bool] | None
) -> Json | None:
    """The answer to one event. Only what it needs is imported, 5 to 40 ms: a process answers one event and ends."""
    if judge_store(default_root()):
        return None  # another's store takes nothing
    when = harness.when(event)
    if not when:
        raise ValueError(f"{harness.title} has no hook of ours for {event!r}")
    if when == BEFORE:
        return before_tool.before_tool(harness, event, mode, given, through)
    if when in (START, PROMPT, END, CONTEXT):
        from sightline.agents.hooks.turns import at_turn

        return at_turn(harness, event, mode, given, hook_session.sessions_of(harness, given))
    calls = given.get("tool_calls", ()) if when == BATCH else [given]
    others = [one for one in calls if isinstance(one, dict) and not harness.is_own(one)]
    if not others:
        return None
    sessions = hook_session.sessions_of(harness, given)
    is_silent = apart is not None and when != BATCH and _is_silent(harness, when, mode)
    kind = BATCH if when == BATCH else AFTER if is_silent else ""
    # The lock is held before the rest is loaded, since that takes time, and by the second process when the first ends.
    with hook_session.taking_in(sessions.agent.name, kind) as is_held:
        if is_silent and is_held and apart and not apart():
            return None
        from sightline.agents.hooks.after_tool import after_batch, after_tool

        if when != BATCH:
            return after_tool(harness, event, mode, given, sessions.own, tells=not is_silent and harness.shows(given))
        hook_session.wait_until_in(sessions.agent.name, AFTER)
        after_batch(harness, given, others, sessions.own)
    return None


def _is_silent(harness: Harness, when: str, mode: str) -> bool:
    """Whether nothing will be said after a tool: what is shown instead of its result, or a note that waits.

    A later hook of the harness must log what the model is shown, which waits for what is taken in here.
    """
    may_replace = mode == SHAPE and when == AFTER
    logs_later = any(hook.when == BATCH for hook in harness.hooks)
    return logs_later and not may_replace and not hook_session.has_notes()
