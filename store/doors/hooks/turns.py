"""At a session's start, a prompt, a turn's end, a compaction: explains refs to the model, and takes in what waited.

Apart from `event`, since no event of a tool needs what this module loads.
"""

from sightline.doors.hooks import late_hooks
from sightline.doors.hooks.command_line import capture_program
from sightline.doors.hooks.evidence_answer import question, reminder
from sightline.doors.hooks.pending_commands import forget_old, pending_lists
from sightline.doors.hooks.session_record import record_event
from sightline.harnesses.base import BATCH, CONTEXT, END, KEEP, PROMPT, SHAPE, START, Harness, Json

USE_OF_REFS = (
    "Sightline keeps the whole output of your commands and tools, under refs such as @cmd_a1b2c3. "
    "When output was cut, page or search the ref with the tool read_output or query, or with `{program} show REF` and "
    "`{program} query 'grep … REF'`, instead of running the command again; `{program} list` lists the refs."
)
"""What a model is told about refs; ``program`` is the path of our program."""


def at_turn(harness: Harness, event: str, mode: str, given: Json) -> Json | None:
    """The answer to such an event; None if there is nothing to say."""
    when = harness.when(event)
    if when in (START, PROMPT) and (lists := pending_lists(harness.name, str(given.get("session_id", "")))):
        broken_off = [one for one in lists if when == START or not one.background]
        late_hooks.keep_untold(broken_off, str(given.get("cwd", "")))
    if when == START:
        forget_old()
    elif harness.background and str(given.get("prompt", "")).startswith(harness.background):
        late_hooks.take_in(harness, given)
    record_event(harness, event, given)
    if when == CONTEXT:
        return None
    if harness.transcribes:
        (late_hooks.at_start if when == START else late_hooks.at_end if when == END else late_hooks.at_prompt)(
            harness, given
        )
    if when == END:
        if any(hook.when == BATCH for hook in harness.hooks):
            late_hooks.wait_until_in(late_hooks.session_of(harness.name, str(given.get("session_id", "")), "").name)
        return question(harness, given)
    said = [USE_OF_REFS.format(program=capture_program())] if when == START and mode in (KEEP, SHAPE) else []
    said += reminder(harness, given) if when == START and harness.tells else []
    if late_hooks.has_notes():
        with late_hooks.open_store() as store:
            harness_session = given.get("session_id") or given.get("conversation_id") or ""
            session = late_hooks.session_of(harness.name, str(harness_session), str(given.get("cwd", "")))
            said += late_hooks.waiting_notes(store, session)
    return harness.addition(event, "\n\n".join(said)) if said else None
