"""At a session's start, a prompt, a turn's end, a compaction: logs what these tell, and explains refs to the model.

It takes in what waited, and says what an agent has forgotten, or what its claim lacks, if a person wants that. It is
apart from `event`, since no event of a tool needs what this module loads.
"""

import os
import time

from sightline.agents.hooks.command_line import capture_program
from sightline.agents.hooks.hook_session import EventSessions, is_first
from sightline.agents.hooks.pending_commands import (
    forget_ended,
    forget_old,
    has_background,
    has_recorded,
    is_use,
    pending_lists,
)
from sightline.base.private_files import make_folder, read_file, write_atomically
from sightline.base.records import Session
from sightline.harnesses.base import BATCH, CONTEXT, END, KEEP, PROMPT, SHAPE, START, Harness, Json
from sightline.harnesses.tool_call import plain, text_of
from sightline.light.late_imports import late_modules
from sightline.light.library import suppress
from sightline.log.session_events import (
    CLEARED,
    COMPACTED,
    COMPACTING,
    FORKED,
    RESUMED,
    STARTED,
    AgentMessage,
    ContextChange,
    SaidWords,
    SessionEvent,
    SessionSubject,
    append_events,
    knows_subject,
    prompt_of,
    subject_of,
)
from sightline.settings.config import HOOKS, NOTED_TRANSCRIPTS, EvidenceSettings, default_root, load_settings

with late_modules(globals()):
    from sightline.agents.hooks import (
        background_commands,  # 20 ms: few commands go on, and few prompts tell of an end
        cancelled_commands,  # 30 ms: few commands are broken off
        hook_session,  # 20 ms, for the store
        kept_list,  # 20 ms: few commands are lists of several programs
        live_calls,  # 30 ms, of two harnesses only
        recorded_tasks,  # commands of one harness only
    )
    from sightline.audit.evidence import (
        evidence_records,  # if asked for
        session_evidence,  # likewise
    )

_SOURCES = {"startup": STARTED, "resume": RESUMED, "clear": CLEARED, "compact": COMPACTED, "fork": FORKED}
_TRIGGERS = {"manual": "manual", "auto": "automatic"}
_MOST = 5

USE_OF_REFS = (
    "Sightline keeps the whole output of your commands and tools, under refs such as @cmd_a1b2c3. "
    "When output was cut, page or search the ref with the tool read_output or query, or with `{program} show REF` and "
    "`{program} query 'grep … REF'`, instead of running the command again; `{program} list` lists the refs."
)
"""What a model is told about refs; ``program`` is the path of our program."""


def at_turn(harness: Harness, event: str, mode: str, given: Json, sessions: EventSessions) -> Json | None:
    """The answer to such an event; None if there is nothing to say."""
    when = harness.when(event)
    if when in (START, PROMPT) and (lists := pending_lists(harness.name, str(given.get("session_id", "")))):
        kept_list.keep_untold(lists, str(given.get("cwd", "")))
    if when == START:
        forget_old()
        _forget_ended(harness, given)
        _have_recorded(harness, mode, given)
    elif harness.background and str(given.get("prompt", "")).startswith(harness.background):
        background_commands.take_in(harness, given)
    elif (
        harness.background and when in (PROMPT, END) and has_background(harness.name, str(given.get("session_id", "")))
    ):
        background_commands.take_in_told(harness, given)
    if when == PROMPT:
        _take_in_cancelled(harness, given)
    _record_event(harness, event, given, sessions.own)
    if when == CONTEXT:
        return None
    if harness.transcribes:
        (live_calls.at_start if when == START else live_calls.at_end if when == END else live_calls.at_prompt)(
            harness, given, sessions.agent
        )
    if when == END:
        if any(hook.when == BATCH for hook in harness.hooks):
            hook_session.wait_until_in(sessions.agent.name)
        _take_in_cancelled(harness, given)
        _forget_ended(harness, given)
        return _question(harness, given, sessions.agent)
    said = [USE_OF_REFS.format(program=capture_program())] if when == START and mode in (KEEP, SHAPE) else []
    said += _reminder(given, sessions.agent) if when == START and harness.tells else []
    if hook_session.has_notes():
        with hook_session.open_store() as store:
            said += hook_session.waiting_notes(store, sessions.agent)
    return harness.addition(event, "\n\n".join(said)) if said else None


def _forget_ended(harness: Harness, given: Json) -> None:
    forget_ended(harness.name, str(given.get("session_id", "")), str(given.get("agent_id") or ""))


def _take_in_cancelled(harness: Harness, given: Json) -> None:
    if harness.shell_start and has_recorded(str(given.get("session_id", ""))):
        cancelled_commands.take_in_cancelled(harness, given)


def _have_recorded(harness: Harness, mode: str, given: Json) -> None:
    """Have the outputs of the session's commands recorded, where the harness has a place for that. Raises OSError."""
    file, session = os.environ.get(harness.shell_start or " "), given.get("session_id")
    if not file or mode not in (KEEP, SHAPE) or not is_use(session):
        return
    settings = load_settings(os.path.join(default_root(), "config.toml"))
    if settings.captures(str(given.get("cwd") or "") or os.getcwd()):
        recorded_tasks.have_recorded(harness.name, str(session), file)


def _record_event(harness: Harness, event: str, given: Json, session: Session) -> None:
    """Log what an event says of the session, if it says anything and the settings let that be kept.

    Raises:
        OSError, UnsafeStore: it could not be logged.
    """
    told = _told_by(harness, event, given)
    if not told:
        return
    root = default_root()
    if not os.path.isdir(root) and harness.when(event) != START:
        return  # nothing was kept of the session, so nobody will ask about it
    settings = load_settings(os.path.join(root, "config.toml"))
    cwd = str(given.get("cwd") or "")
    if not settings.captures(cwd or os.getcwd()):
        return
    if isinstance(told[0], SaidWords) and not settings.evidence.messages:
        return
    if isinstance(told[0], SessionSubject) and knows_subject(root, session.name):
        told = told[1:]
    prompt = given.get("prompt_id")
    if isinstance(prompt, str) and not is_first(root, session.name, event, prompt):
        return
    redaction = settings.redaction()
    append_events(root, session, told, hide=redaction.text if redaction else str, durable=settings.durable)
    if settings.evidence.messages:
        _note_transcript(harness, root, session, given.get("transcript_path"))


def _note_transcript(harness: Harness, root: str, session: Session, path: object) -> None:
    """Note where the harness writes what the session's requests took; it is read when somebody asks for that."""
    if not harness.reader or not isinstance(path, str) or not os.path.isabs(path):
        return
    place, data = os.path.join(root, NOTED_TRANSCRIPTS, session.name), path.encode(errors="surrogateescape")
    with suppress(OSError):
        if read_file(place) == data:
            return
    for folder in (HOOKS, NOTED_TRANSCRIPTS):
        make_folder(os.path.join(root, folder))
    write_atomically(place, data)


def _told_by(harness: Harness, event: str, given: Json) -> list[SessionEvent]:
    """What an event reports, in members that harnesses call alike."""
    when, now = harness.when(event), time.time()
    trigger = _TRIGGERS.get(text_of(given.get("trigger")), "")
    if when == START:
        source = _SOURCES.get(text_of(given.get("source")), STARTED)
        return [ContextChange(now, source, whole=harness.tells_context)]
    if when == PROMPT:
        prompt = text_of(given.get("prompt"))
        is_notice = bool(harness.background) and prompt.startswith(harness.background)
        if is_notice or not (said := prompt_of(prompt, now)):
            return []
        subject = subject_of(prompt)
        return [*([SessionSubject(now, plain(subject))] if subject else []), said]
    if when == CONTEXT and event == harness.compacted:
        return [ContextChange(now, COMPACTED, trigger, summary=plain(text_of(given.get("compact_summary"))))]
    if when == CONTEXT:
        return [ContextChange(now, COMPACTING, trigger)]
    if when == END:
        text = text_of(given.get(harness.says)).strip()
        return [AgentMessage(now, plain(text))] if text else []
    return []


def _switches() -> EvidenceSettings:
    """What a person has switched on: nothing by default, and nothing without a settings file."""
    return load_settings(os.path.join(default_root(), "config.toml")).evidence


def _reminder(given: Json, session: Session) -> list[str]:
    """After a compaction, a line with its ref for each failure that was lost with it; none at any other start."""
    if given.get("source") != "compact" or not _switches().remind:
        return []
    with hook_session.open_store() as store:
        found = session_evidence.forgotten_failures(store, session)
    return [f"Sightline: {one.at} ({one.command}): {one.text}" for one in found[:_MOST]]


def _question(harness: Harness, given: Json, session: Session) -> Json | None:
    """At the end of a turn, once, what its claim lacks; None if it lacks nothing, or if that is off."""
    if not harness.asks or given.get("stop_hook_active") or not _switches().ask:
        return None
    with hook_session.open_store() as store:
        claims = session_evidence.evidence_of(store, session).claims
    newest = [one for one in claims if one.message == claims[-1].message] if claims else []
    said = str(given.get(harness.says) or "")
    lacking = [
        one
        for one in newest
        if one.verdict in (evidence_records.CONTRADICTED, evidence_records.STALE) and one.claim.words in said
    ]
    if not lacking:
        return None
    told = "; ".join(
        f"“{one.claim.words}”: {one.why} ({', '.join(ground.ref for ground in one.grounds if ground.ref)})"
        for one in lacking[:_MOST]
    )
    return {"decision": "block", "reason": f"Sightline: {told}"}
