"""One event of a harness: what it says comes in as JSON, what is to be done about it goes out as JSON.

Whatever goes wrong here, the harness is not disturbed: nothing is printed, and the store's log of hooks has a line.
"""

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from sightline.doors.hooks.facts import AFTER, BATCH, BEFORE, END, FAILED, HARNESSES, MODES, Facts

Json = dict[str, Any]


def main(words: Sequence[str]) -> None:
    """Answer the event on standard input: ``HARNESS EVENT --mode MODE [--through PROGRAM]``. Ends with code 0."""
    try:
        answer = answer_to(words, sys.stdin.buffer.read())
        if answer:
            os.write(1, answer)
    except BaseException as error:
        from sightline.doors.hooks.mishaps import note_mishap  # hopefully rare

        note_mishap(words, error)
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
    if words[4:] not in ([], ["--through"]) or words[0] not in HARNESSES or words[2:3] != ["--mode"]:
        raise ValueError("expected HARNESS EVENT --mode record|keep|shape [--through PROGRAM]")
    if words[3] not in MODES:
        raise ValueError(f"no mode {words[3]!r}")
    facts, event, mode = HARNESSES[words[0]], words[1], words[3]
    given = json.loads(data)
    if not isinstance(given, dict):
        raise ValueError("expected a JSON object")
    answer = _answer(facts, event, mode, given, through)
    return json.dumps(answer).encode() + b"\n" if answer else b""


def _answer(facts: Facts, event: str, mode: str, given: Json, through: str) -> Json | None:
    """The answer to one event. Imported is what it needs: a process does one and ends."""
    when = facts.when(event)
    if when == BEFORE:
        from sightline.doors.hooks.before import before_tool

        return before_tool(facts, event, mode, given, through)
    if when in (AFTER, FAILED) and _is_own(facts, given):
        return None
    if when in (AFTER, FAILED):
        from sightline.doors.hooks.after import after_tool

        return after_tool(facts, event, mode, given)
    if when == BATCH:
        calls = [one for one in given.get("tool_calls", ()) if isinstance(one, dict) and not _is_own(facts, one)]
        if calls:
            from sightline.doors.hooks.batch import after_batch

            after_batch(facts, given, calls)
        return None
    if when == END:
        from sightline.doors.hooks.transcripts import at_end

        at_end(facts, given)
        return None
    if when:
        from sightline.doors.hooks.talking import at_start_or_prompt

        return at_start_or_prompt(facts, event, mode, given)
    raise ValueError(f"{facts.title} has no hook of ours for {event!r}")


def _is_own(facts: Facts, given: Json) -> bool:
    """Whether it is about a tool of our own server, which logs what it does itself."""
    name = given.get("tool_name")
    return isinstance(name, str) and name.startswith(facts.own)
