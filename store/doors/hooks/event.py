"""One event of a harness: what it says comes in as JSON, what is to be done about it goes out as JSON.

Whatever goes wrong here, the harness is not disturbed: nothing is printed, and the store's log of hooks has a line.
"""

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from sightline.harnesses import find
from sightline.harnesses.base import AFTER, BATCH, BEFORE, END, FAILED, MODES, PROMPT, START, Harness

Json = dict[str, Any]


def main(words: Sequence[str]) -> None:
    """Answer the event on standard input: ``HARNESS EVENT --mode MODE [--through PROGRAM]``. Ends with code 0."""
    try:
        answer = answer_to(words, sys.stdin.buffer.read())
        if answer:
            os.write(1, answer)
    except BaseException as error:
        from sightline.doors.hooks.error_log import log_error  # hopefully rare

        log_error(words, error)
    os._exit(0)  # all is written; tearing the interpreter down takes 3 ms


def answer_to(words: Sequence[str], data: bytes) -> bytes:
    """What is printed in answer to an event; nothing for most.

    Args:
        words: ``HARNESS EVENT --mode MODE``; of the event before a tool also ``--through PROGRAM``, see `before`.
        data: what the harness gives, one JSON object.

    Raises:
        ValueError: it is no such line, or no such object.
        Exception: anything else that goes wrong.
    """
    *words, through = words if words[4:5] == ["--through"] and len(words) == 6 else (*words, "")
    harness = find(words[0]) if words else None
    if words[4:] not in ([], ["--through"]) or harness is None or words[2:3] != ["--mode"]:
        raise ValueError("expected HARNESS EVENT --mode record|keep|shape [--through PROGRAM]")
    if words[3] not in MODES:
        raise ValueError(f"no mode {words[3]!r}")
    event, mode = words[1], words[3]
    given = json.loads(data)
    if not isinstance(given, dict):
        raise ValueError("expected a JSON object")
    answer = _answer(harness, event, mode, given, through)
    return json.dumps(answer).encode() + b"\n" if answer else b""


def _answer(harness: Harness, event: str, mode: str, given: Json, through: str) -> Json | None:
    """The answer to one event. Imported is what it needs: a process answers one and ends."""
    when = harness.when(event)
    if when == BEFORE:
        from sightline.doors.hooks.before_tool import before_tool

        return before_tool(harness, event, mode, given, through)
    if when in (AFTER, FAILED) and not harness.is_own(given):
        from sightline.doors.hooks.after_tool import after_tool

        return after_tool(harness, event, mode, given)
    if when == BATCH:
        calls = [one for one in given.get("tool_calls", ()) if isinstance(one, dict) and not harness.is_own(one)]
        if calls:
            from sightline.doors.hooks.after_tool import after_batch

            after_batch(harness, given, calls)
    elif when == END:
        from sightline.doors.hooks.live_calls import at_end

        at_end(harness, given)
    elif when in (START, PROMPT):
        from sightline.doors.hooks.messages import at_start_or_prompt

        return at_start_or_prompt(harness, event, mode, given)
    elif not when:
        raise ValueError(f"{harness.title} has no hook of ours for {event!r}")
    return None
